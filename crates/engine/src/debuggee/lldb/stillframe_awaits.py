"""Steps over `.await` in Rust.

A future that has to wait returns from its function. It is polled again later, by whichever thread, and a step over the
line would end in what polls it. Then the program runs until that future is polled again.
"""

import re

import lldb
import stillframe_locations
import stillframe_rust_enums as enums

FUTURE = re.compile(r"^core::pin::Pin<.*\{async_(fn|block|closure)\w*_env#")
# The states of a future before those in which it waits: not polled yet, completed, and one that has panicked.
FIRST_WAITING = 3

# The future in which the last step began: its address, its function, and where its state is stored.
stepped = None
# The breakpoint that waits for it, and the address of the future.
waits = {}


def future_of(frame):
    """The future that a function polls; none for other functions."""
    target = frame.GetThread().GetProcess().GetTarget()
    if not stillframe_locations.is_polling(target, frame.GetFunction()):
        return None
    arguments = frame.GetVariables(True, False, False, True)
    pinned = arguments.GetValueAtIndex(0).GetNonSyntheticValue()
    if not FUTURE.match(pinned.GetTypeName() or ""):
        return None
    return pinned.GetChildAtIndex(0).GetNonSyntheticValue()


def begin(debugger, thread, result, _internal):
    """Remember the future that a thread polls, by the thread's number. Prints `future` if it does poll one."""
    global stepped
    target = debugger.GetSelectedTarget()
    frame = target.GetProcess().GetThreadByID(int(thread)).GetFrameAtIndex(0)
    forget(target)
    future = future_of(frame)
    stepped = future and (future.GetValueAsUnsigned(), frame.GetFunction(), state_of(future))
    if stepped:
        result.AppendMessage("future")


def forget(target):
    for number in waits:
        target.BreakpointDelete(number)
    waits.clear()


def state_of(future):
    """Where the state of a future is stored: its discriminant."""
    discriminant = enums.discriminant_of(future.Dereference().GetNonSyntheticValue())
    return future.GetValueAsUnsigned() if discriminant is None else discriminant.GetLoadAddress()


def wait(debugger, thread, result, _internal):
    """If that future waits, and a thread has left it, break where it is polled again. Prints the number
    of that breakpoint behind `waits `."""
    target = debugger.GetSelectedTarget()
    forget(target)
    address, function, state = stepped
    # It may be on the stack still: a step can stop in a function of a library that the future calls.
    frames = target.GetProcess().GetThreadByID(int(thread)).frames
    polled_futures = (future_of(frame) for frame in frames if frame.GetFunction() == function)
    if any(future is not None and future.GetValueAsUnsigned() == address for future in polled_futures):
        return
    error = lldb.SBError()
    if not FIRST_WAITING <= target.GetProcess().ReadUnsignedFromMemory(state, 1, error) < 0xFF or error.Fail():
        return
    entry = function.GetStartAddress()
    entry.OffsetAddress(function.GetPrologueByteSize())
    breakpoint = target.BreakpointCreateBySBAddress(entry)
    breakpoint.SetScriptCallbackFunction("stillframe_awaits.polled", lldb.SBStructuredData())
    waits[breakpoint.GetID()] = address
    result.AppendMessage(f"waits {breakpoint.GetID()}")


def polled(frame, location, _extra, _internal):
    """LLDB's callback where a future is polled again: whether it is the one that is waited for."""
    future = future_of(frame)
    number = location.GetBreakpoint().GetID()
    is_it = future is not None and future.GetValueAsUnsigned() == waits.get(number)
    if is_it:
        # A step waits once: the program may have stopped elsewhere meanwhile, and been resumed.
        waits[number] = None
    return is_it


def polls(debugger, thread, result, _internal):
    """Print `polls` for the thread with this ID if it is where that future is polled again. LLDB reports others there that
    have come to the breakpoint with another future."""
    frame = debugger.GetSelectedTarget().GetProcess().GetThreadByID(int(thread)).GetFrameAtIndex(0)
    future = future_of(frame)
    if stepped and future is not None and future.GetValueAsUnsigned() == stepped[0]:
        result.AppendMessage("polls")


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -s current -f stillframe_awaits.begin stillframe-await-begin")
    debugger.HandleCommand("command script add -s current -f stillframe_awaits.wait stillframe-await-wait")
    debugger.HandleCommand("command script add -s current -f stillframe_awaits.polls stillframe-await-polls")
