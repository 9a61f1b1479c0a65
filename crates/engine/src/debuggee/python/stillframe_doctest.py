"""Finds what has failed in a doctest. pytest and unittest raise their own exception for its examples.

Loaded when the program has imported `doctest`.
"""

import doctest
import functools
import os

from stillframe_tests import described, shortened

RUNNER = doctest.DocTestRunner


def fields_of(test, example, got):
    """The report of an example with another output than expected."""
    message = "expected %s, got %s" % tuple(text.strip() or "nothing" for text in (example.want, got))
    return {"exception": "DocTestFailure", "message": shortened(message), **place(test, example)}


def fields_of_error(test, example, exc_info):
    """The report of an example that has raised an exception. Its own code has no file."""
    return {**place(test, example), **described(*exc_info)}


def place(test, example):
    if test.filename is None or test.lineno is None:
        return {}
    return {"file": os.path.abspath(test.filename), "line": test.lineno + example.lineno + 1}


def of_error(error):
    """The report of the first example of what pytest raises for a doctest; None for another exception."""
    kind = type(error)
    # A program's exception may have an attribute of this name, too.
    if (kind.__module__, kind.__name__) == ("_pytest.doctest", "MultipleDoctestFailures"):
        failures = error.failures
        error = failures[0] if type(failures) is list and failures else error
    if isinstance(error, doctest.DocTestFailure):
        return fields_of(error.test, error.example, error.got)
    if isinstance(error, doctest.UnexpectedException):
        return fields_of_error(error.test, error.example, error.exc_info)
    return None


def of_case(case):
    """The same for a test case of unittest."""
    return getattr(getattr(case, "_dt_test", None), "stillframe", None)


def remembering(name, describe):
    """Have a doctest keep the report of its first example that fails."""
    original = getattr(RUNNER, name)

    @functools.wraps(original)
    def method(self, out, test, example, *args, **named):
        # A runner of the program may pass the rest by name.
        if not hasattr(test, "stillframe"):
            test.stillframe = describe(test, example, *args, **named)
        return original(self, out, test, example, *args, **named)

    setattr(RUNNER, name, method)


remembering("report_failure", fields_of)
remembering("report_unexpected_exception", fields_of_error)
