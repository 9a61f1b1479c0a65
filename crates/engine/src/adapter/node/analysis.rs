//! The functions, loops and breakable lines of a JavaScript or TypeScript source, parsed with oxc.
//!
//! A breakpoint must not fail because a parser does not understand the file: one in a dialect of JavaScript, a huge
//! generated one, or one in the middle of an edit. In such a file, any line with text is assumed to have code, and
//! the debugger reports where the breakpoint bound. Only the script to start must parse, and if it is plain
//! JavaScript, Node decides.

mod functions;
mod lines;
mod loops;

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_parser::ParserReturn;
use oxc_span::SourceType;

use super::super::known::Known;
use super::super::{AnalysisRequest, Host, Runtime};
use super::EXTENSIONS;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::javascript::{self, LineStarts};
use crate::model::source::Code;
use crate::process::ProcessSpec;
use crate::sources;

/// The longest text that is parsed, in bytes. What is longer was generated.
const LONGEST: usize = 10 * 1024 * 1024;

/// What files hold.
static SOURCES: Known<Code> = Known::new();

/// What a file holds, and whether the expressions can be evaluated.
pub(super) async fn analyze(question: AnalysisRequest<'_>) -> Result<Code> {
    check_expressions(&question)?;
    let Some(file) = question.file else { return Ok(Code::default()) };
    let is_foreign = |extension: &std::ffi::OsStr| !EXTENSIONS.iter().any(|known| extension == *known);
    if file.extension().is_some_and(is_foreign) {
        return Err(bad(file, "is not JavaScript or TypeScript".to_owned()));
    }
    examine(file).await
}

/// Whether the script can be started.
pub(super) async fn check(host: &dyn Host, runtime: &Runtime, file: &Path) -> Result<()> {
    let Some(problem) = examine(file).await?.problem else { return Ok(()) };
    if file.extension().is_some() && !javascript::is_plain(file) {
        return Err(bad(file, problem));
    }
    match ask_node(host, runtime, file).await? {
        Some(said) => Err(bad(file, said)),
        None => Ok(()),
    }
}

fn check_expressions(question: &AnalysisRequest<'_>) -> Result<()> {
    let refused = |text: &str| {
        let expression = text.to_owned();
        move |message| Error::BadExpression { expression, message }
    };
    for expression in question.expressions {
        javascript::is_expression(expression).map_err(refused(expression))?;
    }
    if let Some(message) = question.log_message {
        javascript::log_parts(message).map_err(refused(message))?;
    }
    Ok(())
}

fn bad(path: &Path, problem: String) -> Error {
    Error::BadFile { path: path.to_owned(), problem }
}

async fn examine(file: &Path) -> Result<Code> {
    let path = file.to_owned();
    let work = async {
        let read = tokio::task::spawn_blocking(move || read(&path));
        read.await.map_err(|_| bad(file, "could not be read".to_owned()))?
    };
    SOURCES.or_ask(file.to_owned(), file, work).await
}

fn read(path: &Path) -> Result<Code> {
    let text = sources::read_text(path)?;
    let length = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if text.len() > LONGEST {
        let why = format!("it has {} bytes, the limit is {LONGEST}", text.len());
        return Ok(unread(&text, length, Some(why)));
    }
    let parsed = javascript::parsing(&text, || parse_as_any(path, &text, length));
    Ok(parsed.unwrap_or_else(|| unread(&text, length, Some("it is nested too deeply to parse".to_owned()))))
}

/// Any line with text may hold code.
fn unread(text: &str, length: u32, unread: Option<String>) -> Code {
    let may_hold = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = (1..).zip(text.lines()).filter(|(_, line)| may_hold(line)).map(|(number, _)| number);
    let lines: Vec<u32> = lines.collect();
    Code { first: lines.first().map(|line| (*line, None)), lines, length, unread, ..Code::default() }
}

fn parse_as_any(path: &Path, text: &str, length: u32) -> Code {
    let mut first = None;
    for kind in kinds(path) {
        let found = parse(text, length, kind);
        if found.problem.is_none() {
            return found;
        }
        first = first.or(Some(found));
    }
    first.unwrap_or_else(|| unread(text, length, None))
}

/// What a file may be, by its extension. A `.js` file can be a module, a script, or a script with tags that something
/// compiles; only the text shows which.
fn kinds(path: &Path) -> Vec<SourceType> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("mjs") => vec![SourceType::mjs()],
        Some("cjs") => vec![SourceType::cjs()],
        Some("ts" | "mts" | "cts") => vec![SourceType::ts()],
        Some("tsx") => vec![SourceType::tsx()],
        Some("jsx") => vec![SourceType::jsx()],
        _ => vec![SourceType::unambiguous(), SourceType::mjs(), SourceType::cjs(), SourceType::jsx()],
    }
}

fn parse(text: &str, length: u32, kind: SourceType) -> Code {
    let allocator = Allocator::default();
    let parsed = javascript::parse(&allocator, text, kind);
    let starts = LineStarts::of(text);
    let problem = first_problem(&parsed, text, &starts);
    if parsed.panicked {
        return Code { problem, ..unread(text, length, None) };
    }
    let lines::ExecutableLines { lines, places, first } = lines::of(&parsed.program, text, &starts);
    let functions::FunctionList { functions, nameless } = functions::of(&parsed.program, &starts);
    let loops = loops::of(&parsed.program, &starts);
    Code { lines, places, first, length, functions, nameless, loops, unread: None, problem }
}

fn first_problem(parsed: &ParserReturn<'_>, text: &str, starts: &LineStarts) -> Option<String> {
    let error = parsed.diagnostics.errors().next()?;
    let place = error.labels.first().map(|label| starts.line(label.offset()));
    let line = place.and_then(|line| text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
    Some(describe(&format!("SyntaxError: {}", error.message), place, line))
}

fn describe(message: &str, line: Option<u32>, text: Option<&str>) -> String {
    let place = match (line, text.map(str::trim)) {
        (Some(line), Some(text)) if !text.is_empty() => format!(" at line {line}, `{}`", shortened(text)),
        (Some(line), _) => format!(" at line {line}"),
        (None, _) => String::new(),
    };
    format!("cannot be compiled: {message}{place}")
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What Node itself reports about a file: it knows whether this is a module, and has familiar error messages. Nothing
/// if Node accepts it, or cannot tell.
async fn ask_node(host: &dyn Host, runtime: &Runtime, file: &Path) -> Result<Option<String>> {
    let Some(node) = super::interpreter::node_of(host, runtime) else { return Ok(None) };
    let spec = ProcessSpec {
        program: node,
        args: vec!["--check".into(), file.into()],
        // It could make this process wait for a debugger, too.
        env: [("NODE_OPTIONS".to_owned(), None)].into(),
        ..ProcessSpec::default()
    };
    let finished = host.run(&spec, deadlines::HELPER).await?;
    Ok(if finished.success { None } else { node_error_message(&finished.stderr) })
}

/// Node prints the place as `PATH:LINE`, then the text of the line, and below the message.
fn node_error_message(stderr: &str) -> Option<String> {
    let message = stderr.lines().find(|line| line.starts_with("SyntaxError"))?;
    let mut lines = stderr.lines();
    let line = lines.next().and_then(|first| first.rsplit_once(':')?.1.parse().ok());
    let text = if line.is_some() { lines.next() } else { None };
    Some(describe(message, line, text))
}

#[cfg(test)]
mod tests;
