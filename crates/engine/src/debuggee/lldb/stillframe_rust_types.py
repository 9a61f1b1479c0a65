"""What can be done with values of Rust's standard library in `stillframe_expressions`."""

import re
import sys

import lldb
import stillframe_rust as rust
from stillframe_expressions import Failed, Variant, checked, evaluate, simple

HAS_VARIANTS = True
# How many entries of a map are compared with a key.
ENTRIES = 10000
OPTIONS = re.compile(r"^core::([a-z_]+::)*Option<")
RESULTS = re.compile(r"^core::([a-z_]+::)*Result<")
# Methods that change what a value is called, and not what it is.
SAME = {"as_ref", "as_deref", "clone", "to_owned"}
# The same of cells and locks.
HELD = {"borrow", "get", "lock", "read", "write"}


def captures(_frame):
    return []


def name_of(value):
    return value.GetType().GetUnqualifiedType().GetName() or ""


def settled(value, is_whole=True):
    """What a reference, a box or a counted pointer leads to and, for the whole way, what is in a cell or a lock there."""
    for _ in range(8):
        value.SetPreferSyntheticValue(True)
        kind = value.GetType().GetCanonicalType()
        name = name_of(value)
        if not is_whole and not rust.COUNTED.match(name) and not kind.IsPointerType() and not kind.IsReferenceType():
            break
        if kind.IsPointerType() or kind.IsReferenceType():
            value = value.GetNonSyntheticValue().Dereference()
        elif rust.COUNTED.match(name) or rust.GUARDS.match(name) or rust.CELLS.match(name):
            value = value.GetChildAtIndex(0)
        elif rust.LOCKS.match(name):
            value = value.GetNonSyntheticValue().GetChildMemberWithName("data")
        elif rust.WRAPPERS.match(name):
            value = value.GetNonSyntheticValue().GetChildAtIndex(0)
        else:
            break
    value.SetPreferSyntheticValue(True)
    return value


def inner(value):
    found = settled(value)
    return value if found.GetLoadAddress() == value.GetLoadAddress() and name_of(found) == name_of(value) else found


def is_there(_value):
    return None


def string_of(value):
    value = settled(value)
    if not rust.TEXTS.match(name_of(value)):
        return None
    count = value.GetNumChildren()
    if not count:
        return ""
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(value.GetChildAtIndex(0).GetLoadAddress(), min(count, rust.TEXT), error)
    return read.decode("utf-8", "replace") if error.Success() else None


def variant(value):
    """The name of the variant of an enum, and its first field; None for another value."""
    value = settled(value)
    if value.GetType().GetTypeClass() == lldb.eTypeClassEnumeration:
        return (value.GetValue() or "").rsplit("::", 1)[-1], None
    raw = value.GetNonSyntheticValue().GetType()
    if not raw.GetNumberOfFields() or raw.GetFieldAtIndex(0).GetName() != "$variants$":
        return None
    return rust.variant_name(value.GetNonSyntheticValue()), value.GetChildAtIndex(0) if value.GetNumChildren() else None


def is_map(value):
    return rust.MAPS.match(name_of(value)) is not None


def is_list(value):
    return rust.LISTS.match(name_of(value)) or value.GetType().GetTypeClass() == lldb.eTypeClassArray


def is_set(value):
    return rust.SETS.match(name_of(value)) is not None


def item(value, key):
    value = settled(value)
    if is_map(value):
        return mapped(value, key)
    return value.GetChildAtIndex(checked(key, value.GetNumChildren())) if is_list(value) else None


def entries(value):
    """The keys and values of a map, or the items of a set."""
    if "::BTree" in name_of(value):
        tree = rust.BTreeChildren(value, None)
        tree.update()
        for (key, key_type), (content, content_type) in tree.children[:ENTRIES]:
            found = None if tree.is_set else value.CreateValueFromAddress("value", content, content_type)
            yield value.CreateValueFromAddress("key", key, key_type), found
        return
    for index in range(min(value.GetNumChildren(), ENTRIES)):
        child = value.GetChildAtIndex(index)
        yield (child, None) if is_set(value) else (child.GetChildAtIndex(0), child.GetChildAtIndex(1))


def is_key(value, key):
    if isinstance(key, Variant):
        found = variant(value)
        return found is not None and found[0] == key.name
    text = string_of(value)
    return (simple(settled(value)) if text is None else text) == key


def mapped(value, key):
    for known, found in entries(value):
        if is_key(known, key):
            return found
    known = ", ".join(rust.text(first, 1, 100) or "?" for first, _ in list(entries(value))[:10])
    raise Failed("no such key in the map; " + (f"keys: {known}" if known else "it is empty"))


def field(value, name):
    value = settled(value)
    for holder in (value, value.GetNonSyntheticValue()):
        for known in (name, f"__{name}"):
            found = holder.GetChildMemberWithName(known)
            if found.IsValid() and found.GetName() == known:
                return found
    raise Failed(f"no field `{name}` on `{rust.short_type(name_of(value))}`")


def target(value):
    found = settled(value)
    return None if found is value else found


def unwrapped(value, *wanted):
    found = variant(value)
    if found is None:
        return value
    if found[0] not in wanted:
        raise Failed(f"the value is `{rust.text(settled(value), 1, 100)}`")
    return found[1]


def is_variant(*names):
    return lambda value: (variant(value) or ("", None))[0] in names


def contains(value, wanted):
    text = string_of(value)
    if text is not None:
        return wanted in text
    keys = entries(value) if is_set(value) or is_map(value) else None
    found = (key for key, _ in keys) if keys else (value.GetChildAtIndex(at) for at in range(length(value)))
    return any(is_key(one, wanted) for one in found)


def length(value):
    text = string_of(value)
    if text is not None:
        return len(text.encode())
    if not (is_list(value) or is_map(value) or is_set(value)):
        raise Failed(f"`{rust.short_type(name_of(value))}` has no length that can be read")
    return value.GetNumChildren() if "::BTree" not in name_of(value) else sum(1 for _ in entries(value))


METHODS = {
    "len": length,
    "is_empty": lambda value: length(value) == 0,
    "contains": contains,
    "contains_key": contains,
    "starts_with": lambda value, part: string_of(value).startswith(part),
    "ends_with": lambda value, part: string_of(value).endswith(part),
    "is_some": is_variant("Some"),
    "is_none": is_variant("None"),
    "is_ok": is_variant("Ok"),
    "is_err": is_variant("Err"),
    "unwrap": lambda value: unwrapped(value, "Some", "Ok"),
    "expect": lambda value, _message: unwrapped(value, "Some", "Ok"),
    "unwrap_err": lambda value: unwrapped(value, "Err"),
}


def is_same(value, name):
    """Whether a method gives what a value is. Types of the user's may have methods with such names."""
    if name in HELD:
        kind = name_of(settled(value, is_whole=False))
        return any(known.match(kind) for known in (rust.CELLS, rust.GUARDS, rust.LOCKS, rust.WRAPPERS))
    if name in ("as_str", "to_string"):
        return string_of(value) is not None
    return name in SAME or name == "as_slice" and bool(is_list(settled(value)))


def call(value, name, arguments):
    if not arguments and is_same(value, name):
        return settled(value)
    value = settled(value)
    is_number = name == "to_string" and value.GetType().GetCanonicalType().GetTypeClass() == lldb.eTypeClassBuiltin
    number = simple(value) if is_number else None
    if isinstance(number, int):
        return str(number).lower()
    if name == "get" and len(arguments) == 1:
        return item(value, arguments[0])
    if name not in METHODS:
        raise Failed(
            f"LLDB cannot call `{name}` of `{rust.base(name_of(value))}`; read its fields, or a method of the "
            "standard library such as `len`, `is_some`, `unwrap` or `contains`"
        )
    return METHODS[name](value, *arguments)


def command(debugger, text, result, _internal):
    evaluate(sys.modules[__name__], debugger, text, result)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_rust_types.command stillframe-evaluate")
