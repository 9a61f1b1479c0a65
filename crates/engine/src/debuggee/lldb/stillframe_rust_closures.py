"""Closures of Rust, and the methods that take them: those of iterators, of `Option` and of `Result`.

A closure is evaluated here for each item, so no code of the program runs. Only iterators over values of the standard
library are known, which read and change nothing.
"""

import functools
import itertools
import re
import struct
import time

import lldb
import stillframe_rust as rust
from stillframe_rust_numbers import TYPE, width
from stillframe_rust_patterns import rest_until, single
from stillframe_values import Code, Failed, Integer, Letter, Optional, Single, Variant, need, needed, simple

NO_ORDER = "the value is `None`: the two have no order"
NOT_FOUND = "the value is `None`: no item fits"
NOTHING = "the value is `None`"
# How many items an iterator gives.
MOST = 10_000
# How long the closures of an expression may take, in seconds. Nothing else is answered meanwhile.
LONGEST = 3
OPTIONS = re.compile(r"^core::([a-z_]+::)*(Option|Result)<")
RANGE = re.compile(r"^core::ops::range::Range(Inclusive)?<")


class Closure:
    """`|a, b| a + b`, or the path of a method that is called on its first argument."""

    def __init__(self, evaluation):
        self.evaluation, self.patterns = evaluation, []
        if evaluation.peek() == "move":
            evaluation.at += 1
        if not evaluation.take("||"):
            evaluation.expect("|")
            while not evaluation.take("|"):
                self.patterns.append(single(evaluation))
                skip_type(evaluation)
                evaluation.comma("|")
        self.body = rest_until(evaluation, {",", ")"})

    def __call__(self, *arguments):
        self.evaluation.until = self.evaluation.until or time.monotonic() + LONGEST
        if time.monotonic() > self.evaluation.until:
            raise Failed(f"the closures take more than {LONGEST} s to evaluate here; ask about fewer items")
        known = dict(self.evaluation.locals)
        try:
            need(len(arguments) == len(self.patterns) and all(fits(one) for fits, one in zip(self.patterns, arguments)))
            return self.body()
        finally:
            self.evaluation.locals = known


class Items:
    """What an iterator has yet to give."""

    def __init__(self, source):
        self.source = limited(source)

    def __iter__(self):
        return self.source


class Collected(list):
    """What `collect` makes."""


class Order(int):
    """An `Ordering`."""

    @property
    def name(self):
        return ("Equal", "Greater", "Less")[self]


OF_ORDERS = {
    "is_lt": lambda order: order < 0,
    "is_le": lambda order: order <= 0,
    "is_gt": lambda order: order > 0,
    "is_ge": lambda order: order >= 0,
    "is_eq": lambda order: order == 0,
    "is_ne": lambda order: order != 0,
    "reverse": lambda order: Order(-order),
    "then": lambda order, other: order or other,
    "then_with": lambda order, closure: order or checked(closure()),
}


def ordering(value):
    """An `Ordering` of the program; None for a value that cannot be read."""
    names = {"Less": -1, "Equal": 0, "Greater": 1}
    name = (value.GetValue() or "").rpartition("::")[2]
    return Order(names[name]) if name in names else None


def limited(source):
    for number, item in enumerate(source):
        if number == MOST:
            raise Failed(f"an iterator reads the first {MOST:,} items here, and it has more")
        yield item


def skip_type(evaluation):
    """The type of a parameter."""
    if evaluation.peek() == ":":
        while evaluation.peek() not in ("|", ",", None):
            evaluation.at += 1


def generics(evaluation):
    """The types between a method's name and its arguments, as in `sum::<u32>()`."""
    if evaluation.peek() != ":":
        return ""
    evaluation.at += 2
    written, depth = [], 0
    while text := evaluation.peek():
        written.append(text)
        evaluation.at += 1
        depth += text.count("<") - (text.count(">") if text != "->" else 0)
        if depth <= 0:
            break
    return "".join(written)[1:-1]


def chained(evaluation, value, name, arguments, kind):
    """What a method returns that makes or uses an iterator, or takes a closure; None for another one."""
    value = range_of(evaluation, value)
    if isinstance(value, Range) and name in OF_ITEMS:
        value = Items(value.items())
    if isinstance(value, Items):
        if name not in OF_ITEMS:
            raise Failed(f"`{name}` of an iterator cannot be evaluated here")
        return OF_ITEMS[name](Given(evaluation, kind), value, *map(callable_of(evaluation), arguments))
    if isinstance(value, list) and name not in SOURCES:
        return of_list(evaluation, value, name, arguments)
    if isinstance(value, Range) and name in ("contains", "is_empty"):
        return value.has(evaluation, evaluation.plain(arguments[0])) if arguments else not any(True for _ in value.items())
    if name == "load" and isinstance(value, lldb.SBValue):
        held = evaluation.types.settled(value, is_whole=False)
        is_truth = re.search(r"::Atomic(Bool$|<bool>$)", evaluation.types.name_of(held))
        return bool(simple(evaluation.types.settled(value))) if is_truth else None
    if name in ORDERS and len(arguments) == 1:
        if name == "total_cmp":
            value, arguments = total(evaluation.plain(value)), [total(evaluation.plain(arguments[0]))]
        order = compared(evaluation, value, arguments[0])
        return Optional(order, NO_ORDER) if name == "partial_cmp" else needed(order)
    if name in OF_ORDERS and isinstance(value, lldb.SBValue) and evaluation.types.name_of(value) == "core::cmp::Ordering":
        value = ordering(value)
    if isinstance(value, Order):
        return OF_ORDERS[name](value, *arguments) if name in OF_ORDERS else None
    if name in SOURCES:
        found = source_of(evaluation, value, name, arguments)
        if found is not None:
            return found if name == "as_bytes" else Items(found)
    if name == "parse":
        text = evaluation.plain(value)
        return parsed(text, kind) if isinstance(text, str) else None
    if name == "flatten" and (option := as_option(evaluation, value)) is not None:
        return option.content if option.is_good() else Optional(None)
    if name in ("join", "concat") and isinstance(value, lldb.SBValue):
        found = evaluation.types.sequence(value)
        return None if found is None else of_list(evaluation, list(limited(found)), name, arguments)
    if name in OF_OPTIONS and (option := as_option(evaluation, value)) is not None:
        return OF_OPTIONS[name](Given(evaluation, kind), option, *map(callable_of(evaluation), arguments))
    if any(isinstance(one, Closure) for one in arguments):
        raise Failed(f"`{name}` with a closure cannot be evaluated here")
    return None


def range_of(evaluation, value):
    """A range of the program as one of the expression."""
    if not isinstance(value, lldb.SBValue):
        return value
    found = evaluation.types.settled(value)
    written = RANGE.match(evaluation.types.name_of(found))
    if written is None:
        return value
    least, most = (evaluation.plain(evaluation.field(found, name)) for name in ("start", "end"))
    return Range(least, most, bool(written.group(1)))


def parsed(text, kind):
    """What `parse` makes of a text."""
    number = TYPE.match(kind)
    if number is not None:
        is_number = re.fullmatch(r"[+-]?[0-9]+" if number.group(1) == "i" else r"\+?[0-9]+", text)
        found = Integer(int(text), width(number.group(2)), number.group(1) == "i") if is_number else None
        found = None if found is None or found != int(text) else found
    elif kind in ("f32", "f64"):
        is_number = re.fullmatch(r"(?i)[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", text)
        found = (Single if kind == "f32" else float)(text) if is_number else None
    elif kind in ("bool", "char"):
        found = {"true": True, "false": False}.get(text) if kind == "bool" else Letter(text) if len(text) == 1 else None
    else:
        raise Failed("`parse` is evaluated here with a type of numbers, as in `parse::<u32>()`")
    return Optional(found, f"the value is `Err`: `{text}` does not have this type", "Err" if found is None else "Ok")


def callable_of(evaluation):
    """Arguments, of which a path such as `String::len` is a function."""

    def found(argument):
        if isinstance(argument, Variant) and argument.content is None and "::" in argument.path:
            return lambda value, *others: evaluation.called(value, argument.name, list(others))
        return argument

    return found


class Given:
    """The evaluation, and the type that was given to a method."""

    def __init__(self, evaluation, kind):
        self.evaluation, self.kind = evaluation, kind

    def holds(self, closure, *arguments):
        return self.evaluation.truth(checked(closure(*arguments)))

    def plain(self, value):
        return self.evaluation.plain(value)

    def option(self, value):
        return needed(as_option(self.evaluation, value))


def checked(value):
    need(not isinstance(value, Code))
    return value


def as_option(evaluation, value):
    """An option or a result of the program as one of the expression; None for another value."""
    if not isinstance(value, lldb.SBValue):
        return value if isinstance(value, Optional) else None
    value = evaluation.types.settled(value)
    if not OPTIONS.match(evaluation.types.name_of(value)):
        return None
    name, content = evaluation.types.variant(value)
    return Optional(content, NOTHING if name == "None" else lambda: f"the value is `{rust.text(value, 1, 100)}`", name)


def source_of(evaluation, value, name, arguments):
    """The items of a value of the standard library; None for another value."""
    types = evaluation.types
    if name in TEXT_SOURCES:
        text = evaluation.plain(value)
        return TEXT_SOURCES[name](text, *map(evaluation.plain, arguments)) if isinstance(text, str) else None
    if name in ("windows", "chunks"):
        found = list(limited(parts_of(Given(evaluation, ""), value)))
        count = evaluation.plain(arguments[0])
        starts = range(len(found) - count + 1) if name == "windows" else range(0, len(found), count)
        return (found[at : at + count] for at in starts)
    if (option := as_option(evaluation, value)) is not None:
        return [option.content] if option.is_good() else []
    if not isinstance(value, lldb.SBValue):
        return value.items() if isinstance(value, Range) else value if isinstance(value, list) else None
    value = types.settled(value)
    if name in ("keys", "values", "into_keys", "into_values"):
        is_key = "keys" in name
        return (one[0 if is_key else 1] for one in types.all_entries(value)) if types.is_map(value) else None
    if types.is_map(value):
        return types.all_entries(value)
    if types.is_set(value):
        return (key for key, _ in types.all_entries(value))
    return types.sequence(value)


class Range:
    """`1..5`, `1..=5` or `1..`."""

    def __init__(self, least, most, is_closed):
        self.least, self.most, self.is_closed = least, most, is_closed

    def items(self):
        need(not any(isinstance(one, float) for one in (self.least, self.most)))
        if isinstance(self.least, Letter):
            return map(Letter, map(chr, range(ord(self.least), ord(self.most) + self.is_closed)))
        kind = self.least if isinstance(self.least, Integer) else self.most
        made = (lambda one: Integer(one, kind.bits, kind.is_signed)) if isinstance(kind, Integer) else int
        # Not in their type: what is after the last may not fit.
        numbers = itertools.count(int(self.least)) if self.most is None else range(self.least, int(self.most) + self.is_closed)
        return map(made, numbers)

    def has(self, evaluation, value):
        within = "<=" if self.is_closed else "<"
        return evaluation.compare("<=", self.least, value) and (
            self.most is None or evaluation.compare(within, value, self.most)
        )


def compared(evaluation, left, right):
    """How two values are ordered; None for those of which neither is less and that are not equal, such as NaN."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return next((one for one in map(functools.partial(compared, evaluation), left, right) if one != 0), Order(0))
    left, right = (evaluation.plain(one) for one in (left, right))
    if evaluation.compare("==", left, right):
        return Order(0)
    signs = {">": 1, "<": -1}
    return next((Order(order) for sign, order in signs.items() if evaluation.compare(sign, left, right)), None)


def total(number):
    """A whole number that is ordered as `total_cmp` orders a number with a fraction, of which each has a place."""
    need(isinstance(number, float))
    bits = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else bits ^ ((1 << 63) - 1)


def best(sign, key=None):
    """The largest item, of several the last, or the smallest, of several the first, as in Rust."""

    def found(given, items, *closure):
        chosen, most = None, None
        for item in items:
            order = 1
            if key == "by":
                order = 1 if chosen is None else sign * given.plain(checked(closure[0](item, chosen)))
            else:
                ranked = checked(closure[0](item)) if key == "key" else item
                found = Order(1) if chosen is None else needed(compared(given.evaluation, ranked, most))
                order = found if chosen is None else sign * found
            if order > 0 or not order and sign > 0:
                chosen, most = item, None if key == "by" else ranked
        return Optional(chosen, "the value is `None`: the iterator is empty")

    return found


def added(sign, start):
    def found(given, items):
        first = {"f32": Single, "f64": float}.get(given.kind, int)(start)
        return functools.reduce(lambda one, other: given.evaluation.combined(sign, one, given.plain(other)), items, first)

    return found


def filter_mapped(given, items, closure):
    found = (given.option(checked(closure(item))) for item in items)
    return Items(option.content for option in found if option.is_good())


def flattened(given, items, closure=lambda item: item):
    return Items(inner for item in items for inner in parts_of(given, checked(closure(item))))


def parts_of(given, value):
    return value if isinstance(value, (Items, list)) else needed(source_of(given.evaluation, value, "iter", []))


def collected(given, items):
    name = re.sub(r"<.*", "", given.kind).rpartition("::")[2]
    if name not in ("", "String", "Vec"):
        raise Failed(f"`collect` makes a `Vec` or a `String` here, not a `{name}`")
    found = Collected(items)
    return "".join(map(given.plain, found)) if name == "String" else found


def numbered(items):
    return ((Integer(at, 64, False), item) for at, item in enumerate(items))


def first(items, reason=NOT_FOUND):
    return Optional(next(iter(items), None), reason)


ORDERS = {"cmp", "partial_cmp", "total_cmp"}
TEXT_SOURCES = {
    "chars": lambda text: map(Letter, text),
    "as_bytes": lambda text: [Integer(one, 8, False) for one in text.encode()],
    "bytes": lambda text: (Integer(one, 8, False) for one in text.encode()),
    "char_indices": lambda text: (
        (Integer(len(text[:at].encode()), 64, False), Letter(one)) for at, one in enumerate(text)
    ),
    "split": lambda text, by: text.split(by),
    "split_whitespace": lambda text: text.split(),
    "lines": lambda text: [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else [],
}
SOURCES = {"iter", "into_iter", "windows", "chunks", "keys", "values", "into_keys", "into_values", *TEXT_SOURCES}
OF_ITEMS = {
    "iter": lambda _given, items: items,
    "into_iter": lambda _given, items: items,
    "by_ref": lambda _given, items: items,
    "copied": lambda _given, items: items,
    "cloned": lambda _given, items: items,
    "peekable": lambda _given, items: items,
    "map": lambda _given, items, closure: Items(checked(closure(item)) for item in items),
    "filter": lambda given, items, closure: Items(item for item in items if given.holds(closure, item)),
    "filter_map": filter_mapped,
    "flat_map": flattened,
    "flatten": flattened,
    "enumerate": lambda _given, items: Items(numbered(items)),
    "rev": lambda _given, items: Items(reversed(list(items))),
    "skip": lambda given, items, count: Items(itertools.islice(items, given.plain(count), None)),
    "take": lambda given, items, count: Items(itertools.islice(items, given.plain(count))),
    "step_by": lambda given, items, count: Items(itertools.islice(items, 0, None, given.plain(count))),
    "take_while": lambda given, items, closure: Items(
        itertools.takewhile(lambda item: given.holds(closure, item), items)
    ),
    "skip_while": lambda given, items, closure: Items(
        itertools.dropwhile(lambda item: given.holds(closure, item), items)
    ),
    "zip": lambda given, items, other: Items(zip(items, parts_of(given, other))),
    "chain": lambda given, items, other: Items(itertools.chain(items, parts_of(given, other))),
    "any": lambda given, items, closure: any(given.holds(closure, item) for item in items),
    "all": lambda given, items, closure: all(given.holds(closure, item) for item in items),
    "count": lambda _given, items: Integer(sum(1 for _ in items), 64, False),
    "len": lambda _given, items: Integer(sum(1 for _ in items), 64, False),
    "sum": added("+", 0),
    "product": added("*", 1),
    "position": lambda given, items, closure: first(at for at, item in numbered(items) if given.holds(closure, item)),
    "find": lambda given, items, closure: first(item for item in items if given.holds(closure, item)),
    "find_map": lambda given, items, closure: first(filter_mapped(given, items, closure)),
    "next": lambda _given, items: first(items, NOTHING),
    "nth": lambda given, items, at: first(itertools.islice(items, given.plain(at), None), NOTHING),
    "last": lambda _given, items: first(list(items)[-1:], NOTHING),
    "max": best(1),
    "min": best(-1),
    "max_by_key": best(1, "key"),
    "min_by_key": best(-1, "key"),
    "max_by": best(1, "by"),
    "min_by": best(-1, "by"),
    "fold": lambda _given, items, start, closure: functools.reduce(
        lambda one, item: checked(closure(one, item)), items, start
    ),
    "collect": collected,
}


def of_list(evaluation, items, name, arguments):
    """A method of what was collected, or of a literal such as `[1, 2]`."""
    if name == "contains":
        return any(evaluation.compare("==", item, arguments[0]) for item in items)
    if name == "len":
        return Integer(len(items), 64, False)
    if name == "is_empty":
        return not items
    if name in ("first", "last", "get"):
        at = {"first": 0, "last": -1}.get(name)
        at = evaluation.plain(arguments[0]) if at is None else at
        return Optional(items[at] if -len(items) <= at < len(items) else None)
    if name in ("join", "concat"):
        return "".join(arguments).join(map(evaluation.plain, items))
    raise Failed(f"`{name}` of a list that is not in the program cannot be evaluated here")


def is_option(wanted):
    """Whether an option or a result is of a variant."""
    pair = {wanted, {"Some": "None", "None": "Some", "Ok": "Err", "Err": "Ok"}[wanted]}

    def found(_given, option):
        if option.name not in pair:
            raise Failed(f"the value is `{option.name}`, which has no `is_{wanted.lower()}`")
        return option.name == wanted

    return found


def mapped(_given, option, closure):
    """What a function makes of what is there."""
    if not option.is_good():
        return Optional(None, f"the value is `{option.name}`", option.name)
    return checked(closure(option.content))


def content_or(_given, option, other):
    """What is there, or else what a function makes of what is there instead."""
    if option.is_good():
        return option.content
    return checked(other() if option.name == "None" else other(option.content))


def content_or_default(_given, option):
    if not option.is_good():
        raise Failed(f"the value is `{option.name}`, and the default of its type is not known here")
    return option.content


def holds(wanted, otherwise=None):
    """Whether an option or a result is of a variant and what is in it fits, or is of another variant."""
    return lambda given, option, closure: option.name == otherwise or (
        option.name == wanted and given.holds(closure, option.content)
    )


OF_OPTIONS = {
    **{f"is_{name.lower()}": is_option(name) for name in ("Some", "None", "Ok", "Err")},
    "unwrap": lambda _given, option: option.unwrapped(),
    "expect": lambda _given, option, _message: option.unwrapped(),
    "unwrap_err": lambda _given, option: option.unwrapped("Err"),
    "unwrap_or": lambda _given, option, other: option.content if option.is_good() else other,
    "unwrap_or_default": content_or_default,
    "copied": lambda _given, option: option,
    "cloned": lambda _given, option: option,
    "iter": lambda _given, option: Items([option.content] if option.is_good() else []),
    "is_some_and": holds("Some"),
    "is_none_or": holds("Some", "None"),
    "is_ok_and": holds("Ok"),
    "is_err_and": holds("Err"),
    "map": lambda given, option, closure: mapped(
        given, option, lambda content: Optional(checked(closure(content)), name=option.name)
    ),
    "and_then": mapped,
    "filter": lambda given, option, closure: Optional(option.content if holds("Some")(given, option, closure) else None),
    "map_or": lambda _given, option, other, closure: checked(closure(option.content)) if option.is_good() else other,
    "map_or_else": lambda given, option, other, closure: (
        mapped(given, option, closure) if option.is_good() else content_or(given, option, other)
    ),
    "unwrap_or_else": content_or,
    "ok": lambda _given, option: Optional(option.content if option.name == "Ok" else None),
    "err": lambda _given, option: Optional(option.content if option.name == "Err" else None),
}


def parameters(texts):
    """The names of the parameters of closures, between bars, and those in the patterns of `matches!`."""
    found, inside, depth = set(), False, None
    for before, text in zip(texts, texts[1:]):
        if text == "!" and before == "matches":
            depth = 0
        elif depth is not None:
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            # The pattern is after the first comma.
            is_pattern = inside is None
            if depth == 0 or is_pattern and text == "if":
                inside, depth = False, None
            elif depth == 1 and text == ",":
                inside = None
            elif is_pattern:
                found.add(text)
        elif text == "|":
            inside = not inside and before in ("(", ",", "move")
        elif inside:
            found.add(text)
    return found
