//! What the program's own interpreter says of a source file.
//!
//! Each question costs the start of an interpreter, and a file is asked about when a breakpoint is set in it,
//! when the program is started and when it is restarted: mostly nothing has changed in between.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::json;

use super::super::{AnalysisRequest, Host, Runtime};
use super::debugpy;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::Stdin;
use crate::model::source::{Code, Comparison, Function, Loop};
use crate::process::ProcessSpec;

/// When a file was changed, how long it was, and what it held then.
type CachedAnalysis = ((SystemTime, u64), Code);

/// What was found in files before, by interpreter and file.
static KNOWN: LazyLock<Mutex<HashMap<(PathBuf, PathBuf), CachedAnalysis>>> = LazyLock::new(Mutex::default);

/// What a file holds, and whether the expressions can be compiled.
pub(super) async fn analyze(
    host: &dyn Host,
    runtime: &Runtime,
    question: AnalysisRequest<'_>,
) -> Result<Code> {
    let only_file =
        question.file.filter(|_| question.expressions.is_empty() && question.log_message.is_none());
    // The metadata is read before the file, so that a change in between is noticed the next time.
    let Some((file, stamp)) = only_file.and_then(|file| Some((file, stamp(file)?))) else {
        return ask(host, runtime, question).await;
    };
    let key = (runtime.executable.clone(), file.to_owned());
    if let Some((then, code)) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
        && *then == stamp
    {
        return Ok(code.clone());
    }
    let code = ask(host, runtime, question).await?;
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (stamp, code.clone()));
    Ok(code)
}

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

async fn ask(host: &dyn Host, runtime: &Runtime, question: AnalysisRequest<'_>) -> Result<Code> {
    let request = json!({
        "file": question.file,
        "expressions": question.expressions,
        "messages": question.log_message.iter().collect::<Vec<_>>(),
    });
    let spec = ProcessSpec {
        program: runtime.executable.clone(),
        args: vec!["-I".into(), "-S".into(), debugpy::scripts(host)?.join(debugpy::ANALYZER).into()],
        stdin: Stdin::Text(request.to_string()),
        ..Default::default()
    };
    let finished = host.run(&spec, deadlines::HELPER).await?;
    let Ok(answer) = serde_json::from_str::<Analysis>(&finished.stdout) else {
        return Err(Error::Environment {
            problem: format!(
                "`{}` could not parse the source: {}",
                runtime.executable.display(),
                finished.stderr.trim()
            ),
            remedy: "check that the interpreter works, or give another one as `executablePath`".to_owned(),
        });
    };
    if let Some(refused) = answer.refused.into_iter().next() {
        return Err(Error::BadExpression { expression: refused.text, message: refused.message });
    }
    if let (Some(problem), Some(path)) = (answer.error, question.file) {
        return Err(Error::BadFile { path: path.to_owned(), problem: problem.describe() });
    }
    Ok(Code {
        first: None,
        lines: answer.lines,
        places: Vec::new(),
        length: answer.length,
        functions: answer.functions.into_iter().map(AnalyzedFunction::into_function).collect(),
        nameless: Vec::new(),
        loops: answer.loops.into_iter().map(AnalyzedLoop::into_loop).collect(),
        unread: None,
        problem: None,
    })
}

/// What the analyzer prints.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Analysis {
    lines: Vec<u32>,
    length: u32,
    functions: Vec<AnalyzedFunction>,
    loops: Vec<AnalyzedLoop>,
    error: Option<SyntaxProblem>,
    refused: Vec<RejectedExpression>,
}

#[derive(Deserialize)]
struct AnalyzedFunction {
    name: String,
    start: u32,
    header: u32,
    body: u32,
    end: u32,
}

impl AnalyzedFunction {
    fn into_function(self) -> Function {
        let Self { name, start, header, body, end } = self;
        Function { name, start, header, body, body_column: 1, end }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
#[derive(Deserialize)]
struct AnalyzedLoop {
    start: u32,
    end: u32,
    goes_through: bool,
    has_exit: bool,
    is_endless: bool,
    is_certain: bool,
    is_closed: bool,
    condition: Vec<AnalyzedComparison>,
    variables: Vec<String>,
    assigned: Vec<String>,
}

#[derive(Deserialize)]
struct AnalyzedComparison {
    left: String,
    operator: String,
    right: String,
}

impl AnalyzedLoop {
    fn into_loop(self) -> Loop {
        let Self {
            start,
            end,
            goes_through,
            has_exit,
            is_endless,
            is_certain,
            is_closed,
            condition,
            variables,
            assigned,
        } = self;
        let comparison = |AnalyzedComparison { left, operator, right }| Comparison { left, operator, right };
        let condition = condition.into_iter().map(comparison).collect();
        Loop {
            start,
            end,
            goes_through,
            has_exit,
            is_endless,
            is_certain,
            is_closed,
            condition,
            variables,
            assigned,
        }
    }
}

#[derive(Deserialize)]
struct SyntaxProblem {
    message: String,
    line: Option<u32>,
    text: Option<String>,
}

impl SyntaxProblem {
    fn describe(&self) -> String {
        let place = match (self.line, self.text.as_deref().map(str::trim)) {
            (Some(line), Some(text)) if !text.is_empty() => format!(" at line {line}, `{text}`"),
            (Some(line), _) => format!(" at line {line}"),
            (None, _) => String::new(),
        };
        format!("cannot be compiled: {}{place}", self.message)
    }
}

#[derive(Deserialize)]
struct RejectedExpression {
    text: String,
    message: String,
}
