//! `stillframe setup`: installs a debugger ahead of time.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use engine::adapter::{self, Driver, Host, Machine};
use engine::progress::Progress;
use tools::ToolError;

use crate::terminal;

/// Installs the debugger of a language for one interpreter, or says that it is there.
pub(crate) async fn run(language: &str, executable: Option<&Path>) -> anyhow::Result<ExitCode> {
    static MACHINE: Machine = Machine;
    let host: &dyn Host = &MACHINE;
    let adapter = adapter::by_name(language).context("unknown language")?;
    let here = std::env::current_dir()?.join("program");
    let runtime = adapter.locate(host, executable, Some(&here)).await.map_err(cli_error)?;
    let mut found = format!("{} {} at {}", adapter.name(), runtime.version, runtime.executable.display());
    if executable.is_some() {
        // It may be any command that starts a program in the language, which is not tried here.
        found = format!("{found} ({})", runtime.origin);
    }
    let already = adapter.is_provided(host, &runtime);
    if !already {
        terminal::hint(&format!("installing the debugger for {found}"));
    }
    adapter.provide(host, &runtime, &Progress::new()).await.map_err(cli_error)?;
    let cache = host.cache_dir();
    let state = match (already, adapter.facts().driver) {
        (_, Driver::Node) => format!("is built in; its hook is in {}", cache.display()),
        (_, Driver::Dap) => "needs no setup".to_owned(),
        (_, Driver::Java) => format!("is built in; its bridge is compiled into {}", cache.display()),
        (true, Driver::Python) => format!("is already installed in {}", cache.display()),
        (false, Driver::Python) => format!("is now installed in {}", cache.display()),
    };
    terminal::print(&format!("the debugger for {found} {state}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The engine's error in the words that tools have for it.
pub(crate) fn cli_error(error: impl Into<ToolError>) -> anyhow::Error {
    anyhow::anyhow!(error.into().naming_executable("--executable-path").message)
}
