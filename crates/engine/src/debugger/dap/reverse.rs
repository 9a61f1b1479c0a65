//! What an adapter asks of us: to start the program itself, or to debug a child of it.

use std::path::PathBuf;

use serde_json::json;

use super::{Child, DapDebugger};
use crate::adapter::plan::StartRequest;
use crate::error::Error;
use crate::process::{Process, ProcessSpec};

pub(super) fn serve(debugger: &DapDebugger, request: &::dap::IncomingRequest) {
    let answer = match request.command.as_str() {
        "runInTerminal" => {
            let started = read(request).and_then(|arguments| run_in_terminal(debugger, arguments));
            if let Err(problem) = &started {
                // Not every adapter answers `launch` then.
                let failed = Error::StartFailed { problem: problem.clone(), output: String::new() };
                debugger.0.started.send_replace(Some(Err(failed)));
            }
            started
        }
        "startDebugging" => read(request).and_then(|arguments| start_debugging(debugger, arguments)),
        command => Err(format!("`{command}` is not supported")),
    };
    debugger.0.client.respond(request, answer);
}

fn read<T: serde::de::DeserializeOwned>(request: &::dap::IncomingRequest) -> Result<T, String> {
    serde_json::from_value(request.arguments.clone()).map_err(|error| error.to_string())
}

/// Starts the program as a process of the session, with pipes for its terminal.
fn run_in_terminal(
    debugger: &DapDebugger,
    arguments: ::dap::RunInTerminalArguments,
) -> Result<serde_json::Value, String> {
    let ::dap::RunInTerminalArguments { cwd, args, mut env } = arguments;
    env.extend(debugger.setup().env.clone());
    let mut words = (debugger.quirks().launcher)(args).into_iter();
    let program = words.next().ok_or("`args` is empty")?;
    let spec = ProcessSpec {
        program: program.into(),
        args: words.map(Into::into).collect(),
        env,
        cwd: cwd.filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        stdin: debugger.setup().stdin.clone(),
        muted: debugger.quirks().muted,
        has_terminal: true,
        ..ProcessSpec::default()
    };
    let sinks = debugger.sinks();
    let process = Process::spawn(&spec, &sinks.session, &sinks.output).map_err(|error| error.to_string())?;
    let pid = process.pid();
    // It is reported once.
    let _ = debugger.0.pid.set(pid);
    if debugger.0.terminal.set(process).is_err() {
        return Err("the program was already started".to_owned());
    }
    Ok(json!({ "processId": pid }))
}

fn start_debugging(
    debugger: &DapDebugger,
    arguments: ::dap::StartDebuggingArguments,
) -> Result<serde_json::Value, String> {
    let children = debugger.0.options.children.as_ref().ok_or("the limit of child sessions is reached")?;
    let request = if arguments.request == "launch" { StartRequest::Launch } else { StartRequest::Attach };
    let child = Child { request, arguments: arguments.configuration };
    // A child without a slot waits forever, so there are more slots than any program starts children at once.
    children.try_send(child).map_err(|_| "too many child processes at once".to_owned())?;
    Ok(json!({}))
}
