"""What expressions come to in `stillframe_expressions`, and how that becomes a value or an expression of LLDB."""

import collections
import functools
import math
import operator
import re
import struct

import lldb

COMPUTED = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}
BASIC = {
    (8, True): lldb.eBasicTypeChar, (8, False): lldb.eBasicTypeUnsignedChar, (16, True): lldb.eBasicTypeShort,
    (16, False): lldb.eBasicTypeUnsignedShort, (32, True): lldb.eBasicTypeInt, (32, False): lldb.eBasicTypeUnsignedInt,
    (64, True): lldb.eBasicTypeLong, (64, False): lldb.eBasicTypeUnsignedLong, (128, True): lldb.eBasicTypeInt128,
    (128, False): lldb.eBasicTypeUnsignedInt128,
}
# The last values that were not read from the program: LLDB does not keep their memory.
constants = collections.deque(maxlen=10_000)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
# After the type of one is its width.
BIT_FIELD = re.compile(r"[^:]:\d+$")
FLOATS = (lldb.eBasicTypeFloat, lldb.eBasicTypeDouble)


class Unknown(Exception):
    """LLDB has to evaluate it."""


class Failed(Exception):
    """The expression has no value."""


def need(condition):
    """LLDB has to evaluate an expression for which this is not so."""
    if not condition:
        raise Unknown


def needed(found):
    """What was found; LLDB has to evaluate an expression for which nothing was."""
    need(found is not None)
    return found


class Integer(int):
    """A whole number of a type, wrapped at its width. One of no type yet, as in Rust's `1`, is an `int`."""

    def __new__(cls, value, bits=32, is_signed=True):
        value &= (1 << bits) - 1
        one = super().__new__(cls, value - (1 << bits) if is_signed and value >> (bits - 1) else value)
        one.bits, one.is_signed = bits, is_signed
        return one


class Single(float):
    """A number of 32 bits with a fraction."""

    def __new__(cls, value):
        try:
            return super().__new__(cls, struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            return super().__new__(cls, math.copysign(math.inf, value))


class Address(Integer):
    """What a pointer is; to calculate with it takes the size of what is there."""


class Span(Address):
    """A length of time in nanoseconds, which is only compared."""


class Position(Address):
    """An iterator: the address of a node, with what is there; None at the end of a container."""

    def __new__(cls, address, entry):
        one = super().__new__(cls, address, 64, False)
        one.entry = entry
        return one


class Code(str):
    """An expression for LLDB, about values that were found."""


class Letter(str):
    """A character of Rust; one of C is a number."""


class Variant:
    """A name that is not a variable, such as `Color::Red` or `None`, with what it is called with."""

    def __init__(self, name, content=None, *others):
        self.path, self.name, self.content = name, name.rsplit("::", 1)[-1], content
        self.contents = () if content is None else (content, *others)


class Optional(Variant):
    """An option or a result, such as what a method of the standard library has found, or why there is nothing."""

    def __init__(self, content, reason="the value is `None`", name=None):
        super().__init__(name or ("None" if content is None else "Some"), content)
        self.reason = reason

    def is_good(self):
        return self.name in ("Some", "Ok")

    def unwrapped(self, *wanted):
        if self.content is None or not (self.name in wanted if wanted else self.is_good()):
            raise Failed(self.reason if isinstance(self.reason, str) else self.reason())
        return self.content


def nothing(*_arguments):
    """In place of what a language does not have."""


def simple(value):
    """The number of a value; None for a value that is none."""
    kind = value.GetType().GetCanonicalType()
    if kind.GetTypeClass() not in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration, lldb.eTypeClassPointer):
        return None
    if not value.GetValue():
        return None  # It cannot be read.
    basic = kind.GetBasicType()
    if basic in FLOATS:
        data, error = value.GetData(), lldb.SBError()
        return Single(data.GetFloat(error, 0)) if basic == lldb.eBasicTypeFloat else data.GetDouble(error, 0)
    if basic == lldb.eBasicTypeChar32:
        return Letter(chr(value.GetValueAsUnsigned()))
    if basic == lldb.eBasicTypeBool:
        return bool(value.GetValueAsUnsigned())
    is_signed, bits = bool(kind.GetTypeFlags() & lldb.eTypeIsSigned), 8 * kind.GetByteSize()
    if bits > 64:
        return Integer(int(value.GetValue()), bits, is_signed)
    number = value.GetValueAsSigned() if is_signed else value.GetValueAsUnsigned()
    return (Address if kind.IsPointerType() else Integer)(number, bits, is_signed)


def calculated(sign, left, right):
    """The exact result for two numbers; those for whole numbers are rounded toward zero."""
    if sign in COMPUTED:
        return COMPUTED[sign](left, right)
    if isinstance(left, float):
        if sign == "%":
            return math.fmod(left, right) if right else math.nan
        if not right:
            return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
        return left / right
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if sign == "/" else left - right * quotient


def spelled(value):
    """An expression of C++ for a value that was found."""
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"({'unsigned ' if value >= 1 << 31 else ''}long){int(value)}"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        quote = "'" if isinstance(value, Letter) else '"'
        known = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", quote: "\\" + quote, "\0": "\\000"}
        known.update({letter: f"\\{ord(letter) - 0xdc00:03o}" for letter in value if "\udc80" <= letter <= "\udcff"})
        return quote + "".join(known.get(letter, letter) for letter in value) + quote
    return kept(value)


def kept(value):
    """The name under which LLDB keeps a value. It does not compile such a name."""
    # Of a bit field, LLDB would keep all of the number that it is a part of.
    one = (alone(value) if BIT_FIELD.search(value.GetTypeName() or "") else value).Persist()
    return one.GetName() if one.IsValid() and one.GetName() else None


def made(target, value):
    """A number, a truth value or a string as a value of the program."""
    if isinstance(value, list):
        one = made(target, value[0])
        content = b"".join(bytes(made(target, item).GetData().uint8) for item in value)
        return constant(target, one.GetType().GetBasicType(), content, len(value))
    if isinstance(value, Letter):
        return constant(target, lldb.eBasicTypeChar32, struct.pack("<I", ord(value)))
    if isinstance(value, str):
        content = value.encode("utf-8", "surrogateescape") + b"\0"
        return constant(target, lldb.eBasicTypeChar, content, len(content))
    if isinstance(value, bool):
        return constant(target, lldb.eBasicTypeBool, bytes([value]))
    if isinstance(value, Single):
        return constant(target, lldb.eBasicTypeFloat, struct.pack("<f", value))
    if isinstance(value, float):
        return constant(target, lldb.eBasicTypeDouble, struct.pack("<d", value))
    if not isinstance(value, Integer):
        value = Integer(value, 32 if -(1 << 31) <= value < 1 << 31 else 64)
    content = int(value).to_bytes(value.bits // 8, "little", signed=value.is_signed)
    return constant(target, BASIC[value.bits, value.is_signed], content)


def alone(field):
    """A bit field as a value of its type."""
    kind, number = field.GetType(), int(simple(field))
    content = (number % (1 << 8 * kind.GetByteSize())).to_bytes(kind.GetByteSize(), "little")
    return stored(field.GetTarget(), kind, content)


def constant(target, basic, content, count=None):
    kind = target.GetBasicType(basic)
    return stored(target, kind.GetArrayType(count) if count else kind, content)


def stored(target, kind, content):
    data, error = lldb.SBData(), lldb.SBError()
    data.SetDataWithOwnership(error, content, lldb.eByteOrderLittle, target.GetAddressByteSize())
    constants.append(target.CreateValueFromData("constant", data, kind))
    return constants[-1]


def unquoted(text, made=chr):
    """What is in quotes, with characters in place of numbers."""

    def letter(found):
        written = found.group(1)
        if written in ESCAPES:
            return ESCAPES[written]
        if written[0] in "uU":
            return chr(int(written[1:].strip("{}"), 16))
        if written[0] == "x":
            return made(int(written[1:], 16))
        return made(int(written, 8)) if written.isdigit() else written

    return re.sub(r"\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", letter, text[1:-1])


def missing(kind, name):
    return Failed(f"no member named '{name}' in '{kind.GetName()}'")


def checked(index, count):
    """An index of a list of `count` items."""
    need(isinstance(index, int) and not isinstance(index, bool))
    if not 0 <= index < count:
        raise Failed(f"index {index} is out of range: the length is {count}")
    return index


@functools.lru_cache(maxsize=100)
def text_of(path):
    """The text of a source; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def line_at(path, line):
    return "".join(text_of(path or "").split("\n")[max(line, 1) - 1 :][:1])
