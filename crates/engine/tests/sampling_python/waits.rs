//! What threads wait for.

use engine::model::activity::Activity;

use crate::scene::{Scene, place, versions, waits};

/// Runs a program until its main thread is blocked, and compares what it waits for; `PLACE` is the line
/// with `# @wait`.
async fn main_waits(imports: &str, body: &str, expected: &str) {
    let source = format!("import {imports}\n{body}\n");
    for way in versions().await {
        let scene = Scene::start(way, &source).await;
        let activity = scene.blocked("MainThread").await;
        let expected = expected.replace("PLACE", &format!("main.py:{}", scene.line("wait")));
        let reported = waits(&activity, "MainThread");
        // What differs from run to run.
        let reported = reported.split(' ').map(|word| if word.starts_with("PID") { "PID" } else { word });
        assert_eq!(reported.collect::<Vec<_>>().join(" "), expected, "{:?}: {body}", scene.way);
        scene.end().await;
    }
}

#[tokio::test]
async fn sleeps_are_reported() {
    main_waits("time", "time.sleep(1000)  # @wait", "Timer: a sleep of 1000 s at PLACE, timed").await;
}

#[tokio::test]
async fn reading_standard_input_is_reported() {
    main_waits("sys", "input()  # @wait", "Input: a line of standard input at PLACE").await;
    main_waits("sys", "sys.stdin.readline()  # @wait", "Input: standard input at PLACE").await;
    main_waits("sys", "for line in sys.stdin:  # @wait\n    pass", "Input: standard input at PLACE").await;
}

#[tokio::test]
async fn waits_for_queues_events_and_the_like_are_reported() {
    let table = [
        ("queue", "q = queue.Queue()\nq.get()  # @wait", "Lock: an item of the queue `q` at PLACE"),
        (
            "queue",
            "q = queue.Queue()\nq.get(timeout=900)  # @wait",
            "Lock: an item of the queue `q` at PLACE, timed",
        ),
        ("queue", "q = queue.SimpleQueue()\nq.get()  # @wait", "Lock: an item of the queue `q` at PLACE"),
        ("threading", "done = threading.Event()\ndone.wait()  # @wait", "Lock: the event `done` at PLACE"),
        (
            "threading",
            "cond = threading.Condition()\nwith cond:\n    cond.wait()  # @wait",
            "Lock: a notification of the condition `cond` at PLACE",
        ),
        (
            "threading",
            "free = threading.Semaphore(0)\nwith free:  # @wait\n    pass",
            "Lock: the semaphore `free` at PLACE",
        ),
        (
            "concurrent.futures",
            "job = concurrent.futures.Future()\njob.result()  # @wait",
            "Lock: the result of the future `job` at PLACE",
        ),
    ];
    for (imports, body, expected) in table {
        main_waits(imports, body, expected).await;
    }
}

#[tokio::test]
async fn waits_for_connections_are_reported() {
    let table = [
        (
            "server = socket.create_server(('127.0.0.1', 0))\nserver.accept()  # @wait",
            "Server: connections to 127.0.0.1:PORT at PLACE",
        ),
        (
            "one, other = socket.socketpair()\none.recv(10)  # @wait",
            "Socket: data from a socket without a name at PLACE",
        ),
    ];
    for (body, expected) in table {
        let source = format!("import socket\n{body}\n");
        for way in versions().await {
            let scene = Scene::start(way, &source).await;
            let reported = waits(&scene.blocked("MainThread").await, "MainThread");
            let port = reported.split([':', ' ']).find(|word| word.len() > 3 && word.parse::<u16>().is_ok());
            let reported = port.map_or_else(|| reported.clone(), |port| reported.replacen(port, "PORT", 1));
            let expected = expected.replace("PLACE", &format!("main.py:{}", scene.line("wait")));
            assert_eq!(reported, expected, "{:?}", scene.way);
            scene.end().await;
        }
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn waits_for_child_processes_are_reported() {
    let table = [
        ("subprocess.run(['sleep', '1000'])  # @wait", "the command `sleep 1000` (process "),
        ("subprocess.Popen(['sleep', '1000']).wait()  # @wait", "the command `sleep 1000` (process "),
        ("import os\nos.system('sleep 1000')  # @wait", "the command `sleep 1000`"),
    ];
    for (body, what) in table {
        let source = format!("import subprocess\n{body}\n");
        for way in versions().await {
            let scene = Scene::start(way, &source).await;
            let reported = waits(&scene.blocked("MainThread").await, "MainThread");
            let end = format!(" at main.py:{}", scene.line("wait"));
            assert!(
                reported.starts_with(&format!("Child: {what}")) && reported.ends_with(&end),
                "{:?}: {reported}",
                scene.way
            );
            scene.end().await;
        }
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn waits_for_pipes_and_file_locks_are_reported() {
    let table = [
        ("os", "ends = os.pipe()\nos.read(ends[0], 1)  # @wait", "File: data from a pipe at PLACE"),
        (
            "os, fcntl",
            "one, other = open('f', 'w'), open('f', 'w')\nfcntl.flock(one, fcntl.LOCK_EX)\nfcntl.flock(other, fcntl.LOCK_EX)  # @wait",
            "File: the lock of the file `FOLDER/f` at PLACE",
        ),
        (
            "os",
            "os.mkfifo('fifo')\nopen('fifo').read()  # @wait",
            "File: `fifo` to be opened at its other end at PLACE",
        ),
    ];
    for (imports, body, expected) in table {
        let source = format!("import {imports}\n{body}\n");
        for way in versions().await {
            let scene = Scene::start(way, &source).await;
            let reported = waits(&scene.blocked("MainThread").await, "MainThread");
            let expected = expected.replace("PLACE", &format!("main.py:{}", scene.line("wait")));
            let expected = expected.replace("FOLDER/f", &scene.path("f").to_string_lossy());
            assert_eq!(reported, expected, "{:?}", scene.way);
            scene.end().await;
        }
    }
}

/// Two threads take two locks in different orders.
#[tokio::test]
async fn deadlocked_threads_are_reported_with_lock_holders() {
    let by_with = "
def work(name, first, second):
    with first:
        met.wait()
        with second:  # @wait
            pass
";
    let in_one_statement = "
class Meets:
    def __enter__(self): met.wait()
    def __exit__(self, *error): pass

def work(name, first, second):
    with first, Meets(), second:  # @wait
        pass
";
    let by_acquire = "
def work(name, first, second):
    first.acquire()
    try:
        met.wait()
        second.acquire()  # @wait
        second.release()
    finally:
        first.release()
";
    for (body, kind) in [
        (by_with, "Lock"),
        (in_one_statement, "Lock"),
        (by_acquire, "Lock"),
        (by_with, "RLock"),
        (by_acquire, "RLock"),
    ] {
        let source = format!(
            "import threading\nmet = threading.Barrier(2)\na, b = threading.{kind}(), threading.{kind}()\n{body}
one = threading.Thread(target=work, args=('one', a, b), name='one')
two = threading.Thread(target=work, args=('two', b, a), name='two')
one.start(); two.start()
one.join()  # @join
"
        );
        for way in versions().await {
            let scene = Scene::start(way, &source).await;
            let names = ["MainThread", "one", "two"];
            let activity = scene
                .until(|activity| {
                    let reported = names.iter().filter(|name| {
                        activity.threads.iter().any(|each| {
                            each.name == **name
                                && each.blocked.as_ref().is_some_and(|blocked| !blocked.holders.is_empty())
                        })
                    });
                    reported.count() == names.len()
                })
                .await;
            let (wait, join) = (scene.line("wait"), scene.line("join"));
            let expected = [
                format!("Thread: the end of thread `one` at main.py:{join}, held by one"),
                format!("Lock: the lock `second` at main.py:{wait}, held by two"),
                format!("Lock: the lock `second` at main.py:{wait}, held by one"),
            ];
            assert_eq!(names.map(|name| waits(&activity, name)), expected, "{:?} {kind}: {body}", scene.way);
            scene.end().await;
        }
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_thread_can_wait_for_a_lock_that_it_holds_itself() {
    let table = [
        "lock.acquire()\nlock.acquire()  # @wait",
        "def again():\n    with lock:  # @wait\n        pass\nwith lock:\n    again()",
        "class Account:\n    def __init__(self):\n        self.__lock = lock\n    def add(self):\n        with self.__lock:\n            lock.acquire()  # @wait\nAccount().add()",
    ];
    for body in table {
        let body = format!("lock = threading.Lock()\n{body}");
        main_waits("threading", &body, "Lock: the lock `lock` at PLACE, held by MainThread").await;
    }
}

/// A lock that was given back is not held, nor is that of a condition that is waited for.
#[tokio::test]
async fn a_released_lock_has_no_holder() {
    let source = "\
import threading
lock = threading.Lock()
cond = threading.Condition(lock)

def passes():
    with lock:
        pass
    lock.acquire()
    lock.release()
    threading.Event().wait()

def notified():
    with cond:
        cond.wait()

for target in (passes, notified):
    threading.Thread(target=target, name=target.__name__, daemon=True).start()
while not cond._waiters:
    pass
lock.acquire(timeout=-1)
lock.acquire(True)  # @wait
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let activity = scene.blocked("MainThread").await;
        let expected = format!("Lock: the lock `lock` at main.py:{}, held by MainThread", scene.line("wait"));
        assert_eq!(waits(&activity, "MainThread"), expected, "{:?}", scene.way);
        scene.end().await;
    }
}

/// The main thread waits for those that the process cannot end without.
#[tokio::test]
async fn the_end_of_the_main_thread_is_reported() {
    let source = "\
import threading
threading.Thread(target=threading.Event().wait, name='left').start()
threading.Thread(target=threading.Event().wait, name='daemon', daemon=True).start()
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        // Before it ends, it waits for each thread to begin, which may be seen too.
        let ends = |activity: &Activity| {
            waits(activity, "MainThread").starts_with("Thread: the end of thread `left` at threading.py:")
        };
        let reported = waits(&scene.until(ends).await, "MainThread");
        assert!(reported.ends_with(", held by left"), "{:?}: {reported}", scene.way);
        scene.end().await;
    }
}

#[tokio::test]
async fn waits_of_tasks_and_timers_are_reported() {
    let source = "\
import asyncio

async def holds(lock):
    async with lock:
        await asyncio.sleep(1000)  # @sleep

async def wants(lock):
    await asyncio.sleep(0)
    async with lock:  # @lock
        pass

async def takes(queue):
    await queue.get()  # @queue

async def inner(event):
    await event.wait()  # @event

async def outer(event):
    await inner(event)

def alarm(): pass

async def main():
    lock, queue, event = asyncio.Lock(), asyncio.Queue(), asyncio.Event()
    asyncio.get_running_loop().call_later(900, alarm)
    made = [holds(lock), wants(lock), takes(queue), outer(event)]
    jobs = [asyncio.create_task(each, name=each.__name__) for each in made]
    await asyncio.gather(*jobs)  # @gather

asyncio.run(main())  # @run
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let activity = scene.blocked("MainThread").await;
        let loop_waits =
            format!("Task: its event loop, in which 5 tasks wait at main.py:{}, timed", scene.line("run"));
        assert_eq!(waits(&activity, "MainThread"), loop_waits, "{:?}", scene.way);
        let reported = activity.pending.iter().map(|wait| {
            let timed = if wait.is_timed { ", timed" } else { "" };
            format!("{:?}: {} at {}{timed}", wait.kind, wait.what, place(wait.location.as_ref()))
        });
        let reported: Vec<String> = reported.collect();
        let at = |mark: &str| format!("main.py:{}", scene.line(mark));
        let expected = [
            format!("Task: task `Task-1` (`main`), which waits for the end of 4 tasks at {}", at("gather")),
            format!(
                "Task: task `holds` (`holds`), which waits for a sleep of 1000 s at {}, timed",
                at("sleep")
            ),
            format!("Task: task `outer` (`outer`), which waits for the event `event` at {}", at("event")),
            format!(
                "Task: task `takes` (`takes`), which waits for the next item of the queue `queue` at {}",
                at("queue")
            ),
            format!(
                "Task: task `wants` (`wants`), which waits for the lock `lock` (held by task `holds`) at {}",
                at("lock")
            ),
        ];
        assert_eq!(reported.get(..5), Some(&expected[..]), "{:?}", scene.way);
        let timer = reported.get(5).unwrap();
        assert!(
            timer.starts_with("Timer: a timer of 89") && timer.ends_with("calls `alarm` at nowhere, timed"),
            "{timer}"
        );
        scene.end().await;
    }
}

/// A forked process has the clock of its parent without its thread, and the system may give the thread's ident to the
/// first thread of the process.
#[tokio::test]
async fn a_thread_with_the_ident_of_the_parents_clock_is_reported() {
    let source = "\
import os, sys, threading, time
lock = threading.Lock()
def work():
    clock = sys.modules['stillframe_limits'].clock
    clock.pid, clock.ident = os.getppid(), threading.get_ident()
    with lock:  # @lock
        pass
lock.acquire()
threading.Thread(target=work, name='worker').start()
time.sleep(1000)
";
    for way in versions().await {
        let scene = Scene::start(way, source).await;
        let activity = scene.blocked("worker").await;
        let reported = waits(&activity, "worker");
        let expected = format!("main.py:{}", scene.line("lock"));
        assert!(reported.contains(&expected), "{:?}: {reported}", scene.way);
        scene.end().await;
    }
}
