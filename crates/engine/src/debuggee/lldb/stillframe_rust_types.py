"""What can be done with values of Rust's standard library in `stillframe_expressions`."""

import contextlib
import itertools
import re
import sys
import time

import lldb
import stillframe_rust as rust
import stillframe_rust_enums as enums
from stillframe_evaluate import evaluate
from stillframe_rust_closures import LONGEST, MOST, Closure, Order, Range, chained, generics, limited, ordering, parameters
from stillframe_rust_names import outside
from stillframe_rust_numbers import CONSTANTS, call_plain, cast, common, computed, inverted, letter, number, of_duration, type_of
from stillframe_rust_objects import check_compared, counted, once_content, upgraded
from stillframe_rust_patterns import matches
from stillframe_rust_results import assigned, opened, shown
from stillframe_values import Failed, Optional, Span, Unknown, Variant, checked, need, needed, nothing, simple, unquoted

# Of other modules, what an evaluation asks for.
__all__ = [
    "CONSTANTS", "assigned", "cast", "chained", "common", "computed", "generics", "inverted", "letter", "number", "opened",
    "outside", "parameters", "shown",
]
COWS = re.compile(r"^alloc::borrow::Cow<")
HAS_VARIANTS = True
LEVELS = [("==", "!=", "<", ">", "<=", ">="), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
BINDS = {sign: at for at, signs in enumerate(LEVELS) for sign in signs}
MACROS = {"matches": matches, "vec": lambda evaluation: evaluation.expect("[") or evaluation.arguments("]")}
# Methods that make a string of a literal.
COPIES = {"to_string", "to_owned", "into", "as_str"}
# Methods, indexes and casts.
BEYOND_LLDB = re.compile(r"\.\s*\w+\s*\(|\[|\bas\b")
# Why an expression is not given to LLDB.
REFUSED = (
    "this expression cannot be evaluated here; fields, indexes, operators, `as`, and methods of the standard library such "
    "as `len`, `is_some`, `unwrap`, `contains` or `iter` with its adapters and closures can"
)
# How many entries of a map are compared with a key whose order is not known.
ENTRIES = 10000
# The longest text that methods and operators read, in bytes.
LONGEST_TEXT = 1 << 26
LIBRARY = re.compile(r"^(std|core|alloc)::|^[(&*\[]")
# Methods that change what a value is called, and not what it is.
SAME = {"as_ref", "as_deref", "clone", "to_owned"}
# The same for cells, locks and atomics.
HELD = {"borrow", "get", "load", "lock", "read", "write"}


class Unfinished(Failed):
    """Not all was compared."""


def is_beyond_lldb(expression):
    """Whether LLDB does not know what is in an expression. It can call functions."""
    return BEYOND_LLDB.search(expression) is not None


def is_fatal(_kinds, _follows):
    return False


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
        elif rust.COUNTED.match(name) and rust.fat(value) is not None:
            break
        elif rust.LOCKED.match(name):
            value = rust.guarded(value)
        elif any(one.match(name) for one in (rust.COUNTED, rust.GUARDS, rust.CELLS, COWS)):
            value = value.GetChildAtIndex(0)
        elif rust.LOCKS.match(name):
            value = rust.lock_content(value)
        elif rust.ONCES.match(name) and (held := once_content(value)) is not None:
            value = held
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


literal = unquoted


# What C and C++ have, and this language has not.
captures = texts = enumerator = check_calls = check_method = has_method = pointer_in = named = objects = by_value = is_view = nothing


def number_in(value):
    """What a duration or an ordering is compared by; None for another value."""
    if name_of(value) == "core::cmp::Ordering":
        return ordering(value)
    if name_of(value) != "core::time::Duration":
        return None
    raw = value.GetNonSyntheticValue()
    return Span(raw.GetChildMemberWithName("secs").GetValueAsUnsigned() * 1_000_000_000 + rust.nanoseconds(raw), 128)


def closure(evaluation):
    """A closure, if one begins here."""
    return Closure(evaluation) if evaluation.peek() in ("|", "||", "move") else None


def completed(evaluation, value):
    """The rest of what began with a value in parentheses: a range or a tuple."""
    if sign := evaluation.take("..", "..="):
        most = None if evaluation.peek() == ")" else evaluation.plain(evaluation.either())
        return Range(evaluation.plain(value), most, sign == "..=")
    if evaluation.peek() != ",":
        return value
    parts = [value]
    while evaluation.take(","):
        parts += [evaluation.either()] if evaluation.peek() != ")" else []
    return tuple(parts)


def sequence(value):
    """The items of a list; None for another value."""
    value = settled(value)
    if rust.LINKED.match(name_of(value)):
        return rust.nodes(value)
    if is_list(value):
        return children(value)
    pointer = rust.fat(value)
    start, count, kind, is_text = rust.row(pointer) if pointer is not None else (0, 0, None, True)
    if is_text:
        return None
    size = kind.GetByteSize()
    return (value.CreateValueFromAddress(f"[{at}]", start + at * size, kind) for at in range(count))


def row_of(value, start, end):
    """`value[start..end]`."""
    if isinstance(value, list):
        return value[start:end]
    count = length(settled(value))
    end = count if end is None else end
    if not 0 <= start <= end <= count:
        raise Failed(f"range {start}..{end} is out of range: the length is {count}")
    found = [item(value, at) for at in range(start, end)]
    first, last = (found[0], found[-1]) if found else (None, None)
    # The items of a deque may be in two places.
    if not found or last.GetLoadAddress() - first.GetLoadAddress() != (len(found) - 1) * first.GetByteSize():
        return found
    return value.CreateValueFromAddress("slice", first.GetLoadAddress(), first.GetType().GetArrayType(len(found)))


def same_items(evaluation, left, right):
    """Whether tuples or lists are equal, of which one is written in the expression."""
    left, right = parts(left), parts(right)
    return len(left) == len(right) and all(evaluation.compare("==", *both) for both in zip(left, right))


def parts(value):
    """What a list or a tuple has."""
    if isinstance(value, lldb.SBValue):
        value = settled(value)
        found = children(value) if name_of(value).startswith("(") else sequence(value)
    else:
        found = value if isinstance(value, (tuple, list)) else None
    return list(needed(found))


def fields(value):
    """What a structure or a variant has, to compare it."""
    value = settled(value)
    check_compared(value)
    return list(children(value))


def children(value):
    return (value.GetChildAtIndex(at) for at in range(value.GetNumChildren()))


def string_of(value):
    value = settled(value)
    if rust.TEXTS.match(name_of(value)):
        start, count = value.GetChildAtIndex(0).GetLoadAddress(), value.GetNumChildren()
    elif name_of(value).endswith("::OsString"):
        buffer = value.GetNonSyntheticValue().GetChildMemberWithName("inner").GetNonSyntheticValue()
        bytes_of = buffer.GetChildMemberWithName("inner").GetSyntheticValue()
        start, count = bytes_of.GetChildAtIndex(0).GetLoadAddress(), bytes_of.GetNumChildren()
    else:
        pointer = rust.fat(value)
        start, count, _, is_text = rust.row(pointer) if pointer is not None else (0, 0, None, False)
        if not is_text:
            return None
    if not count:
        return ""
    if count > LONGEST_TEXT:
        raise Failed(f"a text of {count:,} bytes is not read here, only one of up to {LONGEST_TEXT:,}")
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(start, count, error)
    return read.decode("utf-8", "replace") if error.Success() else None


def is_nothing(_value):
    return False


def variant(value, wanted=None):
    """The name of the variant of an enum, and its first field; None for another value, unless it is a structure with the
    name that is wanted. `wanted` must be one of the variants of an enum."""
    if isinstance(value, Order):
        return value.name, None
    if not isinstance(value, lldb.SBValue):
        return None
    value = settled(value)
    kind = value.GetType()
    wanted = wanted.rsplit("::", 1)[-1] if wanted else None
    if kind.GetTypeClass() == lldb.eTypeClassEnumeration:
        names = [member.GetName() for member in kind.GetEnumMembers()]
        found = (value.GetValue() or "").rsplit("::", 1)[-1], None
    else:
        raw = value.GetNonSyntheticValue().GetType()
        if not raw.GetNumberOfFields() or raw.GetFieldAtIndex(0).GetName() != "$variants$":
            return (wanted, None) if wanted == rust.base(name_of(value)) else None
        types = [variant.GetType().GetName() for variant in raw.GetFieldAtIndex(0).GetType().fields]
        names = [found.group(1) for found in (re.search(r"(\w+)\$Variant", name or "") for name in types) if found]
        content = value.GetChildAtIndex(0) if value.GetNumChildren() else None
        found = enums.variant_name(value.GetNonSyntheticValue()), content
    if wanted and names and wanted not in names:
        raise Failed(f"no variant named `{wanted}` in `{type_of(value)}`")
    return found


def same_variant(evaluation, left, right):
    """Whether two values of an enum, two tuple structures, or two lists, are equal; None for others."""
    left, right = settled(left), settled(right)
    found = [variant(one) for one in (left, right)]
    if name_of(left) == name_of(right) and is_numbered(left):
        found = ["", ""]
    if None in found:
        are_lists = sequence(left) and sequence(right) and max(length(left), length(right)) <= MOST
        return same_items(evaluation, left, right) if are_lists else None
    check_compared(left)
    is_same = found[0][:1] == found[1][:1]
    return is_same and all(evaluation.compare("==", *both) for both in zip(children(left), children(right)))


def is_numbered(value):
    """Whether a value is a tuple structure of the user's, such as `Id(3)`."""
    names = [field.GetName() or "" for field in value.GetNonSyntheticValue().GetType().fields]
    return bool(names) and all(map(rust.FIELD.match, names)) and not LIBRARY.match(name_of(value))


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
    if is_list(value):
        return value.GetChildAtIndex(checked(key, value.GetNumChildren()))
    pointer = rust.fat(value)
    if pointer is None:
        return None
    start, count, kind, _ = rust.row(pointer)
    return value.CreateValueFromAddress(f"[{key}]", start + checked(key, count) * kind.GetByteSize(), kind)


def entries(value):
    """The keys and values of a map, or the items of a set."""
    if "::BTree" in name_of(value):
        tree = rust.BTreeChildren(value)
        tree.MOST = ENTRIES
        tree.update()
        for (key, key_type), (content, content_type) in tree.found:
            found = None if tree.is_set else value.CreateValueFromAddress("value", content, content_type)
            yield value.CreateValueFromAddress("key", key, key_type), found
        return
    for index in range(min(value.GetNumChildren(), ENTRIES)):
        child = value.GetChildAtIndex(index)
        yield (child, None) if is_set(value) else (child.GetChildAtIndex(0), child.GetChildAtIndex(1))


def matching(value, wanted):
    """The entry of a map or a set that has a key, as a list of its key and its value."""
    if "::BTree" not in name_of(value) or isinstance(wanted, (Variant, tuple)):
        found = next(([key, found] for key, found in in_time(entries(value)) if is_key(key, wanted)), None)
        if found is None and length(value) > ENTRIES:
            count = f"{ENTRIES:,} of {length(value):,}"
            raise Unfinished(f"the key is not among the first {count} entries; the others have not been compared")
        return found
    tree = rust.BTreeChildren(value)
    address, height = tree.root() or (0, 0)
    while address:
        items, edges = tree.node(address)
        at = 0
        for (key, key_type), (content, content_type) in items:
            known = key_of(value.CreateValueFromAddress("key", key, key_type))
            if known == wanted:
                return [known, None if tree.is_set else value.CreateValueFromAddress("value", content, content_type)]
            if known > wanted:
                break
            at += 1
        address, height = tree.child(edges, at) if height else 0, height - 1
    return None


def key_of(value):
    text = string_of(value)
    return needed(simple(settled(value))) if text is None else text


def all_entries(value):
    """The entries of a map or a set, or a failure if it has more than are read."""
    if length(value) > MOST:
        raise Failed(f"an iterator reads the first {MOST:,} items here, and it has {length(value):,}")
    return entries(value)


def is_key(value, key):
    if isinstance(key, tuple):
        value = settled(value)
        return len(key) == value.GetNumChildren() and all(map(is_key, children(value), key))
    if isinstance(key, Variant):
        found = needed(variant(value, key.path))
        held = fields(value) if key.contents else ()
        return found[0] == key.name and len(held) == len(key.contents) and all(map(is_key, held, key.contents))
    return key_of(value) == key


def key(evaluation, value):
    """What a value is compared by with keys: one that is neither a number nor a text, as if it were written in the expression."""
    try:
        return evaluation.plain(value)
    except Unknown:
        if not isinstance(value, lldb.SBValue):
            raise
        evaluation.is_needed = True
        return as_key(value)


def as_key(value):
    value = settled(value)
    with contextlib.suppress(Unknown):
        return key_of(value)
    found, is_tuple = variant(value), name_of(value).startswith("(")
    need(found or is_tuple or is_numbered(value))
    held = map(as_key, fields(value))
    return tuple(held) if is_tuple else Variant(found[0] if found else rust.base(name_of(value)), *held)


def mapped(value, key):
    found = matching(value, key)
    if found is not None:
        return found[1]
    known = ", ".join(rust.text(first, 1, 100) or "?" for first, _ in itertools.islice(entries(value), 10))
    raise Failed("no such key in the map; " + (f"keys: {known}" if known else "it is empty"))


def field(value, name):
    # `lock` of an asynchronous lock gives here what it protects.
    if name == "await":
        return value
    value, copy = settled(value), None
    for holder in (value, value.GetNonSyntheticValue()):
        for known in (name, f"__{name}"):
            found = holder.GetChildMemberWithName(known)
            if found.IsValid() and found.GetName() == known:
                if found.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS:
                    return found
                # The formatter of tuples gives copies.
                copy = copy or found
    if copy is not None:
        return copy
    raise Failed(f"no field `{name}` on `{type_of(value)}`")


def target(value):
    # A method such as `unwrap` has given what a reference leads to.
    return settled(value)


def found_in(value, key):
    """What `get` finds."""
    try:
        found = item(value, key)
    except Unfinished:
        raise
    except Failed as failed:
        return Optional(None, str(failed))
    return Optional(needed(found))


def end_of(value, at):
    count = length(value)
    if not count:
        return Optional(None, "the value is `None`: nothing is in it")
    found = item(value, at % count)
    if found is None:
        items = (one for one, _ in all_entries(value)) if is_set(value) else limited(sequence(value))
        found = next(items) if at == 0 else list(items)[at]
    return Optional(found)


def neither(value, *_arguments):
    raise Failed(f"`{type_of(value)}` is neither an option nor a result")


def contains(value, wanted):
    if is_set(value) or is_map(value):
        return matching(value, wanted) is not None
    return any(is_key(one, wanted) for one in in_time(sequence(value)))


def in_time(items):
    """Items to compare, as long as that does not take too long."""
    until = time.monotonic() + LONGEST
    for item in items:
        yield item
        if time.monotonic() > until:
            raise Unfinished(f"the items take more than {LONGEST} s to compare here; ask about fewer")


def length(value):
    if rust.LINKED.match(name_of(value)):
        return value.GetNonSyntheticValue().GetChildMemberWithName("len").GetValueAsUnsigned()
    if not is_list(value) and rust.fat(value) is not None:
        return rust.row(rust.fat(value))[1]
    if not (is_list(value) or is_map(value) or is_set(value)):
        raise Failed(f"`{type_of(value)}` has no length that can be read")
    if "::BTree" not in name_of(value):
        return value.GetNumChildren()
    raw = value.GetNonSyntheticValue()
    raw = raw.GetChildMemberWithName("map") if is_set(value) else raw
    return raw.GetChildMemberWithName("length").GetValueAsUnsigned()


# Functions that read.
FUNCTIONS = {
    "String::from": lambda _evaluation, text: text,
    **{f"{kind}::strong_count": lambda _evaluation, value: counted(value, 0) for kind in ("Rc", "Arc")},
    **{f"{kind}::weak_count": lambda _evaluation, value: counted(value, 1) for kind in ("Rc", "Arc")},
    **{
        f"Duration::from_{name}": lambda evaluation, count, unit=unit: Span(evaluation.plain(count) * unit, 128)
        for name, unit in (("secs", 1_000_000_000), ("millis", 1_000_000), ("micros", 1000), ("nanos", 1))
    },
}
METHODS = {
    "len": length,
    "upgrade": upgraded,
    "strong_count": lambda value: counted(value, 0),
    "peek": lambda value: end_of(value, 0),
    "is_empty": lambda value: length(value) == 0,
    "contains": contains,
    "contains_key": contains,
    "get": found_in,
    "first": lambda value: end_of(value, 0),
    "front": lambda value: end_of(value, 0),
    "last": lambda value: end_of(value, -1),
    "back": lambda value: end_of(value, -1),
    **dict.fromkeys(("is_some", "is_none", "is_ok", "is_err", "unwrap", "expect", "unwrap_err", "unwrap_or"), neither),
}


def is_same(value, name):
    """Whether a method returns the value itself. Types of the user's may have methods with such names."""
    if name in HELD:
        kind = name_of(settled(value, is_whole=False))
        return any(known.match(kind) for known in (rust.CELLS, rust.GUARDS, rust.LOCKS, rust.WRAPPERS))
    if name in ("as_str", "to_string"):
        return string_of(value) is not None
    return name in SAME or name == "as_slice" and bool(is_list(settled(value)))


def call(value, name, arguments):
    if isinstance(value, Optional):
        value = value.unwrapped()
    if not isinstance(value, lldb.SBValue):
        found, kind = call_plain(value, name, arguments), type_of(value)
    elif name == "get" and not arguments and rust.ONCES.match(name_of(settled(value, is_whole=False))):
        return Optional(once_content(settled(value, is_whole=False)), "the value is `None`: it has not been set")
    elif len(arguments) == (name == "load") and is_same(value, name):
        # A lock of the standard library gives a result.
        is_result = name in ("lock", "read", "write") and name_of(settled(value, is_whole=False)).startswith("std::sync::")
        return Optional(settled(value), name="Ok") if is_result else settled(value)
    else:
        value = settled(value)
        is_number = value.GetType().GetCanonicalType().GetTypeClass() == lldb.eTypeClassBuiltin
        plain = simple(value) if is_number else string_of(value)
        found, kind = None if plain is None else call_plain(plain, name, arguments), type_of(value, rust.base)
        if kind == "Duration" and not arguments:
            found = of_duration(int(number_in(value)), name)
        if found is None and name in METHODS:
            return METHODS[name](value, *arguments)
    if found is None:
        raise Failed(
            f"LLDB cannot call `{name}` of `{kind}`; read its fields, or a method of the "
            "standard library such as `len`, `is_some`, `unwrap` or `contains`"
        )
    return found


def command(debugger, text, result, _internal):
    evaluate(sys.modules[__name__], debugger, text, result)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_rust_types.command stillframe-evaluate")
