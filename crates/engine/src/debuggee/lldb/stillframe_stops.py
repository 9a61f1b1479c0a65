"""The threads that have stopped.

lldb-dap reports them one by one, while it answers requests: without their number, those that are still to come would be
missing. It also reports those again that were at a breakpoint before and have not moved, as in a step, during which LLDB
holds the other threads where it can.
"""

import os

import lldb

# Of a thread that has only been held while others ran, or that is ending. lldb-dap does not report these.
NONE = {lldb.eStopReasonInvalid, lldb.eStopReasonNone, lldb.eStopReasonThreadExiting}

# At the last stop, the location at which each thread was, and how often these had been hit.
places = {}
counts = {}


def stops(debugger, _command, result, _internal):
    """Print the ID of each thread that has a reason for the stop, with `again` behind it if it has not moved since the
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


def __lldb_init_module(debugger, _internal):
    # What LLDB says there at a watchpoint, its adapter gives out as the program's output.
    debugger.SetOutputFile(lldb.SBFile.Create(open(os.devnull, "w")))
    debugger.HandleCommand("command script add -f stillframe_stops.stops stillframe-stops")
