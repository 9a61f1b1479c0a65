//! What an editor reads: threads, frames, values and sources.

use dap::{
    EvaluateArguments, EvaluateResponse, ExceptionDetails, ExceptionInfoResponse, ScopesArguments,
    ScopesResponse, SourceArguments, SourceResponse, StackTraceArguments, StackTraceResponse,
    ThreadsResponse, VariablesArguments, VariablesResponse,
};
use engine::error::Error;
use engine::model::ids::Reference;
use engine::model::stack::{ScopeKind, StackFrame};
use engine::model::stop::StopReason;
use engine::model::variable::{Children, Page, Value, Variable};
use engine::snapshot;
use serde::Serialize;

use crate::editor::{Editor, number, reference, thread};
use crate::limits;
use crate::outgoing::{Answer, Refusal, body};
use crate::redacted::{clean, clean_text};

impl Editor {
    pub(crate) async fn threads(&self) -> Answer {
        let threads = self.session().threads().await?.into_iter();
        let threads = threads.map(|thread| {
            let id = thread.id.0.into();
            dap::Thread { id, name: thread.name, os_thread: None }
        });
        self.shown(&ThreadsResponse { threads: threads.collect() }, None)
    }

    pub(crate) async fn stack_trace(&self, asked: StackTraceArguments) -> Answer {
        let start = asked.start_frame.and_then(|start| usize::try_from(start).ok()).unwrap_or(0);
        let levels =
            asked.levels.and_then(|levels| usize::try_from(levels).ok()).filter(|levels| *levels > 0);
        let levels = levels.unwrap_or(limits::FRAMES).min(limits::FRAMES);
        let stack = self.session().stack_trace(thread(asked.thread_id), start, levels).await?;
        let response = StackTraceResponse {
            total_frames: i64::try_from(stack.total).ok(),
            stack_frames: stack.frames.into_iter().map(|frame| self.frame(frame)).collect(),
        };
        self.shown(&response, None)
    }

    fn frame(&self, frame: StackFrame<Reference>) -> dap::StackFrame {
        let is_internal = frame.is_internal();
        let location = frame.location.as_ref();
        dap::StackFrame {
            id: number(Some(frame.id)),
            source: location.map(|location| self.sources.describe(&location.source)),
            line: location.map_or(0, |location| location.line.into()),
            column: location.map_or(0, |location| location.column.into()),
            presentation_hint: is_internal.then(|| "subtle".to_owned()),
            instruction_pointer_reference: None,
            name: frame.name,
        }
    }

    pub(crate) async fn scopes(&self, asked: ScopesArguments) -> Answer {
        let scopes = self.session().scopes(reference(asked.frame_id)?).await?.into_iter();
        let scopes = scopes.map(|scope| dap::Scope {
            name: scope.name,
            presentation_hint: (scope.kind == ScopeKind::Locals).then(|| "locals".to_owned()),
            variables_reference: number(Some(scope.reference)),
            expensive: scope.expensive,
            source: scope.range.as_ref().map(|range| self.sources.describe(&range.source)),
            line: scope.range.as_ref().map(|range| range.line.into()),
            column: scope.range.as_ref().and_then(|range| range.column).map(i64::from),
            end_line: scope.range.as_ref().map(|range| range.end_line.into()),
            end_column: scope.range.as_ref().and_then(|range| range.end_column).map(i64::from),
        });
        self.shown(&ScopesResponse { scopes: scopes.collect() }, None)
    }

    /// A value with many children is declared to have numbered ones, which editors read in pages.
    pub(crate) async fn variables(&self, asked: VariablesArguments) -> Answer {
        if asked.filter.as_deref() == Some("named") {
            return body(&VariablesResponse::default());
        }
        let count = asked.count.and_then(|count| u64::try_from(count).ok()).filter(|count| *count > 0);
        let page = Page {
            start: asked.start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0),
            count: count.unwrap_or(limits::VARIABLES).min(self.session().policy().bounds.children),
            special: false,
            internals: false,
        };
        let parent = reference(asked.variables_reference)?;
        let text = self.session().policy().bounds.text(limits::VALUE);
        let children = self.session().variables(parent, page, text).await?;
        let rest = (count.is_none()).then(|| rest(&children)).flatten();
        let variables = children.variables.into_iter().map(variable).chain(rest).collect();
        self.shown(&VariablesResponse { variables }, None)
    }

    pub(crate) async fn source(&self, asked: SourceArguments) -> Answer {
        let number = asked.source.source_reference.unwrap_or(asked.source_reference);
        let named = self.sources.name(number);
        let name =
            named.or(asked.source.path).ok_or_else(|| Refusal(format!("there is no source {number}")))?;
        let path = (number == 0).then(|| std::path::Path::new(&name));
        let lines = snapshot::lines(self.session(), &name, path).await?;
        let content = clean_text(lines.join("\n"), self.exposed.shows_credentials);
        body(&SourceResponse { content })
    }

    /// Only an editor that controls the program may change something by evaluating, and not by pointing at a word.
    pub(crate) async fn evaluate(&self, asked: EvaluateArguments) -> Answer {
        let bounds = &self.session().policy().bounds;
        let context = asked.context.as_deref().unwrap_or_default();
        let is_pure = !self.exposed.control || context == "hover";
        let frame = match asked.frame_id {
            Some(frame) => reference(frame)?,
            None => self.innermost_frame().await?,
        };
        let text = bounds.text(if context == "clipboard" { usize::MAX } else { limits::WHOLE_VALUE });
        let expression = asked.expression.clone();
        let evaluated =
            self.session().evaluate(frame, expression, bounds.default_evaluate(), text, is_pure).await?;
        let response = EvaluateResponse {
            variables_reference: number(evaluated.reference),
            indexed_variables: pages(&evaluated),
            result: evaluated.text,
            kind: Some(evaluated.type_name),
            ..EvaluateResponse::default()
        };
        self.shown(&response, Some(&asked.expression))
    }

    /// The user's own, where there is one.
    async fn innermost_frame(&self) -> Result<Reference, Refusal> {
        let frames = self.session().stack_trace(None, 0, limits::FRAMES).await?.frames;
        let users = frames.iter().find(|frame| !frame.is_internal()).or(frames.first());
        Ok(users.ok_or_else(|| Error::Refused("the stack is empty".to_owned()))?.id)
    }

    pub(crate) async fn exception_info(&self) -> Answer {
        // A debugger may answer with what it stopped for, whatever that was.
        let execution = self.session().execution();
        if execution.stop().is_none_or(|stop| stop.reason != StopReason::Exception) {
            return Err(Refusal("the program is not stopped at an exception".to_owned()));
        }
        let exception = self.session().exception().await?.shortened();
        let response = ExceptionInfoResponse {
            exception_id: exception.type_name.clone(),
            description: Some(exception.message.clone()),
            break_mode: Some(if exception.uncaught { "unhandled" } else { "always" }.to_owned()),
            details: Some(ExceptionDetails {
                message: Some(exception.message),
                type_name: Some(exception.type_name),
                stack_trace: Some(exception.stack),
            }),
        };
        self.shown(&response, None)
    }

    /// A body without what must not be seen. `asked` is the expression that it is the value of.
    pub(crate) fn shown(&self, content: &impl Serialize, asked: Option<&str>) -> Answer {
        let mut content = body(content)?;
        clean(&mut content, asked, self.exposed.shows_credentials);
        Ok(content)
    }
}

fn variable(variable: Variable<Reference>) -> dap::Variable {
    let value = variable.value;
    dap::Variable {
        name: variable.name,
        variables_reference: number(value.reference),
        indexed_variables: pages(&value),
        value: value.text,
        kind: Some(value.type_name),
        ..dap::Variable::default()
    }
}

/// How many children a value has, where these are too many to be read at once.
fn pages(value: &Value<Reference>) -> Option<i64> {
    let children = value.children.filter(|count| *count > limits::CHILDREN)?;
    i64::try_from(children).ok()
}

/// A row for the children that are left out, so that none is missing without a word.
fn rest(children: &Children<Reference>) -> Option<dap::Variable> {
    let next = children.next_start()?;
    let value = format!("{} more of {}", children.total - next, children.total);
    Some(dap::Variable { name: "…".to_owned(), value, ..dap::Variable::default() })
}
