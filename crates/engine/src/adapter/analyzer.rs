//! What a script for the interpreter of a language says of a source: it reads a question and prints the answer, as JSON.
//!
//! Each question costs the start of an interpreter, and a file is asked about when a breakpoint is set in it, when the
//! program is started and when it is restarted: mostly nothing has changed in between.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use super::known::Known;
use super::{AnalysisRequest, Host};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::Stdin;
use crate::model::source::{Code, Function, Loop};
use crate::process::ProcessSpec;

/// What files hold, by interpreter and file.
static SOURCES: Known<Code, (PathBuf, PathBuf)> = Known::new();

/// What a file holds, and whether the expressions can be compiled, by the script that `spec` runs.
pub(super) async fn analyze(
    host: &dyn Host,
    spec: ProcessSpec,
    question: AnalysisRequest<'_>,
) -> Result<Code> {
    let only_file =
        question.file.filter(|_| question.expressions.is_empty() && question.log_message.is_none());
    let Some(file) = only_file else { return ask(host, spec, question).await };
    let key = (spec.program.clone(), file.to_owned());
    SOURCES.or_ask(key, file, ask(host, spec, question)).await
}

async fn ask(host: &dyn Host, spec: ProcessSpec, question: AnalysisRequest<'_>) -> Result<Code> {
    let request = json!({
        "file": question.file,
        "expressions": question.expressions,
        "messages": question.log_message.iter().collect::<Vec<_>>(),
    });
    let spec = ProcessSpec { stdin: Stdin::Text(request.to_string()), ..spec };
    let finished = host.run(&spec, deadlines::HELPER).await?;
    let Ok(answer) = serde_json::from_str::<Analysis>(&finished.stdout) else {
        return Err(Error::Environment {
            problem: format!(
                "`{}` could not read the source: {}",
                spec.program.display(),
                finished.stderr.trim()
            ),
            remedy: "check that it works, or give another one as `executablePath`".to_owned(),
        });
    };
    if let Some(RejectedExpression { text, message }) = answer.refused.into_iter().next() {
        return Err(Error::BadExpression { expression: text, message });
    }
    if let (Some(problem), Some(path)) = (answer.error, question.file) {
        return Err(Error::BadFile { path: path.to_owned(), problem });
    }
    Ok(Code {
        lines: answer.lines,
        length: answer.length,
        functions: answer.functions,
        nameless: answer.nameless,
        loops: answer.loops,
        ..Code::default()
    })
}

/// What the analyzer prints.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Analysis {
    lines: Vec<u32>,
    length: u32,
    functions: Vec<Function>,
    nameless: Vec<(u32, u32)>,
    loops: Vec<Loop>,
    error: Option<String>,
    refused: Vec<RejectedExpression>,
}

#[derive(Deserialize)]
struct RejectedExpression {
    text: String,
    message: String,
}
