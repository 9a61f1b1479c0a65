//! Steps and variables of functions, with deferred calls and results without names.

use serde_json::json;
use test_support::Language;

use crate::Module;
use crate::debugging::{Debugging, Report};

const MAIN: &str = "\
package main

import (
\t\"fmt\"
\t\"sync\"
)

type Box struct {
\tmutex sync.Mutex
\tn     int
}

func (box *Box) add(n int) int {
\tbox.mutex.Lock()
\tdefer box.mutex.Unlock()
\tbox.n += n // @adds
\treturn box.n // @returns
} // @ends

func main() { deep(50) }

func deep(more int) {
\tif more > 0 {
\t\tdeep(more - 1)
\t\treturn
\t}
\tbox := &Box{}
\ttable := []struct {
\t\tname string
\t\tn    int
\t}{{\"one\", 1}}
\tfor _, row := range table {
\t\tsum := box.add(row.n) // @call
\t\tfmt.Println(row.name, sum) // @print
\t}
}
";

#[tokio::test]
async fn a_step_off_the_end_of_a_function_runs_its_deferred_calls_and_comes_to_the_caller() {
    let module = Module::new(&[("main.go", MAIN)]);
    let program = module.file("main.go");
    for tool in ["step_over", "step_into"] {
        let (session, stopped) = Debugging::stopped_at(&program, "adds").await;
        let names: Vec<_> =
            stopped["locals"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, [json!("box"), json!("n")], "{}", stopped.text);
        for line in ["returns", "ends", "call", "print"] {
            let stepped = session.step(tool).await;
            assert_eq!(stepped.place().1, program.line(line), "{tool}: {}", stepped.text);
        }
        session.finish().await;
    }
}

#[tokio::test]
async fn a_structure_without_a_name_shows_its_values_and_a_step_passes_log_messages() {
    let module = Module::new(&[("main.go", MAIN)]);
    let program = module.file("main.go");
    let (session, stopped) = Debugging::stopped_at(&program, "call").await;
    let row = stopped["locals"].as_array().unwrap().iter().find(|one| one["name"] == "row").unwrap();
    assert_eq!(row["value"], "struct {...}{name: \"one\", n: 1}", "{}", stopped.text);
    assert_eq!(row["type"], "struct { name string; n int }", "{}", stopped.text);
    assert_eq!(session.evaluate("table").await, "[]struct {...}{{name: \"one\", n: 1}}");
    assert_eq!(stopped.outcome(), "breakpoint");
    session.break_with(&program, "adds", json!({ "logMessage": "adds {n}" })).await;
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place().1, program.line("print"), "{}", stepped.text);
    assert_eq!(stepped["output"], "[log] adds 1\n", "{}", stepped.text);
    session.finish().await;
}

#[tokio::test]
async fn tests_that_do_not_pass_vet_are_refused_with_that_word() {
    let test = "package shop\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestOne(t *testing.T) {\n\tfmt.Printf(\"%d\", \"one\")\n}\n";
    let module = Module::new(&[("shop.go", "package shop\n"), ("shop_test.go", test)]);
    let session = Debugging::of(Language::Go).await;
    let arguments = json!({ "scriptPath": module.path("shop_test.go"), "timeout": 50_000 });
    let failed = session.call("start_debugging", arguments).await;
    assert!(failed.is_error && failed.text.contains("does not pass `go vet`"), "{}", failed.text);
    assert!(failed.text.contains("shop_test.go:9:"), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn a_function_on_one_line_stops_where_it_is_called() {
    let program =
        "package main\n\nfunc one() int { return 1 } // @one\n\nfunc main() {\n\tprintln(one())\n}\n";
    let module = Module::new(&[("main.go", program)]);
    let main = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    let set = session.break_at(&main, "one").await;
    assert!(!set.text.contains("not at calls"), "{}", set.text);
    let stopped =
        session.ok("start_debugging", json!({ "scriptPath": main.path(), "timeout": 50_000 })).await;
    assert_eq!(stopped.place(), (main.path(), main.line("one")), "{}", stopped.text);
    session.finish().await;
}
