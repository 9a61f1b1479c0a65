"""Assigns to numbers, truth values and characters of Rust, such as those in a vector, which LLDB does not find."""

import math

import lldb
from stillframe_rust_numbers import computed, type_of
from stillframe_values import Code, Failed, Integer, Letter, Single, Unknown, kept, simple, spelled


def assigned(evaluation, place, sign):
    """Code for an assignment, whose value follows."""
    is_stored = isinstance(place, lldb.SBValue) and place.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS
    if not is_stored or place.GetType().GetCanonicalType().GetTypeClass() != lldb.eTypeClassBuiltin:
        raise Unknown
    known, value = simple(place), evaluation.plain(evaluation.either())
    value = value if sign == "=" else computed(sign.removesuffix("="), known, value)
    check(place, known, value)
    return Code(f"{kept(place)} = {spelling(value)}")


def check(place, known, value):
    """Refuse a value of another type than what is known to be in a place. A literal has that type if it fits."""
    if isinstance(known, Integer) and not isinstance(value, (Integer, bool, float, str)):
        if Integer(value, known.bits, known.is_signed) != value:
            raise Failed(f"literal out of range for `{type_of(place)}`")
        return
    # A literal has no type yet, and a whole one is what `set_variable` may be given for a number with a fraction.
    if type(value) is int and isinstance(known, float) or type(value) is float and isinstance(known, Single):
        return
    kinds = [(type(one), getattr(one, "bits", 0), getattr(one, "is_signed", None)) for one in (known, value)]
    if kinds[0] != kinds[1]:
        raise Failed(f"mismatched types: expected `{type_of(place)}`, found `{type_of(value)}`")


def spelling(value):
    is_long = isinstance(value, Integer) and value.bits > 64
    if is_long or isinstance(value, float) and not math.isfinite(value):
        raise Unknown
    return str(ord(value)) if isinstance(value, Letter) else spelled(value)
