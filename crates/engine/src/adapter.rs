//! A language: how its programs are started under a debugger, and what its debugger gets wrong.
//!
//! An adapter looks at the machine only through [`Host`], and turns what to debug into a [`Plan`], which is
//! plain data. Adding a language that speaks the Debug Adapter Protocol is one file here and one entry in
//! [`ADAPTERS`].

mod host;
pub mod python;

use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::debugger::Progress;
use crate::error::Result;
use crate::model::launch::{Launch, Start};
use crate::model::source::Code;
use crate::model::stop::ExceptionMode;
use crate::process::ProcessSpec;

pub use host::{Host, Machine};

/// A future that a trait object can return.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Every language.
pub static ADAPTERS: &[&dyn Adapter] = &[&python::Python];

/// The language of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().find(|adapter| adapter.name().eq_ignore_ascii_case(name))
}

/// The language of a file, by its extension.
pub fn by_extension(path: &Path) -> Option<&'static dyn Adapter> {
    let extension = path.extension()?.to_str()?;
    ADAPTERS.iter().copied().find(|adapter| adapter.extensions().contains(&extension))
}

/// How to debug one language.
pub trait Adapter: std::fmt::Debug + Send + Sync {
    /// Its name, in lower case.
    fn name(&self) -> &'static str;

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
    fn plan(&self, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan>;

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

    /// What the debugger calls the exceptions to stop at.
    fn exception_filters(&self, mode: ExceptionMode) -> &'static [&'static str];

    /// What keeps this machine from attaching to a process by its number; nothing when it can.
    fn attach_obstacle(&self, host: &dyn Host) -> Option<String>;
}

/// What is asked of [`Adapter::analyze`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    /// The file to read; none when only expressions are to be checked.
    pub file: Option<&'a Path>,
    /// A condition.
    pub condition: Option<&'a str>,
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
    /// The program to start; none when it runs already. [`ADDRESS`] in its arguments stands for the address
    /// that it is to connect to.
    pub process: Option<ProcessSpec>,
    /// A helper that makes a running program connect to us. [`ADDRESS`] as above.
    pub injector: Option<ProcessSpec>,
    /// How the connection comes about, and what is spoken on it.
    pub wire: Wire,
}

/// Stands for our address in the arguments of a plan.
pub const ADDRESS: &str = "{address}";

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
    /// It is there from the start, in children too; otherwise it is sent with the first request.
    pub is_loaded: bool,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspector").field("is_loaded", &self.is_loaded).finish_non_exhaustive()
    }
}
