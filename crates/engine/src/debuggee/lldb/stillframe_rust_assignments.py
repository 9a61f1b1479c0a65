"""Assigns to numbers, truth values and characters of Rust, such as those in a vector, which LLDB does not find."""

import math
import re

import lldb
from stillframe_rust_numbers import computed, type_of
from stillframe_values import Code, Failed, Integer, Letter, Single, kept, need, simple, spelled, text_of

# Of a variable that never changes, the debug information names a copy.
COPIED = "the program may go on with the value it had"


def assigned(evaluation, place, sign):
    """Code for an assignment, whose value follows."""
    is_stored = isinstance(place, lldb.SBValue) and place.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS
    need(is_stored and place.GetType().GetCanonicalType().GetTypeClass() == lldb.eTypeClassBuiltin)
    known, value = simple(place), evaluation.plain(evaluation.either())
    value = value if sign == "=" else computed(sign.removesuffix("="), known, value)
    check(place, known, value)
    evaluation.note = None if is_mutable(place) else f"`{place.GetName()}` is not declared `mut`: {COPIED}"
    return Code(f"{kept(place)} = {spelling(value)}")


def is_mutable(place):
    """Whether what is assigned to is not a variable without `mut`, as far as its source is known."""
    path, declared = lldb.SBStream(), place.GetDeclaration()
    place.GetExpressionPath(path)
    lines = text_of(declared.GetFileSpec().fullpath or "").splitlines()
    if path.GetData() != place.GetName() or not 0 < declared.GetLine() <= len(lines):
        return True
    # The name may be on a line behind that of `mut`.
    text = "\n".join(lines[declared.GetLine() - 1 :])
    return re.match(rf".*\bmut\s+{place.GetName()}\b", text) is not None


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
    need(not is_long and (not isinstance(value, float) or math.isfinite(value)))
    return str(ord(value)) if isinstance(value, Letter) else spelled(value)
