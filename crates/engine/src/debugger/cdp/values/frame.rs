//! A frame, and which of its scopes hold what a person calls its variables.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::{CallFrame, Scope};

/// How far from the ends of its script a function may begin and end that is all of it: room for a banner, the
/// opening of a bundle and a comment with the source map.
const LINES: i32 = 2;
const COLUMNS: i32 = 16;

/// A variable of a frame.
#[derive(Debug)]
pub(in super::super) struct ListedName {
    pub(super) name: String,
    /// The place of its scope in the chain.
    pub(super) scope: usize,
    /// It had no value at the beginning of the stop.
    pub(super) is_unset: bool,
}

/// A frame of a suspended thread.
#[derive(Debug, Default)]
pub(in super::super) struct Frame {
    /// As V8 reports it.
    pub(in super::super) call: CallFrame,
    /// Names in the running script to names in the source it was made from, where they differ.
    pub(in super::super) names: HashMap<String, String>,
    /// Names in the source for which it is not clear what the script calls them.
    pub(in super::super) unclear: HashSet<String>,
    /// Line and column of the end of its script, counted from 0; without it only functions that begin with the
    /// script count as all of it.
    pub(in super::super) script_end: Option<(i32, i32)>,
    /// The names that were read, by the last of the scopes that they are in. They do not change during a stop.
    pub(in super::super) listed: Mutex<HashMap<usize, Arc<[ListedName]>>>,
}

impl Frame {
    /// A frame of a script whose names are its source's.
    pub(in super::super) fn new(call_frame: CallFrame) -> Self {
        Self { call: call_frame, ..Self::default() }
    }

    pub(super) fn chain(&self) -> &[Scope] {
        &self.call.scope_chain
    }

    /// The context that the frame runs in.
    pub(in super::super) fn context(&self) -> Option<i32> {
        let ids = self.chain().iter().filter_map(|scope| scope.object.object_id.as_deref());
        ids.chain(self.call.this.object_id.as_deref()).find_map(context_of)
    }

    /// The name in the source of a variable of the script.
    pub(super) fn original<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// The name in the script of a variable of the source.
    pub(in super::super) fn generated(&self, name: &str) -> Option<&str> {
        let found = self.names.iter().find(|(_, original)| *original == name);
        found.map(|(generated, _)| generated.as_str())
    }

    /// The scope of the function itself, or of the module or script at its top level.
    pub(super) fn own(&self) -> Option<usize> {
        let is_own = |scope: &Scope| matches!(scope.kind.as_str(), "local" | "module" | "script" | "eval");
        self.chain().iter().position(is_own)
    }

    /// The frame is the top level of a module or script.
    pub(in super::super) fn is_module(&self) -> bool {
        self.own().and_then(|own| self.chain().get(own)).is_none_or(|scope| self.is_of_module(scope))
    }

    /// The scope is a module's or script's: with `CommonJS`, that of the function around the module.
    pub(super) fn is_of_module(&self, scope: &Scope) -> bool {
        match scope.kind.as_str() {
            "module" | "script" => true,
            "local" | "closure" => self.spans_script(scope),
            _ => false,
        }
    }

    fn spans_script(&self, scope: &Scope) -> bool {
        let Some(start) = &scope.start_location else { return false };
        let first = (start.line_number, start.column_number.unwrap_or(0));
        // A function with a name is one of the program's, even if it is all that the file holds.
        if !scope.name.as_deref().unwrap_or_default().is_empty() {
            return false;
        }
        if first == (0, 0) {
            return true;
        }
        let (Some(last), Some(end)) = (self.script_end, &scope.end_location) else { return false };
        let end = (end.line_number, end.column_number.unwrap_or(0));
        let ends = if last.0 == end.0 { last.1 - end.1 <= COLUMNS } else { last.0 - end.0 <= LINES };
        first.0 <= LINES && first.1 <= COLUMNS && ends
    }

    /// The scopes whose variables a person takes for the frame's, innermost first: blocks, the function's own,
    /// and what it uses of the functions around it, up to the module.
    pub(super) fn visible(&self) -> Vec<usize> {
        let own = self.own();
        let inner = self.chain().iter().enumerate().take_while(|(index, scope)| {
            let is_end = matches!(scope.kind.as_str(), "global" | "module" | "script");
            own.is_some_and(|own| *index <= own)
                || !(is_end || own.is_some() && (self.is_module() || self.is_of_module(scope)))
        });
        inner.filter(|(_, scope)| scope.kind != "with").map(|(index, _)| index).collect()
    }

    /// The order in which the variables of these scopes are shown, as places in `visible`: the function's own,
    /// its blocks from the outside to the inside, then those around it.
    pub(super) fn order(&self, visible: &[usize]) -> Vec<usize> {
        let own = self.own().unwrap_or(0);
        let (inner, outer): (Vec<_>, Vec<_>) = (0..visible.len())
            .filter_map(|place| Some((place, *visible.get(place)?)))
            .partition(|(_, index)| *index <= own);
        inner.into_iter().rev().chain(outer).map(|(place, _)| place).collect()
    }
}

/// The context that an object lives in. V8 writes it into the id: `ISOLATE.CONTEXT.NUMBER`.
pub(in super::super) fn context_of(object_id: &str) -> Option<i32> {
    object_id.split('.').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use ::cdp::debugger::Location;

    use super::*;

    fn scope(kind: &str, name: &str, from: (i32, i32), to: (i32, i32)) -> Scope {
        let at = |(line_number, column): (i32, i32)| {
            Some(Location { script_id: "1".to_owned(), line_number, column_number: Some(column) })
        };
        let name = (!name.is_empty()).then(|| name.to_owned());
        Scope {
            kind: kind.to_owned(),
            name,
            start_location: at(from),
            end_location: at(to),
            ..Scope::default()
        }
    }

    fn frame(scope_chain: Vec<Scope>) -> Frame {
        let mut frame = Frame::new(CallFrame { scope_chain, ..CallFrame::default() });
        frame.script_end = Some((100, 0));
        frame
    }

    #[test]
    fn visible_scopes_end_at_the_module() {
        let module = || scope("closure", "", (0, 0), (100, 0));
        let global = || scope("global", "", (0, 0), (0, 0));
        let local = || scope("local", "f", (5, 3), (9, 1));
        let block = || scope("block", "f", (6, 3), (7, 1));
        let outer = || scope("closure", "outer", (3, 3), (10, 1));
        let bundle = || scope("closure", "", (0, 1), (99, 1));
        let table = [
            (vec![local(), global()], vec![0], vec![0]),
            (
                vec![block(), block(), local(), outer(), module(), global()],
                vec![0, 1, 2, 3],
                vec![2, 1, 0, 3],
            ),
            (vec![local(), bundle(), global()], vec![0], vec![0]),
            (vec![local(), scope("closure", "main", (0, 13), (99, 1)), global()], vec![0, 1], vec![0, 1]),
            (vec![scope("local", "", (0, 0), (100, 0)), global()], vec![0], vec![0]),
            (vec![block(), scope("module", "", (0, 0), (100, 0)), global()], vec![0, 1], vec![1, 0]),
            (vec![global()], vec![], vec![]),
            (vec![local(), scope("with", "", (0, 0), (1, 0)), outer(), global()], vec![0, 2], vec![0, 1]),
        ];
        for (number, (chain, visible, order)) in table.into_iter().enumerate() {
            let frame = frame(chain);
            assert_eq!(frame.visible(), visible, "{number}");
            assert_eq!(frame.order(&visible), order, "{number}");
        }
    }

    #[test]
    fn context_is_parsed_from_an_id() {
        assert_eq!(context_of("-4219452133937419103.2.38"), Some(2));
        assert_eq!(context_of("{\"injectedScriptId\":1}"), None);
    }
}
