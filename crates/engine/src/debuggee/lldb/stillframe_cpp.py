"""Formats C and C++ values inside LLDB as gdb does: `{x = 1, y = 2}`.

LLDB finds the children of most containers of libstdc++ and libc++. This module formats them as text, and adds children for
other containers.
"""

import datetime
import re
import struct

import lldb
import stillframe_throws as throws
from stillframe_cpp_unions import is_open, sized
from stillframe_formats import ITEMS, LONGEST, NUMBERS_OF_C, items, quicken
from stillframe_memory import CODECS, c_string, decoded, dereferenced

DEPTH = 5
TEXT = 1 << 16

STD = r"^(const )?std::(__cxx11::|__1::|__debug::)?"
TEXTS = re.compile(STD + r"(basic_string<|basic_string_view<|(w|u8|u16|u32)?string(_view)?$)")
LISTS = re.compile(STD + r"(vector|list|forward_list|deque|set|multiset|unordered_set|unordered_multiset|initializer_list|array|span|valarray)<")
INDEXED = re.compile(STD + r"(vector|deque|array|span|valarray)<")
SETS = re.compile(STD + r"(set|multiset|unordered_set|unordered_multiset)<")
MAPS = re.compile(STD + r"(map|multimap|unordered_map|unordered_multimap)<")
POINTERS = re.compile(STD + r"(shared_ptr|weak_ptr|unique_ptr)<")
OPTIONALS = re.compile(STD + r"optional<")
VARIANTS = re.compile(STD + r"variant<")
TUPLES = re.compile(STD + r"(tuple|pair)<")
QUEUES = re.compile(STD + r"(stack|queue|priority_queue)<")
PATHS = re.compile(r"^(const )?std::filesystem::(__cxx11::)?path$")
DURATIONS = re.compile(r"^(const )?std::chrono::duration<[^<]*, std::ratio<(\d+), (\d+)> ?>$")
MOMENTS = re.compile(r"^(const )?std::chrono::time_point<std::chrono::(_V2::)?system_clock, ")
JSONS = re.compile(r"^(const )?nlohmann::(\w+::)*(basic_json<.*>|(ordered_)?json)$")
# The members of the union in a value of nlohmann's JSON, by its kind.
JSON_MEMBERS = {"object": "object", "array": "array", "string": "string", "binary": "binary", "boolean": "boolean"}
UNITS = {("1", "1000000000"): "ns", ("1", "1000000"): "us", ("1", "1000"): "ms", ("1", "1"): "s", ("60", "1"): "min", ("3600", "1"): "h", ("86400", "1"): "d", ("604800", "1"): "w"}
BITS = re.compile(STD + r"bitset<(\d+)u?l*>$")
COMPLEX = re.compile(STD + r"complex<(float|double)>")
EXPECTED = re.compile(STD + r"expected<.*>$")
REFERENCES = re.compile(STD + r"reference_wrapper<")
ATOMICS = re.compile(STD + r"atomic(<|_)")
ITERATORS = re.compile(
    r"^(const )?(std::(__cxx11::|__detail::)?(_Rb_tree(_const)?_iterator|_List(_const)?_iterator|_Node(_const)?_iterator)"
    r"|__gnu_cxx::__normal_iterator)<"
)
# The only member of an iterator, a pointer to a node, and the offset of the item in that node. Before the item, a node of a
# tree has a color and three pointers, one of a list two pointers, and one of a hash table one.
NODES = {"_Rb_tree": ("_M_node", 32), "_List": ("_M_node", 16), "_Node": ("_M_cur", 8)}
FUNCTIONS = re.compile(STD + r"function<")
LOCKS = re.compile(STD + r"(recursive_|timed_)?mutex$|^pthread_mutex_t$")
# Types whose items are contiguous.
ROWS = re.compile(STD + r"(vector|array|span|valarray|initializer_list)<")
PLAIN = (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)


def summary(value, _internal=None):
    """The summary of a value for LLDB; empty for values that LLDB formats, such as numbers."""
    try:
        kind = value.GetType().GetCanonicalType()
        klass = kind.GetTypeClass()
        if klass in PLAIN:
            return ""
        if klass == lldb.eTypeClassPointer:
            return behind(value, kind)
        return "<destroyed>" if is_destroyed(value, kind) else text(value, 0, LONGEST) or ""
    except Exception:  # An uninitialized value can contain anything.
        return ""


def is_destroyed(value, kind):
    """Whether an exception that leaves the function of a variable has run its destructor: the clean-up that the function
    has for that ends with a call of the unwinder."""
    frame = value.GetFrame()
    is_there = value.GetValueType() == lldb.eValueTypeVariableLocal and frame.GetFrameID() > 0
    inner = frame.GetThread().GetFrameAtIndex(frame.GetFrameID() - 1) if is_there else frame
    return is_there and (inner.GetFunctionName() or "") == "_Unwind_Resume" and has_destructor(kind, DEPTH)


def has_destructor(kind, depth):
    kind = (kind.GetArrayElementType() if kind.IsArrayType() else kind).GetCanonicalType()
    methods = (kind.GetMemberFunctionAtIndex(at).GetName() or "" for at in range(kind.GetNumberOfMemberFunctions()))
    if any(name.startswith("~") for name in methods):
        return True
    return depth > 0 and any(has_destructor(one.GetType(), depth - 1) for one in (*kind.fields, *kind.bases))


def text(value, depth, room):
    """A value as text of at most `room` characters."""
    kind = value.GetType()
    if kind.GetTypeClass() in PLAIN:
        return value.GetValue() or ""
    value.SetPreferSyntheticValue(True)
    kind = kind.GetUnqualifiedType()
    name = kind.GetName() or ""
    kind = kind.GetCanonicalType()
    klass = kind.GetTypeClass()
    if klass == lldb.eTypeClassPointer:
        shown = behind(value, kind, follows=False)
        return shown if shown.startswith('"') else " ".join(filter(None, [address(value), shown]))
    if klass == lldb.eTypeClassReference:
        found = dereferenced(value)
        if found.IsValid():
            return text(found, depth, room)
        # LLDB does not read a class that it only knows by name.
        message = throws.what(value)
        return value.GetValue() if message is None else f"{{what = {quoted(message)}}}"
    if klass in PLAIN:
        return value.GetValue() or ""
    if depth > DEPTH:
        return "{...}"
    if klass == lldb.eTypeClassArray:
        return array(value, depth, room)
    for known in (name, kind.GetName() or ""):
        shown = library(value, known, depth, room)
        if shown is not None:
            return shown
    return structure(value, depth, room)


def library(value, name, depth, room):
    """A value of a standard library type; None for another type."""
    if JSONS.match(name):
        return text(json_content(value), depth, room)
    if "std::" not in name and "pthread" not in name:
        return None
    raw = value.GetNonSyntheticValue()
    if TEXTS.match(name):
        return string(value)
    if LISTS.match(name) or TUPLES.match(name):
        return listed(value, depth, room, ROWS.match(name))
    if MAPS.match(name):
        return "{" + items(value, lambda child: entry(child, depth + 1, room), room, "...") + "}"
    if POINTERS.match(name):
        return owned(value, name, depth, room)
    if OPTIONALS.match(name):
        shown = text(optional_content(value), depth + 1, room) if value.GetNumChildren() else None
        # One that has an empty one is not empty.
        return {None: "nullopt", "nullopt": "{nullopt}"}.get(shown, shown)
    if VARIANTS.match(name):
        return "valueless" if index_of(value) < 0 else text(value.GetChildAtIndex(0), depth + 1, room)
    if name == "std::monostate":
        return "monostate"
    if ATOMICS.match(name):
        held = loaded(raw)
        is_shared = "shared_ptr<" in name and held.GetValueAsUnsigned()
        return text(pointed(held) if is_shared else held, depth + 1, room)
    if name == "std::any":
        return any_content(raw, depth, room)
    if BITS.match(name):
        words = enumerate(raw.GetData().uint64)
        return f"{sum(word << 64 * at for at, word in words):0{BITS.match(name).group(3)}b}"
    if name in ("std::error_code", "std::error_condition"):
        return raw.GetChildMemberWithName("_M_value").GetValue()
    if name == "std::chrono::year_month_day":
        year, month, day = (innermost(raw.GetChildMemberWithName(f"_M_{part}")) for part in "ymd")
        return f"{year.GetValueAsSigned():04}-{month.GetValueAsUnsigned():02}-{day.GetValueAsUnsigned():02}"
    if LOCKS.match(name):
        owner = find(raw, "__owner")
        if owner is None:
            return None
        return f"locked by thread {owner.GetValueAsUnsigned()}" if owner.GetValueAsUnsigned() else "unlocked"
    if FUNCTIONS.match(name):
        return "function" if raw.GetChildMemberWithName("_M_invoker").GetValueAsUnsigned() else "empty function"
    if PATHS.match(name):
        return string(raw.GetChildMemberWithName("_M_pathname"))
    if COMPLEX.match(name):
        return complex_number(raw)
    if EXPECTED.match(name):
        content = raw.GetChildMemberWithName("_M_val" if has_value(raw) else "_M_unex")
        shown = text(content, depth + 1, room)
        return shown if has_value(raw) else f"unexpected({shown})"
    if ITERATORS.match(name) and "__normal_" not in name and "_List_" not in name:
        found = at_iterator(value)
        return "end" if found is None else text(found, depth + 1, room)
    if REFERENCES.match(name):
        return text(pointed(raw.GetChildMemberWithName("_M_data")), depth + 1, room)
    if QUEUES.match(name):
        return text(raw.GetChildMemberWithName("c"), depth, room)
    if DURATIONS.match(name):
        unit = UNITS.get(DURATIONS.match(name).groups()[1:])
        return f"{raw.GetChildMemberWithName('__r').GetValue()}{unit}" if unit else None
    if MOMENTS.match(name):
        return moment(raw.GetChildMemberWithName("__d"))
    return None


def optional_content(value):
    """What an optional has, which is not empty."""
    # In the result of an expression, LLDB finds the empty part of the union with the value.
    return find(value.GetNonSyntheticValue(), "_M_value", 6) or value.GetChildAtIndex(0)


def iterator_pointer(value):
    """The pointer that an iterator of a container is."""
    kind = value.GetType().GetCanonicalType().GetName() or ""
    names = [name for known, (name, _) in NODES.items() if known in kind.split("<")[0]]
    return value.GetNonSyntheticValue().GetChildMemberWithName(names[0] if names else "_M_current")


def at_iterator(value):
    """The item that an iterator of a container leads to; None at the end of a map or a set."""
    kind, pointer = value.GetType().GetCanonicalType(), iterator_pointer(value)
    name, at, process = (kind.GetName() or "").split("<")[0], pointer.GetValueAsUnsigned(), value.GetProcess()
    if "__normal" in name:
        return pointer.Dereference()
    if "_Rb_tree" in name:
        error = lldb.SBError()
        parent = process.ReadPointerFromMemory(at + 8, error)
        above = process.ReadPointerFromMemory(parent + 8, error) if parent else at
        # Of all nodes, only the root is below one that is below it, and black.
        if above == at and not process.ReadUnsignedFromMemory(at, 4, error):
            return None
    item = kind.GetTemplateArgumentType(0)
    if not item.IsValid():
        # Of a type that is only declared, LLDB knows the name.
        item = value.GetTarget().FindFirstType((kind.GetName() or "").partition("<")[2].rpartition(">")[0].strip())
    behind = next(size for known, (_, size) in NODES.items() if known in name)
    return value.CreateValueFromAddress("item", at + aligned(behind, item), item) if at else None


def aligned(behind, kind):
    """Where in a node a value is that comes behind something."""
    align = max(kind.GetByteAlign(), 1)
    return -(-behind // align) * align


def first_hashed(table):
    """The address of the first node of a hash table, each of which has a pointer before its value."""
    return find(table, "_M_before_begin").GetChildMemberWithName("_M_nxt").GetValueAsUnsigned()


def complex_number(raw):
    """`{1, -2}`."""
    parts = complex_parts(raw)
    return None if parts is None else "{" + ", ".join(f"{one:g}" for one in parts) + "}"


def complex_parts(raw):
    error = lldb.SBError()
    read = raw.GetProcess().ReadMemory(raw.GetLoadAddress(), raw.GetByteSize(), error)
    return None if error.Fail() else struct.unpack("<ff" if raw.GetByteSize() == 8 else "<dd", read)


def has_value(raw):
    return raw.GetChildMemberWithName("_M_has_value").GetValueAsUnsigned() != 0


def json_content(value):
    """What a value of nlohmann's JSON has; its kind if that is all."""
    raw = value.GetNonSyntheticValue()
    data = raw.GetChildMemberWithName("m_data")
    data = data if data.IsValid() else raw
    kind = data.GetChildMemberWithName("m_type")
    name = kind.GetValue() or ""
    member = JSON_MEMBERS.get(name, name if name.startswith("number_") else None)
    if member is None:
        return kind
    content = data.GetChildMemberWithName("m_value").GetChildMemberWithName(member)
    content = content.Dereference() if content.GetType().IsPointerType() else content
    content.SetPreferSyntheticValue(True)
    return content


def moment(since):
    """A time of the system's clock, from the duration since 1970."""
    unit = DURATIONS.match(since.GetType().GetCanonicalType().GetName() or "")
    if unit is None:
        return None
    seconds = since.GetChildMemberWithName("__r").GetValueAsSigned() * int(unit.group(2)) / int(unit.group(3))
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat()


def index_of(value):
    """Which alternative a variant has; below 0 for none."""
    index = find(value.GetNonSyntheticValue(), "_M_index")
    number = index.GetValueAsUnsigned()
    return -1 if number == (1 << 8 * index.GetByteSize()) - 1 else number


def find(value, name, depth=4):
    """A field anywhere inside a value."""
    found = value.GetChildMemberWithName(name)
    if found.IsValid():
        return found
    if depth:
        for child in value.children:
            found = find(child.GetNonSyntheticValue(), name, depth - 1)
            if found is not None:
                return found
    return None


def innermost(value):
    """The single number or pointer that a value wraps."""
    while value.GetNumChildren() and not value.GetValue():
        value = value.GetChildAtIndex(value.GetNumChildren() - 1).GetNonSyntheticValue()
    return value


def loaded(raw):
    """What an atomic has."""
    held = next((one for one in (find(raw, "_M_i", 1), find(raw, "_M_ptr", 2)) if one is not None), None)
    return innermost(raw) if held is None else held


def any_content(raw, depth, room):
    """What a `std::any` has, or only its type: the function that manages it has that in its name."""
    manager = raw.GetTarget().ResolveLoadAddress(raw.GetChildMemberWithName("_M_manager").GetValueAsUnsigned())
    found = re.search(r"_Manager_(in|ex)ternal<(.*?) ?>::_S_manage", manager.GetSymbol().GetName() or "")
    if found is None:
        return "empty" if not raw.GetChildMemberWithName("_M_manager").GetValueAsUnsigned() else None
    storage = raw.GetChildMemberWithName("_M_storage").GetChildMemberWithName("_M_ptr")
    at = storage.GetLoadAddress() if found.group(1) == "in" else storage.GetValueAsUnsigned()
    kind = raw.GetTarget().FindFirstType(found.group(2).replace(">>", "> >"))
    held = raw.CreateValueFromAddress("any", at, kind) if kind.IsValid() else None
    return f"any {found.group(2)}" if held is None else text(held, depth + 1, room)


def address(value):
    return "nullptr" if not value.GetValueAsUnsigned() else value.GetValue() or ""


def behind(value, kind, follows=True):
    """The target of a pointer: a string, a function, or a structure if it `follows`."""
    pointee = kind.GetPointeeType().GetUnqualifiedType().GetCanonicalType()
    at = value.GetValueAsUnsigned()
    if not at:
        return ""
    klass = pointee.GetTypeClass()
    if is_character(pointee):
        read = c_string(value.GetTarget(), at)
        return quoted(read) if read is not None else ""
    if klass == lldb.eTypeClassFunction:
        return value.GetTarget().ResolveLoadAddress(at).GetSymbol().GetName() or ""
    if follows and klass in (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion):
        target = pointed(value.GetNonSyntheticValue())
        # A dangling pointer is shown as an address.
        if target.IsValid() and target.GetError().Success() and value.GetProcess().ReadMemory(at, 1, lldb.SBError()):
            return text(target, 1, LONGEST) or ""
    return ""


def pointed(pointer):
    """What a pointer points to, with the type that it was made with."""
    found = dereferenced(pointer.GetDynamicValue(lldb.eDynamicDontRunTarget))
    if not found.GetType().IsPolymorphicClass():
        return found
    # LLDB does not find types of anonymous namespaces.
    process, target, error = pointer.GetProcess(), pointer.GetTarget(), lldb.SBError()
    table = process.ReadPointerFromMemory(pointer.GetValueAsUnsigned(), error)
    name = target.ResolveLoadAddress(table).GetSymbol().GetName() or "" if error.Success() else ""
    name = name.removeprefix("vtable for ")
    if "(anonymous namespace)::" not in name or name == found.GetTypeName():
        return found
    kind = next((kind for kind in target.FindTypes(name.rsplit("::", 1)[-1]) if kind.GetName() == name), None)
    top = int.from_bytes(process.ReadMemory(table - 16, 8, error) or b"", "little", signed=True)
    if kind is None or error.Fail():
        return found
    return pointer.CreateValueFromAddress(pointer.GetName(), pointer.GetValueAsUnsigned() + top, kind)


def quoted(read):
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
    known.update({letter: f"\\x{ord(letter) - 0xdc00:02x}" for letter in read if "\udc80" <= letter <= "\udcff"})
    shown = (known.get(letter) or (letter if letter.isprintable() else f"\\x{ord(letter):02x}") for letter in read)
    return '"' + "".join(shown) + '"'


def string(value):
    read = string_of(value)
    return None if read is None else quoted(read) + ("..." if extent(value)[1] > TEXT else "")


def string_of(value):
    """The text of a string of the standard library, at most `TEXT` units of it."""
    start, count = extent(value)
    if not count:
        return "" if count == 0 else None
    size = start.GetType().GetPointeeType().GetByteSize()
    read = value.GetProcess().ReadMemory(start.GetValueAsUnsigned(), min(count, TEXT) * size, lldb.SBError())
    return None if read is None else decoded(read) if size == 1 else read.decode(CODECS[size], "replace")


def extent(value):
    """Where a string begins, and its length; None where it cannot be read."""
    raw = value.GetNonSyntheticValue()
    start, count = find(raw, "_M_p", 1), raw.GetChildMemberWithName("_M_string_length")
    if start is None:
        start, count = raw.GetChildMemberWithName("_M_str"), raw.GetChildMemberWithName("_M_len")
    return (start, count.GetValueAsUnsigned()) if start.IsValid() and count.IsValid() else (start, None)


def array(value, depth, room):
    value = sized(value)
    kind = value.GetType().GetCanonicalType()
    item = kind.GetArrayElementType().GetCanonicalType().GetUnqualifiedType()
    if is_open(value):
        read = c_string(value.GetTarget(), value.GetLoadAddress()) if is_character(item) else None
        return "{...}" if read is None else quoted(read)
    if is_character(item):
        read = value.GetData().ReadRawData(lldb.SBError(), 0, min(kind.GetByteSize(), TEXT))
        if read is not None:
            return quoted(decoded(read.split(b"\0", 1)[0]))
    return listed(value, depth, room, is_row=True)


def is_character(kind):
    """Whether texts are made of a type. LLDB has one number for `char` and for `signed char`, such as `int8_t`."""
    return kind.IsValid() and kind.GetCanonicalType().GetUnqualifiedType().GetName() == "char"


def listed(value, depth, room, is_row):
    """`{1, 2}`; a row has its items one behind the other."""
    shown = items(value, lambda child: text(child, depth + 1, room), room, "...", NUMBERS_OF_C if is_row else None)
    return "{" + shown + "}"


def entry(pair, depth, room):
    raw = pair.GetNonSyntheticValue()
    key, mapped = raw.GetChildMemberWithName("first"), raw.GetChildMemberWithName("second")
    return f"[{text(key, depth, room)}] = {text(mapped, depth, room)}"


def owned(value, name, depth, room):
    raw = value.GetNonSyntheticValue()
    pointer = raw.GetChildMemberWithName("_M_ptr")
    if not pointer.IsValid():
        pointer = value.GetChildAtIndex(0).GetNonSyntheticValue()
    if not pointer.GetValueAsUnsigned():
        return "nullptr"
    if "weak_ptr" in name:
        count = find(raw, "_M_use_count")
        if count is not None and not count.GetValueAsUnsigned():
            return "expired"
    if "[]" in name.split(",")[0]:
        # The first item would look like the whole.
        return address(pointer)
    target = pointed(pointer)
    return text(target, depth + 1, room) if target.IsValid() and target.GetType().GetByteSize() else address(pointer)


def structure(value, depth, room):
    fields = list(fields_of(value))
    message = throws.what(value)
    if message is None and not fields and value.GetNumChildren() == 0:
        return "{}"
    parts, length = [] if message is None else [f"what = {quoted(message)}"], 0
    for child in fields[:ITEMS]:
        if length > room:
            parts.append("...")
            break
        shown = text(child, depth + 1, room) or "?"
        parts.append(f"{child.GetName()} = {shown}" if child.GetName() else shown)
        length += len(parts[-1]) + 2
    return "{" + ", ".join(parts) + "}"


def fields_of(value, seen=None):
    """The fields of a structure, including those of its base classes. A virtual one is there once."""
    seen = set() if seen is None else seen
    raw = value.GetNonSyntheticValue()
    bases = raw.GetType().GetNumberOfDirectBaseClasses()
    for index in range(raw.GetNumChildren()):
        child = raw.GetChildAtIndex(index)
        name = child.GetName() or ""
        if index < bases and not name.startswith("_M_") and child.GetType().GetNumberOfFields() + bases:
            is_base = name == child.GetTypeName() or name == (child.GetType().GetUnqualifiedType().GetName() or "")
            if is_base:
                place = child.GetLoadAddress(), child.GetTypeName()
                if place not in seen:
                    seen.add(place)
                    yield from fields_of(child, seen)
                continue
        if not name.startswith("_vptr"):
            yield sized(child, raw)


def __lldb_init_module(debugger, _internal):
    # Values that LLDB formats, such as numbers, stay as they are.
    debugger.HandleCommand('type summary add -F stillframe_cpp.summary -e -x "." --category stillframe')
    debugger.HandleCommand("type category enable stillframe")
    quicken(debugger, summary)
