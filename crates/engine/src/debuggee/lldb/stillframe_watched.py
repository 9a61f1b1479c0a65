"""Finds where values are stored, to watch them, and reads them there again, whatever frame the program is in.

LLDB's parser cannot name each type, such as that of a template, so the values are kept by address and type.
"""

import json

import lldb
import stillframe_effects
from stillframe_evaluate import frame_numbered, understood
from stillframe_recorder import RUNS_CODE, text_of, types
from stillframe_values import BIT_FIELD, Failed

# How many values processors watch.
REGISTERS = 4


class Effect(Failed):
    """An expression that must not be evaluated to find its value."""


# Values that were found, by the client's names for them.
found = {}


def watched(debugger, command, result, _internal):
    """Print where a value is stored, as lldb-dap names that, for `find FRAME NAME EXPRESSION`; for `read FRAME NAMES`, what
    each has, and the storage whose access has stopped the thread of the frame; as JSON behind `watched `. Watch nothing for
    `clear FRAME`. FRAME is lldb-dap's number for a frame, and NAMES and EXPRESSION are JSON."""
    how, number, *rest = command.split(" ", 2)
    try:
        printed = {"find": find, "read": read, "clear": clear}[how](frame_numbered(debugger, number), *rest)
    except Failed as failed:
        printed = {"problem": str(failed), "has_effect": isinstance(failed, Effect)}
    result.AppendMessage("watched " + json.dumps(printed))


def find(frame, rest):
    name, expression = rest.split(" ", 1)
    target = frame.GetThread().GetProcess().GetTarget()
    value = located(target, frame, json.loads(expression))
    found[name] = value
    return {"id": f"{value.GetLoadAddress():x}/{value.GetByteSize()}"}


def located(target, frame, expression):
    """The value of an expression in the program's memory."""
    if expression.lstrip().startswith("&"):
        # LLDB says that such a value is where it points to.
        raise Failed("it is not in the program's memory")
    value = understood(types(), frame, expression)[0] if types() else None
    if value is None:
        value = frame.GetValueForVariablePath(expression, lldb.eNoDynamicValues)
        if value.GetError().Fail() or not value.IsValid():
            value = pointed_at(target, frame, expression)
    if not isinstance(value, lldb.SBValue):
        raise Failed("it is not in the program's memory")
    if BIT_FIELD.search(value.GetTypeName() or ""):
        raise Failed("it is a bit field")
    value = value.GetStaticValue()
    if value.GetType().GetCanonicalType().IsReferenceType():
        value = value.Dereference()
    if value.GetLoadAddress() == lldb.LLDB_INVALID_ADDRESS:
        raise Failed("it is in a register, or the compiler has put it into the code")
    return at(target, value.GetLoadAddress(), value.GetType())


def pointed_at(target, frame, expression):
    """The value of an expression that only LLDB understands."""
    if stillframe_effects.may_change(expression):
        raise Effect(stillframe_effects.REASON)
    options = lldb.SBExpressionOptions()
    options.SetAllowJIT(False)
    options.SetIgnoreBreakpoints(True)
    pointer = frame.EvaluateExpression(f"&({expression})", options)
    if RUNS_CODE in (pointer.GetError().GetCString() or ""):
        raise Effect(stillframe_effects.REASON)
    if pointer.GetError().Fail():
        value = target.FindFirstGlobalVariable(expression)
        if value.IsValid():
            return value
        raise Failed("it is not in the program's memory")
    return at(target, pointer.GetValueAsUnsigned(), pointer.GetType().GetPointeeType())


def at(target, address, kind):
    # The target may prefer what a pointer to a class is to.
    return target.CreateValueFromAddress("watched", lldb.SBAddress(address, target), kind).GetStaticValue()


def clear(frame):
    """A register of the processor keeps the length of what it watched last, and then rejects an address that is not aligned
    to that: have all watch a byte."""
    target = frame.GetThread().GetProcess().GetTarget()
    target.DeleteAllWatchpoints()
    options = lldb.SBWatchpointOptions()
    options.SetWatchpointTypeWrite(lldb.eWatchpointWriteTypeOnModify)
    start = frame.GetSP() & ~7
    for address in range(start, start + 8 * REGISTERS, 8):
        target.WatchpointCreateByAddress(address, 1, options, lldb.SBError())
    target.DeleteAllWatchpoints()
    return {}


def read(frame, names):
    names = json.loads(names)
    thread = frame.GetThread()
    target = thread.GetProcess().GetTarget()
    accessed = None
    if thread.GetStopReason() == lldb.eStopReasonWatchpoint:
        watchpoint = target.FindWatchpointByID(thread.GetStopReasonDataAtIndex(0))
        accessed = f"{watchpoint.GetWatchAddress():x}/{watchpoint.GetWatchSize()}"
    for name in found.keys() - names:
        del found[name]
    return {"accessed": accessed, "values": {name: shown(target, found[name]) for name in names if name in found}}


def shown(target, value):
    value = at(target, value.GetLoadAddress(), value.GetType())
    content = target.GetProcess().ReadMemory(value.GetLoadAddress(), value.GetByteSize(), lldb.SBError())
    text = text_of(value)
    is_partial = "..." in text or not (value.GetValue() or value.GetSummary())
    return {
        "type": value.GetDisplayTypeName(), "text": text, "bytes": content.hex() if content else None, "is_partial": is_partial,
    }


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_watched.watched stillframe-watched")
