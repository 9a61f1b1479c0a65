//! LLDB's own adapter, `lldb-dap`: where it is, how it starts a program, and what it gets wrong.
//!
//! Facts about it hold for lldb-dap 19.1.7.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Host;
use super::debugger::{self, Request};
use crate::adapter::native::{self, launcher, waits};
use crate::adapter::plan::{
    DataQuirks, FrameQuirks, Plan, Quirks, SimultaneousStops, StackSampling, Transport,
};
use crate::adapter::{Machine, Runtime};
use crate::error::Result;
use crate::model::launch::{Attach, Endpoint, Launch, Start};
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::process::{ProcessSpec, search_path};

pub(in crate::adapter) const QUIRKS: Quirks = Quirks {
    listens: "`lldb-server gdbserver HOST:PORT`",
    exception_filters: |mode| match mode {
        ExceptionMode::None | ExceptionMode::Uncaught | ExceptionMode::UserUnhandled => &[],
        ExceptionMode::All => &["cpp_throw"],
    },
    is_timeout: |text| {
        let interrupted = text.split("Execution was interrupted, reason: ").nth(1);
        let is_limit = |reason: &str| !reason.starts_with("signal ") && !reason.contains(AT_A_THROW);
        text.contains("Reached timeout") || interrupted.is_some_and(is_limit)
    },
    has_run: |text| {
        ["interrupted", "timeout", "timed out", "dematerialize"].iter().any(|word| text.contains(word))
    },
    needs_running: |text| {
        ["couldn't write ", "without a running target"].iter().any(|problem| text.contains(problem))
    },
    // The reason for which LLDB says that the expression was interrupted is then that of the last stop.
    is_gone: |text| text.starts_with("execution stopped with unexpected state"),
    // What it reports when its connection to `lldb-server` is lost. No program exits with this code.
    end: |code| match i32::try_from(code) {
        Ok(-1) => End::Lost,
        code => End::Exited(code.unwrap_or(i32::MAX)),
    },
    is_unknown_name: |text| text.starts_with("use of undeclared identifier"),
    // `int[5]`, and `int[3][4]` for three times four.
    length: |kind| kind.split('[').nth(1)?.split(']').next()?.parse().ok(),
    mutes_console: true,
    // Errors in debug information, and one for each hit of a bad condition.
    mutes_stderr: true,
    message: refusal,
    exception: |exception| {
        let Some(signal) = exception.message.strip_prefix("signal ") else { return exception };
        let (name, message) = signal.split_once(": ").unwrap_or((signal, ""));
        Exception { type_name: name.to_owned(), message: message.to_owned(), uncaught: true, ..exception }
    },
    scopes_of_one_frame: true,
    assigns_by_evaluating: true,
    expression_command: Some("`stillframe-evaluate"),
    // What a lambda has captured is listed by us.
    has_own_names: |function| !function.contains("operator()"),
    removed_command: Some("`stillframe-removed"),
    removes_only_when_stopped: true,
    simultaneous_stops: SimultaneousStops::Each { command: "`stillframe-stops" },
    answers_functions_in_any_order: true,
    runs_before_pause: Duration::from_millis(100),
    ignores_paused_thread: true,
    catches_command: Some("`stillframe-catches"),
    is_pause: |description| description == "signal SIGSTOP",
    data: DataQuirks {
        refusal: None,
        command: Some("`stillframe-watched"),
        covers: |outer, inner| match (storage(outer), storage(inner)) {
            (Some(outer), Some(inner)) => outer.start <= inner.start && inner.end <= outer.end,
            _ => false,
        },
        is_stop: |description| description.starts_with("watchpoint "),
        frames: Some(FrameQuirks {
            address: |id| storage(id).map(|storage| storage.start),
            stack_pointer: "$sp",
            at_return: |address, pointer| format!("`breakpoint set -a {address} -c '$sp > {pointer}'"),
            number: |text| {
                let rest = text.split("Breakpoint ").nth(1)?;
                rest.split(':').next()?.parse().ok()
            },
            remove: |number| format!("`breakpoint delete {number}"),
        }),
        line_at: Some(|address| format!("`source info -a {address}")),
    },
    steps_out_into_libraries: true,
    entry_command: Some("`stillframe-entry"),
    breakpoints_command: Some("`stillframe-once"),
    record_command: Some("`stillframe-record"),
    launcher: launcher::launcher,
    caution: |binary| native::optimized::caution(&Machine, binary),
    hits_command: Some("`stillframe-hits"),
    missed_command: Some((&["signal SIGTRAP", "C++ Throw"], "`stillframe-missed")),
    stack_sampling: Some(StackSampling {
        has_os_threads: true,
        ends_calls: false,
        is_spare: |_| false,
        wait: waits::by_stack,
        locks: None,
    }),
    ..Quirks::NONE
};

/// The addresses of what the adapter calls `ADDRESS/SIZE`.
fn storage(id: &str) -> Option<Range<u64>> {
    let (address, size) = id.split_once('/')?;
    let start = u64::from_str_radix(address, 16).ok()?;
    Some(start..start.checked_add(size.parse().ok()?)?)
}

/// Why LLDB has given up a call.
const AT_A_THROW: &str = "c++ exception breakpoint";

/// What is wrong with an expression, without where it is.
fn refusal(text: &str) -> String {
    if text.contains(AT_A_THROW) {
        return "a function that this calls throws an exception, at which LLDB has interrupted the call; it does so even \
                where the function would catch the exception"
            .to_owned();
    }
    if text.contains("watchpoint resources failed") {
        return "processors watch at most 4 values, of 8 bytes each; remove another watch, or watch a part"
            .to_owned();
    }
    // From a value without code of the program.
    if text.trim_start_matches("error: ").trim() == "invalid value object" {
        return "not a variable, member or element here, nor a calculation with such numbers; only these can be read \
                without side effects"
            .to_owned();
    }
    // `<user expression 3>:1:1: use of undeclared identifier 'x'`, then the text with a mark under it. Warnings come
    // before errors.
    let is_error = |line: &&str| line.trim_start().starts_with("error: ");
    let from = text.lines().position(|line| is_error(&line)).unwrap_or_default();
    let text = text.lines().skip(from).collect::<Vec<_>>().join("\n");
    let text = text.trim_start_matches("error: ");
    if text.starts_with("Multiple internal symbols found") {
        // After it are the addresses of all.
        return text.lines().next().unwrap_or_default().to_owned();
    }
    if let Some(symbols) = text.strip_prefix("Couldn't look up symbols:") {
        let symbol = symbols.trim_start().lines().next().unwrap_or_default();
        if symbol.contains("::") && !symbol.contains('(') {
            return format!(
                "the program has no variable `{symbol}`: the compiler has put its value into the code"
            );
        }
        return format!(
            "the program has no function `{symbol}`: nothing calls it, or the compiler has inlined it; read \
             fields instead"
        );
    }
    let place = text.strip_prefix("<user expression ").and_then(|rest| rest.splitn(4, ':').nth(3));
    let Some(sentence) = place.and_then(|rest| rest.trim_start().lines().next()) else {
        return text.trim_end().to_owned();
    };
    // A part of a path in Rust is a namespace for LLDB.
    let namespace = sentence.strip_prefix("unexpected namespace name ");
    match namespace.and_then(|rest| rest.strip_suffix(": expected expression")) {
        Some(name) => format!("use of undeclared identifier {name}"),
        None if sentence.starts_with("array type ") && sentence.ends_with(" is not assignable") => {
            format!("{sentence}; assign to its items")
        }
        None => sentence.to_owned(),
    }
}

/// The newest adapter on the `PATH`.
pub(super) fn find(host: &dyn Host) -> Option<PathBuf> {
    let mut names = (15..=30).rev().map(|version| format!("lldb-dap-{version}"));
    host.which("lldb-dap").or_else(|| names.find_map(|name| host.which(&name)))
}

/// The version in the name of an adapter.
pub(super) fn version(adapter: &Path) -> String {
    adapter.to_string_lossy().rsplit('-').next().unwrap_or_default().replace("dap", "unknown")
}

/// How a language's programs are started.
pub(in crate::adapter) struct Native<'a> {
    pub(in crate::adapter) quirks: &'static Quirks,
    /// The folder of our scripts inside LLDB.
    pub(in crate::adapter) scripts: &'a Path,
    /// LLDB's commands before the program is loaded.
    pub(in crate::adapter) commands: Vec<String>,
    /// Where the program begins for its user, for a stop on entry.
    pub(in crate::adapter) entry: String,
    /// The flags that make debug information.
    pub(in crate::adapter) flags: &'static str,
}

impl Native<'_> {
    /// A plan for `lldb-dap` on its standard streams.
    pub(in crate::adapter) fn plan(self, host: &dyn Host, runtime: &Runtime, start: &Start) -> Result<Plan> {
        let Self { quirks, scripts, mut commands, entry, flags } = self;
        commands.extend(index_cache(host));
        commands.extend(
            ["catches", "globals", "locations", "recorder", "stops", "watched"]
                .map(|name| imported(&scripts.join(format!("stillframe_{name}.py")))),
        );
        let binary = debugger::binary(host, start)?;
        let mut arguments = match start {
            Start::Launch(launch) => launch_arguments(launch, &entry),
            Start::Attach(attach) => attach_arguments(host, scripts, attach, binary.as_deref()),
        };
        commands.extend(binary.as_deref().and_then(|binary| own_debug_info_only(host, binary)));
        arguments.insert("initCommands".to_owned(), json!(commands));
        let request = Request { adapter_id: "lldb-dap", quirks, start, arguments, binary, flags };
        let setup = request.setup(host);
        // What it says itself there is about debug information that it cannot read, and not the program's.
        let muted = &["error: ", "warning: "];
        let executable = runtime.executable.clone();
        let process = match start {
            Start::Attach(_) if cfg!(unix) => detaching(executable),
            _ => ProcessSpec { program: executable, ..ProcessSpec::default() },
        };
        let process = ProcessSpec { muted, env: keeping_bytecode(host, scripts), ..process };
        Ok(Plan::Dap { transport: Transport::Stdio(process), setup })
    }
}

/// One that detaches when its connection closes. SIGPIPE would end it before that, and the program would crash at the
/// breakpoints that are left in it.
fn detaching(executable: PathBuf) -> ProcessSpec {
    let script = r#"trap '' PIPE; exec "$0""#;
    let args = vec!["-c".into(), script.into(), executable.into()];
    ProcessSpec { program: launcher::SHELL.into(), args, ..ProcessSpec::default() }
}

/// The variable by which Python in LLDB finds our `sitecustomize`. The program does not get it, because we start it.
fn keeping_bytecode(host: &dyn Host, scripts: &Path) -> BTreeMap<String, Option<String>> {
    const NAME: &str = "PYTHONPATH";
    let path = search_path([scripts.to_owned()], host.env(NAME).as_deref());
    path.map(|path| (NAME.to_owned(), Some(path))).into_iter().collect()
}

/// Has LLDB keep its indexes of libraries and debug information, which it makes anew at each start otherwise.
fn index_cache(host: &dyn Host) -> [String; 3] {
    let folder = host.cache_dir().join("native/index");
    [
        format!("?settings set symbols.lldb-index-cache-path \"{}\"", folder.display()),
        // In bytes. The oldest go first.
        "?settings set symbols.lldb-index-cache-max-byte-size 536870912".to_owned(),
        "?settings set symbols.enable-lldb-index-cache true".to_owned(),
    ]
}

/// Has LLDB look for no debug information of libraries in `/usr/lib/debug`, unless that of the program may be there: it
/// unwinds no function in two parts, such as those of the C library that wait for input.
fn own_debug_info_only(host: &dyn Host, binary: &Path) -> Option<String> {
    let is_inside = native::Elf::read(host, binary)?.has(".debug_info");
    is_inside.then(|| "?settings set symbols.enable-external-lookup false".to_owned())
}

/// LLDB's command that loads a script.
pub(in crate::adapter) fn imported(script: &Path) -> String {
    format!("?command script import \"{}\"", script.display())
}

/// The adapter has us start the program: its streams are kept apart, and its exit status is ours to read.
fn launch_arguments(launch: &Launch, entry: &str) -> Map<String, Value> {
    // The adapter's own stop on entry is in the dynamic loader.
    let before_run: Vec<String> = if launch.stop_on_entry {
        vec![format!("?breakpoint set --one-shot true --name {entry}")]
    } else {
        Vec::new()
    };
    debugger::object(json!({
        "program": launch.program.name(), "args": launch.args, "cwd": launch.working_folder(),
        "runInTerminal": true, "preRunCommands": before_run,
    }))
}

/// `binary` is the program of a crash dump.
fn attach_arguments(
    host: &dyn Host,
    scripts: &Path,
    attach: &Attach,
    binary: Option<&Path>,
) -> Map<String, Value> {
    debugger::object(match &attach.to {
        Endpoint::Process(pid) => json!({ "pid": pid }),
        Endpoint::Address { host, port } => {
            json!({ "attachCommands": [format!("gdb-remote {host}:{port}")] })
        }
        Endpoint::Core { file, .. } if host.size(file) <= native::LARGEST_COPIED => {
            // A backtick begins an expression.
            let path = file.to_string_lossy().replace('`', "\\`");
            let commands =
                [imported(&scripts.join("stillframe_dumps.py")), format!("!?stillframe-dump {path}")];
            json!({ "coreFile": file, "program": binary, "attachCommands": commands })
        }
        Endpoint::Core { file, .. } => json!({ "coreFile": file, "program": binary }),
    })
}
