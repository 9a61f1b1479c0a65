//! Breakpoints in files of all kinds. `tests/standard` covers lines, conditions and log messages.

use serde_json::{Value, json};
use test_support::Fixture;

use crate::debugging::{Debugging, Report};
use crate::script::{Script, folder, text};

/// debugpy 1.8.22 calls it verified before the module is there.
async fn is_bound_when_it_is_imported(just_my_code: bool) {
    let script =
        Script::new("import importlib\nprint('first')  # @first\nimportlib.import_module('later').work(4)\n");
    let later = script
        .file("later.py", "import os  # @loaded\ndef work(number):\n    return number + 1  # @inside\n");
    let session = Debugging::new().await;
    session.break_at(&script, "first").await;
    let own = json!({ "justMyCode": just_my_code });
    let arguments = json!({ "scriptPath": script.path(), "dapLaunchArgs": own });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!(stopped.place(), (script.path(), script.line("first")), "{}", stopped.text);
    let set = session.break_at(&later, "inside").await;
    let waits = "its file is not loaded yet; it binds when the program loads it";
    assert_eq!((&set["verified"], &set["reason"]), (&json!(false), &json!(waits)), "{}", set.text);
    session.break_at(&later, "loaded").await;
    let loaded = session.go_on().await;
    assert_eq!(loaded.place(), (later.path(), later.line("loaded")), "{}", loaded.text);
    let listed = session.breakpoints().await;
    assert!(listed.iter().all(|known| known["verified"] == true), "{listed:#?}");
    let stopped = session.go_on().await;
    assert_eq!((stopped.place(), stopped.variable("number")), ((later.path(), later.line("inside")), "4"));
    assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]));
    session.finish().await;
}

#[tokio::test]
async fn a_breakpoint_in_a_later_imported_module_binds_at_import() {
    is_bound_when_it_is_imported(true).await;
}

#[tokio::test]
async fn a_breakpoint_in_a_later_imported_library_binds_at_import() {
    is_bound_when_it_is_imported(false).await;
}

/// Where the file is in neither `sys.modules` nor among what has run since, its functions are still there.
#[tokio::test]
async fn a_breakpoint_in_an_unloaded_module_binds_at_once() {
    let script = Script::new(
        "import sys\nfrom forgotten import work\ndel sys.modules['forgotten']\nprint('here')  # @here\nwork(4)\n",
    );
    let forgotten = script.file("forgotten.py", "def work(number):\n    return number + 1  # @inside\n");
    let (session, _) = script.stopped_at("here").await;
    assert_eq!(session.break_at(&forgotten, "inside").await["verified"], true);
    assert_eq!(session.go_on().await.place(), (forgotten.path(), forgotten.line("inside")));
    session.finish().await;
}

/// pydevd 1.8.22 takes the call of one for its going on, up to Python 3.11.
#[tokio::test]
async fn a_generator_or_coroutine_stops_by_name_at_each_call() {
    let script = Script::new(
        r#"
import asyncio


class Cart:
    async def total(self, number):
        """Adds up."""
        await asyncio.sleep(0)  # @total
        return number


def count(number):
    for each in range(number):  # @count
        yield each


async def once(number): return number  # @once


async def main():
    cart = Cart()
    print(await cart.total(3) + await cart.total(4), list(count(2)), list(count(1)), await once(5))


asyncio.run(main())
"#,
    );
    let session = Debugging::new().await;
    let total = session.ok("set_breakpoint", json!({ "function": "Cart.total" })).await;
    for function in ["count", "once", "Purse.total"] {
        session.ok("set_breakpoint", json!({ "function": function })).await;
    }
    let mut stopped = session.start(&script).await;
    assert_eq!(stopped["breakpointIds"], json!([total["breakpointId"]]), "{}", stopped.text);
    for (line, number) in [("total", "3"), ("total", "4"), ("count", "2"), ("count", "1"), ("once", "5")] {
        assert_eq!(stopped.place(), (script.path(), script.line(line)), "{}", stopped.text);
        assert_eq!(stopped.variable("number"), number);
        stopped = session.go_on().await;
    }
    assert_eq!((stopped.outcome(), &stopped["output"]), ("ended", &json!("7 [0, 1] [0] 5\n")));
    session.finish().await;
}

/// The line of such a function is passed when it is defined, too.
#[tokio::test]
async fn a_function_on_one_line_stops_in_its_file_alone() {
    let script = Script::new(
        "import other\ndef size(x): return len(x)  # @size\nprint(other.size([1]))\nprint(size([1, 2]))\n",
    );
    script.file(
        "other.py",
        "def size(x): return len(x) + 100\ndef area(x): return x  # @area\nprint(area(5))\n",
    );
    let session = Debugging::new().await;
    session.ok("set_breakpoint", json!({ "file": script.path(), "function": "size" })).await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("size")), "{}", stopped.text);
    assert_eq!((stopped.at("/location/function"), stopped.variable("x")), (&json!("size"), "[1, 2]"));
    assert_eq!(session.go_on().await.outcome(), "ended");
    session.finish().await;
}

#[tokio::test]
async fn run_until_prefers_a_function_of_the_program() {
    let script = Script::new(
        "import other\ndef size(x):\n    return len(x)  # @size\nprint(other.size([1]))\nprint(size([1, 2]))\n",
    );
    let other = script.file(
        "other.py",
        "def size(x):\n    return 100\ndef area(x):\n    return x  # @area\nprint(area(5))\n",
    );
    for (function, place) in
        [("size", (script.path(), script.line("size"))), ("area", (other.path(), other.line("area")))]
    {
        let session = Debugging::new().await;
        let until = json!({ "program": script.path(), "until": [{ "function": function }] });
        let stopped = session.ok("run_until", until).await;
        assert_eq!(stopped.place(), place, "{}", stopped.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_line_and_the_function_that_begins_there_stop_once() {
    let script = Script::new(
        "def count(number):\n    while number:  # @first\n        yield number\n        number -= 1\n\n\n\
         print(list(count(2)))\nprint(list(count(1)))  # @again\n",
    );
    let session = Debugging::new().await;
    let line = session.break_at(&script, "first").await["breakpointId"].clone();
    let function = session.ok("set_breakpoint", json!({ "function": "count" })).await["breakpointId"].clone();
    let stopped = session.start(&script).await;
    let hit = stopped["breakpointIds"].as_array().unwrap();
    assert!(hit.len() == 2 && hit.contains(&line) && hit.contains(&function), "{}", stopped.text);
    session.ok("remove_breakpoint", json!({ "breakpointId": line })).await;
    session.break_at(&script, "again").await;
    let again = session.go_on().await;
    assert_eq!(again.place(), (script.path(), script.line("again")), "{}", again.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped["breakpointIds"], json!([function]), "{}", stopped.text);
    session.ok("remove_breakpoint", json!({ "breakpointId": function })).await;
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_loaded_function_that_was_not_called_is_reported() {
    let script = Script::new("async def bill(number):\n    return number\n\n\nprint('done')\n");
    let session = Debugging::new().await;
    for function in ["bill", "bil"] {
        session.ok("set_breakpoint", json!({ "function": function })).await;
    }
    let ended = session.start(&script).await;
    let notes = ended["notes"].as_array().unwrap();
    let note = |id: &str| notes.iter().filter_map(Value::as_str).find(|note| note.starts_with(id)).unwrap();
    assert_eq!(note("bp-1"), "bp-1: no function `bill` was entered; it is in main.py");
    assert!(
        note("bp-2").starts_with("bp-2: no function `bil` was entered, and the loaded files"),
        "{notes:?}"
    );
    session.finish().await;
}

#[tokio::test]
async fn an_unknown_function_has_no_note_on_where_it_stops() {
    let script = Script::new("print('done')\n");
    let session = Debugging::new().await;
    let arguments = json!({ "program": script.path(), "until": [{ "function": "square" }] });
    let ended = session.ok("run_until", arguments).await;
    let missed = "no function `square` was entered, and the loaded files define none";
    assert_eq!(ended["notes"], json!([missed]), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_file_of_another_language_is_refused_with_the_reason() {
    let script = Script::new("print('here')  # @here\n");
    script.file("App.java", "class App {}\n");
    script.file("notes.txt", "Not a program.\n");
    let (session, _) = script.stopped_at("here").await;
    let table = [
        ("App.java", "App.java` is for a `java` session, but this is a `python` session"),
        ("notes.txt", "notes.txt` is not Python source"),
    ];
    for (name, reason) in table {
        let location = json!({ "file": text(&script.path_of(name)), "line": 1 });
        let failed = session.fails("file_unusable", "set_breakpoint", location).await;
        assert!(failed.text_of("error").contains(reason), "{}", failed.text);
    }
    assert_eq!(session.breakpoints().await.len(), 1);
    session.finish().await;
}

#[tokio::test]
async fn a_file_name_that_two_folders_have_stops_only_in_the_right_one() {
    let script = Script::new("import one.tool, two.tool\nprint(one.tool.work(), two.tool.work())\n");
    for package in ["one", "two"] {
        std::fs::create_dir(script.path_of(package)).unwrap();
        script.file(&format!("{package}/__init__.py"), "");
    }
    script.file("one/tool.py", "def work():\n    return str(__name__)\n");
    let two = script.file("two/tool.py", "def work():\n    return __name__  # @inside\n");
    let session = Debugging::new().await;
    session.break_at(&two, "inside").await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (two.path(), two.line("inside")));
    assert_eq!(session.run_to_the_end().await["output"], "one.tool two.tool\n");
    session.finish().await;
}

/// Sets the breakpoint by one name of the folder, and starts the program by another.
async fn stops_through_a_link(set_by_link: bool, started_by_link: bool) {
    let script = Script::new("import helper\nprint(helper.work(3))\n");
    let helper = script.file("helper.py", "def work(x):\n    return x * 2  # @inside\n");
    let elsewhere = folder();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(script.folder(), &link).unwrap();
    let by = |by_link: bool| if by_link { link.as_path() } else { script.folder() };

    let session = Debugging::new().await;
    let file = by(set_by_link).join("helper.py");
    session.ok("set_breakpoint", json!({ "file": text(&file), "line": helper.line("inside") })).await;
    let program = by(started_by_link).join("main.py");
    let stopped = session.ok("start_debugging", json!({ "scriptPath": text(&program) })).await;
    assert_eq!((stopped.outcome(), stopped.variable("x")), ("breakpoint", "3"), "{}", stopped.text);
    assert_eq!(session.breakpoints().await[0]["hits"], 1);
    assert_eq!(session.run_to_the_end().await["output"], "6\n");
    session.finish().await;
}

#[tokio::test]
async fn a_linked_program_stops_at_breakpoints_set_by_link() {
    stops_through_a_link(true, true).await;
}

#[tokio::test]
async fn a_linked_program_stops_at_breakpoints_set_by_real_path() {
    stops_through_a_link(false, true).await;
}

#[tokio::test]
async fn a_program_started_by_real_path_stops_at_breakpoints_set_by_link() {
    stops_through_a_link(true, false).await;
}

#[tokio::test]
async fn file_names_and_texts_in_any_script_work() {
    let script = Script::new("");
    std::fs::create_dir(script.path_of("dossier é ☃")).unwrap();
    let source = "größe = 'ü'\nprint(größe)  # @here\n";
    let program = script.file("dossier é ☃/prögramm ☃.py", source);
    let session = Debugging::new().await;
    let set = session.break_with(&program, "here", json!({ "condition": "größe == 'ü'" })).await;
    assert_eq!(set.at("/context/lineContent"), "print(größe)  # @here");
    let stopped = session.start(&program).await;
    assert_eq!((stopped.place(), stopped.variable("größe")), ((program.path(), program.line("here")), "'ü'"));
    let found =
        session.ok("set_breakpoint", json!({ "file": program.path(), "statement": "größe = 'ü'" })).await;
    assert_eq!(found["line"], 1);
    assert_eq!(session.run_to_the_end().await["output"], "ü\n");
    session.finish().await;
}

/// Sources whose lines end in other ways, or that are not in UTF-8, keep the numbers that Python gives them.
#[tokio::test]
async fn sources_with_other_line_ends_and_encodings_stop_on_the_right_line() {
    let latin: &[u8] = b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\nwanted = len(name)\nprint(wanted)\n";
    let table: [(&str, &[u8], u32); 5] = [
        ("carriage returns", b"x = 1\r\n\r\nwanted = x\r\nprint(4)\r\n", 3),
        ("only carriage returns", b"x = 1\rwanted = x\rprint(4)\r", 2),
        ("a byte order mark", b"\xef\xbb\xbfx = 1\nwanted = x\nprint(4)\n", 2),
        ("form feeds", b"x = 1\n\x0c\nwanted = 'a\x0bb\\\x0c'\nprint(4)\n", 3),
        ("another coding", latin, 3),
    ];
    let session = Debugging::new().await;
    for (name, source, line) in table {
        let script = Script::new("");
        std::fs::write(script.path(), source).unwrap();
        let set = session.ok("set_breakpoint", json!({ "file": script.path(), "line": line })).await;
        assert_eq!((&set["line"], &set["requestedLine"]), (&json!(line), &Value::Null), "{name}");
        let stopped = session.start(&script).await;
        assert_eq!(stopped.place(), (script.path(), line), "{name}: {}", stopped.text);
        let shown =
            stopped.text_of("source").lines().find(|shown| shown.starts_with('>')).unwrap_or_default();
        assert!(shown.contains("wanted ="), "{name}: {}", stopped.text_of("source"));
        assert_eq!(session.run_to_the_end().await["output"], "4\n", "{name}");
        session.ok("clear_breakpoints", json!({})).await;
    }
    session.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn two_hundred_breakpoints_in_one_file_each_stop_once() {
    let script = Script::new(&("x = 1\n".repeat(200) + "print('end')\n"));
    let session = Debugging::new().await;
    for line in 1..=200 {
        session.ok("set_breakpoint", json!({ "file": script.path(), "line": line })).await;
    }
    let mut report = session.start(&script).await;
    for line in 1..=200 {
        assert_eq!(report.place(), (script.path(), line));
        report = session.ok("continue_execution", json!({ "limits": { "variables": 0 } })).await;
    }
    assert_eq!((report.outcome(), report.text_of("output")), ("ended", "end\n"));
    let hits: Vec<_> = session.breakpoints().await.iter().map(|known| known["hits"].clone()).collect();
    assert_eq!(hits, vec![json!(1); 200]);
    session.finish().await;
}

/// debugpy 1.8.22 says nothing at all of a condition that raises `NameError`, and stops on the count and then
/// on the condition when a breakpoint has both.
#[tokio::test]
async fn a_raising_condition_is_counted_and_reported_even_if_it_never_stops() {
    let script = Script::new("for number in range(20):\n    twice = number * 2  # @inside\nprint('end')\n");
    let session = Debugging::new().await;
    session.break_with(&script, "inside", json!({ "condition": "nubmer > 3", "hitCondition": "2" })).await;
    let ended = session.start(&script).await;
    assert_eq!(ended.outcome(), "ended");
    let note = ended.at("/notes/0").as_str().unwrap_or_default();
    assert!(
        note.contains("failed 20 times") && note.ends_with("NameError: name 'nubmer' is not defined"),
        "{note}"
    );
    session.finish().await;
}

/// A condition has no frame of its own to be interrupted in: it holds up the program, and no call.
#[tokio::test]
async fn an_endless_condition_is_terminated_and_reported() {
    let script = Script::new("import time\nfor number in range(2):\n    twice = number * 2  # @inside\n");
    for condition in ["time.sleep(1000)", "[None for _ in iter(int, 1)]"] {
        let session = Debugging::new().await;
        session.break_with(&script, "inside", json!({ "condition": condition })).await;
        let ended = session.start(&script).await;
        assert_eq!(ended.outcome(), "ended", "{}", ended.text);
        let failed = "the condition of bp-1 failed 2 times and did not stop the program: TimeoutError: it \
                      took longer than 1 s";
        assert_eq!(ended["notes"], json!([failed]));
        session.finish().await;
    }
}

/// The program ends before the debugger has sent all messages.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn every_log_message_arrives_before_the_program_ends() {
    let script = Script::new("for number in range(20_000):\n    twice = number * 2  # @inside\n");
    let session = Debugging::new().await;
    session.break_with(&script, "inside", json!({ "logMessage": "at {number}" })).await;
    let ended = session.start(&script).await;
    assert_eq!(ended.outcome(), "ended");
    assert_eq!(session.breakpoints().await[0]["hits"], 20_000);
    assert!(ended.text_of("output").ends_with("at 19999\n"), "{}", ended.text);
    session.finish().await;
}

/// A suspended program does not respond to its debugger.
#[tokio::test]
async fn a_breakpoint_in_an_unresponsive_program_is_pending() {
    let script =
        Script::new("import os\nnumber = os.getpid()\nprint(number)  # @inside\nprint(1)  # @next\n");
    let (session, stopped) = script.stopped_at("inside").await;
    let process = stopped.variable("number").parse().unwrap();
    session.server.hold_started(process);
    let set = session.break_at(&script, "next").await;
    assert_eq!((&set["verified"], &set["reason"]), (&json!(false), &json!("it is being bound")));
    session.finish().await;
}

/// debugpy 1.8.22 writes them to standard output, evaluates `{{x}}`, and knows no conversions.
#[tokio::test]
async fn a_log_message_works_like_an_f_string_and_is_not_program_output() {
    let script =
        Script::new("for number in range(2):\n    name = 'é'  # @before\n    print('own')  # @inside\n");
    let session = Debugging::new().await;
    let message = "{{literal}} {name!r} {number:03}";
    session.break_with(&script, "inside", json!({ "logMessage": message })).await;
    assert_eq!(session.start(&script).await.outcome(), "ended");
    assert_eq!(session.written("stdout").await, "own\nown\n");
    assert_eq!(session.written("log").await, "{literal} 'é' 000\n{literal} 'é' 001\n");
    session.finish().await;
}

#[tokio::test]
async fn code_without_a_file_is_stepped_through_without_source() {
    let script = Script::new(
        "code = compile('a = 1\\nb = 2\\n', '<generated>', 'exec')\nexec(code)  # @here\nprint(a, b)\n",
    );
    let (session, _) = script.stopped_at("here").await;
    let inside = session.step("step_into").await;
    assert_eq!(inside["state"], "paused", "{}", inside.text);
    assert_eq!(session.run_to_the_end().await["output"], "1 2\n");
    session.finish().await;
}

#[tokio::test]
async fn a_file_that_is_not_python_is_refused_with_pythons_message() {
    let script = Script::new("x = 1\n");
    std::fs::write(script.path_of("binary.py"), b"\0\0").unwrap();
    let empty: Fixture = script.file("empty.py", "");
    let session = Debugging::new().await;
    let binary = script.path_of("binary.py");
    let failed =
        session.fails("file_unusable", "set_breakpoint", json!({ "file": text(&binary), "line": 1 })).await;
    assert!(failed.text_of("error").contains("null bytes"), "{}", failed.text);
    session.fails("line_unusable", "set_breakpoint", json!({ "file": empty.path(), "line": 1 })).await;
    session.finish().await;
}
