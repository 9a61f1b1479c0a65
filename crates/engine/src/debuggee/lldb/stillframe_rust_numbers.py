"""Numbers, characters and texts of Rust: literals, operators, casts, constants and methods."""

import math
import re
import string
import sys

import lldb
import stillframe_rust as rust
from stillframe_values import Failed, Integer, Letter, Optional, Single, calculated, need, needed

CONSTANTS = {
    "true": True, "false": False, "f32::EPSILON": Single(2**-23), "f64::EPSILON": 2.0**-52, "f64::MAX": sys.float_info.max,
    "f64::INFINITY": math.inf, "f64::NEG_INFINITY": -math.inf, "f64::NAN": math.nan, "std::f64::consts::PI": math.pi,
}
for kind, bits in (("8", 8), ("16", 16), ("32", 32), ("64", 64), ("128", 128), ("size", 64)):
    CONSTANTS[f"u{kind}::MIN"] = Integer(0, bits, False)
    CONSTANTS[f"u{kind}::MAX"] = Integer(-1, bits, False)
    CONSTANTS[f"i{kind}::MIN"] = Integer(1 << bits - 1, bits, True)
    CONSTANTS[f"i{kind}::MAX"] = Integer((1 << bits - 1) - 1, bits, True)
NUMBER = re.compile(r"(0x[\da-f_]+?|0b[01_]+|0o[0-7_]+|\d[\d_]*)(?:([iu])(8|16|32|64|128|size))?$")
REAL = re.compile(r"(\d[\d_]*(?:\.[\d_]+)?)(f32|f64)?$")
TYPE = re.compile(r"([iu])(8|16|32|64|128|size)$")
OF_C = {
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "short": "i16", "unsigned short": "u16", "int": "i32",
    "unsigned int": "u32", "long": "i64", "unsigned long": "usize", "__int128": "i128", "unsigned __int128": "u128",
    "float": "f32", "double": "f64", "char32_t": "char",
}
OF_PYTHON = {int: "integer", float: "f64", Single: "f32", Letter: "char"}
OVERFLOWS = {
    "+": "attempt to add with overflow", "-": "attempt to subtract with overflow", "*": "attempt to multiply with overflow",
    "/": "attempt to divide with overflow", "%": "attempt to calculate the remainder with overflow",
}
ZEROS = {"/": "attempt to divide by zero", "%": "attempt to calculate the remainder with a divisor of zero"}


class Untyped(int):
    """What literals come to that has the type of what it is used with. Alone, it is an `i32`, and does not fit."""

    def __new__(cls, value, overflow):
        one = super().__new__(cls, value)
        one.overflow = overflow
        return one


def untyped(sign, left, right, result):
    """What two literals without a type come to."""
    overflow = getattr(left, "overflow", None) or getattr(right, "overflow", None)
    if sign in ("<<", ">>") and right > 31:
        overflow = overflow or shift_overflow(sign)
    elif sign in OVERFLOWS and is_i32(left) and is_i32(right) and not is_i32(result):
        overflow = overflow or OVERFLOWS[sign]
    return Untyped(result, overflow) if overflow or sign == "<<" else result


def is_i32(value):
    return Integer(value) == value


def shift_overflow(sign):
    return f"attempt to shift {'left' if sign == '<<' else 'right'} with overflow"


def number(text):
    """A literal. One without a type is of that of what it is used with."""
    if found := NUMBER.match(text):
        digits, *kind = found.groups()
        value = int(digits.replace("_", "").lstrip("0") or "0") if digits.isdigit() else int(digits.replace("_", ""), 0)
        return Integer(value, width(kind[1]), kind[0] == "i") if kind[0] else value
    found = needed(REAL.match(text))
    return (Single if found.group(2) == "f32" else float)(float(found.group(1).replace("_", "")))


def type_of(value, shortened=rust.short_type):
    """The type of a value for a message, where LLDB knows numbers by their types of C."""
    if isinstance(value, lldb.SBValue):
        name, _, count = (value.GetType().GetUnqualifiedType().GetName() or "").partition("[")
        item = OF_C.get(name) or shortened(name)
        return f"[{item}; {count[:-1]}]" if re.fullmatch(r"\d+\]", count) else item
    if isinstance(value, Integer):
        kind = f"{'i' if value.is_signed else 'u'}{value.bits}"
        return "usize" if kind == "u64" else kind
    return OF_PYTHON.get(type(value), type(value).__name__)


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
    if isinstance(left, bool) and isinstance(right, bool) and sign in "&|^":
        return calculated(sign, left, right)
    need(not isinstance(left, bool) and not isinstance(right, bool) and isinstance(left, float) == isinstance(right, float))
    if isinstance(left, float):
        left, right = common(left, right)
        return type(left)(calculated(sign, left, right))
    known = [one for one in (left, right) if isinstance(one, Integer)]
    if sign in ("<<", ">>"):
        known = known[:1] if isinstance(left, Integer) else []
        # A literal has the type of what it is compared with.
        if not 0 <= right < getattr(left, "bits", 128):
            raise Failed(shift_overflow(sign))
    kinds = {(one.bits, one.is_signed) for one in known}
    if len(kinds) > 1:
        raise Failed(f"mismatched types `{type_of(known[0])}` and `{type_of(known[1])}`: convert one with `as`")
    if sign in ZEROS and not right:
        raise Failed(ZEROS[sign])
    result = calculated(sign, left, right)
    if not kinds:
        return untyped(sign, left, right, result)
    bits, is_signed = kinds.pop()
    made = Integer(result, bits, is_signed)
    if made != result and sign in OVERFLOWS:
        raise Failed(OVERFLOWS[sign])
    return made


def inverted(value):
    if isinstance(value, Integer):
        return Integer(~value, value.bits, value.is_signed)
    need(isinstance(value, int))
    return not value if isinstance(value, bool) else ~value


def cast(value, kind):
    """`value as kind`."""
    value = ord(value) if isinstance(value, Letter) else value
    need(not isinstance(value, str))
    if kind in ("f32", "f64"):
        return (Single if kind == "f32" else float)(value)
    if kind == "char":
        return Letter(chr(value))
    found = needed(TYPE.match(kind))
    bits, is_signed = width(found.group(2)), found.group(1) == "i"
    if isinstance(value, float):
        # What does not fit becomes the nearest that does.
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        value = 0 if value != value else int(min(max(value, least), most))
    return Integer(value, bits, is_signed)


OF_TEXTS = {
    "len": lambda text: len(text.encode()),
    "is_empty": lambda text: not text,
    "contains": lambda text, part: part in text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "trim": str.strip,
    "trim_start": str.lstrip,
    "trim_end": str.rstrip,
    "find": lambda text, part: place(text, text.find(part)),
    "rfind": lambda text, part: place(text, text.rfind(part)),
    "replace": lambda text, part, by: text.replace(part, by),
    "strip_prefix": lambda text, part: Optional(text[len(part) :] if text.startswith(part) else None),
    "strip_suffix": lambda text, part: Optional(text[: len(text) - len(part)] if text.endswith(part) else None),
    "split_once": lambda text, by: Optional(tuple(text.split(by, 1)) if by in text else None),
    "repeat": lambda text, times: text * times,
    "is_char_boundary": lambda text, at: at in {len(text[:end].encode()) for end in range(len(text) + 1)},
    "to_ascii_lowercase": lambda text: "".join(one.lower() if one.isascii() else one for one in text),
    "to_ascii_uppercase": lambda text: "".join(one.upper() if one.isascii() else one for one in text),
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
    "is_ascii": str.isascii,
    "is_ascii_alphabetic": lambda letter: letter.isascii() and letter.isalpha(),
    "is_ascii_alphanumeric": lambda letter: letter.isascii() and letter.isalnum(),
    "is_ascii_uppercase": lambda letter: letter.isascii() and letter.isupper(),
    "is_ascii_lowercase": lambda letter: letter.isascii() and letter.islower(),
    "is_ascii_whitespace": lambda letter: letter in " \t\n\r\f",
    "is_ascii_punctuation": lambda letter: letter in string.punctuation,
    "to_ascii_lowercase": lambda letter: Letter(letter.lower()) if letter.isascii() else letter,
    "to_ascii_uppercase": lambda letter: Letter(letter.upper()) if letter.isascii() else letter,
    "to_digit": lambda letter, base: Optional(digit(letter, base)),
    "len_utf8": lambda letter: len(letter.encode()),
}
OF_NUMBERS = {
    "abs": lambda one: negated(one) if one < 0 else one,
    "min": lambda one, other: min(alike(one, other)),
    "max": lambda one, other: max(alike(one, other)),
    "pow": lambda one, times: powered(one, times),
    "powi": lambda one, times: type(one)(float(one) ** times),
    "sqrt": lambda one: type(one)(math.sqrt(one) if one >= 0 else math.nan),
    "is_nan": lambda one: one != one,
    "is_finite": math.isfinite,
    "is_infinite": math.isinf,
    "floor": lambda one: type(one)(math.floor(one)),
    "ceil": lambda one: type(one)(math.ceil(one)),
    "trunc": lambda one: type(one)(math.trunc(one)),
    "abs_diff": lambda one, other: difference(*alike(one, other)),
    "rem_euclid": lambda one, other: alike(one, one % abs(other))[1],
    "clamp": lambda one, least, most: min(max(alike(one, least)), alike(one, most)[1]),
    "is_power_of_two": lambda one: one > 0 and not one & (one - 1),
    "checked_add": lambda one, other: unless_overflowing("+", one, other),
    "checked_sub": lambda one, other: unless_overflowing("-", one, other),
    "checked_mul": lambda one, other: unless_overflowing("*", one, other),
    "saturating_add": lambda one, other: saturated("+", one, other),
    "saturating_sub": lambda one, other: saturated("-", one, other),
    "wrapping_add": lambda one, other: wrapped("+", one, other),
    "wrapping_sub": lambda one, other: wrapped("-", one, other),
    "is_positive": lambda one: one > 0,
    "is_negative": lambda one: one < 0,
}


def place(text, at):
    """Where something is in a text, in bytes."""
    return Optional(None if at < 0 else Integer(len(text[:at].encode()), 64, False))


def digit(letter, base):
    try:
        return Integer(int(letter, base), 32, False) if letter.isascii() else None
    except ValueError:
        return None


def unless_overflowing(sign, one, other):
    try:
        return Optional(computed(sign, *alike(one, other)))
    except Failed:
        return Optional(None, "the value is `None`: the result does not fit its type")


def wrapped(sign, one, other):
    one, other = alike(one, other)
    return Integer(calculated(sign, one, other), one.bits, one.is_signed)


def saturated(sign, one, other):
    one, other = alike(one, other)
    least = -(1 << one.bits - 1) if one.is_signed else 0
    most = (1 << one.bits - one.is_signed) - 1
    return Integer(min(max(calculated(sign, one, other), least), most), one.bits, one.is_signed)


def alike(number, other):
    """Two numbers in the type of the first. A literal without one is an `i32`, as rustc takes it."""
    if isinstance(number, float):
        return common(number, other)
    first = number if isinstance(number, Integer) else Integer(number)
    return first, Integer(other, first.bits, first.is_signed)


def negated(number):
    return type(number)(-number) if isinstance(number, float) else computed("-", 0, number)


def difference(one, other):
    return abs(one - other) if isinstance(one, float) else Integer(abs(one - other), one.bits, False)


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


# What a duration gives, in nanoseconds.
OF_DURATIONS = {"as_secs": 1_000_000_000, "as_millis": 1_000_000, "as_micros": 1000, "as_nanos": 1}
OF_SECONDS = {"subsec_millis": 1_000_000, "subsec_micros": 1000, "subsec_nanos": 1}


def of_duration(total, name):
    """What a method returns of a duration of this many nanoseconds; None for another method."""
    if name in OF_DURATIONS:
        return Integer(total // OF_DURATIONS[name], 64 if name == "as_secs" else 128, False)
    if name in OF_SECONDS:
        return Integer(total % 1_000_000_000 // OF_SECONDS[name], 32, False)
    return total / 1e9 if name == "as_secs_f64" else not total if name == "is_zero" else None
