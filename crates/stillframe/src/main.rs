//! stillframe: a run-time debugger for AI agents.
//!
//! The only crate that depends on MCP, and the only binary. Start reading at [`mcp`] for the server and at [`cli`]
//! for everything else; both end in `tools`, which depends on neither.

mod cli;
mod config;
mod debug;
mod doctor;
mod hang;
mod init;
mod listing;
mod mcp;
mod one_shot;
mod probe;
mod program;
mod record;
mod setup;
mod signals;
mod terminal;
mod test;
mod trace;
mod via;
mod view;

use std::process::ExitCode;

use engine::process::guardian;

fn main() -> ExitCode {
    // Before anything else: the guardian is this program under another argument, and needs nothing of it.
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(guardian::ARGUMENT) {
        guardian::run(&arguments.next().unwrap_or_default(), std::io::stdin());
        return ExitCode::SUCCESS;
    }
    log_to_stderr();
    match std::env::current_exe() {
        Ok(program) => guardian::set_program(program),
        Err(error) => tracing::warn!(%error, "no guardian: programs may outlive a killed server"),
    }
    let command = cli::parse();
    // With one thread no answer waits for another one to wake up, on its way through several tasks.
    let mut runtime = if command.serves_one_client() {
        tokio::runtime::Builder::new_current_thread()
    } else {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(WORKERS);
        runtime
    };
    let runtime = match runtime.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return terminal::failed(&error.into()),
    };
    let code = runtime.block_on(cli::run(command)).unwrap_or_else(|error| terminal::failed(&error));
    // A blocking read of standard input never ends by itself; nothing waits for it.
    runtime.shutdown_background();
    code
}

/// One that works and one that answers while it does.
const WORKERS: usize = 2;

/// The log goes to standard error, because standard output belongs to MCP. `STILLFRAME_LOG` takes filters
/// such as `debug` or `engine=trace`. rmcp's own records hold whole requests, so they stay out, and so does what it says
/// of clients that go away.
fn log_to_stderr() {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let asked = std::env::var_os("STILLFRAME_LOG").filter(|filters| !filters.is_empty());
    let read = asked.map(|filters| filters.to_str().and_then(|filters| filters.parse::<Targets>().ok()));
    let is_wrong = matches!(read, Some(None));
    let filter = read.flatten().unwrap_or_else(|| {
        let quiet = [("rmcp", LevelFilter::ERROR), ("rmcp::service", LevelFilter::OFF)];
        Targets::new().with_default(LevelFilter::WARN).with_targets(quiet)
    });
    let records = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(records).with(mcp::Records).with(filter).init();
    if is_wrong {
        tracing::warn!("ignored STILLFRAME_LOG; use filters such as `debug` or `engine=trace`");
    }
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
}
