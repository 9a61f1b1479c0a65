"""Records values at breakpoints inside LLDB while the program runs, and resumes it where a condition is false.

A breakpoint's callback evaluates its expressions and writes a row to the pipe of the recorder, so that the client sees
no stop. Values have the text that `lldb-dap` sends; what the client does with such a text, it does with rows too.

LLDB does not run code of the program reliably in a callback, so a hit that needs that is left to the client, which sees
a stop. So is one at which a condition or an expression fails. LLDB's own conditions crash it where its expressions do,
and take longer.
"""

import re
import sys

import lldb
import stillframe_locations
import stillframe_rows as rows
from stillframe_evaluate import understood
from stillframe_expressions import Evaluation
from stillframe_rows import Left
from stillframe_values import BIT_FIELD, Code, Failed, alone, made

# Not shown of references, and of nothing in Rust.
ADDRESS = re.compile(r"^0x\S+ ")
NAME = re.compile(r"[\w$]*$")
CALL = re.compile(r"\w\(")
# LLDB counts the expressions that it names in errors.
NUMBERED = re.compile(r"<user expression \d+>")

# By LLDB's number of the breakpoint.
places = {}
# The next hit stops the program, because LLDB may lose a pause that it is asked for while a callback runs.
is_pausing = False
# The rules whose last hit in a thread is left to the client, by the thread's number.
left = {}

# The beginning of LLDB's error for an expression that would have to run code of the program.
RUNS_CODE = "Can't evaluate the expression without a running target"


class Hit:
    """A thread at a breakpoint."""

    def __init__(self, frame):
        self.frame = frame
        thread = frame.GetThread()
        self.number = thread.GetThreadID()
        self.pid = thread.GetProcess().GetProcessID()
        self.thread = thread.GetName() or f"Thread {thread.GetIndexID()}"

    def met(self, condition):
        """Whether a condition is true; None where it fails."""
        try:
            found = understood(types(), self.frame, condition, read=Evaluation.decided)[0] if types() else None
        except Failed:
            return None
        if found is None:
            value = evaluated(self.frame, condition)
            found = None if value.GetError().Fail() else rows.is_true(text_of(value))
        return found

    def cell(self, expression, limit):
        try:
            value = evaluated(self.frame, expression)
            if value.GetError().Fail():
                # The client can call functions of C++ one by one.
                if "stillframe_cpp_types" in sys.modules and CALL.search(expression):
                    raise Left
                message = value.GetError().GetCString() or "evaluate failed"
                if message == "unknown error" and NAME.fullmatch(expression):
                    message = f"use of undeclared identifier '{expression}'"
                return rows.error(message)
            return rows.cell(value.GetDisplayTypeName() or "<no-type>", text_of(value), limit)
        except Left:
            raise
        except Exception as error:
            return rows.error(f"{type(error).__name__}: {error}")

    def comparable(self, kind, text, limit):
        if kind is None:
            return kind, NUMBERED.sub("", text)
        if kind.endswith("&") or "stillframe_rust" in sys.modules:
            text = ADDRESS.sub("", text)
        return kind, text[:limit], len(text) > limit


def types():
    """What is known of the types of the program's language."""
    return sys.modules.get("stillframe_cpp_types") or sys.modules.get("stillframe_rust_types")


def evaluated(frame, expression):
    """As `lldb-dap` evaluates what is watched: a path of variables, or else an expression."""
    try:
        found, form = understood(types(), frame, expression) if types() else (None, {})
    except Failed as failed:
        raise Left from failed
    is_code = isinstance(found, (Code, list)) or isinstance(found, str) and types().HAS_VARIANTS
    if is_code or form.get("text", "{}") != "{}" or form.get("note"):
        # The client gives LLDB another expression in its place.
        raise Left
    if isinstance(found, lldb.SBValue):
        return alone(found) if BIT_FIELD.search(found.GetTypeName() or "") else found
    if found is not None:
        return made(frame.GetThread().GetProcess().GetTarget(), found)
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


def text_of(value):
    """The text of a value in an answer of `lldb-dap`."""
    parts = list(filter(None, [value.GetValue(), value.GetSummary()]))
    if parts:
        return " ".join(parts)
    address = value.GetLoadAddress()
    name = value.GetDisplayTypeName() or ""
    return name if address == lldb.LLDB_INVALID_ADDRESS else f"{name} @ {address:#x}"


def hit(frame, location, _extra, _internal):
    """LLDB's callback: whether to stop."""
    global is_pausing
    number = location.GetBreakpoint().GetID()
    place = places.get(stillframe_locations.others_of.get(number, number))
    if place is None:
        return True
    this = Hit(frame)
    unfinished = place.record(this)
    if unfinished:
        left.setdefault(this.number, []).extend(unfinished)
    stops, is_pausing = is_pausing or bool(unfinished) or place.may_stop(this), False
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
    before, places = places, rows.placed(command, places)
    for number in before.keys() - places.keys():
        for breakpoint in breakpoints(target, number):
            breakpoint.SetScriptCallbackBody("return True")
    for breakpoint in (breakpoint for number in places for breakpoint in breakpoints(target, number)):
        error = breakpoint.SetScriptCallbackFunction("stillframe_recorder.hit", lldb.SBStructuredData())
        if error.Fail():
            raise RuntimeError(error.GetCString())
    is_pausing = False
    result.AppendMessage("recording")


def __lldb_init_module(debugger, _internal):
    # A command that LLDB makes synchronous would change the mode for good if a callback begins while it runs.
    debugger.HandleCommand("command script add -s current -f stillframe_recorder.record stillframe-record")
