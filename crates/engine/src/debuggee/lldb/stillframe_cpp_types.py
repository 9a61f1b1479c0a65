"""What can be done with values of C++'s standard library in `stillframe_expressions`."""

import re
import sys

import lldb
import stillframe_captures
import stillframe_cpp as cpp
from stillframe_expressions import Failed, Letter, Variant, checked, evaluate, missing, simple

# LLDB finds names other than variables.
HAS_VARIANTS = False
captures = stillframe_captures.captures
INDEXED = re.compile(cpp.STD + r"(vector|deque|array|span|valarray)<")
# How many entries of a map are compared with a key.
ENTRIES = 10000


def is_a(value, *known):
    kind = value.GetType()
    names = {kind.GetUnqualifiedType().GetName() or "", kind.GetCanonicalType().GetUnqualifiedType().GetName() or ""}
    return any(pattern.match(name) for pattern in known for name in names)


def referred(value):
    if value.GetType().GetCanonicalType().IsReferenceType():
        value = value.Dereference()
    value.SetPreferSyntheticValue(True)
    return cpp.json_content(value) if is_a(value, cpp.JSONS) else value


def string_of(value):
    value = referred(value)
    if is_a(value, cpp.PATHS):
        value = value.GetNonSyntheticValue().GetChildMemberWithName("_M_pathname")
    return cpp.string_of(value) if is_a(value, cpp.TEXTS) else None


def part(value, index):
    """What `std::get` gives."""
    value = referred(value)
    if is_a(value, cpp.VARIANTS):
        if cpp.index_of(value) != index:
            raise Failed(f"the variant has index {cpp.index_of(value)}, not {index}")
        return value.GetChildAtIndex(0)
    if is_a(value, cpp.TUPLES):
        return value.GetChildAtIndex(checked(index, value.GetNumChildren()))
    return item(value, index)


def variant(_value):
    return None


def inner(value):
    """What a reference, an atomic or an optional is compared by."""
    value = referred(value)
    if is_a(value, cpp.ATOMICS):
        return cpp.innermost(value.GetNonSyntheticValue())
    if is_a(value, cpp.POINTERS):
        return pointer_of(value)
    return value.GetChildAtIndex(0) if is_a(value, cpp.OPTIONALS) and value.GetNumChildren() else value


def is_there(value):
    """Whether an optional or a smart pointer has something; None for another value."""
    value = referred(value)
    if is_a(value, cpp.OPTIONALS):
        return value.GetNumChildren() > 0
    return pointer_of(value).GetValueAsUnsigned() > 0 if is_a(value, cpp.POINTERS) else None


def item(value, key):
    value = referred(value)
    if is_a(value, cpp.MAPS):
        return mapped(value, key)
    if is_a(value, INDEXED):
        return value.GetChildAtIndex(checked(key, value.GetNumChildren()))
    if is_a(value, cpp.POINTERS):
        pointer = pointer_of(value)
        kind = pointer.GetType().GetPointeeType()
        at = pointer.GetValueAsUnsigned() + key * kind.GetByteSize()
        return value.CreateValueFromAddress(f"[{key}]", at, kind)
    text = string_of(value)
    return None if text is None else Letter(text[checked(key, len(text))])


def mapped(value, key):
    seen = []
    for index in range(min(value.GetNumChildren(), ENTRIES)):
        pair = value.GetChildAtIndex(index).GetNonSyntheticValue()
        first = pair.GetChildMemberWithName("first")
        known = first.GetValue() if isinstance(key, Variant) else string_of(first)
        if known is None:
            known = simple(first)
        if known is None:
            return None
        if known == (key.name if isinstance(key, Variant) else key):
            return pair.GetChildMemberWithName("second")
        seen.append(known)
    shown = key.name if isinstance(key, Variant) else repr(key)
    raise Failed(f"no key {shown} in the map" + (f"; keys: {', '.join(map(repr, seen[:10]))}" if seen else ""))


def field(value, name):
    value = referred(value)
    found = value.GetNonSyntheticValue().GetChildMemberWithName(name)
    if found.IsValid():
        return found
    # LLDB takes any name for the content of a variant.
    if is_a(value, cpp.VARIANTS, cpp.OPTIONALS):
        raise missing(value.GetType(), name)
    return None


def target(value):
    value = referred(value)
    if is_a(value, cpp.OPTIONALS):
        return content(value)
    if is_a(value, cpp.EXPECTED):
        return expected(value)
    if is_a(value, cpp.POINTERS):
        pointer = pointer_of(value)
        if not pointer.GetValueAsUnsigned():
            raise Failed("the pointer is null")
        return pointer.GetDynamicValue(lldb.eDynamicDontRunTarget).Dereference()
    return None


def content(value):
    if not value.GetNumChildren():
        raise Failed("the optional is empty")
    return value.GetChildAtIndex(0)


def pointer_of(value):
    """The pointer in a `unique_ptr`, `shared_ptr` or `weak_ptr`."""
    pointer = value.GetNonSyntheticValue().GetChildMemberWithName("_M_ptr")
    return pointer if pointer.IsValid() else value.GetChildAtIndex(0).GetNonSyntheticValue()


def call(value, name, arguments):
    value = referred(value)
    for known, methods in METHODS:
        if name in methods and is_a(value, *known):
            return methods[name](value, *arguments)
    if is_a(value, cpp.OPTIONALS):
        # LLDB's compiler crashes.
        raise Failed(f"`{name}` of an optional cannot be called here; evaluate `*x`, `has_value` or `value_or`")
    return None


def underlying(value):
    return referred(value.GetNonSyntheticValue().GetChildMemberWithName("c"))


def first_of(value):
    return value.GetChildAtIndex(checked(0, value.GetNumChildren()))


def last_of(value):
    count = value.GetNumChildren()
    return value.GetChildAtIndex(checked(max(count, 1) - 1, count))


def contains(value, key):
    try:
        found = mapped(value, key)
    except Failed:
        return False
    return None if found is None else True


def holds(value, wanted):
    """How often a set has a value."""
    count = 0
    for index in range(min(value.GetNumChildren(), ENTRIES)):
        child = value.GetChildAtIndex(index)
        known = string_of(child)
        known = simple(child) if known is None else known
        if known is None or isinstance(wanted, Variant):
            return None
        count += known == wanted
    return count


def has(value, wanted):
    count = holds(value, wanted)
    return None if count is None else count > 0


def is_empty(value):
    return not value.GetNumChildren()


def size(value):
    """Of a large hash table, only the first entries are children."""
    counted = cpp.find(value.GetNonSyntheticValue(), "_M_element_count", 1)
    return value.GetNumChildren() if counted is None else counted.GetValueAsUnsigned()


def expected(value):
    raw = value.GetNonSyntheticValue()
    if not cpp.has_value(raw):
        raise Failed(f"the value is `{cpp.text(value, 0, cpp.LONGEST)}`")
    return raw.GetChildMemberWithName("_M_val")


def unexpected(value):
    if cpp.has_value(value.GetNonSyntheticValue()):
        raise Failed("it has a value, and no error")
    return value.GetNonSyntheticValue().GetChildMemberWithName("_M_unex")


def use_count(value):
    found = cpp.find(value.GetNonSyntheticValue(), "_M_use_count")
    return 0 if found is None else found.GetValueAsUnsigned()


def characters(value, start=0, count=None):
    text = string_of(value).encode()
    if start > len(text):
        raise Failed(f"position {start} is out of range: the length is {len(text)}")
    return text[start : None if count is None else start + count].decode("utf-8", "replace")


def found_in(value, part, start=0):
    at = string_of(value).find(part, start)
    return at if at >= 0 else (1 << 64) - 1


# By types, the methods that change nothing.
METHODS = [
    ([cpp.TEXTS], {
        "size": lambda value: len(string_of(value).encode()),
        "length": lambda value: len(string_of(value).encode()),
        "empty": lambda value: not string_of(value),
        "c_str": lambda value: string_of(value),
        "data": lambda value: string_of(value),
        "substr": characters,
        "find": found_in,
        "at": item,
        "front": lambda value: item(value, 0),
        "back": lambda value: item(value, max(len(string_of(value)), 1) - 1),
        "starts_with": lambda value, part: string_of(value).startswith(part),
        "ends_with": lambda value, part: string_of(value).endswith(part),
    }),
    ([cpp.PATHS], {"string": string_of, "native": string_of, "c_str": string_of, "empty": lambda value: not string_of(value)}),
    ([cpp.LISTS, cpp.MAPS], {"size": size, "empty": is_empty}),
    ([cpp.LISTS], {"front": first_of, "back": last_of}),
    ([INDEXED], {"at": item}),
    ([cpp.SETS], {"contains": has, "count": holds}),
    ([cpp.DURATIONS], {"count": lambda value: value.GetNonSyntheticValue().GetChildMemberWithName("__r")}),
    ([cpp.MAPS], {"at": mapped, "contains": contains, "count": lambda value, key: int(contains(value, key))}),
    ([cpp.QUEUES], {
        "size": lambda value: underlying(value).GetNumChildren(),
        "empty": lambda value: is_empty(underlying(value)),
        "front": lambda value: first_of(underlying(value)),
        "back": lambda value: last_of(underlying(value)),
        "top": lambda value: (first_of if "priority" in value.GetType().GetCanonicalType().GetName() else last_of)(
            underlying(value)
        ),
    }),
    ([cpp.OPTIONALS], {
        "value_or": lambda value, other: other if is_empty(value) else content(value),
        "has_value": is_there,
        "value": content,
    }),
    ([cpp.EXPECTED], {
        "has_value": lambda value: cpp.has_value(value.GetNonSyntheticValue()),
        "value": expected,
        "error": unexpected,
    }),
    ([cpp.POINTERS], {"get": pointer_of, "use_count": use_count, "expired": lambda value: not use_count(value)}),
    ([cpp.VARIANTS], {"index": cpp.index_of, "valueless_by_exception": lambda value: cpp.index_of(value) < 0}),
    ([cpp.ATOMICS], {"load": lambda value: cpp.innermost(value.GetNonSyntheticValue())}),
]


def command(debugger, text, result, _internal):
    evaluate(sys.modules[__name__], debugger, text, result)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_cpp_types.command stillframe-evaluate")
