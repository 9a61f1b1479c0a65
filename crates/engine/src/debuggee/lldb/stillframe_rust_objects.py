"""Formats values of Rust whose type is not known before the program runs: trait objects, and errors."""

import errno
import os
import re

import lldb
import stillframe_rust as rust
import stillframe_rust_enums as enums
from stillframe_values import Failed, Integer, Optional, line_at, need, needed

# What the standard library makes of common numbers of errors.
KINDS = {
    errno.EPERM: "PermissionDenied", errno.ENOENT: "NotFound", errno.EINTR: "Interrupted", errno.EAGAIN: "WouldBlock",
    errno.EACCES: "PermissionDenied", errno.EEXIST: "AlreadyExists", errno.ENOTDIR: "NotADirectory",
    errno.EISDIR: "IsADirectory", errno.EINVAL: "InvalidInput", errno.ENOSPC: "StorageFull", errno.EPIPE: "BrokenPipe",
    errno.ENOTEMPTY: "DirectoryNotEmpty", errno.EADDRINUSE: "AddrInUse", errno.ECONNABORTED: "ConnectionAborted",
    errno.ECONNRESET: "ConnectionReset", errno.ENOTCONN: "NotConnected", errno.ETIMEDOUT: "TimedOut",
    errno.ECONNREFUSED: "ConnectionRefused",
}
DROP = re.compile(r"^core::ptr::drop_in_place(?:::)?<(.+)>(?:::h[0-9a-f]{16})?$")
METHOD = re.compile(r"(?:^_?<(?=.+ as .+>::)|<impl .+ for )(.+?)(?: as .+)?>::\w+(?:::h[0-9a-f]{16})?$")
VTABLE = re.compile(r"^<(.+) as .+>::\{vtable\}")
# By the number of a process: the types of its vtables that the compiler has named, by their addresses.
named = {}
MOST = 100_000
# By the number of modules that are loaded: the types that the program compares by a function that it has written.
compared = {}
LIBRARY = re.compile(r"^(std|core|alloc)::")


def network_address(value):
    """`10.0.0.1` or `10.0.0.1:80`; empty for an address of version 6."""
    name = value.GetType().GetUnqualifiedType().GetName() or ""
    raw = value.GetNonSyntheticValue()
    if name.endswith("Addr") and not name.endswith("Ipv4Addr"):
        return network_address(value.GetChildAtIndex(0)) if enums.variant_name(raw) == "V4" else ""
    ip, port = raw.GetChildMemberWithName("ip"), raw.GetChildMemberWithName("port")
    if ip.IsValid():
        return f"{network_address(ip)}:{port.GetValueAsUnsigned()}"
    octets = raw.GetChildMemberWithName("octets")
    return ".".join(str(octets.GetChildAtIndex(at).GetValueAsUnsigned()) for at in range(4))


def io_error(value, depth, room):
    """An error of `std::io`, of which the two lowest bits of a pointer tell the kind."""
    held, target = pointer_in(value), value.GetTarget()
    tag, number = held & 3, held >> 32
    if tag == 2:
        kind = f", kind: {KINDS[number]}" if number in KINDS else ""
        return f'Os {{ code: {number}{kind}, message: "{os.strerror(number)}" }}'
    if tag == 3:
        members = target.FindFirstType("std::io::error::ErrorKind").GetEnumMembers()
        return f"Kind({members.GetTypeEnumMemberAtIndex(number).GetName()})"
    name = "Custom" if tag else "SimpleMessage"
    kind = target.FindFirstType(f"std::io::error::{name}")
    shown = rust.text(value.CreateValueFromAddress("error", held - tag, kind), depth + 1, room) if kind.IsValid() else name
    return shown.replace("SimpleMessage", "Error", 1)


def pointer_in(value):
    """The pointer that a structure begins with, at any depth."""
    pointer = value.GetNonSyntheticValue()
    while pointer.GetNumChildren() and not pointer.GetType().IsPointerType():
        pointer = pointer.GetChildAtIndex(0).GetNonSyntheticValue()
    return pointer.GetValueAsUnsigned()


def dynamic(value, name, depth, room):
    """A trait object, whose type is known by the names of the functions in its vtable."""
    fat = value.GetNonSyntheticValue()
    while not fat.GetChildMemberWithName("vtable").IsValid() and fat.GetNumChildren():
        fat = fat.GetChildAtIndex(0).GetNonSyntheticValue()
    found = type_by_vtable(value, fat.GetChildMemberWithName("vtable").GetValueAsUnsigned())
    # What the standard library makes of a string; the name has the function that it is in.
    found = "alloc::string::String" if found and found.endswith("::StringError") else found
    kind = value.GetTarget().FindFirstType(found) if found else None
    if kind is None or not kind.IsValid():
        found = vtables(value).get(fat.GetChildMemberWithName("vtable").GetValueAsUnsigned(), found)
        kind = value.GetTarget().FindFirstType(found) if found else None
    if kind is not None and kind.IsValid() and not kind.GetByteSize():
        return rust.base(found)
    if kind is not None and kind.IsValid():
        address = fat.GetChildMemberWithName("pointer").GetValueAsUnsigned()
        if rust.COUNTED.match(name):
            # Two counters come first.
            align = max(kind.GetByteAlign(), 1)
            address += -(-2 * value.GetProcess().GetAddressByteSize() // align) * align
        return rust.text(value.CreateValueFromAddress("value", address, kind), depth + 1, room)
    return rust.short_type(re.sub(r", alloc::alloc::Global>$", ">", name)) + (f" ({rust.short_type(found)})" if found else "")


def type_by_vtable(value, table):
    """The type that a vtable is of: it begins with the drop function, which may be missing, the size and the alignment."""
    error, size = lldb.SBError(), value.GetProcess().GetAddressByteSize()
    for index in (0, 3, 4, 5):
        function = value.GetProcess().ReadPointerFromMemory(table + index * size, error) if table else 0
        symbol = value.GetTarget().ResolveLoadAddress(function).GetSymbol().GetName() or "" if function else ""
        found = re.search(METHOD if index else DROP, rust.decoded(symbol))
        if found:
            return found.group(1)
    return None


def vtables(value):
    process = value.GetProcess()
    number = process.GetUniqueID()
    if number not in named:
        found = value.GetTarget().FindGlobalVariables(r"::\{vtable\}", MOST, lldb.eMatchTypeRegex)
        names = ((one.GetLoadAddress(), VTABLE.match(one.GetName() or "")) for one in found)
        named[number] = {address: match.group(1) for address, match in names if match}
    return named[number]


def anyhow_error(value, depth, room):
    """An error of the crate `anyhow`, as that shows it. Its type is in the first function of its table, which drops it."""
    target, process, error, at = value.GetTarget(), value.GetProcess(), lldb.SBError(), pointer_in(value)
    drop = process.ReadPointerFromMemory(process.ReadPointerFromMemory(at, error), error)
    kind = erased(target, target.ResolveLoadAddress(drop).GetFunction().GetBlock()) if error.Success() else None
    if kind is None:
        return rust.structure(value, rust.base("Error"), depth, room)
    held = value.CreateValueFromAddress("error", at, kind).GetNonSyntheticValue().GetChildMemberWithName("_object")
    name = rust.base(held.GetTypeName() or "")
    raw = held.GetNonSyntheticValue()
    if name in ("MessageError", "DisplayError", "BoxedError"):
        return rust.text(raw.GetChildAtIndex(0), depth + 1, room)
    if name != "ContextError":
        return rust.text(held, depth + 1, room)
    context, source = (rust.text(raw.GetChildMemberWithName(part), depth + 1, room) for part in ("context", "error"))
    return f"Error {{ context: {context}, source: {source} }}"


def erased(target, block):
    """What a function of `anyhow` takes an error for: the type of a variable there, `Own<ErrorImpl<E>>`."""
    while block.IsValid():
        for variable in block.GetVariables(target, False, True, False):
            kind = variable.GetType().GetTemplateArgumentType(0)
            if (kind.GetName() or "").startswith("anyhow::error::ErrorImpl<"):
                return kind
        inner = erased(target, block.GetFirstChild())
        if inner is not None:
            return inner
        block = block.GetSibling()
    return None


def counted(value, which):
    """How many pointers of a kind there are: the strong ones are counted before the weak ones."""
    while value.GetType().GetCanonicalType().IsPointerType():
        value = value.GetNonSyntheticValue().Dereference()
    name = value.GetType().GetUnqualifiedType().GetName() or ""
    need(rust.COUNTED.match(name) or rust.WEAK.match(name))
    size, error, address = value.GetTarget().GetAddressByteSize(), lldb.SBError(), pointer_in(value)
    # A `Weak` of nothing has no counters.
    if address == (1 << 8 * size) - 1:
        return Integer(0, 64, False)
    found = value.GetProcess().ReadUnsignedFromMemory(address + which * size, size, error)
    need(error.Success())
    # All strong ones are one weak one.
    return Integer(found - which, 64, False)


def upgraded(value):
    """What a `Weak` leads to, as long as something else keeps it."""
    pointer = value.GetNonSyntheticValue().GetChildMemberWithName("ptr").GetNonSyntheticValue()
    held = pointer.GetChildMemberWithName("pointer").Dereference().GetNonSyntheticValue()
    held = next((one for one in map(held.GetChildMemberWithName, ("value", "data")) if one.IsValid()), None)
    if not counted(value, 0):
        return Optional(None, "the value is `None`: what it led to was dropped")
    return Optional(needed(held))


def once_content(value):
    """What a value that is set once holds; None if it has not been set. What says so has had two names, each with a number
    for this."""
    raw = value.GetNonSyntheticValue()
    state, known = raw.GetChildMemberWithName("once").GetNonSyntheticValue(), None
    while state.GetNumChildren():
        state = state.GetChildAtIndex(0).GetNonSyntheticValue()
        known = {"state_and_queued": 0, "state": 4}.get(state.GetName(), known)
    if state.GetValueAsUnsigned() != known:
        return None
    held = next(one for one in map(raw.GetChildMemberWithName, ("value", "data")) if one.IsValid())
    return rust.inner(rust.inner(held).GetNonSyntheticValue().GetChildMemberWithName("value"))


def check_compared(value):
    """Refuse a value whose type has a comparison that is written in the program, and not derived: it may be true of values
    with other parts."""
    name = value.GetType().GetUnqualifiedType().GetName()
    if name in written_comparisons(value.GetTarget()):
        raise Failed(f"the program compares `{rust.base(name)}` by a function that is not called here; compare its fields")


def written_comparisons(target):
    """The types whose `==` is a function in a source, as long as the same modules are loaded."""
    count = target.GetNumModules()
    if count not in compared:
        kinds = lldb.eFunctionNameTypeBase | lldb.eFunctionNameTypeMethod
        functions = (found.GetFunction() for found in target.FindFunctions("eq", kinds))
        compared.clear()
        compared[count] = {name for one in functions if is_written(one) for name in same_types(one)}
    return compared[count]


def is_written(function):
    """Whether a function begins at its head: one that is derived is where the name of what it is derived for is written."""
    place = function.GetStartAddress().GetLineEntry()
    return "fn eq" in line_at(place.GetFileSpec().fullpath, place.GetLine())


def same_types(function):
    """The type of both parameters of a function, if they are references to one."""
    kinds = function.GetType().GetFunctionArgumentTypes()
    names = {kinds.GetTypeAtIndex(at).GetPointeeType().GetUnqualifiedType().GetName() for at in range(kinds.GetSize())}
    return {name for name in names if len(names) == 1 and name and not LIBRARY.match(name)}
