"""Stops where an error leaves a test of Rust.

The operator `?` calls `FromResidual::from_residual` when it returns an error. The program stops there if the function that
returns is the outermost one of the user's in a test. What the error went through before is remembered, to say where it
comes from.
"""

import json
import re

import lldb
import stillframe_rust

CONVERSION = "from_residual"
# Sources that are not the user's.
LIBRARY = re.compile(r"^(?!/)|^/(rustc|usr|build)/|/\.cargo/(registry|git)/|/lib/rustlib/")
# What is in a function, such as its closures.
INSIDE = re.compile(r"::(\{|_\$u7b\$).*$")
TEST = re.compile(r"(^|[:<])test::__rust_begin_short_backtrace")
# A place with more errors that are handled is left alone: each costs the program half a millisecond.
MOST = 1000

hits = {}
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


def stop(debugger, _command, result, _internal):
    """Stop at such errors, and print the number of the breakpoint."""
    target = debugger.GetSelectedTarget()
    breakpoint = target.BreakpointCreateByRegex(CONVERSION)
    for location in breakpoint.locations:
        address = location.GetAddress()
        is_inlined = address.GetBlock().GetContainingInlinedBlock().IsValid()
        if is_inlined or CONVERSION not in (address.GetSymbol().GetName() or ""):
            location.SetEnabled(False)
    breakpoint.SetScriptCallbackFunction("stillframe_errors.returned", lldb.SBStructuredData())
    result.AppendMessage(f"breakpoint {breakpoint.GetID()}")


def describe(debugger, _command, result, _internal):
    """Print the type and text of the error at which the program has stopped, as JSON after a marker."""
    thread = debugger.GetSelectedTarget().GetProcess().GetSelectedThread()
    frame = thread.GetFrameAtIndex(0)
    if CONVERSION not in (frame.GetFunctionName() or ""):
        return
    text = stillframe_rust.text(frame.FindVariable("residual"), 0, stillframe_rust.LONGEST) or ""
    text = re.sub(r"^Err\((.*)\)$", r"\1", text, flags=re.DOTALL)
    _, origin = last.get(thread.GetThreadID(), (None, None))
    if origin:
        text += f" (first returned by `{origin[0]}` at {origin[1]})"
    result.AppendMessage("thrown " + json.dumps(["error", text]))


def __lldb_init_module(debugger, _internal):
    for name in ("stop", "describe"):
        debugger.HandleCommand(f"command script add -s current -f stillframe_errors.{name} stillframe-errors-{name}")
