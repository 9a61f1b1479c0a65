"""Reports test results to stillframe from inside the runner.

Loaded if STILLFRAME_TESTS names a file, to which it writes the lines that `crates/engine/src/test_reports.rs` reads.
Runners are detected when they are imported, so that other programs are unaffected, and the user's command, options and
plugins stay unchanged.
"""

import functools
import json
import os
import sys

from stillframe_errors import message_of
from stillframe_exceptions import mark_of

VARIABLE = "STILLFRAME_TESTS"
# The process that reports. One that a test starts must not report tests.
OWNER = "STILLFRAME_TESTS_OWNER"
# What a child needs to report, and to be debugged without warnings.
PASSED_ON = (VARIABLE, "PYDEVD_DISABLE_FILE_VALIDATION")
# The maximum length of a text in a report, and number of test names.
LONGEST = 20000
MOST_NAMES = 500
# Our module for each runner's module.
RUNNERS = {
    "unittest.result": "stillframe_unittest",
    "_pytest.config": "stillframe_pytest",
    "doctest": "stillframe_doctest",
}

load = None


def write_report(kind, **fields):
    """Append a report."""
    fields["kind"] = kind
    line = json.dumps(fields, ensure_ascii=True) + "\n"
    try:
        # A single write, so that lines of several processes do not mix.
        file = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, line.encode("ascii"))
        finally:
            os.close(file)
    except (OSError, KeyError):
        # The reader is gone.
        pass


def owns():
    """Whether this process reports."""
    return os.environ.setdefault(OWNER, str(os.getpid())) == str(os.getpid())


def shortened(text):
    text = text if isinstance(text, str) else str(text)
    # Unencodable characters are escaped as in a Python literal.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return "%s\n... %d characters left out ...\n%s" % (text[:half], len(text) - LONGEST, text[-half:])


def described(kind, error, trace):
    """The report of an exception: type, message, mark, and the innermost user location."""
    throws = load("stillframe_throws")
    line = message_of(error)
    name = kind.__name__
    message = line[len(name) :].lstrip(": ") if line.startswith(name) else line
    if line.partition(":")[0].rpartition(".")[2] == name:
        message = line.partition(":")[2].strip()
    # An assertion message can have several lines; a traceback line has only the last.
    fields = {"exception": name, "message": shortened(message)}
    mark = mark_of(error)
    if mark is not None:
        fields["mark"] = mark
    while trace is not None:
        if throws.is_users(trace.tb_frame):
            fields["file"], fields["line"] = os.path.abspath(trace.tb_frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    return fields


def of_doctest(function, thing):
    """What a function of our module for doctests says; None if the program has no doctests."""
    module = sys.modules.get("stillframe_doctest")
    try:
        return module and getattr(module, function)(thing)
    except Exception:
        # The failure is reported like any other. Raised in a hook, this would end the runner.
        return None


def have_children_report():
    """Runners of runners, such as tox, give their children few variables. What a test starts must not report."""
    import subprocess

    execute = subprocess.Popen._execute_child

    @functools.wraps(execute)
    def execute_with_variables(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others, **named):
        if env is not None and OWNER not in os.environ:
            env = {**{name: os.environ[name] for name in PASSED_ON if name in os.environ}, **dict(env.items())}
        return execute(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others, **named)

    subprocess.Popen._execute_child = execute_with_variables


def install(loading):
    """Load ours after each runner's module. `loading` loads one of our modules by name."""
    global load
    load = loading
    have_children_report()
    after = load("stillframe_imports").after
    for name, ours in RUNNERS.items():
        after(name, functools.partial(load, ours))
