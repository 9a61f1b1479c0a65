//! Programs that run already.

use serde_json::json;
use test_support::Fixture;

use crate::debugging::{Debugging, Report};
use crate::reference::attach::listening;

#[tokio::test]
async fn an_attached_program_is_paused_by_default() {
    let program = Fixture::python("debugpy_port");
    let (_child, port) = listening(&program).await;
    let session = Debugging::new().await;
    let attached = session.ok("attach_to_process", json!({ "port": port })).await;
    assert_eq!(attached.outcome(), "pause", "{}", attached.text);
    assert_eq!(attached.at("/data/message"), &json!(format!("Attached to process at 127.0.0.1:{port}")));
    let config = json!({ "host": "127.0.0.1", "port": port, "stopOnEntry": true, "justMyCode": true });
    assert_eq!(attached.at("/data/attachConfig"), &config);
    let failed = session.fails("unsupported", "restart_debugging", json!({})).await;
    assert!(failed.text_of("error").contains("attach to it again"), "{}", failed.text);
    let detached = session.step("detach_from_process").await;
    assert_eq!(detached["state"], "stopped");
    let runs = session.ok("attach_to_process", json!({ "port": port, "stopOnEntry": false })).await;
    assert_eq!(runs.outcome(), "running", "{}", runs.text);
    session.finish().await;
}

#[tokio::test]
async fn an_attached_program_is_terminated_on_request() {
    let program = Fixture::python("debugpy_port");
    let (mut child, port) = listening(&program).await;
    let session = Debugging::new().await;
    session.ok("attach_to_process", json!({ "port": port })).await;
    let detached = session.ok("detach_from_process", json!({ "terminateProcess": true })).await;
    assert_eq!(detached["message"], "Detached: the program was ended", "{}", detached.text);
    assert!(!child.wait().await.unwrap().success());
    session.finish().await;
}
