//! A language: how its programs are started under a debugger, and what its debugger gets wrong.
//!
//! An adapter accesses the machine only through [`Host`], and turns what to debug into a [`Plan`], which is plain
//! data. Adding a language that speaks the Debug Adapter Protocol takes one file here and one entry in [`ADAPTERS`].
//! What only some languages offer is an optional trait.

/// Implements the methods of [`Adapter`] that return these capabilities.
macro_rules! capabilities {
    ($($method:ident: $capability:ident),*) => {
        $(fn $method(&self) -> Option<&dyn $capability> { Some(self) })*
    };
}

mod analyzer;
mod braces;
pub mod by_name;
pub mod commands;
pub mod configured;
mod facts;
pub mod go;
mod guarded;
mod interpreter;
pub mod java;
mod known;
pub mod lldb;
mod native;
pub mod node;
pub mod php;
pub mod plan;
pub mod python;
pub mod recording;
pub mod ruby;
pub mod rust;
pub mod tracebacks;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use self::plan::StartRequest;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program, Start};
use crate::model::source::{Code, Function, Loop};
use crate::progress::Progress;
use crate::safety::Safety;

pub use crate::host::{BoxFuture, Host, Machine};
pub use commands::Commands;
pub use facts::{Driver, LanguageFacts, PrintedFormat, RecordingSide, Reporting, Sample};
pub use guarded::Guarded;
pub use plan::{DapSetup, Plan, Transport};
pub use tracebacks::Tracebacks;

/// Every language.
pub static ADAPTERS: &[&dyn Adapter] =
    &[&python::Python, &node::Node, &rust::Rust, &lldb::C, &java::Java, &go::Go, &ruby::Ruby, &php::Php];

/// Every language, with those whose adapters the user has configured.
pub fn all() -> impl Iterator<Item = &'static dyn Adapter> {
    ADAPTERS.iter().chain(configured::configured()).copied()
}

/// The file of a crash dump: it is there, or `coredumpctl` has it under that name, number or `last`.
pub async fn find_dump(host: &dyn Host, name: &Path) -> Result<PathBuf> {
    native::find_dump(host, name).await
}

/// Whether debug information in a program or library names a source.
pub fn names_source(host: &dyn Host, binary: &Path, source: &Path) -> bool {
    native::names_source(host, binary, source)
}

/// The program that left a crash dump: the one that is given, or the one that the dump names.
pub fn program_of_dump(host: &dyn Host, dump: &Path, given: Option<&Path>) -> Result<PathBuf> {
    native::program_of_dump(host, dump, given)
}

/// Why a crash dump does not show all there could be.
pub fn notes_of_dump(
    adapter: &dyn Adapter,
    host: &dyn Host,
    dump: &Path,
    given: Option<&Path>,
) -> Vec<String> {
    native::notes_of_dump(host, dump, given, adapter.facts().debug_flags)
}

/// Why the code of a program that runs has no source, if its file lacks what debuggers need.
pub fn without_debug_info(adapter: &dyn Adapter, host: &dyn Host, start: &Start) -> Option<String> {
    let binary = native::debugger::binary(host, start).ok()?.filter(|_| !start.is_dump())?;
    native::without_debug_info(host, &binary, adapter.facts().debug_flags)
}

/// The language of that name, or of that other name; also recordings, which are not a language.
pub fn by_name(name: &str) -> Option<&'static dyn Adapter> {
    let names = |adapter: &dyn Adapter| adapter.facts().aliases.iter().copied().chain([adapter.name()]);
    all()
        .chain([&recording::Recording as &dyn Adapter])
        .find(|adapter| names(*adapter).any(|known| known.eq_ignore_ascii_case(name)))
}

/// The language of a file, by its extension or name.
pub fn by_extension(path: &Path) -> Option<&'static dyn Adapter> {
    let (name, extension) = (path.file_name()?.to_str()?, path.extension().and_then(OsStr::to_str));
    let has_extension = |adapter: &dyn Adapter| {
        extension.is_some_and(|extension| adapter.facts().extensions.contains(&extension))
    };
    all().find(|adapter| has_extension(*adapter) || adapter.facts().file_names.contains(&name))
}

/// The file of a program that runs first: in a folder, the one that the language looks for there.
pub fn first_file(adapter: &dyn Adapter, program: &Path) -> PathBuf {
    let main_file = adapter.facts().main_file.filter(|_| program.is_dir()).map(|name| program.join(name));
    main_file.filter(|file| file.is_file()).unwrap_or_else(|| program.to_owned())
}

/// The language as which machine code is debugged that an interpreter loads from an unknown source: the last in the list,
/// which is the most general.
pub fn loadable() -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().rfind(|adapter| adapter.facts().is_loadable)
}

/// The language of a file, if it is another one than those that a debugger stops in.
pub fn other_language(own: &dyn Adapter, path: &Path) -> Option<&'static dyn Adapter> {
    by_extension(path).filter(|owner| !own.debugs(*owner))
}

/// The language that has a module of that name installed for a folder; Python, when none is certain of it.
pub fn by_module(host: &dyn Host, folder: &Path, name: &str) -> &'static dyn Adapter {
    let certain = ADAPTERS.iter().copied().find(|adapter| adapter.has_module(host, folder, name));
    certain.unwrap_or(&python::Python)
}

/// How to debug one language.
///
/// The first part is needed for every language; the rest has defaults.
#[async_trait]
pub trait Adapter: std::fmt::Debug + Send + Sync {
    /// What is known of it without looking at a program or a machine.
    fn facts(&self) -> &LanguageFacts;

    /// Finds what runs or debugs the language. `executable` is the user's choice; `near` is a file of the program.
    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        near: Option<&Path>,
    ) -> Result<Runtime>;

    /// How to start the program, or how to connect to it. `debugger` is what [`Adapter::provide`] gave.
    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan>;

    /// Code that belongs to the runtime or to a library rather than to the user.
    fn is_internal(&self, path: &Path) -> bool;

    /// Its name, in lower case.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// The languages it covers, for messages.
    fn about(&self) -> &'static str {
        self.facts().about
    }

    /// Makes sure that the debugger is there, and installs it where it is not.
    async fn provide(&self, _host: &dyn Host, runtime: &Runtime, _progress: &Progress) -> Result<PathBuf> {
        Ok(runtime.executable.clone())
    }

    /// Whether the debugger is installed already.
    fn is_provided(&self, _host: &dyn Host, _runtime: &Runtime) -> bool {
        true
    }

    /// What a path is: a file, or a package of sources in a folder.
    fn program(&self, _host: &dyn Host, path: PathBuf) -> Program {
        Program::Script(path)
    }

    /// Builds a program that can run from what was requested, such as a binary from a source file. The compiler's
    /// output is the error.
    async fn build(
        &self,
        _host: &dyn Host,
        _runtime: &Runtime,
        launch: Launch,
        _progress: &Progress,
    ) -> Result<Launch> {
        Ok(launch)
    }

    /// Checks for problems that would keep the program from starting at all, and reports them in the language's own
    /// words.
    async fn check(&self, _host: &dyn Host, _runtime: &Runtime, _launch: &Launch) -> Result<()> {
        Ok(())
    }

    /// Whether something is run without a script or a module: by the user's choice of executable, such as
    /// `npm`, or by the arguments of the interpreter, such as `--test`. Then there may be a
    /// [`Program::Command`].
    fn needs_no_program(&self, _executable: Option<&Path>, _runtime_args: &[String]) -> bool {
        false
    }

    /// Whether a module of that name is installed for a folder, as far as this is known without running anything.
    fn has_module(&self, _host: &dyn Host, _folder: &Path, _name: &str) -> bool {
        false
    }

    /// Whether the debugger stops in sources of another language too.
    fn debugs(&self, other: &dyn Adapter) -> bool {
        other.name() == self.name()
    }

    /// What an exit code that the runtime itself ends a program with says, such as that nothing was left to run.
    fn explain_exit(&self, _code: i32) -> Option<&'static str> {
        None
    }

    /// Why no session begins in this way, on any machine; none when one can.
    fn refuses(&self, _request: StartRequest) -> Option<String> {
        None
    }

    /// What keeps this machine from attaching by process id; none when it can.
    fn attach_obstacle(&self, _host: &dyn Host) -> Option<String> {
        self.refuses(StartRequest::Attach)
    }

    /// Sources can be analyzed without running them.
    fn source_analysis(&self) -> Option<&dyn SourceAnalysis> {
        None
    }

    /// The language can say more of a value in one expression than a debugger does.
    fn value_expressions(&self) -> Option<&dyn ValueExpressions> {
        None
    }

    /// Whether an exception that stops the program can be a name in a condition, `error`.
    fn has_exception_conditions(&self) -> bool {
        self.value_expressions().is_some()
    }

    /// Recognizes processes of the language.
    fn process_identity(&self) -> Option<&dyn ProcessIdentity> {
        None
    }

    /// Command lines of the language can be read.
    fn commands(&self) -> Option<&dyn Commands> {
        None
    }

    /// Processes of the language are debugged when a program in another language starts them.
    fn child_processes(&self) -> Option<&dyn ChildProcesses> {
        None
    }

    /// The tracebacks that programs of the language print can be read.
    fn tracebacks(&self) -> Option<&dyn Tracebacks> {
        None
    }

    /// The functions of a source that [`Adapter::source_analysis`] does not report and whose debugger may not know them by
    /// the names that the source has.
    fn functions(&self, _text: &str) -> Vec<Function> {
        Vec::new()
    }

    /// The functions of a source, if it has none of this name. For a debugger that knows functions only once they are
    /// loaded.
    fn functions_instead_of(&self, _text: &str, _name: &str) -> Option<Vec<String>> {
        None
    }

    /// The loops of a source that [`Adapter::source_analysis`] does not report, outer ones first.
    fn loops(&self, _text: &str) -> Vec<Loop> {
        Vec::new()
    }
}

/// Reads sources without running them.
#[async_trait]
pub trait SourceAnalysis: Send + Sync {
    /// Whether the program can stop in a file that this cannot read, because something compiles it to the language.
    fn has_other_sources(&self) -> bool {
        false
    }

    /// What a source file holds, and whether the expressions of a breakpoint can be compiled.
    async fn analyze(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        question: AnalysisRequest<'_>,
    ) -> Result<Code>;

    /// The sources that a file was compiled from, as far as they are there. None for a source.
    fn sources_of(&self, _file: &Path, _safety: &Safety) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Expressions of the language about its own values.
pub trait ValueExpressions: Send + Sync {
    /// An expression whose value is a list of three: the type of the value of `expression`, the value as JSON, and
    /// the value itself. JSON that is longer than `longest` characters, or that cannot represent the whole value, is
    /// replaced by a number. JSON is plain ASCII with `~` for each backslash, so that it is unchanged between two
    /// quotes.
    fn as_json(&self, expression: &str, longest: usize) -> String;

    /// A condition that is true of an exception, `error`, of the type of that name or of one derived from it.
    fn is_of_type(&self, type_name: &str) -> String;

    /// A condition that is true of an exception, `error`, in whose type and message, as in `TypeError: no`, a
    /// regular expression of the language finds something.
    fn is_like(&self, pattern: &str) -> String;
}

/// Processes of the language that a program in another language starts.
pub trait ChildProcesses: Send + Sync {
    /// How they connect to us: by the environment of the plan's process, which they inherit. The process itself is not
    /// started. `debugger` is what [`Adapter::provide`] gave.
    fn plan_children(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        debugger: &Path,
        launch: &Launch,
    ) -> Result<Plan>;
}

/// Distinguishes processes of a language from others.
pub trait ProcessIdentity: Send + Sync {
    /// Whether a program can be an interpreter of the language, judged by its name. Other programs are not run to
    /// find out: their reaction to the question is unknown.
    fn may_be_interpreter(&self, program: &Path) -> bool;
}

/// Why an operation is not offered for a language, and what works instead.
pub fn unsupported(adapter: &dyn Adapter, what: &str, instead: &str) -> Error {
    Error::Unsupported(format!("{what} is not available for {}; {instead}", adapter.about()))
}

/// The input of [`SourceAnalysis::analyze`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AnalysisRequest<'a> {
    /// The file to read; none when only expressions are to be checked.
    pub file: Option<&'a Path>,
    /// Conditions, and what else must be an expression.
    pub expressions: &'a [&'a str],
    /// A log message.
    pub log_message: Option<&'a str>,
}

/// An interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The program.
    pub executable: PathBuf,
    /// Its version, as it says it.
    pub version: String,
    /// What distinguishes builds of native modules for it; `cpython-311`.
    pub tag: String,
    /// How it was found.
    pub origin: String,
}
