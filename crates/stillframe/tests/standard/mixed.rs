//! Programs that start processes in other languages: a breakpoint in a file of such a language stops there.

use serde_json::{Value, json};
use test_support::{Fixture, Language, compile, compile_library, repository, run_go};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

fn fixture(name: &str) -> Fixture {
    Fixture::read(repository().join("fixtures/mixed").join(name))
}

/// A session of the program's language, with a breakpoint in each child.
async fn with_breakpoints(program: &Fixture, children: &[Fixture]) -> Debugging {
    let session = Debugging::of(program.language()).await;
    for child in children {
        session.break_at(child, "inside").await;
    }
    session
}

#[tokio::test]
async fn one_program_stops_in_children_of_three_languages() {
    let program = fixture("main.py");
    let children = ["child.js", "child.rb", "child.php"].map(fixture);
    let shown = [
        ["2", "Map(1) { 'tea' => 3 }", "process.argv.length", "3"],
        ["3", "{:tea=>3}", "ARGV.size", "1"],
        ["4", "[\"tea\" => 3]", "count($argv)", "2"],
    ];
    let session = with_breakpoints(&program, &children).await;
    let mut stopped = session.start(&program).await;
    for (child, [count, prices, expression, value]) in children.iter().zip(shown) {
        assert_eq!(stopped.place(), (child.path(), child.line("inside")), "{}", stopped.text);
        assert_eq!((stopped.variable("count"), stopped.variable("prices")), (count, prices));
        assert_eq!(session.evaluate(expression).await, value);
        let threads = session.ok("list_threads", json!({})).await;
        let states: Vec<&Value> =
            threads["threads"].as_array().unwrap().iter().map(|thread| &thread["state"]).collect();
        assert_eq!(states, ["running", "paused"], "the program waits for its child: {}", threads.text);
        stopped = session.go_on().await;
    }
    assert_eq!((&stopped["state"], stopped.text_of("output")), (&json!("ended"), "total 27\n"));
    assert_eq!(session.written("stderr").await, "", "what Node prints for its debugger is left out");
    session.finish().await;
}

#[tokio::test]
async fn each_way_to_start_python_stops() {
    let (program, child) = (fixture("main.js"), fixture("child.py"));
    let session = with_breakpoints(&program, std::slice::from_ref(&child)).await;
    let mut stopped = session.start(&program).await;
    for count in ["2", "3", "4"] {
        assert_eq!(stopped.place(), (child.path(), child.line("inside")), "{}", stopped.text);
        assert_eq!((stopped.variable("count"), stopped.variable("prices")), (count, "{'tea': 3}"));
        assert_eq!(session.evaluate("sys.argv[1:]").await, format!("['{count}']"));
        stopped = session.go_on().await;
    }
    assert_eq!((&stopped["state"], stopped.text_of("output")), (&json!("ended"), "total 27\n"));
    session.finish().await;
}

#[tokio::test]
async fn values_of_a_child_are_traced() {
    for (program, child, prices) in [
        ("main.js", "child.py", "{'tea': 3}"),
        ("main.rb", "child.py", "{'tea': 3}"),
        ("main.py", "child.rb", "{:tea=>3}"),
    ] {
        let (program, child) = (fixture(program), fixture(child));
        let server = STILLFRAME.serve().await;
        let point = json!({ "file": child.path(), "line": child.line("inside"), "expressions": ["prices"] });
        let traced = server.ok("trace_values", json!({ "program": program.path(), "points": [point] })).await;
        let rows = traced["rows"].as_array().unwrap();
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row["values"][0]["value"] == prices),
            "{}",
            traced.text
        );
        server.finish().await;
    }
}

/// Processes inherit what makes them connect when the program starts.
#[tokio::test]
async fn a_breakpoint_that_is_set_after_the_start_needs_another_start() {
    let (program, child) = (fixture("main.py"), fixture("child.js"));
    let (session, _) = Debugging::stopped_at(&program, "parent").await;
    let set = session.break_at(&child, "inside").await;
    let reason = set.text_of("reason");
    assert!(reason.contains("run without a debugger") && reason.ends_with("start it again"), "{reason}");
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("parent")));
    session.ok("restart_debugging", json!({})).await;
    assert_eq!(session.go_on().await.place(), (child.path(), child.line("inside")));
    session.finish().await;
}

/// What the program's environment has for its processes already still has its effect.
#[tokio::test]
async fn what_processes_inherit_anyway_stays() {
    let folder = tempfile::tempdir().unwrap();
    let customized = "import os\nos.environ['CUSTOMIZED'] = 'yes'\n";
    let write = |name: &str, text: &str| Fixture::write(folder.path(), name, text);
    write("sitecustomize.py", customized);
    write("preload.cjs", "globalThis.preloaded = 'yes';\n");
    let main =
        "console.log(require('child_process').execFileSync('python3', [__dirname + '/main.py']) + '');\n";
    let node = write("main.js", main);
    let python = write(
        "main.py",
        "import os, subprocess, sys\n\
         found = os.environ.get('CUSTOMIZED'), 'children' in str(sys.path)  # @inside\n\
         print(found, subprocess.run(['node', '-p', 'globalThis.preloaded'], stdout=subprocess.PIPE).stdout)\n",
    );
    let session = Debugging::of(Language::Node).await;
    session.break_at(&python, "inside").await;
    let preload = format!("--require {}", folder.path().join("preload.cjs").display());
    let env = json!({ "PYTHONPATH": folder.path(), "NODE_OPTIONS": preload });
    let arguments = json!({ "scriptPath": node.path(), "env": env });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!(stopped.place(), (python.path(), python.line("inside")), "{}", stopped.text);
    let ended = session.run_to_the_end().await;
    assert_eq!(ended.text_of("output"), "('yes', False) b'yes\\n'\n\n");
    session.finish().await;
}

/// A process blocked on its child does not respond, and the calls do not wait for it.
#[tokio::test]
async fn a_breakpoint_in_a_child_is_removed_while_its_parent_waits() {
    let (program, child) = (fixture("main.js"), fixture("child.py"));
    let session = with_breakpoints(&program, std::slice::from_ref(&child)).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (child.path(), child.line("inside")));
    session.ok("set_exception_breakpoints", json!({ "mode": "uncaught" })).await;
    session.ok("remove_breakpoint", json!({ "breakpointId": "bp-1" })).await;
    assert_eq!(session.run_to_the_end().await.text_of("output"), "total 27\n");
    session.finish().await;
}

/// A binary is recognized by its debug information, and held until its debugger has attached.
#[tokio::test]
async fn a_binary_that_a_program_starts_is_attached_to() {
    for (source, program) in [("adder.c", "pipes.py"), ("adder.go", "pipes.py"), ("adder.c", "pipes.js")] {
        let (source, program) = (fixture(source), fixture(program));
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("adder").display().to_string();
        if source.language() == Language::C {
            compile(source.path(), &binary).await;
        } else {
            run_go(folder.path(), &["build", "-gcflags=all=-N -l", "-o", &binary, source.path()]).await;
        }
        let session = Debugging::of(program.language()).await;
        let function = json!({ "file": source.path(), "function": "twice" });
        if source.language() == Language::C {
            let refused = session.fails("file_unusable", "set_breakpoint", function).await;
            assert!(refused.text.contains("found by name only in a session of that language"), "{refused:?}");
            session.break_at(&source, "inside").await;
        } else {
            session.ok("set_breakpoint", function).await;
        }
        let arguments = json!({ "scriptPath": program.path(), "args": [binary] });
        let stopped = session.ok("start_debugging", arguments).await;
        assert_eq!(stopped.place(), (source.path(), source.line("inside")), "{}", stopped.text);
        assert_eq!(session.evaluate("number + 1").await, "22");
        let threads = session.ok("list_threads", json!({})).await;
        assert_eq!(threads["threads"][0]["state"], "running", "the program waits: {}", threads.text);
        assert_eq!(session.run_to_the_end().await["output"], "doubled 42\n");
        session.finish().await;
    }
}

/// The debugger of the extension is there before the program runs. What it suspends answers no other debugger.
#[tokio::test]
async fn an_extension_stops_as_soon_as_it_is_loaded() {
    let (original, program) = (fixture("sum.c"), fixture("loads.py"));
    let folder = tempfile::tempdir().unwrap();
    let source = Fixture::write(folder.path(), "sum.c", &std::fs::read_to_string(original.path()).unwrap());
    let library = folder.path().join("sum.so").display().to_string();
    compile_library(source.path(), &library).await;
    let session = with_breakpoints(&program, std::slice::from_ref(&source)).await;
    session.break_at(&program, "after").await;
    let arguments = json!({ "scriptPath": program.path(), "args": [library] });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!(stopped.place(), (source.path(), source.line("inside")), "{}", stopped.text);
    assert_eq!((stopped.variable("last"), stopped.variable("total")), ("4", "10"));
    let threads = session.ok("list_threads", json!({})).await;
    let threads = threads["threads"].as_array().unwrap();
    assert!(threads.iter().all(|thread| thread["state"] == "paused"), "{threads:?}");
    let after = session.go_on().await;
    assert_eq!(after.place(), (program.path(), program.line("after")), "{}", after.text);
    assert_eq!((after.variable("total"), session.evaluate("total * 2").await), ("10", "20".to_owned()));
    assert_eq!(session.run_to_the_end().await["output"], "total 10\n");
    session.finish().await;
}

/// No breakpoint is in its source.
#[tokio::test]
async fn a_crash_of_an_extension_stops_if_native_code_is_debugged_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "long sum_to(long last) {\n    long *total = 0;\n    return *total + last; // @crash\n}\n";
    let source = Fixture::write(folder.path(), "sum.c", text);
    let library = folder.path().join("sum.so").display().to_string();
    compile_library(source.path(), &library).await;
    let program = fixture("loads.py");
    let server = STILLFRAME.serve().await;
    let arguments =
        json!({ "program": program.path(), "args": [library], "nativeToo": true, "timeout": 60_000 });
    let stopped = server.ok("run_until", arguments).await;
    assert_eq!(stopped.place(), (source.path(), source.line("crash")), "{}", stopped.text);
    assert_eq!((stopped.at("/exception/type"), stopped.variable("last")), (&json!("SIGSEGV"), "4"));
    server.finish().await;
}
