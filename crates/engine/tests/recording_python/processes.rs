//! Threads, children, and ends of all kinds.

use std::collections::{BTreeMap, BTreeSet};

use engine::model::stop::End;

use crate::scene::scenes;

#[tokio::test]
async fn threads_share_a_count_and_each_row_names_its_thread() {
    let source = "\
import threading

def work(k):
    for i in range(200):
        value = i * k  # @work

threads = [threading.Thread(target=work, args=(k,), name='worker \"%d\"' % k) for k in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
";
    for scene in scenes(&[("main.py", source)]).await {
        scene.at("work", &["i", "k"]).await;
        let ran = scene.run().await;
        let hits: BTreeSet<u64> = ran.rows.iter().map(|row| row.hit).collect();
        assert_eq!((ran.rows.len(), hits.len(), ran.counts[&1]), (800, 800, 800), "{:?}", ran.way);
        for k in 0..4 {
            let name = format!("worker \"{k}\"");
            let of = ran.rows.iter().filter(|row| row.thread == name);
            let observed: Vec<String> = of.flat_map(crate::scene::texts).collect();
            let expected: Vec<String> = (0..200).flat_map(|i| [i.to_string(), k.to_string()]).collect();
            assert_eq!(observed, expected, "{:?}", ran.way);
        }
        ran.was_quiet();
    }
}

#[tokio::test]
async fn children_write_their_own_rows_however_started() {
    let source = "\
import multiprocessing, os, subprocess, sys
from part import work

if __name__ == '__main__':
    work(3)
    child = os.fork()
    if not child:
        work(2)
        os._exit(0)
    os.waitpid(child, 0)
    subprocess.run([sys.executable, 'part.py'], check=True)
    for method in ('fork', 'spawn'):
        process = multiprocessing.get_context(method).Process(target=work, args=(4,))
        process.start()
        process.join()
    work(1)
";
    let part = "def work(count):\n    for i in range(count):\n        i = i  # @work\n\nif __name__ == '__main__':\n    work(5)\n";
    for scene in scenes(&[("main.py", source), ("part.py", part)]).await {
        scene.with("part.py", "work", scene.record(&["i"])).await;
        let ran = scene.run().await;
        let mut by_process = BTreeMap::<u32, Vec<u64>>::new();
        for row in &ran.rows {
            by_process.entry(row.pid).or_default().push(row.hit);
        }
        let mut counts: Vec<usize> = by_process.values().map(Vec::len).collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 4, 4, 4, 5], "{:?}", ran.way);
        for hits in by_process.values() {
            assert_eq!(*hits, (1..=hits.len() as u64).collect::<Vec<_>>(), "{:?}", ran.way);
        }
        assert_eq!(ran.counts[&1], 19, "{:?}", ran.way);
        ran.was_quiet();
    }
}

#[tokio::test]
async fn rows_are_kept_however_the_program_ends() {
    let table = [
        ("os.kill(os.getpid(), signal.SIGKILL)", End::Killed { signal: 9, by_us: false }),
        ("os._exit(3)", End::Exited(3)),
        ("sys.exit(4)", End::Exited(4)),
        ("os.execv(sys.executable, [sys.executable, '-c', ''])", End::Exited(0)),
    ];
    for (last, expected) in table {
        let source = format!("import os, signal, sys\nfor i in range(500):\n    i = i  # @pass\n{last}\n");
        for scene in scenes(&[("main.py", &source)]).await {
            scene.at("pass", &["i"]).await;
            let ran = scene.run().await;
            let rows: Vec<String> = (1..=500).map(|hit| format!("{hit}: {}", hit - 1)).collect();
            assert_eq!(ran.table(1), rows, "{last}: {:?}", ran.way);
            assert_eq!((ran.counts[&1], ran.end), (500, expected.clone()), "{last}: {:?}", ran.way);
        }
    }
}

/// Descriptors that the program closes by number are not those of the recorder, or it opens its pipe again.
#[tokio::test]
async fn recording_survives_closing_all_descriptors() {
    let source = "\
import os

for i in range(4):
    if i == 2:
        # The debugger's own connection is among the lower ones.
        os.closerange(100, 4096)
    own = open(os.devnull)  # @pass
    own.close()
";
    for scene in scenes(&[("main.py", source)]).await {
        scene.at("pass", &["i"]).await;
        let ran = scene.run().await;
        assert_eq!(ran.table(1), ["1: 0", "2: 1", "3: 2", "4: 3"], "{:?}", ran.way);
        ran.was_quiet();
    }
}

/// The exception of a handler is for the program, also when the signal comes while a row is written. Where
/// pydevd is between, it is in the way.
#[tokio::test]
async fn an_exception_of_a_signal_handler_reaches_the_program() {
    let source = "\
import signal, time

class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm

def work(turn, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        turn = turn  # @pass

signal.signal(signal.SIGALRM, ring)
work(0, 0.001)
caught = 0
for turn in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        work(turn, 20)
    except Alarm:
        caught += 1
print(caught, end='')
";
    for scene in scenes(&[("main.py", source)]).await.into_iter().filter(|scene| scene.way.is_fast()) {
        scene.at("pass", &["turn", "max(turn, 0)"]).await;
        let ran = scene.run().await;
        assert_eq!((ran.output.as_str(), ran.end), ("20", End::Exited(0)), "{:?}", ran.way);
        assert!(
            ran.rows.iter().all(|row| crate::scene::texts(row).iter().all(|text| !text.starts_with('!')))
        );
    }
}
