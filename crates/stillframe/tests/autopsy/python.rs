//! What the test runners of Python have in common: a module that is tested, and how tests of it are run.

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Fixture, Server, python_with_packages};

use crate::STILLFRAME;

/// The module that is tested.
const SHOP: &str = "\
class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.prices = []

    def add(self, price):
        if price < 0:
            raise ValueError(f'a price of {price}')  # @throws
        self.prices.append(price)

    def __repr__(self):
        return 'a basket'

    def __len__(self):
        return len(self.prices)


def parse(text):
    try:
        return int(text)
    except ValueError:
        return 0


def total(basket, currency):
    rate = {'EUR': 1}[currency]  # @rates
    return rate * sum(basket.prices)


def bill(basket):
    currency = 'USD'
    return total(basket, currency)
";

/// A run of tests.
pub(crate) struct TestRun {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
    pub(crate) shop: Fixture,
    pub(crate) tests: Fixture,
    pub(crate) answer: Answer,
}

/// Runs a module of tests; `words` is what comes after `python -m`.
pub(crate) async fn run(words: &[&str], text: &str, more: Value) -> TestRun {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
    let shop = Fixture::write(folder.path(), "shop.py", SHOP);
    let tests = Fixture::write(folder.path(), "test_shop.py", text);
    let args = [&["-m"], words].concat();
    let mut arguments = json!({
        "command": python_with_packages().await,
        "args": args,
        "cwd": folder.path(),
        "timeout": 60_000,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    let server = STILLFRAME.serve().await;
    let answer = server.ok("debug_test", arguments).await;
    TestRun { server, folder, shop, tests, answer }
}

impl TestRun {
    /// The verdict, the exit code, and how many were run, passed and failed.
    pub(crate) fn came_to(&self, verdict: &str, code: i32, counts: [u64; 3]) {
        let tests = &self.answer["tests"];
        let came = json!([
            self.answer["verdict"],
            self.answer["exitCode"],
            [tests["run"], tests["passed"], tests["failed"]]
        ]);
        assert_eq!(came, json!([verdict, code, counts]), "{}", self.answer.text);
        assert!(self.answer["sessionId"].is_null(), "{}", self.answer.text);
    }

    /// The sides of the assertion: source, value and type of each.
    pub(crate) fn sides(&self) -> Value {
        let side = |name: &str| {
            let side = &self.answer["failure"]["assertion"][name];
            json!([side["expression"], side["value"], side["type"]])
        };
        json!([side("left"), side("right")])
    }

    /// The names of the frames, innermost first.
    pub(crate) fn frames(&self) -> Vec<&str> {
        let frames = self.answer["failure"]["frames"].as_array();
        frames.into_iter().flatten().filter_map(|frame| frame["name"].as_str()).collect()
    }

    pub(crate) async fn finish(self) {
        self.server.finish().await;
        drop(self.folder);
    }
}
