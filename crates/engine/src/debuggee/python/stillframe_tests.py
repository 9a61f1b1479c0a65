"""Reports test results to stillframe from inside the runner.

Loaded if STILLFRAME_TESTS names a file, to which it writes the lines that `crates/engine/src/test_reports.rs` reads.
Runners are detected when they are imported, so that other programs are unaffected, and the user's command, options and
plugins stay unchanged.
"""

import importlib.machinery
import json
import os
import sys

VARIABLE = "STILLFRAME_TESTS"
# The process that reports. One that a test starts must not report tests.
OWNER = "STILLFRAME_TESTS_OWNER"
# The maximum length of a text in a report, and number of test names.
LONGEST = 20000
MOST_NAMES = 500
# Our module for each runner's module.
RUNNERS = {"unittest.result": "stillframe_unittest", "_pytest.config": "stillframe_pytest"}

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
    agent, throws = sys.modules["stillframe_agent"], load("stillframe_throws")
    line = agent.message_of(error)
    name = kind.__name__
    message = line[len(name) :].lstrip(": ") if line.startswith(name) else line
    if line.partition(":")[0].rpartition(".")[2] == name:
        message = line.partition(":")[2].strip()
    # An assertion message can have several lines; a traceback line has only the last.
    fields = {"exception": name, "message": shortened(message)}
    mark = agent.mark_of(error)
    if mark is not None:
        fields["mark"] = mark
    while trace is not None:
        if throws.is_users(trace.tb_frame):
            fields["file"], fields["line"] = os.path.abspath(trace.tb_frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    return fields


class RunnerFinder:
    """Finds the modules of `RUNNERS`, and loads ours after them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        ours = RUNNERS.get(name)
        if ours is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                try:
                    load(ours)
                except Exception:
                    # An unknown version runs without reports.
                    pass

            spec.loader.exec_module = exec_module
        return spec


def install(loading):
    """Install the import hook. `loading` loads one of our modules by name."""
    global load
    load = loading
    for name, ours in RUNNERS.items():
        if name in sys.modules:
            load(ours)
    sys.meta_path.insert(0, RunnerFinder)
