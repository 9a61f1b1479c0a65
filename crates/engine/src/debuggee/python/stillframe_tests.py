"""Tells stillframe how tests go, from inside the runner.

Loaded where STILLFRAME_TESTS names a file. The lines that are written there are those of
`crates/engine/src/test_reports.rs`. The runners are met when they are imported, so that a program that is none
stays as it is, and the user's command, options and plugins are untouched.
"""

import importlib.machinery
import json
import os
import sys

VARIABLE = "STILLFRAME_TESTS"
# Which process reports. One that a test starts must not tell of tests of its own.
OWNER = "STILLFRAME_TESTS_OWNER"
# The longest text in a report, in characters, and how many names of tests are told.
LONGEST = 20000
MOST_NAMES = 500
# What is loaded when this has been imported.
MET = {"unittest.result": "stillframe_unittest", "_pytest.config": "stillframe_pytest"}

load = None


def tell(kind, **report):
    """Appends a report."""
    report["kind"] = kind
    line = json.dumps(report, ensure_ascii=True) + "\n"
    try:
        # One write each, so that lines of several processes are not mixed.
        file = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, line.encode("ascii"))
        finally:
            os.close(file)
    except (OSError, KeyError):
        # Nobody is there any more who would read it.
        pass


def owns():
    """Whether this process is the one that reports."""
    return os.environ.setdefault(OWNER, str(os.getpid())) == str(os.getpid())


def shortened(text):
    text = text if isinstance(text, str) else str(text)
    # What cannot be encoded is shown as Python writes it in a literal.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return "%s\n... %d characters left out ...\n%s" % (text[:half], len(text) - LONGEST, text[-half:])


def described(kind, error, trace):
    """What is told of an exception: type, message, mark, and the innermost place of the user's."""
    agent, throws = sys.modules["stillframe_agent"], load("stillframe_throws")
    line = agent.message_of(error)
    name = kind.__name__
    message = line[len(name) :].lstrip(": ") if line.startswith(name) else line
    if line.partition(":")[0].rpartition(".")[2] == name:
        message = line.partition(":")[2].strip()
    # An assertion's message may have many lines, and a traceback line has the last.
    told = {"exception": name, "message": shortened(message)}
    mark = BaseException.__getattribute__(error, "__dict__").get(throws.MARK)
    if mark is not None:
        told["mark"] = mark
    while trace is not None:
        if throws.is_users(trace.tb_frame):
            told["file"], told["line"] = os.path.abspath(trace.tb_frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    return told


class Meeting:
    """Finds the modules of `MET`, and loads what is ours after them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        ours = MET.get(name)
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
                    # A version that is not known here runs all the same, and tells nothing.
                    pass

            spec.loader.exec_module = exec_module
        return spec


def meet(loading):
    """`loading` loads a module of ours by its name."""
    global load
    load = loading
    for name, ours in MET.items():
        if name in sys.modules:
            load(ours)
    sys.meta_path.insert(0, Meeting)
