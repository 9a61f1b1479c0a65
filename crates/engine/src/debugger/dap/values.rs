//! Values and expressions by the protocol's own requests.

mod shown;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use self::shown::ReportedValue;
pub(super) use self::shown::shown_text;
use super::breakpoints::positive;
use super::errors::raised;
use super::{DapDebugger, expressions, first, lock, removed, shadowing};
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::source::Source;
use crate::model::stack::{Scope, ScopeKind, SourceRange};
use crate::model::stacks::Stacks;
use crate::model::variable::{Children, Page, Value, Variable};

/// The known references of the current stop.
#[derive(Debug, Default)]
pub(super) struct References {
    /// Which frame each was found from.
    frames: HashMap<RawId, RawId>,
    /// How many numbered children each has, and how many others.
    counts: HashMap<RawId, (u64, u64)>,
    /// What was evaluated or assigned may have changed how many children a value has.
    is_changed: bool,
    /// Expressions for the children of each, by their names.
    expressions: HashMap<(RawId, String), String>,
    /// An expression for each itself.
    own: HashMap<RawId, String>,
    /// Those that are scopes, whose variables are called by their names.
    of_frames: HashSet<RawId>,
    /// Of these, those of global variables.
    of_globals: HashSet<RawId>,
    /// Scopes under our own numbers, below 0, because the adapter's numbers soon belong to another frame.
    scopes: Vec<(RawId, usize)>,
    /// The frame whose scopes were requested last, and these, as long as the adapter's numbers for them hold.
    scoped: Option<(RawId, Vec<::dap::Scope>)>,
    /// The source and the line that each frame is at.
    pub(super) places: HashMap<RawId, (PathBuf, u32)>,
    /// The frames of functions with [`Quirks::has_own_names`](crate::adapter::plan::Quirks::has_own_names).
    pub(super) plain: HashSet<RawId>,
    pub(super) stacks: Stacks<RawId, RawId>,
    /// What must be read before other values was read.
    pub(super) is_first_read: bool,
    /// How often the numbers of frames may have changed.
    pub(super) generation: u64,
}

impl References {
    /// The program has run: all of them are invalid.
    pub(super) fn forget(&mut self) {
        *self = Self { generation: self.generation + 1, ..Self::default() };
    }

    /// How many children the variables of the frame have that were listed by a name, if all have as many: an adapter
    /// may not count those of a container that it evaluates.
    fn counts_of(&self, frame: RawId, name: &str) -> (Option<i64>, Option<i64>) {
        let is_it = |(value, own): &(&RawId, &String)| *own == name && self.frames.get(value) == Some(&frame);
        let mut counts = self.own.iter().filter(is_it).map(|(value, _)| self.counts.get(value));
        let first = counts.next().flatten().filter(|_| !self.is_changed);
        let Some(first) = first.filter(|first| counts.all(|other| other == Some(*first))) else {
            return (None, None);
        };
        (i64::try_from(first.0).ok(), i64::try_from(first.1).ok())
    }

    /// Whether it is the name of a variable that was listed for the frame, means nothing else there, and has as many children
    /// as then.
    pub(super) fn is_variable(&self, frame: RawId, name: &str) -> bool {
        let scopes = self.of_frames.iter().filter(|scope| self.frames.get(scope) == Some(&frame));
        let mut own = scopes.filter(|scope| !self.of_globals.contains(scope));
        !self.is_changed
            && self.plain.contains(&frame)
            && own
                .any(|scope| self.expressions.get(&(*scope, name.to_owned())).is_some_and(|own| own == name))
    }

    /// Code of the program has run at a stop: some adapters number the frames again, or have chosen another one.
    fn code_ran(&mut self) {
        self.scoped = None;
        self.stacks.forget();
        self.generation += 1;
    }

    /// Our own number for a scope.
    fn number_scope(&mut self, frame: RawId, index: usize) -> RawId {
        let at = self.scopes.iter().position(|known| *known == (frame, index)).unwrap_or_else(|| {
            self.scopes.push((frame, index));
            self.scopes.len() - 1
        });
        RawId(-1 - i64::try_from(at).unwrap_or(i64::MAX - 1))
    }

    fn scope(&self, reference: RawId) -> Option<(RawId, usize)> {
        let at = usize::try_from(-1 - reference.0).ok()?;
        self.scopes.get(at).copied()
    }
}

pub(super) async fn scopes(debugger: &DapDebugger, frame: RawId) -> Result<Vec<Scope<RawId>>> {
    let turn = debugger.0.scoping.lock().await;
    let found = ask_scopes(debugger, frame).await?;
    drop(turn);
    let mut references = lock(&debugger.0.references);
    let scope = |(index, scope): (usize, ::dap::Scope)| {
        let reference = if debugger.quirks().scopes_of_one_frame {
            references.number_scope(frame, index)
        } else {
            RawId(scope.variables_reference)
        };
        references.frames.insert(reference, frame);
        references.of_frames.insert(reference);
        let (kind, range) = (kind(&scope), range(&scope));
        if kind == ScopeKind::Globals {
            references.of_globals.insert(reference);
        }
        Scope { kind, name: scope.name, reference, expensive: scope.expensive, range }
    };
    Ok(found.into_iter().enumerate().map(scope).collect())
}

/// The code that a scope belongs to, where the adapter says all of it.
fn range(scope: &::dap::Scope) -> Option<SourceRange> {
    Some(SourceRange {
        source: Source::file(scope.source.as_ref()?.path.as_ref()?),
        line: positive(scope.line)?,
        column: positive(scope.column),
        end_line: positive(scope.end_line)?,
        end_column: positive(scope.end_column),
    })
}

/// The scopes of a frame. They do not change until code of the program runs.
async fn ask_scopes(debugger: &DapDebugger, frame: RawId) -> Result<Vec<::dap::Scope>> {
    let generation = {
        let references = lock(&debugger.0.references);
        if let Some((_, known)) = references.scoped.as_ref().filter(|(of, _)| *of == frame) {
            return Ok(known.clone());
        }
        references.generation
    };
    let arguments = || ::dap::ScopesArguments { frame_id: frame.0 };
    let mut response = debugger.request::<::dap::Scopes>(arguments(), deadlines::REQUEST).await?;
    if first::read_for(debugger, &response.scopes) {
        response = debugger.request::<::dap::Scopes>(arguments(), deadlines::REQUEST).await?;
    }
    let mut references = lock(&debugger.0.references);
    // The program may have run meanwhile.
    if references.generation == generation {
        references.scoped = Some((frame, response.scopes.clone()));
    }
    Ok(response.scopes)
}

/// Not every adapter gives hints.
fn kind(scope: &::dap::Scope) -> ScopeKind {
    let name = scope.name.to_ascii_lowercase();
    match scope.presentation_hint.as_deref() {
        Some("locals" | "arguments") => ScopeKind::Locals,
        Some("globals") => ScopeKind::Globals,
        None if name.starts_with("local") => ScopeKind::Locals,
        None if name.starts_with("global") => ScopeKind::Globals,
        Some(_) | None => ScopeKind::Other,
    }
}

pub(super) async fn variables(
    debugger: &DapDebugger,
    reference: RawId,
    page: Page,
    text: usize,
) -> Result<Children<RawId>> {
    let (counts, scope, globals) = {
        let references = lock(&debugger.0.references);
        let place = || references.places.get(references.frames.get(&reference)?).cloned();
        let frame = || references.frames.get(&reference).copied();
        let scope = references.of_frames.contains(&reference).then(place);
        let globals = references.of_globals.contains(&reference).then(frame).flatten();
        (references.counts.get(&reference).copied(), scope, globals)
    };
    let quirks = debugger.quirks();
    let (found, total) = if let Some(counts) = counts {
        numbered(debugger, reference, page, counts, text).await?
    } else {
        let found = ask_variables(debugger, reference, Part::All, text).await?;
        let found = removed::without(debugger, globals, found).await;
        let found = if let Some(place) = scope { shadowing::in_scope(quirks, place, found) } else { found };
        let total = found.len() as u64;
        (cut(found, page.start, page.count), total)
    };
    let text = own_limit(debugger, text);
    let mut references = lock(&debugger.0.references);
    let shown = |variable| references.shown_variable(quirks, reference, variable, text);
    let variables = found.into_iter().map(shown).collect();
    Ok(Children { variables, total, start: page.start, hidden: 0 })
}

/// A page of children that are numbered, with the others after them, and how many there are. There may be too many
/// of them to ask for all.
async fn numbered(
    debugger: &DapDebugger,
    reference: RawId,
    page: Page,
    (indexed, named): (u64, u64),
    text: usize,
) -> Result<(Vec<::dap::Variable>, u64)> {
    let mut found = Vec::new();
    let count = indexed.saturating_sub(page.start).min(page.count);
    if count > 0 {
        let part = ask_variables(debugger, reference, Part::Indexed(page.start, count), text).await?;
        // The response to a page may contain everything: not every adapter respects `start` and `count`.
        let is_whole = part.len() as u64 >= indexed;
        found = cut(part, if is_whole { page.start } else { 0 }, count);
    }
    if named == 0 || page.count <= count {
        return Ok((found, indexed + named));
    }
    let others = ask_variables(debugger, reference, Part::Named, text).await?;
    let total = indexed + others.len() as u64;
    found.extend(cut(others, page.start.saturating_sub(indexed), page.count - count));
    Ok((found, total))
}

fn cut(found: Vec<::dap::Variable>, start: u64, count: u64) -> Vec<::dap::Variable> {
    let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    found.into_iter().skip(at(start)).take(at(count)).collect()
}

/// Which children are asked for.
#[derive(Clone, Copy)]
enum Part {
    All,
    /// This many numbered ones, from this one on.
    Indexed(u64, u64),
    /// Those that are not numbered.
    Named,
}

/// Asks for the children of a scope or value.
async fn ask_variables(
    debugger: &DapDebugger,
    reference: RawId,
    part: Part,
    text: usize,
) -> Result<Vec<::dap::Variable>> {
    // The scopes of another frame must not be asked for between the two requests.
    let _turn = if reference.0 < 0 { Some(debugger.0.scoping.lock().await) } else { None };
    let number = scope_number(debugger, reference).await?;
    let signed = |number: u64| i64::try_from(number).ok();
    let (filter, start, count) = match part {
        Part::All => (None, None, None),
        Part::Indexed(start, count) => (Some("indexed"), signed(start), signed(count)),
        Part::Named => (Some("named"), None, None),
    };
    let filter = filter.map(ToOwned::to_owned);
    let children = count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
    let deadline = deadlines::READ + deadlines::READ_CHILD * children;
    let text = text_limit(debugger, text);
    let arguments = ::dap::VariablesArguments { variables_reference: number, filter, start, count, text };
    Ok(debugger.request::<::dap::Variables>(arguments, deadline).await?.variables)
}

/// The longest text, for adapters that take it.
fn text_limit(debugger: &DapDebugger, text: usize) -> Option<u64> {
    debugger.quirks().takes_limits.then_some(text as u64)
}

/// The longest text that is not cut here.
fn own_limit(debugger: &DapDebugger, text: usize) -> usize {
    if debugger.quirks().takes_limits { usize::MAX } else { text }
}

/// The adapter's number for a scope or value.
async fn scope_number(debugger: &DapDebugger, reference: RawId) -> Result<i64> {
    if reference.0 >= 0 {
        return Ok(reference.0);
    }
    let gone = || Error::Refused("the scope is gone".to_owned());
    let scope = lock(&debugger.0.references).scope(reference);
    let (frame, index) = scope.ok_or_else(gone)?;
    let scopes = ask_scopes(debugger, frame).await?;
    scopes.get(index).map(|scope| scope.variables_reference).ok_or_else(gone)
}

/// `watch` is the only context in which every adapter takes the text as an expression of the language; `hover` is the
/// one without side effects.
pub(super) async fn evaluate(debugger: &DapDebugger, request: Evaluate) -> Result<Value<RawId>> {
    let Evaluate { expression, frame, deadline, text, pure } = request;
    if pure && !debugger.capabilities().supports_evaluate_for_hovers {
        return Err(Error::Unsupported(
            "this debugger cannot evaluate without side effects; leave out `sideEffects`, and evaluate only \
             names and attributes"
                .to_owned(),
        ));
    }
    let quirks = debugger.quirks();
    if pure && (quirks.is_call)(&expression) {
        return Err(expressions::runs_code());
    }
    let (spelled, form) = expressions::spelled(debugger, frame, &expression, pure).await?;
    let context = if pure && spelled.is_none() { "hover" } else { "watch" };
    let ask = |expression: String| {
        let arguments = ::dap::EvaluateArguments {
            expression,
            frame_id: Some(frame.0),
            timeout: quirks
                .bounds_evaluations
                .then(|| u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX)),
            context: Some(context.to_owned()),
            text: text_limit(debugger, text),
        };
        first::evaluate(debugger, arguments, deadline + deadlines::EVALUATE_GRACE)
    };
    let expression = expressions::rounded(quirks, &expression, &ask).await;
    let mut answer = ask(spelled.unwrap_or_else(|| expression.clone())).await;
    if !pure {
        if let Some(other) = expressions::run(debugger, frame, &expression, &answer, &ask).await {
            answer = other;
        }
        if let Some(other) = expressions::other(debugger, frame, &expression, &answer, &ask).await {
            answer = other;
        }
    }
    lock(&debugger.0.references).code_ran();
    let answer = answer.map_err(|error| match error {
        Error::Refused(message) if (quirks.is_call)(&expression) => {
            Error::Refused((quirks.refused_call)(message))
        }
        other => other,
    });
    let response = answer.map_err(|error| match error {
        Error::Refused(message) if (quirks.is_gone)(&message) => Error::Lost,
        Error::Refused(message) if (quirks.is_timeout)(&message) => {
            Error::Deadline { what: "the expression".to_owned(), after: deadline }
        }
        Error::Refused(message) if (quirks.is_unknown_name)(&message) => Error::UnknownName(message),
        Error::Refused(message) => raised((quirks.error_type)(&message).to_owned(), message),
        other => other,
    })?;
    let mut references = lock(&debugger.0.references);
    let counts = match (response.indexed_variables, response.named_variables) {
        (None, None) if form.indexed.is_some() => (form.indexed, None),
        (None, None) => references.counts_of(frame, &expression),
        counts => counts,
    };
    references.is_changed |= ["(", "=", "++", "--"].iter().any(|sign| expression.contains(sign));
    references.own.insert(RawId(response.variables_reference), format!("({expression})"));
    let reported = ReportedValue {
        text: response.result,
        kind: response.kind,
        reference: response.variables_reference,
        counts,
        length: response.text_length,
    };
    Ok(form.around(references.shown(quirks, Some(frame), reported, own_limit(debugger, text))))
}

fn not_there(name: &str) -> Error {
    Error::Refused(format!("no assignable variable `{name}` here"))
}

/// By `setVariable`, or `setExpression`, or the evaluation of an assignment: whichever the adapter does best.
pub(super) async fn set_variable(
    debugger: &DapDebugger,
    parent: RawId,
    name: &str,
    value: &str,
    limit: usize,
) -> Result<Value<RawId>> {
    lock(&debugger.0.references).is_changed = true;
    let can = debugger.capabilities();
    let evaluates = debugger.quirks().assigns_by_evaluating;
    if can.supports_set_variable && !evaluates {
        return set_by_name(debugger, parent, name, value, limit).await;
    }
    if !(evaluates || can.supports_set_expression) {
        return Err(Error::Unsupported("this debugger cannot assign to variables".to_owned()));
    }
    let found = expression_for(debugger, parent, name).await;
    if matches!(found, Err(Error::Refused(_))) && can.supports_set_variable {
        // As an entry of a map, whose expression would depend on its key.
        return set_by_name(debugger, parent, name, value, limit).await;
    }
    let (expression, frame) = found?;
    if evaluates {
        let expression = format!("{expression} = {value}");
        let deadline = deadlines::EVALUATE;
        return evaluate(debugger, Evaluate { expression, frame, deadline, text: limit, pure: false }).await;
    }
    let arguments =
        ::dap::SetExpressionArguments { expression, value: value.to_owned(), frame_id: Some(frame.0) };
    let response = debugger.request::<::dap::SetExpression>(arguments, deadlines::READ).await?;
    Ok(assigned(debugger, parent, response, limit))
}

/// By `setVariable`.
async fn set_by_name(
    debugger: &DapDebugger,
    parent: RawId,
    name: &str,
    value: &str,
    limit: usize,
) -> Result<Value<RawId>> {
    let _turn = debugger.0.scoping.lock().await;
    let arguments = ::dap::SetVariableArguments {
        variables_reference: scope_number(debugger, parent).await?,
        name: name.to_owned(),
        value: value.to_owned(),
        text: text_limit(debugger, limit),
    };
    let asked = debugger.clone();
    // The memory for a text may be one that a function of the program makes.
    let request = async move { asked.request::<::dap::SetVariable>(arguments, deadlines::READ).await };
    let answer = debugger.silently(request).await;
    let response = answer.map_err(|error| match error {
        // An adapter may give no reason, or no other than this.
        Error::Refused(message) if ["", "failed to find the named variable"].contains(&message.as_str()) => {
            not_there(name)
        }
        Error::Refused(message) if (debugger.quirks().is_timeout)(&message) => {
            Error::Deadline { what: "the expression".to_owned(), after: deadlines::EVALUATE }
        }
        Error::Refused(message) => match (debugger.quirks().error_type)(&message) {
            "" => Error::Refused(message),
            type_name => raised(type_name.to_owned(), message),
        },
        other => other,
    })?;
    Ok(assigned(debugger, parent, response, limit))
}

fn assigned(
    debugger: &DapDebugger,
    parent: RawId,
    response: ::dap::SetVariableResponse,
    limit: usize,
) -> Value<RawId> {
    let mut references = lock(&debugger.0.references);
    references.code_ran();
    let frame = references.frames.get(&parent).copied();
    let quirks = debugger.quirks();
    let reported = ReportedValue {
        text: response.value,
        kind: response.kind,
        reference: response.variables_reference,
        counts: (None, None),
        length: response.text_length,
    };
    let value = references.shown(quirks, frame, reported, limit);
    Value { note: value.note.or(quirks.assignment_note.map(str::to_owned)), ..value }
}

/// An expression for a child of a scope or value, and the frame in which it means that.
async fn expression_for(debugger: &DapDebugger, parent: RawId, name: &str) -> Result<(String, RawId)> {
    let known = |references: &References| {
        let expression = references.expressions.get(&(parent, name.to_owned())).cloned();
        // There may be too many to list them all.
        let element = || {
            let length = references.counts.get(&parent).map(|(length, _)| *length)?;
            let is_there = expressions::index_of(name).is_some_and(|index| index < length);
            Some(format!("{}{name}", references.own.get(&parent).filter(|_| is_there)?))
        };
        expression.or_else(element).zip(references.frames.get(&parent).copied())
    };
    let missing = || not_there(name);
    if let Some(known) = known(&lock(&debugger.0.references)) {
        return Ok(known);
    }
    let length = lock(&debugger.0.references).counts.get(&parent).map(|(length, _)| *length);
    if length.zip(expressions::index_of(name)).is_some_and(|(length, index)| index >= length) {
        return Err(missing());
    }
    let page = Page { start: 0, count: u64::MAX, special: true, internals: false };
    let listed = variables(debugger, parent, page, 0).await?.variables;
    let found = known(&lock(&debugger.0.references));
    let is_constant = |one: &Variable<RawId>| one.name == name && is_constant(&one.value.type_name);
    if found.is_none() && listed.iter().any(is_constant) {
        return Err(raised(String::new(), format!("`{name}` is constant")));
    }
    found.ok_or_else(missing)
}

/// Whether a type of C or C++ is that of a constant, such as the key of an entry in a map.
fn is_constant(kind: &str) -> bool {
    kind.rsplit_once('*').map_or(kind.starts_with("const "), |(_, behind)| behind.trim() == "const")
}
