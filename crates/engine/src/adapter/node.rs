//! JavaScript and TypeScript in Node.js, whose inspector is spoken to directly.
//!
//! The program starts as its user would start it. `NODE_OPTIONS` makes every `node` in it load a hook, which opens
//! the inspector, sends us its address, and waits for us; so children, workers of test runners, and what `npm` starts
//! are debugged like the program itself. Nothing is installed.

mod analysis;
mod command_line;
mod commands;
mod compiled;
mod hook;
mod interpreter;
mod launch;
mod options;
mod packages;
mod reporters;
mod resolution;
mod runners;
mod tracebacks;
mod typescript;

use std::path::{Path, PathBuf};

use async_trait::async_trait;

pub use command_line::{names_code, takes_next_word};
pub(crate) use compiled::{map_beside, map_of, map_through_file, read_map};
pub use hook::LOADING;
pub use launch::{STACK, plain_launch};
pub(crate) use options::{closes_inspector, opens_inspector};
pub use typescript::file_url;

use super::{
    Adapter, AnalysisRequest, ChildProcesses, Commands, Driver, Host, LanguageFacts, Plan, ProcessIdentity,
    RecordingSide, Reporting, Runtime, Sample, SourceAnalysis, Tracebacks, ValueExpressions,
};
use crate::error::Result;
use crate::model::launch::{Launch, Program, Start};
use crate::model::source::Code;
use crate::progress::Progress;
use crate::safety::Safety;

/// The extensions of source files.
const EXTENSIONS: [&str; 8] = ["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];

/// What makes the list of [`ValueExpressions::as_json`]: a function as one expression.
const AS_JSON: &str = include_str!("../debuggee/node/as_json.js");

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Node;

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["js", "node", "nodejs", "node.js", "typescript", "ts"],
    editor_type: "node",
    extensions: &EXTENSIONS,
    sample: Sample { source: "const answer = 6 * 7;\nconsole.log(answer);\n", line: 2 },
    driver: Driver::Node,
    has_columns: true,
    has_hidden_callers: true,
    records: Some(RecordingSide::Program),
    samples: true,
    reporting: Reporting::Inside,
    ..LanguageFacts::new("javascript", "JavaScript and TypeScript in Node.js")
};

#[async_trait]
impl Adapter for Node {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        near: Option<&Path>,
    ) -> Result<Runtime> {
        interpreter::locate(host, executable, near).await
    }

    async fn provide(&self, host: &dyn Host, _runtime: &Runtime, _progress: &Progress) -> Result<PathBuf> {
        hook::provide(host)
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan> {
        match start {
            Start::Launch(launch) => launch::plan_launch(host, runtime, debugger, launch),
            Start::Attach(attach) => launch::plan_attach(host, debugger, attach),
        }
    }

    fn needs_no_program(&self, executable: Option<&Path>, runtime_args: &[String]) -> bool {
        launch::needs_no_program(executable.unwrap_or(Path::new("node")), runtime_args)
    }

    fn has_module(&self, host: &dyn Host, folder: &Path, name: &str) -> bool {
        packages::script(host, folder, name).is_ok()
    }

    async fn check(&self, host: &dyn Host, runtime: &Runtime, launch: &Launch) -> Result<()> {
        match &launch.program {
            // What has no extension, such as a command of a package, need not be JavaScript.
            Program::Script(path) if path.extension().is_some() => analysis::check(host, runtime, path).await,
            _ => Ok(()),
        }
    }

    fn is_internal(&self, path: &Path) -> bool {
        is_internal(path)
    }

    capabilities! {
        source_analysis: SourceAnalysis, value_expressions: ValueExpressions,
        process_identity: ProcessIdentity, commands: Commands, child_processes: ChildProcesses,
        tracebacks: Tracebacks
    }

    /// By the table of exit codes in the documentation of `process`.
    fn explain_exit(&self, code: i32) -> Option<&'static str> {
        (code == 13).then_some(
            "code 13 means that a top-level `await` of an ES module never settled, and nothing else was left \
             to run",
        )
    }

    /// The kernel decides, and says so: a signal may be sent to every process of the same user.
    fn attach_obstacle(&self, _host: &dyn Host) -> Option<String> {
        (!cfg!(unix)).then(|| {
            "attaching by process ID needs a signal that this system does not have; start the program with \
             `--inspect`, then attach by host and port"
                .to_owned()
        })
    }
}

#[async_trait]
impl SourceAnalysis for Node {
    fn has_other_sources(&self) -> bool {
        true
    }

    async fn analyze(
        &self,
        _host: &dyn Host,
        _runtime: &Runtime,
        question: AnalysisRequest<'_>,
    ) -> Result<Code> {
        analysis::analyze(question).await
    }

    fn sources_of(&self, file: &Path, safety: &Safety) -> Vec<PathBuf> {
        let Some(map) = crate::javascript::is_plain(file).then(|| map_of(file, safety)).flatten() else {
            return Vec::new();
        };
        map.sources().filter_map(|source| source.path.clone()).filter(|path| path.is_file()).collect()
    }
}

impl ValueExpressions for Node {
    fn as_json(&self, expression: &str, longest: usize) -> String {
        format!("({AS_JSON})((\n{expression}\n), {longest})")
    }

    /// By the names of the classes, because each realm of V8 has its own `TypeError`.
    fn is_of_type(&self, type_name: &str) -> String {
        format!(
            "(kind => {{ for (; kind !== null && kind !== undefined; kind = Object.getPrototypeOf(kind)) \
             if (Object.hasOwn(kind, 'constructor') && kind.constructor?.name === {type_name:?}) return true; \
             return false; }})(Object(error) === error ? error : Object(error))"
        )
    }

    fn is_like(&self, pattern: &str) -> String {
        let pattern = serde_json::Value::from(pattern);
        format!(
            "new RegExp({pattern}).test((error?.constructor?.name ?? typeof error) + ': ' + (error?.message ?? \
             String(error)))"
        )
    }
}

impl ChildProcesses for Node {
    fn plan_children(
        &self,
        host: &dyn Host,
        _runtime: &Runtime,
        debugger: &Path,
        launch: &Launch,
    ) -> Result<Plan> {
        Ok(launch::plan_children(host, debugger, launch))
    }
}

impl ProcessIdentity for Node {
    fn may_be_interpreter(&self, program: &Path) -> bool {
        interpreter::is_node(program)
    }
}

/// Node's own code and what is installed.
fn is_internal(path: &Path) -> bool {
    path.to_string_lossy().starts_with("node:")
        || path.components().any(|part| part.as_os_str() == "node_modules")
}

#[cfg(test)]
mod tests;
