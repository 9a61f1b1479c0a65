//! Files of a repository that are named as modules of the debuggers' own libraries: none of them runs.

use std::fs;

use serde_json::json;

use crate::{Scene, call, serve};

/// Modules that LLDB's scripts or our own import, and one that Python imports by itself.
const MODULES: [&str; 7] = ["uuid", "json", "traceback", "lldb", "tokenize", "re", "sitecustomize"];

#[tokio::test]
async fn no_module_beside_a_program_is_taken_for_the_debuggers_own() {
    let scene = Scene::new();
    let mark = scene.outside("ran");
    for module in MODULES {
        fs::write(scene.inside(&format!("{module}.py")), format!("open({mark:?}, 'w').close()\n")).unwrap();
    }
    fs::write(scene.inside("sum.c"), "int main(void) {\n    int sum = 5;\n    return sum - 5;\n}\n").unwrap();
    let server = serve(&[], &scene.inside).await;

    let native = json!({ "program": scene.inside("sum.c"), "until": [{ "line": 3 }] });
    let stop = call(&server, "run_until", &native).await;
    assert!(stop.text.contains("sum = 5"), "{}", stop.text);

    let session = server.ok("create_debug_session", json!({ "language": "python" })).await;
    let location = json!({ "sessionId": session["sessionId"], "file": scene.inside("main.py"), "line": 2 });
    server.ok("set_breakpoint", location).await;

    assert!(!scene.outside.join("ran").exists(), "none of them ran");
    server.finish().await;
}
