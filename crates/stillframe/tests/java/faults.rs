//! The fault table of Java: the program, the bridge or the server is killed at each moment of a session.

use std::path::Path;

use serde_json::json;
use test_support::{Answer, Fixture, Language};

use crate::debugging::{Debugging, Report, folder};

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Program,
    Bridge,
    Server,
}

/// When.
#[derive(Clone, Copy, Debug)]
enum Moment {
    Running,
    Paused,
    Stepping,
    Evaluating,
}

use Moment::{Evaluating, Paused, Running, Stepping};
use Victim::{Bridge, Program, Server};

/// What the call that is under way comes to, or the next one.
const TABLE: [(Victim, Moment, &str); 12] = [
    (Program, Running, "ended SIGKILL"),
    (Program, Paused, "ended SIGKILL"),
    (Program, Stepping, "ended SIGKILL"),
    (Program, Evaluating, "connection_lost"),
    (Bridge, Running, "ended"),
    (Bridge, Paused, "ended"),
    (Bridge, Stepping, "ended"),
    (Bridge, Evaluating, "connection_lost"),
    (Server, Running, ""),
    (Server, Paused, ""),
    (Server, Stepping, ""),
    (Server, Evaluating, ""),
];

fn came_to(answer: &Answer) -> String {
    match answer["code"].as_str() {
        Some(code) => code.to_owned(),
        None => format!("{} {}", answer.outcome(), answer["signal"].as_str().unwrap_or_default()),
    }
}

fn kill(session: &Debugging, victim: Victim) {
    let of = match victim {
        Program => "-agentlib:jdwp",
        Bridge => "stillframe.Bridge",
        Server => return session.server.mark().kill(session.server.pid()),
    };
    let processes = session.server.mark().processes();
    let (pid, _) = processes.iter().find(|(_, command)| command.contains(of)).expect("it runs");
    session.server.mark().kill(*pid);
}

async fn strike(victim: Victim, moment: Moment) -> Option<Answer> {
    let program = Fixture::of(Language::Java, "pauses_sleep");
    let (session, _) = Debugging::stopped_at(&program, "here").await;
    let folder = folder();
    let begun = folder.path().join("begun");
    let (tool, arguments) = match moment {
        Running | Paused => ("continue_execution", json!({})),
        Stepping => ("step_over", json!({})),
        Evaluating => ("evaluate_expression", json!({ "expression": endless(&begun) })),
    };
    session.ok("clear_breakpoints", json!({})).await;
    if matches!(moment, Paused) {
        kill(&session, victim);
    }
    let answer = if victim == Server {
        if !matches!(moment, Paused) {
            let _ = session
                .server
                .begin("tools/call", json!({ "name": tool, "arguments": session.with_id(arguments) }))
                .await;
            kill(&session, victim);
        }
        None
    } else {
        let call = session.call(tool, arguments);
        let strike = async {
            match moment {
                Paused => return,
                Evaluating => test_support::eventually(|| begun.exists()).await,
                Running | Stepping => runs(&session).await,
            }
            kill(&session, victim);
        };
        Some(tokio::join!(call, strike).0)
    };
    if victim == Server {
        session.server.mark().clone().assert_gone_within(std::time::Duration::from_secs(10));
    } else {
        session.call("close_debug_session", json!({})).await;
        session.finish().await;
    }
    answer
}

/// An expression that makes a file, and then waits.
fn endless(begun: &Path) -> String {
    let begun = begun.display();
    format!(
        "new java.io.File(\"{begun}\").createNewFile() && new java.util.concurrent.CountDownLatch(1)\
         .await(1000L, java.util.concurrent.TimeUnit.SECONDS)"
    )
}

/// Waits until the program runs.
async fn runs(session: &Debugging) {
    loop {
        let sessions = session.server.ok("list_debug_sessions", json!({})).await;
        let own = &sessions["sessions"][0];
        if own["state"] != "paused" {
            return;
        }
        // sleep: it runs once the call has been taken.
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn calls_return_and_processes_end_whatever_is_killed() {
    let mut wrong = Vec::new();
    for (victim, moment, expected) in TABLE {
        let found = strike(victim, moment).await.map(|answer| came_to(&answer)).unwrap_or_default();
        println!("{victim:?} {moment:?}: {found}");
        if !found.starts_with(expected) {
            wrong.push(format!("{victim:?} {moment:?}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
