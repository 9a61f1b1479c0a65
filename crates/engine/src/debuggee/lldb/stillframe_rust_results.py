"""What becomes of the values of expressions of Rust: how they are shown, and assignments to numbers, truth values and
characters, such as those in a vector, which LLDB does not find.
"""

import math
import re

import lldb
from stillframe_rust_closures import Closure, Collected, Items, Order, Range
from stillframe_rust_numbers import Untyped, computed, type_of
from stillframe_values import Code, Failed, Integer, Letter, Optional, Single, Span, kept, need, simple, spelled, text_of

KINDS = {"Some": "Option<{}>", "None": "Option<_>", "Ok": "Result<{}, _>", "Err": "Result<_, {}>"}
# Of a variable that never changes, the debug information names a copy.
COPIED = "the program may go on with the value it had"


def opened(evaluation, value):
    """What is in an option or a result, whose name the client adds. In place of nothing is a number, which is not shown."""
    text, kind, note = "{}", "{}", evaluation.note
    while isinstance(value, Optional):
        is_nothing = value.name == "None"
        text = text.replace("{}", value.name if is_nothing else f"{value.name}({{}})")
        kind = kind.replace("{}", KINDS[value.name])
        note, value = (value.reason, 0) if is_nothing else (None, value.unwrapped())
        evaluation.is_needed = True
    if isinstance(value, Collected) and not value:
        text, kind, value = text.replace("{}", "[]"), kind.replace("{}", "Vec<_>"), 0
    if isinstance(value, list):
        known = [simple(evaluation.types.settled(one)) if isinstance(one, lldb.SBValue) else one for one in value]
        value = value if None in known else type(value)(known)
    evaluation.form = {"text": text, "kind": kind.replace("{}", kind_of(value)), "note": note}
    return value


def kind_of(value):
    """The type of a value for which LLDB has one of C."""
    if isinstance(value, Collected):
        return f"Vec<{type_of(value[0])}>"
    return "str" if type(value) is str else "{}"


def shown(value):
    """The value of an expression, if it has one that LLDB can keep."""
    need(not isinstance(value, Span))
    if isinstance(value, Untyped):
        if value.overflow:
            raise Failed(value.overflow)
        return Integer(value)
    if isinstance(value, (Items, Closure, Range)):
        raise Failed("an iterator has no value of its own here: end it with `count`, `sum`, `any`, `find` or the like")
    if isinstance(value, Order):
        raise Failed(f"it is `{value.name}`; compare it, as in `== Ordering::{value.name}`")
    kinds = {(type(one), getattr(one, "bits", 0)) for one in value} if isinstance(value, list) else set()
    is_kept = len(kinds) == 1 and issubclass(kinds.copy().pop()[0], (int, float))
    if isinstance(value, tuple) or isinstance(value, list) and not is_kept:
        raise Failed("a value that is not in the program can only be shown if it is a number or a text; read its parts")
    return value


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
    # The name may be on a line after that of `mut`.
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
