"""Numbers of C and C++, and functions and casts whose results are calculated here.

LLDB does not find those functions: most are templates of which the program has no copy, and those of the C library have
no types.
"""

import re

import lldb
import stillframe_cpp as cpp
import stillframe_cpp_unions as unions
from stillframe_cpp_names import derived, is_named, type_of
from stillframe_cpp_texts import ordered
from stillframe_memory import c_string, decoded, encoded
from stillframe_values import Address, Failed, Integer, Single, Span, calculated, need, needed

BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "int8_t": 8, "int16_t": 16, "int32_t": 32, "int64_t": 64, "size_t": 64}
WORDS = {"signed", "unsigned", "std::size_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float", "double", "bool", *BITS}
NUMBER = re.compile(r"(?i)(0x[\da-f']+|0b[01']+|[1-9][\d']*|0)(u?)(l*)(u?)$")
KINDS = lldb.eFunctionNameTypeBase | lldb.eFunctionNameTypeMethod | lldb.eFunctionNameTypeFull
QUALIFIERS = {"const", "volatile", "struct", "class", "union", "enum"}
# What changes something, or begins another statement.
STATEMENTS = {";", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "{", "}"}
C = (lldb.eLanguageTypeC, lldb.eLanguageTypeC89, lldb.eLanguageTypeC99, lldb.eLanguageTypeC11)
# Those of enums, by the source and the binary that have them.
constants = {}
# The lengths of units of time, in nanoseconds.
SPANS = {
    "nanoseconds": 1, "microseconds": 1000, "milliseconds": 1_000_000, "seconds": 1_000_000_000,
    "minutes": 60_000_000_000, "hours": 3_600_000_000_000,
}
SUFFIXES = dict(zip(("ns", "us", "ms", "s", "min", "h"), SPANS.values()))


def number(text):
    """A literal, in the first type that has it."""
    found = NUMBER.match(text)
    time = re.fullmatch(r"([\d']+)(ns|us|ms|s|min|h)", text)
    if time is not None:
        return Span(int(time.group(1).replace("'", "")) * SUFFIXES[time.group(2)], 128)
    if found is None:
        need(re.fullmatch(r"\d[\d']*\.\d*f?", text))
        return (Single if text[-1] == "f" else float)(float(text.replace("'", "").rstrip("f")))
    digits, first, long, last = found.groups()
    value, is_decimal = int(digits.replace("'", ""), 0), digits[0] != "0"
    for bits in (64,) if long else (32, 64):
        for is_signed in (True, False):
            is_allowed = not (first or last) if is_signed else first or last or not is_decimal
            if is_allowed and value >> (bits - is_signed) == 0:
                return Integer(value, bits, is_signed)
    # Compilers take a decimal one that no type with a sign has for one without.
    need(value >> 64 == 0)
    return Integer(value, 64, False)


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
        return encoded(left), encoded(right)
    left, right = promoted(left), promoted(right)
    if isinstance(left, float) or isinstance(right, float):
        kind = float if float in (type(left), type(right)) else Single
        return kind(left), kind(right)
    bits = max(left.bits, right.bits)
    is_signed = all(one.is_signed or one.bits < bits for one in (left, right))
    return Integer(left, bits, is_signed), Integer(right, bits, is_signed)


def computed(sign, left, right):
    left, right = (promoted(left), promoted(right)) if sign in ("<<", ">>") else common(left, right)
    need(sign not in ("<<", ">>") or 0 <= right < left.bits)
    if isinstance(left, float):
        need(sign in ("+", "-", "*", "/"))
        return type(left)(calculated(sign, left, right))
    if sign in ("/", "%") and not right:
        raise Failed("division by zero")
    return Integer(calculated(sign, left, right), left.bits, left.is_signed)


def number_in(value):
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
    need(len(numbers) < 2)
    return next(iter(numbers), None)


def constant(kind, member):
    is_signed = bool(kind.GetEnumerationIntegerType().GetTypeFlags() & lldb.eTypeIsSigned)
    return Integer(member.GetValueAsSigned() if is_signed else member.GetValueAsUnsigned(), 8 * kind.GetByteSize(), is_signed)


def check_calls(evaluation):
    """Nothing is called for an expression with a name that nothing has, or that is more than an expression."""
    target, types = evaluation.frame.GetThread().GetProcess().GetTarget(), evaluation.types
    need(not any(text in STATEMENTS for _, text in evaluation.tokens))
    for text in evaluation.names() - WORDS:
        is_known = "<" in text or text in types.CONSTANTS or text in FUNCTIONS or evaluation.variable(text) is not None
        is_known = is_known or enumerator(evaluation.frame, text) is not None
        need(is_known or target.FindFunctions(text.rpartition("::")[2], KINDS).GetSize() or target.FindTypes(text).GetSize())


def converted(value, kind):
    """A number as one of another type."""
    words = set(kind.split())
    need(not isinstance(value, str) and words <= WORDS)
    if "bool" in words:
        return bool(value)
    if words & {"float", "double"}:
        return (Single if "float" in words else float)(value)
    is_unsigned = any(word.startswith(("u", "size_t", "std::size_t")) for word in words)
    sizes = {BITS[word] for word in (one.removeprefix("std::").removeprefix("u") for one in words) if word in BITS}
    # The `int` of `long int` and `short int` says nothing.
    return Integer(int(value), next(iter(sizes - {32}), 32), not is_unsigned)


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
    name, _, kind = (part.strip() for part in text.removeprefix("std::")[:-1].partition("<"))
    if name == "static_cast":
        return converted(evaluation.plain(arguments[0]), kind)
    value = evaluation.types.referred(evaluation.known(arguments[0]))
    if name == "dynamic_cast":
        need(kind.endswith("*"))
        return derived(evaluation.frame, evaluation.this, value, kind.rstrip("* ").removeprefix("const ").removesuffix(" const"))
    if name == "get_if":
        value = evaluation.types.referred(value.Dereference())
    if kind.isdigit():
        return evaluation.types.part(value, int(kind)) if name == "get" else None
    need(evaluation.types.is_a(value, cpp.VARIANTS))
    known = value.GetType().GetCanonicalType()
    kinds = [known.GetTemplateArgumentType(at) for at in range(known.GetNumberOfTemplateArguments())]
    at = next((at for at, one in enumerate(kinds) if is_named(one, kind)), None)
    if at is None:
        raise Failed(f"the variant has no alternative `{kind}`")
    is_held = cpp.index_of(value) == at
    if name == "holds_alternative":
        return is_held
    content = value.GetChildAtIndex(0)
    if name == "get_if":
        return content.AddressOf() if is_held else Address(0, 64, False)
    if not is_held:
        raise Failed(f"the variant holds `{content.GetType().GetDisplayTypeName()}`, not `{kind}`")
    return content


def sized(evaluation):
    """`sizeof` of a type or a value in parentheses, of which the first has been read."""
    end = next((at for at in range(evaluation.at, len(evaluation.tokens)) if evaluation.tokens[at][1] == ")"), 0)
    words = [text for _, text in evaluation.tokens[evaluation.at : end] if text not in QUALIFIERS]
    path = " ".join(words).rstrip("*& ")
    is_type = path and evaluation.variable(path) is None
    kind = type_of(evaluation.frame, evaluation.this, path) if is_type and " " not in path else None
    need(not {"long", "double"} <= set(words))
    if kind is not None or is_type and set(path.split()) <= WORDS:
        evaluation.at = end
        target = evaluation.frame.GetThread().GetProcess().GetTarget()
        size = target.GetAddressByteSize() if "*" in words else kind.GetByteSize() if kind else width(converted(0, path))
    else:
        value = evaluation.either()
        size = width(value)
    evaluation.expect(")")
    return Integer(size, 64, False)


def width(value):
    """The bytes that a value takes."""
    if isinstance(value, lldb.SBValue):
        kind = value.GetStaticValue().GetType()
        return (kind.GetDereferencedType() if kind.IsReferenceType() else kind).GetByteSize()
    if isinstance(value, (bool, float)):
        return 1 if isinstance(value, bool) else 4 if isinstance(value, Single) else 8
    need(isinstance(value, Integer) and not isinstance(value, Span))
    return value.bits // 8


def text_of(evaluation, value):
    """The text that a string, an array of characters or a pointer to some has; None for another value."""
    if not isinstance(value, lldb.SBValue):
        return value if isinstance(value, str) else None
    found = evaluation.types.string_of(value)
    return characters(evaluation.types.referred(value)) if found is None else found


def characters(value):
    """The text at a `char*`, or in a `char[]`; None for another value."""
    value = unions.sized(value)
    kind = value.GetType().GetCanonicalType()
    item = kind.GetArrayElementType() if kind.IsArrayType() else kind.GetPointeeType()
    if not cpp.is_character(item):
        return None
    at = value.GetLoadAddress() if kind.IsArrayType() else value.GetValueAsUnsigned()
    if not at:
        raise Failed("the pointer is null")
    found = c_string(value.GetTarget(), at)
    if found is None:
        raise Failed("the string cannot be read")
    return decoded(encoded(found)[: kind.GetByteSize()]) if kind.IsArrayType() and not unions.is_open(value) else found


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
    return cpp.is_character(item)


def compared(evaluation, left, right, count=None):
    """`strcmp`."""
    left, right = (as_string(evaluation, one) for one in (left, right))
    return ordered(left, right, None if count is None else evaluation.plain(count))


def as_string(evaluation, value):
    return needed(text_of(evaluation, value))


def chosen(choose):
    def found(evaluation, left, right):
        return choose(evaluation.types.common(evaluation.plain(left), evaluation.plain(right)))

    return found


def absolute(evaluation, value):
    """`abs`, which is in C of whole numbers."""
    value = evaluation.plain(value)
    if evaluation.frame.GetCompileUnit().GetLanguage() in C:
        value = converted(value, "int")
    return evaluation.types.computed("-", Integer(0), value) if value < 0 else value


def absolute_real(evaluation, value):
    value = evaluation.plain(value)
    return Single(abs(value)) if isinstance(value, Single) else abs(float(value))


def number_text(evaluation, value):
    value = evaluation.plain(value)
    need(isinstance(value, int))
    return str(int(value))


FUNCTIONS = {
    "strcmp": lambda evaluation, left, right: compared(evaluation, left, right),
    "strncmp": compared,
    "strlen": lambda evaluation, value: Integer(len(encoded(as_string(evaluation, value))), 64, False),
    "abs": absolute,
    "fabs": absolute_real,
    "std::string": as_string,
    "std::string_view": as_string,
    "std::min": chosen(min),
    "std::max": chosen(max),
    "std::to_string": number_text,
}
FUNCTIONS.update({f"std::{name}": FUNCTIONS[name] for name in ("strcmp", "strncmp", "strlen", "abs", "fabs")})
FUNCTIONS.update({
    f"std::chrono::{name}": lambda evaluation, count, unit=unit: Span(evaluation.plain(count) * unit, 128)
    for name, unit in SPANS.items()
})
