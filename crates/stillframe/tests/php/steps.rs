//! Steps that a breakpoint interrupts, and frames that Xdebug makes up.

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report, written};

const SUMS: &str = "\
<?php
function sum(array $all): int {
    $sum = 0; // @inner
    foreach ($all as $one) {
        $sum += $one; // @adds
    }
    return $sum;
}
$first = sum([1, 2]); // @calls
$second = $first + 1; // @next
$third = $second + 1;
echo $third, \"\\n\"; // @last
";

#[tokio::test]
async fn a_step_that_a_breakpoint_interrupts_is_over() {
    let (_folder, program) = written("main.php", SUMS);
    for (step, begins, inside) in [("step_over", "calls", "inner"), ("step_out", "inner", "adds")] {
        let (session, _) = Debugging::stopped_at(&program, begins).await;
        session.break_at(&program, inside).await;
        let stopped = session.step(step).await;
        assert_eq!(stopped.place(), (program.path(), program.line(inside)), "{step}: {}", stopped.text);
        session.ok("clear_breakpoints", json!({})).await;
        session.break_at(&program, "last").await;
        let stopped = session.go_on().await;
        assert_eq!(stopped.outcome(), "breakpoint", "{step}: {}", stopped.text);
        assert_eq!(stopped.place(), (program.path(), program.line("last")), "{step}: {}", stopped.text);
        session.finish().await;
    }
}

/// Xdebug stops at the end of the step before the breakpoint, whose hit it leaves out.
#[tokio::test]
async fn a_breakpoint_where_an_interrupted_step_would_end_is_hit() {
    let (_folder, program) = written("main.php", SUMS);
    let (session, _) = Debugging::stopped_at(&program, "calls").await;
    session.break_at(&program, "inner").await;
    session.break_with(&program, "next", json!({ "condition": "$first === 3" })).await;
    let stopped = session.step("step_over").await;
    assert_eq!(stopped.place(), (program.path(), program.line("inner")), "{}", stopped.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
    assert_eq!(stopped.place(), (program.path(), program.line("next")), "{}", stopped.text);
    let ended = session.go_on().await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}

const MAGIC: &str = "\
<?php
class Proxy {
    public function __call(string $name, array $given): int {
        return count($given); // @call
    }
    public static function __callStatic(string $name, array $given): string {
        return strtoupper($name); // @static
    }
}
function run(): void {
    $proxy = new Proxy();
    $limit = 5;
    echo $proxy->size(1, 2), Proxy::label(), \"\\n\";
}
run();
";

#[tokio::test]
async fn a_method_that_does_not_exist_has_no_frame() {
    let (_folder, program) = written("main.php", MAGIC);
    for (name, function) in [("call", "Proxy->__call"), ("static", "Proxy::__callStatic")] {
        let (session, _) = Debugging::stopped_at(&program, name).await;
        let stack = session.ok("get_stack_trace", json!({})).await;
        let frames = stack["stackFrames"].as_array().expect("a list");
        let names: Vec<&Value> = frames.iter().map(|frame| &frame["name"]).collect();
        assert_eq!(names, [function, "run", "{main}"], "{}", stack.text);
        let asked = json!({ "frameId": frames[1]["id"], "expression": "$limit . get_class($proxy)" });
        let value = session.ok("evaluate_expression", asked).await;
        assert_eq!(value.text_of("result"), "\"5Proxy\"", "{}", value.text);
        session.finish().await;
    }
}
