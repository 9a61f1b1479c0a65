//! What happens outside of the calls that are asked about: in other threads, far below, in a `finally`, and after the main
//! module has ended.

use serde_json::json;
use test_support::{Fixture, python_with_packages};

use crate::recorder::{Client, at, has, pythons, written};

const THREADS: &str = "\
import atexit
import threading
import time


class Box:
    def __init__(self):
        self.value = 1


def work(box):
    box.value = -1  # @wrote


def deep(box, depth):
    if depth:
        deep(box, depth - 1)
    else:
        box.value = 50  # @deep


def late(results):
    time.sleep(0.05)
    results['a'] = -5  # @late


def bye():
    return 'bye'  # @bye


def main():
    box = Box()
    thread = threading.Thread(target=work, args=(box,))
    thread.start()
    thread.join()
    done = 1
    deep(box, 40)
    done = 2
    return done


main()
results = {}
atexit.register(bye)
threading.Thread(target=late, args=(results,)).start()
";

#[tokio::test]
async fn what_other_threads_write_is_found_where_it_is_written() {
    let (_folder, program) = written("main.py", THREADS);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        for (condition, marker) in
            [("box.value < 0", "wrote"), ("box.value == 50", "deep"), ("results.get('a') == -5", "late")]
        {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, marker))]);
        }
        let state = client.ask("state_at", json!({ "at": at(&program, "wrote") })).await;
        has(&state, &[" in work: ", "in the thread `Thread-1"]);
        let writes = client.ask("find_writes", json!({ "target": "results['a']" })).await;
        has(&writes, &["['a'] = -5 by ", "in the thread `Thread-2"]);
        let hits = client.ask("count_hits", json!({ "target": at(&program, "bye") })).await;
        has(&hits, &["was reached once"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn an_exception_that_passes_a_finally_leaves_its_function() {
    let text = "\
def load(path):
    closed = False
    try:
        return int(path)  # @raised
    finally:
        closed = True


def calm():
    try:
        int('y')
    except ValueError:
        pass
    finally:
        done = True


calm()
load('12x')
";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 1"]);
        for (function, ends) in [("load", "return: 0, exception: 1"), ("calm", "return: 1, exception: 0")] {
            has(&client.ask("count_hits", json!({ "target": function })).await, &[ends]);
        }
        let state = client.ask("state_at", json!({ "at": "exception" })).await;
        has(&state, &["load", "path = '12x'"]);
        client.server.finish().await;
    }
}

/// What ends a program was thrown first where it began, whatever is thrown, or thrown into, on its way.
#[tokio::test]
async fn an_exception_is_found_behind_context_managers_tasks_and_what_a_finally_handles() {
    let text = "\
import asyncio
import contextlib
import sys


@contextlib.contextmanager
def opened(name):
    try:
        yield name
    finally:
        name = None


def handled():
    try:
        {}['x']
    except KeyError:
        pass


def load(text):
    with contextlib.ExitStack() as stack:
        stack.enter_context(opened('a'))
        with opened('b'):
            return int(text)  # @with


async def fetch(text):
    await asyncio.sleep(0)
    return int(text)  # @task


async def both():
    await asyncio.gather(fetch('7'), fetch('y'))


if sys.argv[1] == 'with':
    try:
        load('x')
    finally:
        for _ in range(30):
            handled()
else:
    asyncio.run(both())
";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let client = Client::new(&python).await;
        for (how, name) in [("with", "text = 'x'"), ("task", "text = 'y'")] {
            has(&client.record(&program, &[how]).await, &["exited with code 1"]);
            let state = client.ask("state_at", json!({ "at": "exception" })).await;
            has(&state, &["ValueError: invalid literal", &at(&program, how), name]);
        }
        client.server.finish().await;
    }
}

/// What a condition cannot know is no reason for it to hold.
#[tokio::test]
async fn conditions_do_not_hold_by_what_has_no_value() {
    let text = "\
class Task:
    def __init__(self, level):
        self.level = level

    @property
    def priority(self):
        return self.level


tasks = [Task(1), Task(-2)]  # @tasks
queue = [5, 1]  # @queue
queue.sort()  # @sorted
count = len(tasks) and 7  # @count
";
    let (_folder, program) = written("main.py", text);
    let client = Client::new("python3").await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    for (condition, marker) in [
        ("queue != sorted(queue)", "queue"),
        ("queue == sorted(queue) and len(queue) == 2", "sorted"),
        ("(count or 1) == 7 and True + 1 == 2", "count"),
        ("any(task.level < 0 for task in tasks)", "tasks"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, marker))]);
    }
    for condition in ["all(task.priority >= 0 for task in tasks)", "len([task.nope for task in tasks]) == 0"]
    {
        has(&client.ask("find_first", json!({ "condition": condition })).await, &["never holds"]);
    }
    client.server.finish().await;
}

#[tokio::test]
async fn an_answer_says_which_part_of_the_run_is_not_recorded() {
    let text = "\
items = []
for number in range(20000):
    items = [number, str(number)]
print('last', number)
";
    let (_folder, program) = written("main.py", text);
    let client = Client::with(&["--limit", "recording=1048576"], "python3").await;
    has(&client.record(&program, &[]).await, &["incomplete: the recording reached its size limit"]);
    let gap = "the recording is incomplete: the recording reached its size limit";
    let never = client.ask("find_first", json!({ "condition": "number == 19999" })).await;
    has(&never, &["never holds", gap]);
    has(
        &client.fails("find_first", json!({ "condition": "wrong < 0" })).await,
        &["no variable `wrong`", gap],
    );
    client.server.finish().await;
    let client = Client::new("python3").await;
    client.record_last(&program, &[], 2000).await;
    let hits = client.ask("count_hits", json!({ "target": "main.py:3" })).await;
    has(&hits, &["was reached", "the recording begins at event "]);
    client.server.finish().await;
}

/// Two workers that run one file, the second after the first has ended.
#[tokio::test]
async fn each_worker_has_its_own_variables_of_a_module() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
const { Worker } = require('node:worker_threads');
const run = (k) => new Worker(__dirname + '/worker.js', { workerData: { k } });
run(1).on('exit', () => run(-1));
";
    let program = Fixture::write(folder.path(), "main.js", text);
    let text = "\
const { workerData } = require('node:worker_threads');
let done = 0;
function add(n) {
  done += n * workerData.k;
  return done; // @added
}
add(1);
add(2);
";
    let worker = Fixture::write(folder.path(), "worker.js", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 0"]);
    let last = format!("{}#last", at(&worker, "added"));
    let said = client.ask("find_writes", json!({ "target": "done", "at": last })).await;
    has(&said, &["`done` is -3 at event", "done: -1 → -3"]);
    let third = format!("{}#3", at(&worker, "added"));
    let said = client.ask("find_writes", json!({ "target": "done", "at": third })).await;
    has(&said, &["`done` is -1 at event"]);
    client.server.finish().await;
}

const PROCESSES: &str = "\
import multiprocessing
import os
import sys

count = 0
totals = {'n': 0}


def add(n):
    global count
    count += n
    totals['n'] += n
    return count  # @added


if __name__ == '__main__':
    add(1)
    if sys.argv[1] == 'os.fork':
        pid = os.fork()
        if pid == 0:
            add(-10)
            add(-20)
            os._exit(0)
        os.waitpid(pid, 0)
    else:
        process = multiprocessing.get_context(sys.argv[1]).Process(target=add, args=(-10,))
        process.start()
        process.join()
";

#[tokio::test]
async fn each_process_has_its_own_variables_of_a_module() {
    let (_folder, program) = written("main.py", PROCESSES);
    for python in pythons() {
        let client = Client::new(&python).await;
        for (how, value, writes) in [("spawn", -10, "count: 0 → -10"), ("os.fork", -29, "count: -9 → -29")]
        {
            let said = client.record(&program, &[how]).await;
            has(&said, &["exited with code 0"]);
            let last = format!("{}#last", at(&program, "added"));
            let said = client.ask("find_writes", json!({ "target": "count", "at": last })).await;
            has(&said, &[&format!("`count` is {value} at event"), writes]);
            let condition = format!("count == {value}");
            let said = client.ask("find_first", json!({ "condition": condition })).await;
            has(&said, &[writes, "variables of <module> then:"]);
        }
        let below = json!({ "condition": "totals['n'] < -20" });
        has(&client.ask("find_first", below.clone()).await, &["in process ", "['n']: -9 → -29"]);
        client.record(&program, &["fork"]).await;
        let said = client.ask("find_first", below).await;
        has(&said, &["What a forked process changes in objects of its parent"]);
        client.server.finish().await;
    }
}

/// A question at the end of a program is about its own variables, not about those of a process that it forked.
#[tokio::test]
async fn variables_of_a_module_are_those_of_the_process_that_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let counter = "\
COUNT = 0


def count(by):
    global COUNT
    COUNT += by
    return COUNT  # @counted
";
    let counter = Fixture::write(folder.path(), "counter.py", counter);
    Fixture::write(folder.path(), "other.py", "COUNT = 7\n");
    let main = "\
import counter
import other
import os


def main():
    counter.count(1)
    pid = os.fork()
    if pid == 0:
        counter.count(50)
        os._exit(0)
    os.waitpid(pid, 0)
    raise ValueError('bad')


main()
";
    let program = Fixture::write(folder.path(), "main.py", main);
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let said = client.ask("find_writes", json!({ "target": "COUNT" })).await;
        has(
            &said,
            &[
                "`COUNT` is 1 at event ",
                "it belongs to the module counter.py",
                "; other.py has a `COUNT`, too",
            ],
        );
        let last = format!("{}#last", at(&counter, "counted"));
        let said = client.ask("state_at", json!({ "at": last })).await;
        has(&said, &["in process "]);
        client.server.finish().await;
    }
}

const POOL: &str = "\
const { Worker, isMainThread, parentPort } = require('worker_threads');
function work(n) {
  return n * 2; // @worked
}
function start(end) {
  const worker = new Worker(__filename);
  worker.on('message', (done) => (done < 8 ? worker.postMessage(done) : end(worker)));
  worker.postMessage(1);
}
if (isMainThread) {
  start(async (worker) => {
    await worker.terminate();
    start(({ terminate }) => process.exit(terminate.length - 1));
  });
} else {
  parentPort.on('message', (n) => parentPort.postMessage(work(n)));
}
";

#[tokio::test]
async fn what_workers_did_before_the_main_thread_ended_them_is_recorded() {
    let (_folder, program) = written("main.js", POOL);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    let calls = client.ask("count_hits", json!({ "target": "work" })).await;
    has(&calls, &["work was called 6 times", "return: 6, exception: 0"]);
    client.server.finish().await;
}

/// A program, the package that it uses, and the arguments that run it.
const NAMED: [(&str, &str, &str, &str); 2] = [
    (
        "main.py",
        "import sys\nsys.path.insert(0, 'site-packages')\nimport prices\n\n\nclass Cart:\n    def total(self):\n        \
         found = prices.price(3)\n        return found\n\n\ndef other():\n    found = Cart().total()\n    return found\n\n\n\
         print(other())\n",
        "site-packages/prices/__init__.py",
        "def price(count):\n    cost = count * -2\n    return cost\n",
    ),
    (
        "main.js",
        "const { price } = require('prices');\n\nclass Cart {\n  total() {\n    const found = price(3);\n    return found;\n  \
         }\n}\n\nfunction other() {\n  const found = new Cart().total();\n  return found;\n}\n\nconsole.log(other());\n",
        "node_modules/prices/index.js",
        "exports.price = function price(count) {\n  const cost = count * -2;\n  return cost;\n};\n",
    ),
];

#[tokio::test]
async fn what_is_named_is_recorded_alone() {
    for (name, text, package, library) in NAMED {
        let folder = tempfile::tempdir().unwrap();
        let program = Fixture::write(folder.path(), name, text);
        std::fs::create_dir_all(folder.path().join(package).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(package), library).unwrap();
        let runtimes = if name == "main.py" { pythons() } else { vec!["node".to_owned()] };
        for runtime in runtimes {
            let client = Client::new(&runtime).await;
            for (only, functions) in [
                ("prices", ["price"].as_slice()),
                ("Cart.total", &["Cart.total"]),
                ("main", &["Cart.total", "other"]),
                (".", &["Cart.total", "other"]),
            ] {
                let run =
                    json!({ "command": [runtime, program.path()], "cwd": folder.path(), "only": [only] });
                let said = client.ask("record_run", run).await;
                has(&said, &["exited with code 0", &format!("only `{only}` was recorded"), "output:\n-6\n"]);
                for function in ["price", "Cart.total", "other"] {
                    let hits = client.server.call("count_hits", json!({ "target": function })).await;
                    if functions.contains(&function) {
                        has(&hits.text, &["was called once"]);
                    } else {
                        has(&hits.text, &[&format!("only `{only}` was recorded")]);
                    }
                }
            }
            client.server.finish().await;
        }
    }
}

const GREENLETS: &str = "\
import greenlet


class Plain(greenlet.greenlet):
    __hash__ = None


def note(rows, n):
    rows.append(n)  # @noted


def work(rows):
    while True:
        n = main.switch(len(rows))
        rows.append(-n)


rows, main = [], greenlet.getcurrent()
other = Plain(work)
other.switch(rows)
note(rows, 1)  # @first
size = other.switch(2)  # @switched
note(rows, size)  # @second
";

#[tokio::test]
async fn each_greenlet_has_its_own_calls() {
    let (_folder, program) = written("main.py", GREENLETS);
    let client = Client::new(python_with_packages().await.to_str().unwrap()).await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    let state = client.ask("state_at", json!({ "at": format!("{}#last", at(&program, "noted")) })).await;
    has(&state, &["called from ", &at(&program, "second"), "n = 2\n", "rows = [1, -2]"]);
    let writes = client.ask("find_writes", json!({ "target": "size" })).await;
    has(&writes, &["`size` is 2", " by ", &at(&program, "switched")]);
    client.server.finish().await;
}
