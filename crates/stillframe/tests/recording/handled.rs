//! What questions are about when no moment is given and the program ended badly: not an exception that it has handled.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons};

const CACHE_PY: &str = "import os

cache = {}


class Word:
    def __init__(self, text):
        self.text = text


def length(word):
    try:
        return cache[word.text]
    except KeyError:
        cache[word.text] = len(word.text)
    return cache[word.text]


def main():
    total = 0
    for text in ['a', 'bb']:
        total += length(Word(text))
    for _ in range(5):
        total += 10
        cache['bb'] += 1
    os._exit(3)


main()
";

const CART_JS: &str = "class Cart {
  count = 1;
  items = [];
}
function risky(n) {
  if (n === 1) throw new Error('skipped');
  return n;
}
let total = 0;
for (let n = 0; n < 3; n++) {
  try {
    total += risky(n);
  } catch {}
}
const cart = new Cart();
for (let n = 0; n < 5; n++) {
  total += 10;
  cart.count += 1;
  cart.items.push(n);
}
process.exit(3);
";

#[tokio::test]
async fn python_programs_are_asked_about_at_their_end() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", CACHE_PY);
    let client = Client::new("python3").await;
    has(&client.record(&program, &[]).await, &["exited with code 3"]);
    for (target, value) in
        [("total", "`total` is 53 at event "), ("cache['bb']", "`cache['bb']` is 7 at event ")]
    {
        has(&client.ask("find_writes", json!({ "target": target })).await, &[value]);
    }
    // A class runs once; what is called is its function.
    let hits = client.ask("count_hits", json!({ "target": "Word" })).await;
    has(&hits, &["Word is a class; functions of it that were called: Word.__init__", "was called 2 times"]);
    client.server.finish().await;
}

#[tokio::test]
async fn node_programs_are_asked_about_at_their_end() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.js", CART_JS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 3"]);
    let items = client.ask("find_writes", json!({ "target": "cart.items", "most": 2 })).await;
    has(&items, &["`cart.items` is [0, 1, 2, 3, 4] at event ", "[4] = 4", "[3] = 3"]);
    has(&client.ask("find_origin", json!({ "target": "total" })).await, &["total", "52"]);
    client.server.finish().await;
}

/// A program that is ended by an exception, after or beside which others are handled.
const PAY_PY: &str = "\
import atexit
import os
import sys
import threading


def forgiving():
    try:
        {}['missing']
    except KeyError:
        return


def later():
    threading.main_thread().join()
    forgiving()


def child():
    sys.exit(3)


def pay(total):
    if total < 0:
        raise ValueError(f'negative total: {total}')  # @thrown


if sys.argv[1] == 'atexit':
    atexit.register(forgiving)
elif sys.argv[1] == 'hook':
    sys.excepthook = lambda *thrown: forgiving()
elif sys.argv[1] == 'thread':
    threading.Thread(target=later).start()
elif os.fork() == 0:
    child()
else:
    os.wait()
pay(5 - 14)
";

const PAY_MJS: &str = "\
function forgiving() {
  try {
    JSON.parse('{');
  } catch {
    return 2;
  }
}
if (process.argv[2] === 'exit') process.on('exit', forgiving);
else process.on('uncaughtException', () => process.exit(forgiving()));
function pay(total) {
  if (total < 0) throw new RangeError(`negative total: ${total}`); // @thrown
}
pay(5 - 14);
";

const TEST_CART_PY: &str = "\
import unittest


class TestCart(unittest.TestCase):
    def tearDown(self):
        try:
            self.missing
        except AttributeError:
            pass

    def test_a_total(self):
        total = sum([3, 4][1:])
        if total != 7:
            raise ValueError(f'wrong total: {total}')  # @thrown

    def test_b_refused(self):
        with self.assertRaises(KeyError):
            {}['pen']

    def test_c_unfinished(self):
        self.skipTest('unfinished')

    @unittest.expectedFailure
    def test_d_known(self):
        {}['known']
";

const CART_TEST_MJS: &str = "\
import test from 'node:test';
import assert from 'node:assert/strict';
function refuse() {
  throw new TypeError('refused');
}
test('total', () => {
  const total = 4;
  if (total !== 7) throw new RangeError(`wrong total: ${total}`); // @thrown
});
test('refused', () => {
  assert.throws(refuse, TypeError);
});
";

#[tokio::test]
async fn what_ended_a_program_is_not_what_was_handled_afterwards() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let python = Fixture::write(folder.path(), "pay.py", PAY_PY);
    for version in pythons() {
        let client = Client::new(&version).await;
        for how in ["atexit", "hook", "thread", "fork"] {
            has(&client.record(&python, &[how]).await, &["exited with code 1"]);
            is_about(&client, &python, "ValueError: negative total: -9").await;
        }
        client.server.finish().await;
    }
    let node = Fixture::write(folder.path(), "pay.mjs", PAY_MJS);
    let script = Fixture::write(folder.path(), "pay.cjs", PAY_MJS);
    let client = Client::new("node").await;
    for program in [&node, &script] {
        for (how, code) in [("exit", "exited with code 1;"), ("handler", "exited with code 2;")] {
            has(&client.record(program, &[how]).await, &[code]);
            is_about(&client, program, "RangeError: negative total: -9").await;
        }
    }
    client.server.finish().await;
}

const OPTIONAL_JS: &str = "\
let total = 1;
async function load() {
  await null;
  throw new Error('optional');
}
load().catch(() => {});
function check(price) {
  try {
    JSON.parse('{');
  } catch {}
  return price;
}
setImmediate(() => {
  total = check(-9);
  process.exitCode = total < 0 ? 1 : 0;
});
";

#[tokio::test]
async fn a_rejection_after_which_others_are_thrown_has_not_ended_the_program() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.cjs", OPTIONAL_JS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 1;"]);
    let writes = client.ask("find_writes", json!({ "target": "total" })).await;
    has(&writes, &["`total` is -9 at event "]);
    client.server.finish().await;
}

#[tokio::test]
async fn what_failed_a_test_is_not_what_a_later_one_handles_or_expects() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let tests = Fixture::write(folder.path(), "test_cart.py", TEST_CART_PY);
    let words = ["-m", "unittest", "test_cart"];
    for python in pythons() {
        let client = Client::new(&python).await;
        let arguments = json!({ "command": python, "args": words, "cwd": folder.path() });
        has(&client.ask("record_run", arguments).await, &["exited with code 1"]);
        is_about(&client, &tests, "ValueError: wrong total: 4").await;
        client.server.finish().await;
    }
    let tests = Fixture::write(folder.path(), "cart.test.mjs", CART_TEST_MJS);
    let client = Client::new("node").await;
    has(&client.record(&tests, &[]).await, &["exited with code 1"]);
    is_about(&client, &tests, "RangeError: wrong total: 4").await;
    client.server.finish().await;
}

const STOPPED_PY: &str = "\
import asyncio
import sys


async def poll():
    while True:
        await asyncio.sleep(60)


async def watch():
    try:
        await asyncio.sleep(60)
    finally:
        print('stopped')


async def guard():
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print('guarded')


async def prices():
    for price in (3, -12):
        yield price
        await asyncio.sleep(0)


async def pay(how):
    total = 0
    tasks = [asyncio.ensure_future(task()) for task in (poll, watch, guard) if how in ('all', task.__name__)]
    async for price in prices():
        total += price
        if total < 0:
            raise ValueError('negative total: %d' % total)  # @thrown
    return tasks


asyncio.run(pay(sys.argv[1]))
";

#[tokio::test]
async fn what_ended_a_program_is_not_what_stopped_its_other_tasks() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", STOPPED_PY);
    for python in pythons() {
        let client = Client::new(&python).await;
        for how in ["none", "poll", "watch", "guard", "all"] {
            has(&client.record(&program, &[how]).await, &["exited with code 1"]);
            is_about(&client, &program, "ValueError: negative total: -9").await;
        }
        client.server.finish().await;
    }
}

const GROUP_PY: &str = "\
import asyncio


async def poll():
    await asyncio.sleep(60)


async def pay(total):
    await asyncio.sleep(0)
    raise ValueError('negative total: %d' % total)  # @thrown


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(pay(-9))
        group.create_task(poll())


asyncio.run(main())
";

#[tokio::test]
async fn what_ended_a_program_is_not_what_stopped_the_rest_of_a_group() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", GROUP_PY);
    for python in pythons().into_iter().filter(|python| !python.contains("3.8.")) {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 1"]);
        is_about(&client, &program, "ValueError: negative total: -9").await;
        client.server.finish().await;
    }
}

const TEST_MAIN_PY: &str = "\
import sys
import unittest


class Whole(unittest.TestCase):
    def test_total(self):
        total = 3 - 12
        self.assertGreater(total, 0)  # @thrown

    def test_word(self):
        with self.assertRaises(ValueError): int('word')

    @unittest.expectedFailure
    def test_wrong(self):
        int('wrong')


class Parts(unittest.TestCase):
    def test_totals(self):
        for total in (1, -9):
            with self.subTest(total=total):
                self.assertGreater(total, 0)  # @part
        return total

    test_word = Whole.test_word


if __name__ == '__main__':
    unittest.main()
";

const PARTS_MJS: &str = "\
import assert from 'node:assert/strict';
import test from 'node:test';

test('totals', async (t) => {
  for (const total of [1, -9]) {
    await t.test(`of ${total}`, () => {
      assert.equal(total > 0, true); // @part
    });
  }
});

test('words', async () => {
  await assert.rejects(async () => {
    throw new Error('expected');
  }, /expected/);
});
";

#[tokio::test]
async fn what_failed_a_test_is_neither_the_exit_of_its_runner_nor_what_it_expects() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", TEST_MAIN_PY);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &["Whole"]).await, &["exited with code 1"]);
        is_about(&client, &program, "AssertionError: -9 not greater than 0").await;
        has(&client.record(&program, &["Parts"]).await, &["exited with code 1"]);
        let state = client.ask("state_at", json!({ "at": "exception" })).await;
        has(&state, &["AssertionError: -9 not greater than 0", &at(&program, "part")]);
        client.server.finish().await;
    }
    let program = Fixture::write(folder.path(), "parts.test.mjs", PARTS_MJS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 1"]);
    let state = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&state, &["AssertionError", &at(&program, "part"), "total = -9"]);
    client.server.finish().await;
}

const TEST_LOOP_PY: &str = "\
import asyncio
import unittest


async def poll():
    await asyncio.sleep(60)


class Totals(unittest.IsolatedAsyncioTestCase):
    async def test_a_total(self):
        self.task = asyncio.ensure_future(poll())
        await asyncio.sleep(0)
        total = 3 - 12
        self.assertGreater(total, 0)  # @thrown

    async def test_b_task(self):
        self.task = asyncio.ensure_future(poll())
        await asyncio.sleep(0)
";

#[tokio::test]
async fn what_failed_a_test_is_not_what_stopped_the_tasks_that_it_left() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let tests = Fixture::write(folder.path(), "test_loop.py", TEST_LOOP_PY);
    for python in pythons() {
        let client = Client::new(&python).await;
        let arguments =
            json!({ "command": python, "args": ["-m", "unittest", "test_loop"], "cwd": folder.path() });
        has(&client.ask("record_run", arguments).await, &["exited with code 1"]);
        is_about(&client, &tests, "AssertionError: -9 not greater than 0").await;
        client.server.finish().await;
    }
}

const POOL_PY: &str = "\
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor


def price(count):
    total = 3 - count
    return total // (total + 9)  # @thrown


def main(pool):
    with pool(2) as pool:
        for future in [pool.submit(price, count) for count in (1, 12)]:
            future.result()


if __name__ == '__main__':
    main({'threads': ThreadPoolExecutor, 'processes': ProcessPoolExecutor}[sys.argv[1]])
";

#[tokio::test]
async fn what_ended_a_program_was_thrown_in_the_thread_or_process_whose_result_it_asked_for() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", POOL_PY);
    for python in pythons() {
        let client = Client::new(&python).await;
        for pool in ["threads", "processes"] {
            has(&client.record(&program, &[pool]).await, &["exited with code 1"]);
            is_about(&client, &program, "ZeroDivisionError: integer division or modulo by zero").await;
        }
        client.server.finish().await;
    }
}

const THREAD_PY: &str = "\
import threading


def work(count, done):
    done.append(10 // count)


def main():
    done = []
    for count in (1, 0):
        thread = threading.Thread(target=work, args=(count, done))
        thread.start()
        thread.join()
    total = len(done) - 1
    return 10 // total  # @thrown


main()
";

#[tokio::test]
async fn what_ended_a_program_is_not_the_same_exception_of_a_thread_that_it_does_not_ask() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", THREAD_PY);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 1"]);
        is_about(&client, &program, "ZeroDivisionError: integer division or modulo by zero").await;
        client.server.finish().await;
    }
}

/// Fails unless the last recording is about this exception, with and without a moment.
async fn is_about(client: &Client, program: &Fixture, thrown: &str) {
    let state = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&state, &[thrown, &at(program, "thrown")]);
    let origin = client.ask("find_origin", json!({ "target": "total" })).await;
    has(&origin, &["`total` is ", &at(program, "thrown")]);
}
