//! How debugging starts, whatever order an adapter keeps.
//!
//! Source: the specification's "Launch sequencing". It has `initialized` come at any time after the answer to
//! `initialize`, and says nothing of when `launch` is answered: adapters do so before `initialized`, after it, and
//! after `configurationDone`. So `launch` is sent before anything is waited for, `initialized` opens the
//! configuration, and what is still missing after `configurationDone` is waited for then.

use tokio::sync::watch;

use super::{DapDebugger, lock};
use crate::adapter::plan::StartRequest;
use crate::deadlines;
use crate::error::{Error, Result};

/// Opens the conversation. After it breakpoints can be set.
pub(super) async fn prepare(debugger: &DapDebugger) -> Result<()> {
    match open(debugger).await {
        Err(Error::Lost) => Err(adapter_exited(debugger).await),
        opened => opened,
    }
}

async fn open(debugger: &DapDebugger) -> Result<()> {
    let mut initialized = debugger.0.initialized.subscribe();
    initialize(debugger).await?;
    let mut started = send_start(debugger);
    let answer = tokio::select! {
        biased;
        answer = answered(&mut started) => answer,
        is_open = initialized.wait_for(|&is_open| is_open) => {
            return is_open.map(drop).map_err(|_| Error::Lost);
        }
    };
    answer.map_err(|error| refused(debugger, error))?;
    if debugger.quirks().sends_initialized {
        opened(&mut initialized, &debugger.0.client).await?;
    }
    Ok(())
}

/// Ends the configuration, and waits for the adapter's outstanding messages about the start.
pub(super) async fn run(debugger: &DapDebugger) -> Result<()> {
    let mut started = debugger.0.started.subscribe();
    lock(&debugger.0.motion).resumed(None, None);
    if debugger.capabilities().supports_configuration_done_request {
        let done = debugger
            .request::<::dap::ConfigurationDone>(::dap::Empty {}, debugger.quirks().configured_within);
        if let Err(error) = done.await {
            // Why the start failed says more than that there is nothing to configure.
            let why = tokio::time::timeout(deadlines::REFUSAL, answered(&mut started)).await;
            let why = why.ok().and_then(Result::err);
            return Err(why.map_or(error, |why| refused(debugger, why)));
        }
    }
    answered(&mut started).await.map_err(|error| refused(debugger, error))
}

async fn initialize(debugger: &DapDebugger) -> Result<()> {
    let arguments = ::dap::InitializeArguments {
        adapter_id: debugger.setup().adapter_id.to_owned(),
        client_name: "stillframe".to_owned(),
        lines_start_at1: true,
        columns_start_at1: true,
        path_format: "path".to_owned(),
        supports_variable_type: true,
        supports_variable_paging: true,
        supports_run_in_terminal_request: true,
        supports_start_debugging_request: debugger.0.options.children.is_some(),
        supports_progress_reporting: true,
    };
    let capabilities =
        debugger.request::<::dap::Initialize>(arguments, debugger.0.options.initialize_within).await?;
    if capabilities.supports_cancel_request {
        debugger.0.client.cancel_dropped_requests();
    }
    // It is asked for once in the life of a connection.
    let _ = debugger.0.capabilities.set(capabilities);
    Ok(())
}

/// Sends `launch` or `attach` immediately. The response is stored until it is needed.
fn send_start(debugger: &DapDebugger) -> watch::Receiver<Option<Result<()>>> {
    let setup = debugger.setup();
    let mut arguments = setup.arguments.clone();
    let started = debugger.0.started.clone();
    let received = started.subscribe();
    let client = &debugger.0.client;
    let keep = move |answer: Result<::dap::Empty, ::dap::Error>| {
        started.send_replace(Some(answer.map(drop).map_err(Error::from)));
    };
    if debugger.0.options.begins_by == StartRequest::Launch {
        let answer = client.begin::<::dap::Launch>(&arguments, deadlines::LAUNCH);
        tokio::spawn(async move { keep(answer.await) });
    } else {
        arguments.remove("stopOnEntry");
        let answer = client.begin::<::dap::Attach>(&arguments, deadlines::ATTACH);
        tokio::spawn(async move { keep(answer.await) });
    }
    received
}

async fn answered(started: &mut watch::Receiver<Option<Result<()>>>) -> Result<()> {
    let answer = started.wait_for(Option::is_some).await;
    answer.map_err(|_| Error::Lost)?.clone().unwrap_or(Err(Error::Lost))
}

/// An adapter that has answered `launch` sends `initialized` next, if ever: one that does not is configured all the
/// same.
async fn opened(initialized: &mut watch::Receiver<bool>, client: &::dap::Client) -> Result<()> {
    tokio::select! {
        is_open = tokio::time::timeout(deadlines::INITIALIZED, initialized.wait_for(|&is_open| is_open)) => {
            is_open.map_or(Ok(()), |is_open| is_open.map(drop).map_err(|_| Error::Lost))
        }
        () = client.closed() => Err(Error::Lost),
    }
}

/// A launch that failed, with what the adapter and the compiler printed.
fn refused(debugger: &DapDebugger, error: Error) -> Error {
    if let (Error::Refused(message), Some(remote)) = (&error, &debugger.setup().remote) {
        let listens = debugger.quirks().listens;
        return Error::Environment {
            problem: format!("no debugger responds at {remote}: {}", (debugger.quirks().message)(message)),
            remedy: format!(
                "check that the program was started with a debugger that listens there, such as {listens}"
            ),
        };
    }
    if debugger.setup().request == StartRequest::Attach {
        return match error {
            Error::Refused(message) => Error::Refused((debugger.quirks().message)(&message)),
            other => other,
        };
    }
    match error {
        Error::Refused(message) => {
            Error::StartFailed { problem: (debugger.quirks().message)(&message), output: printed(debugger) }
        }
        other => other,
    }
}

/// An adapter that we started and that ended before it was ready has printed the reason.
async fn adapter_exited(debugger: &DapDebugger) -> Error {
    let Some(adapter) = debugger.0.options.adapter_process.as_ref().filter(|_| debugger.0.options.is_program)
    else {
        return Error::Lost;
    };
    let problem = match tokio::time::timeout(deadlines::KILL, adapter.ended()).await {
        Ok(end) => format!("the debugger {end} before it was ready"),
        Err(_) => "the debugger closed the connection before it was ready".to_owned(),
    };
    Error::StartFailed { problem, output: printed(debugger) }
}

/// What the adapter and the compiler printed.
fn printed(debugger: &DapDebugger) -> String {
    debugger.sinks().output.tail(debugger.0.output_before, 4000).text()
}

/// The process that is debugged. Not every adapter reports the one that it attaches to. A number of another machine, or
/// of a container, means nothing here.
pub(super) fn pid(debugger: &DapDebugger) -> Option<u32> {
    let setup = debugger.setup();
    let attached = || {
        let process = setup.arguments.get("processId").filter(|_| setup.request == StartRequest::Attach);
        process?.as_u64()?.try_into().ok()
    };
    debugger.0.pid.get().copied().or_else(attached).filter(|_| setup.is_local)
}
