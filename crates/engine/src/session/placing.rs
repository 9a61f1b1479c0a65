//! Resolves a requested location to a place that can have a breakpoint.

mod columns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Session;
use super::breakpoints::Relocation;
use crate::adapter::{self, AnalysisRequest, Guarded};
use crate::error::{Error, Result};
use crate::model::breakpoint::{AdjustedPosition, Anchor, Breakpoint, BreakpointTarget, Request, Rule};
use crate::model::launch::{Endpoint, Launch, Program, Start};
use crate::model::source::{Code, Function, Loop, Placement};
use crate::sources::{self, StatementMatch};

/// A requested location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceRequest {
    /// The file.
    pub file: Option<PathBuf>,
    /// The file that is started next. A function without a file is searched for there first.
    pub program: Option<PathBuf>,
    /// The line, 1-based.
    pub line: Option<u32>,
    /// The column, 1-based; the code that is nearest to it on the line.
    pub column: Option<u32>,
    /// Text of the line.
    pub statement: Option<String>,
    /// Which of several lines with that text: the one nearest to this.
    pub near_line: Option<u32>,
    /// A function.
    pub function: Option<String>,
    /// The line must hold this text.
    pub expected_content: Option<String>,
    /// When the breakpoint acts.
    pub rule: Rule,
}

impl PlaceRequest {
    /// Some clients fill in every argument.
    fn without_blanks(self) -> Self {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let function = given(self.function);
        let line = self.line.filter(|line| *line > 0 || function.is_none());
        Self { statement: given(self.statement), line, function, ..self }
    }

    /// A function has a line of its own.
    fn check_single(&self) -> Result<()> {
        let other = self.statement.as_ref().map(|_| "statement").or(self.line.map(|_| "line"));
        let Some(other) = other.filter(|_| self.function.is_some()) else { return Ok(()) };
        Err(Error::Refused(format!(
            "`function` and `{other}` name two places; give one of them for each breakpoint"
        )))
    }
}

/// A place that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPlace {
    /// What to ask for.
    pub request: Request,
    /// Where to bind it, as far as that differs from where it was requested.
    pub planned: AdjustedPosition,
    /// Notes on the place.
    pub note: Option<String>,
}

impl Session {
    /// Resolves a requested location, adds a breakpoint there, and describes the result.
    pub async fn set_breakpoint(&self, wanted: PlaceRequest) -> Result<(Breakpoint, Option<String>)> {
        let placed = self.place(wanted).await?;
        let breakpoint = self.add_breakpoint(placed.request, placed.planned).await?;
        Ok((breakpoint, placed.note))
    }

    /// Checks a rule without setting it.
    pub async fn check_rule(&self, rule: &Rule) -> Result<()> {
        self.analyze(None, rule).await.map(|_| ())
    }

    /// What a source file holds; nothing when that cannot be known.
    pub async fn code(&self, file: &Path) -> Option<Code> {
        self.analyze(Some(file), &Rule::default()).await.ok().flatten()
    }

    /// The loops of a source file, outer ones first.
    pub async fn loops(&self, file: &Path) -> Vec<Loop> {
        if self.language_of(file).source_analysis().is_some() {
            return self.code(file).await.unwrap_or_default().loops;
        }
        // A program can have sources of several languages.
        let adapter = adapter::by_extension(file).unwrap_or(self.adapter());
        let is_allowed = self.policy().safety.check_path(file).is_ok();
        let text = is_allowed.then(|| sources::read_text(file).ok()).flatten();
        text.map(|text| adapter.loops(&text)).unwrap_or_default()
    }

    /// Checks that a text is an expression of the language.
    pub async fn check_expression(&self, expression: &str) -> Result<()> {
        self.check_rule(&Rule { condition: Some(expression.to_owned()), ..Rule::default() }).await
    }

    /// Resolves a requested location.
    pub async fn place(&self, wanted: PlaceRequest) -> Result<ResolvedPlace> {
        self.policy().safety.check_rule(&wanted.rule)?;
        let wanted = wanted.without_blanks();
        wanted.check_single()?;
        self.check_column(&wanted)?;
        match (&wanted.file, &wanted.function) {
            (Some(file), Some(function)) => {
                let path = sources::absolute(file);
                self.check_language(&path).await?;
                self.place_on_function(path, function.clone(), wanted.rule).await
            }
            (None, Some(function)) => {
                for source in self.program_sources(wanted.program).await {
                    let rule = wanted.rule.clone();
                    if let Ok(placed) = self.place_on_function(source, function.clone(), rule).await {
                        return Ok(placed);
                    }
                }
                self.place_on_name(function.clone(), wanted.rule).await
            }
            (Some(file), None) => {
                let path = sources::absolute(file);
                self.check_language(&path).await?;
                self.place_on_line(path, wanted).await
            }
            (None, None) => {
                let program = if wanted.line.is_some() || wanted.statement.is_some() {
                    self.program_file().await
                } else {
                    None
                };
                let program = program.ok_or_else(|| {
                    Error::Refused(
                        "a breakpoint needs `file` with `line` or `statement`, or `function`".to_owned(),
                    )
                })?;
                self.place_on_line(program, wanted).await
            }
        }
    }

    fn check_column(&self, wanted: &PlaceRequest) -> Result<()> {
        let Some(column) = wanted.column else { return Ok(()) };
        let adapter = wanted.file.as_deref().map_or(self.adapter(), |file| self.language_of(file));
        if !adapter.facts().has_columns {
            return Err(Error::Unsupported(format!(
                "{} does not support column breakpoints: a breakpoint stops at the first statement of its \
                 line; leave out `column`",
                adapter.about()
            )));
        }
        if column == 0 {
            return Err(Error::Refused("columns start at 1".to_owned()));
        }
        if wanted.line.is_none() && wanted.statement.is_none() {
            return Err(Error::Refused("`column` needs `line` or `statement`".to_owned()));
        }
        Ok(())
    }

    /// Places the breakpoints on lines again, by what is in their files now, as after an edit. Returns those that cannot be
    /// placed as they were.
    pub async fn place_again(&self) -> Result<Vec<String>> {
        let mut files: BTreeMap<PathBuf, Vec<Breakpoint>> = BTreeMap::new();
        for breakpoint in self.breakpoints().await? {
            if let Some(path) = breakpoint.path() {
                files.entry(path.to_owned()).or_default().push(breakpoint);
            }
        }
        let mut notes = Vec::new();
        for (path, breakpoints) in files {
            notes.extend(self.place_file_again(&path, &breakpoints).await?);
        }
        Ok(notes)
    }

    /// The file is read once, however many breakpoints it has. If it cannot be read, its breakpoints stay where they
    /// are: it may exist for the program, and must not prevent the start.
    async fn place_file_again(&self, path: &Path, breakpoints: &[Breakpoint]) -> Result<Vec<String>> {
        let read = match self.read_lines(path) {
            Err(Error::NoFile { .. }) if self.is_remote().await => return Ok(Vec::new()),
            Err(error) => Err(error),
            Ok(lines) => self.analyze(Some(path), &Rule::default()).await.map(|code| (lines, code)),
        };
        let mut notes = Vec::new();
        for breakpoint in breakpoints {
            let id = breakpoint.id;
            let BreakpointTarget::Line { line, column, anchor, .. } = &breakpoint.place else { continue };
            match &read {
                Ok((lines, code)) => {
                    let (found, gone) = find_again(path, lines, code.as_ref(), *line, anchor.as_ref());
                    let mut to = relocation(path, lines, code.as_ref(), (found, *column));
                    if let Some(Anchor::Function(_)) = anchor {
                        to.planned.declared = declared(code.as_ref(), found);
                    }
                    notes.extend(gone.iter().chain(&to.lost).map(|problem| format!("{id}: {problem}")));
                    self.relocate_breakpoint(id, to).await?;
                }
                Err(error) => notes.push(format!("{id}: {error}; it stays on line {line}")),
            }
        }
        Ok(notes)
    }

    async fn place_on_line(&self, path: PathBuf, wanted: PlaceRequest) -> Result<ResolvedPlace> {
        let lines = match self.read_lines(&path) {
            Err(Error::NoFile { .. }) if self.is_remote().await => None,
            other => Some(other?),
        };
        let line = match (&wanted.statement, wanted.line, &lines) {
            (Some(statement), near, Some(lines)) => find(&path, lines, statement, wanted.near_line.or(near))?,
            (Some(_), _, None) => {
                return Err(Error::NoFile { path, similar: Vec::new() });
            }
            (None, Some(line), _) => line,
            (None, None, _) => {
                return Err(Error::Refused(
                    "a breakpoint in a file needs `line`, `statement` or `function`".to_owned(),
                ));
            }
        };
        if let (Some(expected), Some(lines)) = (&wanted.expected_content, &lines) {
            check_content(&path, lines, line, expected)?;
        }
        let code = match lines {
            Some(_) => self.analyze(Some(&path), &wanted.rule).await?,
            None => None,
        };
        let facts = self.language_of(&path).facts();
        let of_text = wanted.statement.as_deref().zip(code.as_ref()).filter(|_| facts.has_columns);
        let of_text = of_text.and_then(|(statement, code)| {
            let text = text_of(lines.as_deref().unwrap_or_default(), line);
            columns::of_text(&text, statement, &code.columns(line))
        });
        let column = wanted.column.or(of_text);
        let planned = planning(&path, lines.as_deref().unwrap_or_default(), code.as_ref(), (line, column))?;
        let is_by_text = wanted.statement.is_some() && wanted.column.is_none();
        let note = code.as_ref().and_then(|code| {
            let line = planned.line.unwrap_or(line);
            let by_text = Some(code).filter(|_| facts.has_columns && is_by_text);
            columns::of_definition(code, line, column, facts)
                .or_else(|| columns::of_line_with_function(by_text?, line, column))
                .or_else(|| Some(format!("the file has an error: {}", code.problem.as_ref()?)))
        });
        let other_line = wanted.statement.as_ref().zip(wanted.line).filter(|(_, given)| *given != line);
        let other_line = other_line.map(|(statement, given)| {
            format!("`{statement}` is on line {line}; `line` {given} only selects among lines with that text")
        });
        let notes: Vec<String> = other_line.into_iter().chain(note).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let anchor = wanted.statement.map(Anchor::Statement);
        let place = BreakpointTarget::Line { path, line, column, anchor };
        Ok(ResolvedPlace { request: Request { place, rule: wanted.rule }, planned, note })
    }

    async fn place_on_function(&self, path: PathBuf, name: String, rule: Rule) -> Result<ResolvedPlace> {
        // The error for a missing file is better here than an interpreter's.
        let lines = self.read_lines(&path)?;
        let language = self.language_of(&path);
        let facts = language.facts();
        let written = || {
            let code = Code { functions: language.functions(&lines.join("\n")), ..Code::default() };
            (!functions_named(&code, &name).is_empty()).then_some(code)
        };
        let Some(code) = self.analyze(Some(&path), &rule).await?.or_else(written) else {
            if language.name() != self.adapter().name() {
                let problem = format!(
                    "is in {}, whose functions are found by name only in a session of that language; give `line`",
                    language.name()
                );
                return Err(Error::BadFile { path, problem });
            }
            if let Some(names) = language.functions_instead_of(&lines.join("\n"), &name) {
                let names = sources::nearest_names(&name, names);
                return Err(Error::BadFile { path, problem: no_function(&name, &names, None) });
            }
            return self.place_on_name(name, rule).await;
        };
        match functions_named(&code, &name).as_slice() {
            [] => {
                let names = code.functions.iter().map(|function| function.name.clone()).collect();
                let names = sources::nearest_names(&name, names);
                Err(Error::BadFile {
                    path,
                    problem: no_function(&name, &names, code.unread.or(code.problem)),
                })
            }
            // Its line is passed when it is defined, too.
            [function]
                if function.body == function.header
                    && !(facts.has_columns || facts.tells_functions_apart)
                    && facts.passes_definitions =>
            {
                self.place_on_name(function.name.clone(), rule).await
            }
            [function] => {
                let note = format!("the breakpoint is on the first line of `{}`", function.name);
                let is_on_line = function.body == function.header && facts.has_columns;
                let column = is_on_line.then_some(function.body_column);
                let anchor = Some(Anchor::Function(name));
                let place = BreakpointTarget::Line { path, line: function.body, column, anchor };
                let line = match code.place(function.body) {
                    Placement::Moved(to) => Some(to),
                    _ => None,
                };
                let planned =
                    AdjustedPosition { declared: Some(function.header), line, ..AdjustedPosition::default() };
                Ok(ResolvedPlace { request: Request { place, rule }, planned, note: Some(note) })
            }
            // An accessor and its setter, or what an overload declares: no name is for only one of them.
            [first, others @ ..] if others.iter().all(|function| function.name == first.name) => {
                self.place_on_name(first.name.clone(), rule).await
            }
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|function| format!("`{}` (line {})", function.name, function.header))
                    .collect();
                Err(Error::BadFile {
                    path,
                    problem: format!(
                        "has several functions `{name}`: {}; give a qualified name",
                        names.join(", ")
                    ),
                })
            }
        }
    }

    /// A function in any file: the debugger finds its name, and does not take a file into account.
    async fn place_on_name(&self, name: String, rule: Rule) -> Result<ResolvedPlace> {
        self.analyze(None, &rule).await?;
        let note =
            format!("stops in every function `{name}`, in any file; use a line to stop in one of them");
        let place = BreakpointTarget::Function { name };
        Ok(ResolvedPlace {
            request: Request { place, rule },
            planned: AdjustedPosition::default(),
            note: Some(note),
        })
    }

    /// The language's analysis of a file, and whether it can compile the rule. Nothing for a file in another language
    /// (a template, a configuration), and without an interpreter to run. Before a program starts, the repository's
    /// own interpreter does not run.
    async fn analyze(&self, file: Option<&Path>, rule: &Rule) -> Result<Option<Code>> {
        if let Some(file) = file {
            self.policy().safety.check_path(file)?;
        }
        let safety = &self.policy().safety;
        let adapter = file.map_or(self.adapter(), |file| self.language_of(file));
        let Some(analysis) = adapter.source_analysis() else { return Ok(None) };
        let executable = self.executable_for(adapter);
        let host = match self.last_start().await {
            Ok(Some(Start::Launch(_))) => Guarded::starting(self.host(), safety),
            _ => Guarded::for_reading(self.host(), safety, executable),
        };
        let runtime = match adapter.locate(&host, executable, file).await {
            Ok(runtime) => runtime,
            Err(Error::Environment { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let expressions: Vec<&str> = rule.expressions().collect();
        let question = AnalysisRequest {
            file: file.filter(|file| {
                adapter::by_extension(file).is_none_or(|owner| owner.name() == adapter.name())
            }),
            expressions: &expressions,
            log_message: rule.log_message.as_deref(),
        };
        if question.file.is_none() && question.expressions.is_empty() && rule.log_message.is_none() {
            return Ok(None);
        }
        let ours = question.file.is_some_and(|file| adapter::by_extension(file).is_some());
        match analysis.analyze(&host, &runtime, question).await {
            Ok(code) => Ok(question.file.map(|_| code)),
            Err(Error::BadFile { path, .. }) if !ours && !analysis.has_other_sources() => {
                Err(Error::BadFile { path, problem: format!("is not {} source", adapter.about()) })
            }
            // What another interpreter does not take, the program's own may: it says so at the start.
            Err(Error::BadFile { .. }) if !ours || host.has_refused() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file that was started last.
    pub async fn program_file(&self) -> Option<PathBuf> {
        match self.last_start().await.ok()?? {
            Start::Launch(Launch { program: Program::Script(path), .. }) => Some(path),
            _ => None,
        }
    }

    /// The file that is started next or was started last, or what it was compiled from.
    async fn program_sources(&self, next: Option<PathBuf>) -> Vec<PathBuf> {
        let program = match next {
            Some(next) => Some(sources::absolute(&next)),
            None => self.program_file().await,
        };
        let Some(program) = program else { return Vec::new() };
        let sources = self.sources_of(&program);
        if sources.is_empty() { vec![program] } else { sources }
    }

    /// The sources that a file was compiled from; none for a source.
    pub fn sources_of(&self, file: &Path) -> Vec<PathBuf> {
        let analysis = self.language_of(file).source_analysis();
        analysis.map(|analysis| analysis.sources_of(file, &self.policy().safety)).unwrap_or_default()
    }

    /// The program may run on another machine, with files that this one does not have.
    async fn is_remote(&self) -> bool {
        match self.last_start().await {
            Ok(Some(Start::Attach(attach))) => matches!(attach.to, Endpoint::Address { .. }),
            _ => false,
        }
    }
}

/// The line of a breakpoint by what it was found by; without that, or where it is gone, the line that it had. The
/// second part says that it is gone.
fn find_again(
    path: &Path,
    lines: &[String],
    code: Option<&Code>,
    line: u32,
    anchor: Option<&Anchor>,
) -> (u32, Option<String>) {
    let (found, what) = match anchor {
        None => return (line, None),
        Some(Anchor::Statement(text)) => {
            let found = match sources::find_statement(lines, text, Some(line)) {
                StatementMatch::Line(found) => Some(found),
                StatementMatch::Several(_) | StatementMatch::Nowhere(_) => None,
            };
            (found, format!("text `{text}`"))
        }
        Some(Anchor::Function(name)) => {
            let Some(code) = code else { return (line, None) };
            let found = match functions_named(code, name).as_slice() {
                [function] => Some(function.body),
                _ => None,
            };
            (found, format!("function `{name}`"))
        }
    };
    let gone = || format!("its {what} is no longer in {}; it stays on line {line}", path.display());
    (found.unwrap_or(line), found.is_none().then(gone))
}

/// The functions that a name may mean.
fn functions_named<'a>(code: &'a Code, name: &str) -> Vec<&'a Function> {
    let found: Vec<&Function> = code.functions_named(name).collect();
    // A function without an enclosing one has no longer name.
    match *found.iter().copied().filter(|function| function.name == name).collect::<Vec<_>>() {
        [only] => vec![only],
        _ => found,
    }
}

/// The line with the name of the function whose first statement is on this line.
fn declared(code: Option<&Code>, body: u32) -> Option<u32> {
    code?.functions.iter().find(|function| function.body == body).map(|function| function.header)
}

/// A line and maybe a column, 1-based.
type LineAndColumn = (u32, Option<u32>);

fn relocation(path: &Path, lines: &[String], code: Option<&Code>, at: LineAndColumn) -> Relocation {
    let (line, _) = at;
    match planning(path, lines, code, at) {
        Ok(planned) => Relocation { line, planned, lost: None },
        Err(error) => {
            Relocation { line, planned: AdjustedPosition::default(), lost: Some(error.to_string()) }
        }
    }
}

/// Where a breakpoint is set, if that differs. The column of a line without code is ignored.
fn planning(
    path: &Path,
    lines: &[String],
    code: Option<&Code>,
    (line, column): LineAndColumn,
) -> Result<AdjustedPosition> {
    match code.map_or(Placement::Exact, |code| code.place(line)) {
        Placement::Exact if code.is_none() && !lines.is_empty() && !has_line(lines, line) => {
            Err(no_code(path.to_owned(), line, Vec::new(), lines))
        }
        Placement::Exact => Ok(code.zip(column).map_or_else(AdjustedPosition::default, |(code, column)| {
            columns::at_column(code.columns(line), column)
        })),
        Placement::Moved(to) => Ok(AdjustedPosition { line: Some(to), ..AdjustedPosition::default() }),
        Placement::None(nearest) => Err(no_code(path.to_owned(), line, nearest, lines)),
    }
}

fn find(path: &Path, lines: &[String], statement: &str, near: Option<u32>) -> Result<u32> {
    let listed = |lines: Vec<(u32, String)>| lines.into_iter().take(20).collect();
    match sources::find_statement(lines, statement, near) {
        StatementMatch::Line(line) => Ok(line),
        StatementMatch::Several(several) => Err(Error::NoStatement {
            path: path.to_owned(),
            statement: statement.to_owned(),
            problem: format!("matches {} lines; add text, or `nearLine`", several.len()),
            lines: listed(several),
        }),
        StatementMatch::Nowhere(alike) => Err(Error::NoStatement {
            path: path.to_owned(),
            statement: statement.to_owned(),
            problem: "matches no line".to_owned(),
            lines: listed(alike),
        }),
    }
}

fn check_content(path: &Path, lines: &[String], line: u32, expected: &str) -> Result<()> {
    let actual = text_of(lines, line);
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeeze(&actual).contains(&squeeze(expected)) {
        return Ok(());
    }
    let elsewhere = match sources::find_statement(lines, expected, Some(line)) {
        StatementMatch::Line(line) => vec![(line, text_of(lines, line))],
        StatementMatch::Several(several) | StatementMatch::Nowhere(several) => several,
    };
    Err(Error::NoLine {
        path: path.to_owned(),
        line,
        problem: format!("is `{}`, not `{expected}`", actual.trim()),
        nearest: elsewhere,
    })
}

fn no_code(path: PathBuf, line: u32, nearest: Vec<u32>, lines: &[String]) -> Error {
    let problem = if line == 0 {
        "does not exist: lines start at 1".to_owned()
    } else if line as usize > lines.len() {
        format!("is past the end of the file, which has {} lines", lines.len())
    } else {
        "has no code, and neither do the lines near it".to_owned()
    };
    let nearest = nearest.into_iter().map(|line| (line, text_of(lines, line).trim().to_owned())).collect();
    Error::NoLine { path, line, problem, nearest }
}

/// `unread` is why the file may have more functions than are known.
fn no_function(name: &str, known: &[String], unread: Option<String>) -> String {
    match (known, unread) {
        ([], Some(why)) => {
            format!("could not be searched for function `{name}`: {why}; give `line` or `statement`")
        }
        ([], None) => format!("defines no functions, so no `{name}`"),
        (known, _) => format!("has no function `{name}`; it has {}", known.join(", ")),
    }
}

fn has_line(lines: &[String], line: u32) -> bool {
    (1..=lines.len()).contains(&(line as usize))
}

fn text_of(lines: &[String], line: u32) -> String {
    let index = usize::try_from(line).unwrap_or(usize::MAX).checked_sub(1);
    index.and_then(|index| lines.get(index)).cloned().unwrap_or_default()
}
