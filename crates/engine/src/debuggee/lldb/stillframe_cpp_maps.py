"""Maps and sets of C++ in expressions."""

import lldb
import stillframe_cpp as cpp
from stillframe_cpp_texts import is_a, string_of
from stillframe_memory import encoded
from stillframe_values import FLOATS, Failed, Integer, Position, Single, Variant, need, needed, simple

# How many entries of a map are compared with a key, where the order of keys is not known.
ENTRIES = 10000


def matching(value, wanted):
    """The entries of a map or a set that have a key."""
    wanted, is_found = as_key(value, wanted), False
    for entry in candidates(value, wanted):
        if key_of(value, entry, wanted) == plain_key(wanted):
            is_found = True
            yield entry
    if not is_found and size(value) and not comparison(value).startswith(("std::less<", "std::greater<", "std::equal_to<")):
        raise Failed("keys are compared by a function of the program, and no key is exactly the same")


def candidates(value, wanted):
    tree, table = (value.GetNonSyntheticValue().GetChildMemberWithName(name) for name in ("_M_t", "_M_h"))
    if tree.IsValid() or table.IsValid():
        return in_tree(value, wanted) if tree.IsValid() else in_table(value, wanted)
    return (value.GetChildAtIndex(index) for index in range(min(value.GetNumChildren(), ENTRIES)))


def layout(value):
    """What a map or a set keeps its nodes in, the type of an entry, and how far after the start of a node the entry is."""
    tree, table = (value.GetNonSyntheticValue().GetChildMemberWithName(name) for name in ("_M_t", "_M_h"))
    need(tree.IsValid() or table.IsValid())
    # A node of a tree has a color and three pointers before it, one of a hash table a pointer.
    inside, before = (tree, 32) if tree.IsValid() else (table, 8)
    kind = inside.GetType().GetCanonicalType().GetTemplateArgumentType(1)
    return inside, kind, cpp.aligned(before, kind)


def comparison(value):
    """The name of the type that orders the keys of a map or a set, or finds them equal."""
    kind = value.GetType().GetCanonicalType()
    behind = int(is_a(value, cpp.MAPS)) + (1 if value.GetNonSyntheticValue().GetChildMemberWithName("_M_t").IsValid() else 2)
    return kind.GetTemplateArgumentType(behind).GetCanonicalType().GetUnqualifiedType().GetName() or ""


def key_type(value):
    return value.GetType().GetCanonicalType().GetTemplateArgumentType(0).GetCanonicalType().GetUnqualifiedType()


def as_key(value, wanted):
    """A number in the type of the keys, which the methods of a map or a set take."""
    kind = key_type(value)
    if isinstance(wanted, (str, Variant)) or kind.GetTypeClass() != lldb.eTypeClassBuiltin:
        return wanted
    basic = kind.GetBasicType()
    if basic in FLOATS:
        found = (Single if basic == lldb.eBasicTypeFloat else float)(wanted)
    elif basic == lldb.eBasicTypeBool:
        found = bool(wanted)
    else:
        found = Integer(int(wanted), 8 * kind.GetByteSize(), bool(kind.GetTypeFlags() & lldb.eTypeIsSigned))
    # One that compares several types takes the number as it is.
    need(found == wanted or "<void>" not in comparison(value))
    return found


def in_table(value, wanted):
    table, kind, before = layout(value)
    process, error = value.GetProcess(), lldb.SBError()
    node = cpp.first_hashed(table)
    at, known = content_of(value, wanted)
    seen = 0
    for _ in range(size(value)):
        read = process.ReadMemory(node, before + at + len(known), error) if node else None
        if not read:
            return
        if read[before + at :] == known:
            seen += 1
            if seen > ENTRIES:
                raise beyond(size(value))
            yield value.CreateValueFromAddress("entry", node + before, kind)
        node = int.from_bytes(read[:8], "little")


def content_of(value, wanted):
    """Where in an entry of a hash table something distinguishes most other keys from one, and what is there."""
    key = key_type(value)
    if not comparison(value).startswith("std::equal_to<"):
        return 0, b""
    if isinstance(wanted, str) and (key.GetName() or "").startswith("std::__cxx11::basic_string<char,"):
        return 8, len(encoded(wanted)).to_bytes(8, "little")
    is_number = key.GetTypeClass() == lldb.eTypeClassBuiltin and key.GetBasicType() not in FLOATS
    if is_number and isinstance(wanted, int):
        return 0, (int(wanted) % (1 << 8 * key.GetByteSize())).to_bytes(key.GetByteSize(), "little")
    return 0, b""


def in_tree(value, wanted):
    tree, kind, before = layout(value)
    is_sorted = comparison(value).startswith("std::less<") and not isinstance(wanted, Variant)
    process, error = value.GetProcess(), lldb.SBError()
    nodes, seen = [cpp.find(tree, "_M_header").GetChildMemberWithName("_M_parent").GetValueAsUnsigned()], 0
    while nodes:
        node, seen = nodes.pop(), seen + 1
        if not node or error.Fail():
            continue
        if seen > 2 * ENTRIES:
            raise beyond(size(value))
        entry = value.CreateValueFromAddress("entry", node + before, kind)
        yield entry
        key, wanted_key = rank(key_of(value, entry, wanted)), rank(plain_key(wanted))
        if not is_sorted or wanted_key <= key:
            nodes.append(process.ReadPointerFromMemory(node + 16, error))
        if not is_sorted or wanted_key >= key:
            nodes.append(process.ReadPointerFromMemory(node + 24, error))


def rank(key):
    """What keys are sorted by."""
    return encoded(key) if isinstance(key, str) else key


def beyond(count):
    return Failed(f"the key is not among the first {ENTRIES:,} of {count:,} entries; the others have not been compared")


def key_of(value, entry, wanted):
    """What an entry's key is compared by; the name of a constant for an enum."""
    raw = entry.GetNonSyntheticValue()
    key = raw.GetChildMemberWithName("first") if is_a(value, cpp.MAPS) else raw
    found = key.GetValue() if isinstance(wanted, Variant) else string_of(key)
    found = needed(simple(key)) if found is None else found
    need(isinstance(found, str) == isinstance(plain_key(wanted), str))
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


def has(value, key):
    return any(True for _ in matching(value, key))


def count(value, key):
    return sum(1 for _ in matching(value, key))


def start_of(value):
    """The iterator to the first entry of a map or a set."""
    inside, kind, before = layout(value)
    if not size(value):
        return place_of(value, None)
    header = cpp.find(inside, "_M_header")
    first = cpp.first_hashed(inside) if header is None else cpp.find(header, "_M_left").GetValueAsUnsigned()
    return place_of(value, value.CreateValueFromAddress("entry", first + before, kind))


def place_of(value, entry):
    """The iterator to an entry of a map or a set; to the end, if there is no entry."""
    inside, _, before = layout(value)
    if entry is not None:
        return Position(entry.GetLoadAddress() - before, entry)
    header = cpp.find(inside, "_M_header")
    return Position(0 if header is None else header.GetLoadAddress(), None)


def size(value):
    """As the container has counted: not all of its items may be children."""
    counters = ("_M_element_count", "_M_node_count", "_M_size") if not is_a(value, cpp.INDEXED) else ()
    found = (cpp.find(value.GetNonSyntheticValue(), name, 3) for name in counters)
    counted = next((one for one in found if one is not None), None)
    return value.GetNumChildren() if counted is None else counted.GetValueAsUnsigned()
