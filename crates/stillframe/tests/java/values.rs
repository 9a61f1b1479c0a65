//! Exceptions, returned values, calls, threads, and classes without debug information.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder, written};

#[tokio::test]
async fn an_uncaught_exception_has_class_message_and_stack() {
    let program = Fixture::of(Language::Java, "endings");
    let session = Debugging::of(Language::Java).await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["raise"] });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (program.path(), program.line("raise"))));
    let exception = &stopped["exception"];
    assert_eq!((&exception["message"], &exception["uncaught"]), (&json!("no way out"), &json!(true)));
    let stack = exception["stack"].as_str().unwrap();
    assert!(stack.contains("java.lang.IllegalStateException: no way out"), "{}", stopped.text);
    assert!(stack.contains("at Main.main(main.java"), "{}", stopped.text);
    session.finish().await;
}

const READS: &str = "\
import java.util.concurrent.*;

class Main {
    static int read(String text) {
        try {
            return text.trim().length(); // @cause
        } catch (NullPointerException missing) {
            // Each is the cause of the other.
            missing.initCause(new IllegalStateException(\"again\", missing));
            throw missing;
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        Future<Integer> length = pool.submit(() -> read(null));
        System.out.println(length.get()); // @gets
    }
}
";

/// The cause is of a thread that is not at that place any more.
#[tokio::test]
async fn the_cause_of_an_exception_has_its_message_and_place() {
    let (_folder, program) = written("Main.java", READS);
    let session = Debugging::of(Language::Java).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (program.path(), program.line("gets"))));
    let stack = stopped["exception"]["stack"].as_str().unwrap();
    let place = format!("at Main.read(Main.java:{})", program.line("cause"));
    let circle = "Caused by: [CIRCULAR REFERENCE: java.lang.NullPointerException]";
    for part in ["Caused by: java.lang.NullPointerException: Cannot invoke", &place, circle] {
        assert!(stack.contains(part), "{part}: {}", stopped.text);
    }
    session.finish().await;
}

/// A thread that waits for work.
const POOL: &str = "        java.util.concurrent.Executors.newFixedThreadPool(1).submit(() -> 1).get();\n";

#[tokio::test]
async fn values_of_the_jdk_are_shown_as_their_classes_print_them() {
    let values = [
        ("day", "java.time.LocalDate.of(2024, 1, 2)", "2024-01-02"),
        (
            "moment",
            "java.time.Instant.ofEpochSecond(1).atZone(java.time.ZoneId.of(\"Europe/Paris\"))",
            "1970-01-01T01:00:01+01:00[Europe/Paris]",
        ),
        ("path", "java.nio.file.Path.of(\"/usr\")", "\"/usr\""),
        ("uri", "java.net.URI.create(\"http://a/b\")", "http://a/b"),
        ("pattern", "java.util.regex.Pattern.compile(\"a+\")", "a+"),
        ("bits", "java.util.BitSet.valueOf(new long[] {8})", "{3}"),
        ("entry", "java.util.Map.entry(\"k\", 1)", "\"k\"=1"),
        ("queue", "new java.util.PriorityQueue<>(java.util.List.of(3, 1))", "[1, 3]"),
        ("properties", "new java.util.Properties()", "{}"),
        ("tree", "new java.util.TreeMap<>(java.util.Map.of(\"b\", 2, \"a\", 1))", "{\"a\"=1, \"b\"=2}"),
        ("keys", "tree.keySet()", "[\"a\", \"b\"]"),
        ("linked", "new java.util.LinkedHashMap<>(tree)", "{\"a\"=1, \"b\"=2}"),
        ("linkedValues", "linked.values()", "[1, 2]"),
        ("entries", "new java.util.HashMap<>(tree).entrySet()", "{\"a\"=1, \"b\"=2}"),
        ("shared", "new java.util.concurrent.ConcurrentHashMap<>(tree).values()", "[1, 2]"),
        ("waiting", "new java.util.concurrent.LinkedBlockingQueue<>(java.util.List.of(1, 2))", "[1, 2]"),
        ("bounded", "new java.util.concurrent.ArrayBlockingQueue<>(2, true, waiting)", "[1, 2]"),
        ("loose", "new java.util.concurrent.ConcurrentLinkedQueue<>(waiting)", "[1, 2]"),
        ("skips", "new java.util.concurrent.ConcurrentSkipListMap<>(tree)", "{\"a\"=1, \"b\"=2}"),
        ("sorted", "new java.util.concurrent.ConcurrentSkipListSet<>(waiting)", "[1, 2]"),
        ("table", "new java.util.Hashtable<>(java.util.Map.of(\"k\", 1))", "{\"k\"=1}"),
        ("part", "new java.util.ArrayList<>(java.util.List.of(1, 2, 3)).subList(1, 3)", "[2, 3]"),
        ("fixed", "java.util.Collections.unmodifiableCollection(tree.values())", "[1, 2]"),
        ("head", "tree.headMap(\"b\")", "{\"a\"=1}"),
        ("tail", "tree.tailMap(\"a\", false).keySet()", "[\"b\"]"),
        ("back", "tree.descendingMap()", "{\"b\"=2, \"a\"=1}"),
        (
            "among",
            "new java.util.TreeSet<>(java.util.List.of(1.5, 2.5, 3.5)).subSet(1.5, false, 3.5, true)",
            "[2.5, 3.5]",
        ),
        ("copies", "java.util.Collections.nCopies(3, \"z\")", "[\"z\", \"z\", \"z\"]"),
        (
            "halves",
            "java.util.stream.Stream.of(1, 2).collect(java.util.stream.Collectors.partitioningBy(one -> one > 1))",
            "{false=[1], true=[2]}",
        ),
        ("adder", "new java.util.concurrent.atomic.LongAdder()", "0"),
        ("date", "new java.util.Date(0)", "1970-01-01T00:00:00Z"),
        (
            "stamp",
            "java.sql.Timestamp.from(java.time.Instant.ofEpochSecond(1, 5000))",
            "1970-01-01T00:00:01.000005Z",
        ),
        ("calendar", "new java.util.Calendar.Builder().setInstant(0).build()", "1970-01-01T00:00:00Z"),
        ("some", "java.util.OptionalInt.of(4)", "OptionalInt[4]"),
        ("late", "new java.util.concurrent.CompletableFuture<String>()", "CompletableFuture[not completed]"),
        (
            "failed",
            "new RuntimeException(\"two\\nlines\", new Error(\"deep\"))",
            "RuntimeException: two\\nlines (caused by Error: deep)",
        ),
        ("proxy", "new Cart$$Proxy$$0()", "Cart$$Proxy$$0{number=2}"),
        ("quote", "'\\''", "'\\''"),
        ("letters", "new char[] {'\\n', '\\0'}", "['\\n', '\\u0000']"),
    ];
    let lines: Vec<String> =
        values.iter().map(|(name, made, _)| format!("        var {name} = {made};\n")).collect();
    let text = format!(
        "class Main {{\n    public static void main(String[] arguments) throws Exception {{\n{}{POOL}        System.out.println(day);\n    }}\n}}\n\
         class Cart {{ int number = 2; }}\nclass Cart$$Proxy$$0 extends Cart {{ int hook = 1; }}\n",
        lines.concat()
    );
    let folder = folder();
    let path = folder.path().join("Main.java");
    std::fs::write(&path, text).unwrap();
    let session = Debugging::of(Language::Java).await;
    let arguments = json!({
        "program": path, "until": [{ "file": path, "statement": "System.out.println(day);" }],
        "limits": { "value": 200, "variables": 100 }, "close": false, "timeout": 60_000,
    });
    let stopped = session.server.ok("run_until", arguments).await;
    for (name, _, expected) in values {
        assert_eq!(stopped.variable(name), expected, "{}", stopped.text);
    }
    let session = Debugging { id: stopped.text_of("sessionId").to_owned(), server: session.server };
    let threads = session.ok("list_threads", json!({})).await;
    let threads = threads["threads"].as_array().unwrap();
    let pool = threads.iter().find(|thread| thread["name"].as_str().unwrap().starts_with("pool-")).unwrap();
    let stack = json!({ "threadId": pool["id"], "includeInternals": true });
    let stack = session.ok("get_stack_trace", stack).await;
    // It waits in machine code, which has no variables.
    let locals = json!({ "frameId": stack.at("/stackFrames/0/id"), "threadId": pool["id"] });
    session.ok("get_local_variables", locals).await;
    session.finish().await;
}

#[tokio::test]
async fn a_step_out_shows_the_returned_value() {
    let program = Fixture::of(Language::Java, "steps");
    let (session, _) = Debugging::stopped_at(&program, "double").await;
    let out = session.step("step_out").await;
    assert_eq!(
        (out.place(), out.variable("(return) doubled")),
        ((program.path(), program.line("call")), "8")
    );
    session.finish().await;
}

#[tokio::test]
async fn a_call_that_waits_for_a_suspended_thread_times_out_and_the_session_continues() {
    let program = Fixture::of(Language::Java, "java_waits");
    let (session, _) = Debugging::stopped_at(&program, "stuck").await;
    let arguments = json!({ "expression": "locked()", "timeout": 500 });
    let failed = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
    assert!(failed.text_of("error").contains("cannot be interrupted"), "{}", failed.text);
    let threads = session.ok("list_threads", json!({})).await;
    assert!(threads.text.contains("other"), "{}", threads.text);
    session.finish().await;
}

#[tokio::test]
async fn a_deadlock_names_threads_and_monitors() {
    let program = Fixture::of(Language::Java, "java_waits");
    let session = Debugging::of(Language::Java).await;
    let arguments = json!({ "command": "java", "args": [program.path()], "timeout": 6000 });
    let found = session.server.ok("diagnose_hang", arguments).await;
    assert_eq!(found["verdict"], "deadlocked", "{}", found.text);
    assert_eq!(found.at("/location/line"), found.at("/hungAt/line"), "{}", found.text);
    for part in ["one", "other", "monitor"] {
        assert!(found.text.contains(part), "{part}: {}", found.text);
    }
    session.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_class_without_debug_information_names_the_compiler_flag() {
    let folder = folder();
    let program = Fixture::of(Language::Java, "swap_vars");
    for (flag, bound) in [("-g:none", false), ("-g:source,lines", true)] {
        let compiled = std::process::Command::new("javac")
            .args([flag, "-d"])
            .args([folder.path().as_os_str(), program.path().as_ref()])
            .status();
        assert!(compiled.expect("javac runs").success());
        let session = Debugging::of(Language::Java).await;
        session.break_at(&program, "second_assignment").await;
        let class_path = folder.path().to_str().unwrap();
        let arguments = json!({ "module": "Main", "runtimeArgs": ["-cp", class_path] });
        let started = session.ok("start_debugging", arguments).await;
        if bound {
            assert_eq!(started.variable("arg0"), "20", "{}", started.text);
            let arguments = json!({ "expression": "a" });
            let failed = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
            assert!(failed.text_of("message").contains("compile it with `javac -g`"), "{}", failed.text);
        } else {
            assert_eq!(started.outcome(), "ended", "{}", started.text);
        }
        session.finish().await;
    }
}

#[tokio::test]
async fn a_missing_class_is_an_error_before_the_start() {
    let folder = folder();
    let session = Debugging::of(Language::Java).await;
    let arguments = json!({ "module": "shop.Main", "runtimeArgs": ["-cp", folder.path()] });
    let failed = session.fails("start_failed", "start_debugging", arguments).await;
    assert!(
        failed.text_of("error").contains("class `shop.Main` is not on the class path"),
        "{}",
        failed.text
    );
    session.finish().await;
}

const TEXT: &str = "\
class Main {
    public static void main(String[] arguments) {
        String text = \"\\t\\\"q\\\"\".repeat(500);
        System.out.println(text.length()); // @end
    }
}
";

#[tokio::test]
async fn the_length_of_a_string_is_that_of_its_letters() {
    let (_folder, program) = written("Main.java", TEXT);
    let (session, _) = Debugging::stopped_at(&program, "end").await;
    let shown = session.ok("evaluate_expression", json!({ "expression": "text", "maxLength": 100 })).await;
    assert_eq!((&shown["truncated"], &shown["length"]), (&json!(true), &json!(2000)), "{}", shown.text);
    session.finish().await;
}
