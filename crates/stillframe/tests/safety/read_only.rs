//! Programs whose values have side effects when read, inspected by a read-only server.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

use crate::{STILLFRAME, Scene, call, serve, stopped_at};

const PYTHON: &str = r#"
record = []

class Meta(type):
    def __getattr__(cls, name): record.append("meta"); return 1
    def __instancecheck__(cls, value): record.append("instancecheck"); return True
    def __eq__(cls, other): record.append("meta eq"); return True
    def __hash__(cls): record.append("meta hash"); return 1

class Hostile(metaclass=Meta):
    @property
    def trap(self): record.append("property"); return 1
    def __getattr__(self, name): record.append("getattr"); return 1
    def __eq__(self, other): record.append("eq"); return True
    def __hash__(self): return 1
    def __len__(self): record.append("len"); return 1
    def __bool__(self): record.append("bool"); return True
    def __iter__(self): record.append("iter"); return iter(())
    def __contains__(self, item): record.append("contains"); return True
    def __getitem__(self, item): record.append("getitem"); return 1
    def __add__(self, other): record.append("add"); return 1
    def __repr__(self): record.append("repr"); return "hostile"
    def __str__(self): record.append("str"); return "hostile"
    def __format__(self, spec): record.append("format"); return "hostile"
    def __index__(self): record.append("index"); return 0
    def __class_getitem__(cls, item): record.append("class getitem"); return 1
    def __call__(self): record.append("call"); return 1
    @property
    def __class__(self): record.append("class"); return int
    @property
    def __dict__(self): record.append("dict"); return {}

class Failing(Exception):
    def __str__(self): record.append("error str"); return "no"
    @property
    def args(self): record.append("args"); return ()

def numbers():
    record.append("generator")
    yield 1

def work():
    hostile, error, listed = Hostile(), Failing("text"), [1, Hostile()]
    named, numbered = {"a": 1, Hostile(): 2}, numbers()
    del record[:]
    return hostile
work()
"#;

const NODE: &str = r#"
globalThis.record = [];
const note = (name) => { record.push(name); return 1; };
class Hostile {
  get trap() { return note("getter"); }
  toString() { note("toString"); return "hostile"; }
  valueOf() { return note("valueOf"); }
  toJSON() { return note("toJSON"); }
  [Symbol.toPrimitive]() { return note("toPrimitive"); }
  get [Symbol.toStringTag]() { note("tag"); return "x"; }
  *[Symbol.iterator]() { note("iterator"); }
  [Symbol.for("nodejs.util.inspect.custom")]() { note("inspect"); return "x"; }
}
const traps = new Proxy({}, { get() { return () => note("trap"); } });
const proxied = new Proxy({ a: 1 }, traps);
function* numbers() { note("generator"); yield 1; }
class Failing extends Error { get cause() { note("cause"); return "no"; } }
function work() {
  const hostile = new Hostile(), numbered = numbers(), error = new Failing();
  record.length = 0;
  return hostile;
}
work();
"#;

async fn nothing_runs(language: Language, expressions: &[&str], text: &str, marker: &str) {
    let scene = Scene::new();
    let program = scene.program(language, "hostile", text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let line = text.lines().position(|line| line.contains(marker)).unwrap() + 1;
    let id = stopped_at(&server, language, &program, u32::try_from(line).unwrap()).await;
    let locals = server.ok("get_local_variables", json!({ "sessionId": id })).await;
    for variable in locals.at("/variables").as_array().cloned().unwrap_or_default() {
        if let Some(reference) = variable["variablesReference"].as_u64().filter(|reference| *reference > 0) {
            server.call("get_variables", json!({ "sessionId": id, "scope": reference })).await;
            server
                .call(
                    "debugger_inspect_object",
                    json!({ "sessionId": id, "objectId": reference.to_string(), "maxDepth": 3 }),
                )
                .await;
        }
    }
    let mut refused = 0;
    for expression in expressions {
        let arguments = json!({ "sessionId": id, "expression": expression });
        let answer = server.call("evaluate_expression", arguments.clone()).await;
        refused += u32::from(answer.is_error);
        server.call("debugger_inspect", arguments.clone()).await;
        server.call("debugger_add_watch", arguments).await;
    }
    server.call("debugger_get_watches", json!({ "sessionId": id })).await;
    server
        .fails(
            "not_allowed",
            "set_variable",
            json!({ "sessionId": id, "scope": 1, "name": "hostile", "value": "1" }),
        )
        .await;
    let record = language.pick("len(record)", "record.length");
    let left = server.ok("evaluate_expression", json!({ "sessionId": id, "expression": record })).await;
    let what = server.call("evaluate_expression", json!({ "sessionId": id, "expression": "record" })).await;
    assert_eq!(left["result"], "0", "{}", what.text);
    println!("{}: {refused} of {} expressions refused, no effect of any", language.name(), expressions.len());
    server.finish().await;
}

#[tokio::test]
async fn no_code_of_a_hostile_python_program_runs() {
    let expressions = [
        "hostile",
        "hostile.trap",
        "hostile.missing",
        "hostile == 1",
        "1 == hostile",
        "hostile in [1]",
        "1 in listed",
        "hostile in listed",
        "len(hostile)",
        "bool(hostile)",
        "not hostile",
        "hostile and 1",
        "hostile[0]",
        "Hostile[0]",
        "Hostile.x",
        "isinstance(1, Hostile)",
        "isinstance(hostile, int)",
        "hostile + 1",
        "1 + hostile",
        "f'{hostile}'",
        "'%s' % hostile",
        "repr(hostile)",
        "str(hostile)",
        "named['a']",
        "named[hostile]",
        "named == {}",
        "listed == listed",
        "list(numbered)",
        "next(numbered)",
        "[x for x in hostile]",
        "hostile()",
        "hostile.__class__",
        "hostile.__dict__",
        "type(hostile)",
        "type(hostile) == Hostile",
        "error",
        "error.args",
        "str(error)",
        "record.append(1)",
        "(x := 1)",
        "lambda: 1",
        "__import__('os')",
        "exec('1')",
        "[1, 2][hostile]",
        "{hostile}",
        "{hostile: 1}",
        "*listed",
        "max(hostile, 1)",
        "2 ** 10 ** 10",
        "'a' * 10 ** 12",
        "record.__iadd__([1])",
        "1 if hostile else 2",
        "await numbered",
        "(yield)",
        "del record",
        "record = 3",
    ];
    nothing_runs(Language::Python, &expressions, PYTHON, "    return hostile").await;
}

#[tokio::test]
async fn no_code_of_a_hostile_node_program_runs() {
    let expressions = [
        "hostile",
        "hostile.trap",
        "`${hostile}`",
        "hostile + 1",
        "String(hostile)",
        "JSON.stringify(hostile)",
        "[...hostile]",
        "proxied",
        "proxied.a",
        "'a' in proxied",
        "Object.keys(proxied)",
        "numbered.next()",
        "record.push(1)",
        "record = 1",
        "globalThis.x = 1",
        "delete globalThis.record",
        "new Hostile()",
        "eval('record.push(1)')",
        "Function('record.push(1)')()",
        "hostile == 1",
        "error",
        "error.cause",
        "import('node:fs')",
        "require('node:fs')",
        "(() => record.push(1))()",
        "record.length = 1",
        "Promise.resolve().then(() => record.push(1))",
        "setTimeout(() => record.push(1), 0)",
    ];
    nothing_runs(Language::Node, &expressions, NODE, "  return hostile").await;
}

/// What stops, where, and whether it is caught, in each mode. Modules that load when they are used are not loaded.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn read_only_does_not_change_whether_an_exception_is_caught() {
    const TEXT: &str = r#"
import json, sys, types
asked = []
class Lazy(types.ModuleType):
    __getattr__ = asked.append
class Own:
    class Failing(Exception): pass
def caught():
    sys.modules["lazy"] = Lazy("lazy")
    try:
        json.loads('{"a": 1}', object_hook=lambda read: read["b"])
    except KeyError:
        pass
caught()
try:
    json.loads('x')
except ValueError:
    pass
try:
    raise Own.Failing()
except Own.Failing:
    pass
raise OSError(asked) if asked else ValueError('left')
"#;
    let scene = Scene::new();
    let program = scene.program(Language::Python, "raises", TEXT);
    let mut reported = Vec::new();
    for options in [&["--read-only", "--allow-program", &program][..], &[]] {
        let server = serve(options, &scene.inside).await;
        let mut stops = Vec::new();
        for mode in ["all", "userUnhandled", "uncaught"] {
            let session = server.ok("create_debug_session", json!({ "language": "python" })).await;
            let id = session.text_of("sessionId").to_owned();
            server.ok("set_exception_breakpoints", json!({ "sessionId": id, "mode": mode })).await;
            let start = json!({ "sessionId": id, "scriptPath": program });
            let mut report = server.ok("start_debugging", start).await;
            while report["reason"] == "exception" {
                let exception = report.at("/exception").clone();
                let (kind, uncaught) = (&exception["type"], &exception["uncaught"]);
                stops.push(json!([mode, report.at("/location/line"), kind, uncaught]));
                report = server.ok("continue_execution", json!({ "sessionId": id })).await;
            }
        }
        server.finish().await;
        reported.push(stops);
    }
    assert_eq!(reported[0], reported[1]);
    let has = |mode: &str, kind: &str, uncaught: bool| {
        reported[0].iter().any(|stop| stop[0] == mode && stop[2] == kind && stop[3] == uncaught)
    };
    assert!(has("all", "KeyError", false) && has("all", "ValueError", true), "{:?}", reported[0]);
    assert!(has("uncaught", "ValueError", true), "{:?}", reported[0]);
}

/// What stops at a throw asks the exception nothing.
#[tokio::test]
async fn an_exception_is_reported_without_running_its_str() {
    let scene = Scene::new();
    let text = "record = []\nclass Failing(Exception):\n    def __str__(self):\n        record.append(1)\n        return 'no'\ndef work():\n    raise Failing('text')\nwork()\n";
    let program = scene.program(Language::Python, "raises", text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let session = server.ok("create_debug_session", json!({ "language": "python" })).await;
    let id = session.text_of("sessionId");
    server.ok("set_exception_breakpoints", json!({ "sessionId": id, "mode": "all" })).await;
    let stopped = server.ok("start_debugging", json!({ "sessionId": id, "scriptPath": program })).await;
    assert_eq!(stopped["reason"], "exception", "{}", stopped.text);
    assert_eq!(stopped.at("/exception/message"), "text", "{}", stopped.text);
    let left =
        server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "len(record)" })).await;
    assert_eq!(left["result"], "0");
    server.finish().await;
}

#[tokio::test]
async fn a_read_only_server_starts_allowed_programs_unchanged() {
    let scene = Scene::new();
    let program = scene.inside("main.py");
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let table = [
        (json!({ "program": program, "language": "python", "until": [{ "line": 2 }] }), true),
        (
            json!({ "program": scene.outside("main.py"), "language": "python", "until": [{ "line": 2 }] }),
            false,
        ),
        (
            json!({ "program": program, "language": "python", "until": [{ "line": 2 }], "runtimeArgs": ["-i"] }),
            false,
        ),
        (
            json!({ "program": program, "language": "python", "until": [{ "line": 2 }], "env": { "PYTHONSTARTUP": "x" } }),
            false,
        ),
        (json!({ "module": "http.server", "language": "python", "until": [{ "function": "test" }] }), false),
    ];
    for (arguments, allowed) in table {
        let answer = server.call("run_until", arguments.clone()).await;
        assert_eq!(!answer.is_error, allowed, "{arguments}: {}", answer.text);
        assert!(allowed || answer["code"] == "not_allowed", "{arguments}: {}", answer.text);
    }
    for tool in ["debug_test", "diagnose_hang", "debug-script"] {
        let answer = call(&server, tool, &json!({ "command": "npm test", "timeout": 1000, "breakpoint": { "file": "a.js", "line": 1 }, "expression": "1" })).await;
        assert!(answer.is_error, "{tool}: {}", answer.text);
    }
    server.finish().await;
}

/// Marks the folder that it is in, and does what an interpreter would.
fn interpreter(language: Language, path: &Path, mark: &Path) {
    let real = language.pick("python3", "node");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!("#!/bin/sh\necho ran >> '{}'\nexec {real} \"$@\"\n", mark.display());
    std::fs::write(path, text).unwrap();
    let mut mode = std::fs::metadata(path).unwrap().permissions();
    mode.set_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
}

/// The interpreter that a repository brings with it is the repository's code.
#[tokio::test]
async fn no_code_of_a_repository_runs_before_its_program() {
    let scene = Scene::new();
    let mark = scene.inside.join("mark");
    interpreter(Language::Python, &scene.inside.join(".venv/bin/python"), &mark);
    interpreter(Language::Node, &scene.inside.join("node_modules/.bin/node"), &mark);
    for options in [&["--read-only"][..], &[]] {
        let server = serve(options, &scene.inside).await;
        server.ok("list_supported_languages", json!({})).await;
        for language in [Language::Python, Language::Node] {
            let session = server.ok("create_debug_session", json!({ "language": language.name() })).await;
            let id = session.text_of("sessionId").to_owned();
            let file = scene.inside(&language.file("main"));
            let location = json!({ "sessionId": id, "file": file, "line": 1 });
            server.ok("get_source_context", location.clone()).await;
            server.ok("set_breakpoint", location).await;
            assert!(!mark.exists(), "{options:?} {}", language.name());
        }
        server.finish().await;
    }
    let mut doctor = STILLFRAME.command();
    doctor.args(["doctor", "--json"]).current_dir(&scene.inside);
    let reported = doctor.output().await.unwrap();
    assert!(!mark.exists(), "{}", String::from_utf8_lossy(&reported.stdout));
    let server = serve(&[], &scene.inside).await;
    let program = scene.inside("main.py");
    server
        .ok("run_until", json!({ "program": program, "language": "python", "until": [{ "line": 2 }] }))
        .await;
    assert!(mark.exists(), "its own program runs with its own interpreter");
    server.finish().await;
}

/// With `--read-only`, an interpreter of the caller's choice is not asked who it is, either.
#[tokio::test]
async fn a_given_interpreter_does_not_run_before_it_is_allowed() {
    let scene = Scene::new();
    let (mark, own) = (scene.inside.join("mark"), scene.inside.join("python3"));
    interpreter(Language::Python, &own, &mark);
    let own = own.display().to_string();
    for (allowed, runs) in [(None, false), (Some(&own), true)] {
        let mut options = vec!["--read-only"];
        options.extend(allowed.iter().flat_map(|own| ["--allow-program", own.as_str()]));
        let server = serve(&options, &scene.inside).await;
        let arguments = json!({ "language": "python", "executablePath": own });
        let session = server.ok("create_debug_session", arguments).await;
        let id = session.text_of("sessionId");
        server
            .call("set_breakpoint", json!({ "sessionId": id, "file": scene.inside("main.py"), "line": 1 }))
            .await;
        assert_eq!(mark.exists(), runs, "{allowed:?}");
        server.finish().await;
    }
}

/// A link in a virtual environment does not lead out of what is allowed; the interpreter of the system does not
/// count as out of it.
#[tokio::test]
async fn the_link_of_an_environment_must_lead_to_an_allowed_interpreter() {
    let scene = Scene::new();
    let mark = scene.outside.join("mark");
    let elsewhere = scene.outside.join("bin/python3");
    interpreter(Language::Python, &elsewhere, &mark);
    let link = scene.inside.join(".venv/bin/python");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    let root = scene.inside.display().to_string();
    let server = serve(&["--allow-root", &root], &scene.inside).await;
    let run = json!({ "program": scene.inside("main.py"), "language": "python", "until": [{ "line": 2 }] });
    let stopped = server.ok("run_until", run.clone()).await;
    assert_eq!(stopped["reason"], "breakpoint", "{}", stopped.text);
    assert!(!mark.exists(), "{}", stopped.text);
    let plan = json!({ "language": "python" });
    let session = server.ok("create_debug_session", plan).await;
    let arguments = json!({ "sessionId": session.text_of("sessionId"), "scriptPath": scene.inside("main.py"), "dryRunSpawn": true });
    let reported = server.ok("start_debugging", arguments).await;
    let why = "is outside the allowed folders";
    assert!(reported.text.contains(why) || reported.at("").to_string().contains(why), "{}", reported.text);
    assert!(!mark.exists());
    server.finish().await;
}

#[tokio::test]
async fn statements_are_refused_and_distinguished_from_syntax_errors() {
    let scene = Scene::new();
    let program = scene.program(Language::Python, "plain", "x = 1\nprint(x)\n");
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let id = stopped_at(&server, Language::Python, &program, 2).await;
    for (text, code, why) in [
        ("x = 2", "refused", "it is a statement, which may have side effects"),
        ("import os", "refused", "it is a statement, which may have side effects"),
        ("x +", "evaluation_failed", "invalid syntax"),
    ] {
        let arguments = json!({ "sessionId": id, "expression": text });
        let failed = server.fails(code, "evaluate_expression", arguments).await;
        assert!(failed.text.contains(why), "{}", failed.text);
        assert_ne!(failed["message"], json!(""), "{}", failed.text);
    }
    server.finish().await;
}

/// What is allowed to be seen of values is not a way to run their getters.
#[tokio::test]
async fn a_getter_runs_if_it_has_no_side_effects() {
    let scene = Scene::new();
    let mark = scene.inside.join("mark");
    let text = format!(
        "const fs = require('fs');\nconst kept = {{ get sum() {{ return 1 + 1; }}, get marks() {{ fs.writeFileSync('{}', ''); return 1; }} }};\nconsole.log(kept);\n",
        mark.display()
    );
    let program = scene.program(Language::Node, "getters", &text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let id = stopped_at(&server, Language::Node, &program, 3).await;
    let open = async |reference: &Value| {
        server.call("get_variables", json!({ "sessionId": id, "scope": reference })).await
    };
    let member = |variables: &Value, name: &str| {
        let found = variables.as_array().unwrap().iter().find(|variable| variable["name"] == name);
        found.unwrap()["variablesReference"].clone()
    };
    let locals = server.ok("get_local_variables", json!({ "sessionId": id })).await;
    let members = open(&member(locals.at("/variables"), "kept")).await;
    let sum = open(&member(members.at("/variables"), "sum")).await;
    assert_eq!(sum.at("/variables/0/value"), "2", "{}", sum.text);
    let marks = member(members.at("/variables"), "marks");
    let refused = open(&marks).await;
    assert!(refused.is_error && refused.text.contains("it did not run"), "{}", refused.text);
    let inspect = json!({ "sessionId": id, "objectId": marks.to_string() });
    server.call("debugger_inspect_object", inspect).await;
    assert!(!mark.exists());
    server.finish().await;
}

/// What a program has put in place of the language's own is not asked for what is to be seen.
#[tokio::test]
async fn replaced_builtins_are_not_run_by_inspection() {
    let scene = Scene::new();
    let text = "globalThis.record = [];\nconst plain = new Error('p');\nError.prepareStackTrace = () => { record.push('prepare'); return 'st'; };\nJSON.stringify = () => { record.push('stringify'); return '{}'; };\nArray.prototype.map = () => { record.push('map'); return []; };\nconsole.log(plain.message);\n";
    let program = scene.program(Language::Node, "replaced", text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let id = stopped_at(&server, Language::Node, &program, 6).await;
    let locals = server.ok("get_local_variables", json!({ "sessionId": id })).await;
    let reference = locals.at("/variables/0/variablesReference").clone();
    let members = server.ok("get_variables", json!({ "sessionId": id, "scope": reference })).await;
    assert!(members.at("/variables").to_string().contains("<not read>"), "{}", members.text);
    let assign = json!({ "sessionId": id, "expression": "record = 2" });
    let refused = server.call("evaluate_expression", assign).await;
    assert!(refused.is_error && refused.text.contains("nothing was changed"), "{}", refused.text);
    let metrics =
        json!({ "sessionId": id, "includePerformanceTimeline": true, "includeLeakDetection": true });
    let metrics = server.call("debugger_get_performance_metrics", metrics).await;
    assert_eq!(metrics["status"], "success", "{}", metrics.text);
    let left = json!({ "sessionId": id, "expression": "record.join()" });
    let left = server.ok("evaluate_expression", left).await;
    assert_eq!(left["result"], "''", "{}", left.text);
    server.finish().await;
}

/// The head of a stack is made of the name and the message when it is first read.
#[tokio::test]
async fn an_error_stack_with_a_programs_header_is_not_read() {
    let scene = Scene::new();
    let text = "globalThis.record = [];\nclass Named extends Error { get name() { record.push('name'); return 'Named'; } }\nconst named = new Named('n');\nconst later = new RangeError('l');\nObject.defineProperty(RangeError.prototype, 'name', { get() { record.push('later'); return 'Later'; } });\nconst plain = new TypeError('p');\nconsole.log(named, later, plain);\n";
    let program = scene.program(Language::Node, "heads", text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let id = stopped_at(&server, Language::Node, &program, 7).await;
    let locals = server.ok("get_local_variables", json!({ "sessionId": id })).await;
    let variables = locals.at("/variables").as_array().unwrap();
    for (name, is_read) in [("named", false), ("later", false), ("plain", true)] {
        let error = variables.iter().find(|variable| variable["name"] == name).unwrap();
        let scope = json!({ "sessionId": id, "scope": error["variablesReference"] });
        let members = server.ok("get_variables", scope).await;
        let stack =
            members.at("/variables").as_array().unwrap().iter().find(|member| member["name"] == "stack");
        let stack = stack.unwrap()["value"].as_str().unwrap().to_owned();
        assert_eq!(stack.contains("TypeError: p"), is_read, "{name}: {stack}");
        assert_eq!(stack == "<not read>", !is_read, "{name}: {stack}");
    }
    let left = json!({ "sessionId": id, "expression": "record.join()" });
    let left = server.ok("evaluate_expression", left).await;
    assert_eq!(left["result"], "''", "{}", left.text);
    server.finish().await;
}

/// A thread is called what its object holds, and not what a property of its class says.
#[tokio::test]
async fn a_threads_name_is_read_without_running_code() {
    let scene = Scene::new();
    let text = "import threading\nrecord = []\nclass Named(threading.Thread):\n    @property\n    def name(self):\n        record.append('name')\n        return 'asked'\n    @name.setter\n    def name(self, value): pass\n    def run(self):\n        ready.set()\n        over.wait()\nready, over = threading.Event(), threading.Event()\nnamed = Named(daemon=True)\nnamed.start()\nready.wait()\ndel record[:]\nprint(record)\nover.set()\n";
    let program = scene.program(Language::Python, "named", text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    let id = stopped_at(&server, Language::Python, &program, 18).await;
    let threads = server.ok("list_threads", json!({ "sessionId": id })).await;
    let names = threads.at("/threads").to_string();
    assert!(names.contains("MainThread") && names.contains("Thread-"), "{}", threads.text);
    let left = json!({ "sessionId": id, "expression": "len(record)" });
    let left = server.ok("evaluate_expression", left).await;
    assert_eq!(left["result"], "0", "{}", left.text);
    server.finish().await;
}
