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
# Methods of `coverage.Coverage` that fail without data.
REPORTS = ("report", "annotate", "html_report", "xml_report", "json_report", "lcov_report")


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
        after("coverage.control", have_reports_of_nothing)
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
    # Those of a process that measures from its very beginning.
    for running in collector._collectors:
        running.pause()
        running.threading = None
        note()


def have_reports_of_nothing():
    kind = sys.modules["coverage.control"].Coverage
    for name in REPORTS:
        if hasattr(kind, name):
            setattr(kind, name, without_data(getattr(kind, name)))


def without_data(report):
    @functools.wraps(report)
    def reports(self, *arguments, **named):
        try:
            return report(self, *arguments, **named)
        except Exception as error:
            if "No data to report" not in str(error):
                raise
            return 0.0

    return reports


def have_plugins_found_here():
    """pytest puts its own finder, which rewrites assertions of plugins, before all others."""
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
        before, outermost = sys.path[0], sys._getframe()
        while outermost.f_back is not None:
            outermost = outermost.f_back
        main = getattr(sys.modules["__main__"], "__file__", None)
        if before in (os.getcwd(), main and os.path.dirname(os.path.abspath(main))):
            sys.path[0] = ours = os.path.dirname(os.path.abspath(outermost.f_code.co_filename))
            prepare(self)
            if sys.path[0] == ours:
                sys.path[0] = before
        else:
            prepare(self)

    runner.prepare = prepare_from_there
