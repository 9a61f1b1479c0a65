//! What comes before a start, whatever is spoken afterwards.

use std::path::PathBuf;
use std::pin::pin;

use super::Sinks;
use crate::adapter::{Adapter, Guarded, Host, Plan, Runtime};
use crate::error::{Error, Result};
use crate::model::launch::{Endpoint, Launch, Start};
use crate::safety::Safety;

/// A language on a machine, and the user's choice of interpreter.
#[derive(Debug)]
pub(super) struct Preparation {
    pub(super) adapter: &'static dyn Adapter,
    pub(super) host: &'static dyn Host,
    pub(super) executable: Option<PathBuf>,
}

/// What is needed for a start.
pub(super) struct PreparedStart {
    pub(super) runtime: Runtime,
    pub(super) plan: Plan,
    /// What is started, as it was built.
    pub(super) start: Start,
}

impl Preparation {
    /// Finds the interpreter or compiler, makes sure that the debugger is there, builds, and plans the start.
    pub(super) async fn plan(&self, start: Start, sinks: &Sinks) -> Result<PreparedStart> {
        if let Start::Attach(attach) = &start {
            self.check_attach(&attach.to)?;
        }
        let runtime = self.runtime(&start, &sinks.policy.safety).await?;
        let listens =
            matches!(&start, Start::Attach(attach) if matches!(attach.to, Endpoint::Address { .. }));
        let debugger = if listens && self.adapter.facts().listener_has_debugger {
            PathBuf::new()
        } else {
            self.adapter.provide(self.host, &runtime, &sinks.progress).await?
        };
        let start = match start {
            Start::Launch(launch) => {
                Start::Launch(self.adapter.build(self.host, &runtime, launch, &sinks.progress).await?)
            }
            attach @ Start::Attach(_) => attach,
        };
        sinks.progress.end_preparation();
        let plan = self.adapter.plan(self.host, &runtime, &debugger, &start)?;
        Ok(PreparedStart { runtime, plan, start })
    }

    /// Prepares for processes of the language that a program in another language starts.
    pub(super) async fn follow(&self, launch: &Launch, sinks: &Sinks) -> Result<(Runtime, Plan)> {
        let Some(children) = self.adapter.child_processes() else {
            return Err(crate::adapter::unsupported(
                self.adapter,
                "debugging child processes",
                "start them as programs",
            ));
        };
        let guarded = Guarded::starting(self.host, &sinks.policy.safety);
        let runtime = self.adapter.locate(&guarded, None, launch.near().as_deref()).await?;
        let debugger = self.adapter.provide(self.host, &runtime, &sinks.progress).await?;
        let plan = children.plan_children(self.host, &runtime, &debugger, launch)?;
        Ok((runtime, plan))
    }

    /// Starts a program, and checks meanwhile for problems that would keep it from starting at all: reading the source
    /// takes as long as the interpreter takes to come up. A problem that is found says more than the failed start. A
    /// start that is dropped half-way takes its process along.
    pub(super) async fn checked<T>(
        &self,
        runtime: &Runtime,
        start: &Start,
        starting: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let check = async {
            match start {
                Start::Launch(launch) => self.adapter.check(self.host, runtime, launch).await,
                Start::Attach(_) => Ok(()),
            }
        };
        let (mut check, mut starting) = (pin!(check), pin!(starting));
        tokio::select! {
            checked = &mut check => {
                checked?;
                starting.await
            }
            started = &mut starting => {
                check.await?;
                started
            }
        }
    }

    /// The interpreter of a process is the one that can get into it.
    async fn runtime(&self, start: &Start, safety: &Safety) -> Result<Runtime> {
        let of_process = match start {
            Start::Attach(attach) => match attach.to {
                Endpoint::Process(pid) if self.executable.is_none() => self.interpreter_of(pid)?,
                Endpoint::Process(_) | Endpoint::Address { .. } | Endpoint::Core { .. } => None,
            },
            Start::Launch(_) => None,
        };
        let near = match start {
            Start::Launch(launch) => launch.near(),
            Start::Attach(_) => None,
        };
        // Those were checked with the rest of the start.
        if let Some(executable) = self.executable.as_deref().or(of_process.as_deref()) {
            return self.adapter.locate(self.host, Some(executable), near.as_deref()).await;
        }
        self.adapter.locate(&Guarded::starting(self.host, safety), None, near.as_deref()).await
    }

    /// The program of a process, where the language is debugged by an interpreter. Others have a debugger beside it.
    fn interpreter_of(&self, pid: u32) -> Result<Option<PathBuf>> {
        let Some(identity) = self.adapter.process_identity() else { return Ok(None) };
        match self.host.program_of(pid) {
            Some(program) if !identity.may_be_interpreter(&program) => Err(Error::Environment {
                problem: format!(
                    "process {pid} runs `{}`, which is not an interpreter for {}",
                    program.display(),
                    self.adapter.about()
                ),
                remedy:
                    "give the process ID of the interpreter, such as a child of that process; for a program \
                     with an embedded interpreter, give the same program as `executablePath`"
                        .to_owned(),
            }),
            program => Ok(program),
        }
    }

    fn check_attach(&self, endpoint: &Endpoint) -> Result<()> {
        if matches!(endpoint, Endpoint::Core { .. }) && !self.adapter.facts().is_machine_code {
            let instead = "its debugger does not support them";
            return Err(crate::adapter::unsupported(self.adapter, "opening a crash dump", instead));
        }
        let Endpoint::Process(pid) = endpoint else { return Ok(()) };
        if !crate::process::exists(*pid) {
            return Err(Error::Environment {
                problem: format!("no process {pid}"),
                remedy: "check the process ID; the program may have ended".to_owned(),
            });
        }
        if crate::process::is_stopped(*pid) {
            return Err(Error::Environment {
                problem: format!(
                    "process {pid} is stopped by a signal such as SIGSTOP, and does not respond"
                ),
                remedy: format!("send it SIGCONT (`kill -CONT {pid}`) first"),
            });
        }
        match self.adapter.attach_obstacle(self.host) {
            Some(obstacle) => Err(Error::Environment {
                problem: obstacle,
                remedy: "change that, or start the program with a debugger port and give `host` and `port`"
                    .to_owned(),
            }),
            None => Ok(()),
        }
    }
}
