"""Stops where an error leaves a test of Rust.

The operator `?` calls `FromResidual::from_residual` when it returns an error. The program stops there if the function that
returns is the outermost one of the user's in a test. What the error went through before is remembered, to say where it
comes from.

It also stops where a test itself makes the error that it returns: at `return Err(…)`, at a block that ends with `Err(…)`,
and in `anyhow`, which `bail!` and `ensure!` call.
"""

import functools
import json
import re

import lldb
import stillframe_rust

CONVERSION = "from_residual"
# Sources that are not the user's.
LIBRARY = re.compile(r"^(?!/)|^/(rustc?|usr|build)/|/\.cargo/(registry|git)/|/lib/rustlib/")
# What is in a function, such as its closures.
INSIDE = re.compile(r"::(\{|_\$u7b\$).*$")
TEST = re.compile(r"(^|[:<])test::__rust_begin_short_backtrace")
# A place with more errors that are handled is left alone: each costs the program half a millisecond.
MOST = 1000

# A function that is a test and returns a result: what is in front of its body.
HEAD = re.compile(r"#\[(?:\w+::)*test\b[^]]*\](?:\s*#\[[^]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+\w+\s*\(\s*\)\s*->[^{;]*Result[^{;]*\{")
# An error that is returned: not a pattern, and not an argument.
MADE = re.compile(r"(?:\breturn|[{};]|=>)\s*(Err\s*\()")
PATTERN = re.compile(r"\s*(=>|=[^=]|\||if\b)")
MACRO = re.compile(r"\b(bail|ensure)!")
MAKERS = r"^(anyhow|eyre)::error::.*::(construct|from_adhoc|from_display|from_msg)"

hits = {}
# The numbers of the breakpoints where tests make errors.
makers = set()
# By thread: the caller of the last function that returned an error, and where that error was first returned.
last = {}


def function_of(frame):
    """The function of the user's that a frame is in; none for code of a library."""
    source = frame.GetLineEntry().GetFileSpec()
    if not source.IsValid() or LIBRARY.search(source.fullpath or ""):
        return None
    return INSIDE.sub("", stillframe_rust.without_hash(frame.GetFunctionName() or ""))


def place_of(frame):
    entry = frame.GetLineEntry()
    return function_of(frame), f"{entry.GetFileSpec().fullpath}:{entry.GetLine()}"


def returned(frame, location, _extra, _internal):
    """LLDB's callback: whether to stop."""
    thread = frame.GetThread()
    here = thread.GetFrameAtIndex(1)
    function = function_of(here)
    if function is None:
        return False
    caller = next((outer for outer in list(thread)[2:] if function_of(outer) not in (None, function)), None)
    before, origin = last.pop(thread.GetThreadID(), (None, None))
    origin = origin if before == place_of(here) else place_of(here)
    if caller is None and any(TEST.search(outer.GetFunctionName() or "") for outer in list(thread)[2:]):
        last[thread.GetThreadID()] = None, origin if origin != place_of(here) else None
        return True
    if caller is not None:
        last[thread.GetThreadID()] = place_of(caller), origin
    count = hits[location.GetID()] = hits.get(location.GetID(), 0) + 1
    if count == MOST:
        location.SetEnabled(False)
    return False


def made(frame, location, _extra, _internal):
    """LLDB's callback where an error is made: whether it is one that the test at the bottom of the stack returns."""
    thread = frame.GetThread()
    here = next((frame for frame in thread if function_of(frame)), None)
    if here is None or (here.GetFrameID() != frame.GetFrameID() and not MACRO.search(line_of(here))):
        return False
    outer = list(thread)[here.GetFrameID() + 1:]
    if any(function_of(frame) not in (None, function_of(here)) for frame in outer):
        return False
    last.pop(thread.GetThreadID(), None)
    return any(TEST.search(frame.GetFunctionName() or "") for frame in outer)


def line_of(frame):
    entry = frame.GetLineEntry()
    return text_of(entry.GetFileSpec().fullpath).split("\n")[entry.GetLine() - 1:][:1].pop()


@functools.cache
def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def lines_of(text):
    """The lines of the tests in a source where an error is returned."""
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), text)
    for head in HEAD.finditer(code):
        end = end_of(code, head.end())
        for found in MADE.finditer(code, head.end() - 1, end):
            if not PATTERN.match(code, end_of(code, found.end(), "()")):
                yield code.count("\n", 0, found.start(1)) + 1


def end_of(code, at, brackets="{}"):
    """Behind the bracket that closes the one before `at`."""
    depth = 1
    while depth and at < len(code):
        depth += (code[at] == brackets[0]) - (code[at] == brackets[1])
        at += 1
    return at


def sources(target):
    """The sources of the user's that the program is built of."""
    units = target.GetModuleAtIndex(0).compile_units
    files = {unit.GetSupportFileAtIndex(at).fullpath for unit in units for at in range(unit.GetNumSupportFiles())}
    return sorted(path for path in files if path and not LIBRARY.search(path))


def stop(debugger, _command, result, _internal):
    """Stop at such errors, and print the numbers of the breakpoints."""
    target = debugger.GetSelectedTarget()
    breakpoint = target.BreakpointCreateByRegex(CONVERSION)
    for location in breakpoint.locations:
        address = location.GetAddress()
        is_inlined = address.GetBlock().GetContainingInlinedBlock().IsValid()
        if is_inlined or CONVERSION not in (address.GetSymbol().GetName() or ""):
            location.SetEnabled(False)
    breakpoint.SetScriptCallbackFunction("stillframe_errors.returned", lldb.SBStructuredData())
    others = [target.BreakpointCreateByRegex(MAKERS)]
    for path in sources(target):
        others += [target.BreakpointCreateByLocation(path, line) for line in lines_of(text_of(path))]
    makers.update(other.GetID() for other in others)
    for other in others:
        other.SetScriptCallbackFunction("stillframe_errors.made", lldb.SBStructuredData())
    for one in [breakpoint, *others]:
        result.AppendMessage(f"breakpoint {one.GetID()}")


def describe(debugger, _command, result, _internal):
    """Print the type and text of the error at which the program has stopped, as JSON after a marker."""
    thread = debugger.GetSelectedTarget().GetProcess().GetSelectedThread()
    frame = thread.GetFrameAtIndex(0)
    if CONVERSION not in (frame.GetFunctionName() or ""):
        if stopped_at_error(thread):
            result.AppendMessage("thrown " + json.dumps(["error", ""]))
        return
    text = stillframe_rust.text(frame.FindVariable("residual"), 0, stillframe_rust.LONGEST) or ""
    text = re.sub(r"^Err\((.*)\)$", r"\1", text, flags=re.DOTALL)
    _, origin = last.get(thread.GetThreadID(), (None, None))
    if origin:
        text += f" (first returned by `{origin[0]}` at {origin[1]})"
    result.AppendMessage("thrown " + json.dumps(["error", text]))


def stopped_at_error(thread):
    """Whether a thread has stopped where a test makes the error that it returns."""
    return thread.GetStopReason() == lldb.eStopReasonBreakpoint and thread.GetStopReasonDataAtIndex(0) in makers


def __lldb_init_module(debugger, _internal):
    for name in ("stop", "describe"):
        debugger.HandleCommand(f"command script add -s current -f stillframe_errors.{name} stillframe-errors-{name}")
