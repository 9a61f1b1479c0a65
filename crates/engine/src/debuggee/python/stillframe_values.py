"""Formats values as text of a bounded length."""

import collections
import time
import types

import stillframe_state as state
from stillframe_errors import message_of
from stillframe_limits import Interrupted, limited
from stillframe_modules import load
from stillframe_types import BRACKETS, BRACKETS_OF, PLAIN, SCALARS, STRINGS, container_kind, full_name, is_a, type_name

# How long the representation of one value may take, and those of one answer together, in seconds.
ONE_VALUE = 0.3
ALL_VALUES = 2.0

# Integers with more digits take quadratic time to print, and Python 3.11 refuses to.
MOST_BITS = 4000

# Characters of an argument of an exception.
MOST_ARGUMENT = 1000


class Renderer:
    """Formats values briefly, without running the program's code if possible, and otherwise within a time limit."""

    def __init__(self, limit):
        self.limit = limit
        self.began = time.monotonic()
        self.readers = {}

    def text(self, value):
        """A text, whether it is truncated, and the full length of the string or repr."""
        kind = type(value)
        if id(kind) in STRINGS:
            return self.string(value, self.limit), len(value) > self.limit, len(value)
        if id(kind) in BRACKETS:
            pieces, budget = [], [self.limit]
            self.write(value, pieces, budget, ())
            return "".join(pieces), budget[0] <= 0, None
        text = self.atom(value)
        if type(text) is tuple:
            pieces, budget = [], [self.limit]
            self.write_parts(value, text, pieces, budget, ())
            return "".join(pieces), budget[0] <= 0, None
        if len(text) <= self.limit:
            return text, False, None
        return text[: self.limit] + "...", True, len(text)

    def string(self, value, room):
        return repr(value) if len(value) <= room else repr(value[:room]) + "..."

    def atom(self, value):
        """The text of a value that is neither a string nor a container; for a value made of others, its parts."""
        kind = type(value)
        if id(kind) in SCALARS:
            return repr(value)
        if kind is int:
            return repr(value) if value.bit_length() <= MOST_BITS else "<int of %d bits>" % value.bit_length()
        if issubclass(kind, type):
            return "<class '%s'>" % full_name(value)
        if kind is types.FunctionType or kind is types.BuiltinFunctionType:
            return "<function %s>" % value.__qualname__
        if kind is types.ModuleType:
            return "<module '%s'>" % value.__dict__.get("__name__", "?")
        return self.parts(value, kind) or self.representation(value)

    def parts(self, value, kind):
        """The parts of a value of a well-known type."""
        reader = self.reader(kind)
        try:
            return reader[0](value, self.limit) if reader else None
        except Exception:
            # Another version of its package has a different layout.
            return None

    def reader(self, kind):
        """The reader for values of a type, or None."""
        if id(kind) not in self.readers:
            # Keep the type alive, so that its ID is not reused.
            self.readers[id(kind)] = kind, load("stillframe_known").reader_for(kind, state.side_effect_free)
        return self.readers[id(kind)][1]

    def write(self, value, pieces, budget, around):
        """Append an item of a container to `pieces`, while `budget` lasts."""
        kind = type(value)
        if id(kind) in BRACKETS:
            self.write_container(value, kind, pieces, budget, around)
            return
        text = self.string(value, max(budget[0], 8)) if id(kind) in STRINGS else self.atom(value)
        if type(text) is tuple:
            self.write_parts(value, text, pieces, budget, around)
            return
        if len(text) > budget[0] + 8:
            text = text[: max(budget[0], 8)] + "..."
        budget[0] -= len(text)
        pieces.append(text)

    def write_container(self, value, kind, pieces, budget, around):
        start, end = BRACKETS_OF[kind]
        if id(value) in around:
            pieces.append(start + "..." + end)
            return
        if not value and (kind is set or kind is frozenset):
            pieces.append(kind.__name__ + "()")
            return
        around += (id(value),)
        pieces.append(start)
        budget[0] -= len(start) + len(end)
        items = value.items() if kind is dict else value
        for index, item in enumerate(items):
            if index:
                pieces.append(", ")
                budget[0] -= 2
            if budget[0] <= 0:
                pieces.append("...")
                break
            if kind is dict:
                self.write(item[0], pieces, budget, around)
                pieces.append(": ")
                item = item[1]
            self.write(item, pieces, budget, around)
        if kind is tuple and len(value) == 1:
            pieces.append(",")
        if kind is collections.deque and value.maxlen is not None:
            end = "], maxlen=%d)" % value.maxlen
            budget[0] -= len(end) - 2
        pieces.append(end)

    def write_parts(self, value, parts, pieces, budget, around):
        """Like a container, with a label before each item."""
        start, items, end = parts
        if id(value) in around:
            pieces.append(start + "..." + end)
            return
        around += (id(value),)
        if len(start) > budget[0] + 8:
            start = start[: max(budget[0], 8)] + "..."
        pieces.append(start)
        budget[0] -= len(start) + len(end)
        for index, (label, item) in enumerate(items):
            if index:
                pieces.append(", ")
                budget[0] -= 2
            if budget[0] <= 0:
                pieces.append("...")
                break
            if type(label) is tuple:
                self.write(label[0], pieces, budget, around)
                label = ": "
            pieces.append(label)
            budget[0] -= len(label)
            self.write(item, pieces, budget, around)
        pieces.append(end)

    def representation(self, value):
        """The value's own repr, which may do anything."""
        name = type_name(value)
        if state.side_effect_free:
            return plain_representation(value)
        if state.runs_no_code:
            raise load("stillframe_ahead").NeedsCode
        if time.monotonic() - self.began > ALL_VALUES:
            return "<%s: not read, other values took too long>" % name
        try:
            text = limited(ONE_VALUE, repr, value)
            return text if type(text) is str else str.__str__(text)
        except Interrupted:
            return "<%s: its __repr__ took more than %d ms>" % (name, ONE_VALUE * 1000)
        except BaseException as error:
            return "<%s: its __repr__ raised %s>" % (name, message_of(error))


def plain_representation(value):
    """A description of a value without running its repr."""
    kind = type(value)
    if is_a(value, BaseException):
        arguments = BaseException.__dict__["args"].__get__(value)
        return "%s(%s)" % (type_name(value), ", ".join(map(argument_text, arguments)))
    return "<%s object>" % full_name(kind)


def argument_text(argument):
    """An argument of an exception, which may have the exception itself in it."""
    kind = container_kind(argument)
    inner = [argument] if kind is None else kind.values(argument) if kind is dict else kind.__iter__(argument)
    are_plain = all(id(type(each)) in PLAIN for each in inner)
    return Renderer(MOST_ARGUMENT).text(argument)[0] if are_plain else "<%s object>" % full_name(type(argument))
