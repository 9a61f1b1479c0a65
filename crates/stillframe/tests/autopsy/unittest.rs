//! unittest, and programs that are no test runners.

use serde_json::json;

use crate::golden::assert_golden;
use crate::python::{TestRun, run};

/// What all modules of tests here begin with.
const HEAD: &str = "\
import unittest
from shop import Basket, bill, parse


class ShopTest(unittest.TestCase):
    def setUp(self):
        self.basket = Basket('Ann')
        self.basket.add(3)

";

async fn unittest(body: &str) -> TestRun {
    run(&["unittest", "test_shop"], &format!("{HEAD}{body}"), json!({})).await
}

#[tokio::test]
async fn a_failing_assertion_is_reported_with_both_sides() {
    let body = "
    def test_count(self):
        wanted = 2
        print('before the assertion')
        self.assertEqual(len(self.basket), wanted)  # @fails
";
    let ran = unittest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    assert_eq!(ran.sides(), json!([["len(self.basket)", "1", "int"], ["wanted", "2", "int"]]));
    let failure = &ran.answer["failure"];
    assert_eq!(failure["line"], json!(ran.tests.line("fails")), "{}", ran.answer.text);
    assert!(ran.answer.text_of("output").contains("before the assertion\n"), "{}", ran.answer.text);
    assert_golden("unittest", failure, ran.folder.path());
    ran.finish().await;
}

#[tokio::test]
async fn a_plain_assertion_is_reported_with_values_that_need_no_code_of_the_program() {
    let prices = "
    def test_prices(self):
        n = 2
        assert self.basket.prices[0] == n + len('ab')
";
    let private = "
    def test_private(self):
        self.__wanted = 2
        assert len(self.basket) == self.__wanted
";
    let changed = "
    def test_changed(self):
        items = [1, 2, 5]
        assert len(items) == items.pop()
";
    let kept = "
    def test_kept(self):
        n, items = 2, [1, 2, 5]
        assert n == items.pop()
";
    let table = [
        (prices, json!([["self.basket.prices[0]", "3", "int"], ["n + len('ab')", "4", "int"]])),
        (private, json!([["len(self.basket)", null, null], ["self.__wanted", "2", "int"]])),
        (changed, json!([["len(items)", null, null], ["items.pop()", null, null]])),
        (kept, json!([["n", "2", "int"], ["items.pop()", null, null]])),
    ];
    for (body, sides) in table {
        let ran = unittest(body).await;
        ran.came_to("failed", 1, [1, 0, 1]);
        assert_eq!(ran.sides(), sides, "{}", ran.answer.text);
        ran.finish().await;
    }
}

#[tokio::test]
async fn caught_and_expected_exceptions_are_not_failures() {
    let body = "
    def test_all(self):
        self.assertEqual(parse('x'), 0)
        self.assertRaises(ValueError, self.basket.add, -1)
        with self.assertRaises(ValueError):
            self.basket.add(-1)
        with self.assertRaisesRegex(KeyError, 'USD'):
            bill(self.basket)

    @unittest.skip('not now')
    def test_skipped(self):
        pass
";
    let text = format!("{HEAD}{body}");
    let ran = run(&["unittest", "test_shop"], &text, json!({ "keepSession": true })).await;
    ran.came_to("passed", 0, [2, 1, 0]);
    ran.finish().await;
}

#[tokio::test]
async fn subtests_and_set_up_failures_are_reported() {
    let body = "
    def test_parts(self):
        for n in range(4):
            with self.subTest(n=n):
                self.assertIn(n, [0, 2])


class Untidy(unittest.TestCase):
    def tearDown(self):
        raise OSError('not tidy')

    def test_it(self):
        pass
";
    let ran = unittest(body).await;
    ran.came_to("failed", 1, [2, 0, 2]);
    assert_eq!(ran.answer["failure"]["test"], "test_shop.ShopTest.test_parts (n=1)", "{}", ran.answer.text);
    assert_eq!(ran.sides(), json!([["n", "1", "int"], ["[0, 2]", "[0, 2]", "list"]]));
    let others = ran.answer["otherFailures"].as_array().unwrap();
    let messages: Vec<_> = others.iter().map(|other| &other["message"]).collect();
    assert_eq!(messages, ["3 not found in [0, 2]", "not tidy"], "{}", ran.answer.text);
    ran.finish().await;
}

/// pytest-mock replaces the functions of mocks with ones of other names.
#[tokio::test]
async fn a_wrapped_assertion_is_named_as_the_test_calls_it() {
    let body = "
    def test_sent(self):
        import os
        import sysconfig
        from unittest import mock

        text = 'def wrap_assert_called_with(*args):\\n    original(*args)\\n'
        names = {'original': mock.Mock.assert_called_with}
        exec(compile(text, os.path.join(sysconfig.get_paths()['purelib'], 'plugin.py'), 'exec'), names)
        with mock.patch.object(mock.Mock, 'assert_called_with', names['wrap_assert_called_with']):
            send = mock.Mock()
            send(1)
            send.assert_called_with(2)
";
    let ran = unittest(body).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    let assertion = &ran.answer["failure"]["assertion"];
    let named = json!({ "expression": "send.assert_called_with(2)", "operator": "assert_called_with" });
    assert_eq!(*assertion, named, "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn an_exit_in_tested_code_is_reported_where_it_is() {
    let body = "
    def leave(self, code):
        raise SystemExit(code)  # @leaves

    def test_code(self):
        self.leave(3)

    def test_expected(self):
        with self.assertRaises(SystemExit):
            self.leave(4)
";
    let ran = unittest(body).await;
    ran.came_to("failed", 1, [2, 1, 1]);
    assert_eq!(ran.answer["failure"]["line"], json!(ran.tests.line("leaves")), "{}", ran.answer.text);
    assert_eq!(ran.frames()[..2], ["leave", "test_code"], "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn a_module_that_cannot_be_loaded_is_not_a_failing_test() {
    let ran = run(&["unittest", "test_shop"], "import not_installed\n", json!({})).await;
    ran.came_to("error", 1, [0, 0, 0]);
    assert_eq!(ran.answer["problems"][0]["exception"], "ModuleNotFoundError", "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn an_unknown_test_is_reported_with_similar_names() {
    let body = "\n    def test_count(self):\n        pass\n";
    let text = format!("{HEAD}{body}");
    let ran = run(&["unittest", "test_shop.ShopTest.test_cuont"], &text, json!({})).await;
    ran.came_to("no_tests", 1, [0, 0, 0]);
    assert_eq!(ran.answer["similar"][0], "test_shop.ShopTest.test_count", "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn functions_that_only_pytest_knows_are_no_tests() {
    let ran = run(&["unittest", "test_shop"], "def test_count():\n    pass\n", json!({})).await;
    assert_eq!(ran.answer["verdict"], "no_tests", "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn without_a_runner_the_uncaught_exception_is_the_failure() {
    let ran = run(&["test_shop"], "from shop import *\n\nbill(Basket('Ann'))\n", json!({})).await;
    ran.came_to("failed", 1, [0, 0, 0]);
    assert_eq!(ran.frames(), ["total", "bill", "<module>"], "{}", ran.answer.text);
    ran.finish().await;
}

#[tokio::test]
async fn a_doctest_fails_at_its_example() {
    let text = "\
import doctest
import sys
import unittest


def double(number):
    '''
    >>> double(2)
    4
    >>> double(3)  # @fails
    7
    '''
    return number * 2


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(sys.modules[__name__]))
    return tests
";
    let ran = run(&["unittest", "test_shop"], text, json!({})).await;
    ran.came_to("failed", 1, [1, 0, 1]);
    let failure = &ran.answer["failure"];
    assert_eq!(failure["message"], "expected 7, got 6", "{}", ran.answer.text);
    assert_eq!(failure["file"], ran.tests.path(), "{}", ran.answer.text);
    assert_eq!(failure["line"], ran.tests.line("fails"), "{}", ran.answer.text);
    ran.finish().await;
}
