"""What can be done with values of Rust's standard library in `stillframe_expressions`."""

import itertools
import math
import re
import sys

import lldb
import stillframe_rust as rust
from stillframe_evaluate import evaluate
from stillframe_expressions import (
    Failed, Integer, Letter, Optional, Single, Unknown, Variant, calculated, checked, simple,
)
from stillframe_rust_patterns import matches

COWS = re.compile(r"^alloc::borrow::Cow<")
HAS_VARIANTS = True
LEVELS = [("==", "!=", "<", ">", "<=", ">="), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
CONSTANTS = {"true": True, "false": False}
MACROS = {"matches": matches}
NUMBER = re.compile(r"(0x[\da-f_]+?|0b[01_]+|0o[0-7_]+|\d[\d_]*)(?:([iu])(8|16|32|64|128|size))?$")
REAL = re.compile(r"\d[\d_]*(\.[\d_]+)?(f32|f64)?$")
TYPE = re.compile(r"([iu])(8|16|32|64|128|size)$")
# Methods that make a string of a literal.
COPIES = {"to_string", "to_owned", "into", "as_str"}
# Methods, indexes and casts.
BEYOND_LLDB = re.compile(r"\.\s*\w+\s*\(|\[|\bas\b")
# Why an expression is not given to LLDB.
REFUSED = (
    "this expression cannot be evaluated here; fields, indexes, operators, `as`, and methods of the standard library such "
    "as `len`, `is_some`, `unwrap` or `contains` can"
)
OVERFLOWS = {
    "+": "attempt to add with overflow", "-": "attempt to subtract with overflow", "*": "attempt to multiply with overflow",
    "/": "attempt to divide with overflow", "%": "attempt to calculate the remainder with overflow",
}
ZEROS = {"/": "attempt to divide by zero", "%": "attempt to calculate the remainder with a divisor of zero"}
# How many entries of a map are compared with a key whose order is not known.
ENTRIES = 10000
OPTIONS = re.compile(r"^core::([a-z_]+::)*Option<")
RESULTS = re.compile(r"^core::([a-z_]+::)*Result<")
# Methods that change what a value is called, and not what it is.
SAME = {"as_ref", "as_deref", "clone", "to_owned"}
# The same of cells and locks.
HELD = {"borrow", "get", "lock", "read", "write"}


def captures(_frame):
    return []


def is_beyond_lldb(expression):
    """Whether LLDB does not know what is in an expression. It can call functions."""
    return BEYOND_LLDB.search(expression) is not None


def is_fatal(_variables, _follows):
    return False


def number(text):
    """A literal. One without a type is of that of what it is used with."""
    if found := NUMBER.match(text):
        digits, *kind = found.groups()
        value = int(digits.replace("_", "").lstrip("0") or "0") if digits.isdigit() else int(digits.replace("_", ""), 0)
        return Integer(value, width(kind[1]), kind[0] == "i") if kind[0] else value
    if REAL.match(text):
        return float(re.sub("_|f32|f64", "", text))
    raise Unknown


def width(written):
    return 64 if written == "size" else int(written)


def letter(prefix, text):
    return Integer(ord(text), 8, False) if prefix == "b" else Letter(text)


def common(left, right):
    """Two numbers in the type in which Rust calculates with them. A literal has that of what it is used with."""
    if isinstance(left, Single) or isinstance(right, Single):
        return Single(left), Single(right)
    return left, right


def computed(sign, left, right):
    """As in a program whose overflows are checked."""
    if isinstance(left, bool) or isinstance(right, bool) or isinstance(left, float) != isinstance(right, float):
        raise Unknown
    if isinstance(left, float):
        left, right = common(left, right)
        return type(left)(calculated(sign, left, right))
    known = [one for one in (left, right) if isinstance(one, Integer)]
    if sign in ("<<", ">>"):
        known = known[:1] if isinstance(left, Integer) else []
        if not 0 <= right < getattr(left, "bits", 32):
            raise Failed(f"attempt to shift {'left' if sign == '<<' else 'right'} with overflow")
    kinds = {(one.bits, one.is_signed) for one in known}
    if len(kinds) > 1:
        names = [("i" if one.is_signed else "u") + ("size" if one.bits == 64 else str(one.bits)) for one in known]
        raise Failed(f"mismatched types `{names[0]}` and `{names[1]}`: convert one with `as`")
    if sign in ZEROS and not right:
        raise Failed(ZEROS[sign])
    result = calculated(sign, left, right)
    if not kinds:
        return result
    bits, is_signed = kinds.pop()
    made = Integer(result, bits, is_signed)
    if made != result and sign in OVERFLOWS:
        raise Failed(OVERFLOWS[sign])
    return made


def inverted(value):
    if isinstance(value, Integer):
        return Integer(~value, value.bits, value.is_signed)
    if isinstance(value, bool):
        return not value
    raise Unknown


def cast(value, kind):
    """`value as kind`."""
    value = ord(value) if isinstance(value, Letter) else value
    if isinstance(value, str):
        raise Unknown
    if kind in ("f32", "f64"):
        return float(value)
    if kind == "char":
        return Letter(chr(value))
    found = TYPE.match(kind)
    if found is None:
        raise Unknown
    bits, is_signed = width(found.group(2)), found.group(1) == "i"
    if isinstance(value, float):
        # What does not fit becomes the nearest that does.
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        value = 0 if value != value else int(min(max(value, least), most))
    return Integer(value, bits, is_signed)


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
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(start, min(count, rust.TEXT), error)
    return read.decode("utf-8", "replace") if error.Success() else None


def is_nothing(_value):
    return False


def variant(value, wanted=None):
    """The name of the variant of an enum, and its first field; None for another value. `wanted` must be one of its
    variants."""
    value = settled(value)
    kind = value.GetType()
    if kind.GetTypeClass() == lldb.eTypeClassEnumeration:
        members = kind.GetEnumMembers()
        names = [members.GetTypeEnumMemberAtIndex(at).GetName() for at in range(members.GetSize())]
        found = (value.GetValue() or "").rsplit("::", 1)[-1], None
    else:
        raw = value.GetNonSyntheticValue().GetType()
        if not raw.GetNumberOfFields() or raw.GetFieldAtIndex(0).GetName() != "$variants$":
            return None
        variants = raw.GetFieldAtIndex(0).GetType()
        types = [variants.GetFieldAtIndex(at).GetType().GetName() for at in range(variants.GetNumberOfFields())]
        names = [found.group(1) for found in (re.search(r"(\w+)\$Variant", name or "") for name in types) if found]
        content = value.GetChildAtIndex(0) if value.GetNumChildren() else None
        found = rust.variant_name(value.GetNonSyntheticValue()), content
    wanted = wanted.rsplit("::", 1)[-1] if wanted else None
    if wanted and names and wanted not in names:
        raise Failed(f"no variant named `{wanted}` in `{rust.short_type(name_of(value))}`")
    return found


def same_variant(evaluation, left, right):
    """Whether two values of an enum are equal, of which each variant has one field at the most; None for others."""
    left, right = settled(left), settled(right)
    found = [variant(one) for one in (left, right)]
    if None in found or max(one.GetNumChildren() for one in (left, right)) > 1:
        return None
    (name, content), (other, held) = found
    return name == other and (content is None or evaluation.compare("==", content, held))


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
        tree = rust.BTreeChildren(value, None)
        tree.MOST = ENTRIES
        tree.update()
        for (key, key_type), (content, content_type) in tree.children:
            found = None if tree.is_set else value.CreateValueFromAddress("value", content, content_type)
            yield value.CreateValueFromAddress("key", key, key_type), found
        return
    for index in range(min(value.GetNumChildren(), ENTRIES)):
        child = value.GetChildAtIndex(index)
        yield (child, None) if is_set(value) else (child.GetChildAtIndex(0), child.GetChildAtIndex(1))


def matching(value, wanted):
    """The entry of a map or a set that has a key, as a list of its key and its value."""
    if "::BTree" not in name_of(value) or isinstance(wanted, Variant):
        found = next(([key, found] for key, found in entries(value) if is_key(key, wanted)), None)
        if found is None and length(value) > ENTRIES:
            count = f"{ENTRIES:,} of {length(value):,}"
            raise Failed(f"the key is not among the first {count} entries; the others have not been compared")
        return found
    tree = rust.BTreeChildren(value, None)
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
    found = simple(settled(value)) if text is None else text
    if found is None:
        raise Unknown
    return found


def is_key(value, key):
    if isinstance(key, Variant):
        found = variant(value)
        return found is not None and found[0] == key.name
    return key_of(value) == key


def mapped(value, key):
    found = matching(value, key)
    if found is not None:
        return found[1]
    known = ", ".join(rust.text(first, 1, 100) or "?" for first, _ in itertools.islice(entries(value), 10))
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
    # A method such as `unwrap` has given what a reference leads to.
    return settled(value)


def found_in(value, key):
    """What `get` finds."""
    try:
        found = item(value, key)
    except Failed as failed:
        return Optional(None, str(failed))
    if found is None:
        raise Unknown
    return Optional(found)


def end_of(value, at):
    count = length(value)
    return Optional(item(value, at % count) if count else None, "the value is `None`: nothing is in it")


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
    if not (is_set(value) or is_map(value)):
        return any(is_key(value.GetChildAtIndex(at), wanted) for at in range(length(value)))
    return matching(value, wanted) is not None


def length(value):
    if rust.LINKED.match(name_of(value)):
        return value.GetNonSyntheticValue().GetChildMemberWithName("len").GetValueAsUnsigned()
    if not is_list(value) and rust.fat(value) is not None:
        return rust.row(rust.fat(value))[1]
    if not (is_list(value) or is_map(value) or is_set(value)):
        raise Failed(f"`{rust.short_type(name_of(value))}` has no length that can be read")
    if "::BTree" not in name_of(value):
        return value.GetNumChildren()
    raw = value.GetNonSyntheticValue()
    raw = raw.GetChildMemberWithName("map") if is_set(value) else raw
    return raw.GetChildMemberWithName("length").GetValueAsUnsigned()


METHODS = {
    "len": length,
    "is_empty": lambda value: length(value) == 0,
    "contains": contains,
    "contains_key": contains,
    "get": found_in,
    "first": lambda value: end_of(value, 0),
    "front": lambda value: end_of(value, 0),
    "last": lambda value: end_of(value, -1),
    "back": lambda value: end_of(value, -1),
    "is_some": is_variant("Some"),
    "is_none": is_variant("None"),
    "is_ok": is_variant("Ok"),
    "is_err": is_variant("Err"),
    "unwrap": lambda value: unwrapped(value, "Some", "Ok"),
    "expect": lambda value, _message: unwrapped(value, "Some", "Ok"),
    "unwrap_err": lambda value: unwrapped(value, "Err"),
    "unwrap_or": lambda value, other: unwrapped(value, "Some", "Ok") if is_variant("Some", "Ok")(value) else other,
}
# Those of what `get` and the like have found.
OF_OPTIONS = {
    "is_some": lambda found: found.content is not None,
    "is_none": lambda found: found.content is None,
    "unwrap": Optional.unwrapped,
    "expect": lambda found, _message: found.unwrapped(),
    "unwrap_or": lambda found, other: other if found.content is None else found.content,
    "copied": lambda found: found,
    "cloned": lambda found: found,
}
OF_TEXTS = {
    "len": lambda text: len(text.encode()),
    "is_empty": lambda text: not text,
    "contains": lambda text, part: part in text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "trim": str.strip,
    "to_lowercase": str.lower,
    "to_uppercase": str.upper,
    "eq_ignore_ascii_case": lambda text, other: text.lower() == other.lower() if other.isascii() else text == other,
}
OF_LETTERS = {
    "is_alphabetic": str.isalpha,
    "is_ascii_digit": lambda letter: "0" <= letter <= "9",
    "is_numeric": str.isnumeric,
    "is_alphanumeric": str.isalnum,
    "is_whitespace": str.isspace,
    "is_uppercase": str.isupper,
    "is_lowercase": str.islower,
}
OF_NUMBERS = {
    "abs": lambda one: negated(one) if one < 0 else one,
    "min": lambda one, other: min(alike(one, other)),
    "max": lambda one, other: max(alike(one, other)),
    "pow": lambda one, times: powered(one, times),
    "powi": lambda one, times: type(one)(float(one) ** times),
    "sqrt": lambda one: type(one)(math.sqrt(one) if one >= 0 else math.nan),
    "is_nan": lambda one: one != one,
    "is_positive": lambda one: one > 0,
    "is_negative": lambda one: one < 0,
}


def alike(number, other):
    """Two numbers in the type of the first. A literal without one is an `i32`, as rustc takes it."""
    if isinstance(number, float):
        return common(number, other)
    first = number if isinstance(number, Integer) else Integer(number)
    return first, Integer(other, first.bits, first.is_signed)


def negated(number):
    return type(number)(-number) if isinstance(number, float) else computed("-", 0, number)


def powered(number, times):
    result, number = alike(number, 1)[::-1]
    # Of 1, 0 and -1, only whether it is odd counts. Others soon overflow.
    for _ in range(times if abs(number) > 1 else min(times, 2 + times % 2)):
        result = computed("*", result, number)
    return result


def call_plain(value, name, arguments):
    """A method of a number, a truth value or a string; None for another one."""
    # Rust prints numbers with a fraction in another way.
    if name == "to_string" and not arguments and not isinstance(value, float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, bool):
        return None
    known = OF_LETTERS if isinstance(value, Letter) else OF_TEXTS if isinstance(value, str) else OF_NUMBERS
    if name in ("clone", "to_owned") and not arguments:
        return value
    return known[name](value, *arguments) if name in known else None


def is_same(value, name):
    """Whether a method gives what a value is. Types of the user's may have methods with such names."""
    if name in HELD:
        kind = name_of(settled(value, is_whole=False))
        return any(known.match(kind) for known in (rust.CELLS, rust.GUARDS, rust.LOCKS, rust.WRAPPERS))
    if name in ("as_str", "to_string"):
        return string_of(value) is not None
    return name in SAME or name == "as_slice" and bool(is_list(settled(value)))


def call(value, name, arguments):
    if isinstance(value, Optional):
        if name in OF_OPTIONS:
            return OF_OPTIONS[name](value, *arguments)
        value = value.unwrapped()
    if not isinstance(value, lldb.SBValue):
        found, kind = call_plain(value, name, arguments), type(value).__name__
    elif not arguments and is_same(value, name):
        return settled(value)
    else:
        value = settled(value)
        is_number = value.GetType().GetCanonicalType().GetTypeClass() == lldb.eTypeClassBuiltin
        plain = simple(value) if is_number else string_of(value)
        found, kind = None if plain is None else call_plain(plain, name, arguments), rust.base(name_of(value))
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
