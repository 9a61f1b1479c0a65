//! Goroutines as threads.

use serde_json::json;
use test_support::Language;

use crate::Module;
use crate::debugging::{Debugging, Report};

const WAITS: &str = "\
package main

import (
\t\"sync\"
\t\"time\"
)

func receives(answers chan int) { <-answers }
func locks(lock *sync.Mutex)    { lock.Lock() }
func sleeps()                   { time.Sleep(time.Hour) }

func main() {
\tvar lock sync.Mutex
\tlock.Lock()
\tgo receives(make(chan int))
\tgo locks(&lock)
\tgo sleeps()
\ttime.Sleep(100 * time.Millisecond)
\tprintln(\"all\") // @all
}
";

#[tokio::test]
async fn each_goroutine_reports_what_it_waits_for() {
    let module = Module::new(&[("main.go", WAITS)]);
    let (session, stopped) = Debugging::stopped_at(&module.file("main.go"), "all").await;
    let listed = session.ok("list_threads", json!({})).await;
    let threads = listed["threads"].as_array().unwrap();
    let name = |part: &str| {
        let mut names = threads.iter().filter_map(|thread| thread["name"].as_str());
        names.find(|name| name.contains(part)).unwrap_or_default().to_owned()
    };
    assert_eq!(name("goroutine 1:"), "goroutine 1: main");
    assert!(name("receives").ends_with(": receives [chan receive]"), "{}", listed.text);
    assert!(name("sync.Mutex.Lock").starts_with("goroutine "), "{}", listed.text);
    assert!(name("[sleep]").starts_with("goroutine "), "{}", listed.text);
    let receiver = threads.iter().find(|thread| thread["name"].as_str().unwrap().contains("receives"));
    let arguments = json!({ "threadId": receiver.unwrap()["id"] });
    let stack = session.ok("get_stack_trace", arguments).await;
    assert!(stack.text.contains("\"receives\""), "{}", stack.text);
    assert_eq!(stopped.at("/location/function"), "main");
    session.finish().await;
}

const MEETS: &str = "\
package main

import \"sync\"

func run[T any](id int, _ T) int {
\tsum := 0
\tfor pass := 0; pass < 20; pass++ {
\t\tsum += id * pass // @pass
\t}
\treturn sum
}

func main() {
\tvar group sync.WaitGroup
\trun(4, \"\")
\trun(5, 0)
\tfor id := 0; id < 4; id++ {
\t\tgroup.Add(1)
\t\tgo func() {
\t\t\tdefer group.Done()
\t\t\tif id%2 == 0 {
\t\t\t\trun(id, \"\")
\t\t\t} else {
\t\t\t\trun(id, 0)
\t\t\t}
\t\t}()
\t}
\tgroup.Wait()
}
";

#[tokio::test]
async fn goroutines_that_come_to_a_line_together_are_all_counted() {
    let module = Module::new(&[("main.go", MEETS)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    session.break_with(&program, "pass", json!({ "logMessage": "{id}/{pass}" })).await;
    let ended = session.start(&program).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    let log = session.written("log").await;
    let mut lines: Vec<String> = log.lines().map(ToOwned::to_owned).collect();
    lines.sort_unstable();
    let mut expected: Vec<String> =
        (0..6).flat_map(|id| (0..20).map(move |pass| format!("{id}/{pass}"))).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    session.finish().await;
}

const WALKS: &str = "\
package main

import (
\t\"sync\"
\t\"time\"
)

func weigh(id, pass int) int {
\tweight := id*10 + pass
\treturn weight // @weighed
}

func run(id int) int {
\tsum := 0
\tfor pass := range 5 {
\t\tsum += weigh(id, pass)
\t\ttime.Sleep(2 * time.Millisecond)
\t\tsum++ // @awake
\t}
\treturn sum
}

func main() {
\tvar group sync.WaitGroup
\trun(4)
\tfor id := 0; id < 4; id++ {
\t\tgroup.Add(1)
\t\tgo func() {
\t\t\tdefer group.Done()
\t\t\trun(id)
\t\t}()
\t}
\tgroup.Wait()
}
";

#[tokio::test]
async fn each_hit_is_reported_once_while_steps_and_other_goroutines_interrupt_each_other() {
    let module = Module::new(&[("main.go", WALKS)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    session.break_with(&program, "weighed", json!({ "condition": "pass == 3" })).await;
    session.break_with(&program, "awake", json!({ "condition": "pass == 1" })).await;
    let (mut hits, mut is_step) = (Vec::new(), false);
    let mut report = session.start(&program).await;
    while report["state"] == "paused" {
        match report.outcome() {
            "breakpoint" => hits.push((report.place().1, report.variable("id").to_owned())),
            outcome => assert!(is_step && outcome == "step", "{}", report.text),
        }
        is_step = !is_step;
        let stepped = if is_step { Some(session.call("step_over", json!({})).await) } else { None };
        report = match stepped {
            Some(report) if !report.is_error => report,
            // One that was interrupted has not ended.
            Some(refused) => {
                assert!(refused.text.contains("continue, or set a breakpoint"), "{}", refused.text);
                is_step = false;
                session.go_on().await
            }
            None => session.go_on().await,
        };
    }
    assert_eq!(report.outcome(), "ended", "{}", report.text);
    hits.sort();
    let lines = ["weighed", "awake"].map(|name| program.line(name));
    let each = lines.into_iter().flat_map(|line| (0..5).map(move |id| (line, id.to_string())));
    assert_eq!(hits, each.collect::<Vec<_>>());
    session.finish().await;
}

const TICKS: &str = "\
package main

import \"time\"

type counter struct{ n int }

var (
\ttotal = &counter{}
\tticks int
)

func (c *counter) add(by int) int {
\ttime.Sleep(5 * time.Millisecond)
\tc.n += by // @adds
\treturn c.n
}

func tick() {
\tfor {
\t\ttime.Sleep(100 * time.Microsecond)
\t\tticks++ // @ticks
\t}
}

func main() {
\tgo tick()
\tfor i := 1; i < 3; i++ {
\t\ttotal.add(i) // @round
\t}
}
";

#[tokio::test]
async fn an_expression_calls_a_function_past_breakpoints_in_it_and_in_other_goroutines() {
    let module = Module::new(&[("main.go", TICKS)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    session.break_with(&program, "ticks", json!({ "hitCondition": "1000000" })).await;
    session.break_with(&program, "adds", json!({ "condition": "call total.add(100) > 200" })).await;
    session.break_with(&program, "round", json!({ "condition": "i == 1" })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("round")), "{}", stopped.text);
    assert_eq!(session.evaluate("call total.add(50)").await, "50");
    assert_eq!(session.evaluate("i").await, "1");
    // The condition has called `add` twice: the first time, it was 150.
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("adds")), "{}", stopped.text);
    assert_eq!((stopped.variable("by"), session.evaluate("total.n").await.as_str()), ("2", "251"));
    session.finish().await;
}
