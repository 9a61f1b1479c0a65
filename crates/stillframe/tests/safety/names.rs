//! Ways out of the folders that are allowed by names: modules and packages behind links that a repository has.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};
use test_support::{Server, ServerOptions};

use crate::{SECRET, STILLFRAME, Scene, call, serve};

async fn confined(scene: &Scene) -> Server {
    serve(&["--allow-root", &scene.inside("")], &scene.inside).await
}

/// Code outside that leaves a mark when it is run, and links to it from inside.
fn link(scene: &Scene) {
    let mark = scene.outside("ran");
    let python = format!("open({mark:?}, 'w').close()\n");
    let node = format!("require('fs').writeFileSync({mark:?}, '');\n");
    let manifest = r#"{"name": "evil", "version": "1.0.0", "main": "index.js", "bin": {"evil": "index.js"}}"#;
    for (name, text) in [
        ("evil.py", &*python),
        ("conftest.py", &python),
        ("evilpkg/__init__.py", ""),
        ("evilpkg/__main__.py", &python),
        ("packages/evil/index.js", &node),
        ("packages/evil/package.json", manifest),
        ("site/installed.py", &python),
    ] {
        let file = scene.outside.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let linked = |outside: &str, inside: &str| {
        let location = scene.inside.join(inside);
        fs::create_dir_all(location.parent().unwrap()).unwrap();
        symlink(scene.outside.join(outside), location).unwrap();
    };
    linked("", "ld");
    linked("evil.py", "levil.py");
    linked("evilpkg", "levilpkg");
    linked("evil.py", "real/inner.py");
    linked("evil.py", "real/__main__.py");
    linked("evil.py", "lib/below.py");
    linked("conftest.py", "tests/conftest.py");
    linked("packages/evil", "node_modules/evil");
    linked("packages/evil", "node_modules/@scope/evil");
    linked("packages/evil/index.js", "node_modules/whole/lib/index.js");
    linked("packages", "other/node_modules");
    linked("evil.py", "sub/lfar.py");
    fs::write(scene.inside("sub/pytest.ini"), "[pytest]\naddopts = -p lfar\n").unwrap();
    fs::write(scene.inside("sub/test_two.py"), "def test_two():\n    pass\n").unwrap();
    let tool = "#!/usr/bin/env python3\nimport runpy, sys\nsys.path.insert(0, '')\nname = sys.argv[1]\n\
                (runpy.run_path if '/' in name else runpy.run_module)(name)\n";
    fs::create_dir_all(scene.inside(".venv/bin")).unwrap();
    fs::write(scene.inside(".venv/bin/tool"), tool).unwrap();
    fs::set_permissions(scene.inside(".venv/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(scene.inside("real/__init__.py"), "").unwrap();
    fs::write(scene.inside("tests/test_one.py"), "def test_one():\n    assert True\n").unwrap();
    fs::write(scene.inside("node_modules/whole/package.json"), r#"{"main": "./lib/index.js"}"#).unwrap();
    let manifest = r##"{"name": "near", "exports": {"./deep": "./ld/packages/evil/index.js"}, "imports": {"#evil": "./ld/packages/evil/index.js"}}"##;
    fs::write(scene.inside("package.json"), manifest).unwrap();
}

#[tokio::test]
async fn no_program_outside_runs_by_name() {
    let scene = Scene::new();
    link(&scene);
    let near = scene.inside("main.js");
    let location = json!({ "file": scene.inside("main.py"), "line": 2 });
    let script = |command: &str| {
        (
            "debug-script",
            json!({ "command": command, "breakpoint": location, "expression": "1", "timeout": 5000 }),
        )
    };
    let test = |command: &str| ("debug_test", json!({ "command": command, "timeout": 20_000 }));
    let hang = |command: &str| ("diagnose_hang", json!({ "command": command, "timeout": 3000 }));
    let module = |name: &str| {
        (
            "run_until",
            json!({ "module": name, "until": [{ "file": scene.inside("main.py"), "line": 1 }], "timeout": 5000 }),
        )
    };
    let node = |more: Value| {
        let mut arguments = json!({ "program": near, "until": [{ "line": 2 }], "timeout": 5000 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("run_until", arguments)
    };
    let options = |words: &[&str]| node(json!({ "runtimeArgs": words }));
    let calls = [
        script("python3 -m ld.evil"),
        script("python3 -m levil"),
        script("python3 -mlevil main.py"),
        script("python3 -Bmlevil main.py"),
        script("python3 -m levilpkg"),
        script("python3 -m real"),
        script("python3 -m real.inner"),
        script("python3 -m unittest ld.evil"),
        script("python3 -m unittest real.inner.Test.test_one"),
        script("python3 -m cProfile -m levil"),
        script("PYTHONPATH=lib python3 -m below"),
        test("python3 -m unittest ld.evil"),
        test("pytest -p levil main.py"),
        test("python3 -m pytest -pld.evil main.py"),
        test("python3 -m pytest --pyargs ld.evil"),
        test("python3 -m pytest tests/test_one.py"),
        test("PYTEST_PLUGINS=levil python3 -m pytest main.py"),
        test("PYTEST_ADDOPTS='-p ld.evil' python3 -m pytest main.py"),
        hang("python3 -m ld.evil"),
        ("debugger_detect_hang", json!({ "command": "python3 -m levil", "timeout": 3000 })),
        ("debugger_run_test", json!({ "command": "python3 -m unittest ld.evil" })),
        module("ld.evil"),
        module("levil"),
        module("real"),
        options(&["-r", "evil"]),
        options(&["--require=evil"]),
        options(&["-r", "@scope/evil"]),
        options(&["-r", "evil/index.js"]),
        options(&["-r", "whole"]),
        options(&["--import", "evil"]),
        options(&["-r", "#evil"]),
        options(&["-r", "near/deep"]),
        node(json!({ "env": { "NODE_OPTIONS": "--require evil" } })),
        node(json!({ "runtimeArgs": ["-r", "evil"], "cwd": scene.inside("real") })),
        node(json!({ "runtimeArgs": ["-r", "evil"], "cwd": scene.inside("other") })),
        test("node -r evil main.js"),
        test("npx evil"),
        hang(".venv/bin/tool levil"),
        hang(".venv/bin/tool ../outside/evil.py"),
        (
            "debug_test",
            json!({ "command": "python3 -m pytest test_two.py", "cwd": scene.inside("sub"), "timeout": 20_000 }),
        ),
    ];
    let server = confined(&scene).await;
    let mut ways = Vec::new();
    for (tool, arguments) in &calls {
        let answer = call(&server, tool, arguments).await;
        let ran = Path::new(&scene.outside("ran")).exists();
        if ran {
            fs::remove_file(scene.outside("ran")).unwrap();
        }
        let is_refusal = answer.is_error && answer.text.contains("outside the allowed");
        if ran || !is_refusal || answer.text.contains(SECRET) {
            ways.push(format!("{}{tool} {arguments}: {:.300}", if ran { "RAN " } else { "" }, answer.text));
        }
    }
    assert!(ways.is_empty(), "{} of {}:\n{}", ways.len(), calls.len(), ways.join("\n"));
    server.finish().await;
}

/// A virtual environment of the repository, with all that it can have that leads outside.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it makes an environment and ends before anything is debugged")]
async fn no_module_outside_runs_from_an_environment_inside() {
    for kind in ["folder", "module", "path"] {
        let scene = Scene::new();
        link(&scene);
        fs::remove_dir_all(scene.inside(".venv")).unwrap();
        let made = tokio::process::Command::new("python3")
            .args(["-m", "venv", "--without-pip", &scene.inside(".venv")])
            .status()
            .await
            .unwrap();
        assert!(made.success());
        let lib = fs::read_dir(scene.inside(".venv/lib")).unwrap().next().unwrap().unwrap().path();
        let packages = lib.join("site-packages");
        match kind {
            "folder" => {
                fs::remove_dir(&packages).unwrap();
                symlink(scene.outside("site"), packages).unwrap();
            }
            "module" => symlink(scene.outside("site/installed.py"), packages.join("installed.py")).unwrap(),
            _ => fs::write(packages.join("far.pth"), scene.outside("site")).unwrap(),
        }
        // The interpreter of the environment is a link, whose target has to be on the search path.
        let python = fs::canonicalize(scene.inside(".venv/bin/python")).unwrap();
        let path = format!("{}:{}", python.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let options = STILLFRAME.options().await;
        let args =
            ["serve", "--toolset", "all", "--allow-root", &scene.inside("")].map(str::to_owned).to_vec();
        let cwd = Some(scene.inside.clone());
        let mut options = ServerOptions { args, cwd, ..options };
        options.env.push(("PATH".to_owned(), path));
        let server = options.start().await;
        let until = json!([{ "file": scene.inside("main.py"), "line": 1 }]);
        let answer =
            call(&server, "run_until", &json!({ "module": "installed", "until": until, "timeout": 5000 }))
                .await;
        assert!(answer.is_error && answer.text.contains("outside the allowed"), "{kind}: {}", answer.text);
        assert!(!Path::new(&scene.outside("ran")).exists(), "{kind}");
        server.finish().await;
    }
}

/// Links that stay inside, and what is installed with an interpreter.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn program_names_inside_still_run() {
    let scene = Scene::new();
    fs::create_dir_all(scene.inside("node_modules/.store/near")).unwrap();
    fs::write(scene.inside("node_modules/.store/near/index.js"), "").unwrap();
    symlink(".store/near", scene.inside("node_modules/near")).unwrap();
    symlink("main.py", scene.inside("again.py")).unwrap();
    fs::write(scene.inside("test_one.py"), "import unittest\n\n\nclass Test(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n")
        .unwrap();
    let (py, js) = (scene.inside("main.py"), scene.inside("main.js"));
    let again = scene.inside("again.py");
    let calls = [
        ("run_until", json!({ "module": "main", "until": [{ "file": py, "line": 2 }], "timeout": 60_000 })),
        (
            "run_until",
            json!({ "module": "again", "until": [{ "file": again, "line": 2 }], "timeout": 60_000 }),
        ),
        ("debug_test", json!({ "command": "python3 -m unittest test_one", "timeout": 60_000 })),
        ("debug_test", json!({ "command": "python3 -m unittest test_one.Test.test_one", "timeout": 60_000 })),
        (
            "run_until",
            json!({ "program": js, "runtimeArgs": ["-r", "near", "-r", "fs"], "until": [{ "line": 2 }], "timeout": 60_000 }),
        ),
        ("diagnose_hang", json!({ "command": "python3 -m timeit -n 1 -r 1 pass", "timeout": 60_000 })),
    ];
    let server = confined(&scene).await;
    for (tool, arguments) in &calls {
        let answer = call(&server, tool, arguments).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
    }
    server.finish().await;
}
