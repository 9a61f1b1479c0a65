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

use self::plan::StartRequest;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program, Start};
use crate::model::source::{Code, Function, Loop};
use crate::progress::Progress;
use crate::safety::Safety;

pub use crate::host::{BoxFuture, Host, Machine};
pub use commands::Commands;
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
    native::notes_of_dump(host, dump, given, adapter.debug_flags())
}

/// Why the code of a program that runs has no source, if its file lacks what debuggers need.
pub fn without_debug_info(adapter: &dyn Adapter, host: &dyn Host, start: &Start) -> Option<String> {
    let binary = native::debugger::binary(host, start).ok()?.filter(|_| !start.is_dump())?;
    native::without_debug_info(host, &binary, adapter.debug_flags())
}

/// The language of that name, or of that other name; also recordings, which are not a language.
pub fn by_name(name: &str) -> Option<&'static dyn Adapter> {
    let names = |adapter: &dyn Adapter| adapter.aliases().iter().copied().chain([adapter.name()]);
    all()
        .chain([&recording::Recording as &dyn Adapter])
        .find(|adapter| names(*adapter).any(|known| known.eq_ignore_ascii_case(name)))
}

/// The language of a file, by its extension or name.
pub fn by_extension(path: &Path) -> Option<&'static dyn Adapter> {
    let (name, extension) = (path.file_name()?.to_str()?, path.extension().and_then(OsStr::to_str));
    let has_extension =
        |adapter: &dyn Adapter| extension.is_some_and(|extension| adapter.extensions().contains(&extension));
    all().find(|adapter| has_extension(*adapter) || adapter.file_names().contains(&name))
}

/// The file of a program that runs first: in a folder, the one that the language looks for there.
pub fn first_file(adapter: &dyn Adapter, program: &Path) -> PathBuf {
    let main_file = adapter.main_file().filter(|_| program.is_dir()).map(|name| program.join(name));
    main_file.filter(|file| file.is_file()).unwrap_or_else(|| program.to_owned())
}

/// The language as which machine code is debugged that an interpreter loads from an unknown source: the last in the list,
/// which is the most general.
pub fn loadable() -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().rfind(|adapter| adapter.is_loadable())
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
pub trait Adapter: std::fmt::Debug + Send + Sync {
    /// Its name, in lower case.
    fn name(&self) -> &'static str;

    /// The languages it covers, for messages.
    fn about(&self) -> &'static str;

    /// The extensions of its source files.
    fn extensions(&self) -> &'static [&'static str];

    /// The names of its source files that have no extension.
    fn file_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// A program to try the debugger with.
    fn sample(&self) -> Sample;

    /// Finds what runs or debugs the language. `executable` is the user's choice; `near` is a file of the program.
    fn locate<'a>(
        &'a self,
        host: &'a dyn Host,
        executable: Option<&'a Path>,
        near: Option<&'a Path>,
    ) -> BoxFuture<'a, Result<Runtime>>;

    /// How to start the program, or how to connect to it. `debugger` is what [`Adapter::provide`] gave.
    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan>;

    /// Code that belongs to the runtime or to a library rather than to the user.
    fn is_internal(&self, path: &Path) -> bool;

    /// Other names for it, in lower case.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Which debugger drives its programs.
    fn driver(&self) -> Driver {
        Driver::Dap
    }

    /// Makes sure that the debugger is there, and installs it where it is not.
    fn provide<'a>(
        &'a self,
        _host: &'a dyn Host,
        runtime: &'a Runtime,
        _progress: &'a Progress,
    ) -> BoxFuture<'a, Result<PathBuf>> {
        Box::pin(async { Ok(runtime.executable.clone()) })
    }

    /// A program that listens for a client brings the debugger, so that none has to be installed here.
    fn listener_has_debugger(&self) -> bool {
        false
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
    fn build<'a>(
        &'a self,
        _host: &'a dyn Host,
        _runtime: &'a Runtime,
        launch: Launch,
        _progress: &'a Progress,
    ) -> BoxFuture<'a, Result<Launch>> {
        Box::pin(async { Ok(launch) })
    }

    /// The file that runs when a folder is run.
    fn main_file(&self) -> Option<&'static str> {
        None
    }

    /// Checks for problems that would keep the program from starting at all, and reports them in the language's own
    /// words.
    fn check<'a>(
        &'a self,
        _host: &'a dyn Host,
        _runtime: &'a Runtime,
        _launch: &'a Launch,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
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

    /// How to build a program with debug information, for messages.
    fn debug_flags(&self) -> &'static str {
        "debug information"
    }

    /// Whether the debugger can tell several places of one line apart.
    fn has_columns(&self) -> bool {
        false
    }

    /// Whether the line of a function is passed when the function is defined, not only when it is called.
    fn passes_definitions(&self) -> bool {
        true
    }

    /// Whether a breakpoint for a function stops only in that function, even if its line has other code.
    fn tells_functions_apart(&self) -> bool {
        self.has_columns()
    }

    /// What editors call their debugger of this language in a configuration.
    fn editor_type(&self) -> &'static str {
        self.name()
    }

    /// What an exit code that the runtime itself ends a program with says, such as that nothing was left to run.
    fn explain_exit(&self, _code: i32) -> Option<&'static str> {
        None
    }

    /// The user has described it.
    fn is_configured(&self) -> bool {
        false
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

    /// It compiles to machine code. Its debugger reads what a crashed program has left. Processes with such code that a
    /// program in another language starts are recognized by their debug information, and attached to.
    fn is_machine_code(&self) -> bool {
        false
    }

    /// Interpreters load its machine code as extensions.
    fn is_loadable(&self) -> bool {
        false
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

    /// Whether code of a loop may have no line, or one before the loop, as that of compilers may.
    fn has_stray_lines(&self) -> bool {
        false
    }

    /// Whether functions of the runtime that call functions of the program, such as one that sorts, have no frames.
    fn has_hidden_callers(&self) -> bool {
        false
    }

    /// A part of the message of the error with which the runtime ends a program whose threads all wait for each other.
    fn deadlock_error(&self) -> Option<&'static str> {
        None
    }

    /// What can be seen of a program that runs.
    fn observation(&self) -> Observation {
        Observation::default()
    }
}

/// What a debugger can do with a program beside stopping it. An operation that needs what is not there is refused
/// with [`Error::Unsupported`], before anything is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Values can be recorded at a breakpoint while the program runs on.
    pub records: Option<RecordingSide>,
    /// It can be sampled while it runs: stacks, what its threads wait for.
    pub samples: bool,
    /// How its test runners report each test.
    pub reporting: Reporting,
}

/// How test runners report their tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reporting {
    /// Not at all: tests cannot be run.
    #[default]
    None,
    /// They, or our code inside them, write reports.
    Inside,
    /// What they print is read.
    Printed(PrintedFormat),
}

/// How a test runner prints its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintedFormat {
    /// That of `go test`.
    Go,
    /// That of Rust's test harness.
    Libtest,
    /// That of `GoogleTest`.
    GoogleTest,
}

/// What evaluates the expressions of a [`Record`](crate::recording::Record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingSide {
    /// Our code inside the program.
    Program,
    /// Our code inside its debugger, which holds the program for as long as that takes.
    Debugger,
}

/// Reads sources without running them.
pub trait SourceAnalysis: Send + Sync {
    /// Whether the program can stop in a file that this cannot read, because something compiles it to the language.
    fn has_other_sources(&self) -> bool {
        false
    }

    /// What a source file holds, and whether the expressions of a breakpoint can be compiled.
    fn analyze<'a>(
        &'a self,
        host: &'a dyn Host,
        runtime: &'a Runtime,
        question: AnalysisRequest<'a>,
    ) -> BoxFuture<'a, Result<Code>>;

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

/// A program that computes 42 and prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its source.
    pub source: &'static str,
    /// The line on which `answer` is 42 already; 1-based.
    pub line: u32,
}

/// Which debugger drives the programs of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Any adapter of the Debug Adapter Protocol.
    Dap,
    /// Our bridge, which speaks the Debug Adapter Protocol and more.
    Java,
    /// pydevd inside the program, with our agent beside it.
    Python,
    /// The inspector that is part of Node.
    Node,
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
