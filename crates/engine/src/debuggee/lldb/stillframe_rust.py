"""Formats Rust values inside LLDB as `{:?}` does.

rustc ships formatters for LLDB (`lib/rustlib/etc` of the sysroot). They find the children of a value: the items of a
`Vec`, the fields of an enum's active variant. This module formats them as text, and adds children for maps that they do
not support.
"""

import decimal
import math
import re

import lldb
import lldb_lookup
import lldb_providers
import stillframe_rust_enums as enums
import stillframe_rust_objects as objects
import stillframe_rust_tables as tables
import stillframe_values as values
from stillframe_formats import ITEMS, LONGEST, NUMBERS_OF_C, Children, items, joined, quicken
from stillframe_names import without_hash

DEPTH = 6
TEXT = 1 << 20

LISTS = re.compile(r"^(alloc::([a-z_]+::)+)(Vec|VecDeque)<|^&(mut )?\[|^\[")
TEXTS = re.compile(r"^&(mut )?str$|^(alloc::([a-z_]+::)+)String$")
MAPS = re.compile(r"(^std::collections::([a-z_]+::)+HashMap|^alloc::([a-z_]+::)+BTreeMap)<")
SETS = re.compile(r"(^std::collections::([a-z_]+::)+HashSet|^alloc::([a-z_]+::)+BTreeSet)<")
COUNTED = re.compile(r"^(alloc::([a-z_]+::)+)(Rc|Arc)<")
CELLS = re.compile(r"^(core::([a-z_]+::)+)(Cell|RefCell|OnceCell)<")
GUARDS = re.compile(r"^(core::([a-z_]+::)+)(Ref|RefMut)<")
LOCKED = re.compile(r"^(std::sync|tokio::sync|lock_api)::([a-z_]+::)*(Owned)?(Mutex|RwLockRead|RwLockWrite)Guard<")
# The ends of channels, and threads and tasks: what they have is for the library.
OPAQUE = re.compile(
    r"^(std::sync::mpsc|tokio::sync::(mpsc|oneshot|broadcast|watch)|std::thread|tokio::runtime)::([a-z_]+::)*"
    r"((Unbounded|Sync)?Sender|(Unbounded)?Receiver|JoinHandle)<"
)
WEAK = re.compile(r"^alloc::(rc|sync)::Weak<")
LINKED = re.compile(r"^alloc::([a-z_]+::)+LinkedList<")
DYNAMIC = re.compile(r"^(&|&mut |\*const |\*mut |alloc::boxed::Box<)\(?dyn ")
# Types without a size that are text.
UNSIZED_TEXTS = {"str", "std::path::Path", "std::ffi::os_str::OsStr"}
LOCKS = re.compile(r"^(std::sync|tokio::sync|lock_api)::([a-z_]+::)*(Mutex|RwLock)<")
ONCES = re.compile(r"^std::sync::([a-z_]+::)*(OnceLock|LazyLock)<")
WRAPPERS = re.compile(r"^core::([a-z_]+::)+(UnsafeCell|ManuallyDrop|MaybeDangling|NonZero|NonZeroInner|Saturating)<|^alloc::([a-z_]+::)+BinaryHeap<|^std::path::PathBuf$|^core::num::niche_types::\w+|^core::sync::atomic::Atomic\w+")
BTREES = r"^alloc::([a-z_]+::)+BTree(Map|Set)<.+>$"
ITERATORS = re.compile(r"^core::slice::iter::Iter(Mut)?<|^alloc::vec::into_iter::IntoIter<|^core::str::iter::Chars$")
ADDRESSES = re.compile(r"^core::net::(ip_addr::(IpAddr|Ipv4Addr)|socket_addr::(SocketAddr|SocketAddrV4))$")
RANGES = re.compile(r"^core::ops::range::Range(Inclusive|From|To|ToInclusive)?<")
MOMENTS = re.compile(r"^std::time::(Instant|SystemTime)$")
# The units of durations, in nanoseconds.
SPANS = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")]
FIELD = re.compile(r"^(__)?\d+$")
NUMBERS = {**NUMBERS_OF_C, lldb.eBasicTypeUnsignedChar: "B", lldb.eBasicTypeSignedChar: "b"}
# What has a pointer that leads nowhere, as in no value that safe code can use.
INVALID = "<not initialized, or moved>"


def summary(value, _internal=None):
    """The summary of a value for LLDB; empty for values that LLDB formats, such as numbers."""
    try:
        kind = value.GetType().GetCanonicalType()
        is_shown = kind.GetTypeClass() in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)
        if is_shown and kind.GetBasicType() != lldb.eBasicTypeChar32:
            return ""
        return text(value, 0, LONGEST) or ""
    except Exception:  # An uninitialized value can contain anything.
        return ""


def text(value, depth, room):
    """A value as text of at most `room` characters."""
    kind = value.GetType().GetUnqualifiedType()
    klass = kind.GetTypeClass()
    if klass == lldb.eTypeClassBuiltin:
        return simple(value, kind)
    value.SetPreferSyntheticValue(True)
    name = kind.GetName() or ""
    if klass == lldb.eTypeClassTypedef:
        kind = kind.GetCanonicalType()
        klass = kind.GetTypeClass()
    if klass == lldb.eTypeClassBuiltin:
        return simple(value, kind)
    if klass == lldb.eTypeClassEnumeration:
        return (value.GetValue() or "").rsplit("::", 1)[-1]
    if klass in (lldb.eTypeClassPointer, lldb.eTypeClassReference):
        return pointed(value, kind, depth, room)
    if depth > DEPTH:
        return ".."
    if TEXTS.match(name):
        return quoted(value)
    if klass == lldb.eTypeClassArray and (value.GetTypeName() or "").startswith("const char["):
        return literal(value)
    if klass == lldb.eTypeClassArray or LISTS.match(name):
        first = value.GetChildAtIndex(0) if value.GetNumChildren() and klass != lldb.eTypeClassArray else None
        if first is not None and first.GetByteSize() and not is_readable(value, first.GetLoadAddress(), 1):
            return INVALID
        return "[" + items(value, lambda child: text(child, depth + 1, room), room, "…", NUMBERS) + "]"
    if MAPS.match(name) or SETS.match(name):
        if "::BTree" not in name and not tables.is_table(value):
            return INVALID
        return "{" + (ordered if "::BTree" in name else hashed)(value, depth + 1, room) + "}"
    if COUNTED.match(name) and "<dyn " in name:
        return objects.dynamic(value, name, depth, room)
    if WEAK.match(name):
        return "(Weak)"
    if COUNTED.match(name) and fat(value) is not None:
        return unsized(fat(value), depth, room)
    if LINKED.match(name):
        return linked(value, depth, room)
    if LOCKED.match(name):
        return text(guarded(value), depth, room)
    if name == "core::sync::atomic::AtomicBool":
        return "true" if inner(value).GetValueAsUnsigned() else "false"
    if name == "std::io::error::Error":
        return objects.io_error(value, depth, room)
    if name == "anyhow::Error":
        return objects.anyhow_error(value, depth, room)
    if name == "alloc::ffi::c_str::CString":
        return text_at(value, *row(fat(value.GetNonSyntheticValue().GetChildMemberWithName("inner")))[:2]).replace("\\0", "")
    if ITERATORS.match(name):
        return iterator(value, name, depth, room)
    if COUNTED.match(name) or GUARDS.match(name):
        held = value.GetChildAtIndex(0)
        is_there = is_readable(value, held.GetLoadAddress(), held.GetByteSize() or 1)
        return text(held, depth, room) if is_there else INVALID
    if CELLS.match(name):
        return f"{base(name)} {{ value: {text(inner(value.GetChildAtIndex(0)), depth + 1, room)} }}"
    if LOCKS.match(name):
        return f"{base(name)} {{ data: {text(inner(lock_content(value)), depth + 1, room)} }}"
    if ONCES.match(name):
        held = objects.once_content(value)
        return f"{base(name)}({'<uninit>' if held is None else text(held, depth + 1, room)})"
    if OPAQUE.match(name):
        return f"{base(name)} {{ .. }}"
    if WRAPPERS.match(name):
        return text(value.GetNonSyntheticValue().GetChildAtIndex(0), depth, room)
    if name == "core::time::Duration":
        return duration(value)
    if ADDRESSES.match(name) and (shown := objects.network_address(value)):
        return shown
    if MOMENTS.match(name):
        return moment(value)
    if DYNAMIC.match(name):
        return objects.dynamic(value, name, depth, room)
    if name.endswith("OsString"):
        return lldb_lookup.summary_lookup(value, {}) or None
    return structure(value, name, depth, room)


def simple(value, kind):
    basic = kind.GetBasicType()
    if basic in (lldb.eBasicTypeChar, lldb.eBasicTypeSignedChar):
        return str(value.GetValueAsSigned())
    if basic == lldb.eBasicTypeUnsignedChar:
        return str(value.GetValueAsUnsigned())
    if basic == lldb.eBasicTypeChar32:
        return "'" + escaped(chr(value.GetValueAsUnsigned()), "'") + "'"
    number = values.simple(value) if basic in values.FLOATS else None
    return value.GetValue() or "" if number is None else real(number)


def real(number):
    """A number with a fraction, as `{:?}` writes it: as few digits as tell it from others."""
    if not math.isfinite(number) or not number:
        return str(number).replace("nan", "NaN")
    written = (f"{number:.{digits}e}" for digits in range(17))
    mantissa, _, exponent = next(one for one in written if type(number)(float(one)) == number).partition("e")
    if not -5 < int(exponent) < 16:
        return f"{mantissa}e{int(exponent)}"
    shown = format(decimal.Decimal(f"{mantissa}e{exponent}"), "f")
    return shown if "." in shown else shown + ".0"


def pointed(value, kind, depth, room):
    pointee = kind.GetPointeeType()
    if not value.GetValueAsUnsigned():
        return "null"
    if pointee.GetTypeClass() == lldb.eTypeClassFunction:
        symbol = value.GetTarget().ResolveLoadAddress(value.GetValueAsUnsigned()).GetSymbol()
        return without_hash(symbol.GetName()) or "fn"
    target = value.GetNonSyntheticValue().Dereference()
    size = pointee.GetByteSize()
    if not target.IsValid() or not size or not is_readable(value, value.GetValueAsUnsigned(), size):
        return value.GetValue()
    return text(target, depth + 1, room)


def is_readable(value, address, size):
    error = lldb.SBError()
    value.GetProcess().ReadMemory(address + size - 1, 1, error)
    return error.Success()


def literal(value):
    """A string that an expression was evaluated to."""
    data = value.GetData()
    read = data.ReadRawData(lldb.SBError(), 0, data.GetByteSize())
    return '"' + escaped(read.removesuffix(b"\0").decode("utf-8", "replace"), '"') + '"'


def quoted(value):
    count = value.GetNumChildren()
    return text_at(value, value.GetChildAtIndex(0).GetLoadAddress() if count else 0, count)


def text_at(value, address, count):
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(address, min(count, TEXT), error) if count else b""
    if error.Fail():
        return INVALID
    more = "…" if count > TEXT else ""
    return '"' + escaped(read.decode("utf-8", "replace"), '"') + more + '"'


def escaped(text, quote):
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "\0": "\\0", quote: "\\" + quote}
    return "".join(known.get(letter) or (letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}") for letter in text)


def hashed(value, depth, room):
    is_set = SETS.match(value.GetType().GetUnqualifiedType().GetName() or "")
    entry = lambda pair: ": ".join(text(pair.GetChildAtIndex(at), depth, room) or "?" for at in (0, 1))
    return items(value, (lambda key: text(key, depth, room)) if is_set else entry, room, "…")


def ordered(value, depth, room):
    tree = BTreeChildren(value)
    tree.update()
    shown = lambda place: text(value.CreateValueFromAddress("entry", *place), depth, room) or "?"
    texts = (": ".join(map(shown, entry[:1] if tree.is_set else entry)) for entry in tree.found)
    return joined(texts, len(tree.found), room, "…")


def inner(value):
    """The content of a transparent wrapper."""
    while WRAPPERS.match(value.GetType().GetName() or ""):
        value = value.GetNonSyntheticValue().GetChildAtIndex(0)
    return value


def range_of(raw, name, depth, room):
    """`1..5`, `1..=5`, `1..`, `..5`."""
    start, end = raw.GetChildMemberWithName("start"), raw.GetChildMemberWithName("end")
    shown = [text(bound, depth + 1, room) or "" if bound.IsValid() else "" for bound in (start, end)]
    return ("..=" if base(name).endswith("Inclusive") else "..").join(shown)


def structure(value, name, depth, room):
    raw = value.GetNonSyntheticValue()
    if RANGES.match(name):
        return range_of(raw, name, depth, room)
    if raw.GetNumChildren() == 2 and fat(raw) is not None:
        return unsized(raw, depth, room)
    first = raw.GetType().GetFieldAtIndex(0).GetName() if raw.GetType().GetNumberOfFields() else ""
    head = base(name)
    if first == "$variants$":
        head = enums.variant_name(raw)
        if not head:
            return None
    elif name.startswith("("):
        head = ""
    count = value.GetNumChildren()
    children = [value.GetChildAtIndex(index) for index in range(min(count, ITEMS))]
    names = [child.GetName() or "" for child in children]
    if not children:
        return head or "()"
    parts, length = [], 0
    # An empty item of a tuple has no name.
    is_tuple = name.startswith("(") or all(not name or FIELD.match(name) for name in names)
    for child, field in zip(children, names):
        if length > room:
            parts.append("..")
            break
        shown = text(child, depth + 1, room) or "?"
        parts.append(shown if is_tuple else f"{field}: {shown}")
        length += len(parts[-1]) + 2
    if is_tuple:
        tail = "," if len(parts) == 1 and not head else ""
        return f"{head}({', '.join(parts)}{tail})"
    return f"{head} {{ {', '.join(parts)} }}"


def fat(value):
    """The pointer and the length of what has no size, behind a box or a counted pointer; None for another value."""
    raw = value.GetNonSyntheticValue()
    counted = raw.GetChildMemberWithName("ptr").GetNonSyntheticValue().GetChildMemberWithName("pointer")
    counted = counted.GetNonSyntheticValue()
    return next((one for one in (raw, counted) if one.GetChildMemberWithName("data_ptr").IsValid()), None)


def row(pointer):
    """Where what a fat pointer leads to begins, how many items it has, their type, and whether they are text."""
    data = pointer.GetChildMemberWithName("data_ptr")
    count, kind = pointer.GetChildMemberWithName("length"), data.GetType().GetPointeeType()
    address = data.GetValueAsUnsigned()
    # After the counters.
    for field in kind.fields if "Inner<" in (kind.GetName() or "") else ():
        if field.GetName() in ("value", "data"):
            address, kind = address + field.GetOffsetInBytes(), field.GetType()
    is_text = not UNSIZED_TEXTS.isdisjoint(re.split(r"[<>&*, ]", pointer.GetTypeName() or ""))
    return address, count.GetValueAsUnsigned(), kind, is_text


def unsized(pointer, depth, room):
    """A slice or string behind a box or another fat pointer."""
    address, count, kind, is_text = row(pointer)
    return text_at(pointer, address, count) if is_text else listed(pointer, address, count, kind, depth, room)


def listed(value, address, count, kind, depth, room):
    """Items that lie one behind the other."""
    size = kind.GetByteSize()
    if count and size and not is_readable(value, address, 1):
        return INVALID
    shown = (value.CreateValueFromAddress(f"[{index}]", address + index * size, kind) for index in range(count))
    return "[" + joined((text(item, depth + 1, room) for item in shown), count, room, "…") + "]"


def iterator(value, name, depth, room):
    """`Iter([1, 2])`: what is left of an iterator over a slice, a vector or a string."""
    raw = value.GetNonSyntheticValue()
    raw = raw.GetChildMemberWithName("iter").GetNonSyntheticValue() if base(name) == "Chars" else raw
    start = raw.GetChildMemberWithName("ptr").GetNonSyntheticValue().GetChildMemberWithName("pointer")
    ends = (raw.GetChildMemberWithName(end) for end in ("end_or_len", "end"))
    first, last = start.GetValueAsUnsigned(), next(end for end in ends if end.IsValid()).GetValueAsUnsigned()
    kind = start.GetType().GetPointeeType()
    # Of items without a size, the count is in place of the end.
    count = max(last - first, 0) // kind.GetByteSize() if kind.GetByteSize() else 0
    shown = text_at(value, first, count) if base(name) == "Chars" else listed(value, first, count, kind, depth, room)
    return f"{base(name)}({shown})"


def borrowed(value):
    """What a `Ref` or `RefMut` leads to; of what has no size, the pointer to it."""
    pointer = value.GetNonSyntheticValue().GetChildMemberWithName("value").GetNonSyntheticValue()
    pointer = pointer.GetChildMemberWithName("pointer").GetNonSyntheticValue()
    if not pointer.GetType().IsPointerType():
        return pointer.Clone("value")
    return value.CreateValueFromAddress("value", pointer.GetValueAsUnsigned(), pointer.GetType().GetPointeeType())


def guarded(value):
    """What the guard of a lock leads to."""
    raw = value.GetNonSyntheticValue()
    data = raw.GetChildMemberWithName("data")
    if data.IsValid():
        is_pointer = data.GetType().IsPointerType()
        return (data if is_pointer else data.GetNonSyntheticValue().GetChildMemberWithName("pointer")).Dereference()
    lock = next(one for one in map(raw.GetChildMemberWithName, ("lock", "mutex", "rwlock")) if one.IsValid())
    is_counted = COUNTED.match(lock.GetTypeName() or "")
    return inner(lock_content(lock.GetSyntheticValue().GetChildAtIndex(0) if is_counted else lock.Dereference()))


def lock_content(lock):
    """What a lock protects, which is `c` in those of Tokio."""
    raw = lock.GetNonSyntheticValue()
    return next(one for one in map(raw.GetChildMemberWithName, ("data", "c")) if one.IsValid())


def linked(value, depth, room):
    count = value.GetNonSyntheticValue().GetChildMemberWithName("len").GetValueAsUnsigned()
    return "[" + joined((text(element, depth + 1, room) for element in nodes(value)), count, room, "…") + "]"


def nodes(value):
    """The items of a linked list."""
    raw, error = value.GetNonSyntheticValue(), lldb.SBError()
    node = raw.GetChildMemberWithName("marker").GetType().GetTemplateArgumentType(0).GetPointeeType()
    link = raw.GetChildMemberWithName("head")
    for _ in range(raw.GetChildMemberWithName("len").GetValueAsUnsigned()):
        at = raw.GetProcess().ReadPointerFromMemory(link.GetLoadAddress(), error)
        if error.Fail():
            break
        held = raw.CreateValueFromAddress("node", at, node).GetNonSyntheticValue()
        yield held.GetChildMemberWithName("element")
        link = held.GetChildMemberWithName("next")


def duration(value):
    """`1.5s`, `20ms` or `1.05µs`."""
    raw = value.GetNonSyntheticValue()
    total = raw.GetChildMemberWithName("secs").GetValueAsUnsigned() * 1_000_000_000 + nanoseconds(raw)
    unit, name = next((one for one in SPANS if total >= one[0]), SPANS[-1])
    fraction = f"{total % unit:0{len(str(unit)) - 1}d}".rstrip("0") if total % unit else ""
    return f"{total // unit}{'.' if fraction else ''}{fraction}{name}"


def nanoseconds(raw, name="nanos"):
    nanos = inner(raw.GetChildMemberWithName(name))
    while nanos.GetNumChildren():
        nanos = nanos.GetChildAtIndex(0)
    return nanos.GetValueAsUnsigned()


def moment(value):
    """What `{:?}` makes of an `Instant` or a `SystemTime`: the time of the system in it."""
    held = value.GetNonSyntheticValue()
    while not held.GetChildMemberWithName("tv_sec").IsValid() and held.GetNumChildren():
        held = held.GetChildAtIndex(0).GetNonSyntheticValue()
    seconds = held.GetChildMemberWithName("tv_sec").GetValue()
    return f"{base(value.GetTypeName() or '')} {{ tv_sec: {seconds}, tv_nsec: {nanoseconds(held, 'tv_nsec')} }}"


def base(name):
    """`Vec` for `alloc::vec::Vec<u8>`."""
    return re.sub(r"<.*", "", name).rsplit("::", 1)[-1] if not name.startswith("{") else name


def short_type(name):
    return re.sub(r"\b(?:\w+::)+(?=\w)", "", name)


def decoded(symbol):
    return symbol.replace("$LT$", "<").replace("$GT$", ">").replace("$u20$", " ").replace("..", "::")


class BTreeChildren(Children):
    """The entries of a `BTreeMap`, and the items of a `BTreeSet`."""

    MOST = 1000

    def read(self, _raw):
        root = self.root()
        if root is not None:
            self.walk(*root)

    def root(self):
        """The address of the first node, and its height; None for an empty tree."""
        outer = self.value.GetNonSyntheticValue()
        self.is_set = SETS.match(outer.GetType().GetName() or "") is not None
        tree = outer.GetChildMemberWithName("map") if self.is_set else outer
        if not tree.GetChildMemberWithName("length").GetValueAsUnsigned():
            return None
        reference = tree.GetChildMemberWithName("root").GetSyntheticValue().GetChildAtIndex(0)
        reference = reference.GetNonSyntheticValue()
        node = reference.GetChildMemberWithName("node").GetNonSyntheticValue().GetChildMemberWithName("pointer")
        self.leaf = node.GetType().GetPointeeType()
        self.key = self.leaf.GetTemplateArgumentType(0)
        self.mapped = self.leaf.GetTemplateArgumentType(1)
        return node.GetValueAsUnsigned(), reference.GetChildMemberWithName("height").GetValueAsUnsigned()

    def node(self, address):
        """The entries of a node, and where the addresses of its children are."""
        node = self.value.CreateValueFromAddress("node", address, self.leaf).GetNonSyntheticValue()
        count = node.GetChildMemberWithName("len").GetValueAsUnsigned()
        keys = node.GetChildMemberWithName("keys").GetLoadAddress()
        values = node.GetChildMemberWithName("vals").GetLoadAddress()
        # An inner node is a leaf followed by the addresses of its children.
        edges = address + (self.leaf.GetByteSize() + 7) // 8 * 8
        entries = []
        for index in range(count):
            key = (keys + index * self.key.GetByteSize(), self.key)
            entries.append((key, (values + index * self.mapped.GetByteSize(), self.mapped)))
        return entries, edges

    def child(self, edges, index):
        return self.value.GetProcess().ReadPointerFromMemory(edges + 8 * index, lldb.SBError())

    def walk(self, address, height):
        entries, edges = self.node(address)
        for index in range(len(entries) + 1):
            if len(self.found) >= self.MOST:
                return
            if height:
                self.walk(self.child(edges, index), height - 1)
            if index < len(entries):
                self.found.append(entries[index])

    def get_child_at_index(self, index):
        (key, key_type), (mapped, mapped_type) = self.found[index]
        if self.is_set:
            return self.value.CreateValueFromAddress(f"[{index}]", key, key_type)
        shown = self.value.CreateValueFromAddress("key", key, key_type)
        name = text(shown, 1, LONGEST) or f"{index}"
        return self.value.CreateValueFromAddress(f"[{name}]", mapped, mapped_type)


def __lldb_init_module(debugger, _internal):
    provider = getattr(lldb_providers, "ClangEncodedEnumProvider", None)
    if provider is not None:
        provider._getCurrentVariantIndex = lambda self, _variants: enums.variant_index(self.valobj)
    provider = getattr(lldb_providers, "StdHashMapSyntheticProvider", None)
    if provider is not None:
        provider.update = tables.update
    provider = getattr(lldb_providers, "StdRefSyntheticProvider", None)
    if provider is not None:
        # It takes the `NonNull` in a guard for a pointer.
        child_of = provider.get_child_at_index
        is_guard = lambda value: GUARDS.match(value.GetType().GetUnqualifiedType().GetName() or "")
        provider.get_child_at_index = lambda self, index: (
            borrowed(self.valobj) if index == 0 and is_guard(self.valobj) else child_of(self, index)
        )
    for command in [
        f'type synthetic add -l stillframe_rust.BTreeChildren -x "{BTREES}" --category stillframe',
        # Values that LLDB formats, such as numbers, stay as they are.
        'type summary add -F stillframe_rust.summary -e -x "." --category stillframe',
        "type format add -f unsigned -C no --category stillframe \"unsigned char\"",
        "type format add -f decimal -C no --category stillframe \"signed char\" char",
        "type category enable stillframe",
    ]:
        debugger.HandleCommand(command)
    quicken(debugger, summary)
