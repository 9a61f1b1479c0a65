//! What the program's own Ruby says of a source file.

use super::super::{AnalysisRequest, Host, Runtime, analyzer};
use super::{interpreter, scripts};
use crate::error::Result;
use crate::model::source::Code;
use crate::process::ProcessSpec;

/// What a file holds, and whether the expressions can be compiled.
pub(super) async fn analyze(
    host: &dyn Host,
    runtime: &Runtime,
    question: AnalysisRequest<'_>,
) -> Result<Code> {
    let spec = ProcessSpec {
        program: interpreter::ruby_of(host, runtime),
        args: vec!["--disable-gems".into(), "-Ku".into(), scripts::analyzer(host)?.into()],
        env: [("RUBYOPT".to_owned(), None)].into(),
        ..ProcessSpec::default()
    };
    analyzer::analyze(host, spec, question).await
}
