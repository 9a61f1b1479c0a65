//! Ways out of the folders that are allowed: commands, options, variables, processes and maps.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Server};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::{SECRET, STILLFRAME, Scene, call, serve, stopped_at};

async fn confined(scene: &Scene) -> Server {
    serve(&["--allow-root", &scene.inside("")], &scene.inside).await
}

/// Programs outside that leave a mark when they are run, by every name that an option could have for them.
fn leave_marks(scene: &Scene) {
    let mark = scene.outside("ran");
    let node = format!("require('fs').writeFileSync({mark:?}, '');\n");
    let module = format!("import {{ writeFileSync }} from 'node:fs'; writeFileSync({mark:?}, '');\n");
    let python = format!("open({mark:?}, 'w').close()\n");
    for (name, text) in [
        ("main.js", &node),
        ("esm.mjs", &module),
        ("main.py", &python),
        ("sitecustomize.py", &python),
        ("conftest.py", &python),
    ] {
        std::fs::write(scene.outside(name), text).unwrap();
    }
}

#[tokio::test]
async fn no_program_outside_runs_by_any_path() {
    let scene = Scene::new();
    leave_marks(&scene);
    let out = scene.outside("");
    let out = out.trim_end_matches('/');
    let (near_js, near_py) = (scene.inside("main.js"), scene.inside("main.py"));
    let location = json!({ "file": near_js, "line": 2 });
    let script = |command: &str| {
        (
            "debug-script",
            json!({ "command": command, "breakpoint": location, "expression": "1", "timeout": 5000 }),
        )
    };
    let test = |command: &str| ("debug_test", json!({ "command": command }));
    let hang = |command: &str| ("diagnose_hang", json!({ "command": command, "timeout": 3000 }));
    let node = |options: Value| {
        (
            "run_until",
            json!({ "program": near_js, "until": [{ "line": 2 }], "runtimeArgs": options, "timeout": 5000 }),
        )
    };
    let with = |program: &str, name: &str, value: &str| {
        (
            "run_until",
            json!({ "program": program, "until": [{ "line": 2 }], "env": { name: value }, "timeout": 5000 }),
        )
    };
    let calls = [
        script("cat ../out\"\"side/main.py"),
        script("node ../out*/main.js"),
        script("node ../outside/main"),
        script("node $PWD/../outside/main"),
        script("bash -c 'node ../outside/main'"),
        script("node main.js; node ../outside/main.js"),
        script("NODE_OPTIONS='-r ../outside/main' node main.js"),
        test("bash -c 'node ../out*/main'"),
        test("env sh -ec 'python ../out*/main.py'"),
        test("node -r ../outside/main main.js"),
        test("PYTHONPATH=../outside python -m pytest main.py"),
        test(&format!("python -m pytest -c{out}/pytest.ini main.py")),
        test("python -m pytest --confcutdir ../outside main.py"),
        hang("bash -c 'node ../outside/main'"),
        hang("node ../outside/main"),
        hang(&format!("env PYTHONPATH={out} python main.py")),
        node(json!(["--require", format!("{out}/main")])),
        node(json!([format!("--require={out}/main")])),
        node(json!(["--require", "../outside/main"])),
        node(json!(["--import", format!("file:{out}/esm.mjs")])),
        node(json!(["--import", format!("FILE://{out}/esm.mjs")])),
        node(json!(["--import", format!("file://localhost{out}/esm.mjs")])),
        node(json!(["--import", format!("file://{out}/%65sm.mjs?again")])),
        with(&near_js, "NODE_OPTIONS", &format!("--require {out}/main.js")),
        with(&near_js, "NODE_OPTIONS", "--require=../outside/main"),
        with(&near_py, "PYTHONPATH", out),
        with(&near_py, "PYTHONPATH", &format!("{}:{out}", scene.inside("lib"))),
        with(&near_py, "PATH", out),
        with(&near_py, "HOME", out),
        with(&near_py, "PYENV_ROOT", out),
        with(&near_py, "PYDEVD_DEBUG_FILE", &format!("{out}/log")),
        with(&near_py, "DEBUGPY_LOG_DIR", out),
        with(&near_js, "XDG_CONFIG_HOME", "../outside"),
        with(&near_js, "TSX_TSCONFIG_PATH", &format!("{out}/tsconfig.json")),
        with(&near_js, "GCONV_PATH", out),
        with(&near_js, "OPENSSL_CONF", &format!("{out}/openssl.cnf")),
        with(&near_js, "OPENSSL_MODULES", out),
        with(&near_js, "OPENSSL_ENGINES", out),
        hang("env HOME=../outside python main.py"),
    ];
    let server = confined(&scene).await;
    for (tool, arguments) in &calls {
        let answer = call(&server, tool, arguments).await;
        assert!(answer.is_error, "{tool} {arguments}: {}", answer.text);
        // One tool has no error codes.
        let reasons = [
            "outside the allowed",
            "shell",
            "not_allowed",
            "invalid_arguments",
            "cannot tell which language",
            "not run Node.js",
        ];
        let is_refusal = reasons.iter().any(|reason| answer.text.contains(reason));
        assert!(is_refusal && !answer.text.contains(SECRET), "{tool} {arguments}: {}", answer.text);
        assert!(!Path::new(&scene.outside("ran")).exists(), "{tool} {arguments}");
    }
    server.finish().await;
}

/// What people do every day.
#[tokio::test]
async fn programs_inside_still_run() {
    let scene = Scene::new();
    let (near_js, near_py) = (scene.inside("main.js"), scene.inside("main.py"));
    std::fs::create_dir(scene.inside("lib")).unwrap();
    let home = scene.inside("lib");
    let run = |program: &str, more: Value| {
        let mut arguments = json!({ "program": program, "until": [{ "line": 2 }], "timeout": 60_000 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("run_until", arguments)
    };
    let script = json!({
        "command": "A=1 node --inspect-brk ./main.js 'a b'",
        "breakpoint": { "file": near_js, "line": 2 }, "expression": "word", "timeout": 60_000,
    });
    let path = format!("{}:{}", scene.inside("lib"), std::env::var("PATH").unwrap());
    let calls = [
        ("debug-script", script),
        ("debug_test", json!({ "command": "node --test main.js", "timeout": 60_000 })),
        run(&near_js, json!({ "runtimeArgs": ["--require", "./main"] })),
        run(&near_js, json!({ "env": { "NODE_OPTIONS": "--enable-source-maps", "PATH": path } })),
        run(&near_py, json!({ "env": { "PYTHONPATH": "lib:.", "DATA": "/etc" } })),
        run(&near_py, json!({ "env": { "HOME": home, "XDG_CACHE_HOME": "lib", "PYDEVD_USE_CYTHON": "NO" } })),
    ];
    let server = confined(&scene).await;
    for (tool, arguments) in &calls {
        let answer = call(&server, tool, arguments).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
    }
    server.finish().await;
}

/// A program that was started elsewhere, and the port that it prints first.
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with the test")]
async fn started(words: &[&str], cwd: &Path, path: &Path) -> (Child, u16) {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(cwd).env("PYTHONPATH", path).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    loop {
        let line = lines.next_line().await.expect("it writes").expect("it tells its port");
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()?.parse().ok());
        if let Some(port) = port {
            return (child, port);
        }
    }
}

const LISTENS: &str = r#"
import debugpy, sys, time
print("127.0.0.1:%d" % debugpy.listen(("127.0.0.1", 0))[1], file=sys.stderr, flush=True)
while True:
    time.sleep(0.05)
"#;

/// By port and by number: the program decides, not who holds the port or what else is on its command line.
#[tokio::test]
async fn processes_of_programs_outside_are_not_attached_to() {
    let scene = Scene::new();
    let debugpy = STILLFRAME.debugpy().await;
    for folder in [&scene.inside, &scene.outside] {
        std::fs::write(folder.join("waits.js"), "setInterval(() => {}, 1000);\n").unwrap();
        std::fs::write(folder.join("waits.py"), LISTENS).unwrap();
    }
    let server = confined(&scene).await;
    let (near, far) = (scene.inside("main.js"), scene.outside("waits.js"));
    let table: [(&str, &[&str], bool); 6] = [
        ("javascript", &["node", "--inspect=127.0.0.1:0", "waits.js"], true),
        ("javascript", &["node", "--inspect=127.0.0.1:0", &far], false),
        ("javascript", &["node", "--inspect=127.0.0.1:0", "-r", &near, "../outside/waits"], false),
        ("python", &["python3", "-Xfrozen_modules=off", "waits.py"], true),
        ("python", &["python3", "-W", "ignore", "../outside/waits.py"], false),
        ("python", &["python3", "-m", "waits"], true),
    ];
    for (language, words, is_allowed) in table {
        let (child, port) = started(words, &scene.inside, &debugpy).await;
        let by_port = json!({ "language": language, "port": port });
        let attached = server.call("create_debug_session", by_port).await;
        assert_eq!(attached["code"] != "not_allowed", is_allowed, "{words:?}: {}", attached.text);
        assert_eq!(!attached.is_error, is_allowed, "{words:?}: {}", attached.text);
        if is_allowed {
            server.ok("close_debug_session", json!({ "sessionId": attached["sessionId"] })).await;
        } else {
            let session = server.ok("create_debug_session", json!({ "language": language })).await;
            let by_pid = json!({ "sessionId": session["sessionId"], "processId": child.id() });
            server.fails("not_allowed", "attach_to_process", by_pid).await;
        }
        drop(child);
    }
    server.finish().await;
}

/// A map of `names` that leads from one place of a script to one of a source: line 1, columns 0 to line `to`.
fn map(source: &str, content: Option<&str>, to: u32) -> String {
    // A segment of four numbers, each in base 64: column 0, source 0, so many lines further, column 0.
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let line = char::from(digits[usize::try_from(to * 2).unwrap()]);
    let mappings = format!("AA{line}A");
    json!({ "version": 3, "sources": [source], "sourcesContent": [content], "names": [], "mappings": mappings })
        .to_string()
}

#[tokio::test]
async fn sources_and_maps_outside_are_not_shown_through_a_map() {
    let scene = Scene::new();
    let journal = scene.inside("journal.log");
    let fails = "require('node:assert').equal(1, 2);\n//# sourceMappingURL=fails.js.map\n";
    std::fs::write(scene.inside("fails.js"), fails).unwrap();
    std::fs::write(scene.inside("fails.js.map"), map("../outside/source.js", None, 0)).unwrap();
    std::fs::write(scene.outside("source.js"), format!("assert.equal('{SECRET}', 1);\n")).unwrap();

    std::fs::write(scene.inside("linked.js"), "debugger;\n//# sourceMappingURL=linked.js.map\n").unwrap();
    let content = format!("const x = '{SECRET}';\n");
    std::fs::write(scene.outside("far.map"), map("source.ts", Some(&content), 0)).unwrap();
    std::os::unix::fs::symlink(scene.outside("far.map"), scene.inside("linked.js.map")).unwrap();
    std::fs::write(scene.inside("named.js"), "debugger;\n//# sourceMappingURL=../outside/far.map\n").unwrap();

    let options = ["--allow-root", &scene.inside(""), "--log-file", &journal];
    let server = serve(&options, &scene.inside).await;
    let answer = call(&server, "debug_test", &json!({ "command": "node fails.js", "timeout": 60_000 })).await;
    assert!(!answer.is_error && !answer.text.contains(SECRET), "{}", answer.text);
    for name in ["fails.js", "linked.js", "named.js"] {
        let program = scene.inside(name);
        let session = stopped_at(&server, Language::Node, &program, 1).await;
        for tool in ["get_stack_trace", "get_source_context"] {
            let arguments = json!({ "sessionId": session, "file": program, "line": 1 });
            let answer = call(&server, tool, &arguments).await;
            assert!(!answer.text.contains(SECRET), "{name}: {tool}: {}", answer.text);
        }
        let stack = server.ok("get_stack_trace", json!({ "sessionId": session })).await;
        let file = stack.at("/stackFrames/0/file").as_str().unwrap_or_default().to_owned();
        let line = stack.at("/stackFrames/0/line").clone();
        let answer =
            call(&server, "get_source_context", &json!({ "sessionId": session, "file": file, "line": line }))
                .await;
        assert!(!answer.text.contains(SECRET), "{name}: {file}: {}", answer.text);
    }
    server.finish().await;
    let written = std::fs::read_to_string(&journal).unwrap();
    assert!(written.contains("linked.js") && !written.contains(SECRET), "the journal tells of it");
}
