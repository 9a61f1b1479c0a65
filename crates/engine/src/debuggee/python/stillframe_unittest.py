"""Makes unittest's result classes report to stillframe, whatever runs the tests."""

import functools
import inspect
import os
import sys

from stillframe_tests import MOST_NAMES, described, load, of_doctest, owns, shortened, write_report

# The package may be partially imported.
RESULTS = sys.modules["unittest.result"].TestResult
# Fixture methods of a test case.
PHASES = {
    "setUp": "setup",
    "asyncSetUp": "setup",
    "setUpClass": "setup",
    "setUpModule": "setup",
    "tearDown": "teardown",
    "asyncTearDown": "teardown",
    "tearDownClass": "teardown",
    "tearDownModule": "teardown",
}


def reporting(name, report):
    """Wrap a method of all result classes with a report."""
    original = getattr(RESULTS, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def method(self, *arguments, **named):
        if owns():
            try:
                report(self, *arguments, **named)
            except Exception:
                # A test that cannot be described still runs.
                pass
        return original(self, *arguments, **named)

    setattr(RESULTS, name, method)


def begins(result, test):
    if not is_loading(test):
        write_report("begins", test=test.id())


def result_of(result, test, outcome, **more):
    fields = {"id": test.id(), "outcome": outcome, "captured": captured(result)}
    fields.update(place(test))
    fields.update(more)
    write_report("result", **fields)


def passed(result, test):
    result_of(result, test, "passed")


def skipped(result, test, reason):
    result_of(result, test, "skipped", message=shortened(reason))


def expected(result, test, err):
    result_of(result, test, "xfailed")


def unexpected(result, test):
    result_of(result, test, "failed", message="it passed, but was expected to fail")


def failed(result, test, err, **more):
    if is_loading(test):
        loading(test, err)
        return
    kind, error, trace = err
    phase = phase_of(test, trace)
    load("stillframe_throws").stop_afterwards(error, trace)
    more.update(of_doctest("of_case", test) or described(kind, error, trace))
    more["details"] = shortened(result._exc_info_to_string(err, test))
    # In a fixture, the location of the test is less informative.
    result_of(result, test, "failed" if phase == "call" else "error", phase=phase, **more)


def failed_in_part(result, test, subtest, err):
    if err is not None:
        failed(result, subtest, err, part_of=test.id())


def phase_of(test, trace):
    """The phase of a test that raised an exception, from the first known function."""
    if type(test).__name__ == "_ErrorHolder":
        return PHASES.get(test.id().partition(" ")[0], "setup")
    while trace is not None:
        phase = PHASES.get(trace.tb_frame.f_code.co_name)
        if phase is not None:
            return phase
        trace = trace.tb_next
    return "call"


def place(test):
    try:
        method = getattr(test, test._testMethodName)
        code = inspect.unwrap(method).__code__
        return {"file": os.path.abspath(code.co_filename), "line": code.co_firstlineno}
    except AttributeError:
        return {}


def captured(result):
    """With `-b` unittest captures the output of tests."""
    found = []
    for name in ("stdout", "stderr"):
        buffer = getattr(result, "_%s_buffer" % name, None) if getattr(result, "buffer", False) else None
        text = buffer.getvalue() if buffer is not None else ""
        if text:
            found.append({"name": name, "text": shortened(text)})
    return found


# ---------------------------------------------------------------------------------------------------------
# Loading


def is_loading(test):
    """unittest creates a failing test for a module that it cannot load."""
    return type(test).__name__ in ("_FailedTest", "ModuleImportFailure")


def loading(test, err):
    kind, error, trace = err
    name = test._testMethodName
    text = str(error)
    own = [line for line in text.splitlines() if line.strip()]
    last = own[-1].strip() if own else ""
    is_unknown = kind is AttributeError or last == "ModuleNotFoundError: No module named %r" % name
    if is_unknown and not text.startswith("Failed to import test module: %s\n" % name) or is_named(last, name):
        write_report("missing", name=name)
        write_report("collected", count=0, names=names())
        return
    type_name, _, message = last.partition(": ")
    write_report("problem", name=name, exception=type_name, message=message, details=shortened(text), **where(text))


def is_named(line, name):
    """Whether the module itself is missing, and not one that it imports."""
    return line in (
        "ModuleNotFoundError: No module named %r" % name,
        "ModuleNotFoundError: No module named %r" % name.rpartition(".")[0],
    )


def where(text):
    """The last location in a traceback."""
    import re

    found = re.findall(r'^  File "(.+)", line (\d+)', text, re.MULTILINE)
    return {"file": found[-1][0], "line": int(found[-1][1])} if found else {}


def names():
    """The tests of loaded classes."""
    import unittest

    found, waiting = [], [unittest.TestCase]
    while waiting and len(found) < MOST_NAMES:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        if kind.__module__.partition(".")[0] != "unittest":
            for name in unittest.defaultTestLoader.getTestCaseNames(kind):
                found.append("%s.%s.%s" % (kind.__module__, kind.__qualname__, name))
    return sorted(found)


for method, report in (
    ("startTest", begins),
    ("addSuccess", passed),
    ("addSkip", skipped),
    ("addExpectedFailure", expected),
    ("addUnexpectedSuccess", unexpected),
    ("addError", failed),
    ("addFailure", failed),
    ("addSubTest", failed_in_part),
):
    reporting(method, report)
