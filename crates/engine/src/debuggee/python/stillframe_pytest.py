"""A pytest plugin that reports test results to stillframe. It prints nothing and changes no outcome."""

import functools
import os
import re
import sys

import _pytest.config as config_of_pytest
from stillframe_tests import MOST_NAMES, described, load, of_doctest, owns, shortened, write_report

hookimpl = config_of_pytest.hookimpl


class Plugin:
    def __init__(self):
        self.is_worker = False
        self.names = []
        self.deselected = 0
        # Tests that have passed before their teardown.
        self.passed = {}

    @hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        # pytest-xdist workers send their reports to the process that started them.
        self.is_worker = hasattr(config, "workerinput")
        # pytest-timeout sees a debugger, and would let a test that hangs run on.
        if hasattr(config.option, "timeout_disable_debugger_detection"):
            config.option.timeout_disable_debugger_detection = True

    def write_report(self, kind, **fields):
        if not self.is_worker and owns():
            write_report(kind, **fields)

    # Collection

    @hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        outcome = yield
        try:
            for node in outcome.get_result().result:
                if hasattr(node, "runtest") and len(self.names) < MOST_NAMES:
                    self.names.append(node.nodeid)
        except Exception:
            pass

    def pytest_deselected(self, items):
        self.deselected += len(items)

    def pytest_exception_interact(self, node, call, report):
        if report.when == "collect":
            error = call.excinfo.value
            # It wraps an import error, which is its cause.
            if type(error).__name__ == "CollectError" and error.__cause__ is not None:
                error = error.__cause__
            report.stillframe = described(type(error), error, error.__traceback__)

    def pytest_collectreport(self, report):
        if report.failed:
            text = shortened(report.longreprtext)
            fields = {"message": last_line(text)}
            fields.update(getattr(report, "stillframe", {}))
            self.write_report("problem", name=report.nodeid, details=text, **fields)

    @hookimpl(hookwrapper=True)
    def pytest_collection(self, session):
        outcome = yield
        if outcome.excinfo is not None and outcome.excinfo[0].__name__ == "UsageError":
            for name in missing(str(outcome.excinfo[1]), session.config.args):
                self.write_report("missing", name=name)

    @hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        count = getattr(session, "testscollected", 0)
        names = list(dict.fromkeys(self.names))
        self.write_report("collected", count=count, deselected=self.deselected, names=names)

    # Tests

    def pytest_runtest_logstart(self, nodeid, location):
        self.write_report("begins", test=nodeid)

    @hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        assertions = sys.modules.get("stillframe_assertions")
        if assertions is not None:
            assertions.compared = None
        report = outcome.get_result()
        if call.excinfo is not None and report.failed:
            error = call.excinfo.value
            load("stillframe_throws").stop_afterwards(error, call.excinfo.tb)
            report.stillframe = of_doctest("of_error", error) or described(type(error), error, call.excinfo.tb)

    def pytest_assertrepr_compare(self, config, op, left, right):
        # Called for each false comparison before its assertion is raised. Other plugins provide the explanation.
        load("stillframe_assertions").compared = (op, left, right)

    def pytest_runtest_logreport(self, report):
        outcome, part = outcome_of(report), part_of(report)
        if part and outcome not in ("failed", "error"):
            return
        if outcome is None:
            passed = self.passed.pop(report.nodeid, None)
            if passed is not None:
                passed["captured"] = captured(report)
                self.write_report("result", **passed)
            return
        path, line, _ = report.location
        fields = {
            "id": report.nodeid,
            "file": os.path.abspath(path),
            "line": None if line is None else line + 1,
            "outcome": outcome,
            "phase": report.when,
            "captured": captured(report),
        }
        if part:
            fields.update(id="%s %s" % (report.nodeid, part), part_of=report.nodeid)
        if report.when == "call" and outcome in ("passed", "xpassed"):
            self.passed[report.nodeid] = fields
            return
        if outcome in ("failed", "error"):
            # A fixture that fails after a test that did not.
            passed = self.passed.pop(report.nodeid, None)
            if passed is not None:
                self.write_report("result", **passed)
            fields["details"] = shortened(report.longreprtext)
            fields["message"] = last_line(fields["details"])
            fields.update(getattr(report, "stillframe", {}))
        elif outcome == "skipped" and isinstance(report.longrepr, tuple):
            fields["message"] = shortened(report.longrepr[2])
        self.write_report("result", **fields)


def outcome_of(report):
    """The outcome of a test phase; None if it does not determine the test's."""
    expected = hasattr(report, "wasxfail")
    if report.skipped:
        return "xfailed" if expected else "skipped"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if report.passed and report.when == "call":
        return "xpassed" if expected else "passed"
    return None


def part_of(report):
    """The name of a subtest; None for the report of a test."""
    if type(report).__name__.lower() != "subtestreport":
        return None
    message, names = report.context.msg, report.context.kwargs
    parts = ["[%s]" % message] if message is not None else []
    if names:
        parts.append("(%s)" % ", ".join("%s=%s" % each for each in names.items()))
    return " ".join(parts) or "(<subtest>)"


def captured(report):
    """The output that pytest has captured so far."""
    sections = [(name, text) for name, text in report.sections if name.startswith("Captured ") and text]
    named = []
    for name, text in sections:
        _, stream, phase = (name.split(" ") + ["", ""])[:3]
        name = stream if phase == "call" else "%s of the %s" % (stream, phase)
        named.append({"name": name, "text": shortened(text)})
    return named


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def missing(message, arguments):
    """Arguments that matched nothing, parsed from pytest's error."""
    found = re.findall(r"not found: (.+)$", message, re.MULTILINE)
    return [next((each for each in map(str, arguments) if name.endswith(each)), name) for name in found]


def register():
    """Register the plugin with the first pytest run of this process. Tests may start others."""
    manager = config_of_pytest.PytestPluginManager
    initialize = manager.__init__

    @functools.wraps(initialize)
    def __init__(self, *arguments, **named):
        manager.__init__ = initialize
        initialize(self, *arguments, **named)
        self.register(Plugin(), "stillframe")

    manager.__init__ = __init__


register()
