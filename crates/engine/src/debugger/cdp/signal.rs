//! Opening the inspector of a running process.
//!
//! Node opens its inspector on SIGUSR1, on the port given at its start, or else on 9229. It reports the port on its
//! standard error, which we do not have, so the system is asked for the ports on which the process listens.

use ::cdp::Address;
use ::cdp::discovery;
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::deadlines;
use crate::error::{Error, Result};
use crate::process;

/// Has a process open its inspector, and finds it.
pub(super) async fn open_inspector(pid: u32) -> Result<Address> {
    // An open inspector may be on any port, and must not receive the signal again: that would close it for its
    // current client.
    let before = process::listening_ports(pid);
    if let Some(address) = inspector_among(&before).await {
        return Ok(address);
    }
    if !process::ask_for_inspector(pid) {
        return Err(no_inspector(pid, "does not handle SIGUSR1, as Node.js does"));
    }
    let until = Instant::now() + deadlines::REQUEST;
    loop {
        let ports = process::listening_ports(pid);
        let opened: Vec<u16> = ports.into_iter().filter(|port| !before.contains(port)).collect();
        if let Some(address) = inspector_among(&opened).await {
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
    Err(no_inspector(
        pid,
        "did not open an inspector; another program may use port 9229, or the program handles SIGUSR1 itself",
    ))
}

/// The inspector on one of these ports. Those on which the program serves others need not answer.
async fn inspector_among(ports: &[u16]) -> Option<Address> {
    let answers = join_all(ports.iter().map(|port| inspector_at(*port))).await;
    answers.into_iter().flatten().next()
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
