"""The last calls of a function of Rust, found in its machine code, and what they return.

A function returns the result of a call if what is behind it ends the function and decides nothing.
"""

import re

import lldb
from stillframe_names import return_type

# Where a call goes, in the operands of its instruction.
TARGET = re.compile(r"^0x[0-9a-f]+$")
# The most instructions between a call and the end of the function that returns its result.
BEHIND = 200


def last_calls(target, function, returned=None):
    """The calls after which a function ends: the function that each calls, the address that it returns to, and its place.
    What a function with `returned` in its name gives is returned in any case."""
    code = list(function.GetInstructions(target))
    places = {one.GetAddress().GetFileAddress(): at for at, one in enumerate(code)}
    ends = {line_in(one) for one in code if one.GetMnemonic(target).startswith("ret")}
    for at, one in enumerate(code[:-1]):
        goes_to, place = callee(target, one), one.GetAddress().GetLineEntry()
        if goes_to is None:
            continue
        is_returned = returned is not None and returned in (goes_to.GetName() or "")
        if is_returned or ends_behind(target, code, places, at + 1, ends - {place.GetLine()}):
            yield goes_to, code[at + 1].GetAddress(), place


def callees(target, function):
    """The functions that a function calls."""
    found = (callee(target, one) for one in function.GetInstructions(target))
    return [called for called in found if called is not None]


def returns_like(target, one, other):
    """Whether two functions return values of the same type."""
    names = [return_type(target, function).GetName() or "" for function in (one, other)]
    return names[0] == names[1]


def line_in(instruction):
    return instruction.GetAddress().GetLineEntry().GetLine()


def callee(target, instruction):
    """The function that an instruction calls; none for another instruction, and where only the program knows."""
    if not is_call(instruction.GetMnemonic(target)):
        return None
    address = address_in(target, instruction)
    function = address.GetFunction() if address is not None else None
    return function if function is not None and function.IsValid() else None


def is_call(mnemonic):
    return mnemonic.startswith("call") or mnemonic in ("bl", "blr")


def address_in(target, instruction):
    """The address in the operands of a call or a jump."""
    operands = instruction.GetOperands(target).strip()
    if not TARGET.match(operands):
        return None
    address = target.ResolveLoadAddress(int(operands, 16))
    return address if address.GetSection().IsValid() else target.ResolveFileAddress(int(operands, 16))


def ends_behind(target, code, places, at, ends):
    """Whether a function ends after an instruction without deciding anything. Values may be dropped, which functions of
    other libraries do without a name at the lines where the function ends."""
    for _ in range(BEHIND):
        if at is None or at >= len(code):
            return False
        one = code[at]
        mnemonic = one.GetMnemonic(target)
        at += 1
        if mnemonic.startswith("ret"):
            return True
        if is_call(mnemonic):
            function = callee(target, one)
            drops = line_in(one) in ends if function is None else "drop_in_place" in (function.GetName() or "")
            if not drops:
                return False
        elif mnemonic in ("jmp", "b"):
            address = address_in(target, one)
            at = places.get(address.GetFileAddress()) if address is not None else None
        elif mnemonic.startswith(("j", "b.", "cb", "tb")):
            return False
    return False


def result_of(frame):
    """What a function that has just returned has left for the one of this frame, which returns it, too."""
    target = frame.GetThread().GetProcess().GetTarget()
    kind = return_type(target, frame.GetFunction())
    size = kind.GetByteSize()
    is_x86 = target.GetTriple().startswith("x86")
    registers = ("rax", "rdx") if is_x86 else ("x0", "x1")
    # With the formatters of Rust, LLDB reads anything from it.
    first, second = (frame.FindRegister(name).GetNonSyntheticValue().GetValueAsUnsigned() for name in registers)
    if size > 16:
        # Other processors keep no address of it.
        address = target.ResolveLoadAddress(first)
        return target.CreateValueFromAddress("result", address, kind) if is_x86 else None
    content = [first, second]
    if size <= 8 and is_pair(kind):
        content = [first & ((1 << size * 4) - 1) | (second << size * 4) & ((1 << size * 8) - 1)]
    data = lldb.SBData.CreateDataFromUInt64Array(target.GetByteOrder(), 8, content)
    return target.CreateValueFromData("result", data, kind)


def is_pair(kind):
    """Whether a result of at most eight bytes is a number for its variant and another one, each in a register."""
    fields = [variant.GetType() for variant in kind.GetFieldAtIndex(0).GetType().fields]
    if any(field.GetNumberOfFields() < 2 for field in fields):
        return False
    held = [field.GetFieldAtIndex(1).GetType().GetFieldAtIndex(0).GetType().GetByteSize() for field in fields]
    return any(held) and all(size in (0, kind.GetByteSize() // 2) for size in held)
