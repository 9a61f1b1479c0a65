//! Requested functions with a path of names that only the running program can resolve, such as `helper.doWork`.

use std::path::PathBuf;

use ::cdp::debugger::EvaluateOnCallFrame;
use ::cdp::runtime::{
    CallArgument, CallFunctionOn, Evaluate, Evaluated, GetProperties, PropertyDescriptor, RemoteObject,
};

use super::super::functions::FunctionStart;
use super::super::places::{self, real};
use super::super::v8::function_location;
use super::super::values::is_part_of_name;
use super::binder::BreakpointBinder;
use crate::deadlines;
use crate::debugger::Event;
use crate::model::source::{Code, Function};

/// In how many frames of a stop the names are looked up, from the innermost on.
const FRAMES: usize = 8;
/// How many objects a member may be inherited from.
const PROTOTYPES: usize = 16;
/// How long V8 may take for a name, in milliseconds.
const LIMIT: u32 = 200;

impl BreakpointBinder {
    /// Looks up the functions that are not found yet, and returns what changed.
    pub(in super::super) async fn follow_names(&self) -> Vec<Event> {
        let numbers = self.look_up().await;
        numbers.into_iter().flat_map(|number| self.table.news(number)).collect()
    }

    /// Binds the functions that their names lead to now. Nothing that has an effect is evaluated for it.
    pub(super) async fn look_up(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        let wanted = self.table.functions_nowhere();
        for wanted in wanted.into_iter().filter(|wanted| is_path(&wanted.name)) {
            let Some(function) = self.evaluate(&wanted.name).await else { continue };
            let Some((source, start)) = self.start_of(function, &wanted.name).await else { continue };
            let made = places::made_of(&self.sources, &source).await;
            numbers.extend(self.table.add_function(&wanted, &source, &made, start));
        }
        if !numbers.is_empty()
            && let Err(error) = self.bind_places(&numbers).await
        {
            tracing::debug!(%error, "cannot set a breakpoint in a matching function");
        }
        numbers
    }

    /// The function that a path leads to: in the frames of a stop, else from the global object.
    async fn evaluate(&self, path: &str) -> Option<RemoteObject> {
        let (first, members) = path.split_once('.').unwrap_or((path, ""));
        let stop = self.run.stop().ok();
        for frame in stop.iter().flat_map(|stop| stop.frames.iter().take(FRAMES)) {
            let question = EvaluateOnCallFrame {
                call_frame_id: frame.call_frame_id.clone(),
                expression: first.to_owned(),
                silent: true,
                throw_on_side_effect: true,
                timeout: Some(LIMIT),
                ..EvaluateOnCallFrame::default()
            };
            let answer = self.v8.request_within(deadlines::GOODBYE, question).await;
            if let Ok(answer) = answer
                && let Some(found) = self.member(answer, members).await
            {
                return Some(found);
            }
        }
        let question = Evaluate {
            expression: first.to_owned(),
            silent: true,
            throw_on_side_effect: true,
            timeout: Some(LIMIT),
            ..Evaluate::default()
        };
        let answer = self.v8.request_within(deadlines::GOODBYE, question).await;
        self.member(answer.ok()?, members).await
    }

    /// The function that is a member of a value, or of a member of it. V8 takes reading a member of a module for an
    /// effect, so the members are listed.
    async fn member(&self, value: Evaluated, members: &str) -> Option<RemoteObject> {
        let mut value = Some(value).filter(|value| value.exception_details.is_none())?.result;
        for name in members.split('.').filter(|name| !name.is_empty()) {
            value = self.property(value, name).await?;
        }
        Some(value).filter(|value| value.kind == "function")
    }

    /// A property that holds a value, the object's own or inherited.
    async fn property(&self, of: RemoteObject, name: &str) -> Option<RemoteObject> {
        let mut object = of;
        for _ in 0..PROTOTYPES {
            let object_id = object.object_id?;
            let question = GetProperties {
                object_id: object_id.clone(),
                own_properties: true,
                non_indexed_properties_only: true,
                ..GetProperties::default()
            };
            let listed = self.v8.request_within(deadlines::GOODBYE, question).await.ok()?;
            let is_module = listed.result.iter().any(is_mark_of_module);
            if let Some(found) = listed.result.into_iter().find(|property| property.name == name) {
                return if is_module { self.export(object_id, name).await } else { found.value };
            }
            let mut internal = listed.internal_properties.into_iter();
            object = internal.find(|property| property.name == "[[Prototype]]")?.value?;
        }
        None
    }

    /// What a module exports. V8 lists exports as accessors of its own; reading one runs no code of the program.
    async fn export(&self, object_id: String, name: &str) -> Option<RemoteObject> {
        let call = CallFunctionOn {
            function_declaration: "function (name) { return this[name]; }".to_owned(),
            object_id: Some(object_id),
            arguments: vec![CallArgument { value: Some(name.into()), ..CallArgument::default() }],
            silent: true,
            ..CallFunctionOn::default()
        };
        let answer: Evaluated = self.v8.request_within(deadlines::GOODBYE, call).await.ok()?;
        answer.exception_details.is_none().then_some(answer.result)
    }

    /// The source of a function, and where it begins there.
    async fn start_of(&self, function: RemoteObject, path: &str) -> Option<(PathBuf, FunctionStart)> {
        let question = GetProperties {
            object_id: function.object_id?,
            own_properties: true,
            ..GetProperties::default()
        };
        let place = function_location(self.v8.request(question).await.ok()?)?;
        let location = self.sources.location(&place).await?;
        let source = real(&self.sources.program.setup.to_remote(&location.source.path?));
        let code = self.sources.program.analyze(&source).await?;
        let own = path.rsplit('.').next().unwrap_or(path);
        Some((source, FunctionStart::from(at_line(&code, location.line, own)?)))
    }
}

/// The property that only the exports of a module have in this way.
fn is_mark_of_module(property: &PropertyDescriptor) -> bool {
    let text = property.value.as_ref().and_then(|value| value.value.as_ref());
    property.name == "Symbol(Symbol.toStringTag)"
        && !property.writable
        && !property.configurable
        && text.and_then(serde_json::Value::as_str) == Some("Module")
}

/// The function that begins on a line; of several, the one of that name.
fn at_line<'a>(code: &'a Code, line: u32, name: &str) -> Option<&'a Function> {
    let around = code.functions.iter().filter(|function| (function.start..=function.end).contains(&line));
    around.max_by_key(|function| {
        let is_named = function.name == name || function.name.ends_with(&format!(".{name}"));
        (function.header == line && is_named, function.start)
    })
}

/// Whether a name is made of identifiers with dots between them.
fn is_path(name: &str) -> bool {
    let is_word =
        |word: &str| word.starts_with(|first: char| !first.is_numeric()) && word.chars().all(is_part_of_name);
    name.split('.').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_consist_of_identifiers() {
        for path in ["f", "helper.doWork", "globalThis.$_1.ä"] {
            assert!(is_path(path), "{path}");
        }
        for other in ["", ".", "a.", ".a", "a..b", "1a", "a.1", "f()", "a[0]", "a?.b", "a = 1", "a b"] {
            assert!(!is_path(other), "{other}");
        }
    }
}
