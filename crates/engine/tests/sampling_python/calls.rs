//! Where time is spent.

use engine::model::activity::{CallNode, WaitKind};
use engine::session::Outcome;
use tokio::time::Instant;

use crate::scene::{Scene, call, place, thread, versions};

#[tokio::test]
async fn a_busy_loop_has_its_function_and_lines() {
    let source = "\
def spin(limit):
    i = 0
    while i >= 0:  # @head
        i += 1  # @body

def begin():
    spin(3)  # @call

begin()  # @main
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let mut observed = 0;
        let activity = scene
            .until(|activity| {
                observed += activity.threads.iter().map(|thread| thread.samples).sum::<u64>();
                // The first samples may be of the time before, or of stacks as text, which have no first lines.
                let is_known =
                    |spin: &CallNode| spin.location.as_ref().is_some_and(|location| location.line > 0);
                observed >= 10
                    && activity.threads.iter().any(|thread| call(&thread.calls, "spin").is_some_and(is_known))
            })
            .await;
        let main = thread(&activity, "MainThread");
        assert_eq!((main.blocked.as_ref(), main.is_daemon), (None, false), "{:?}", scene.way);
        let spin = call(&main.calls, "spin").unwrap();
        assert_eq!(place(spin.location.as_ref()), "main.py:1");
        assert!(
            spin.total <= main.samples
                && spin.lines.iter().map(|(_, times)| times).sum::<u64>() == spin.total
        );
        let lines = [scene.line("head"), scene.line("body")];
        assert!(spin.lines.iter().all(|(line, _)| lines.contains(line)), "{:?}: {spin:?}", scene.way);
        let caller = call(&main.calls, "begin").unwrap();
        assert_eq!(caller.lines.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [scene.line("call")]);
        let stack: Vec<&str> = main.stack.iter().map(|frame| frame.function.as_str()).collect();
        assert_eq!(stack, ["spin", "begin", "<module>"], "{:?}", scene.way);
        assert_eq!(activity.threads.len(), 1, "{:?}: {activity:#?}", scene.way);
        scene.end().await;
    }
}

/// A sample is in one answer only.
#[tokio::test]
async fn each_profile_has_the_samples_since_the_previous_one() {
    for way in versions().await {
        let begun = Instant::now();
        let scene = Scene::start(way, "while True: pass\n").await;
        let mut total = 0;
        scene
            .until(|activity| {
                total += thread(activity, "MainThread").samples;
                total > 20
            })
            .await;
        // Each answer takes one sample of its own, and none is given in less than a millisecond.
        let most = begun.elapsed().as_millis();
        assert!(u128::from(total) <= most, "{:?}: {total} in {most}", scene.way);
        scene.end().await;
    }
}

/// Native code that holds the GIL blocks everything else in the program.
#[tokio::test]
async fn native_code_that_holds_the_gil_is_sampled_from_outside() {
    let source = "\
import re, threading, time

def other():
    while True: time.sleep(0.01)

def match():
    re.match('(a+)+$', 'a' * 64 + 'b')  # @match

threading.Thread(target=other, name='other', daemon=True).start()
match()
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let mut samples = 0;
        let activity = scene
            .until(|activity| {
                let main = activity.threads.iter().find(|thread| thread.name == "MainThread");
                let found = main.and_then(|main| call(&main.calls, "match"));
                let lines = found.iter().flat_map(|found| &found.lines);
                samples += lines
                    .filter(|(line, _)| *line == scene.line("match"))
                    .map(|(_, times)| times)
                    .sum::<u64>();
                samples > 20 && main.is_some_and(|main| !main.stack.is_empty())
            })
            .await;
        let main = thread(&activity, "MainThread");
        let stack: Vec<String> = main.stack.iter().map(|frame| frame.function.clone()).collect();
        assert_eq!(stack.get(1..), Some(&["match".to_owned(), "<module>".to_owned()][..]), "{:?}", scene.way);
        assert_eq!(
            place(main.stack.get(1).and_then(|frame| frame.location.as_ref())),
            format!("main.py:{}", scene.line("match"))
        );
        scene.end().await;
    }
}

/// A child that was forked off is watched by itself, and neither of them is kept from ending.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_fork_does_not_disturb_sampling() {
    let source = "\
import os, sys, time

for _ in range(20):
    child = os.fork()
    if not child:
        sys.exit(0)
    os.waitpid(child, 0)

def spin():
    while True: pass

if not os.fork():
    spin()
time.sleep(1000)  # @sleep
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let until = Instant::now() + std::time::Duration::from_mins(1);
        // Each look takes a sample itself. More are those that were taken without being asked for.
        let (mut looks, mut spun) = (0, 0);
        loop {
            let all = scene.session.activity().await.unwrap();
            let waits = all
                .iter()
                .flat_map(|process| &process.activity.threads)
                .any(|thread| thread.blocked.as_ref().is_some_and(|wait| wait.kind == WaitKind::Timer));
            for process in &all {
                for thread in &process.activity.threads {
                    let Some(spin) = call(&thread.calls, "spin") else { continue };
                    assert_eq!(
                        thread.os_thread, process.pid,
                        "{:?}: it is the child's only thread",
                        scene.way
                    );
                    looks += 1;
                    spun += spin.total;
                }
            }
            if waits && spun > looks {
                break;
            }
            assert!(Instant::now() < until, "{:?}: {all:#?}", scene.way);
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn a_sampled_program_ends_normally() {
    let source = "\
import threading, time
threading.Thread(target=time.sleep, args=(0.3,)).start()
print('done')
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let outcome = scene.session.wait(Instant::now() + std::time::Duration::from_mins(1)).await;
        let Outcome::Ended(end) = outcome else { panic!("{:?}: {outcome:?}", scene.way) };
        assert_eq!(*end, engine::model::stop::End::Exited(0), "{:?}", scene.way);
        assert_eq!(scene.session.output().tail(0, 1000).text(), "done\n", "{:?}", scene.way);
        scene.session.activity().await.unwrap_err();
        scene.end().await;
    }
}

/// The file that a watchdog writes into, among those that a process has open.
fn has_watchdog(pid: u32) -> bool {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let mut names = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    names.any(|name| name.starts_with("/memfd:stillframe (deleted)"))
}

#[tokio::test]
async fn a_program_is_unaffected_once_sampling_stops() {
    for way in versions().await {
        let scene = Scene::start(way, "import time\nwhile True: time.sleep(0.01)\n").await;
        let pid = scene.session.activity().await.unwrap()[0].pid.unwrap();
        assert!(has_watchdog(pid), "{:?}", scene.way);
        scene.session.stop_sampling().await.unwrap();
        assert!(!has_watchdog(pid), "{:?}", scene.way);
        scene.session.start_sampling(std::time::Duration::from_millis(50)).await.unwrap();
        scene.until(|activity| thread(activity, "MainThread").samples > 0).await;
        scene.end().await;
    }
}
