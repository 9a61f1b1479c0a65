//! What an adapter asks of us.

use serde_json::{Value as Json, json};
use tokio::net::TcpListener;

use super::peer::{Peer, PeerOptions, Scene, sinks};
use super::spawn::Scripted;
use crate::adapter::Machine;
use crate::adapter::plan::Transport;
use crate::debugger::dap::{DapConnector, DapDebugger};
use crate::debugger::{Connector, Debugger, Event, Started};
use crate::model::launch::Stdin;
use crate::model::stop::End;
use crate::output::Output;

#[tokio::test]
async fn run_in_terminal_gets_its_arguments_directory_environment_and_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let env = [("SHAPE".to_owned(), Some("round".to_owned())), ("COLOUR".to_owned(), Some("red".to_owned()))];
    let given =
        PeerOptions { stdin: Stdin::Text("typed".to_owned()), env: env.into(), ..PeerOptions::default() };
    let mut scene = Scene::running(given).await;
    let script = r#"echo "$PWD $1 ${COLOUR-unset} ${SHAPE-unset} ${HOME-unset}"; cat"#;
    let program = json!({
        "kind": "integrated", "title": "t", "cwd": folder,
        "args": ["/bin/sh", "-c", script, "sh", "two words"],
        "env": { "COLOUR": "blue", "HOME": null },
    });
    let answer = scene.peer.ask("runInTerminal", program.clone()).await;
    assert_eq!(answer["success"], true, "{answer}");
    assert!(answer["body"]["processId"].is_u64(), "{answer}");
    scene.peer.event("terminated", json!({})).await;
    assert_eq!(scene.event().await, Event::Left);
    assert_eq!(scene.debugger.end(), Some(End::Exited(0)));
    let expected = format!("{} two words red round unset\ntyped", folder.display());
    assert_eq!(scene.output.read(0, 1000).text(), expected);
}

#[tokio::test]
async fn unsupported_reverse_requests_are_refused() {
    let mut scene = Scene::offering(json!({})).await;
    let program = || json!({ "args": ["/bin/true"], "cwd": "" });
    assert_eq!(scene.peer.ask("runInTerminal", program()).await["success"], true, "an empty folder is ours");
    let table = [
        ("runInTerminal", program(), "the program was already started"),
        ("runInTerminal", json!({ "args": [] }), "`args` is empty"),
        ("runInTerminal", json!({ "args": "true" }), "invalid type: string \"true\", expected a sequence"),
        (
            "startDebugging",
            json!({ "request": "attach", "configuration": {} }),
            "the limit of child sessions is reached",
        ),
        ("sendToMars", json!({}), "`sendToMars` is not supported"),
        ("sendToMars", Json::Null, "`sendToMars` is not supported"),
    ];
    for (command, arguments, expected) in table {
        let answer = scene.peer.ask(command, arguments).await;
        assert_eq!((&answer["success"], &answer["message"]), (&json!(false), &json!(expected)));
        assert_eq!(answer["command"], command);
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_refused_with_the_reason() {
    let mut scene = Scene::offering(json!({})).await;
    let answer = scene.peer.ask("runInTerminal", json!({ "args": ["/no/such/program"] })).await;
    assert_eq!(answer["success"], false);
    assert!(answer["message"].as_str().unwrap().contains("/no/such/program"), "{answer}");
}

/// js-debug listens, and speaks about each child on a connection of its own, which begins with the configuration that
/// it has sent, and nothing else.
#[tokio::test]
async fn child_sessions_use_a_separate_connection() {
    for request in ["launch", "attach"] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripted = Scripted::with(Transport::Connect { host: "127.0.0.1".to_owned(), port });
        let connector = DapConnector::<DapDebugger>::new(scripted, &Machine, None);
        let start = connector.start(super::spawn::launch(), sinks(&Output::new()));
        let (started, accepted) = tokio::join!(start, listener.accept());
        let Started { process, mut arrivals } = started.unwrap();
        assert!(process.is_none(), "it is not ours");
        let mut root = Peer::from(accepted.unwrap().0);
        let program = arrivals.recv().await.unwrap();
        let served = async {
            let arguments = root.serve("initialize", json!({})).await;
            assert_eq!(arguments["supportsStartDebuggingRequest"], true);
            root.serve("launch", json!({})).await;
            root.event("initialized", json!({})).await;
        };
        let (prepared, ()) = tokio::join!(program.debugger.prepare(), served);
        prepared.unwrap();

        let configuration = json!({ "type": "pwa-node", "__pendingTargetId": "7" });
        let arguments = json!({ "request": request, "configuration": configuration });
        let (answer, accepted) = tokio::join!(root.ask("startDebugging", arguments), listener.accept());
        assert_eq!(answer["success"], true);
        let mut peer = Peer::from(accepted.unwrap().0);
        let child = arrivals.recv().await.unwrap();
        let served = async {
            peer.serve("initialize", json!({ "supportTerminateDebuggee": true })).await;
            assert_eq!(peer.serve(request, json!({})).await, configuration);
            peer.event("initialized", json!({})).await;
        };
        let (prepared, ()) = tokio::join!(child.debugger.prepare(), served);
        prepared.unwrap();
        let (left, arguments) = tokio::join!(child.debugger.detach(), peer.serve("disconnect", json!({})));
        assert_eq!(
            (left, arguments),
            (Ok(()), json!({ "terminateDebuggee": false })),
            "it is not the program"
        );
    }
}
