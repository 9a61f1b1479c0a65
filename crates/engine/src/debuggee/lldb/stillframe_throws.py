"""Describes exceptions of C++: the one that is being thrown, or has ended the program, and those in variables."""

import json
import re

import lldb
from stillframe_memory import c_string, readable
import stillframe_cpp as cpp
import stillframe_unhandled as unhandled
from stillframe_stops import is_rethrown

# The size of what libstdc++ keeps before an exception, and where in there its kind is.
HEADER, KIND = 112, 80
# The size of what the unwinder has of an exception, at the end of that.
UNWINDER = 32
# That kind, of an exception that was thrown by C++.
THROWN = b"\0++CCUNG"
# The registers that a function restores for its caller, so that their values are known in each frame.
RESTORED = ["rbx", "rbp", *(f"r{number}" for number in range(12, 16)), *(f"x{number}" for number in range(19, 29))]
TEXT = re.compile(r"^(const char ?\*|char( const)? ?\*)$")
STRING = re.compile(r"^std::(__cxx11::)?(basic_string\b|string$)")
# Those with a message.
MESSAGES = re.compile(r"^std::(out_of_range|invalid_argument|(runtime|logic|domain|length|range|overflow|underflow|system)_error)$")
# The mangled names of simple types.
SIMPLE = {
    "b": "bool", "c": "char", "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
    "f": "float", "d": "double", "PKc": "const char *", "Pc": "char *",
}


def thrown(debugger, _command, result, _internal):
    """Print the type and message of the exception that is being thrown, as JSON after a marker."""
    target = debugger.GetSelectedTarget()
    thread = target.GetProcess().GetSelectedThread()
    if target.GetProcess().GetPluginName() == "elf-core":
        thing, kind = terminating(thread)
        if kind:
            message = kept_message(target, thing, kind)
            result.AppendMessage("thrown " + json.dumps([type_at(target, kind), readable(message)]))
        return
    if "AssertHelper::operator=" in (thread.GetFrameAtIndex(0).GetFunctionName() or ""):
        message = failed_assertion(target, thread.GetFrameAtIndex(0))
        result.AppendMessage("thrown " + json.dumps(["test failure", message]))
        return
    frame = next((frame for frame in thread if (frame.GetFunctionName() or "").startswith("__cxa_throw")), None)
    if frame is not None and frame.GetFrameID() == 0:
        # The arguments are still in registers: the object, and its type.
        registers = ("rdi", "rsi") if "x86_64" in target.GetTriple() else ("x0", "x1")
        thing, kind = (frame.FindRegister(name).GetValueAsUnsigned() for name in registers)
    elif (thread.GetFrameAtIndex(0).GetFunctionName() or "").startswith(unhandled.RAISE):
        frame = thread.GetFrameAtIndex(0)
        thing, kind = held(target, unhandled.raised.get(thread.GetThreadID(), 0) + UNWINDER - HEADER)
    elif thread.GetStopReason() == lldb.eStopReasonSignal or is_rethrown(thread):
        # The functions that have aborted the program may have no names.
        frame = thread.GetFrameAtIndex(0)
        thing, kind = caught(target, frame)
    else:
        return
    name, message = type_at(target, kind), ""
    if is_exception(target, kind):
        options = lldb.SBExpressionOptions()
        options.SetTimeoutInMicroSeconds(200000)
        options.SetTrapExceptions(False)
        # `what` is the third virtual function, after two destructors.
        call = f"(const char*)((const char*(*)(void*))(*(void***){thing:#x})[2])((void*){thing:#x})"
        found = frame.EvaluateExpression(call, options)
        message = c_string(target, found.GetValueAsUnsigned(), 8192) or ""
    else:
        message = plain(target, thing, name)
    result.AppendMessage("thrown " + json.dumps([name, readable(message)]))


def failed_assertion(target, frame):
    """The message of GoogleTest's `AssertHelper`, whose only field leads to a kind, a file, a line and a `std::string`."""
    process, error = target.GetProcess(), lldb.SBError()
    helper = frame.FindRegister("rdi" if "x86_64" in target.GetTriple() else "x0").GetValueAsUnsigned()
    data = process.ReadPointerFromMemory(helper, error)
    start, length = (process.ReadPointerFromMemory(data + at, error) for at in (24, 32))
    text = process.ReadMemory(start, min(length, 8192), error) if error.Success() and length else None
    return text.decode("utf-8", "replace") if error.Success() and text else ""


def type_at(target, kind):
    """The name of the type that a `type_info` describes, from its symbol, which LLDB may show mangled."""
    symbol = (target.ResolveLoadAddress(kind).GetSymbol().GetName() or "").split("@")[0]
    mangled = symbol.removeprefix("_ZTI")
    if mangled == symbol:
        return symbol.removeprefix("typeinfo for ")
    if mangled in SIMPLE:
        return SIMPLE[mangled]
    names = ["std"] if re.match(r"^N?St", mangled) else []
    rest = re.sub(r"^N?(St)?", "", mangled)
    while (found := re.match(r"^(\d+)", rest)) is not None:
        start, length = found.end(), int(found.group(1))
        names.append(rest[start : start + length])
        rest = rest[start + length :]
    return "::".join(name for name in names if name != "__cxx11") or symbol


def is_exception(target, kind):
    return "std::exception" in ancestors(target, kind)


def what(value):
    """The message of an exception that derives from one of the standard library with a message, which libstdc++ keeps
    behind the address of its virtual functions; None for another value."""
    kind = value.GetType().GetCanonicalType()
    at = value.GetValueAsUnsigned() if kind.IsReferenceType() else value.GetLoadAddress()
    kind = kind.GetDereferencedType().GetCanonicalType() if kind.IsReferenceType() else kind
    while kind.GetNumberOfDirectBaseClasses():
        kind = kind.GetDirectBaseClassAtIndex(0).GetType().GetCanonicalType()
    name = kind.GetUnqualifiedType().GetName() or ""
    if name != "std::exception" and not MESSAGES.match(name):
        return None
    process, error = value.GetProcess(), lldb.SBError()
    info = process.ReadPointerFromMemory(process.ReadPointerFromMemory(at, error) - 8, error)
    if error.Fail() or not any(map(MESSAGES.match, ancestors(value.GetTarget(), info))):
        return None
    return c_string(value.GetTarget(), process.ReadPointerFromMemory(at + 8, error))


def ancestors(target, kind):
    """The names of a type and of those that it derives from through single inheritance."""
    process, error = target.GetProcess(), lldb.SBError()
    for _ in range(20):
        yield type_at(target, kind)
        table = target.ResolveLoadAddress(process.ReadPointerFromMemory(kind, error)).GetSymbol().GetName() or ""
        if "__si_class_type_info" not in table:
            return
        kind = process.ReadPointerFromMemory(kind + 16, error)
        if error.Fail():
            return


def caught(target, frame):
    """The exception that the thread has caught, and its type."""
    options = lldb.SBExpressionOptions()
    options.SetTimeoutInMicroSeconds(200000)
    found = frame.EvaluateExpression("((void**(*)())__cxa_get_globals)()[0]", options).GetValueAsUnsigned()
    return held(target, found)


def held(target, found):
    """The object and the type of an exception whose kind, as libstdc++ keeps it, is at an address."""
    process, error = target.GetProcess(), lldb.SBError()
    # One that is thrown again in another thread has the address of the object in place of its type.
    if process.ReadUnsignedFromMemory(found + KIND, 1, error):
        found = process.ReadPointerFromMemory(found, error) - HEADER
    return found + HEADER, process.ReadPointerFromMemory(found, error)


def terminating(thread):
    """The exception for which `std::terminate` was called, and its type, where nothing can be called: the functions that
    have thrown it keep the address of its kind in a register."""
    process, frames = thread.GetProcess(), list(thread)
    names = [frame.GetFunctionName() or "" for frame in frames]
    at = next((at for at, name in enumerate(names) if name.startswith("std::terminate")), len(frames))
    for frame in frames[at + 1 : at + 8]:
        for register in map(frame.FindRegister, RESTORED):
            kept = register.GetValueAsUnsigned()
            # An error stays in the object that it was reported in.
            if kept and process.ReadMemory(kept, len(THROWN), lldb.SBError()) == THROWN:
                return kept - KIND + HEADER, process.ReadPointerFromMemory(kept - KIND, lldb.SBError())
    return 0, 0


def kept_message(target, thing, kind):
    """The message of an exception, as far as that is in memory."""
    if any(map(MESSAGES.match, ancestors(target, kind))):
        return c_string(target, target.GetProcess().ReadPointerFromMemory(thing + 8, lldb.SBError())) or ""
    return "" if is_exception(target, kind) else plain(target, thing, type_at(target, kind))


def plain(target, thing, name):
    """What is thrown, if it is not an exception of the standard library: a number, a text or an object."""
    if TEXT.match(name):
        process, error = target.GetProcess(), lldb.SBError()
        return process.ReadCStringFromMemory(process.ReadPointerFromMemory(thing, error), 8192, error) or ""
    kind = target.FindFirstType("std::string" if STRING.match(name) else name)
    if not kind.IsValid():
        return ""
    value = target.CreateValueFromAddress("thrown", target.ResolveLoadAddress(thing), kind)
    read = cpp.string_of(value) if STRING.match(name) else None
    return (cpp.text(value, 0, cpp.LONGEST) if read is None else read) or ""


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_throws.thrown stillframe-thrown")
