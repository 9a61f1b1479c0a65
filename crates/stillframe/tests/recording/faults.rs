//! Programs that are hard on a recorder. None of them behaves in another way than without it.

use std::time::Duration;

use serde_json::json;

use crate::recorder::{Client, at, has, pythons, tracing_python, written};

/// Records a program with each Python, and checks what is said and answers of `state_at`.
async fn recorded(text: &str, said: &[&str], states: &[(&str, &[&str])]) {
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, said);
        for (name, expected) in states {
            let moment = at(&program, name);
            has(&client.ask("state_at", json!({ "at": moment })).await, expected);
        }
        client.server.finish().await;
    }
}

#[tokio::test]
async fn tasks_of_asyncio_have_their_own_variables() {
    let text = "\
import asyncio


async def work(name, times):
    total = 0
    for i in range(times):
        total += i
        await asyncio.sleep(0)
    return total  # @worked


async def numbers():
    for i in range(2):
        yield i
        await asyncio.sleep(0)


async def main():
    results = await asyncio.gather(work('a', 3), work('b', 4))
    async for number in numbers():
        results.append(number)
    return results  # @gathered


print(asyncio.run(main()))
";
    let worked: (&str, &[&str]) = ("worked", &["work", "name = 'a'", "total = 3"]);
    let gathered: (&str, &[&str]) = ("gathered", &["results = [3, 6, 0, 1]", "number = 1"]);
    recorded(text, &["exited with code 0", "[3, 6, 0, 1]"], &[worked, gathered]).await;
}

#[tokio::test]
async fn values_sent_and_thrown_into_generators_are_recorded() {
    let text = "\
def inner():
    got = yield 1
    while got:
        got = yield got * 2  # @sent
    return 'over'


def outer():
    try:
        answer = yield from inner()
    finally:
        print('closed')  # @closed
    return answer


one = outer()
print(next(one), one.send(5))
one.close()
two = outer()
next(two)
try:
    two.throw(ValueError('thrown'))
except ValueError as error:
    print('caught', error)  # @caught
";
    let closed: (&str, &[&str]) = ("closed", &["outer"]);
    let sent: (&str, &[&str]) = ("sent", &["inner", "got = 5"]);
    let caught: (&str, &[&str]) = ("caught", &["error = ValueError(", "thrown"]);
    recorded(
        text,
        &["exited with code 0", "1 10", "closed", "closed", "caught thrown"],
        &[sent, closed, caught],
    )
    .await;
}

#[tokio::test]
async fn deep_recursion_is_recorded() {
    let text = "\
import sys, threading

sys.setrecursionlimit(20000)
threading.stack_size(512 * 1024 * 1024)


def down(depth):
    if depth == 0:
        return 0  # @bottom
    return 1 + down(depth - 1)


thread = threading.Thread(target=lambda: print(down(10000)))
thread.start()
thread.join()
";
    let bottom: (&str, &[&str]) = ("bottom", &["depth = 0"]);
    recorded(text, &["exited with code 0", "10000"], &[bottom]).await;
}

#[tokio::test]
async fn methods_that_throw_or_never_return_are_not_called() {
    let text = "\
class Throws:
    def __repr__(self):
        raise ValueError('no repr')


class Hangs:
    def __repr__(self):
        while True:
            pass

    __str__ = __hash__ = __eq__ = __bool__ = __len__ = __repr__


class Odd(Exception):
    def __str__(self):
        raise KeyError('no str')


def use():
    both = [Throws(), Hangs()]
    try:
        raise Odd('bad', 1)
    except Odd as error:
        caught = error
    return both  # @used


use()
print('done')
";
    let used: (&str, &[&str]) = ("used", &["both = [Throws(", "Hangs("]);
    recorded(text, &["exited with code 0", "done"], &[used]).await;
}

#[tokio::test]
async fn child_processes_are_recorded() {
    let text = "\
import multiprocessing
import os
import subprocess
import sys


def square(number):
    result = number * number
    return result  # @squared


def forked():
    pid = os.fork()
    if pid == 0:
        square(7)
        os._exit(3)
    return os.waitpid(pid, 0)[1] >> 8


if __name__ == '__main__':
    if len(sys.argv) > 1:
        print(square(int(sys.argv[1])))
    else:
        started = subprocess.run([sys.executable, __file__, '5'], capture_output=True, text=True).stdout
        context = multiprocessing.get_context('spawn')
        with context.Pool(1) as pool:
            spawned = pool.map(square, [6])
        print(started.strip(), spawned, forked(), square(2))  # @over
";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        has(&said, &["exited with code 0", "25 [36] 3 4"]);
        assert!(!said.contains("incomplete"), "{python}: {said}");
        let calls = client.ask("count_hits", json!({ "target": "square" })).await;
        has(&calls, &["square was called 4 times"]);
        for number in [2, 5, 6, 7] {
            assert!(calls.contains(&format!("(number={number})")), "{python}: {calls}");
        }
        has(&client.ask("count_hits", json!({ "target": "forked" })).await, &["forked was called once"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn both_sides_of_a_fork_are_recorded() {
    let text = "\
import os
import weakref


def freed():
    held = {1}
    seen = weakref.ref(held)
    if os.fork() == 0:
        held = None
        os._exit(4 if seen() is None else 5)
    return os.wait()[1] >> 8


x = 1
rows = [[number] for number in range(1100)]
pid = os.fork()
if pid == 0:
    x = 2
    os._exit(3)  # @child
_, status = os.waitpid(pid, 0)
x = 3
print(status >> 8, x, freed())  # @over
";
    let states: &[(&str, &[&str])] = &[
        ("over", &["x = 3", "status = 768"]),
        ("child", &["in process ", "x = 2", "rows = [<list #", "pid = 0"]),
    ];
    recorded(text, &["exited with code 0", "3 3 4"], states).await;
}

/// A child writes nothing into what its parent writes, though there is no room for a call of the recorder's.
#[tokio::test]
async fn a_fork_as_deep_as_a_program_may_be_is_recorded() {
    let text = "\
import os
import sys


def fork(left):
    if left == 0:
        return os.fork()
    return fork(left - 1)


def count(name):
    for number in range(1000):
        seen = name, number
    return seen


deepest = sys.getrecursionlimit() - (18 if sys.version_info >= (3, 11) else 40)
for depth in 1, deepest:
    pid = fork(depth)
    if pid == 0:
        count(f'child {depth}')
        os._exit(0)
    count(f'parent {depth}')
    os.waitpid(pid, 0)
print(deepest, sys.getrecursionlimit())
";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        has(&said, &["exited with code 0", " 1000\n"]);
        assert!(!said.contains("Exception ignored") && !said.contains("incomplete"), "{python}: {said}");
        has(&client.ask("count_hits", json!({ "target": "count" })).await, &["count was called 4 times"]);
        let ask = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
        let child = ask("seen[1] == 900 and name[0] == 'c' and name != 'child 1'").await;
        has(&child, &["in process ", "variables of count then:", "seen = ('child "]);
        let parent = ask("seen[1] == 900 and name[0] == 'p' and name != 'parent 1'").await;
        has(&parent, &["variables of count then:", "seen = ('parent "]);
        assert!(!parent.contains("in process "), "{python}: {parent}");
        client.server.finish().await;
    }
}

/// Python before 3.12 has one trace function, which the program has as long as it wants.
#[tokio::test]
async fn a_program_may_trace_itself() {
    let text = "\
import sys

seen = []


def tracer(frame, event, argument):
    seen.append(event)
    return tracer


def add():
    first = 1
    second = 2
    return first + second  # @added


sys.settrace(tracer)
add()
assert sys.gettrace() == tracer
sys.settrace(None)
total = add()
print(len(seen) > 4, sys.gettrace(), total)  # @over
";
    let states: &[(&str, &[&str])] = &[("over", &["total = 3"])];
    recorded(text, &["exited with code 0", "True None 3"], states).await;
    let (_folder, program) = written("main.py", text);
    let client = Client::new(&tracing_python()).await;
    let said = client.record(&program, &[]).await;
    has(&said, &["incomplete: the program traced itself from main.py:17 on"]);
    client.server.finish().await;
}

#[tokio::test]
async fn a_recording_ends_at_its_size_limit_and_the_program_continues() {
    let text = "\
items = []
for number in range(60000):
    items = [number, str(number)]
print('last', number)
";
    let (_folder, program) = written("main.py", text);
    let client = Client::with(&["--limit", "recording=1048576"], "python3").await;
    let said = client.record(&program, &[]).await;
    has(&said, &["exited with code 0", "incomplete: the recording reached its size limit", "last 59999"]);
    has(&client.ask("state_at", json!({ "at": "end" })).await, &["number = "]);
    let size = client.state.path().join("stillframe/recordings/rec-1.sqlite").metadata().unwrap().len();
    assert!((700_000..=1 << 20).contains(&size), "{size} bytes");
    client.server.finish().await;
}

/// What it has done until then can be asked about, with another server.
#[tokio::test]
async fn a_killed_server_leaves_a_recording_and_no_program() {
    let text = "\
import pathlib, sys, time

count = 0
while True:
    count += 1
    if count == 3000:
        pathlib.Path(sys.argv[1]).touch()
    time.sleep(0.0001)
";
    let (folder, program) = written("main.py", text);
    let there = folder.path().join("there");
    let client = Client::new("python3").await;
    let arguments = json!({ "command": "python3", "args": [program.path(), there] });
    let params = json!({ "name": "record_run", "arguments": arguments });
    let (_, mut response) = client.server.begin("tools/call", params).await;
    while !there.exists() {
        // How often the file is looked for.
        let answer = tokio::time::timeout(Duration::from_millis(10), &mut response).await;
        assert!(answer.is_err(), "the program runs until it is killed: {answer:?}");
    }
    let state = client.state;
    client.server.kill().await;
    let client = Client::in_state(state, &[], "python3").await;
    has(&client.ask("list_recordings", json!({})).await, &["not completed"]);
    has(&client.ask("state_at", json!({ "at": "end" })).await, &["count = "]);
    let found = client.ask("find_first", json!({ "condition": "count == 1000" })).await;
    has(&found, &["main.py:5"]);
    client.server.finish().await;
}

/// Code objects of the same text are equal, whatever files they are of.
#[tokio::test]
async fn the_same_text_in_two_files_is_two_functions() {
    let text = "\
import importlib

import app.models
import first
import second

first.scale(3)
second.scale(4)
importlib.reload(second)
second.scale(5)
x = 1
x = 2
print(x)  # @over
";
    let (folder, program) = written("main.py", text);
    std::fs::create_dir_all(folder.path().join("app/models")).unwrap();
    for (file, text) in [
        ("app/__init__.py", ""),
        ("app/models/__init__.py", ""),
        ("first.py", "def scale(x):\n    y = x * 2\n    return y\n"),
        ("second.py", "def scale(x):\n    y = x * 2\n    return y\n"),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    for python in pythons() {
        for native in ["0", "1"] {
            let client = Client::with_env(&[("STILLFRAME_RECORD_NATIVE", native)], &python).await;
            has(&client.record(&program, &[]).await, &["exited with code 0"]);
            for (target, hits) in [
                ("first.py:scale", "was called once"),
                ("second.py:scale", "was called 2 times"),
                (&at(&program, "over"), "was reached once"),
            ] {
                has(&client.ask("count_hits", json!({ "target": target })).await, &[hits]);
            }
            for (file, value) in [("first.py", 6), ("second.py", 8), ("second.py", 10)] {
                let arguments = json!({ "condition": format!("y == {value}"), "file": file });
                let begins = format!("first holds after {file}:2 in scale");
                has(&client.ask("find_first", arguments).await, &[&begins, &format!("y = {value}")]);
            }
            has(&client.ask("state_at", json!({ "at": at(&program, "over") })).await, &["x = 2"]);
            client.server.finish().await;
        }
    }
}
