"""The threads that have stopped, and stops that are none for the user.

lldb-dap reports them one by one, while it answers requests: without their number, those that are still to come would be
missing. It also reports those again that were at a breakpoint before and have not moved, as in a step, during which LLDB
holds the other threads where it can.

LLDB inserts a breakpoint into a running program before it has put it into its list, and removes one before it has seen
every thread that came to it, such as its own where a step ends. A thread that comes to it at that moment stops with
SIGTRAP.
"""

import os

import lldb

# Of a thread that has only been held while others ran, or that is ending. lldb-dap does not report these.
NONE = {lldb.eStopReasonInvalid, lldb.eStopReasonNone, lldb.eStopReasonThreadExiting}
# `si_code` of a breakpoint instruction: SI_KERNEL for `int3`, TRAP_BRKPT for `brk`.
BREAKPOINT_CODES = {0x80, 1}

# At the last stop, the location at which each thread was, and how often these had been hit.
places = {}
counts = {}
# By thread: what the callback of the last breakpoint with one has decided.
decisions = {}


def stops(debugger, _command, result, _internal):
    """Print the ID of each thread that has a reason for the stop, with `again` after it if it has not moved since the
    last one."""
    global places, counts
    target = debugger.GetSelectedTarget()
    stopped = [thread for thread in target.GetProcess() if thread.GetStopReason() not in NONE]
    now = {thread.GetThreadID(): place(thread) for thread in stopped}
    hits = {at: count(target, at) for at in now.values() if at}
    still = unmoved(places, now, {at: hits[at] - counts.get(at, 0) for at in hits})
    for number in now:
        result.AppendMessage(f"{number} again" if number in still else f"{number}")
    places, counts = now, hits


def place(thread):
    """The breakpoint at which a thread has stopped, and its location; none for other reasons."""
    if thread.GetStopReason() != lldb.eStopReasonBreakpoint or thread.GetStopReasonDataCount() < 2:
        return None
    return thread.GetStopReasonDataAtIndex(0), thread.GetStopReasonDataAtIndex(1)


def count(target, at):
    """How often a location has been hit. LLDB does not count the hit of a thread again that has not moved."""
    breakpoint, location = at
    return target.FindBreakpointByID(breakpoint).FindLocationByID(location).GetHitCount()


def unmoved(before, now, fresh):
    """The threads that have not moved since they were at the same location. Where a location was hit more often than by
    the threads that have come to it since, it is not known by which, and no thread is left out."""
    still = set()
    for at, times in fresh.items():
        stayed = {thread for thread in now if now[thread] == at and before.get(thread) == at}
        came = sum(1 for thread in now if now[thread] == at and thread not in stayed)
        if times <= came:
            still |= stayed
    return still


def is_missed(debugger, thread):
    """Whether a thread that stopped with SIGTRAP came to a breakpoint that the program itself does not contain."""
    # LLDB 19 reads the information of the thread that `lldb-server` has selected, which is another one where several stop.
    selected = f"process plugin packet send Hg{thread.GetThreadID():x}"
    debugger.GetCommandInterpreter().HandleCommand(selected, lldb.SBCommandReturnObject())
    code = thread.GetSiginfo().GetChildMemberWithName("si_code")
    return code.IsValid() and code.GetValueAsSigned() in BREAKPOINT_CODES and not is_in_program(thread)


def is_in_program(thread):
    """Whether the breakpoint instruction is the program's own. What LLDB inserts is not in the memory that it reads, and
    the thread is put back to it."""
    process, address = thread.GetProcess(), thread.GetFrameAtIndex(0).GetPC()
    error = lldb.SBError()
    if process.GetTarget().GetTriple().startswith(("arm64", "aarch64")):
        return process.ReadUnsignedFromMemory(address, 4, error) & 0xFFE0001F == 0xD4200000
    # The processor is past its `int3`.
    return process.ReadUnsignedFromMemory(address - 1, 1, error) == 0xCC


def is_rethrown(thread):
    return (thread.GetFrameAtIndex(0).GetFunctionName() or "").startswith("__cxa_rethrow")


def is_terminating(thread):
    """Whether a thread throws an exception again only to describe it, because nothing has caught it."""
    names = [thread.GetFrameAtIndex(at).GetFunctionName() or "" for at in range(7)]
    ends = ("std::terminate", "__cxa_call_terminate", "__gxx_personality")
    return all(any(name.startswith(of) for name in names) for of in ("__cxa_rethrow", ends))


def missed(debugger, command, result, _internal):
    """Print `missed` for the thread with this ID, if it stopped at a breakpoint that LLDB does not know, or at a throw that
    was reported."""
    thread = debugger.GetSelectedTarget().GetProcess().GetThreadByID(int(command))
    is_trap = thread.GetStopReason() == lldb.eStopReasonSignal
    if thread.IsValid() and (is_missed(debugger, thread) if is_trap else is_terminating(thread)):
        result.AppendMessage("missed")


def deciding(callback):
    """Remembers what a callback decides: LLDB reports all threads that have stopped at the same time."""

    def decided(frame, location, extra, internal):
        is_stop = decisions[frame.GetThread().GetThreadID()] = callback(frame, location, extra, internal)
        return is_stop

    return decided


def passes(_debugger, thread, result, _internal):
    """Print `passes` for the thread with this ID if it has stopped here only because another one has."""
    if not decisions.get(int(thread), True):
        result.AppendMessage("passes")


def hits(debugger, command, result, _internal):
    """Print each breakpoint that the thread with this ID has stopped at. lldb-dap reports the first one."""
    thread = debugger.GetSelectedTarget().GetProcess().GetThreadByID(int(command))
    for index in range(0, thread.GetStopReasonDataCount(), 2):
        result.AppendMessage(f"hit {thread.GetStopReasonDataAtIndex(index)}")


def __lldb_init_module(debugger, _internal):
    # What LLDB says there at a watchpoint, its adapter gives out as the program's output.
    debugger.SetOutputFile(lldb.SBFile.Create(open(os.devnull, "w")))
    debugger.HandleCommand("command script add -f stillframe_stops.stops stillframe-stops")
    debugger.HandleCommand("command script add -f stillframe_stops.missed stillframe-missed")
    debugger.HandleCommand("command script add -f stillframe_stops.hits stillframe-hits")
