"""Strings of C and C++ in expressions."""

import itertools

import lldb
import stillframe_cpp as cpp
from stillframe_memory import decoded, dereferenced, encoded
from stillframe_values import Code, Failed, Integer, checked, kept, need, unquoted

# How many units of a string are read.
LONGEST = 1 << 24
NOWHERE = Integer(-1, 64, False)
# What libstdc++ keeps in a string object itself, with the zero at the end, and the size of such an object.
INSIDE, SIZE = 16, 32
# The strings that were made in the program, by its process and their text.
made = {}


def is_a(value, *known):
    kind = value.GetType()
    names = {kind.GetUnqualifiedType().GetName() or "", kind.GetCanonicalType().GetUnqualifiedType().GetName() or ""}
    return any(pattern.match(name) for pattern in known for name in names)


def referred(value):
    if value.GetType().GetCanonicalType().IsReferenceType():
        value = dereferenced(value)
    value.SetPreferSyntheticValue(True)
    return cpp.json_content(value) if is_a(value, cpp.JSONS) else value


def string_of(value):
    found = units(value)
    return None if found is None else decoded(*found)


def literal(text):
    """A string in quotes, whose numbers are bytes."""
    return decoded(encoded(unquoted(text, lambda number: chr(number if number < 0x80 else 0xdc00 + number))))


def objects(frame, arguments, spellings):
    """Other spellings of the arguments of a call, in which texts are objects in place of literals."""
    texts = [at for at, value in enumerate(arguments) if type(value) is str]
    for chosen in itertools.product((False, True), repeat=len(texts)) if len(texts) < 4 else ():
        if any(chosen):
            changed = {at: string_object(frame, arguments[at]) for at, is_chosen in zip(texts, chosen) if is_chosen}
            yield [changed.get(at, spelling) for at, spelling in enumerate(spellings)]


def string_object(frame, text):
    """A `std::string` of libstdc++ for a function that takes a reference to one: LLDB cannot make it. The function may
    keep that reference."""
    process = frame.GetThread().GetProcess()
    kind = process.GetTarget().FindFirstType("std::string").GetCanonicalType()
    fields = {field.GetName() for field in kind.fields}
    need("_M_string_length" in fields and kind.GetByteSize() == SIZE and process.GetAddressByteSize() == 8)
    key = process.GetUniqueID(), text
    if key not in made:
        made[key] = allocated(process, encoded(text))
    one = process.GetTarget().CreateValueFromAddress("text", process.GetTarget().ResolveLoadAddress(made[key]), kind)
    return Code(f"(*(const __typeof__({kept(one)})*){made[key]:#x})")


def allocated(process, content):
    """The address of a string object in new memory: a pointer to the text, its length, and either a short text or how
    long one may become where it is."""
    error, is_short = lldb.SBError(), len(content) < INSIDE
    address = process.AllocateMemory(SIZE + len(content) + 1, lldb.ePermissionsReadable | lldb.ePermissionsWritable, error)
    if error.Success():
        length = len(content).to_bytes(8, "little")
        start = (address + (SIZE - INSIDE if is_short else SIZE)).to_bytes(8, "little")
        inside = (content if is_short else length).ljust(INSIDE, b"\0")
        process.WriteMemory(address, start + length + inside + (b"" if is_short else content + b"\0"), error)
    need(error.Success())
    return address


def ordered(left, right, end=None):
    """Which of two texts comes first, by their first `end` bytes."""
    left, right = encoded(left)[:end], encoded(right)[:end]
    return Integer((left > right) - (left < right))


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


def characters(value, start=0, count=None):
    read, size = units(value)
    if start > len(read) // size:
        raise Failed(f"position {start} is out of range: the length is {len(read) // size}")
    end = None if count is None else (start + count) * size
    return decoded(read[start * size : end], size)


def found_in(value, wanted, start=0):
    """Where a string or a character is."""
    read, size = units(value)
    if not isinstance(wanted, str):
        wanted = (int(wanted) % (1 << 8 * size)).to_bytes(size, "little")
    else:
        wanted = encoded(wanted, size)
    at = read.find(wanted, start * size)
    while at > 0 and at % size:
        at = read.find(wanted, at + 1)
    return at // size if at >= 0 else NOWHERE


def is_at(end, value, part):
    """Whether a part of a string is at the end that a method of bytes checks."""
    read, size = units(value)
    return end(read, encoded(part, size))
