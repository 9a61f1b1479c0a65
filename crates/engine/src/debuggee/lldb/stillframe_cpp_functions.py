"""Numbers of C and C++, and functions and casts whose results are calculated here.

LLDB does not find those functions: most are templates of which the program has no copy, and those of the C library have
no types.
"""

import re

import lldb
import stillframe_cpp as cpp
from stillframe_values import Address, Failed, Integer, Single, Span, Unknown, calculated

BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "int8_t": 8, "int16_t": 16, "int32_t": 32, "int64_t": 64, "size_t": 64}
WORDS = {"signed", "unsigned", "std::size_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float", "double", "bool", *BITS}
NUMBER = re.compile(r"(?i)(0x[\da-f']+|0b[01']+|[1-9][\d']*|0)(u?)(l*)(u?)$")
CHARACTERS = (lldb.eBasicTypeChar, lldb.eBasicTypeSignedChar)
KINDS = lldb.eFunctionNameTypeBase | lldb.eFunctionNameTypeFull
# What changes something, or begins another statement.
STATEMENTS = {";", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "{", "}"}
# Those of enums, by the source and the binary that have them.
constants = {}
# The lengths of units of time, in nanoseconds.
SPANS = {
    "nanoseconds": 1, "microseconds": 1000, "milliseconds": 1_000_000, "seconds": 1_000_000_000,
    "minutes": 60_000_000_000, "hours": 3_600_000_000_000,
}


def number(text):
    """A literal, in the first type that has it."""
    found = NUMBER.match(text)
    if found is None:
        if not re.fullmatch(r"\d[\d']*\.\d*f?", text):
            raise Unknown
        return (Single if text[-1] == "f" else float)(float(text.replace("'", "").rstrip("f")))
    digits, first, long, last = found.groups()
    value, is_decimal = int(digits.replace("'", ""), 0), digits[0] != "0"
    for bits in (64,) if long else (32, 64):
        for is_signed in (True, False):
            is_allowed = not (first or last) if is_signed else first or last or not is_decimal
            if is_allowed and value >> (bits - is_signed) == 0:
                return Integer(value, bits, is_signed)
    raise Unknown


def letter(prefix, text):
    bits = {"L": 32, "u": 16, "U": 32}.get(prefix, 8)
    return Integer(ord(text), bits, prefix not in ("u", "U")) if ord(text) >> bits == 0 else text


def promoted(value):
    """What C calculates with in place of a truth value or a short number."""
    is_wide = isinstance(value, float) or getattr(value, "bits", 1) >= 32
    return value if is_wide else Integer(value)


def common(left, right):
    """Two numbers in the type in which C calculates with them."""
    if isinstance(left, str):
        return left, right
    left, right = promoted(left), promoted(right)
    if isinstance(left, float) or isinstance(right, float):
        kind = float if float in (type(left), type(right)) else Single
        return kind(left), kind(right)
    bits = max(left.bits, right.bits)
    is_signed = all(one.is_signed or one.bits < bits for one in (left, right))
    return Integer(left, bits, is_signed), Integer(right, bits, is_signed)


def computed(sign, left, right):
    left, right = (promoted(left), promoted(right)) if sign in ("<<", ">>") else common(left, right)
    if sign in ("<<", ">>") and not 0 <= right < left.bits:
        raise Unknown
    if isinstance(left, float):
        if sign not in ("+", "-", "*", "/"):
            raise Unknown
        return type(left)(calculated(sign, left, right))
    if sign in ("/", "%") and not right:
        raise Failed("division by zero")
    return Integer(calculated(sign, left, right), left.bits, left.is_signed)


def length_of_time(value):
    """What a `std::chrono::duration` is compared by; None for another value."""
    unit = cpp.DURATIONS.match(value.GetType().GetCanonicalType().GetName() or "")
    count = value.GetNonSyntheticValue().GetChildMemberWithName("__r") if unit else None
    if count is None or count.GetType().GetCanonicalType().GetTypeFlags() & lldb.eTypeIsFloat:
        return None
    return Span(count.GetValueAsSigned() * 1_000_000_000 * int(unit.group(2)) // int(unit.group(3)), 128)


def enumerator(frame, path):
    """The number of a constant of an enum that the frame's source has, such as a flag; None for another name."""
    unit = frame.GetCompileUnit()
    place = unit.GetFileSpec().fullpath, frame.GetModule().GetUUIDString()
    if place not in constants:
        constants[place] = [
            (kind.GetName() or "", kind.IsScopedEnumerationType(), member.GetName(), constant(kind, member))
            for kind in unit.GetTypes(lldb.eTypeClassEnumeration)
            for member in kind.GetEnumMembers()
        ]
    scope, _, name = path.rpartition("::")
    function, found = f"::{frame.GetFunctionName() or ''}", {}
    for kind, is_scoped, known, number in constants[place]:
        around = kind.rpartition("::")[0]
        scopes = [f"::{kind}"] if is_scoped else [f"::{kind}", f"::{around}"]
        if known == name and (not is_scoped if not scope else any(one.endswith(f"::{scope}") for one in scopes)):
            # One of a namespace or class that the frame is in comes first.
            is_around = not around or f"::{around}::" in function
            found.setdefault(len(around) if is_around else -1, set()).add(number)
    numbers = found[max(found)] if found else set()
    if len(numbers) > 1:
        raise Unknown
    return next(iter(numbers), None)


def constant(kind, member):
    is_signed = bool(kind.GetEnumerationIntegerType().GetTypeFlags() & lldb.eTypeIsSigned)
    return Integer(member.GetValueAsSigned() if is_signed else member.GetValueAsUnsigned(), 8 * kind.GetByteSize(), is_signed)


def check_calls(evaluation):
    """Nothing is called for an expression with a name that nothing has, or that is more than an expression."""
    target, types = evaluation.frame.GetThread().GetProcess().GetTarget(), evaluation.types
    if any(text in STATEMENTS for _, text in evaluation.tokens):
        raise Unknown
    for text in evaluation.names() - WORDS:
        is_known = "<" in text or text in types.CONSTANTS or text in FUNCTIONS or evaluation.variable(text) is not None
        is_known = is_known or enumerator(evaluation.frame, text) is not None
        if not is_known and not target.FindFunctions(text.rpartition("::")[2], KINDS).GetSize() and not target.FindTypes(text).GetSize():
            raise Unknown


def converted(value, kind):
    """A number as one of another type."""
    words = set(kind.split())
    if isinstance(value, str) or not words <= WORDS:
        raise Unknown
    if "bool" in words:
        return bool(value)
    if words & {"float", "double"}:
        return (Single if "float" in words else float)(value)
    is_unsigned = any(word.startswith(("u", "size_t", "std::size_t")) for word in words)
    bits = min((BITS[word] for word in (one.removeprefix("std::").removeprefix("u") for one in words) if word in BITS), default=32)
    return Integer(int(value), bits, not is_unsigned)


def cast(evaluation):
    """The type of a cast such as `(unsigned long)x`, if one begins here."""
    end = evaluation.at + 1
    while end < len(evaluation.tokens) and evaluation.tokens[end][1] in WORDS:
        end += 1
    texts = [text for _, text in evaluation.tokens[evaluation.at : end + 1]]
    if len(texts) < 3 or texts[0] != "(" or texts[-1] != ")":
        return None
    evaluation.at = end + 1
    return " ".join(texts[1:-1])


def templated(evaluation, text, arguments):
    """`std::get<0>(x)`, `std::get<T>(x)`, `std::holds_alternative<T>(x)`, `std::get_if<T>(&x)`, `static_cast<T>(x)` or
    `dynamic_cast<T*>(x)`."""
    name, _, kind = text[:-1].partition("<")
    if name == "static_cast":
        return converted(evaluation.plain(arguments[0]), kind.strip())
    value = evaluation.types.referred(evaluation.known(arguments[0]))
    if name == "dynamic_cast":
        return derived(value, kind)
    if name == "std::get_if":
        value = evaluation.types.referred(value.Dereference())
    if kind.isdigit():
        return evaluation.types.part(value, int(kind)) if name == "std::get" else None
    if not evaluation.types.is_a(value, cpp.VARIANTS):
        raise Unknown
    known = value.GetType().GetCanonicalType()
    kinds = [known.GetTemplateArgumentType(at) for at in range(known.GetNumberOfTemplateArguments())]
    at = next((at for at, one in enumerate(kinds) if is_named(one, kind)), None)
    if at is None:
        raise Failed(f"the variant has no alternative `{kind}`")
    is_held = cpp.index_of(value) == at
    if name == "std::holds_alternative":
        return is_held
    content = value.GetChildAtIndex(0)
    if name == "std::get_if":
        return content.AddressOf() if is_held else Address(0, 64, False)
    if not is_held:
        raise Failed(f"the variant holds `{content.GetType().GetDisplayTypeName()}`, not `{kind}`")
    return content


def is_named(kind, name):
    name = plain_name(name)
    kinds = (kind, kind.GetCanonicalType(), kind.GetUnqualifiedType())
    found = {plain_name(known or "") for one in kinds for known in (one.GetName(), one.GetDisplayTypeName())}
    return any(one == name or one.endswith("::" + name) and "<" not in one for one in found)


def plain_name(name):
    name = re.sub(r"std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>", "std::string", name)
    return re.sub(r"std::(__cxx11|__1)::|\s+|^class|^struct", lambda found: "std::" if ":" in found.group() else "", name)


def derived(value, kind):
    """A pointer as one to a class, if that is what it points to; else null."""
    name = plain_name(kind).rstrip("*").removesuffix("const")
    if not value.GetType().GetCanonicalType().IsPointerType() or not kind.strip().endswith("*"):
        raise Unknown
    found = value.GetDynamicValue(lldb.eDynamicDontRunTarget)
    known = [found.GetType().GetPointeeType().GetCanonicalType()] if value.GetValueAsUnsigned() else []
    while known:
        one = known.pop()
        if is_named(one, name):
            return found
        known += [one.GetDirectBaseClassAtIndex(at).GetType() for at in range(one.GetNumberOfDirectBaseClasses())]
    return Address(0, 64, False)


def text_of(evaluation, value):
    """The text that a string, an array of characters or a pointer to some has; None for another value."""
    if not isinstance(value, lldb.SBValue):
        return value if isinstance(value, str) else None
    found = evaluation.types.string_of(value)
    return characters(evaluation.types.referred(value)) if found is None else found


def characters(value):
    """The text at a `char*`, or in a `char[]`; None for another value."""
    kind = value.GetType().GetCanonicalType()
    item = kind.GetArrayElementType() if kind.IsArrayType() else kind.GetPointeeType()
    if item.GetCanonicalType().GetUnqualifiedType().GetBasicType() not in CHARACTERS:
        return None
    at = value.GetLoadAddress() if kind.IsArrayType() else value.GetValueAsUnsigned()
    if not at:
        raise Failed("the pointer is null")
    found = cpp.c_string(value, at)
    if found is None:
        raise Failed("the string cannot be read")
    return found[: kind.GetByteSize()] if kind.IsArrayType() else found


def texts(evaluation, left, right):
    """What two strings are compared by, if one is of a class; None for other values."""
    is_object = [isinstance(one, lldb.SBValue) and evaluation.types.extent(one) is not None for one in (left, right)]
    is_row = [isinstance(one, lldb.SBValue) and is_characters(evaluation, one) for one in (left, right)]
    if any(is_object) and any(is_row):
        return text_of(evaluation, left), text_of(evaluation, right)
    if any(is_row) and any(type(one) is str for one in (left, right)):
        raise Failed("this compares addresses, not texts; use `strcmp(a, b) == 0`")
    return None


def is_characters(evaluation, value):
    kind = evaluation.types.referred(value).GetType().GetCanonicalType()
    item = kind.GetArrayElementType() if kind.IsArrayType() else kind.GetPointeeType()
    return item.IsValid() and item.GetCanonicalType().GetUnqualifiedType().GetBasicType() in CHARACTERS


def compared(evaluation, left, right, count=None):
    """`strcmp`."""
    left, right = (text_of(evaluation, one) for one in (left, right))
    if left is None or right is None:
        raise Unknown
    end = None if count is None else evaluation.plain(count)
    left, right = left.encode()[:end], right.encode()[:end]
    return Integer((left > right) - (left < right))


def length(evaluation, value):
    found = text_of(evaluation, value)
    if found is None:
        raise Unknown
    return Integer(len(found.encode()), 64, False)


def as_string(evaluation, value):
    found = text_of(evaluation, value)
    if found is None:
        raise Unknown
    return found


def chosen(choose):
    def found(evaluation, left, right):
        return choose(evaluation.types.common(evaluation.plain(left), evaluation.plain(right)))

    return found


def absolute(evaluation, value):
    value = evaluation.plain(value)
    return evaluation.types.computed("-", Integer(0), value) if value < 0 else value


def number_text(value):
    if not isinstance(value, int):
        raise Unknown
    return str(int(value))


FUNCTIONS = {
    "strcmp": lambda evaluation, left, right: compared(evaluation, left, right),
    "strncmp": compared,
    "strlen": length,
    "abs": absolute,
    "fabs": absolute,
    "std::string": as_string,
    "std::string_view": as_string,
    "std::min": chosen(min),
    "std::max": chosen(max),
    "std::to_string": lambda evaluation, value: number_text(evaluation.plain(value)),
}
FUNCTIONS.update({f"std::{name}": FUNCTIONS[name] for name in ("strcmp", "strncmp", "strlen", "abs", "fabs")})
FUNCTIONS.update({
    f"std::chrono::{name}": lambda evaluation, count, unit=unit: Span(evaluation.plain(count) * unit, 128)
    for name, unit in SPANS.items()
})
