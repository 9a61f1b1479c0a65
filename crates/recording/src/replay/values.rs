//! What a client reads at a position: threads, frames, variables, expressions.

use dap::{
    EvaluateArguments, EvaluateResponse, ExceptionDetails, ExceptionInfoResponse, Scope as Shown,
    ScopesArguments, ScopesResponse, Source, SourceArguments, SourceResponse, StackFrame,
    StackTraceArguments, StackTraceResponse, Thread, ThreadsResponse, Variable, VariablesArguments,
    VariablesResponse,
};

use super::Replay;
use crate::ask::{own_and_outer, owners};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryAt};
use crate::predicate::{Datum, Scope};
use crate::reading::Code;
use crate::spelling::Spelling;
use crate::stack::{Frame, base_name};
use crate::value::{BASES, Key, Kind, OUTER, Owner, What, Word};

/// Characters of a value, and levels of objects in it.
const VALUE: usize = 400;
const DEPTH: usize = 3;

/// What a client may refer to until the next move.
#[derive(Debug, Default)]
pub(super) struct References {
    frames: Vec<Frame>,
    values: Vec<Owner>,
}

impl References {
    fn value(&mut self, owner: Owner) -> i64 {
        let known = self.values.iter().position(|other| *other == owner);
        let at = known.unwrap_or_else(|| {
            self.values.push(owner);
            self.values.len() - 1
        });
        number(at)
    }
}

fn number(at: usize) -> i64 {
    i64::try_from(at + 1).unwrap_or(i64::MAX)
}

fn index(number: i64) -> Option<usize> {
    usize::try_from(number - 1).ok()
}

impl Replay {
    fn memory(&self) -> MemoryAt<'_> {
        MemoryAt { recording: &self.recording, event: self.position.moment() }
    }

    pub(super) fn threads(&self) -> Result<ThreadsResponse> {
        let found = "SELECT id, name FROM threads ORDER BY id";
        let found = self.recording.rows(found, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let thread = |(id, name)| Thread { id, name: self.recording.text(name).to_string(), os_thread: None };
        let mut threads: Vec<Thread> = found.into_iter().map(thread).collect();
        if threads.is_empty() {
            threads.push(Thread { id: 1, name: "main".to_owned(), os_thread: None });
        }
        Ok(ThreadsResponse { threads })
    }

    pub(super) fn stack_trace(&mut self, asked: StackTraceArguments) -> Result<StackTraceResponse> {
        let current = self.recording.thread_of(&self.position.event)?;
        let event = if asked.thread_id == current {
            Some(self.position.event)
        } else {
            self.recording.last_of_thread(self.position.event.id, asked.thread_id)?
        };
        let frames = event.map(|event| self.recording.stack(&event)).transpose()?.unwrap_or_default();
        let start = asked.start_frame.and_then(|start| usize::try_from(start).ok()).unwrap_or(0);
        let levels =
            asked.levels.and_then(|levels| usize::try_from(levels).ok()).filter(|levels| *levels > 0);
        let total_frames = i64::try_from(frames.len()).ok();
        let wanted = frames.into_iter().skip(start).take(levels.unwrap_or(usize::MAX));
        let mut stack_frames = Vec::new();
        for frame in wanted {
            stack_frames.push(self.frame(frame));
        }
        Ok(StackTraceResponse { stack_frames, total_frames })
    }

    fn frame(&mut self, frame: Frame) -> StackFrame {
        let recording = &self.recording;
        let at = recording.place(frame.place);
        let code = at.map(|(code, _)| code).or_else(|| recording.codes.get(&frame.call.code));
        let line = at.map(|(_, line)| line).or(code.map(|code| code.line)).unwrap_or(0);
        let shown = StackFrame {
            id: number(self.references.frames.len()),
            name: code.map_or_else(|| "?".to_owned(), |code| code.name.to_string()),
            source: code.map(|code| source(recording, code)),
            line,
            column: 1,
            presentation_hint: None,
            instruction_pointer_reference: None,
        };
        self.references.frames.push(frame);
        shown
    }

    /// The text of a source as it was when the program ran.
    pub(super) fn source(&self, asked: &SourceArguments) -> Result<SourceResponse> {
        let reference = asked.source.source_reference.unwrap_or(asked.source_reference);
        let code = self.recording.codes.values().find(|code| code.file == reference);
        let code = code.ok_or_else(|| Error::question(format!("there is no source {reference}")))?;
        Ok(SourceResponse { content: self.recording.lines_of(code).join("\n") })
    }

    pub(super) fn scopes(&mut self, asked: ScopesArguments) -> Result<ScopesResponse> {
        let call = self.frame_at(asked.frame_id)?.call.clone();
        let own = own_and_outer(&self.recording, &call)?;
        let all = owners(&self.recording, &call)?;
        let mut scopes = Vec::new();
        for (at, owner) in all.into_iter().enumerate() {
            let is_module = at >= own.len();
            let (name, hint) = match (at, is_module) {
                (0, _) => ("Locals", "locals"),
                (_, true) => ("Globals", "globals"),
                _ => ("Closure", "closure"),
            };
            scopes.push(Shown {
                name: name.to_owned(),
                presentation_hint: Some(hint.to_owned()),
                variables_reference: self.references.value(owner),
                ..Shown::default()
            });
        }
        Ok(ScopesResponse { scopes })
    }

    fn frame_at(&self, id: i64) -> Result<&Frame> {
        let found = index(id).and_then(|at| self.references.frames.get(at));
        found.ok_or_else(|| Error::question(format!("there is no frame {id} at this moment")))
    }

    pub(super) fn variables(&mut self, asked: &VariablesArguments) -> Result<VariablesResponse> {
        let owner = index(asked.variables_reference).and_then(|at| self.references.values.get(at)).copied();
        let owner = owner.ok_or_else(|| {
            Error::question(format!("there is no value {} at this moment", asked.variables_reference))
        })?;
        let kind = owner.as_object().map(|object| self.recording.object(object)).transpose()?;
        let kind = kind.map(|object| object.kind);
        let mut slots = self.memory().all(owner)?;
        if kind == Some(Kind::List) {
            slots.sort_by_key(|(key, _)| *key);
        }
        let length = slots.iter().find_map(|(key, word)| match (key, word) {
            (Key::Length, Word::Integer(length)) => Some(*length),
            _ => None,
        });
        slots.retain(|(key, _)| {
            *key != Key::Length && ![OUTER, BASES].contains(&self.recording.key_text(*key).as_str())
        });
        let shown = i64::try_from(slots.len()).unwrap_or(i64::MAX);
        let start = asked.start.and_then(|start| usize::try_from(start).ok()).unwrap_or(0);
        let count = asked.count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
        let mut variables = Vec::new();
        for (key, word) in slots.into_iter().skip(start).take(count.unwrap_or(usize::MAX)) {
            let name = match key {
                Key::Index(index) => index.to_string(),
                Key::Item(text) => self.recording.text(text).to_string(),
                key => self.recording.key_text(key),
            };
            let (value, kind, variables_reference) = self.shown(word)?;
            variables.push(Variable {
                name,
                value,
                kind: Some(kind),
                variables_reference,
                ..Variable::default()
            });
        }
        if let Some(more) = length.map(|length| length - shown).filter(|more| *more > 0 && count.is_none()) {
            let value = format!("{more} more, beyond the recording's limit");
            variables.push(Variable { name: "...".to_owned(), value, ..Variable::default() });
        }
        Ok(VariablesResponse { variables })
    }

    /// A value's text, its type, and the reference to its contents.
    fn shown(&mut self, word: Word) -> Result<(String, String, i64)> {
        let text = self.recording.value_text(word, &self.memory(), DEPTH, VALUE)?;
        let kind = self.recording.type_name(word)?;
        let reference = match word {
            Word::Object(number) if self.has_contents(number)? => {
                self.references.value(Owner::object(number))
            }
            _ => 0,
        };
        Ok((text, kind, reference))
    }

    fn has_contents(&self, object: i64) -> Result<bool> {
        let kind = self.recording.object(object)?.kind;
        let is_empty = kind.is_named() && self.memory().all(Owner::object(object))?.is_empty();
        Ok(kind != Kind::Opaque && !is_empty && !self.recording.is_unread(object, &self.memory())?)
    }

    pub(super) fn evaluate(&mut self, asked: &EvaluateArguments) -> Result<EvaluateResponse> {
        let expression = self.recording.expression(&asked.expression)?;
        let expression = self.recording.without_properties(expression)?;
        let call = match asked.frame_id {
            Some(frame) => Some(self.frame_at(frame)?.call.clone()),
            None => self.recording.call(self.position.event.call)?,
        };
        let call = call.ok_or_else(|| Error::question("there is no frame at this moment"))?;
        let memory = self.memory();
        let scope = Scope::of(&self.recording, &memory, &call)?;
        let kept = scope.slot(&expression)?.map(|(owner, key)| memory.get(owner, key)).transpose()?.flatten();
        let word = match (kept, scope.value(&expression)?) {
            (Some(word), _) | (None, Some(Datum::Other(word))) => word,
            (None, Some(Datum::Object(number))) => Word::Object(number),
            (None, Some(datum)) => {
                let (result, kind) = computed(self.recording.spelling, &datum);
                return Ok(EvaluateResponse { result, kind: Some(kind), ..EvaluateResponse::default() });
            }
            (None, None) => {
                return Err(Error::question(format!(
                    "`{}` has no recorded value here; only values within the recording's limits are known, and what \
                     conditions can compute from them",
                    asked.expression
                )));
            }
        };
        let (result, kind, variables_reference) = self.shown(word)?;
        Ok(EvaluateResponse { result, kind: Some(kind), variables_reference, ..EvaluateResponse::default() })
    }

    pub(super) fn exception_info(&self) -> Result<ExceptionInfoResponse> {
        let event = &self.position.event;
        let Some(Word::Atom(atom)) = event.value.map(Word::of).filter(|_| event.what == What::Throw) else {
            return Err(Error::question("no exception is thrown at this moment"));
        };
        let atom = self.recording.atom(atom)?;
        let (type_name, message) = (atom.type_name.to_string(), atom.text.clone());
        let stack: Vec<String> =
            self.recording.stack(event)?.iter().map(|frame| self.recording.frame_text(frame)).collect();
        let details = ExceptionDetails {
            message: Some(message.clone()),
            type_name: Some(type_name.clone()),
            stack_trace: Some(stack.join("\n")),
        };
        Ok(ExceptionInfoResponse {
            exception_id: type_name,
            description: Some(message),
            break_mode: Some(
                if self.recording.is_uncaught(event)? { "unhandled" } else { "always" }.to_owned(),
            ),
            details: Some(details),
        })
    }
}

/// The text and the type of what was computed from recorded values.
fn computed(spelling: Spelling, datum: &Datum) -> (String, String) {
    let text = match datum {
        Datum::Member(member, value, _) => format!("<{member}: {value}>"),
        Datum::Items(items) => {
            let items: Vec<String> = items.iter().map(|item| computed(spelling, item).0).collect();
            format!("[{}]", items.join(", "))
        }
        Datum::Object(number) => format!("<object #{number}>"),
        simple => simple.simple_text(spelling).unwrap_or_default(),
    };
    (text, datum.type_name(spelling).to_owned())
}

/// A source: the file, or its text as it was, if the file has changed since.
fn source(recording: &crate::Recording, code: &Code) -> Source {
    let recorded = recording.lines_of(code);
    let now = std::fs::read_to_string(&*code.path);
    let is_same = now.is_ok_and(|now| now.lines().eq(recorded.iter().map(String::as_str)));
    Source {
        name: Some(base_name(&code.path).to_owned()),
        path: Some(code.path.to_string()),
        source_reference: (!is_same && !recorded.is_empty()).then_some(code.file),
        presentation_hint: None,
    }
}
