//! C and C++, debugged by LLDB's own adapter, `lldb-dap`.
//!
//! A binary is run as it is; a source file is compiled into the cache first. Facts about the adapter hold for
//! lldb-dap 19.1.7.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::plan::{DapSetup, Plan, Quirks, StartRequest, Transport};
use super::{Adapter, Boxed, Commands, Host, Runtime, Sample, native};
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Launch, Start};
use crate::model::stop::{Exception, ExceptionMode};
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// The languages.
#[derive(Clone, Copy, Debug)]
pub struct C;

const EXTENSIONS: &[&str] = &["c", "cc", "cpp", "cxx", "C"];

const QUIRKS: Quirks = Quirks {
    listens: "`lldb-server gdbserver HOST:PORT`",
    exception_filters: |mode| match mode {
        ExceptionMode::None | ExceptionMode::Uncaught | ExceptionMode::UserUnhandled => &[],
        ExceptionMode::All => &["cpp_throw"],
    },
    is_timeout: |text| {
        let interrupted = text.split("Execution was interrupted, reason: ").nth(1);
        text.contains("Reached timeout") || interrupted.is_some_and(|reason| !reason.starts_with("signal "))
    },
    is_unknown_name: |text| text.starts_with("use of undeclared identifier"),
    // `int[5]`, and `int[3][4]` for three times four.
    length: |kind| kind.split('[').nth(1)?.split(']').next()?.parse().ok(),
    mutes_console: true,
    message: |text| {
        let text = text.trim_start_matches("error: ");
        // `<user expression 3>:1:1: use of undeclared identifier 'x'`, then the text with a mark under it.
        let place = text.strip_prefix("<user expression ").and_then(|rest| rest.splitn(4, ':').nth(3));
        let line = place.unwrap_or(text).trim_start().lines().next().unwrap_or_default();
        if place.is_some() { line.to_owned() } else { text.trim_end().to_owned() }
    },
    exception: |exception| {
        let Some(signal) = exception.message.strip_prefix("signal ") else { return exception };
        let (name, message) = signal.split_once(": ").unwrap_or((signal, ""));
        Exception { type_name: name.to_owned(), message: message.to_owned(), uncaught: true, ..exception }
    },
    scopes_of_one_frame: true,
    assigns_by_evaluating: true,
    stops_at_bad_conditions: true,
    removes_only_when_stopped: true,
    is_pause: |description| description == "signal SIGSTOP",
    ..Quirks::NONE
};

impl Adapter for C {
    fn name(&self) -> &'static str {
        "c"
    }

    fn editor_type(&self) -> &'static str {
        "lldb-dap"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["c++", "cpp", "lldb", "native"]
    }

    fn about(&self) -> &'static str {
        "C and C++"
    }

    fn extensions(&self) -> &'static [&'static str] {
        EXTENSIONS
    }

    fn sample(&self) -> Sample {
        Sample {
            source: "#include <stdio.h>\nint main(void) {\n    int answer = 6 * 7;\n    printf(\"%d\\n\", answer);\n}\n",
            line: 4,
        }
    }

    fn locate<'a>(
        &'a self,
        host: &'a dyn Host,
        executable: Option<&'a Path>,
        _near: Option<&'a Path>,
    ) -> Boxed<'a, Result<Runtime>> {
        Box::pin(async move {
            let mut names = (15..=30).rev().map(|version| format!("lldb-dap-{version}"));
            let origin = if executable.is_some() { "executablePath" } else { "PATH" };
            // Another program would be run to no end: what it does with the protocol is unknown.
            let is_adapter = |path: &PathBuf| path.to_string_lossy().contains("/lldb-");
            let found = match executable {
                Some(path) => host.which(&path.to_string_lossy()).filter(is_adapter),
                None => host.which("lldb-dap").or_else(|| names.find_map(|name| host.which(&name))),
            };
            let executable = found.ok_or_else(|| Error::Environment {
                problem: match executable {
                    Some(path) => format!("there is no `lldb-dap` at `{}`", path.display()),
                    None => "no debugger for C and C++ was found: no `lldb-dap` is on PATH".to_owned(),
                },
                remedy: "install LLDB 19 or newer (`apt-get install lldb-19`, `brew install llvm`), or give the path \
                         of its `lldb-dap` as `executablePath`"
                    .to_owned(),
            })?;
            let executable = host.permitted(&executable)?;
            let name = executable.to_string_lossy();
            let version = name.rsplit('-').next().unwrap_or_default().replace("dap", "unknown");
            Ok(Runtime { executable, version, tag: "native".to_owned(), origin: origin.to_owned() })
        })
    }

    fn build<'a>(
        &'a self,
        host: &'a dyn Host,
        _runtime: &'a Runtime,
        launch: Launch,
        progress: &'a Progress,
    ) -> Boxed<'a, Result<Launch>> {
        Box::pin(native::build(host, launch, EXTENSIONS, progress))
    }

    fn plan(&self, _host: &dyn Host, runtime: &Runtime, _debugger: &Path, start: &Start) -> Result<Plan> {
        let (request, arguments, launch) = match start {
            Start::Launch(launch) => (StartRequest::Launch, launch_arguments(launch), Some(launch)),
            Start::Attach(attach) => (StartRequest::Attach, attach_arguments(attach), None),
        };
        let process = ProcessSpec { program: runtime.executable.clone(), ..ProcessSpec::default() };
        let setup = DapSetup {
            adapter_id: "lldb-dap",
            request,
            arguments,
            stdin: launch.map(|launch| launch.stdin.clone()).unwrap_or_default(),
            env: launch.map(|launch| launch.env.clone()).unwrap_or_default(),
            remote: None,
            stops_on_entry: launch.is_some_and(|launch| launch.stop_on_entry),
            is_local: true,
            binary: None,
            no_code: None,
            quirks: &QUIRKS,
        };
        Ok(Plan::Dap { transport: Transport::Stdio(process), setup })
    }

    /// The C library's debug information names its sources by relative paths.
    fn is_internal(&self, path: &Path) -> bool {
        !path.is_absolute() || path.starts_with("/usr") || path.starts_with("/build")
    }

    fn has_columns(&self) -> bool {
        true
    }

    fn commands(&self) -> Option<&dyn Commands> {
        Some(self)
    }

    fn attach_obstacle(&self, host: &dyn Host) -> Option<String> {
        host.forbids_tracing().then(|| {
            "attaching by process id is forbidden by /proc/sys/kernel/yama/ptrace_scope; as root, run \
             `echo 0 > /proc/sys/kernel/yama/ptrace_scope`, or run stillframe as root"
                .to_owned()
        })
    }
}

/// The adapter has us start the program: its streams are kept apart, and its exit status is ours to read.
fn launch_arguments(launch: &Launch) -> Map<String, Value> {
    let mut commands = Vec::new();
    if launch.just_my_code {
        // A step into a function of the C library, whose sources are rarely there, goes over it.
        commands.push("?settings set target.process.thread.step-avoid-libraries libc.so.6");
    }
    // The adapter's own stop on entry is in the dynamic loader.
    let before_run: &[&str] =
        if launch.stop_on_entry { &["?breakpoint set --one-shot true --name main"] } else { &[] };
    let cwd = launch.working_folder();
    let arguments = json!({
        "program": launch.program.name(), "args": launch.args, "cwd": cwd, "runInTerminal": true,
        "initCommands": commands, "preRunCommands": before_run,
    });
    arguments.as_object().cloned().unwrap_or_default()
}

fn attach_arguments(attach: &Attach) -> Map<String, Value> {
    let arguments = match &attach.to {
        Endpoint::Process(pid) => json!({ "pid": pid }),
        Endpoint::Address { host, port } => {
            json!({ "attachCommands": [format!("gdb-remote {host}:{port}")] })
        }
    };
    arguments.as_object().cloned().unwrap_or_default()
}
