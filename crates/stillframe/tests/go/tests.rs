//! `go test`: chosen by name, and the first failure with its values.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report};
use crate::{Module, STILLFRAME};

const CART: &str = "\
package cart

func Total(prices []int) int {
\ttotal := 0
\tfor _, price := range prices[1:] {
\t\ttotal += price
\t}
\treturn total
}
";
const TESTS: &str = "\
package cart

import \"testing\"

func TestEmpty(t *testing.T) {
\tif got := Total([]int{0}); got != 0 {
\t\tt.Errorf(\"got %d, want 0\", got)
\t}
}

func TestTotal(t *testing.T) {
\tfor _, test := range []struct {
\t\tname   string
\t\tprices []int
\t\twant   int
\t}{{\"one\", []int{0, 3}, 3}, {\"two\", []int{1, 2}, 3}} {
\t\tt.Run(test.name, func(t *testing.T) {
\t\t\tgot := Total(test.prices)
\t\t\tif got != test.want {
\t\t\t\tt.Errorf(\"got %d, want %d\", got, test.want) // @fails
\t\t\t}
\t\t})
\t}
}

func TestPanics(t *testing.T) {
\tt.Log(\"empty\")
\tTotal(nil) // @panics
}
";

fn cart() -> Module {
    Module::new(&[("cart/cart.go", CART), ("cart/cart_test.go", TESTS)])
}

#[tokio::test]
async fn the_first_failure_is_reported_with_both_sides_and_the_tests_locals() {
    let module = cart();
    let tests = module.file("cart/cart_test.go");
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "command": "go",
        "args": ["test", "./cart", "-run", "TestTotal|TestEmpty"],
        "cwd": module.folder(),
        "timeout": 120_000,
    });
    let tested = server.ok("debug_test", arguments).await;
    assert_eq!(tested["verdict"], "failed", "{}", tested.text);
    assert_eq!(tested.at("/failure/test"), "TestTotal/two", "{}", tested.text);
    assert!(tested.text.contains("got 2, want 3"), "{}", tested.text);
    let failure = &tested["failure"];
    assert_eq!(failure["line"], tests.line("fails"), "{}", tested.text);
    let locals = failure["frames"][0]["locals"].to_string();
    assert!(locals.contains("\"name\":\"got\"") && locals.contains("\"value\":\"2\""), "{}", tested.text);
    let sides = failure["assertion"].to_string();
    assert!(sides.contains('2') && sides.contains('3'), "{}", tested.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn passing_tests_panics_and_unmatched_names_are_reported() {
    let module = cart();
    let server = STILLFRAME.serve().await;
    let passes =
        json!({ "command": "go test ./cart -run TestEmpty", "cwd": module.folder(), "timeout": 120_000 });
    let tested = server.ok("debug_test", passes).await;
    assert_eq!(tested["verdict"], "passed", "{}", tested.text);
    let panics = json!({ "command": "go test ./cart -run TestPanics", "cwd": module.folder() });
    let tested = server.ok("debug_test", panics).await;
    assert_eq!(tested.at("/failure/exception/type"), "panic", "{}", tested.text);
    let message = tested.at("/failure/message").as_str().unwrap();
    assert!(message.contains("runtime error: slice bounds out of range [1:0]"), "{}", tested.text);
    assert_eq!(tested.at("/failure/details"), "empty", "{}", tested.text);
    let none = json!({ "command": "go test ./cart -run TestMissing", "cwd": module.folder() });
    let tested = server.ok("debug_test", none).await;
    assert_eq!(tested["verdict"], "no_tests", "{}", tested.text);
    server.finish().await;
}

const PARALLEL: &str = "\
package stock

import \"testing\"

type Pair[K comparable, V any] struct {
\tKey K
\tVal V
}

func TestPairs(t *testing.T) {
\tfor _, test := range []struct {
\t\tname string
\t\twant int
\t}{{\"one\", 1}, {\"two\", 3}, {\"three\", 2}} {
\t\tt.Run(test.name, func(t *testing.T) {
\t\t\tt.Parallel()
\t\t\tpairs := []Pair[string, int]{{\"a\", 1}, {\"b\", 2}}[:min(test.want, 2)]
\t\t\tif len(pairs) != test.want {
\t\t\t\tt.Fatalf(\"got %d, want %d\", len(pairs), test.want) // @fails
\t\t\t}
\t\t})
\t}
}
";

/// What is printed last is of another test.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_failure_of_a_parallel_test_has_its_own_locals() {
    let module = Module::new(&[("stock/stock_test.go", PARALLEL)]);
    let tests = module.file("stock/stock_test.go");
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "go test ./stock", "cwd": module.folder(), "timeout": 120_000 });
    let tested = server.ok("debug_test", asked).await;
    let failure = &tested["failure"];
    assert_eq!(
        (&failure["test"], &failure["line"]),
        (&json!("TestPairs/two"), &json!(tests.line("fails"))),
        "{}",
        tested.text
    );
    let locals = failure["frames"][0]["locals"].to_string();
    assert!(locals.contains("name: \\\"two\\\""), "{}", tested.text);
    assert!(locals.contains("Pair[string, int]{{Key: \\\"a\\\", Val: 1}, {"), "{}", tested.text);
    server.finish().await;
}

const ENDS: &str = "\
package ends

import (
\t\"sync\"
\t\"testing\"
)

func TestFirst(t *testing.T) {}

func TestGo(t *testing.T) {
\tdone := make(chan bool)
\tgo func() {
\t\tvar prices map[string]int
\t\tprices[\"lamp\"] = 1 // @panics
\t\tdone <- true
\t}()
\t<-done
}

func TestWaits(t *testing.T) {
\tvar lock sync.Mutex
\tlock.Lock()
\tlock.Lock() // @waits
}
";

#[tokio::test]
async fn a_test_fails_in_which_the_program_ends() {
    let module = Module::new(&[("ends/ends_test.go", ENDS)]);
    let tests = module.file("ends/ends_test.go");
    let server = STILLFRAME.serve().await;
    let table = [
        ("TestGo", "assignment to entry in nil map", "panics"),
        ("TestWaits", "all goroutines are asleep - deadlock!", "waits"),
    ];
    for (test, message, line) in table {
        let args = json!(["test", "./ends", "-run", format!("TestFirst|{test}")]);
        let asked = json!({ "command": "go", "args": args, "cwd": module.folder(), "timeout": 120_000 });
        let tested = server.ok("debug_test", asked).await;
        assert_eq!(tested.at("/tests/failed"), 1, "{}", tested.text);
        let failure = &tested["failure"];
        let found = (&failure["test"], &failure["message"], &failure["line"]);
        let expected = (&json!(test), &json!(message), &json!(tests.line(line)));
        assert_eq!(found, expected, "{}", tested.text);
    }
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_deadlock_is_shown_in_the_test_that_the_runner_waits_for() {
    let module = Module::new(&[("ends/ends_test.go", ENDS)]);
    let server = STILLFRAME.serve().await;
    let command = "go test ./ends -run TestWaits";
    let asked = json!({ "command": command, "cwd": module.folder(), "timeout": 60_000 });
    let answer = server.ok("diagnose_hang", asked).await;
    assert_eq!(answer["verdict"], "deadlocked", "{}", answer.text);
    let function = answer.at("/hungAt/function").as_str().unwrap();
    assert!(function.ends_with("TestWaits"), "{}", answer.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn of_several_packages_the_first_that_fails_is_debugged() {
    let passes = "package bag\n\nimport \"testing\"\n\nfunc TestBag(t *testing.T) {}\n";
    let module = Module::new(&[
        ("main.go", "package main\n\nfunc main() {}\n"),
        ("bag/bag_test.go", passes),
        ("cart/cart.go", CART),
        ("cart/cart_test.go", TESTS),
        ("stock/stock_test.go", PARALLEL),
    ]);
    let tests = module.file("cart/cart_test.go");
    let server = STILLFRAME.serve().await;
    let asked = json!({
        "command": "go test ./... -skip TestPanics", "cwd": module.folder(), "timeout": 120_000,
    });
    let tested = server.ok("debug_test", asked).await;
    let counts = json!({ "run": 7, "passed": 5, "failed": 2, "skipped": 0, "expectedFailures": 0 });
    assert_eq!(tested["tests"], counts, "{}", tested.text);
    let failure = &tested["failure"];
    assert_eq!(failure["test"], "TestTotal/two", "{}", tested.text);
    assert_eq!(
        (&failure["file"], &failure["line"]),
        (&json!(tests.path()), &json!(tests.line("fails"))),
        "{}",
        tested.text
    );
    assert_eq!(tested["otherFailures"][0]["name"], "example.com/shop/stock.TestPairs/two", "{}", tested.text);
    server.finish().await;
}

#[tokio::test]
async fn a_test_is_debugged_by_name() {
    let module = cart();
    let session = Debugging::of(Language::Go).await;
    let arguments = json!({ "scriptPath": module.path("cart/cart_test.go"), "args": ["-run", "TestPanics"], "timeout": 50_000 });
    let stopped = session.ok("start_debugging", arguments).await;
    let cart = module.file("cart/cart.go");
    assert_eq!((stopped.outcome(), stopped.place().0), ("exception", cart.path()), "{}", stopped.text);
    assert!(
        stopped.at("/exception/message").as_str().unwrap().contains("slice bounds out of range"),
        "{}",
        stopped.text
    );
    session.finish().await;
}
