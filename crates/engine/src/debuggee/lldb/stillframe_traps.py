"""Distinguishes LLDB's own breakpoints from traps of the program, and finds throws that are no news.

LLDB inserts a breakpoint into a running program before it has put it into its list, and removes one before it has seen
every thread that came to it, such as its own where a step ends. A thread that comes to it at that moment stops with
SIGTRAP.
"""

import lldb

# `si_code` of a breakpoint instruction: SI_KERNEL for `int3`, TRAP_BRKPT for `brk`.
BREAKPOINT_CODES = {0x80, 1}


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
    # The processor is behind its `int3`.
    return process.ReadUnsignedFromMemory(address - 1, 1, error) == 0xCC


def is_rethrown(thread):
    return (thread.GetFrameAtIndex(0).GetFunctionName() or "").startswith("__cxa_rethrow")


def is_terminating(thread):
    """Whether a thread throws an exception again only to describe it, because nothing has caught it."""
    names = (thread.GetFrameAtIndex(at).GetFunctionName() or "" for at in range(1, 6))
    return is_rethrown(thread) and any(name.startswith("std::terminate") for name in names)


def missed(debugger, command, result, _internal):
    """Print `missed` for the thread with this ID, if it stopped at a breakpoint that LLDB does not know, or at a throw that
    was reported."""
    thread = debugger.GetSelectedTarget().GetProcess().GetThreadByID(int(command))
    is_trap = thread.GetStopReason() == lldb.eStopReasonSignal
    if thread.IsValid() and (is_missed(debugger, thread) if is_trap else is_terminating(thread)):
        result.AppendMessage("missed")


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_traps.missed stillframe-missed")
