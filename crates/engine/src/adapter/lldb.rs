//! C and C++, debugged by LLDB's own adapter, `lldb-dap`, or by GDB's.
//!
//! A binary runs unchanged; a source file is compiled into the cache first.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::braces::{self, Family};
use super::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use super::native::compile::{self, Compiler};
use super::native::{self, ctest, debugger, declared, gdb, is_go, lldb_dap};
use super::plan::{Plan, Quirks};
use super::{Adapter, Host, LanguageFacts, PrintedFormat, RecordingSide, Reporting, Runtime, Sample};
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program, Start};
use crate::model::source::Loop;
use crate::model::stop::ExceptionMode;
use crate::progress::Progress;

mod shown;

/// The languages.
#[derive(Clone, Copy, Debug)]
pub struct C;

const QUIRKS: Quirks = Quirks {
    printed_exception: shown::exception,
    // Every assertion of GoogleTest that fails goes through it.
    exception_functions: |mode| match mode {
        ExceptionMode::UserUnhandled | ExceptionMode::All => &["testing::internal::AssertHelper::operator="],
        ExceptionMode::None | ExceptionMode::Uncaught => &[],
    },
    errors_command: Some(|mode| match mode {
        ExceptionMode::UserUnhandled => "`stillframe-unhandled on",
        ExceptionMode::None | ExceptionMode::Uncaught | ExceptionMode::All => "`stillframe-unhandled off",
    }),
    passing_error_command: Some("`stillframe-unhandled-passes"),
    exception_command: Some("`stillframe-thrown"),
    functions_command: Some("`stillframe-functions"),
    function: shown::function,
    // What has no name, such as a parameter that is not used, cannot be asked for.
    variable: |name| {
        let bare = name.split_once(" @ ").map_or(name, |(bare, _)| bare);
        // Those of coroutines are GCC's own.
        (bare != "<null>" && !bare.starts_with("_Coro_")).then_some(bare)
    },
    shadowed: Some(|name| Some(name)),
    value: shown::value,
    // GCC's function that initializes the variables of a source has the last line of the source.
    is_start_function: Some(|name| name.starts_with("_GLOBAL__sub_")),
    other_expression: declared::functions,
    ..lldb_dap::QUIRKS
};

/// The same under GDB.
const GDB: Quirks = Quirks {
    printed_exception: shown::exception,
    function: shown::function,
    value: gdb::value,
    is_start_function: QUIRKS.is_start_function,
    other_expression: declared::results,
    ..gdb::QUIRKS
};

const EXTENSIONS: &[&str] = &["c", "cc", "cpp", "cxx", "C"];

/// The compilers of a language, in the order in which they are looked for, and its versions.
struct Toolchain {
    names: &'static [&'static str],
    versions: &'static [&'static str],
    checks: &'static [&'static str],
}

const C_COMPILERS: Toolchain = Toolchain {
    names: &["cc", "gcc", "clang"],
    versions: &["", "-std=gnu23", "-std=gnu2x"],
    checks: &["-fsyntax-only", "-x", "c", "/dev/null"],
};
const CPP_COMPILERS: Toolchain = Toolchain {
    names: &["c++", "g++", "clang++"],
    versions: &["", "-std=gnu++26", "-std=gnu++23", "-std=gnu++2b", "-std=gnu++20"],
    checks: &["-fsyntax-only", "-x", "c++", "/dev/null"],
};

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["c++", "cpp", "lldb", "native"],
    editor_type: "lldb-dap",
    extensions: EXTENSIONS,
    sample: Sample {
        source: "#include <stdio.h>\nint main(void) {\n    int answer = 6 * 7;\n    printf(\"%d\\n\", answer);\n}\n",
        line: 4,
    },
    debug_flags: "`-g -O0`",
    is_machine_code: true,
    is_loadable: true,
    has_columns: true,
    has_stray_lines: true,
    records: Some(RecordingSide::Debugger),
    samples: true,
    reporting: Reporting::Printed(PrintedFormat::GoogleTest),
    ..LanguageFacts::new("c", "C and C++")
};

#[async_trait]
impl Adapter for C {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        debugger::locate(host, executable, FACTS.about).await
    }

    async fn provide(&self, host: &dyn Host, _runtime: &Runtime, _progress: &Progress) -> Result<PathBuf> {
        native::provide(host)
    }

    async fn build(
        &self,
        host: &dyn Host,
        _runtime: &Runtime,
        launch: Launch,
        progress: &Progress,
    ) -> Result<Launch> {
        build(host, launch, progress).await
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, scripts: &Path, start: &Start) -> Result<Plan> {
        let is_all_code = matches!(start, Start::Launch(launch) if !launch.just_my_code);
        let (entry, flags) = ("main".to_owned(), FACTS.debug_flags);
        if debugger::is_gdb(&runtime.executable) {
            let skip: &[&str] = if is_all_code { &[] } else { &["^std::", "^__gnu_cxx::"] };
            let native = gdb::Native { quirks: &GDB, scripts, printers: None, skip, entry, flags };
            return native.plan(host, runtime, start);
        }
        let imported = |name: &str| lldb_dap::imported(&scripts.join(name));
        let scripts_of_cpp =
            ["cpp", "cpp_children", "cpp_templates", "cpp_types", "captures", "throws", "unhandled"];
        let mut commands: Vec<String> =
            scripts_of_cpp.map(|name| imported(&format!("stillframe_{name}.py"))).into();
        if !is_all_code {
            // A step into a function of the C library, whose sources are rarely there, goes over it.
            commands.push("?settings set target.process.thread.step-avoid-libraries libc.so.6".to_owned());
        }
        let native = lldb_dap::Native { quirks: &QUIRKS, scripts, commands, entry, flags };
        native.plan(host, runtime, start)
    }

    fn is_internal(&self, path: &Path) -> bool {
        debugger::is_system(path) || is_googletest(path)
    }

    fn debugs(&self, other: &dyn Adapter) -> bool {
        matches!(other.name(), "c" | "rust")
    }

    capabilities! { commands: Commands }

    fn loops(&self, text: &str) -> Vec<Loop> {
        braces::loops(text, Family::C)
    }

    fn attach_obstacle(&self, host: &dyn Host) -> Option<String> {
        debugger::attach_obstacle(host)
    }
}

impl Commands for C {
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        _folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        let program = Program::Module(ctest::NAME.to_owned());
        (name == ctest::NAME).then(|| Ok(Launch { args: words, ..Launch::new(program) }))
    }

    /// It is not a debugger, which is what an executable of this language would be.
    fn is_any_interpreter(&self, _name: &str) -> bool {
        true
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        (name == ctest::NAME).then_some("install CMake (`apt-get install cmake`, `brew install cmake`)")
    }

    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let launch = Launch { args, ..Launch::new(Program::Script(file.path.clone())) };
        (file.is_binary && !is_go(&file.path)).then_some((None, launch))
    }

    /// A process that no interpreter runs is its own program.
    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        (!is_go(&process.executable)).then(|| process.executable.clone())
    }
}

/// Whether a source is `GoogleTest`'s own, which many projects compile with theirs.
fn is_googletest(path: &Path) -> bool {
    const FOLDERS: [&str; 3] = ["googletest", "googletest-src", "googlemock"];
    const FILES: [&str; 8] = [
        "gtest.cc",
        "gtest.h",
        "gtest-all.cc",
        "gtest_main.cc",
        "gmock.cc",
        "gmock-all.cc",
        "gmock-gtest-all.cc",
        "gmock-spec-builders.cc",
    ];
    let is_named = |name: &std::ffi::OsStr, known: &[&str]| known.iter().any(|known| name == *known);
    let folder = path.parent().unwrap_or(path);
    folder.iter().any(|part| is_named(part, &FOLDERS))
        || path.file_name().is_some_and(|name| is_named(name, &FILES))
}

/// A launch of a binary: the requested one, or one made of the source that is.
async fn build(host: &dyn Host, launch: Launch, progress: &Progress) -> Result<Launch> {
    if matches!(&launch.program, Program::Module(name) if name == ctest::NAME) {
        return ctest::build(host, launch, progress).await;
    }
    let Program::Script(path) = &launch.program else {
        let problem =
            "C and C++ need a binary or one source file to run; build the program, and give its path";
        return Err(Error::Unsupported(problem.to_owned()));
    };
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !EXTENSIONS.contains(&extension) {
        native::check_binary(host, path)?;
        return Ok(launch);
    }
    let Toolchain { names, versions, checks } = if extension == "c" { C_COMPILERS } else { CPP_COMPILERS };
    let compiler = Compiler {
        names,
        // Of debug information in DWARF 5, LLDB 19 misreads the size of some structures, and leaves out their bit fields.
        flags: ["-g", "-gdwarf-4", "-O0"].map(str::to_owned).into(),
        versions,
        checks,
        libraries: &["-lm", "-pthread"],
        includes: |line| line.starts_with("#include \""),
    };
    let program = compile::compile(host, path, &compiler, progress).await?;
    Ok(Launch { program: Program::Script(program), ..launch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_the_system_and_of_googletest_are_not_the_users() {
        let table = [
            ("/p/build/_deps/googletest-src/googletest/src/gtest-port.cc", true),
            ("/p/test/gtest/gmock-gtest-all.cc", true),
            ("/usr/include/c++/12/bits/stl_vector.h", true),
            ("./nptl/pthread_create.c", true),
            ("/p/test/gtest-extra-test.cc", false),
            ("/p/gtest/cart_test.cc", false),
        ];
        for (path, internal) in table {
            assert_eq!(C.is_internal(Path::new(path)), internal, "{path}");
        }
    }
}
