//! Servers that can do nothing more themselves: killed together with their guardian, or left by their client.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use test_support::{Fixture, Mark, Server, ServerOptions, Signal};
use tokio::process::Child;

use crate::STILLFRAME;
use crate::scenes::{Listening, paused_at, running, session};

/// A cache with the debuggers of the others, so that no other test's server sweeps here.
async fn cache() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let filled = STILLFRAME.cache().await.join("python");
    std::os::unix::fs::symlink(filled, folder.path().join("python")).unwrap();
    folder
}

async fn serve_in(cache: &Path) -> Server {
    ServerOptions { cache: cache.to_owned(), ..STILLFRAME.options().await }.start().await
}

/// Kills a server and its guardian, and returns the mark of what they leave.
async fn killed_with_its_guardian(server: Server) -> Mark {
    let mark = server.mark().clone();
    let guardians = mark.guardians();
    assert!(!guardians.is_empty());
    // Stopped first, because a guardian begins its work the moment the server is gone.
    for guardian in &guardians {
        server.hold_started(*guardian);
    }
    server.kill_alone().await;
    // The system sends a stopped process whose parent has ended a SIGHUP, so that it may be gone before it is killed.
    for guardian in guardians {
        mark.try_signal(guardian, Signal::KILL);
        test_support::eventually(|| mark.processes().iter().all(|(pid, _)| *pid != guardian)).await;
    }
    mark
}

/// The files by which servers show that they are there.
fn shown(cache: &Path) -> usize {
    std::fs::read_dir(cache.join("servers")).map_or(0, Iterator::count)
}

/// A process that belongs to no server, except for the mark in its environment.
#[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
fn bystander(environment: Option<&str>) -> Child {
    let mut command = tokio::process::Command::new("sleep");
    command.arg("1000").stdin(Stdio::null()).kill_on_drop(true);
    if let Some(mark) = environment {
        command.env("STILLFRAME_SESSION", mark);
    }
    command.spawn().unwrap()
}

#[tokio::test]
async fn leftovers_of_a_killed_server_and_guardian_are_ended_by_the_next_server() {
    let cache = cache().await;
    let mut attached = Listening::start().await;
    let mut bystanders =
        [bystander(None), bystander(Some("0123456789abcdef0123456789abcdef/x/1/")), bystander(Some(""))];
    let lives = serve_in(cache.path()).await;
    let lasting = paused_at(&lives, &Fixture::python("shop"), "call").await;

    let server = serve_in(cache.path()).await;
    running(&server, &Fixture::python("family")).await;
    paused_at(&server, &Fixture::python("shop"), "call").await;
    let other = session(&server).await;
    server
        .ok("attach_to_process", json!({ "sessionId": other, "port": attached.port, "stopOnEntry": false }))
        .await;
    let left = killed_with_its_guardian(server).await;
    assert!(left.processes().len() >= 5, "{:#?}", left.processes());
    assert_eq!(shown(cache.path()), 2);

    // The first server does it.
    let next = tokio::join!(serve_in(cache.path()), serve_in(cache.path()), serve_in(cache.path()));
    left.assert_gone_within(std::time::Duration::from_secs(5));
    test_support::eventually(|| shown(cache.path()) == 1).await;

    for bystander in &mut bystanders {
        assert!(bystander.try_wait().unwrap().is_none(), "it has nothing to do with the server");
    }
    attached.say("hello").await;
    attached.answers("hello").await;
    attached.end().await;
    let location = lives.ok("get_stack_trace", json!({ "sessionId": lasting })).await;
    assert_eq!(location["success"], true);
    for server in [next.0, next.1, next.2, lives] {
        server.finish().await;
    }
    assert_eq!(shown(cache.path()), 0);
    for mut bystander in bystanders {
        bystander.kill().await.unwrap();
    }
}

/// Servers that come and go all the time take nothing from each other.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn servers_that_start_together_do_not_interfere() {
    let cache = cache().await;
    let one = async || {
        for _ in 0..3 {
            let server = serve_in(cache.path()).await;
            let session = paused_at(&server, &Fixture::python("shop"), "call").await;
            server.ok("get_stack_trace", json!({ "sessionId": session })).await;
            server.finish().await;
        }
    };
    tokio::join!(one(), one(), one(), one());
    assert_eq!(shown(cache.path()), 0);
}

/// A folder that cannot be written costs the next server its work, and this one nothing.
#[tokio::test]
async fn a_server_that_cannot_register_itself_works() {
    let cache = cache().await;
    std::fs::write(cache.path().join("servers"), "no folder").unwrap();
    let server = serve_in(cache.path()).await;
    paused_at(&server, &Fixture::python("shop"), "call").await;
    let (_, log) = server.finish().await;
    assert_eq!(log.matches("programs may outlive this server").count(), 1, "{log}");
}

/// The client's death ends the server, even if another process holds its standard input open.
#[tokio::test]
async fn a_client_that_dies_ends_the_server_despite_open_input() {
    let serves = format!("exec 3<&0; {} serve <&3 & wait", STILLFRAME.program);
    let options = STILLFRAME.options().await;
    let server =
        ServerOptions { program: "/bin/sh", args: vec!["-c".to_owned(), serves], ..options }.start().await;
    running(&server, &Fixture::python("spins")).await;
    // The test holds it open.
    server.kill().await;
}
