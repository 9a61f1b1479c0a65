//! A language: how its programs are started under a debugger, and what its debugger gets wrong.
//!
//! An adapter looks at the machine only through [`Host`], and turns what to debug into a [`Plan`], which is
//! plain data. Adding a language that speaks the Debug Adapter Protocol is one file here and one entry in
//! [`ADAPTERS`].

mod guarded;
mod host;
pub mod node;
pub mod python;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::debugger::Progress;
use crate::error::Result;
use crate::model::launch::{Launch, Start};
use crate::model::source::Code;
use crate::model::stop::ExceptionMode;
use crate::process::ProcessSpec;

pub use guarded::Guarded;
pub use host::{Host, Machine};

/// A future that a trait object can return.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Every language.
pub static ADAPTERS: &[&dyn Adapter] = &[&python::Python, &node::Node];

/// The language of that name, or of that other name.
pub fn by_name(name: &str) -> Option<&'static dyn Adapter> {
    let names = |adapter: &dyn Adapter| adapter.aliases().iter().copied().chain([adapter.name()]);
    ADAPTERS.iter().copied().find(|adapter| names(*adapter).any(|known| known.eq_ignore_ascii_case(name)))
}

/// The language of a file, by its extension.
pub fn by_extension(path: &Path) -> Option<&'static dyn Adapter> {
    let extension = path.extension()?.to_str()?;
    ADAPTERS.iter().copied().find(|adapter| adapter.extensions().contains(&extension))
}

/// The language that has a module of that name installed for a folder; Python, when none is certain of it.
pub fn by_module(host: &dyn Host, folder: &Path, name: &str) -> &'static dyn Adapter {
    let certain = ADAPTERS.iter().copied().find(|adapter| adapter.has_module(host, folder, name));
    certain.unwrap_or(&python::Python)
}

/// How to debug one language.
pub trait Adapter: std::fmt::Debug + Send + Sync {
    /// Its name, in lower case.
    fn name(&self) -> &'static str;

    /// Other names that people have for it, in lower case.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What it covers, in words for people.
    fn about(&self) -> &'static str;

    /// What its debugger speaks.
    fn protocol(&self) -> Protocol;

    /// The extensions of its source files.
    fn extensions(&self) -> &'static [&'static str];

    /// A smallest program: it sets `answer` to 42 on its first line and prints it on its second.
    fn sample(&self) -> &'static str;

    /// Finds the interpreter to use. `executable` is the user's choice; `near` is a file of the program.
    fn locate<'a>(
        &'a self,
        host: &'a dyn Host,
        executable: Option<&'a Path>,
        near: Option<&'a Path>,
    ) -> Boxed<'a, Result<Runtime>>;

    /// Makes sure that the debugger is there, and installs it where it is not.
    fn provide<'a>(
        &'a self,
        host: &'a dyn Host,
        runtime: &'a Runtime,
        progress: &'a Progress,
    ) -> Boxed<'a, Result<PathBuf>>;

    /// Whether the debugger is there already.
    fn is_provided(&self, host: &dyn Host, runtime: &Runtime) -> bool;

    /// How to start it, or how to connect to it. `debugger` is what [`Adapter::provide`] gave.
    fn plan(&self, host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan>;

    /// Whether something is run without a script or a module: by the user's choice of executable, such as
    /// `npm`, or by the arguments of the interpreter, such as `--test`. Then there may be a
    /// [`Program::Command`](crate::model::launch::Program::Command).
    fn stands_alone(&self, executable: Option<&Path>, runtime_args: &[String]) -> bool {
        let _ = (executable, runtime_args);
        false
    }

    /// Whether a module of that name is installed for a folder, as far as can be told without asking anybody.
    fn has_module(&self, host: &dyn Host, folder: &Path, name: &str) -> bool {
        let _ = (host, folder, name);
        false
    }

    /// Looks for what would keep the program from starting at all, and says it in the language's own words.
    fn check<'a>(
        &'a self,
        host: &'a dyn Host,
        runtime: &'a Runtime,
        launch: &'a Launch,
    ) -> Boxed<'a, Result<()>>;

    /// What a source file holds, and whether the expressions of a breakpoint can be compiled.
    fn analyze<'a>(
        &'a self,
        host: &'a dyn Host,
        runtime: &'a Runtime,
        question: Question<'a>,
    ) -> Boxed<'a, Result<Code>>;

    /// Code that belongs to the runtime or to a library rather than to the user.
    fn is_internal(&self, path: &Path) -> bool;

    /// A frame that the debugger shows and that is none of the program's.
    fn is_foreign_frame(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// An exception that programs raise to end, whatever the exit code.
    fn is_orderly_exit(&self, exception: &str) -> bool {
        let _ = exception;
        false
    }

    /// Whether the debugger can tell several places of one line apart.
    fn has_columns(&self) -> bool {
        false
    }

    /// An expression whose value is a list of three: the type of what `expression` gives, that as JSON, and the
    /// thing itself. JSON that would be longer than `longest` characters, or that could not say all of it, is
    /// left out: there is a number in its place. JSON is plain ASCII with `~` for each backslash, so that it is
    /// shown as it is between two quotes.
    fn as_json(&self, expression: &str, longest: usize) -> String;

    /// A condition that is true of an exception, `error`, of the type of that name or of one derived from it.
    fn is_of_type(&self, type_name: &str) -> String;

    /// A condition that is true of an exception, `error`, in whose type and message, as in `TypeError: no`, a
    /// regular expression of the language finds something.
    fn is_like(&self, pattern: &str) -> String;

    /// What the debugger calls the exceptions to stop at.
    fn exception_filters(&self, mode: ExceptionMode) -> &'static [&'static str];

    /// Whether a program can be an interpreter of the language, as far as its name tells. Others are not run to find
    /// out: what they do with the question, nobody knows.
    fn may_be_interpreter(&self, program: &Path) -> bool;

    /// What keeps this machine from attaching to a process by its number; nothing when it can.
    fn attach_obstacle(&self, host: &dyn Host) -> Option<String>;
}

/// What a debugger speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Debug Adapter Protocol.
    Dap,
    /// The protocol of Chrome's developer tools, as Node's inspector speaks it.
    Cdp,
}

/// What is asked of [`Adapter::analyze`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
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

/// What to run and how to connect to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The program to start; none when it runs already. [`ADDRESS`], as an argument or as the value of an
    /// environment variable, stands for where it is to find us; see [`addressed`].
    pub process: Option<ProcessSpec>,
    /// A helper that makes a running program connect to us. [`ADDRESS`] as above.
    pub injector: Option<ProcessSpec>,
    /// How the connection comes about, and what is spoken on it.
    pub wire: Wire,
}

/// Stands for our address in a plan: `HOST:PORT` for [`Wire::DapListen`], the path of a pipe for
/// [`Wire::CdpAnnounced`].
pub const ADDRESS: &str = "{address}";

/// Stands for the secret by which the program shows that it is the one that was started, for
/// [`Wire::DapListen`].
pub const TOKEN: &str = "{token}";

/// Puts our address where the plan says so.
pub fn addressed(spec: ProcessSpec, address: &str) -> ProcessSpec {
    filled(spec, ADDRESS, address)
}

/// Puts something where the plan says so.
pub fn filled(mut spec: ProcessSpec, place: &str, with: &str) -> ProcessSpec {
    for argument in &mut spec.args {
        if argument == place {
            *argument = OsString::from(with);
        }
    }
    for value in spec.env.values_mut().flatten() {
        if value == place {
            with.clone_into(value);
        }
    }
    spec
}

/// How a connection comes about, and what is spoken on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Wire {
    /// The program, and each of its children, connects to us and serves the Debug Adapter Protocol.
    DapListen(DapSetup),
    /// We connect to a server of the Debug Adapter Protocol.
    DapConnect {
        /// Name or address of its machine.
        host: String,
        /// Its port.
        port: u16,
        /// The rest.
        setup: DapSetup,
    },
    /// Each process of the program opens its inspector, writes where to the pipe at [`ADDRESS`], and waits for
    /// us.
    CdpAnnounced(CdpSetup),
    /// We connect to an inspector that listens.
    CdpConnect {
        /// Name or address of its machine.
        host: String,
        /// Its port.
        port: u16,
        /// The rest.
        setup: CdpSetup,
    },
    /// We make a process of this machine open its inspector, by a signal.
    CdpSignal {
        /// The process.
        pid: u32,
        /// The rest.
        setup: CdpSetup,
    },
}

/// What we need to know of a program whose inspector we speak to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CdpSetup {
    /// Stop before the first statement of this; none runs on.
    pub entry: Option<Entry>,
    /// The script that is started, where there is one.
    pub program: Option<PathBuf>,
    /// Our own script inside the program.
    pub hook: PathBuf,
    /// Sources may be compiled when they are loaded.
    pub transpiles: bool,
    /// Step over libraries, and do not stop at exceptions inside them.
    pub just_my_code: bool,
    /// The same folder under the two names it has, ours first.
    pub path_mappings: Vec<(String, String)>,
    /// Its process numbers and files are this machine's.
    pub is_local: bool,
}

impl CdpSetup {
    /// Whether a script is our hook, or one that the hook loads.
    pub fn is_hook(&self, path: &Path) -> bool {
        path.parent() == self.hook.parent()
    }

    /// The program's name for a file, as a path of ours.
    pub fn to_local(&self, path: &Path) -> PathBuf {
        self.mapped(path, |(ours, theirs)| (theirs, ours))
    }

    /// A path of ours, as the program names it.
    pub fn to_remote(&self, path: &Path) -> PathBuf {
        self.mapped(path, |(ours, theirs)| (ours, theirs))
    }

    fn mapped(&self, path: &Path, direction: fn(&(String, String)) -> (&String, &String)) -> PathBuf {
        let found = self
            .path_mappings
            .iter()
            .map(direction)
            .find_map(|(from, to)| path.strip_prefix(from).ok().map(|rest| Path::new(to).join(rest)));
        found.unwrap_or_else(|| path.to_owned())
    }
}

/// Where a program begins for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// In this file.
    Script(PathBuf),
    /// In the first file that is not internal, of any process.
    First,
}

/// What a server of the Debug Adapter Protocol needs to know, and what we need to know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct DapSetup {
    /// The name that `initialize` takes.
    pub adapter_id: &'static str,
    /// `launch` rather than `attach`, for the program itself; its children are always attached to.
    pub launch: bool,
    /// The arguments of either.
    pub arguments: Map<String, Value>,
    /// The program can run our inspector.
    pub inspector: Option<Inspector>,
    /// Its process numbers are this machine's.
    pub is_local: bool,
}

/// Code of ours inside the program; see [`crate::debugger::dap`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Inspector {
    /// Its source, for programs that do not have it.
    pub source: &'static str,
    /// The modules that are loaded to record, by name, in the order in which they need each other.
    pub recorder: &'static [(&'static str, &'static str)],
    /// The modules that are loaded to see what the program is doing, in the same way.
    pub sampler: &'static [(&'static str, &'static str)],
    /// The modules that evaluate without effects, likewise.
    pub pure: &'static [(&'static str, &'static str)],
    /// The modules that look at exceptions, likewise.
    pub throws: &'static [(&'static str, &'static str)],
    /// It is there from the start, in children too; otherwise it is sent with the first request.
    pub is_loaded: bool,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspector").field("is_loaded", &self.is_loaded).finish_non_exhaustive()
    }
}
