"""Records values at breakpoints inside LLDB while the program runs, and resumes it where a condition is false.

A breakpoint's callback evaluates its expressions and writes a row to the pipe of the recorder, so that the client sees
no stop. Values have the text that `lldb-dap` sends; what the client does with such a text, it does with rows too.

LLDB does not run code of the program reliably in a callback, so a hit that needs that is left to the client, which sees
a stop. So is one at which a condition fails, and one with an expression that LLDB cannot evaluate itself. LLDB's own
conditions crash it where its expressions do, and take longer.
"""

import json
import os
import re
import signal
import sys
import time

import lldb
import stillframe_locations
from stillframe_evaluate import check_names, decided
from stillframe_expressions import Evaluation
from stillframe_values import Failed, spelled

# Messages of errors are not cut below this.
LONG_MESSAGE = 8192
FALSE = {"false", "nullptr", r"'\0'"}
# The client cuts texts, after it has removed addresses and paths of types from them.
ROOM = 1000
# Not shown of references, and of nothing in Rust.
ADDRESS = re.compile(r"^0x\S+ ")
NAME = re.compile(r"[\w$]*$")
CALL = re.compile(r"\w\(")
# LLDB counts the expressions that it names in errors.
NUMBERED = re.compile(r"<user expression \d+>")

# By LLDB's number of the breakpoint.
places = {}
# Open pipes, by path.
pipes = {}
# The next hit stops the program, because LLDB may lose a pause that it is asked for while a callback runs.
is_pausing = False
# The rules whose last hit in a thread is left to the client, by the thread's number.
left = {}

# The beginning of LLDB's error for an expression that would have to run code of the program.
RUNS_CODE = "Can't evaluate the expression without a running target"


class Left(Exception):
    """The client has to evaluate it."""


class Place:
    """What is recorded at a breakpoint, and when it also stops: at each hit, or where one of the conditions may be true."""

    def __init__(self, given, known):
        self.stops, self.conditions = given["stops"], given["conditions"]
        known = {rule.given["id"]: rule for rule in known.rules} if known else {}
        rules = (known.get(rule["id"]) for rule in given["records"])
        self.rules = [
            old if old is not None and old.given == rule else Rule(rule) for old, rule in zip(rules, given["records"])
        ]

    def may_stop(self, frame):
        return self.stops or any(is_left(frame, condition) for condition in self.conditions)


class Rule:
    def __init__(self, given):
        self.given = given
        self.hits = 0
        self.rows = 0
        self.last = None
        self.is_left = False

    def passed(self, frame):
        """Record a hit. False if it is left to the client."""
        try:
            return not self.is_left and self.take(frame)
        except Left:
            self.is_left = True
            return False

    def take(self, frame):
        given = self.given
        if given["condition"] is not None:
            is_met = met(frame, given["condition"])
            if not is_met:
                return is_met is False
        self.hits += 1
        if self.rows >= given["most"] or (self.hits - 1) % given["every"]:
            return self.count(frame)
        at = time.time() * 1000
        cells = [self.cell(frame, expression) for expression in given["expressions"]]
        if given["changes"]:
            compared = [comparable(*cell, given["limit"]) for cell in cells]
            if compared == self.last:
                return self.count(frame)
            self.last = compared
        self.rows += 1
        thread = frame.GetThread()
        name = thread.GetName() or f"Thread {thread.GetIndexID()}"
        write(given["pipe"], [given["id"], self.hits, at, thread.GetProcess().GetProcessID(), name, cells])
        return True

    def count(self, frame):
        """Report a hit without a row."""
        writer = f"{frame.GetThread().GetProcess().GetProcessID()}/0"
        write(self.given["pipe"], {"id": self.given["id"], "writer": writer, "hits": self.hits})
        return True

    def cell(self, frame, expression):
        try:
            value = evaluated(frame, expression)
            if value.GetError().Fail():
                # The client can call functions of C++ one by one.
                if "stillframe_cpp_types" in sys.modules and CALL.search(expression):
                    raise Left
                message = value.GetError().GetCString() or "evaluate failed"
                if message == "unknown error" and NAME.fullmatch(expression):
                    message = f"use of undeclared identifier '{expression}'"
                return [None, message[:LONG_MESSAGE]]
            return [value.GetDisplayTypeName() or "<no-type>", text_of(value)[: self.given["limit"] + ROOM]]
        except Left:
            raise
        except Exception as error:
            return [None, f"{type(error).__name__}: {error}"]


def is_left(frame, condition):
    """Whether the client has to evaluate a condition, because it is true, or cannot be evaluated here."""
    try:
        return met(frame, condition) is not False
    except Left:
        return True


def met(frame, condition):
    """Whether a condition is true; None where it fails."""
    try:
        known = types()
        found = decided(known, frame, condition) if known else None
    except Failed:
        return None
    if found is None:
        value = evaluated(frame, condition)
        found = None if value.GetError().Fail() else is_true(text_of(value))
    return found


def types():
    """What is known of the types of the program's language."""
    return sys.modules.get("stillframe_cpp_types") or sys.modules.get("stillframe_rust_types")


def evaluated(frame, expression):
    """As `lldb-dap` evaluates what is watched: a path of variables, or else an expression."""
    if is_beyond_lldb(frame, expression):
        raise Left
    value = outside(frame, expression)
    if value is not None:
        return value
    value = frame.GetValueForVariablePath(expression, lldb.eDynamicDontRunTarget)
    if value.GetError().Success():
        return value
    options = lldb.SBExpressionOptions()
    options.SetAllowJIT(False)
    options.SetFetchDynamicValue(lldb.eDynamicDontRunTarget)
    options.SetIgnoreBreakpoints(True)
    options.SetLanguage(frame.GuessLanguage())
    value = frame.EvaluateExpression(expression, options)
    if value.GetError().Fail() and RUNS_CODE in (value.GetError().GetCString() or ""):
        raise Left
    return value


def outside(frame, name):
    """A variable outside of functions, or a member of `this`, of which LLDB may take another one of that name."""
    if types() is None or not NAME.fullmatch(name) or frame.FindVariable(name).IsValid():
        return None
    evaluation = Evaluation(types(), frame, name)
    return evaluation.variable(name) if name not in evaluation.captured else None


def is_beyond_lldb(frame, expression):
    """Whether the client gives LLDB another expression in its place."""
    if types() is None:
        return False
    try:
        evaluation = Evaluation(types(), frame, expression)
        check_names(evaluation)
        return not NAME.match(expression) and bool(spelled(evaluation.result()))
    except Failed:
        return True
    except Exception:  # LLDB may understand it.
        return False


def text_of(value):
    """The text of a value in an answer of `lldb-dap`."""
    parts = list(filter(None, [value.GetValue(), value.GetSummary()]))
    if parts:
        return " ".join(parts)
    address = value.GetLoadAddress()
    name = value.GetDisplayTypeName() or ""
    return name if address == lldb.LLDB_INVALID_ADDRESS else f"{name} @ {address:#x}"


def is_true(text):
    text = text.strip()
    return text not in FALSE and any(letter not in "0." for letter in re.sub("^(0x)+", "", text))


def comparable(kind, text, limit):
    if kind is None:
        return kind, NUMBERED.sub("", text)
    if kind.endswith("&") or "stillframe_rust" in sys.modules:
        text = ADDRESS.sub("", text)
    return kind, text[:limit], len(text) > limit


def write(path, line):
    descriptor = pipes.get(path)
    if descriptor is None:
        return
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # A byte that is not UTF-8 comes from LLDB as a surrogate.
    data = re.sub("[\ud800-\udfff]", "\ufffd", text).encode() + b"\n"
    # A reader that is gone must not end LLDB.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        os.write(descriptor, data)
    except BrokenPipeError:
        signal.sigtimedwait([signal.SIGPIPE], 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hit(frame, location, _extra, _internal):
    """LLDB's callback: whether to stop."""
    global is_pausing
    number = location.GetBreakpoint().GetID()
    place = places.get(stillframe_locations.others_of.get(number, number))
    if place is None:
        return True
    unfinished = [rule.given["id"] for rule in place.rules if not rule.passed(frame)]
    if unfinished:
        left.setdefault(frame.GetThread().GetThreadID(), []).extend(unfinished)
    stops, is_pausing = is_pausing or bool(unfinished) or place.may_stop(frame), False
    return stops


def breakpoints(target, number):
    """The breakpoint of a number, and those that stand for it."""
    numbers = [number, *(other for other, of in stillframe_locations.others_of.items() if of == number)]
    return filter(lldb.SBBreakpoint.IsValid, map(target.FindBreakpointByID, numbers))


def record(debugger, command, result, _internal):
    """Record, or examine conditions, at these breakpoints, in place of those before. `pause` stops at the next hit;
    `left THREAD` prints the rules whose hit is left to the client."""
    global is_pausing, places
    if command.strip() == "pause":
        is_pausing = True
        return
    if command.startswith("left "):
        result.AppendMessage(f"left {left.pop(int(command[5:]), [])}")
        return
    target = debugger.GetSelectedTarget()
    wanted = {place["number"]: place for place in json.loads(command)}
    for number in places.keys() - wanted.keys():
        for breakpoint in breakpoints(target, number):
            breakpoint.SetScriptCallbackBody("return True")
    paths = {rule["pipe"] for place in wanted.values() for rule in place["records"]}
    for path in pipes.keys() - paths:
        os.close(pipes.pop(path))
    for path in paths - pipes.keys():
        # Fails without a reader.
        pipes[path] = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(pipes[path], True)
    places = {number: Place(place, places.get(number)) for number, place in wanted.items()}
    for breakpoint in (breakpoint for number in places for breakpoint in breakpoints(target, number)):
        error = breakpoint.SetScriptCallbackFunction("stillframe_recorder.hit", lldb.SBStructuredData())
        if error.Fail():
            raise RuntimeError(error.GetCString())
    is_pausing = False
    result.AppendMessage("recording")


def __lldb_init_module(debugger, _internal):
    # A command that LLDB makes synchronous would change the mode for good if a callback begins while it runs.
    debugger.HandleCommand("command script add -s current -f stillframe_recorder.record stillframe-record")
