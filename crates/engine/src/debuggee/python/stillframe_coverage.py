"""Keeps coverage.py from taking the place of the debugger, or of the recorder.

Up to Python 3.11 a thread has one trace function. coverage.py sets its own, from C, and from then on nothing would
stop or be recorded. So it measures nothing there, and pytest-cov acts as with `--no-cov`: its report, and a required
coverage that is not reached, would be about nothing.

Names are those of coverage.py 5 to 7 and pytest-cov 2 to 7.
"""

import functools
import os
import sys

NOTE = "coverage is not measured here: up to Python 3.11 it would take the place of the debugger\n"


def install(after, say):
    """`after` calls a function when a module has been imported; `say` shows a note to who debugs."""

    def note():
        nonlocal is_said
        if not is_said:
            is_said = True
            say(NOTE)

    is_said = False
    after("coverage.execfile", find_modules_as_before)
    if sys.version_info < (3, 12):
        after("_pytest.assertion.rewrite", have_plugins_found_here)
        after("coverage.collector", lambda: keep_from_tracing(note))
        after("pytest_cov.plugin", lambda: turn_off(note))


def keep_from_tracing(note):
    collector = sys.modules["coverage.collector"].Collector
    initialize = collector.__init__

    @functools.wraps(initialize)
    def __init__(self, *arguments, **named):
        initialize(self, *arguments, **named)
        # Threads begin with the trace function that is set through it.
        self.threading = None
        note()

    collector.__init__ = __init__
    collector._start_tracer = lambda self: None


def have_plugins_found_here():
    """pytest puts its own finder, which rewrites assertions of plugins, in front of all others."""
    hook = sys.modules["_pytest.assertion.rewrite"].AssertionRewritingHook
    find = hook.find_spec

    @functools.wraps(find)
    def find_spec(self, name, *arguments, **named):
        return None if name == "pytest_cov.plugin" else find(self, name, *arguments, **named)

    hook.find_spec = find_spec


def turn_off(note):
    plugin = sys.modules["pytest_cov.plugin"].CovPlugin
    initialize = plugin.__init__

    @functools.wraps(initialize)
    def __init__(self, options, *arguments, **named):
        options.no_cov = True
        initialize(self, options, *arguments, **named)
        note()

    plugin.__init__ = __init__


def find_modules_as_before():
    """`coverage run` puts the program's folder in the place of its own, if the outermost frame is in that. Ours is
    not."""
    runner = sys.modules["coverage.execfile"].PyRunner
    prepare = runner.prepare

    @functools.wraps(prepare)
    def prepare_from_there(self):
        before = sys.path[0]
        prepare(self)
        is_safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
        main = getattr(sys.modules["__main__"], "__file__", None)
        its_own = (os.getcwd(), main and os.path.dirname(os.path.abspath(main)))
        if not is_safe and sys.path[0] == before and before in its_own:
            program = os.path.dirname(os.path.realpath(self.arg0))
            sys.path[0] = os.getcwd() if self.as_module else program

    runner.prepare = prepare_from_there
