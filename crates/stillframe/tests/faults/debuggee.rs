//! Attacks on the program that is debugged, and with it on the debugger inside it.

use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use test_support::{Answer, DynamicLanguage as Language, Mark, Signal};

use crate::STILLFRAME;
use crate::attacked::{Attacked, LAUNCHED_MS};
use crate::bystander::Bystanders;
use crate::cells::{Moment, cells, in_time, table};

/// What is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// SIGKILL.
    Killed,
    /// SIGSTOP.
    Stopped,
    /// It has the processor for a quarter of the time.
    Slow,
    /// It writes as much as is taken from it.
    Flooding,
    /// SIGTERM.
    Ending,
}

/// What comes of it, for each moment of [`Moment::ALL`].
const EXPECTED: [(Fault, [&str; 7]); 5] = [
    (
        Fault::Killed,
        [
            "start_failed",
            "ended SIGKILL",
            "ended SIGKILL",
            "ended SIGKILL",
            "connection_lost",
            "ended SIGKILL",
            "well",
        ],
    ),
    (Fault::Stopped, ["running", "running", "refused", "running", "refused", "running", "well"]),
    (Fault::Slow, ["paused", "running", "well", "running", "deadline_exceeded", "running", "well"]),
    (Fault::Flooding, ["paused", "running", "well", "running", "deadline_exceeded", "running", "well"]),
    (
        Fault::Ending,
        [
            "start_failed",
            "ended SIGTERM",
            "ended SIGTERM",
            "ended SIGTERM",
            "connection_lost",
            "ended SIGTERM",
            "well",
        ],
    ),
];

/// Gives a process the processor for a part of the time, until it is dropped.
struct Brake(tokio::task::JoinHandle<()>);

impl Brake {
    fn on(mark: Mark, pid: u32) -> Self {
        Self(tokio::spawn(async move {
            for signal in [Signal::STOP, Signal::CONT].iter().cycle() {
                mark.try_signal(pid, *signal);
                // sleep: how long it is held, and how long it runs.
                tokio::time::sleep(Duration::from_millis(if *signal == Signal::STOP { 30 } else { 10 }))
                    .await;
            }
        }))
    }
}

impl Drop for Brake {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Fault {
    /// The program's arguments.
    fn arguments(self) -> Vec<&'static str> {
        if self == Self::Flooding { vec!["floods"] } else { Vec::new() }
    }

    /// What an interpreter does that has this fault before it runs the program: a command of a shell, for the process
    /// whose number is `$pid`.
    fn while_launching(self) -> &'static str {
        match self {
            Self::Killed => "kill -9 $pid",
            Self::Stopped => "kill -STOP $pid",
            Self::Slow => "sleep 1",
            Self::Flooding => "yes 'a flood of words' | head -c 20000000",
            Self::Ending => "kill $pid",
        }
    }

    fn strikes(self, attacked: &Attacked<'_>, pid: u32) -> Option<Brake> {
        let signal = match self {
            Self::Killed => Signal::KILL,
            Self::Stopped => Signal::STOP,
            Self::Ending => Signal::TERM,
            Self::Slow => return Some(Brake::on(attacked.server.mark().clone(), pid)),
            Self::Flooding => return None,
        };
        attacked.server.mark().signal(pid, signal);
        None
    }
}

struct Attack {
    language: Language,
    server: test_support::Server,
    others: Bystanders,
}

impl Attack {
    /// One cell. What it returns is the answer of the call that was under way, or that came next.
    async fn cell(&self, fault: Fault, moment: Moment) -> Answer {
        if moment == Moment::Launching {
            return self.launched(fault).await;
        }
        let attacked = Attacked::at(&self.server, self.language, moment, &fault.arguments()).await;
        let pid = attacked.pid().await;
        let strike = async || fault.strikes(&attacked, pid);
        let (answer, brake) = if moment == Moment::Paused && matches!(fault, Fault::Killed | Fault::Ending) {
            let brake = strike().await;
            // The end is known already, or the call waits for it.
            (attacked.call("continue_execution", json!({})).await, brake)
        } else {
            attacked.during(moment, strike()).await
        };
        self.others.answer(&self.server).await;
        attacked.after(moment).await;
        drop(brake);
        answer
    }

    async fn launched(&self, fault: Fault) -> Answer {
        let harm = fault.while_launching();
        let attacked = match self.language {
            Language::Python => {
                let attacked = Attacked::session(&self.server, self.language, None).await;
                // Python runs it before anything else.
                let early = format!("import os\nos.system(f\"pid={{os.getpid()}}; {harm}\")\n");
                attacked.write("sitecustomize.py", &early);
                attacked
            }
            Language::Node => {
                let wrapper = format!(
                    "#!/bin/sh\npid=$$\ncase \"$*\" in *attacked.js*) {harm};; esac\nexec node \"$@\"\n"
                );
                Attacked::session(&self.server, self.language, Some(&wrapper)).await
            }
        };
        attacked.break_at("work").await;
        let env = json!({ "PYTHONPATH": attacked.folder() });
        let start = json!({ "scriptPath": attacked.program.path(), "env": env, "timeout": LAUNCHED_MS });
        let start = attacked.with_session(start);
        let answer =
            in_time(&self.server, "start_debugging", start, Duration::from_millis(LAUNCHED_MS)).await;
        self.others.answer(&self.server).await;
        attacked.close().await;
        answer
    }
}

async fn attack(language: Language) {
    let server = STILLFRAME.serve().await;
    let others = Bystanders::pause(&server).await;
    let attack = Attack { language, server, others };
    let cell = |_, fault, moment| attack.cell(fault, moment).boxed_local();
    let (warm_up, all) = (cells(&EXPECTED[..1], cell), cells(&EXPECTED, cell));
    table(language.pick("debugpy", "node"), &attack.server, warm_up, all).await;
    attack.server.finish().await;
}

#[tokio::test]
async fn faults_of_a_python_program_are_survived() {
    attack(Language::Python).await;
}

#[tokio::test]
async fn faults_of_a_node_program_are_survived() {
    attack(Language::Node).await;
}
