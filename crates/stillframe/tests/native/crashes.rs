//! C++: exceptions, crashes and traps, and where they stop.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, assert_evaluated, exception, run_until};

const THROWS: &str = "#include <map>\n#include <stdexcept>\n#include <string>\nstruct Guard {\n    std::string name = \"g\";\n    \
                      void check() { std::string label = \"l\"; int size = 3; if (label.size() < size) throw \"text\"; }\n    \
                      ~Guard() { check(); }\n};\nnamespace shop {\nclass Cart {\n    std::map<std::string, int> lines;\n\n  public:\n    \
                      void add(const std::string &name) {\n        if (lines.size() == 1) throw std::length_error(\"no room for \" + name); // @throw\n        \
                      lines[name]++;\n    }\n};\n}\nint main(int count, char **) {\n    shop::Cart cart;\n    if (count == 2) Guard();\n    \
                      try {\n        try { if (count == 1) throw 7; } // @caught\n        catch (int) { throw; } // @again\n    } catch (int) {\n    }\n    cart.add(\"a\");\n    cart.add(\"b\");\n}\n";

#[tokio::test]
async fn an_uncaught_exception_stops_at_its_throw_with_type_and_message() {
    let sources = Sources::new(&[("main.cpp", THROWS)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.cpp");
    let ran = server.ok("run_until", json!({ "program": program.path(), "timeout": 60_000 })).await;
    assert_eq!(
        (ran.outcome(), ran.place()),
        ("exception", (program.path(), program.line("throw"))),
        "{}",
        ran.text
    );
    assert_eq!(exception(&ran), ("std::length_error", "no room for b"));
    assert_eq!((ran.at("/location/function"), ran.variable("name")), (&json!("shop::Cart::add"), r#""b""#));
    // It has left a function before it comes to one that it may not leave.
    let mut arguments = json!({ "program": program.path(), "args": ["guarded"], "timeout": 60_000 });
    arguments["exceptions"] = json!("userUnhandled");
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(exception(&ran), ("char const*", "text"), "{}", ran.text);
    assert_eq!(ran.at("/exception/uncaught"), true, "{}", ran.text);
    assert_eq!((ran.variable("label"), ran.variable("size")), ("<destroyed>", "3"));
    server.finish().await;
}

#[tokio::test]
async fn each_exception_is_described_where_it_is_thrown() {
    let sources = Sources::new(&[("main.cpp", THROWS)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.cpp");
    let arguments = json!({ "program": program.path(), "exceptions": "all", "timeout": 60_000 });
    let caught = server.ok("run_until", arguments).await;
    assert_eq!(
        (caught.place(), exception(&caught)),
        ((program.path(), program.line("caught")), ("int", "7")),
        "{}",
        caught.text
    );
    let on = json!({ "sessionId": caught["sessionId"], "exceptions": "all" });
    let again = server.ok("run_until", on.clone()).await;
    assert_eq!(
        (again.place(), exception(&again)),
        ((program.path(), program.line("again")), ("int", "7")),
        "{}",
        again.text
    );
    // Its end is not one more throw.
    for is_uncaught in [false, true] {
        let thrown = server.ok("run_until", on.clone()).await;
        assert_eq!(exception(&thrown), ("std::length_error", "no room for b"), "{}", thrown.text);
        assert_eq!(thrown.at("/exception/uncaught"), is_uncaught, "{}", thrown.text);
    }
    server.finish().await;
}

const CAUGHT: &str = r#"#include <stdexcept>
#include <string>
static int number(const std::string &text) {
    if (text.size() > 1) throw std::invalid_argument("no digit: " + text); // @throws
    return text[0] - '0';
}
static int counted(int count) {
    try { if (count) throw count; } catch (int) { return 1; }
    return 0;
}
int main() {
    int sum = 0;
    for (std::string text : {"ab", "cd", "4"}) {
        try {
            sum += counted(1); // @counts
            sum += number(text); // @calls
        } catch (const std::exception &error) {
            sum += 10; // @handles
        }
    }
    return sum; // @after
}
"#;
const UNWOUND: &str = r#"fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}
fn main() {
    let caught = std::panic::catch_unwind(|| { // @catches
        let first = number("1");
        first + number("x") // @panics
    });
    println!("{}", caught.is_err()); // @after
}
"#;

/// Debian builds its packages below `/build`, and so do containers with programs of their users.
#[tokio::test]
async fn an_exception_that_code_below_build_catches_is_handled_by_the_user() {
    let sources = Sources::new(&[("main.cpp", CAUGHT)]);
    let folder = sources.folder().display();
    let command = format!("g++ -g -O0 -ffile-prefix-map={folder}=/build/app main.cpp -o main");
    let program = sources.compiled(&command, "main");
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "program": program, "exceptions": "userUnhandled", "timeout": 60_000 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!((ran.outcome(), ran.at("/exitCode")), ("ended", &json!(27)), "{}", ran.text);
    server.finish().await;
}

/// An exception that is thrown and caught in what a step goes over does not end the step.
#[tokio::test]
async fn a_step_that_an_exception_leaves_ends_in_its_handler() {
    let sources = Sources::new(&[("main.cpp", CAUGHT), ("main.rs", UNWOUND)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let ran = run_until(&server, &program, "counts", &[]).await;
    let id = json!({ "sessionId": ran["sessionId"] });
    for (step, marker) in
        [("step_over", "calls"), ("step_over", "handles"), ("run_until", "throws"), ("step_out", "handles")]
    {
        let until = json!([{ "file": program.path(), "line": program.line(marker) }]);
        let call = json!({ "sessionId": ran["sessionId"], "until": until });
        let stepped = server.ok(step, if step == "run_until" { call } else { id.clone() }).await;
        assert_eq!(stepped.place(), (program.path(), program.line(marker)), "{}", stepped.text);
    }
    let evaluated = json!({ "sessionId": ran["sessionId"], "expression": "error" });
    let error = server.ok("evaluate_expression", evaluated).await;
    assert!(error.text.contains("no digit: cd"), "{}", error.text);
    let until = json!([{ "file": program.path(), "line": program.line("after") }]);
    let thrown = "a function that this calls throws an exception";
    let calls =
        [("number(\"ab\")", thrown), ("number(\"7\")", "7"), ("counted(1)", thrown), ("counted(0)", "0")];
    let expressions = calls.map(|(expression, _)| expression);
    let ended = json!({ "sessionId": ran["sessionId"], "until": until, "expressions": expressions });
    let ended = server.ok("run_until", ended).await;
    assert_eq!(ended.variable("sum"), "27", "{}", ended.text);
    assert_evaluated(&ended, &calls);
    let program = sources.file("main.rs");
    let mut stepped = run_until(&server, &program, "panics", &[]).await;
    let id = json!({ "sessionId": stepped["sessionId"] });
    let none = json!({ "sessionId": stepped["sessionId"], "mode": "none" });
    server.ok("set_exception_breakpoints", none).await;
    for marker in ["catches", "after"] {
        stepped = server.ok("step_over", id.clone()).await;
        assert_eq!(stepped.place(), (program.path(), program.line(marker)), "{}", stepped.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_crash_and_a_failed_assertion_stop_in_the_user_frame() {
    let text = "#include <assert.h>\n#include <string.h>\nstruct order { int id; struct order *next; };\n\
                static int total(const struct order *first) {\n    int sum = 0;\n    for (const struct order *at = first;; at = at->next)\n        \
                sum += at->id; // @fault\n}\nint main(int count, char **words) {\n    struct order order = {2, 0};\n    \
                if (count > 1) assert(strlen(words[1]) > 9); // @assert\n    return total(&order);\n}\n";
    let sources = Sources::new(&[("main.c", text)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.c");
    let ran = server.ok("run_until", json!({ "program": program.path(), "timeout": 60_000 })).await;
    assert_eq!(
        (ran.place(), exception(&ran).0),
        ((program.path(), program.line("fault")), "SIGSEGV"),
        "{}",
        ran.text
    );
    assert_eq!((ran.variable("sum"), ran.variable("at")), ("2", "0x0000000000000000"));
    let arguments = json!({ "program": program.path(), "args": ["short"], "timeout": 60_000 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line("assert")), "{}", ran.text);
    assert_eq!(exception(&ran), ("assertion", "`strlen(words[1]) > 9` failed in main"));
    server.finish().await;
}

/// The instruction of a breakpoint.
const TRAP: &str = if cfg!(target_arch = "x86_64") { "int3" } else { "brk #0" };

#[tokio::test]
async fn a_trap_of_the_program_stops_there() {
    let text = format!(
        "#include <signal.h>\nint main(void) {{\n    __asm__(\"{TRAP}\");\n    int after = 1;\n    \
         raise(SIGTRAP); // @raise\n    return after - 1;\n}}\n"
    );
    let sources = Sources::new(&[("main.c", &text)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.c");
    let trapped = server.ok("run_until", json!({ "program": program.path(), "timeout": 60_000 })).await;
    assert_eq!(exception(&trapped).0, "SIGTRAP", "{}", trapped.text);
    let id = json!({ "sessionId": trapped["sessionId"] });
    let raised = server.ok("continue_execution", id.clone()).await;
    assert_eq!(
        (raised.place(), exception(&raised).0),
        ((program.path(), program.line("raise")), "SIGTRAP"),
        "{}",
        raised.text
    );
    assert_eq!(server.ok("continue_execution", id).await.outcome(), "ended");
    server.finish().await;
}

#[tokio::test]
async fn a_signal_with_a_handler_is_not_uncaught() {
    let text = "#include <signal.h>\nstatic volatile int got;\nstatic void handle(int signal) { got = signal; }\nint main(void) {\n    \
                signal(SIGUSR1, handle);\n    signal(SIGSEGV, handle);\n    raise(SIGUSR1);\n    raise(SIGSEGV);\n    raise(SIGUSR2);\n    \
                return got;\n}\n";
    let sources = Sources::new(&[("main.c", text)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.c");
    let mut stopped = server.ok("run_until", json!({ "program": program.path(), "timeout": 60_000 })).await;
    let id = json!({ "sessionId": stopped["sessionId"] });
    for (signal, uncaught) in [("SIGUSR1", false), ("SIGSEGV", true), ("SIGUSR2", true)] {
        let found = (exception(&stopped).0, stopped.at("/exception/uncaught"));
        assert_eq!(found, (signal, &json!(uncaught)), "{}", stopped.text);
        stopped = server.ok("continue_execution", id.clone()).await;
    }
    server.finish().await;
}
