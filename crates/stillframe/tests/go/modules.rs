//! What is built: a file, a package folder, a module with several packages, a binary; and what does not compile.

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::{Module, STILLFRAME};

const MAIN: &str = "\
package main

import (
\t\"fmt\"

\t\"example.com/shop/cart\"
)

func main() {
\tfmt.Println(describe(cart.Total([]int{1, 2}))) // @print
}
";
const DESCRIBE: &str = "package main\n\nimport \"fmt\"\n\nfunc describe(total int) string {\n\treturn fmt.Sprint(\"total \", total) // @describe\n}\n";
const CART: &str = "\
package cart

func Total(prices []int) int {
\ttotal := 0
\tfor _, price := range prices {
\t\ttotal += price // @add
\t}
\treturn total
}
";

fn shop() -> Module {
    Module::new(&[("main.go", MAIN), ("describe.go", DESCRIBE), ("cart/cart.go", CART)])
}

#[tokio::test]
async fn a_file_is_built_with_its_package_and_leaves_no_artifacts() {
    let module = shop();
    let before = module.names();
    for program in [module.path("main.go"), module.folder().to_owned()] {
        let session = Debugging::of(test_support::Language::Go).await;
        session.break_at(&module.file("describe.go"), "describe").await;
        session.break_at(&module.file("cart/cart.go"), "add").await;
        let stopped = session.ok("start_debugging", json!({ "scriptPath": program })).await;
        let cart = module.file("cart/cart.go");
        assert_eq!(stopped.place(), (cart.path(), cart.line("add")), "{}", stopped.text);
        assert_eq!(stopped.at("/location/function"), "cart.Total");
        assert_eq!(stopped.variable("price"), "1");
        session.go_on().await;
        let stopped = session.go_on().await;
        assert_eq!((stopped.at("/location/function"), stopped.variable("total")), (&json!("describe"), "3"));
        session.run_to_the_end().await;
        assert_eq!(session.written("stdout").await, "total 3\n");
        session.finish().await;
    }
    assert_eq!(module.names(), before);
}

const SHAPES: &str = "\
package shapes // of a plane

type Shape interface{ Area() float64 }

type Square struct{ Side float64 }

func (square *Square) Area() float64 { return square.Side * square.Side }

func Describe(shape Shape) (text string, size int) { // @head
\tarea := shape.Area() // @first
\ttext, size = \"area\", int(area) // @sized
\treturn text, size
}
";
const DRAW: &str = "package main\n\nimport \"example.com/shop/shapes\"\n\nfunc main() {\n\tfor side := range 3 {\n\t\tshapes.Describe(&shapes.Square{Side: float64(side)}) // @draw\n\t}\n}\n";

#[tokio::test]
async fn a_type_without_a_package_is_one_of_the_source() {
    let module = Module::new(&[("main.go", DRAW), ("shapes/shapes.go", SHAPES)]);
    let server = STILLFRAME.serve().await;
    let program = module.file("shapes/shapes.go");
    for (condition, side) in [
        ("shape.(*Square).Side == 2", "2"),
        ("shape.(*shapes.Square).Side == 1", "1"),
        ("shape.(*Circle).R == 1", ""),
    ] {
        let until =
            json!([{ "file": program.path(), "line": program.line("sized"), "condition": condition }]);
        let arguments = json!({ "program": module.path("main.go"), "until": until });
        let ran = server.ok("run_until", arguments).await;
        if side.is_empty() {
            assert_eq!(ran.outcome(), "ended", "{condition}: {}", ran.text);
            assert!(ran.text.contains("failed 3 times"), "{condition}: {}", ran.text);
        } else {
            assert_eq!(ran.outcome(), "breakpoint", "{condition}: {}", ran.text);
            assert_eq!(ran.variable("shape"), format!("&shapes.Square{{Side: {side}}}"), "{}", ran.text);
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn named_results_are_shown_once_they_have_values() {
    let module = Module::new(&[("main.go", DRAW), ("shapes/shapes.go", SHAPES)]);
    let program = module.file("shapes/shapes.go");
    let session = Debugging::of(test_support::Language::Go).await;
    session.break_at(&module.file("main.go"), "draw").await;
    session.ok("start_debugging", json!({ "scriptPath": module.path("main.go") })).await;
    let stopped = session.step("step_into").await;
    assert_eq!(stopped.place(), (program.path(), program.line("head")), "{}", stopped.text);
    let locals = session.ok("get_local_variables", json!({})).await;
    assert!(locals.text.contains("shape") && !locals.text.contains("size"), "{}", locals.text);
    session.ok("clear_breakpoints", json!({})).await;
    session.ok("set_breakpoint", json!({ "function": "Describe" })).await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("first")), "{}", stopped.text);
    assert_eq!((stopped.variable("text"), stopped.variable("size")), ("\"\"", "0"));
    session.finish().await;
}

const DEFERS: &str = "\
package main

import \"fmt\"

type Queue[K comparable, V any] struct{ items map[K]V }

func (queue *Queue[K, V]) Push(key K, value V) (err error) {
\tdefer func() { // @push
\t\tqueue.items[key] = value
\t}()
\treturn nil
}

func safely(n int) (value int, err error) {
\tdefer func() { // @safely
\t\tif caught := recover(); caught != nil {
\t\t\terr = fmt.Errorf(\"caught: %v\", caught)
\t\t}
\t}()
\treturn 10 / (n - 2), nil
}

func main() {
\tqueue := &Queue[string, int]{map[string]int{}}
\tfor n := range 5 {
\t\tvalue, err := safely(n)
\t\tqueue.Push(fmt.Sprint(n, \" \", err), value)
\t}
}
";

#[tokio::test]
async fn a_breakpoint_on_a_function_does_not_stop_in_a_closure_on_its_first_line() {
    let module = Module::new(&[("main.go", DEFERS)]);
    let program = module.file("main.go");
    let session = Debugging::of(test_support::Language::Go).await;
    session.ok("set_breakpoint", json!({ "function": "safely", "condition": "n == 3" })).await;
    let push = json!({ "file": program.path(), "function": "Push", "hitCondition": "4" });
    let set = session.ok("set_breakpoint", push).await;
    assert!(set.text.contains("`Queue.Push`"), "{}", set.text);
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("safely")), "{}", stopped.text);
    assert_eq!((stopped.at("/location/function"), stopped.variable("n")), (&json!("safely"), "3"));
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("push")), "{}", stopped.text);
    assert_eq!((stopped.variable("key"), stopped.variable("value")), ("\"3 <nil>\"", "10"));
    let breakpoints = session.breakpoints().await;
    assert!(breakpoints.iter().all(|breakpoint| breakpoint["hits"] == 1), "{breakpoints:?}");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_breakpoint_on_a_line_does_not_stop_in_a_closure_that_begins_there() {
    let module = Module::new(&[("main.go", DEFERS)]);
    let program = module.file("main.go");
    let session = Debugging::of(test_support::Language::Go).await;
    let line = program.line("safely");
    session.ok("set_breakpoint", json!({ "file": program.path(), "line": line })).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!((stopped.at("/location/function"), stopped.variable("n")), (&json!("safely"), "0"));
    for n in 1..5 {
        let stopped = session.go_on().await;
        assert_eq!(stopped.place(), (program.path(), line), "{}", stopped.text);
        assert_eq!(
            (stopped.at("/location/function"), stopped.variable("n")),
            (&json!("safely"), n.to_string().as_str())
        );
    }
    session.finish_at_end().await;
}

const LITERALS: &str = "\
//go:build go1.23

package main

var handler = func(n int) int { // @variable
\treturn n + 1
}

func each(yield func(int) bool) {
\t_ = yield(1) && yield(2)
}

func run(handle func(int) int) int {
\treturn handle(3)
}

func main() {
\tfor n := range 2 {
\t\tfunc() { // @called
\t\t\tdefer handler(n)
\t\t}()
\t}
\tfor n := range each {
\t\tfunc() { // @ranged
\t\t\tdefer handler(n)
\t\t}()
\t}
\trun(
\t\tfunc(n int) int { // @argument
\t\t\treturn n + 2
\t\t},
\t)
}
";

#[tokio::test]
async fn a_breakpoint_on_a_line_with_code_in_a_closure_alone_stops_there() {
    let module = Module::new(&[("main.go", LITERALS)]);
    let program = module.file("main.go");
    let session = Debugging::of(test_support::Language::Go).await;
    for (marker, hits) in [("variable", 4), ("called", 2), ("ranged", 2), ("argument", 1)] {
        session.break_at(&program, marker).await;
        let mut stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
        for hit in 1..=hits {
            assert_eq!(stopped.place(), (program.path(), program.line(marker)), "{hit}: {}", stopped.text);
            if hit < hits {
                stopped = session.go_on().await;
            }
        }
        session.run_to_the_end().await;
        session.ok("clear_breakpoints", json!({})).await;
    }
    session.finish().await;
}

const WITHOUT_CODE: &str = "\
package main

func poll(queue chan int) int { // @poll
\tselect { // @select
\tcase got := <-queue: // @case
\t\treturn got
\tdefault:
\t\treturn -1
\t}
}

func grade(points int) (text string) {
\t_ = points // @blank
\tswitch { // @switch
\tcase points > 9: // @first
\t\ttext = \"high\"
\tdefault:
\t\ttext = \"low\"
\t}
\treturn text
}

func unused(points int) int {
\tswitch {
\tcase points > 9: // @unused
\t\treturn 1
\t}
\treturn 2
}

func rank(points int) {
\t_ = points
\tswitch {
\tcase points > 9: // @rank
\t\treturn
\tcase points > 5:
\t\tprintln(points)
\t\treturn
\t}
\tprintln(\"low\")
}

func main() {
\tprintln(poll(nil), grade(3))
\trank(10)
\trank(3)
}
";

#[tokio::test]
async fn a_line_that_the_compiler_makes_no_code_of_moves_on_within_its_function() {
    let module = Module::new(&[("main.go", WITHOUT_CODE)]);
    let program = module.file("main.go");
    let session = Debugging::of(test_support::Language::Go).await;
    session.ok("set_breakpoint", json!({ "function": "poll" })).await;
    for marker in ["select", "blank", "first", "unused"] {
        session.break_at(&program, marker).await;
    }
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    // The first line of its body has a breakpoint.
    assert_eq!(stopped.place(), (program.path(), program.line("poll")), "{}", stopped.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("case")), "{}", stopped.text);
    let lines: Vec<_> =
        session.breakpoints().await.iter().skip(1).map(|breakpoint| breakpoint["line"].clone()).collect();
    let expected = ["case", "first", "first", "unused"].map(|marker| json!(program.line(marker)));
    assert_eq!(lines, expected, "{}", stopped.text);
    let unused = &session.breakpoints().await[4];
    assert!(unused["message"].as_str().unwrap().contains("nothing calls"), "{unused}");
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("first")), "{}", stopped.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_breakpoint_on_a_function_stops_on_a_line_that_all_calls_reach() {
    let module = Module::new(&[("main.go", WITHOUT_CODE)]);
    let program = module.file("main.go");
    let session = Debugging::of(test_support::Language::Go).await;
    for function in ["poll", "grade", "rank"] {
        session.ok("set_breakpoint", json!({ "function": function })).await;
    }
    let mut stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    for marker in ["case", "first", "rank", "rank"] {
        assert_eq!(stopped.place(), (program.path(), program.line(marker)), "{}", stopped.text);
        if marker == "first" {
            // Delve refuses the line where that of the function is.
            let line = json!({ "file": program.path(), "line": program.line("rank") });
            let set = session.ok("set_breakpoint", line).await;
            assert!(set.text.contains("another breakpoint is at "), "{}", set.text);
        }
        stopped = session.go_on().await;
    }
    assert_eq!(stopped.outcome(), "ended", "{}", stopped.text);
    session.finish().await;
}

#[tokio::test]
async fn a_condition_that_is_false_around_a_closure_does_not_stop_in_it() {
    let module = Module::new(&[("main.go", DEFERS)]);
    let program = module.file("main.go");
    let session = Debugging::of(test_support::Language::Go).await;
    let line = program.line("safely");
    let set = json!({ "file": program.path(), "line": line, "condition": "n == 3" });
    session.ok("set_breakpoint", set).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!((stopped.at("/location/function"), stopped.variable("n")), (&json!("safely"), "3"));
    let breakpoints = session.breakpoints().await;
    assert!(breakpoints.iter().all(|breakpoint| breakpoint["hits"] == 1), "{breakpoints:?}");
    assert!(!stopped.text.contains("failed"), "{}", stopped.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_compile_error_is_reported_with_file_and_line() {
    let module = Module::new(&[("main.go", "package main\n\nfunc main() {\n\tvar x int = \"no\"\n}\n")]);
    let session = Debugging::of(test_support::Language::Go).await;
    for program in [module.path("main.go"), module.folder().to_owned()] {
        let failed = session.fails("start_failed", "start_debugging", json!({ "scriptPath": program })).await;
        let at = format!("{}:4:14: cannot use \"no\"", module.path("main.go").display());
        assert!(failed.text_of("message").contains(&at), "{}", failed.text);
    }
    session.finish().await;
}

#[tokio::test]
async fn a_library_without_tests_is_reported_as_one() {
    let module = shop();
    let session = Debugging::of(test_support::Language::Go).await;
    let failed = session.call("start_debugging", json!({ "scriptPath": module.path("cart") })).await;
    assert!(failed.text_of("error").contains("is a library without tests"), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn stripped_and_optimized_binaries_name_how_to_build_them() {
    let module = shop();
    let optimized = module.path("shop-optimized");
    test_support::run_go(module.folder(), &["build", "-o", optimized.to_str().unwrap(), "."]).await;
    let session = Debugging::of(test_support::Language::Go).await;
    session.ok("set_breakpoint", json!({ "function": "main.main" })).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": optimized })).await;
    assert!(
        stopped.at("/notes").to_string().contains("optimized: variables may be missing"),
        "{}",
        stopped.text
    );
    // What the user cannot build in another way.
    session.ok("set_breakpoint", json!({ "function": "fmt.Fprintln" })).await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.at("/location/function"), "fmt.Fprintln", "{}", stopped.text);
    assert!(!stopped.text.contains("optimized"), "{}", stopped.text);
    session.finish().await;
    let binary = module.path("shop-stripped");
    let arguments = ["build", "-ldflags=-s -w", "-o", binary.to_str().unwrap(), "."];
    test_support::run_go(module.folder(), &arguments).await;
    let session = Debugging::of(test_support::Language::Go).await;
    let failed = session.call("start_debugging", json!({ "scriptPath": binary })).await;
    assert!(failed.is_error, "{}", failed.text);
    assert!(failed.text_of("message").contains("go build -gcflags='all=-N -l'"), "{}", failed.text);
    session.finish().await;
}
