//! The scopes of a frame and their variables.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::cdp::debugger::{EvaluateOnCallFrame, Scope as RawScope};
use ::cdp::runtime::CallArgument;
use serde_json::{Value as Json, json};

use super::children::private_rows;
use super::frame::{Frame, ListedName};
use super::helper::{argument, nothing, object};
use super::names::is_part_of_name;
use super::reader::{KnownValue, ValueReader};
use super::references::{Expandable, ValuePath};
use super::rows::{ExpandedRows, ValueRow, ValueRows};
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::RawId;
use crate::model::stack::{Scope, ScopeKind};
use crate::model::variable::{Children, ExpandedLocals, ExpandedValue, Expansion, Page, Variable};

/// Where the helper found a variable: in a scope by its place, or here.
const RETURNED: i64 = -1;
const THIS: i64 = -2;
const ANEW: i64 = -3;

/// How long it may take to read variables again where the object of a `with` may run code, in milliseconds.
const AGAIN: u32 = 2_000;

/// Which scopes of a frame are read together.
struct ScopeSelection {
    /// Places in the chain, innermost first.
    scopes: Vec<usize>,
    /// The order in which they are shown, as places in `scopes`.
    order: Vec<usize>,
    /// They are all that is visible: what is returned and `this` belong to them.
    whole: bool,
    /// The variables are a module's.
    module: bool,
}

impl ValueReader {
    /// The scopes in V8's order, innermost first, without their ranges. Their names are unique in the frame.
    pub(in super::super) fn scopes(&self, frame: &Arc<Frame>) -> Vec<Scope<RawId>> {
        let own = frame.own();
        let mut taken = HashSet::new();
        let scope = |(index, scope): (usize, &RawScope)| {
            let name = unique(&name_of(frame, scope), &mut taken);
            let kind = match scope.kind.as_str() {
                _ if own == Some(index) => ScopeKind::Locals,
                "global" => ScopeKind::Globals,
                _ => ScopeKind::Other,
            };
            let reference = self.0.references.hold(Expandable::Scope(Arc::clone(frame), index));
            Scope { name, kind, reference, expensive: scope.kind == "global", range: None }
        };
        frame.chain().iter().enumerate().map(scope).collect()
    }

    /// The variables that a person expects of a frame: the function's own, those of the blocks around the
    /// position, and those that it uses of the functions around it; at the top level of a module the module's.
    /// Before them what the function returns, if it is at its end. With them, what some of them contain.
    pub(in super::super) async fn locals(
        &self,
        frame: &Arc<Frame>,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        let scopes = frame.visible();
        let order = frame.order(&scopes);
        let reading = ScopeSelection { scopes, order, whole: true, module: frame.is_module() };
        let (variables, values) = self.read(frame, &reading, page, text, expansion).await?;
        Ok(ExpandedLocals { scope: "Locals".to_owned(), variables, values })
    }

    pub(super) async fn scope_variables(
        &self,
        frame: &Arc<Frame>,
        index: usize,
        page: Page,
        text: usize,
    ) -> Result<Children<RawId>> {
        let scope = frame.chain().get(index).ok_or_else(|| Error::Refused("no such scope".to_owned()))?;
        if matches!(scope.kind.as_str(), "global" | "with") {
            let root = scope.object.object_id.as_deref().unwrap_or_default();
            return self.children(&ValuePath::of(root, Some(frame)), page, text).await;
        }
        let module = frame.is_of_module(scope);
        let reading = ScopeSelection { scopes: vec![index], order: vec![0], whole: false, module };
        Ok(self.read(frame, &reading, page, text, Expansion::NONE).await?.0)
    }

    async fn read(
        &self,
        frame: &Arc<Frame>,
        reading: &ScopeSelection,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<(Children<RawId>, Vec<ExpandedValue>)> {
        let Some(helper) = self.helper(frame.context()).await? else {
            return Ok((self.plain_scopes(frame, &reading.scopes, page, text).await?, Vec::new()));
        };
        let returned = frame.call.return_value.as_ref().filter(|_| reading.whole);
        let options = json!({
            "start": page.start, "count": page.count, "special": page.special, "limit": text,
            "order": reading.order, "module": reading.module,
            "returned": returned.is_some(), "self": reading.whole,
            "expansion": {
                "values": expansion.values, "children": expansion.children, "depth": expansion.depth,
                "milliseconds": expansion.within.as_secs_f64() * 1000.0,
            },
        });
        let epoch = self.0.epoch.load(Ordering::Relaxed);
        let anew = self.read_again(&helper, frame, &reading.scopes).await?;
        let mut values = vec![
            returned.map_or_else(nothing, argument),
            argument(&frame.call.this),
            anew.as_deref().map_or_else(nothing, object),
        ];
        values.extend(reading.scopes.iter().filter_map(|index| scope_object(frame, *index)));
        let ValueRows { total, hidden, variables, expanded, unlisted, .. } =
            self.call(&helper, "locals", options, values).await?;
        let variable = |ValueRow { name, value, special, step, scope }| Variable {
            value: self.value(value, || place(frame, reading, anew.as_deref(), scope, step)),
            name: frame.original(&name).to_owned(),
            special,
        };
        let private = private_rows(&variables);
        let listed = variables.len();
        let scopes: Vec<i64> = variables.iter().map(|row| row.scope).collect();
        let mut variables: Vec<_> = variables.into_iter().chain(unlisted).map(variable).collect();
        if reading.whole {
            self.know(frame, reading, epoch, text, variables.iter().zip(scopes));
        }
        self.add_private(&helper, &mut variables, private, text).await;
        let values = self.expanded(&helper, &variables, expanded, expansion.page(), text).await;
        variables.truncate(listed);
        Ok((Children { variables, total, start: page.start, hidden }, values))
    }

    /// Notes the values of variables that have names in expressions, as long as no other scope hides them.
    fn know<'a>(
        &self,
        frame: &Arc<Frame>,
        reading: &ScopeSelection,
        epoch: u64,
        text: usize,
        variables: impl Iterator<Item = (&'a Variable<RawId>, i64)>,
    ) {
        const SIMPLE: [&str; 5] = ["number", "string", "boolean", "bigint", "null"];
        let is_plain = frame.names.is_empty() && frame.unclear.is_empty();
        let Some(own) = frame.own().filter(|_| is_plain) else { return };
        if frame.chain().iter().any(|scope| scope.kind == "with") {
            return;
        }
        let is_own = |scope| reading.scopes.get(usize::try_from(scope).ok()?).map(|index| *index <= own);
        for (Variable { name, value, .. }, scope) in variables {
            let found = match value.reference.map(|id| self.0.references.find(id)) {
                Some(Ok(Expandable::Value(place))) => KnownValue::Held(place),
                None if SIMPLE.contains(&value.type_name.as_str()) && !value.cut => {
                    KnownValue::Simple(value.clone(), text)
                }
                _ => continue,
            };
            if scope == ANEW || is_own(scope) == Some(true) {
                self.remember(frame, name, epoch, found, scope != ANEW);
            }
        }
    }

    /// What the helper read of the contents of variables, completed. What is gone is left out, with everything
    /// after it.
    async fn expanded(
        &self,
        helper: &str,
        variables: &[Variable<RawId>],
        rows: Vec<ExpandedRows>,
        page: Page,
        text: usize,
    ) -> Vec<ExpandedValue> {
        let mut expanded: Vec<ExpandedValue> = Vec::with_capacity(rows.len());
        for ExpandedRows { parent, index, children } in rows {
            let siblings = match parent {
                Some(parent) => expanded.get(parent).map(|value| value.children.variables.as_slice()),
                None => Some(variables),
            };
            let Some(variable) = siblings.and_then(|siblings| siblings.get(index)) else { break };
            let (name, reference) = (variable.name.clone(), variable.value.reference);
            let Some(Ok(Expandable::Value(place))) = reference.map(|id| self.0.references.find(id)) else {
                break;
            };
            let Ok(children) = self.complete(helper, &place, children, page, text).await else { break };
            expanded.push(ExpandedValue { parent, name, children });
        }
        expanded
    }

    /// V8's scope objects are copies from the beginning of the stop. After an expression has run, the
    /// variables are read again by an expression in the frame: one object that has them all, and itself in
    /// place of those that are not initialized. `None` where the copies do.
    async fn read_again(&self, helper: &str, frame: &Arc<Frame>, wanted: &[usize]) -> Result<Option<String>> {
        let last = wanted.iter().max().copied();
        let Some(last) = last.filter(|_| self.0.changed.load(Ordering::Relaxed)) else { return Ok(None) };
        let epoch = self.0.epoch.load(Ordering::Relaxed);
        if let Some((at, scopes, object)) = &lock(&self.0.known).of(frame).again
            && (*at, scopes.as_slice()) == (epoch, wanted)
        {
            return Ok(Some(object.clone()));
        }
        let listed = self.names(helper, frame, last).await?;
        let read = || listed.iter().filter(|found| wanted.contains(&found.scope));
        let runs_code = frame.chain().iter().any(|scope| scope.kind == "with");
        // In Node 20 to 24 the whole expression fails for an export of the module that is not initialized.
        for with_unset in [true, false] {
            let names = read().filter(|found| with_unset || !found.is_unset).map(|found| found.name.as_str());
            let again = EvaluateOnCallFrame {
                call_frame_id: frame.call.call_frame_id.clone(),
                expression: collecting(names),
                object_group: Some(self.group()),
                silent: true,
                // V8 starts a task for it, which takes a quarter of the time.
                timeout: runs_code.then_some(AGAIN),
                ..EvaluateOnCallFrame::default()
            };
            if let Ok(answer) = self.request(again).await
                && answer.exception_details.is_none()
            {
                let object = answer.result.object_id;
                let again = object.clone().map(|object| (epoch, wanted.to_vec(), object));
                lock(&self.0.known).of(frame).again = again;
                return Ok(object);
            }
        }
        Ok(None)
    }

    /// The variables that are visible in the scopes up to one.
    pub(super) async fn names(&self, helper: &str, frame: &Frame, last: usize) -> Result<Arc<[ListedName]>> {
        if let Some(known) = lock(&frame.listed).get(&last) {
            return Ok(Arc::clone(known));
        }
        let is_listed = |index: &usize| {
            frame.chain().get(*index).is_some_and(|scope| !matches!(scope.kind.as_str(), "global" | "with"))
        };
        let scopes: Vec<usize> = (0..=last).filter(is_listed).collect();
        let options = json!({ "order": (0..scopes.len()).collect::<Vec<_>>() });
        let objects = scopes.iter().filter_map(|index| scope_object(frame, *index));
        let names: Vec<(String, usize, bool)> = self.call(helper, "names", options, objects).await?;
        let in_chain = |(name, place, is_unset)| {
            Some(ListedName { name, scope: *scopes.get::<usize>(place)?, is_unset })
        };
        let listed: Arc<[ListedName]> = names.into_iter().filter_map(in_chain).collect();
        lock(&frame.listed).insert(last, Arc::clone(&listed));
        Ok(listed)
    }
}

fn scope_object(frame: &Frame, index: usize) -> Option<CallArgument> {
    frame.chain().get(index)?.object.object_id.as_deref().map(object)
}

fn place(
    frame: &Arc<Frame>,
    reading: &ScopeSelection,
    anew: Option<&str>,
    root: i64,
    step: Json,
) -> Option<ValuePath> {
    let call_frame = &frame.call;
    let whole = |id: Option<&str>| Some(ValuePath::of(id?, Some(frame)));
    match root {
        RETURNED => whole(call_frame.return_value.as_ref()?.object_id.as_deref()),
        THIS => whole(call_frame.this.object_id.as_deref()),
        ANEW => Some(whole(anew)?.then(step)),
        place => {
            let index = reading.scopes.get(usize::try_from(place).ok()?)?;
            let scope = frame.chain().get(*index)?;
            Some(whole(scope.object.object_id.as_deref())?.then(step))
        }
    }
}

/// An expression for an object with variables of the frame.
fn collecting<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const OBJECT: &str = "stillframe_variables";
    let is_part = |letter| is_part_of_name(letter) || matches!(letter, '\u{200c}' | '\u{200d}');
    let reads: Vec<String> = names
        .filter(|name| !name.is_empty() && name.chars().all(is_part))
        .map(|name| format!("try{{{OBJECT}.{name}={name}}}catch{{{OBJECT}.{name}={OBJECT}}}"))
        .collect();
    let reads = reads.concat();
    format!("({OBJECT}=>{{{reads}return {OBJECT}}})({{__proto__:null}})")
}

fn name_of(frame: &Frame, scope: &RawScope) -> String {
    let of = |kind: &str| match scope.name.as_deref() {
        Some(name) if !name.is_empty() => format!("{kind} ({})", frame.original(name)),
        _ => kind.to_owned(),
    };
    match scope.kind.as_str() {
        "local" | "closure" if frame.is_of_module(scope) => "Module".to_owned(),
        "local" => "Local".to_owned(),
        "closure" => of("Closure"),
        other => {
            let mut letters = other.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
    }
}

fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut found = name.to_owned();
    let mut number = 2;
    while !taken.insert(found.clone()) {
        found = format!("{name} {number}");
        number += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_names_are_unique() {
        let mut taken = HashSet::new();
        let names = ["Block", "Block", "Local", "Block"].map(|name| unique(name, &mut taken));
        assert_eq!(names, ["Block", "Block 2", "Local", "Block 3"]);
    }

    #[test]
    fn only_identifiers_are_read() {
        let expression = collecting(["a", "über", "x.y", ""].into_iter());
        assert!(expression.contains(".a=a") && expression.contains(".über=über"), "{expression}");
        assert!(!expression.contains("x.y"), "{expression}");
    }
}
