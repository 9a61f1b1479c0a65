//! Rust, debugged by `lldb-dap` or by GDB with the formatters that come with rustc.
//!
//! A binary runs unchanged; a source file is compiled, and a package is built by Cargo first.

mod cargo;
mod commands;
mod functions;
mod shown;

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::braces::{self, Family};
use super::commands::Commands;
use super::native::{self, debugger, gdb, lldb_dap};
use super::plan::{FutureCommands, Plan, Quirks};
use super::{Adapter, Host, LanguageFacts, PrintedFormat, RecordingSide, Reporting, Runtime, Sample};
use crate::deadlines;
use crate::error::Result;
use crate::model::launch::{Launch, Program, Start};
use crate::model::source::{Function, Loop};
use crate::model::stop::ExceptionMode;
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Rust;

const QUIRKS: Quirks = Quirks {
    // Every panic goes through it, when its message has been printed.
    exception_functions: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught | ExceptionMode::UserUnhandled | ExceptionMode::All => &["rust_panic"],
    },
    // A `main` or a test that returns an error does not panic.
    errors_command: Some(|mode| match mode {
        ExceptionMode::None => "`stillframe-errors-stop",
        ExceptionMode::Uncaught | ExceptionMode::All => "`stillframe-errors-stop main",
        ExceptionMode::UserUnhandled => "`stillframe-errors-stop tests",
    }),
    passing_error_command: Some("`stillframe-errors-passes"),
    exception_command: Some("`stillframe-errors-describe"),
    functions_command: Some("`stillframe-functions"),
    printed_exception: shown::panic,
    future_commands: Some(FutureCommands {
        may_be: |name| name.contains("closure") || name.contains("{async_"),
        begin: "`stillframe-await-begin",
        wait: "`stillframe-await-wait",
        polls: "`stillframe-await-polls",
    }),
    function: shown::function,
    variable: shown::variable,
    // What it held has often moved elsewhere.
    shadowed: Some(|_| None),
    value: shown::value,
    message: shown::refusal,
    ..lldb_dap::QUIRKS
};

/// The same under GDB.
const GDB: Quirks = Quirks {
    // GDB finds whole paths only. The second one is in the symbols, the third in those of earlier versions of Rust.
    exception_functions: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught | ExceptionMode::UserUnhandled | ExceptionMode::All => {
            &["std::panicking::rust_panic", "__rustc::rust_panic", "rust_panic"]
        }
    },
    printed_exception: shown::panic,
    function: shown::function,
    value: shown::value_of_gdb,
    ..gdb::QUIRKS
};

/// Functions that a step into a line goes over, by a regular expression.
const LIBRARY: &str = concat!(
    r"^(_?(<|\$LT\$)|&|\$RF\$|mut\s|mut\$u20\$)*(std|core|alloc|hashbrown)(::|\.\.)",
    r"|^_?(<|\$LT\$)\w+(\s|\$u20\$)as(\s|\$u20\$)(std|core|alloc)(::|\.\.)|^__rust|^rust_",
);

/// The same by the regular expressions of GDB.
const LIBRARY_OF_GDB: &[&str] = &["^<*&*std::", "^<*&*core::", "^<*&*alloc::", "^<*&*hashbrown::"];

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["rs", "cargo"],
    editor_type: "lldb-dap",
    extensions: &["rs"],
    sample: Sample {
        source: "fn main() {\n    let answer = 6 * 7;\n    println!(\"{answer}\");\n}\n",
        line: 3,
    },
    debug_flags: "`cargo build` (the `dev` profile) or `rustc -g`",
    is_machine_code: true,
    is_loadable: true,
    has_columns: true,
    has_stray_lines: true,
    records: Some(RecordingSide::Debugger),
    samples: true,
    reporting: Reporting::Printed(PrintedFormat::Libtest),
    ..LanguageFacts::new("rust", "Rust")
};

#[async_trait]
impl Adapter for Rust {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    /// The debugger, and the toolchain of the program's folder.
    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        near: Option<&Path>,
    ) -> Result<Runtime> {
        let runtime = debugger::locate(host, executable, FACTS.about).await?;
        Ok(Runtime { tag: sysroot(host, near).await.unwrap_or_default(), ..runtime })
    }

    async fn provide(&self, host: &dyn Host, _runtime: &Runtime, _progress: &Progress) -> Result<PathBuf> {
        native::provide(host)
    }

    fn program(&self, host: &dyn Host, path: PathBuf) -> Program {
        cargo::program(host, path)
    }

    async fn build(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        launch: Launch,
        progress: &Progress,
    ) -> Result<Launch> {
        cargo::build(host, &runtime.tag, launch, progress).await
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, scripts: &Path, start: &Start) -> Result<Plan> {
        let formatters = Path::new(&runtime.tag).join("lib/rustlib/etc");
        let is_all_code = matches!(start, Start::Launch(launch) if !launch.just_my_code);
        let entry = match start {
            Start::Launch(Launch { program: Program::Script(path), .. }) => cargo::main_of(path),
            _ => "main".to_owned(),
        };
        let flags = FACTS.debug_flags;
        if debugger::is_gdb(&runtime.executable) {
            let skip = if is_all_code { &[] } else { LIBRARY_OF_GDB };
            let printers = Some(formatters);
            return gdb::Native { quirks: &GDB, scripts, printers, skip, entry, flags }
                .plan(host, runtime, start);
        }
        let mut commands = Vec::new();
        if host.is_file(&formatters.join("lldb_lookup.py")) {
            commands.extend([
                lldb_dap::imported(&formatters.join("lldb_lookup.py")),
                format!("?command source -s true \"{}\"", formatters.join("lldb_commands").display()),
            ]);
            commands.extend(
                ["rust", "rust_types", "errors", "awaits", "functions"]
                    .map(|name| lldb_dap::imported(&scripts.join(format!("stillframe_{name}.py")))),
            );
        }
        if !is_all_code {
            commands.push(format!("?settings set target.process.thread.step-avoid-regexp {LIBRARY}"));
            commands.push("?settings set target.process.thread.step-avoid-libraries libc.so.6".to_owned());
        }
        lldb_dap::Native { quirks: &QUIRKS, scripts, commands, entry, flags }.plan(host, runtime, start)
    }

    /// The standard library, and packages that Cargo has downloaded.
    fn is_internal(&self, path: &Path) -> bool {
        const FOLDERS: [&str; 3] = [".cargo/registry", ".cargo/git", "lib/rustlib/src"];
        let text = path.to_string_lossy();
        path.starts_with("/rustc")
            || FOLDERS.iter().any(|folder| text.contains(folder))
            || debugger::is_system(path)
    }

    fn debugs(&self, other: &dyn Adapter) -> bool {
        matches!(other.name(), "c" | "rust")
    }

    capabilities! { commands: Commands }

    fn functions(&self, text: &str) -> Vec<Function> {
        functions::functions(text)
    }

    fn loops(&self, text: &str) -> Vec<Loop> {
        braces::loops(text, Family::Rust)
    }

    fn explain_exit(&self, code: i32) -> Option<&'static str> {
        (code == 101).then_some("the program panicked")
    }

    fn attach_obstacle(&self, host: &dyn Host) -> Option<String> {
        debugger::attach_obstacle(host)
    }
}

/// Where the toolchain is that a folder chooses; none without rustc.
async fn sysroot(host: &dyn Host, near: Option<&Path>) -> Option<String> {
    let spec = ProcessSpec {
        program: host.which("rustc")?,
        args: ["--print".into(), "sysroot".into()].into(),
        cwd: near.and_then(|near| near.ancestors().find(|folder| folder.is_dir())).map(Path::to_owned),
        // rustup would download the toolchain that a folder names.
        env: [("RUSTUP_AUTO_INSTALL".to_owned(), Some("0".to_owned()))].into(),
        ..ProcessSpec::default()
    };
    let printed = host.run(&spec, deadlines::HELPER).await.ok().filter(|printed| printed.success)?;
    Some(printed.stdout.trim().to_owned())
}
