//! pytest.

use serde_json::json;
use test_support::{Fixture, python_with_packages};

use crate::STILLFRAME;
use crate::golden::assert_golden;
use crate::python::{TestRun, run};

/// What all modules of tests here begin with.
const HEAD: &str = "\
import contextlib
import pytest
from shop import Basket, bill, parse


@pytest.fixture
def basket():
    basket = Basket('Ann')
    basket.add(3)
    return basket

";

async fn pytest(body: &str) -> TestRun {
    pytest_with(&["test_shop.py"], body).await
}

async fn pytest_with(arguments: &[&str], body: &str) -> TestRun {
    let words = [&["pytest", "-q", "-p", "no:cacheprovider"], arguments].concat();
    run(&words, &format!("{HEAD}{body}"), json!({})).await
}

#[tokio::test]
async fn a_failing_assertion_is_reported_with_both_sides() {
    let body = "
def test_count(basket):
    wanted = 2
    print('before the assertion')
    assert len(basket) == wanted  # @fails
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    assert_eq!(ran.sides(), json!([["len(basket)", "1", "int"], ["wanted", "2", "int"]]));
    let failure = &ran.answer["failure"];
    assert_eq!(failure["line"], json!(ran.tests.line("fails")), "{}", ran.answer.text);
    let captured = json!([{ "name": "stdout", "text": "before the assertion\n" }]);
    assert_eq!(failure["captured"], captured, "{}", ran.answer.text);
    assert_golden("pytest", failure, ran.folder.path());
    assert!(ran.answer.text.len() <= 2_500, "{} bytes: {}", ran.answer.text.len(), ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn a_chain_of_comparisons_has_the_sides_of_the_one_that_fails() {
    let body = "
def test_between(basket):
    assert 0 < len(basket) < 1 < 5
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    assert_eq!(ran.sides(), json!([["len(basket)", "1", "int"], ["1", "1", "int"]]));
    ran.finish().await;
}

/// Throws are marked, to know which of them a failure is about.
#[tokio::test]
async fn attributes_of_exceptions_are_those_of_the_program() {
    let body = "
def test_attributes():
    with Keep() as keep:
        raise ValueError('no')
    assert vars(keep.error) == {} and repr(vars(keep.error)) == '{}'


class Keep:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.error = error
        return True
";
    let ran = pytest(body).await;
    ran.came_to("passed", 0, [1, 1, 0]);
    ran.finish().await;
}

#[tokio::test]
async fn an_exception_is_reported_where_it_is_raised() {
    let ran = pytest("\ndef test_bill(basket):\n    assert parse('x') == 0\n    bill(basket)\n").await;
    ran.came_to("failed", 1, [1, 0, 1]);
    let failure = &ran.answer["failure"];
    assert_eq!(
        (&failure["file"], &failure["line"]),
        (&json!(ran.shop.path()), &json!(ran.shop.line("rates")))
    );
    assert_eq!(ran.frames(), ["total", "bill", "test_bill"], "{}", ran.answer.text);
    assert_eq!(failure["frames"][1]["locals"][1]["value"], "'USD'", "{}", ran.answer.text);
    let stack = failure["stack"].as_array().expect("a stack");
    assert!(stack.iter().any(|frame| frame.as_str().unwrap().contains(" frames of pytest, pluggy")));
    ran.finish().await;
}

/// With a session to keep, any throw that counts would end the run.
#[tokio::test]
async fn caught_and_expected_exceptions_are_not_failures() {
    let body = "
class Lazy:
    def __getattr__(self, name):
        raise AttributeError(name)


def test_all(basket):
    assert parse('x') == 0
    with pytest.raises(ValueError):
        basket.add(-1)
    pytest.raises(ValueError, basket.add, -1)
    with contextlib.suppress(LookupError):
        bill(basket)
    assert not hasattr(Lazy(), 'anything')
    assert getattr(Lazy(), 'anything', 1) == 1
    print('said by the test')


def test_skipped():
    pytest.skip('not now')
";
    let words = ["pytest", "-q", "-p", "no:cacheprovider", "test_shop.py"];
    let ran = run(&words, &format!("{HEAD}{body}"), json!({ "keepSession": true })).await;
    ran.came_to("passed", 0, [2, 1, 0]);
    let captured = json!([{ "name": "stdout", "text": "said by the test\n" }]);
    assert_eq!(ran.answer["captured"], captured, "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn further_failures_are_summarized_and_outcomes_counted() {
    let body = "
@pytest.fixture
def broken():
    raise OSError('no port')  # @setup


@pytest.fixture
def untidy():
    yield 1
    raise OSError('not tidy')


@pytest.mark.parametrize('n', [1, 2])
def test_less(n):
    assert n < 2


def test_broken(broken):
    pass


def test_untidy(untidy):
    pass


@pytest.mark.xfail
def test_expected():
    assert False
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [5, 2, 3]);
    assert_eq!(ran.answer["tests"]["expectedFailures"], 1, "{}", ran.answer.text);
    assert_eq!(ran.answer["failure"]["test"], "test_shop.py::test_less[2]", "{}", ran.answer.text);
    let others = ran.answer["otherFailures"].as_array().expect("a list");
    let reported: Vec<_> = others.iter().map(|other| (&other["name"], &other["message"])).collect();
    assert_eq!(
        reported,
        [
            (&json!("test_shop.py::test_broken"), &json!("no port")),
            (&json!("test_shop.py::test_untidy"), &json!("not tidy"))
        ]
    );
    assert!(!ran.answer.text.contains("FAILURES"), "{}", ran.answer.text);
    ran.finish().await;
    let ran =
        run(&["pytest", "-q", "test_shop.py"], &format!("{HEAD}{body}"), json!({ "failures": 2 })).await;
    assert_eq!(ran.answer.at("/moreFailures/0/message"), "no port", "{}", ran.answer.text);
    assert_eq!(ran.answer["otherFailures"].as_array().map(Vec::len), Some(1), "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn a_failing_fixture_is_reported_with_its_phase() {
    let body = "
@pytest.fixture
def broken():
    raise OSError('no port')  # @setup


def test_broken(broken):
    pass
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    let failure = &ran.answer["failure"];
    let reported = json!([failure["phase"], failure["line"], failure["function"]]);
    assert_eq!(reported, json!(["setup", ran.tests.line("setup"), "broken"]), "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn a_module_that_cannot_be_loaded_is_not_a_failing_test() {
    let ran = pytest("\nparse()  # @loads\n\ndef test_a():\n    pass\n").await;
    ran.came_to("error", 2, [0, 0, 0]);
    assert_eq!(ran.answer["problem"]["line"], json!(ran.tests.line("loads")), "{}", ran.answer.text);
    assert_eq!(ran.answer["problems"][0]["exception"], "TypeError", "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn an_unknown_test_is_reported_with_similar_names() {
    let body = "\ndef test_price():\n    pass\n\ndef test_count():\n    pass\n";
    let ran = pytest_with(&["test_shop.py::test_cuont"], body).await;
    ran.came_to("no_tests", 4, [0, 0, 0]);
    assert_eq!(ran.answer["missing"], json!(["test_shop.py::test_cuont"]), "{}", ran.answer.text);
    assert_eq!(ran.answer["similar"][0], "test_shop.py::test_count", "{}", ran.answer.text);
    ran.finish().await;
    let ran = pytest_with(&["-k", "nothing"], body).await;
    ran.came_to("no_tests", 5, [0, 0, 0]);
    ran.finish().await;
}

#[tokio::test]
async fn a_test_that_catches_many_exceptions_ends() {
    let body = "
def test_many(basket):
    caught = 0
    for n in range(20_000):
        try:
            basket.add(-1)
        except ValueError:
            caught += 1
    assert caught == 1
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    assert_eq!(ran.sides(), json!([["caught", "20000", "int"], ["1", "1", "int"]]));
    ran.finish().await;
}

#[tokio::test]
async fn an_endless_test_is_named_with_its_stack() {
    let text = format!("{HEAD}\nimport threading\n\ndef test_waits():\n    threading.Event().wait()\n");
    let words = ["pytest", "-p", "no:cacheprovider", "test_shop.py"];
    // Starting takes a part of it.
    let ran = run(&words, &text, json!({ "timeout": 30_000 })).await;
    assert_eq!(ran.answer["verdict"], "hung", "{}", ran.answer.text);
    assert_eq!(ran.answer["hang"]["test"], "test_shop.py::test_waits", "{}", ran.answer.text);
    assert_eq!(ran.answer["hang"]["verdict"], "deadlocked", "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn tests_that_a_script_of_npm_starts_are_debugged() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let python = python_with_packages().await.display().to_string();
    let scripts = json!({ "test": format!("{python} -m pytest -p no:cacheprovider") });
    Fixture::write(folder.path(), "package.json", &json!({ "scripts": scripts }).to_string());
    let text = "def test_two():\n    prices = [1, 2]\n    assert sum(prices) == 4  # @fails\n";
    let tests = Fixture::write(folder.path(), "test_two.py", text);
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "command": "npm test", "cwd": folder.path(), "timeout": 60_000 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["verdict"], "failed", "{}", answer.text);
    assert_eq!(answer["failure"]["test"], "test_two.py::test_two", "{}", answer.text);
    assert_eq!(answer["failure"]["line"], json!(tests.line("fails")), "{}", answer.text);
    assert_eq!(answer["failure"]["assertion"]["left"]["value"], "3", "{}", answer.text);
    assert_eq!(answer.at("/failure/frames/0/locals/0/value"), "[1, 2]", "{}", answer.text);
    server.finish().await;
}

#[tokio::test]
async fn a_kept_session_stays_at_the_throw() {
    let text = format!("{HEAD}\ndef test_bill(basket):\n    bill(basket)\n");
    let words = ["pytest", "-p", "no:cacheprovider", "test_shop.py"];
    let ran = run(&words, &text, json!({ "keepSession": true })).await;
    assert_eq!(ran.answer["verdict"], "failed", "{}", ran.answer.text);
    assert_eq!(ran.answer["failure"]["test"], "test_shop.py::test_bill", "{}", ran.answer.text);
    let arguments = json!({ "sessionId": ran.answer["sessionId"], "expression": "currency" });
    let value = ran.server.ok("evaluate_expression", arguments).await;
    assert_eq!(value["result"], "'USD'", "{}", value.text);
    let id = json!({ "sessionId": ran.answer["sessionId"] });
    ran.server.ok("close_debug_session", id).await;
    ran.finish().await;
}

#[tokio::test]
async fn a_command_that_cannot_run_is_refused_with_advice() {
    let server = STILLFRAME.serve().await;
    let table = [
        (json!({ "command": "no-such-runner" }), "command_not_found", "`no-such-runner` was not found"),
        (
            json!({ "command": "python3 -m pytest", "timeout": 600_001 }),
            "limit_reached",
            "`longest_wait` is 600000",
        ),
        (json!({ "command": "" }), "invalid_arguments", "is empty"),
    ];
    for (arguments, code, said) in table {
        let failed = server.fails(code, "debug_test", arguments).await;
        assert!(failed.text_of("message").contains(said), "{}", failed.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn exceptions_that_a_framework_caught_are_reported_for_a_failing_test() {
    let body = "
def test_page(basket):
    from flask import Flask
    app = Flask('shop')

    @app.get('/')
    def page():
        return str(basket.total)  # @raise

    assert app.test_client().get('/').status_code == 200  # @fails
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    assert_eq!(ran.answer.at("/failure/line"), ran.tests.line("fails"), "{}", ran.answer.text);
    let note = ran.answer.at("/notes/0").as_str().unwrap_or_default();
    assert!(note.starts_with("AttributeError: "), "{}", ran.answer.text);
    let raised = format!("raised at {}:{} in page", ran.tests.path(), ran.tests.line("raise"));
    assert!(note.contains(&raised) && note.ends_with("caught by flask"), "{}", ran.answer.text);
    ran.finish().await;
}

/// As nox and tox start it, which pass few variables on. Up to Python 3.11, coverage.py would be in the debugger's place.
#[tokio::test]
async fn a_runner_that_another_program_starts_reports_as_much_even_with_coverage() {
    let body = "
def test_count(basket):
    wanted = 2
    assert len(basket) == wanted  # @fails


if __name__ == '__main__':
    import os, subprocess, sys
    runner = ['pytest', '-q', '-p', 'no:cacheprovider', '--cov=shop', '--cov-fail-under=90', __file__]
    environment = {'PATH': os.environ['PATH']}
    sys.exit(subprocess.call([sys.executable, '-m', *runner], env=environment))
";
    let ran = run(&["test_shop"], &format!("{HEAD}{body}"), json!({})).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    assert_eq!(ran.sides(), json!([["len(basket)", "1", "int"], ["wanted", "2", "int"]]));
    assert_eq!(ran.answer.at("/failure/line"), ran.tests.line("fails"), "{}", ran.answer.text);
    ran.finish().await;
}

/// Nothing can stop while there is no stack left, and up to Python 3.11 the thread is no longer traced then.
#[tokio::test]
async fn an_exhausted_stack_is_reported_in_the_users_code_and_so_is_what_fails_after_it() {
    let body = "
def dive(depth): return dive(depth + 1)  # @dives


def test_deep():
    dive(0)


def test_after(basket):
    assert len(basket) == 2
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [2, 0, 2]);
    let failure = &ran.answer["failure"];
    assert_eq!(
        (&failure["file"], &failure["line"]),
        (&json!(ran.tests.path()), &json!(ran.tests.line("dives")))
    );
    assert_eq!(ran.frames().first(), Some(&"dive"), "{}", ran.answer.text);
    let after = ran.answer["otherFailures"][0]["message"].as_str().unwrap_or_default();
    assert!(after.starts_with("assert 1 == 2"), "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn an_exit_at_one_place_that_ends_many_tests_stops_only_so_often() {
    let body = "
@pytest.mark.parametrize('number', range(60))
def test_leave(number):
    raise SystemExit(number)
";
    let ran =
        run(&["pytest", "-q", "test_shop.py"], &format!("{HEAD}{body}"), json!({ "failures": 60 })).await;
    ran.came_to("failed", 1, [60, 0, 60]);
    let failures = ran.answer["moreFailures"].as_array().unwrap();
    let with_frames = failures.iter().filter(|failure| !failure["frames"].is_null()).count();
    assert_eq!((failures.len(), with_frames), (59, 49), "{}", ran.answer.text);
    ran.finish().await;
}

/// pytest-timeout ignores its limits while a program is debugged, because a person may be looking at it.
#[tokio::test]
async fn a_test_that_takes_too_long_fails_where_it_is() {
    let body = "
@pytest.mark.timeout(1)
def test_polling(basket):
    polls = 0
    while True:
        time.sleep(0.01)
        polls += 1
";
    let ran = run(&["pytest", "-q", "test_shop.py"], &format!("import time\n{HEAD}{body}"), json!({})).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    let failure = &ran.answer["failure"];
    assert!(failure["message"].as_str().unwrap().starts_with("Timeout (>1.0s)"), "{}", ran.answer.text);
    assert_eq!(ran.frames(), ["test_polling"], "{}", ran.answer.text);
    assert_eq!(failure["frames"][0]["locals"][1]["name"], "polls", "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn a_doctest_fails_at_its_example_and_has_no_warnings_of_the_debugger() {
    let body = "
def double(number):
    '''
    >>> double(2)
    4
    >>> double(3)  # @fails
    7
    '''
    return number * 2

def half(number):
    '''
    >>> half(None)
    2
    '''
    return number / 2  # @raises
";
    let ran = pytest_with(&["--doctest-modules", "test_shop.py"], body).await;
    ran.came_to("failed", 1, [2, 0, 2]);
    let failure = &ran.answer["failure"];
    assert_eq!(failure["message"], "expected 7, got 6", "{}", ran.answer.text);
    assert_eq!(failure["line"], ran.tests.line("fails"), "{}", ran.answer.text);
    assert_eq!(failure["captured"], json!(null), "{}", ran.answer.text);
    let other = ran.answer["otherFailures"][0].to_string();
    assert!(other.contains("unsupported operand"), "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn an_exception_that_looks_like_that_of_a_doctest_fails_its_test_only() {
    let body = "
import doctest

def double(number):
    '''
    >>> double(3)
    7
    '''
    return number * 2

class Rejected(Exception):
    def __init__(self, failures):
        super().__init__('rejected')
        self.failures = failures

@pytest.mark.parametrize('failures', [3, None, [1]])
def test_rejected(failures):
    raise Rejected(failures)

class Runner(doctest.DocTestRunner):
    def report_failure(self, out, test, example, got):
        super().report_failure(out, test=test, example=example, got=got)

def test_runner():
    case = doctest.DocTestParser().get_doctest('>>> 1\\n2\\n', {}, 'case', None, None)
    assert Runner(verbose=False).run(case, out=[].append).failed == 1
";
    let ran = pytest_with(&["--doctest-modules", "test_shop.py"], body).await;
    ran.came_to("failed", 1, [5, 1, 4]);
    assert!(ran.answer.text.contains("Rejected"), "{}", ran.answer.text);
    ran.finish().await;
}

/// The standard library is no package, but its tasks keep what they raise.
#[tokio::test]
async fn an_exception_of_a_task_is_caught_by_asyncio() {
    let body = "
def test_page():
    import asyncio

    async def page():
        raise KeyError('x')  # @raise

    async def main():
        results = await asyncio.gather(page(), return_exceptions=True)
        assert not results

    asyncio.run(main())
";
    let ran = pytest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    let note = ran.answer.at("/notes/0").as_str().unwrap_or_default();
    assert!(note.starts_with("KeyError: ") && note.ends_with("caught by asyncio"), "{}", ran.answer.text);
    ran.finish().await;
}
