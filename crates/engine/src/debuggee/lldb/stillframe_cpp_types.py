"""What can be done with values of C++'s standard library in `stillframe_expressions`."""

import re
import sys

import lldb
import stillframe_captures
import stillframe_cpp as cpp
from stillframe_cpp_functions import (
    FUNCTIONS, cast, check_calls, common, computed, converted, enumerator, length_of_time, letter, number, templated, texts,
)
from stillframe_evaluate import evaluate
from stillframe_values import (
    FLOATS, Failed, Integer, Position, Single, Span, Unknown, Variant, checked, missing, nothing, simple,
)

# Of other modules, what an evaluation asks for.
__all__ = [
    "FUNCTIONS", "cast", "check_calls", "common", "computed", "converted", "enumerator", "length_of_time", "letter", "number",
    "templated", "texts",
]
# LLDB finds names other than variables.
HAS_VARIANTS = False
MACROS = {}
LEVELS = [("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
BINDS = {sign: at for at, signs in enumerate(LEVELS) for sign in signs}
CONSTANTS = {
    "true": True, "false": False, "nullptr": 0, "std::string::npos": Integer(-1, 64, False),
}
# Why an expression is not given to LLDB.
REFUSED = (
    "LLDB ends at this expression, because a class has an optional of a class such as a string; fields, operators and "
    "the most common methods of the standard library can be evaluated here"
)
# How far the types of variables are followed to see whether LLDB's compiler crashes at one.
FOLLOWED = 4
# Whether that crashes at a type, by its name and whether pointers are followed.
fatal = {}
captures = stillframe_captures.captures
VECTORS = re.compile(cpp.STD + r"vector<(?!bool)")
INDEXED = re.compile(cpp.STD + r"(vector|deque|array|span|valarray)<")
# How many entries of a map are compared with a key, where the order of keys is not known.
ENTRIES = 10000
# How many units of a string are read.
LONGEST = 1 << 24


def is_beyond_lldb(_expression):
    return False


def parameters(_tokens):
    return set()


# What Rust has, and these languages have not.
closure = generics = chained = nothing


def shown(value):
    """The value of an expression, if it has one that LLDB can keep."""
    if isinstance(value, Span):
        raise Unknown
    if isinstance(value, Position) and value.entry is None:
        raise Failed("the iterator is at the end")
    return value.entry if isinstance(value, Position) else value


def completed(_evaluation, value):
    return value


def is_fatal(variables, follows):
    """Whether LLDB's compiler crashes at a type of these variables, or at one that pointers lead to if it `follows` them."""
    kinds = {(one.GetType().GetName(), follows): one.GetType() for one in variables if one is not None}
    for known in kinds.keys() - fatal.keys():
        fatal[known] = has_fatal(direct(kinds[known]), follows, FOLLOWED, set())
    return any(fatal[known] for known in kinds)


def has_fatal(kind, follows, depth, seen):
    """Whether there is an optional of a class that is not trivial in another class."""
    kind = direct(kind) if follows else kind
    kind = (kind.GetArrayElementType() if kind.IsArrayType() else kind).GetCanonicalType().GetUnqualifiedType()
    name = kind.GetName() or ""
    if name in seen:
        return False
    seen.add(name)
    if cpp.OPTIONALS.match(name):
        payload = kind.GetDirectBaseClassAtIndex(0).GetType().GetFieldAtIndex(0).GetType().GetCanonicalType()
        # A content with a destructor is in a class of its own.
        base = payload.GetDirectBaseClassAtIndex(0).GetType().GetName() or ""
        return base.startswith("std::_Optional_payload<")
    if not depth or kind.GetTypeClass() not in (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion):
        return False
    inside = [kind.GetFieldAtIndex(at).GetType() for at in range(kind.GetNumberOfFields())]
    inside += [kind.GetDirectBaseClassAtIndex(at).GetType() for at in range(kind.GetNumberOfDirectBaseClasses())]
    if follows and name.startswith("std::"):
        inside = [kind.GetTemplateArgumentType(at) for at in range(kind.GetNumberOfTemplateArguments())]
    return any(has_fatal(one, follows, depth - 1, seen) for one in inside if one.IsValid())


def direct(kind):
    """What a pointer or a reference is to."""
    kind = kind.GetDereferencedType() if kind.IsReferenceType() else kind
    return kind.GetPointeeType() if kind.IsPointerType() else kind


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
    found = units(value)
    return None if found is None else found[0].decode(cpp.CODECS[found[1]], "replace")


def extent(value):
    """The pointer to a string's units, and how many there are; None for another value."""
    value = referred(value)
    if is_a(value, cpp.PATHS):
        value = value.GetNonSyntheticValue().GetChildMemberWithName("_M_pathname")
    return cpp.extent(value) if is_a(value, cpp.TEXTS) else None


def units(value):
    """The bytes of a string, and the size of its units; None for another value."""
    start, count = extent(value) or (None, None)
    if count is None:
        return None
    if count > LONGEST:
        raise Failed(f"the string is too long to be read: its length is {count}")
    size, error = start.GetType().GetPointeeType().GetByteSize(), lldb.SBError()
    read = value.GetProcess().ReadMemory(start.GetValueAsUnsigned(), count * size, error) if count else b""
    if error.Fail():
        raise Failed("the string cannot be read")
    return read, size


def unit(value, index):
    start, count = extent(value)
    return placed(value, start.GetValueAsUnsigned(), checked(index, count), start.GetType().GetPointeeType())


def placed(value, start, index, kind):
    """An item of a row."""
    return value.CreateValueFromAddress(f"[{index}]", start + index * kind.GetByteSize(), kind)


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


def variant(value, name=""):
    """The constant that an enum has, or whether an optional is empty, if that is what the name is of."""
    value, (scope, _, last) = referred(value), name.rpartition("::")
    if name in ("nullopt", "std::nullopt") and is_a(value, cpp.OPTIONALS):
        return "" if value.GetNumChildren() else last, None
    kind = value.GetType().GetCanonicalType().GetUnqualifiedType()
    members = kind.GetEnumMembers()
    names = {members.GetTypeEnumMemberAtIndex(at).GetName() for at in range(members.GetSize())}
    is_same = not scope or f"::{kind.GetName()}".endswith(f"::{scope}")
    return (value.GetValue(), None) if is_same and last in names else None


def same_variant(*_values):
    return None


def is_nothing(value):
    value = referred(value)
    return is_a(value, cpp.OPTIONALS) and not value.GetNumChildren()


def inner(value):
    """What a reference, an atomic, an iterator or an optional is compared by."""
    value = referred(value)
    if is_a(value, cpp.ITERATORS):
        return cpp.iterator_pointer(value)
    if is_a(value, cpp.ATOMICS):
        return cpp.loaded(value.GetNonSyntheticValue())
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
    kind = value.GetType().GetCanonicalType()
    if kind.IsArrayType():
        return placed(value, value.GetLoadAddress(), key, kind.GetArrayElementType())
    if kind.IsPointerType() or is_a(value, cpp.POINTERS):
        pointer = value if kind.IsPointerType() else pointer_of(value)
        return placed(value, pointer.GetValueAsUnsigned(), key, pointer.GetType().GetPointeeType())
    return None if extent(value) is None else unit(value, key)


def matching(value, wanted):
    """The entries of a map or a set that have a key."""
    raw = value.GetNonSyntheticValue()
    for name, entries in (("_M_t", in_tree), ("_M_h", in_table)):
        inside = raw.GetChildMemberWithName(name)
        if inside.IsValid():
            yield from entries(value, inside, wanted)
            return
    for index in range(min(value.GetNumChildren(), ENTRIES)):
        entry = value.GetChildAtIndex(index)
        if key_of(value, entry, wanted) == plain_key(wanted):
            yield entry


def in_table(value, table, wanted):
    """Of a hash table, each node of which has a pointer before its value."""
    kind = table.GetType().GetCanonicalType().GetTemplateArgumentType(1)
    process, error = value.GetProcess(), lldb.SBError()
    node = cpp.find(table, "_M_before_begin").GetChildMemberWithName("_M_nxt").GetValueAsUnsigned()
    at, known = content_of(value, kind, wanted)
    seen = 0
    for _ in range(size(value)):
        read = process.ReadMemory(node, at + len(known), error) if node else None
        if not read:
            return
        if read[at:] == known:
            seen += 1
            if seen > ENTRIES:
                raise beyond(size(value))
            entry = value.CreateValueFromAddress("entry", node + 8, kind)
            if key_of(value, entry, wanted) == plain_key(wanted):
                yield entry
        node = int.from_bytes(read[:8], "little")


def content_of(value, kind, wanted):
    """Where in a node of a hash table something distinguishes most other keys from one, and what is there."""
    key = kind.GetFieldAtIndex(0).GetType() if is_a(value, cpp.MAPS) else kind
    key = key.GetCanonicalType().GetUnqualifiedType()
    if isinstance(wanted, str) and (key.GetName() or "").startswith("std::__cxx11::basic_string<char,"):
        return 16, len(wanted.encode()).to_bytes(8, "little")
    is_number = key.GetTypeClass() == lldb.eTypeClassBuiltin and key.GetBasicType() not in FLOATS
    if is_number and isinstance(wanted, int):
        return 8, (int(wanted) % (1 << 8 * key.GetByteSize())).to_bytes(key.GetByteSize(), "little")
    return 8, b""


def in_tree(value, tree, wanted):
    kind = tree.GetType().GetCanonicalType().GetTemplateArgumentType(1)
    # A node has a color and three pointers before its value.
    align = max(kind.GetByteAlign(), 1)
    behind = -(-32 // align) * align
    is_sorted = "std::less<" in value.GetType().GetCanonicalType().GetName() and not isinstance(wanted, Variant)
    process, error = value.GetProcess(), lldb.SBError()
    nodes, seen = [cpp.find(tree, "_M_header").GetChildMemberWithName("_M_parent").GetValueAsUnsigned()], 0
    while nodes:
        node, seen = nodes.pop(), seen + 1
        if not node or error.Fail():
            continue
        if seen > 2 * ENTRIES:
            raise beyond(size(value))
        entry = value.CreateValueFromAddress("entry", node + behind, kind)
        key, wanted_key = key_of(value, entry, wanted), plain_key(wanted)
        if key == wanted_key:
            yield entry
        if not is_sorted or wanted_key <= key:
            nodes.append(process.ReadPointerFromMemory(node + 16, error))
        if not is_sorted or wanted_key >= key:
            nodes.append(process.ReadPointerFromMemory(node + 24, error))


def beyond(count):
    return Failed(f"the key is not among the first {ENTRIES:,} of {count:,} entries; the others have not been compared")


def key_of(value, entry, wanted):
    """What an entry's key is compared by; the name of a constant for an enum."""
    raw = entry.GetNonSyntheticValue()
    key = raw.GetChildMemberWithName("first") if is_a(value, cpp.MAPS) else raw
    found = key.GetValue() if isinstance(wanted, Variant) else string_of(key)
    found = simple(key) if found is None else found
    if found is None or isinstance(found, str) != isinstance(plain_key(wanted), str):
        raise Unknown
    return found


def plain_key(wanted):
    return wanted.name if isinstance(wanted, Variant) else wanted


def mapped(value, key):
    for entry in matching(value, key):
        return entry.GetNonSyntheticValue().GetChildMemberWithName("second")
    seen = (value.GetChildAtIndex(index) for index in range(min(value.GetNumChildren(), 10)))
    seen = [shown_key(key_of(value, entry, key)) for entry in seen]
    raise Failed(f"no key {shown_key(plain_key(key))} in the map" + (f"; keys: {', '.join(seen)}" if seen else ""))


def shown_key(key):
    return repr(chr(key)) if getattr(key, "bits", 0) == 8 and 32 <= key < 127 else repr(key)


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
    if is_a(value, cpp.ITERATORS):
        found = cpp.at_iterator(value)
        if found is None:
            raise Failed("the iterator is at the end")
        return found
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


def has(value, key):
    return any(True for _ in matching(value, key))


def count(value, key):
    return sum(1 for _ in matching(value, key))


def start_of(value):
    """The iterator to the first entry of a map or a set."""
    raw = value.GetNonSyntheticValue()
    tree, table = raw.GetChildMemberWithName("_M_t"), raw.GetChildMemberWithName("_M_h")
    if not size(value):
        return place_of(value, None)
    if tree.IsValid():
        inside, first, behind = tree, cpp.find(cpp.find(tree, "_M_header"), "_M_left"), 32
    else:
        inside, first, behind = table, cpp.find(table, "_M_before_begin").GetChildMemberWithName("_M_nxt"), 8
    kind = inside.GetType().GetCanonicalType().GetTemplateArgumentType(1)
    align = max(kind.GetByteAlign(), 1)
    address = first.GetValueAsUnsigned() + -(-behind // align) * align
    return place_of(value, value.CreateValueFromAddress("entry", address, kind))


def place_of(value, entry):
    """The iterator to an entry of a map or a set; to the end, if there is no entry."""
    raw = value.GetNonSyntheticValue()
    if raw.GetChildMemberWithName("_M_h").IsValid():
        return Position(0 if entry is None else entry.GetLoadAddress() - 8, entry)
    tree = raw.GetChildMemberWithName("_M_t")
    if not tree.IsValid():
        raise Unknown
    if entry is None:
        return Position(cpp.find(tree, "_M_header").GetLoadAddress(), None)
    align = max(entry.GetType().GetByteAlign(), 1)
    return Position(entry.GetLoadAddress() + -32 // align * align, entry)


def in_vector(value, field):
    """The iterator to the beginning or to the end of a vector."""
    pointer = cpp.find(value.GetNonSyntheticValue(), field)
    if pointer is None:
        raise Unknown
    is_there = field == "_M_start" and value.GetNumChildren() > 0
    return Position(pointer.GetValueAsUnsigned(), value.GetChildAtIndex(0) if is_there else None)


def bit(value, at):
    shown = cpp.text(value, 0, cpp.LONGEST)
    return shown[len(shown) - 1 - checked(at, len(shown))] == "1"


def complex_parts(value):
    kind = Single if value.GetByteSize() == 8 else float
    return [kind(part) for part in cpp.complex_parts(value.GetNonSyntheticValue())]


def is_empty(value):
    return not size(value)


def size(value):
    """As the container has counted: not all of its items may be children."""
    counters = ("_M_element_count", "_M_node_count", "_M_size") if not is_a(value, INDEXED) else ()
    found = (cpp.find(value.GetNonSyntheticValue(), name, 3) for name in counters)
    counted = next((one for one in found if one is not None), None)
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


def locked(value):
    """What `lock` of a `weak_ptr` gives: null once the object is gone."""
    return pointer_of(value) if use_count(value) else Integer(0, 64, False)


def length(value):
    return extent(value)[1]


def characters(value, start=0, count=None):
    read, size = units(value)
    if start > len(read) // size:
        raise Failed(f"position {start} is out of range: the length is {len(read) // size}")
    end = None if count is None else (start + count) * size
    return read[start * size : end].decode(cpp.CODECS[size], "replace")


def found_in(value, wanted, start=0):
    """Where a string or a character is."""
    read, size = units(value)
    if not isinstance(wanted, str):
        wanted = (int(wanted) % (1 << 8 * size)).to_bytes(size, "little")
    else:
        wanted = wanted.encode(cpp.CODECS[size])
    at = read.find(wanted, start * size)
    while at > 0 and at % size:
        at = read.find(wanted, at + 1)
    return at // size if at >= 0 else CONSTANTS["std::string::npos"]


# By types, the methods that change nothing.
METHODS = [
    ([cpp.TEXTS], {
        "size": length,
        "length": length,
        "empty": lambda value: not length(value),
        "c_str": string_of,
        "data": string_of,
        "substr": characters,
        "find": found_in,
        "at": unit,
        "front": lambda value: unit(value, 0),
        "back": lambda value: unit(value, max(length(value), 1) - 1),
        "compare": lambda value, other: Integer((string_of(value) > other) - (string_of(value) < other)),
        "starts_with": lambda value, part: string_of(value).startswith(part),
        "ends_with": lambda value, part: string_of(value).endswith(part),
    }),
    ([cpp.PATHS], {"string": string_of, "native": string_of, "c_str": string_of, "empty": lambda value: not length(value)}),
    ([cpp.LISTS, cpp.MAPS], {"size": size, "empty": is_empty}),
    ([cpp.LISTS], {"front": first_of, "back": last_of}),
    ([INDEXED], {"at": item}),
    ([VECTORS], {
        name: lambda value, field=field: in_vector(value, field)
        for name, field in (("begin", "_M_start"), ("end", "_M_finish"), ("cbegin", "_M_start"), ("cend", "_M_finish"))
    }),
    ([cpp.SETS, cpp.MAPS], {
        "contains": has,
        "count": count,
        "find": lambda value, key: place_of(value, next(iter(matching(value, key)), None)),
        "begin": start_of,
        "end": lambda value: place_of(value, None),
        "cend": lambda value: place_of(value, None),
    }),
    ([cpp.COMPLEX], {"real": lambda value: complex_parts(value)[0], "imag": lambda value: complex_parts(value)[1]}),
    ([cpp.REFERENCES], {"get": lambda value: value.GetNonSyntheticValue().GetChildMemberWithName("_M_data").Dereference()}),
    ([cpp.BITS], {
        "count": lambda value: cpp.text(value, 0, cpp.LONGEST).count("1"),
        "any": lambda value: "1" in cpp.text(value, 0, cpp.LONGEST),
        "none": lambda value: "1" not in cpp.text(value, 0, cpp.LONGEST),
        "all": lambda value: "0" not in cpp.text(value, 0, cpp.LONGEST),
        "test": lambda value, at: bit(value, at),
        "size": lambda value: len(cpp.text(value, 0, cpp.LONGEST)),
    }),
    ([cpp.DURATIONS], {"count": lambda value: value.GetNonSyntheticValue().GetChildMemberWithName("__r")}),
    ([cpp.MAPS], {"at": mapped}),
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
    ([cpp.POINTERS], {"get": pointer_of, "use_count": use_count, "expired": lambda value: not use_count(value), "lock": locked}),
    ([cpp.VARIANTS], {"index": cpp.index_of, "valueless_by_exception": lambda value: cpp.index_of(value) < 0}),
    ([cpp.ATOMICS], {"load": lambda value: cpp.loaded(value.GetNonSyntheticValue())}),
]


def command(debugger, text, result, _internal):
    evaluate(sys.modules[__name__], debugger, text, result)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_cpp_types.command stillframe-evaluate")
