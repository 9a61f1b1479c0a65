//! GDB's own adapter, `gdb -i dap`: its version, how it starts a program, and what it gets wrong.
//!
//! Facts about it hold for GDB 16.3, 17.2 and 18.1. The scripts in `debuggee/gdb` complete it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::debugger::{self, Request};
use super::{Host, lldb_dap};
use crate::adapter::Runtime;
use crate::adapter::known::Known;
use crate::adapter::plan::{DataQuirks, Plan, Quirks, Transport};
use crate::deadlines;
use crate::error::Result;
use crate::model::launch::{Attach, Endpoint, Launch, Start, Stdin};
use crate::model::stop::{End, ExceptionMode};
use crate::process::ProcessSpec;

/// The first version with the adapter.
const OLDEST: u32 = 14;

pub(in crate::adapter) const QUIRKS: Quirks = Quirks {
    listens: "`gdbserver HOST:PORT`",
    exception_filters: |mode| match mode {
        ExceptionMode::None | ExceptionMode::Uncaught => &[],
        // It does not know what catches them.
        ExceptionMode::UserUnhandled | ExceptionMode::All => &["throw"],
    },
    is_timeout: |text| text.contains("timed out while in a function called from GDB"),
    has_run: |text| text.contains("while in a function called from GDB"),
    needs_running: |text| text.contains("without a process to debug"),
    // Our script reports a signal as a negative code; GDB's adapter, as 0.
    end: |code| match i32::try_from(code) {
        Ok(code) if code < 0 => End::Killed { signal: -code, by_us: false },
        code => End::Exited(code.unwrap_or(i32::MAX)),
    },
    // The quotes are those of the language.
    is_unknown_name: |text| text.starts_with("No symbol ") && text.ends_with(" in current context."),
    mutes_console: true,
    message: refusal,
    // Our script evaluates them: GDB refuses a breakpoint whose condition has a name that is not known yet.
    native_condition: |_| None,
    record_command: Some("stillframe-record"),
    data: DataQuirks {
        command: Some("stillframe-watched"),
        covers: lldb_dap::QUIRKS.data.covers,
        line_at: Some(|address| format!("stillframe-line {address}")),
        ..Quirks::NONE.data
    },
    ignores_paused_thread: true,
    steps_out_into_libraries: true,
    stack_sampling: lldb_dap::QUIRKS.stack_sampling,
    ..Quirks::NONE
};

/// What is wrong, without what GDB has done about it and how to change that.
fn refusal(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    if first.ends_with("while in a function called from GDB.") { first.to_owned() } else { text.to_owned() }
}

/// The version of a GDB, if it has the adapter; else what it lacks.
pub(super) async fn version(host: &dyn Host, program: &Path) -> Result<Result<String, String>> {
    static KNOWN: Known<Result<String, String>> = Known::new();
    KNOWN
        .or_ask(program.to_owned(), program, async { Ok(checked(program, &ask(host, program).await?)) })
        .await
}

/// What it prints about itself.
async fn ask(host: &dyn Host, program: &Path) -> Result<String> {
    let words = ["-nx", "-batch", "-ex", "show version", "-ex", "python print('Python')"];
    let args = words.map(Into::into).into();
    let spec = ProcessSpec { program: program.to_owned(), args, ..ProcessSpec::default() };
    Ok(host.run(&spec, deadlines::HELPER).await?.stdout)
}

fn checked(program: &Path, printed: &str) -> Result<String, String> {
    let name = program.display();
    // `GNU gdb (GDB) Fedora Linux 15.1-1.fc39`
    let word = printed.lines().next().and_then(|line| line.strip_prefix("GNU gdb ")?.split(' ').next_back());
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let version = word.and_then(|word| word.split(|letter| !is_part(letter)).next()).unwrap_or_default();
    let Some(major) = version.split('.').next().and_then(|major| major.parse::<u32>().ok()) else {
        return Err(format!("`{name}` did not report a version"));
    };
    if major < OLDEST {
        return Err(format!("`{name}` is GDB {version}, but debugging needs GDB {OLDEST} or newer"));
    }
    if !printed.lines().any(|line| line == "Python") {
        return Err(format!(
            "`{name}` is GDB {version} without Python, which its debug adapter is written in"
        ));
    }
    Ok(version.to_owned())
}

/// How a language's programs are started.
pub(in crate::adapter) struct Native<'a> {
    pub(in crate::adapter) quirks: &'static Quirks,
    /// The folder of our scripts.
    pub(in crate::adapter) scripts: &'a Path,
    /// The folder of the language's own printers of values.
    pub(in crate::adapter) printers: Option<PathBuf>,
    /// Functions that a step goes over, by basic regular expressions.
    pub(in crate::adapter) skip: &'static [&'static str],
    /// Where the program begins for its user, for a stop on entry.
    pub(in crate::adapter) entry: String,
    /// The flags that make debug information.
    pub(in crate::adapter) flags: &'static str,
}

impl Native<'_> {
    /// A plan for `gdb` on its standard streams.
    pub(in crate::adapter) fn plan(self, host: &dyn Host, runtime: &Runtime, start: &Start) -> Result<Plan> {
        let Self { quirks, scripts, printers, skip, entry, flags } = self;
        let binary = debugger::binary(host, start)?;
        let mut settings = debugger::object(json!({
            "program": binary, "printers": printers, "skip": skip, "timeout": deadlines::EVALUATE.as_secs(),
        }));
        let arguments = match start {
            Start::Launch(launch) => {
                settings.extend(launch_settings(host, launch, &entry));
                debugger::object(json!({ "args": launch.args }))
            }
            Start::Attach(attach) => attach_arguments(attach),
        };
        let script = scripts.join("stillframe_gdb.py");
        let env = [
            ("STILLFRAME_GDB".to_owned(), Some(Value::Object(settings).to_string())),
            ("SHELL".to_owned(), Some("/bin/sh".to_owned())),
        ];
        let process = ProcessSpec {
            program: runtime.executable.clone(),
            // Without the user's commands: some of them replace what the adapter is made of.
            args: ["-q", "-nx", "-i", "dap", "-x"]
                .map(Into::into)
                .into_iter()
                .chain([script.into()])
                .collect(),
            env: env.into(),
            ..ProcessSpec::default()
        };
        let request = Request { adapter_id: "gdb", quirks, start, arguments, binary, flags };
        let mut setup = request.setup(host);
        if let Start::Attach(Attach { to: Endpoint::Core { file, .. }, .. }) = start {
            setup.dump_signal = super::signal_of_dump(host, file);
        }
        Ok(Plan::Dap { transport: Transport::Stdio(process), setup })
    }
}

/// What our script needs to start the program.
fn launch_settings(host: &dyn Host, launch: &Launch, entry: &str) -> Map<String, Value> {
    let stdin = match &launch.stdin {
        Stdin::Empty => json!(["empty", null]),
        Stdin::Open => json!(["open", null]),
        Stdin::Text(text) => json!(["text", text]),
        Stdin::File(path) => json!(["file", path]),
    };
    debugger::object(json!({
        "launches": true,
        "cwd": launch.working_folder(),
        "env": launch.env,
        "stdin": stdin,
        "shell": host.env("SHELL"),
        "entry": launch.stop_on_entry.then_some(entry),
    }))
}

fn attach_arguments(attach: &Attach) -> Map<String, Value> {
    debugger::object(match &attach.to {
        Endpoint::Process(pid) => json!({ "pid": pid }),
        Endpoint::Address { host, port } => json!({ "target": format!("{host}:{port}") }),
        Endpoint::Core { file, .. } => json!({ "coreFile": file }),
    })
}

/// A type and a value, without what GDB and the C++ library add to names of types.
pub(in crate::adapter) fn value(kind: &str, text: String) -> (String, String) {
    let mut kind = kind.to_owned();
    while let Some(from) = ADDED.iter().find_map(|added| kind.find(added))
        && let Some(length) = kind.get(from + 2..).and_then(argument_length)
    {
        kind.replace_range(from..from + 2 + length, "");
    }
    let mut kind = kind.replace("std::__cxx11::basic_string<char>", "std::string").replace(" >", ">");
    if let Some(rest) = kind.strip_prefix("_Bool") {
        kind = format!("bool{rest}");
    }
    for word in ["struct ", "enum ", "union "] {
        kind = kind.replace(word, "");
    }
    (kind, text)
}

/// Beginnings of template arguments that are rarely written.
const ADDED: [&str; 6] = [
    ", std::allocator<",
    ", std::char_traits<",
    ", std::default_delete<",
    ", std::equal_to<",
    ", std::hash<",
    ", std::less<",
];

/// How long the first of the arguments is that a text begins with.
fn argument_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' | ',' if depth == 0 => return Some(at),
            '>' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_omit_what_the_library_adds() {
        let table = [
            (
                "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, \
                 std::less<int>, std::allocator<std::pair<int const, int> > >",
                "std::map<std::string, int>",
            ),
            ("const std::vector<Item, std::allocator<Item> > &", "const std::vector<Item> &"),
            ("std::unique_ptr<Item, std::default_delete<Item> >", "std::unique_ptr<Item>"),
            ("const struct pair *", "const pair *"),
            ("_Bool [2]", "bool [2]"),
            ("int", "int"),
            ("std::vector<int, std::allocator<", "std::vector<int, std::allocator<"),
        ];
        for (kind, expected) in table {
            assert_eq!(value(kind, String::new()).0, expected);
        }
    }

    #[test]
    fn a_negative_code_is_a_signal() {
        assert_eq!((QUIRKS.end)(-11), End::Killed { signal: 11, by_us: false });
        assert_eq!((QUIRKS.end)(3), End::Exited(3));
    }
}
