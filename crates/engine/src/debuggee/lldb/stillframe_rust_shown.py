"""How the values of expressions of Rust are shown."""

import lldb
from stillframe_rust_closures import Closure, Collected, Items, Order, Range
from stillframe_rust_numbers import Untyped, type_of
from stillframe_values import Failed, Optional, Span, need, simple

KINDS = {"Some": "Option<{}>", "None": "Option<_>", "Ok": "Result<{}, _>", "Err": "Result<_, {}>"}


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
        raise Failed(value.overflow)
    if isinstance(value, (Items, Closure, Range)):
        raise Failed("an iterator has no value of its own here: end it with `count`, `sum`, `any`, `find` or the like")
    if isinstance(value, Order):
        raise Failed(f"it is `{value.name}`; compare it, as in `== Ordering::{value.name}`")
    kinds = {(type(one), getattr(one, "bits", 0)) for one in value} if isinstance(value, list) else set()
    is_kept = len(kinds) == 1 and issubclass(kinds.copy().pop()[0], (int, float))
    if isinstance(value, tuple) or isinstance(value, list) and not is_kept:
        raise Failed("a value that is not in the program can only be shown if it is a number or a text; read its parts")
    return value
