//! Breakpoints that change while places are recorded, and stops beside them.

use engine::debugger::Step;
use engine::model::breakpoint::Rule;
use engine::recording::Record;
use engine::session::Outcome;

use crate::scene::{Scene, scenes};

/// It goes round until a file is there, or for a minute.
const WORKER: &str = "\
import os, time

def work():
    i = 0
    until = time.monotonic() + 60
    while time.monotonic() < until:
        i += 1  # @pass
        if i % 50 == 0 and os.path.exists('enough'):
            break
    return i

made = work()
print(made, end='')
";

const OTHER: &str = "def other():\n    return 1  # @other\n";

/// Waits for a stop, and returns its line.
async fn stopped(scene: &Scene) -> u32 {
    let outcome = scene.wait().await;
    assert!(matches!(outcome, Outcome::Stopped(_)), "{:?}: {outcome:?}", scene.way);
    let stack = scene.session.stack_trace(None, 0, 1).await.unwrap();
    stack.frames[0].location.as_ref().unwrap().line
}

#[tokio::test]
async fn a_removed_breakpoint_reports_its_count_and_stops_recording() {
    for scene in scenes(&[("main.py", WORKER)]).await {
        let record = Record { max_rows: 3, ..scene.record(&["i"]) };
        scene.with("main.py", "pass", record).await;
        scene.start().await;
        scene.passed(1, 500).await;
        scene.session.remove_breakpoints(|_, _| true).await.unwrap();
        scene.recorder.sync().await;
        let before = scene.recorder.recorded();
        scene.give("enough");
        let recorder = scene.recorder.clone();
        let ran = scene.end().await;
        let made: u64 = ran.output.parse().unwrap();
        let counted = ran.counts[&1];
        assert!(made >= counted, "{:?}", ran.way);
        assert_eq!(before.rows.len(), 3);
        // One pass may have been under way.
        let later = recorder.recorded();
        assert!(later.hits.values().sum::<u64>() - before.hits.values().sum::<u64>() <= 1, "{:?}", ran.way);
    }
}

/// pydevd re-examines all code when any breakpoint changes.
#[tokio::test]
async fn changing_other_breakpoints_loses_and_repeats_no_hit() {
    for scene in scenes(&[("main.py", WORKER), ("other.py", OTHER)]).await {
        scene.at("pass", &["i"]).await;
        scene.start().await;
        for round in 1..=5 {
            scene.passed(1, round * 200).await;
            let other = scene.set("other.py", "other", Rule::default()).await;
            scene.passed(1, round * 200 + 100).await;
            scene.session.remove_breakpoints(move |id, _| id == other.id).await.unwrap();
        }
        scene.give("enough");
        let ran = scene.end().await;
        let made: u64 = ran.output.parse().unwrap();
        let expected: Vec<String> = (1..=made).map(|hit| format!("{hit}: {}", hit - 1)).collect();
        assert_eq!(ran.counts[&1], made, "{:?}", ran.way);
        assert!(ran.table(1) == expected[..expected.len().min(100_000)], "{:?}", ran.way);
    }
}

const STEPS: &str = "\
def work(count):
    total = 0
    for i in range(count):
        total += i  # @pass
        half = total // 2  # @half
        double = total * 2  # @double
    return total

work(4)
";

#[tokio::test]
async fn a_line_that_stops_is_recorded_as_well() {
    for scene in scenes(&[("main.py", STEPS)]).await {
        scene.at("pass", &["i"]).await;
        let third = Rule { condition: Some("i == 2".to_owned()), ..Rule::default() };
        scene.set("main.py", "pass", third).await;
        scene.start().await;
        stopped(&scene).await;
        scene.recorder.sync().await;
        assert_eq!(scene.recorder.len(), 3, "{:?}", scene.way);
        scene.session.resume().await.unwrap();
        let ran = scene.end().await;
        assert_eq!(ran.table(1), ["1: 0", "2: 1", "3: 2", "4: 3"], "{:?}", ran.way);
        ran.was_quiet();
    }
}

#[tokio::test]
async fn stops_and_steps_in_the_recorded_function_work() {
    for scene in scenes(&[("main.py", STEPS)]).await {
        scene.at("pass", &["i"]).await;
        scene.at("double", &["double if i else None"]).await;
        let half = scene.set("main.py", "half", Rule::default()).await;
        scene.start().await;
        let line = half.line().unwrap();
        let mut lines = vec![stopped(&scene).await];
        for _ in 0..4 {
            scene.session.step(None, Step::Over).await.unwrap();
            lines.push(stopped(&scene).await);
        }
        let expected = [line, line + 1, line - 2, line - 1, line];
        assert_eq!(lines, expected, "{:?}", scene.way);
        let gone = half.id;
        scene.session.remove_breakpoints(move |id, _| id == gone).await.unwrap();
        scene.session.resume().await.unwrap();
        let ran = scene.end().await;
        assert_eq!(ran.table(1), ["1: 0", "2: 1", "3: 2", "4: 3"], "{:?}", ran.way);
        assert_eq!(ran.table(2), ["1: None", "2: 0", "3: 2", "4: 6"], "{:?}", ran.way);
        ran.was_quiet();
    }
}

#[tokio::test]
async fn an_expression_that_reaches_the_breakpoint_is_not_a_hit() {
    let source = "def again(n):\n    n = n  # @pass\n    return n\n\nagain(1)\nagain(2)\n";
    for scene in scenes(&[("main.py", source)]).await {
        scene.at("pass", &["n", "again(7)"]).await;
        let ran = scene.run().await;
        assert_eq!(ran.table(1), ["1: 1, 7", "2: 2, 7"], "{:?}", ran.way);
        ran.was_quiet();
    }
}
