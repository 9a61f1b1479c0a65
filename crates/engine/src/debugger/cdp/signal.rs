//! Opening the inspector of a running process.
//!
//! Node opens its inspector on SIGUSR1, on the port that it was told when it was started, or else on 9229. It
//! says where on its own standard error, which is not ours, so the system is asked for the ports on which
//! the process listens.

use ::cdp::Address;
use ::cdp::discovery;
use tokio::time::Instant;

use crate::deadlines;
use crate::error::{Error, Result};
use crate::process;

/// Where Node listens unless it was told otherwise.
const USUAL_PORT: u16 = 9229;

/// Has a process open its inspector, and finds it.
pub(super) async fn open_inspector(pid: u32) -> Result<Address> {
    // Ports on which the program serves others are not spoken to, unless it is the usual one of the inspector.
    let before = process::listening_ports(pid);
    if before.contains(&USUAL_PORT)
        && let Some(address) = inspector_at(USUAL_PORT).await
    {
        return Ok(address);
    }
    if !process::ask_for_inspector(pid) {
        return Err(no_inspector(pid, "does not take the signal SIGUSR1, as Node does"));
    }
    let until = Instant::now() + deadlines::REQUEST;
    loop {
        let ports = process::listening_ports(pid);
        for port in ports.into_iter().filter(|port| !before.contains(port)) {
            if let Some(address) = inspector_at(port).await {
                return Ok(address);
            }
        }
        if !process::exists(pid) {
            return Err(no_inspector(pid, "has ended"));
        }
        if Instant::now() >= until {
            break;
        }
        tokio::time::sleep(deadlines::LOOK).await;
    }
    // It may have been open before the signal, on a port of its own choice.
    for port in before {
        if let Some(address) = inspector_at(port).await {
            return Ok(address);
        }
    }
    Err(no_inspector(
        pid,
        "opened no inspector; port 9229 may be taken by another program, or it handles SIGUSR1 itself",
    ))
}

async fn inspector_at(port: u16) -> Option<Address> {
    let targets = discovery::targets("127.0.0.1", port, deadlines::GOODBYE).await.ok()?;
    targets.into_iter().next().map(|target| target.address)
}

fn no_inspector(pid: u32, problem: &str) -> Error {
    Error::Environment {
        problem: format!("process {pid} {problem}"),
        remedy: "start the program with `node --inspect=0` and give `host` and `port`".to_owned(),
    }
}
