"""Stops at exceptions of C++ that no code of the user's catches, such as those that a test runner catches.

To throw, the unwinder first looks for a handler, and then leaves all functions up to that one. In between, it writes into
the exception where the handler is: the whole stack is still there.
"""

import re

import lldb
from stillframe_names import is_library
from stillframe_stops import deciding, is_terminating, passes

RAISE = "_Unwind_RaiseException"
# How GCC's unwinder writes that on x86-64: a zero, and the stack pointer of the function with the handler.
ZERO, WRITTEN = re.compile(r"^\$0x0, 0x10\(%(\w+)\)$"), re.compile(r", 0x18\(%(\w+)\)$")
HANDLER = 24
# Test runners and others that keep what the user's code throws.
KEEPS = re.compile(r"^([\w:]+ )?(testing|Catch|doctest|boost|std::__future_base)::")
# Its handlers pass exceptions on.
STANDARD = re.compile(r"^([\w:]+ )?(std|__gnu_cxx)::")

# The numbers of the breakpoints here.
numbers = set()
# The register that has the exception, by the address of a location; none where the unwinder begins.
registers = {}
# By thread: the exception with which it stopped last.
raised = {}


class Raising:
    """Breaks where the unwinder has found a handler, or where it begins if that is not known."""

    def __init__(self, breakpoint, _extra, _internal):
        self.breakpoint = breakpoint

    def __callback__(self, context):
        for found in context.module.FindSymbols(RAISE, lldb.eSymbolTypeCode):
            place, register = found_handler(self.breakpoint.GetTarget(), found.symbol)
            registers[place.GetFileAddress()] = register
            self.breakpoint.AddLocation(place)

    def __get_depth__(self):
        return lldb.eSearchDepthModule


def found_handler(target, symbol):
    register = None
    for instruction in symbol.GetInstructions(target):
        operands = instruction.GetOperands(target)
        zero, written = ZERO.search(operands), WRITTEN.search(operands)
        if written and written.group(1) == register:
            place = instruction.GetAddress()
            place.OffsetAddress(instruction.GetByteSize())
            return place, register
        register = zero.group(1) if zero else register
    return symbol.GetStartAddress(), None


@deciding
def found(frame, location, _extra, _internal):
    """LLDB's callback: whether to stop."""
    thread = frame.GetThread()
    process, error = thread.GetProcess(), lldb.SBError()
    register = registers.get(location.GetAddress().GetFileAddress())
    first = "rdi" if "x86_64" in process.GetTarget().GetTriple() else "x0"
    exception = frame.FindRegister(register or first).GetValueAsUnsigned()
    raised[thread.GetThreadID()] = exception
    if register is None:
        return True
    pointer = process.ReadPointerFromMemory(exception + HANDLER, error)
    # Below is the address that the function called last returns to.
    back = process.ReadPointerFromMemory(pointer - 8, error)
    place = process.GetTarget().ResolveLoadAddress(back - 1)
    return error.Fail() or not (is_users(place) or is_terminating(thread))


def is_users(place):
    function = place.GetFunction()
    name = function.GetName() or place.GetSymbol().GetName() or ""
    source = function.GetStartAddress().GetLineEntry().GetFileSpec()
    return not KEEPS.match(name) and (not is_library(source) or STANDARD.match(name) is not None)


def unhandled(debugger, command, result, _internal):
    """Stop there with `on`, no longer otherwise. Prints the breakpoint after a marker."""
    target = debugger.GetSelectedTarget()
    for number in numbers:
        target.BreakpointDelete(number)
    numbers.clear()
    if command == "on":
        anywhere = lldb.SBFileSpecList()
        name, extra = "stillframe_unhandled.Raising", lldb.SBStructuredData()
        breakpoint = target.BreakpointCreateFromScript(name, extra, anywhere, anywhere)
        breakpoint.SetScriptCallbackFunction("stillframe_unhandled.found")
        numbers.add(breakpoint.GetID())
        result.AppendMessage(f"breakpoint {breakpoint.GetID()}")


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_unhandled.unhandled stillframe-unhandled")
    debugger.HandleCommand("command script add -f stillframe_unhandled.passes stillframe-unhandled-passes")
