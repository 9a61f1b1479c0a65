//! DBGp, translated: a debug adapter that runs in our process, one for each connection of the program.
//!
//! `debugger/dap/` speaks the Debug Adapter Protocol to it over a pipe in memory, so that conditions, hit counts, log
//! messages, children and everything else that is the same for all adapters exist once. What the protocol cannot do is
//! done by our PHP code in the program, `debuggee/php/`, which `agent.rs` loads and calls.
//!
//! Reading order: `server.rs` (requests and messages), `motion.rs` (running and stopping), `steps.rs`,
//! `breakpoints.rs`, `functions.rs` (breakpoints on functions), `exceptions.rs`, `reading.rs` (frames and values).

mod agent;
mod breakpoints;
mod exceptions;
mod functions;
mod motion;
mod reading;
mod server;
mod steps;

use tokio::io::{DuplexStream, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;

use crate::adapter::Adapter;

/// How much may be on its way in memory, in bytes.
const PIPE: usize = 64 * 1024;

/// The client's ends of a connection to an adapter.
type Ends = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>);

/// An adapter for a program that has connected to us.
pub(in crate::debugger) fn translate(stream: TcpStream, adapter: &'static dyn Adapter) -> Ends {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    tokio::spawn(server::serve(stream, theirs, adapter));
    split(ours)
}

/// An adapter for a program that connects to us only with each request that it serves. It can do nothing but wait.
pub(in crate::debugger) fn wait_for_requests(token: String, pid: u32) -> Ends {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    tokio::spawn(server::wait(theirs, token, pid));
    split(ours)
}
