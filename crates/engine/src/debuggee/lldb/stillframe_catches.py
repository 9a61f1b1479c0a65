"""Ends a step in the handler of an exception or panic that leaves the function in which the step began.

LLDB waits for that function to return, so the program would run on. While a step is under way, the program breaks where
handlers begin, in a function of the language's library. If the handler is in the function in which the step began, or in
one that has called it, the program breaks again at the first line of the handler, where what it has caught is stored.
"""

import lldb

# What a handler of C++ calls first.
CXX = "__cxa_begin_catch"
# What `catch_unwind` of Rust calls first, and the function inside it that calls the closure.
RUST = "__rust_panic_cleanup"
TRY = "__rust_try"

# The breakpoint there, by its target's process.
breakpoints = {}
# The last step: its thread, the address of its frame, and whether it leaves that frame.
stepped = None
# The breakpoint in the last handler.
landing = None


def catches(debugger, command, result, _internal):
    """`begin THREAD STEP` before a step, by the thread's number; `end` before the program runs on without one.
    `landed NUMBER` prints `landed` for the breakpoint in a handler."""
    global stepped
    words = command.split()
    target = debugger.GetSelectedTarget()
    process = target.GetProcess()
    if words[0] == "landed" and landing != int(words[1]):
        return
    forget(debugger, target)
    if words[0] == "landed":
        result.AppendMessage("landed")
        return
    if words[0] == "begin":
        thread = process.GetThreadByID(int(words[1]))
        stepped = thread.GetThreadID(), thread.GetFrameAtIndex(0).GetCFA(), words[2] == "out"
        if process.GetUniqueID() not in breakpoints:
            breakpoints[process.GetUniqueID()] = begins(target)
    one = breakpoints.get(process.GetUniqueID())
    if one is not None:
        one.SetEnabled(words[0] == "begin")


def forget(debugger, target):
    """Remove the breakpoint in the last handler, and the last step. LLDB would continue one that something else has ended,
    such as a breakpoint, and stop where it ends."""
    global landing
    if landing is not None:
        target.BreakpointDelete(landing)
        landing = None
    thread = target.GetProcess().GetThreadByID(stepped[0]) if stepped is not None else None
    if thread is not None and thread.IsValid():
        plans = lldb.SBExecutionContext(thread)
        debugger.GetCommandInterpreter().HandleCommand("thread plan discard 1", plans, lldb.SBCommandReturnObject())


def begins(target):
    anywhere = lldb.SBFileSpecList()
    one = target.BreakpointCreateByNames([CXX, RUST], 2, lldb.eFunctionNameTypeAuto, anywhere, anywhere)
    one.SetScriptCallbackFunction("stillframe_catches.begun", lldb.SBStructuredData())
    return one


def begun(frame, _location, _extra, _internal):
    """LLDB's callback where a handler begins. It never stops the program."""
    global landing
    thread = frame.GetThread()
    if stepped is None or thread.GetThreadID() != stepped[0] or landing is not None:
        return False
    _, address, leaves = stepped
    # Those of functions that are inlined have the same address.
    outer = [one for one in thread.frames if one.GetCFA() != frame.GetCFA()]
    is_closure = CXX not in (frame.GetSymbol().GetName() or "")
    handler = next((one for one in outer if TRY in (one.GetFunctionName() or "")), None) if is_closure else outer[0]
    if handler is not None and (handler.GetCFA() > address or handler.GetCFA() == address and not leaves):
        place = handler.GetPCAddress() if is_closure else first(handler)
        one = thread.GetProcess().GetTarget().BreakpointCreateBySBAddress(place)
        one.SetThreadID(stepped[0])
        landing = one.GetID()
    return False


def first(handler):
    """Where a handler has stored what it has caught, which is after the code that its line begins with."""
    after = handler.GetPCAddress()
    line = handler.GetLineEntry()
    function = after.GetFunction()
    behind = line.GetEndAddress()
    if not line.IsValid() or not function.IsValid() or not behind.IsValid():
        return after
    is_inside = after.GetFileAddress() <= behind.GetFileAddress() < function.GetEndAddress().GetFileAddress()
    return behind if is_inside else after


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -s current -f stillframe_catches.catches stillframe-catches")
