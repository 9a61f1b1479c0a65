"""Reads texts in the memory of a program, and what pointers lead to."""

import lldb
from stillframe_values import Failed

# Of strings, by the size of their units.
CODECS = {1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}
# How what is not a character is kept.
UNUSUAL = {1: "surrogateescape", 2: "surrogatepass", 4: "surrogatepass"}


def decoded(read, size=1):
    """A text, in which bytes that are not of UTF-8 stay distinct."""
    return read.decode(CODECS[size], UNUSUAL[size])


def encoded(text, size=1):
    return text.encode(CODECS[size], UNUSUAL[size])


def readable(text):
    """A text as JSON can have it."""
    return encoded(text).decode("utf-8", "replace")


def dereferenced(value):
    """What a pointer or a reference leads to. LLDB keeps the variables of a frame while the program runs, and with them the
    class of the object that one led to before."""
    found, kind = value.Dereference(), value.GetType().GetCanonicalType()
    kind = kind.GetDereferencedType() if kind.IsReferenceType() else kind.GetPointeeType()
    if not found.IsValid() or found.GetType().GetCanonicalType().GetName() == kind.GetCanonicalType().GetName():
        return found
    return value.CreateValueFromAddress(found.GetName(), value.GetValueAsUnsigned(), kind)


def present(name, found):
    """The first of the variables of a name that the program has; None without any. Debug information has address 0 for what
    the linker removed, and the program has its header there."""
    known = list(found)
    kept = [one for one in known if not is_removed(one)]
    if known and not kept:
        raise Failed(f"the program does not have `{name}`: the linker removed it, because nothing uses it")
    return next(iter(kept), None)


def is_removed(variable):
    address, error = variable.GetAddress(), variable.GetError().GetCString() or ""
    return not address.GetFileAddress() if address.IsValid() else error.startswith("read memory from 0x0 ")


def c_string(target, at, most=4096):
    """The text at an address, up to a zero; None if it cannot be read. LLDB's own method fails at one that is not UTF-8."""
    process, error, read = target.GetProcess(), lldb.SBError(), b""
    while len(read) < most and b"\0" not in read:
        # As much as LLDB reads at once.
        part = process.ReadMemory(at + len(read), 512 - (at + len(read)) % 512, error)
        if error.Fail() or not part:
            break
        read += part
    if not read:
        # A core dump omits what is in the program's file.
        error = lldb.SBError()
        read = target.ReadMemory(target.ResolveLoadAddress(at), 256, error)
    return decoded(read[:most].split(b"\0", 1)[0]) if read else None
