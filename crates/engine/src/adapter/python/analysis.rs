//! What the program's own Python says of a source file.

use super::super::{AnalysisRequest, Host, Runtime, analyzer};
use super::debugpy;
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
        program: runtime.executable.clone(),
        args: vec![
            "-I".into(),
            "-S".into(),
            "-c".into(),
            debugpy::ANALYZE.into(),
            debugpy::scripts(host)?.into(),
        ],
        ..ProcessSpec::default()
    };
    analyzer::analyze(host, spec, question).await
}
