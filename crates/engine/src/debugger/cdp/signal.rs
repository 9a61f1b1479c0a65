//! Opening the inspector of a running process.
//!
//! Node opens its inspector on SIGUSR1, on the port given at its start, or else on 9229. It reports the port on its
//! standard error, which we do not have, so the system is asked for the ports on which the process listens.

use std::time::Duration;

use ::cdp::Address;
use ::cdp::discovery;
use tokio::time::Instant;

use crate::adapter::node;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process;

/// The port on which Node opens its inspector, unless its options name another one.
const USUAL_PORT: u16 = 9229;

/// Makes a process open its inspector, and finds it.
///
/// Only what is likely an inspector is asked: to a server of the program, the question is a request from a client.
pub(super) async fn open_inspector(pid: u32) -> Result<Address> {
    let before = process::listening_ports(pid);
    // One that an option opened may be on any port, listed before those that the program has opened since.
    let is_by_option = node::opens_inspector(pid);
    let is_likely = |port: &&u16| is_by_option || **port == USUAL_PORT;
    let likely: Vec<u16> = before.iter().filter(is_likely).copied().collect();
    if let Some(address) = inspector_among(&likely, deadlines::REQUEST).await {
        return Ok(address);
    }
    if !process::ask_for_inspector(pid) {
        return Err(no_inspector(pid, "does not handle SIGUSR1, as Node.js does"));
    }
    let until = Instant::now() + deadlines::REQUEST;
    loop {
        let ports = process::listening_ports(pid);
        let opened: Vec<u16> = ports.into_iter().filter(|port| !before.contains(port)).collect();
        if let Some(address) = inspector_among(&opened, deadlines::GOODBYE).await {
            return Ok(address);
        }
        if !process::exists(pid) {
            return Err(no_inspector(pid, "has ended"));
        }
        if Instant::now() >= until {
            break;
        }
        tokio::time::sleep(deadlines::LOOK).await;
    }
    // The program may have opened one itself, on a port of its choice.
    let others: Vec<u16> = before.into_iter().filter(|port| !likely.contains(port)).collect();
    if let Some(address) = inspector_among(&others, deadlines::GOODBYE).await {
        return Ok(address);
    }
    Err(no_inspector(
        pid,
        "did not open an inspector; another program may use port 9229, or the program handles SIGUSR1 itself",
    ))
}

/// The inspector on one of these ports. They are tried in order, because the later ones are servers of the program.
async fn inspector_among(ports: &[u16], deadline: Duration) -> Option<Address> {
    for port in ports {
        if let Some(address) = inspector_at(*port, deadline).await {
            return Some(address);
        }
    }
    None
}

async fn inspector_at(port: u16, deadline: Duration) -> Option<Address> {
    let targets = discovery::targets("127.0.0.1", port, deadline).await.ok()?;
    targets.into_iter().next().map(|target| target.address)
}

fn no_inspector(pid: u32, problem: &str) -> Error {
    Error::Environment {
        problem: format!("process {pid} {problem}"),
        remedy: "start the program with `node --inspect=0` and give `host` and `port`".to_owned(),
    }
}
