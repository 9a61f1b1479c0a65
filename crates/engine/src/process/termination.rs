//! Ending a process that was not started here, because its user asks for that.

use super::Identity;
use crate::deadlines;
use crate::error::{Error, Result};

/// A process to end. Another one that is given its number later is not meant.
#[derive(Clone, Copy, Debug)]
pub struct Termination(Identity);

impl Termination {
    /// Of the process that has this number now.
    pub fn of(pid: u32) -> Self {
        Self(Identity::of(pid))
    }

    /// Asks it to end, and kills it when it has not done so in time.
    pub async fn end(self) -> Result<()> {
        use rustix::process::{Signal, kill_process};
        for signal in [Signal::TERM, Signal::KILL] {
            let Some(pid) = self.living() else { return Ok(()) };
            kill_process(pid, signal).map_err(|error| self.refused(error))?;
            if tokio::time::timeout(deadlines::KILL, self.ended()).await.is_ok() {
                return Ok(());
            }
        }
        Err(self.refused("it is still running after SIGKILL"))
    }

    fn living(self) -> Option<rustix::process::Pid> {
        let raw = i32::try_from(self.0.pid).ok().filter(|_| self.0.is_alive())?;
        rustix::process::Pid::from_raw(raw)
    }

    async fn ended(self) {
        while self.0.is_alive() {
            tokio::time::sleep(deadlines::LOOK).await;
        }
    }

    fn refused(self, error: impl std::fmt::Display) -> Error {
        Error::Refused(format!("cannot end process {}: {error}", self.0.pid))
    }
}
