//! The page of the web viewer in a browser, at a stop. With `STILLFRAME_PICTURE` set, the test also takes the picture of
//! the README from it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{browser, repository, toolchains};

use crate::STILLFRAME;
use crate::lines::JournalFolder;
use crate::web::Page;

/// Asks for the picture.
const PICTURE: &str = "STILLFRAME_PICTURE";
/// What a page shows once its state has a text.
#[expect(
    clippy::disallowed_methods,
    reason = "a browser, which ends with its script, and with the test at the latest"
)]
async fn shown(address: &str, state: &str, picture: Option<&Path>) -> Value {
    let modules = toolchains().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journal/page.mjs");
    let mut command = tokio::process::Command::new(modules.join("node22/bin/node"));
    command.arg(script).arg(&modules).arg(browser()).args([address, state]).args(picture);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {problem}"))
}

/// The folder of the program, which the picture shows. It goes when this is dropped.
struct Shop {
    folder: PathBuf,
    _parent: Option<tempfile::TempDir>,
}

impl Shop {
    fn new() -> Self {
        let is_pictured = std::env::var_os(PICTURE).is_some();
        let parent = (!is_pictured).then(|| tempfile::tempdir_in(STILLFRAME.scratch).unwrap());
        let folder = parent.as_ref().map_or_else(std::env::temp_dir, |parent| parent.path().to_owned());
        let folder = folder.join("shop");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(repository().join("examples/basket.py"), folder.join("basket.py")).unwrap();
        Self { folder, _parent: parent }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        // What is left of it is in a temporary folder.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test]
async fn the_page_shows_a_stop() {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let shop = Shop::new();
    let program = shop.folder.join("basket.py");
    let created = server.ok("create_debug_session", json!({ "language": "python", "name": "basket" })).await;
    let id = created["sessionId"].clone();
    let place = json!({
        "sessionId": id, "file": program, "statement": "total = basket.total()", "condition": "basket.owner == 'Bob'",
    });
    server.ok("set_breakpoint", place).await;
    server.ok("start_debugging", json!({ "sessionId": id, "scriptPath": program })).await;
    server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "basket.items" })).await;
    server.ok("step_into", json!({ "sessionId": id })).await;
    server.ok("get_local_variables", json!({ "sessionId": id })).await;

    let mut page = Page::open(&journal).await;
    let picture = std::env::var_os(PICTURE).map(|_| repository().join("docs/viewer.png"));
    let shown = shown(&page.address(), "step", picture.as_deref()).await;
    let text = |name: &str| shown[name].as_str().unwrap().to_owned();
    assert_eq!(shown["problems"], json!([]));
    let state = text("state");
    assert!(state.contains("paused") && state.contains("basket.py:17") && state.contains("total"), "{state}");
    assert!(text("current").contains("cents = sum(price for _, price in self.items)"), "{}", text("current"));
    assert!(text("source").contains("def receipt(basket):"), "{}", text("source"));
    assert!(text("sourceTitle").ends_with("shop/basket.py:17"), "{}", text("sourceTitle"));
    assert!(
        text("variables").contains("self") && text("variables").contains("Basket"),
        "{}",
        text("variables")
    );
    let stack = text("stack");
    let order = ["total", "receipt", "main", "<module>"].map(|frame| stack.find(frame));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{stack}");
    assert!(text("output").contains("Ann pays 19.49"), "{}", text("output"));
    let timeline = text("timeline");
    for call in ["create_debug_session", "set_breakpoint", "evaluate_expression basket.items", "step_into"] {
        assert!(timeline.contains(call), "{call}: {timeline}");
    }
    assert!(
        text("sessions").contains("basket") && text("sessions").contains("paused"),
        "{}",
        text("sessions")
    );
    assert!(!text("address").contains("token"), "the token leaves the address: {}", text("address"));
    server.finish().await;
    page.end().await;
}
