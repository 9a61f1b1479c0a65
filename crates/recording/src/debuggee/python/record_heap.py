"""The objects of a recording: which they are, and what of their contents has been written.

An object is numbered when it is first seen, and keeps its number. Instances are referred to weakly; lists, dictionaries
and sets cannot be, and are released soon after only this module refers to them. Nothing here runs code of the program:
attributes are read from where Python keeps them, and items by the methods of the built-in types.
"""

import enum
import functools
import itertools
import operator
import sys
import time
import types
import weakref
from collections import ChainMap, OrderedDict, deque

from record_named import NAMED, Named
from record_shapes import CLASS, DICT, INSTANCE, LIST, OPAQUE, SET, SIMPLE, TUPLE, Shape
from record_shapes import class_name, fills_itself, has_identity, own_dictionary, shape_of, size_of
from record_tables import Items, Pairs, Tables, itself, reader_of
from record_wire import ABSENT, ATOM, ATOMIC, FALSE, INDEX, INTEGER, ITEM, LENGTH, MASK, NAME, NONE, OBJECT
from record_wire import REFERENCE, TRUE, WRITE

# Integers beyond this are written as text.
WIDE = 1 << 60
# How many texts and numbers are known by their value.
MOST_KNOWN = 50_000
# Objects that are known at once. Beyond, the oldest are numbered again when they are seen again.
MOST_OBJECTS = 300_000
# Objects below another that are compared after a line.
MOST_BELOW = 1000
# The same of the only object that a line changes: it, and what is directly in it.
WITH_PARTS = 2
# Containers that are compared after each line because others have methods of them.
MOST_WATCHED = 8
# Items of a `deque`, all of which move when the first is taken.
MOST_WAITING = 32
# After this many new objects, those of them that are gone are released.
NEW = 64
# The length of an instance of which it is written that its contents are not. The accelerator has this, too.
UNREAD = -2

# The types of what is kept of what has been written, if it contains others.
CONTENTS = (list, tuple, dict)
# What methods of a library change in the objects that derive from its classes, and what derives from these types.
CONTAINERS = (list, dict, set)

is_ = operator.is_
module_dict = types.ModuleType.__dict__["__dict__"].__get__


class Known:
    """An object that has a number."""

    __slots__ = ("number", "word", "held", "weak", "kind", "contents", "own", "length", "shape")

    def __init__(self, number, shape):
        self.number = number
        self.word = number << 3 | REFERENCE
        self.shape = shape
        self.kind = shape.kind
        self.held = self.weak = None
        # What has been written: items, or values by key. None if nothing was.
        self.contents = None
        # The same for the attributes of a container.
        self.own = None
        self.length = -1


class Heap(Named, Tables):
    """Numbers objects, and writes values and changes."""

    def __init__(self, wire, items, depth, most_text, is_user_module, render):
        self.wire, self.items, self.depth, self.most_text = wire, items, depth, most_text
        self.is_user_module, self.render = is_user_module, render
        self.known = {}
        # What is known of functions and members with attributes, by their words.
        self.functions = {}
        self.new = []
        self.texts, self.floats, self.tuples, self.keys = {}, {}, {}, {}
        self.shapes = {Items: Shape(LIST, "list", read=itself), Pairs: Shape(DICT, "dict", read=itself)}
        # Arrays by the memory that they share.
        self.sharing = {}
        # Containers that others have methods of, and may change at any time. The accelerator has this list.
        self.watched = []
        # What to do when the program has a first dictionary that makes the items that it is read for.
        self.on_filling = None
        self.atoms = 0
        self.swept = time.monotonic()
        self.pause = 0.01

    # -- values -----------------------------------------------------------------------------------------------------

    def word(self, value, depth=None):
        """The word of a value. What is new of it is written first."""
        kind = type(value)
        if kind is int:
            if -WIDE < value < WIDE:
                return (value << 3 | INTEGER) & MASK
            return self.atom("int", repr(value) if value.bit_length() < 4000 else "<int of %d bits>" % value.bit_length())
        if value is None:
            return NONE
        if kind is bool:
            return TRUE if value else FALSE
        if kind is str:
            word = self.texts.get(value)
            if word is None:
                word = self.atom("str", value, quoted=True)
                self.remember(self.texts, value, word)
            return word
        if kind is float:
            word = self.floats.get(value) if value else None
            if word is None:
                word = self.atom("float", repr(value))
                self.remember(self.floats, value, word)
            return word
        if kind in SIMPLE:
            return self.atom(kind.__name__, repr(value[: self.most_text] if kind is bytes else value))
        return self.object(value, kind, self.depth if depth is None else depth)

    def remember(self, table, value, word):
        if len(table) > MOST_KNOWN:
            table.clear()
        if value == value and value:
            table[value] = word

    def atom(self, type_name, text, quoted=False):
        """A value that is only text. The text of a string is the string itself."""
        wire, most = self.wire, self.most_text
        length = len(text)
        self.atoms += 1
        flags = (length << 2 if quoted else 0) | (2 if quoted else 0) | (length > most)
        data = text[:most].encode("utf-8", "replace")
        wire.blob(self.atoms << 5 | ATOM, data, wire.text(type_name) << 1 | 1, flags << 1 | 1)
        return self.atoms << 3 | ATOMIC

    def object(self, value, kind, depth):
        known = self.find(value)
        if known is None:
            shape = self.shapes.get(kind) or self.shape_of(kind)
            is_flat = shape.kind is TUPLE and not shape.has_own and tuple.__len__(value) <= 8
            if is_flat and all(map(is_simple, tuple.__iter__(value))):
                # Equal ones are one.
                items = tuple(tuple.__iter__(value))
                key = (kind,) + tuple(map(type, items)) + items
                number = self.tuples.get(key)
                if number is None:
                    known = self.numbered(value, shape, keep=False)
                    self.contents_of(known, value, 1)
                    number = known.word
                    self.remember(self.tuples, key, number)
                return number
            if shape.kind is OPAQUE and issubclass(kind, NAMED):
                return self.named(value, kind)
            known = self.numbered(value, shape)
        if known.contents is None and depth > 0:
            self.contents_of(known, value, depth)
        elif known.contents is None and known.kind is INSTANCE and known.length == -1:
            # Otherwise it would look like one without attributes. Containers have a length once they are read.
            known.length = UNREAD
            self.write(LENGTH << 5 | WRITE, known.number, NONE)
        return known.word

    def find(self, value):
        known = self.known.get(id(value))
        if known is None or known.held is value:
            return known
        if known.weak is not None and known.weak() is value:
            return known
        # Another object was in its place.
        self.let_go(known, id(value))
        return None

    def numbered(self, value, shape, keep=True):
        self.wire.objects += 1
        known = Known(self.wire.objects, shape)
        self.wire.record(known.number << 5 | OBJECT, self.wire.text(shape.name) << 3 | shape.kind)
        if keep:
            if shape.is_weak:
                try:
                    known.weak = weakref.ref(value)
                except TypeError:
                    shape.is_weak = False
            if known.weak is None:
                known.held = value
            self.known[id(value)] = known
            self.new.append(known)
            if len(self.new) > NEW:
                self.sweep()
        return known

    # -- contents ---------------------------------------------------------------------------------------------------

    def contents_of(self, known, value, depth):
        """Write what an object contains, for the first time."""
        known.contents = ()
        if known.length == UNREAD:
            known.length = -1
            self.write(LENGTH << 5 | WRITE, known.number, ABSENT)
        self.compare(known, value, depth)

    def check(self, value):
        """Write what has changed in an object since it was seen."""
        kind = type(value)
        if kind in SIMPLE:
            return
        if kind is types.FunctionType or issubclass(kind, enum.Enum):
            self.check_named(value, kind)
            return
        if kind is types.BuiltinMethodType and type(value.__self__) is not types.ModuleType:
            self.check(value.__self__)
        elif kind is functools.partial:
            for each in (value.func, *value.args):
                self.check(each)
        elif kind is memoryview and not is_released(value):
            self.check(value.obj)
        known = self.find(value)
        if known is None or known.contents is None:
            self.object(value, kind, self.depth)
        elif known.kind is not TUPLE or known.shape.has_own:
            self.compare(known, value, self.depth)
            if known.shape.is_foreign:
                for item in list((known.contents or {}).values()):
                    if issubclass(type(item), CONTAINERS):
                        self.check(item)
                        # The methods of a `ChainMap` change one that is in a list.
                        for each in list.__iter__(item) if issubclass(kind, ChainMap) and type(item) is list else ():
                            if issubclass(type(each), dict):
                                self.check(each)

    def check_below(self, value, most=MOST_BELOW):
        """The same for an object and what has been written of what is in it: all, or about as many objects."""
        waiting, seen = [value], set()
        self.check(value)
        for at in waiting:
            known = self.find(at)
            if known is None or type(known.contents) not in CONTENTS or known.number in seen:
                continue
            seen.add(known.number)
            if at is not value:
                self.check(at)
            if len(waiting) < most:
                contents = known.contents or ()
                contents = contents.values() if type(contents) is dict else contents
                waiting += [item for item in contents if type(item) not in SIMPLE]

    def check_item(self, value, key):
        """The same for one item, whose key is an integer or a string."""
        known = self.find(value)
        kind = type(value)
        if known is None or known.contents is None or kind is not list and kind is not dict:
            return self.check(value)
        number, contents = known.number, known.contents
        if kind is list:
            if type(key) is not int:
                return self.check(value)
            if key < 0:
                key += len(value)
            if not 0 <= key < len(value):
                return None
            item = value[key]
            if key < len(contents):
                if len(value) != known.length or not differ(contents[key], item):
                    return self.check(value) if len(value) != known.length else None
                contents[key] = item
            self.write(key << 7 | INDEX << 5 | WRITE, number, self.word(item, self.depth - 1))
        else:
            if len(value) != known.length or not is_plain(key) or key not in contents or key not in value:
                return self.check(value)
            item = value[key]
            if differ(contents[key], item):
                self.write(self.key_of(key) << 7 | ITEM << 5 | WRITE, number, self.word(item, self.depth - 1))
            contents[key] = item
        return None

    def watch(self, value):
        """From now on, compare a container after each line."""
        if size_of(value) is not None and not any(each is value for each in self.watched):
            self.check(value)
            self.watched.append(value)
            del self.watched[:-MOST_WATCHED]

    def check_watched(self):
        for value in list(self.watched):
            self.check(value)

    def has_watched_changed(self):
        """Whether others have changed something. Of sets and the like, only the length is compared."""
        for value in self.watched:
            known = self.known.get(id(value))
            if known is None or known.length != size_of(value):
                return True
            old = known.contents
            if known.shape.is_special or known.shape.has_own or not old:
                continue
            if known.kind == LIST and not all(map(is_, list.__iter__(value), old)):
                return True
            if known.kind == DICT and not has_same_pairs(value, old):
                return True
        return False

    def check_read(self, value):
        """The same for what an item was read of: a `defaultdict` and the like make those that they have not."""
        if type(value) is not dict and isinstance(value, dict):
            known = self.find(value)
            if known is not None and known.contents is not None and dict.__len__(value) != known.length:
                self.check(value)

    def check_attribute(self, value, name):
        """The same for one attribute."""
        known = self.find(value)
        if known is None or known.contents is None or known.kind != INSTANCE or known.shape.slots:
            return self.check(value)
        own = own_dictionary(known.shape, value)
        contents = known.contents
        if name not in own:
            return self.check(value)
        item = own[name]
        if name in contents:
            if contents[name] is item:
                return None
            if not differ(contents[name], item):
                contents[name] = item
                return None
        elif len(contents) >= self.items:
            return None
        if not contents:
            contents = known.contents = {}
        contents[name] = item
        self.write(self.wire.text(name) << 7 | NAME << 5 | WRITE, known.number, self.word(item, self.depth - 1))
        return None

    def compare(self, known, value, depth):
        kind = known.kind
        if known.shape.read is not None:
            return self.compare_table(known, value, depth)
        if kind is TUPLE and known.shape.fields:
            self.compare_named(known, dict(zip(known.shape.fields, tuple.__iter__(value))), depth)
            self.set_length(known, tuple.__len__(value))
        elif kind is LIST or kind is TUPLE:
            self.compare_items(known, value, depth)
        elif kind is DICT:
            self.compare_pairs(known, value, depth)
        elif kind is INSTANCE:
            self.compare_attributes(known, value, depth)
        elif kind is SET:
            self.compare_members(known, value, depth)
        elif kind is CLASS:
            self.compare_named(known, self.class_attributes(value), depth)
        else:
            self.compare_text(known, value)
        if known.shape.has_own:
            old, known.own = known.own or {}, self.attributes(known.shape, value, own_dictionary(known.shape, value))
            self.write_named(known, old, known.own, depth)
        return None

    def compare_items(self, known, value, depth):
        old, most = known.contents, self.items
        if known.shape.is_queue:
            base, length, most = list, deque.__len__(value), min(most, MOST_WAITING)
            try:
                value = list(itertools.islice(deque.__iter__(value), most))
            except RuntimeError:
                # Another thread changes it, and is seen to.
                return
        else:
            base = list if known.kind == LIST else tuple
            length = value.whole if type(value) is Items else base.__len__(value)
        if length == known.length and all(map(is_, base.__iter__(value), old)):
            return
        now = base.__getitem__(value, slice(0, most))
        number = known.number
        known.contents = now
        for index, item in enumerate(now):
            if index >= len(old) or differ(old[index], item):
                self.write(index << 7 | INDEX << 5 | WRITE, number, self.word(item, depth - 1))
        for index in range(len(now), len(old)):
            self.write(index << 7 | INDEX << 5 | WRITE, number, ABSENT)
        self.set_length(known, length)

    def compare_pairs(self, known, value, depth):
        length, old = value.whole if type(value) is Pairs else dict.__len__(value), known.contents or {}
        if known.shape.is_ordered:
            value = in_order(value)
        if length == known.length and has_same_pairs(value, old):
            return
        now = {}
        for key, item in list(dict.items(value)):
            if len(now) == self.items:
                break
            now[Same(key)] = item
        now = {same.key: item for same, item in now.items()} if all(is_plain(same.key) for same in now) else now
        known.contents = now
        number = known.number
        for key in old:
            if key not in now:
                self.write(self.key_of(key) << 7 | ITEM << 5 | WRITE, number, ABSENT)
        following, has_moved = iter(old), False
        for key, item in now.items():
            is_known = key in old
            has_moved = has_moved or key not in following
            if has_moved and is_known:
                # What is there before others that are new or have moved is written again, after them.
                self.write(self.key_of(key) << 7 | ITEM << 5 | WRITE, number, ABSENT)
            if has_moved or differ(old[key], item):
                self.write(self.key_of(key) << 7 | ITEM << 5 | WRITE, number, self.word(item, depth - 1))
        self.set_length(known, length)

    def compare_attributes(self, known, value, depth):
        shape, old = known.shape, known.contents or {}
        own = own_dictionary(shape, value)
        if not shape.slots and len(own) == len(old) and all(map(is_, own.values(), old.values())):
            return
        self.compare_named(known, self.attributes(shape, value, own), depth)

    def attributes(self, shape, value, own):
        """The attributes of an object by their names, from its own dictionary and its slots."""
        now = dict(list(own.items())[: self.items])
        for name, slot in shape.slots:
            try:
                now[name] = slot(value)
            except AttributeError:
                pass
        return now

    def compare_named(self, known, now, depth):
        """Write what is different in attributes, which are all that an object contains."""
        old, known.contents = known.contents or {}, now
        self.write_named(known, old, now, depth)

    def write_named(self, known, old, now, depth):
        for name in old:
            if name not in now:
                self.attribute_write(known, name, ABSENT)
        for name, item in now.items():
            if name not in old or differ(old[name], item):
                self.attribute_write(known, name, self.word(item, depth - 1))

    def attribute_write(self, known, name, word):
        self.write(self.wire.text(str(name)) << 7 | NAME << 5 | WRITE, known.number, word)

    def compare_members(self, known, value, depth):
        base = set if issubclass(type(value), set) else frozenset
        length, old = base.__len__(value), known.contents
        if length == known.length and all(map(is_, base.__iter__(value), old)):
            return
        now = [item for item, _ in zip(base.__iter__(value), range(self.items))]
        number, before = known.number, {self.key_of(item) for item in old}
        known.contents = now
        for item in now:
            key = self.key_of(item)
            if key in before:
                before.discard(key)
            else:
                self.write(key << 7 | ITEM << 5 | WRITE, number, self.word(item, depth - 1))
        for key in before:
            self.write(key << 7 | ITEM << 5 | WRITE, number, ABSENT)
        self.set_length(known, length)

    def compare_text(self, known, value):
        text, _, _ = self.render(value)
        if text != known.contents:
            known.contents = text
            self.write(NAME << 5 | WRITE, known.number, self.atom(known.shape.name, text))

    def set_length(self, known, length):
        if length != known.length:
            known.length = length
            self.write(LENGTH << 5 | WRITE, known.number, (length << 3 | INTEGER) & MASK)

    def write(self, key, number, word):
        self.wire.record(key, number << 2 | 3 | self.wire.by, word)

    def key_of(self, key):
        """The number of the text of a key of a dictionary or a member of a set."""
        return self.wire.text(self.text_of_key(key.key if type(key) is Same else key))

    def text_of_key(self, key, depth=0):
        kind = type(key)
        if issubclass(kind, str) and not issubclass(kind, enum.Enum):
            return repr(str.__str__(key)[: self.most_text])
        if is_plain(key):
            return repr(key)[: self.most_text]
        if kind is tuple and depth < self.depth:
            # Each takes three letters at least.
            texts = [self.text_of_key(part, depth + 1) for part in key[: self.most_text // 3]]
            return ("(%s,)" if len(texts) == 1 else "(%s)") % ", ".join(texts)[: self.most_text]
        if has_identity(kind) and not issubclass(kind, NAMED):
            # Its text may change, and others may have the same.
            number = self.object(key, kind, 1) >> 3
            return "%s #%d" % ((self.shapes.get(kind) or self.shape_of(kind)).name, number)
        text, _, _ = self.render(key)
        return text

    # -- letting go -------------------------------------------------------------------------------------------------

    def sweep(self, count=sys.getrefcount):
        """Release objects that nothing else refers to. New ones are checked often, all of them now and then."""
        now = time.monotonic()
        new, self.new = self.new, []
        # References are those of the list, the variable and the call, and of what is known of it.
        self.watched[:] = [each for each in self.watched if count(each) > (3 if is_weak(self.find(each)) else 4)]
        if now - self.swept > self.pause:
            for key, known in list(self.known.items()):
                # Two references are the object's own attribute, and the argument of the call.
                if known.weak() is None if known.held is None else count(known.held) <= 2:
                    self.let_go(known, key)
            self.swept = time.monotonic()
            self.pause = max(0.01, 20 * (self.swept - now))
        else:
            for known in new:
                if known.held is not None:
                    if count(known.held) <= 2:
                        self.let_go(known, id(known.held))
                elif known.weak() is None:
                    # Where it was is no longer known, but what it contained lives no longer than it.
                    known.contents = known.own = None
        if len(self.known) > MOST_OBJECTS:
            for key, known in list(self.known.items())[: MOST_OBJECTS // 2]:
                # The accelerator may keep what is known, and is to find nothing by it: this makes `None`.
                known.weak = type(None)
                self.let_go(known, key)

    def let_go(self, known, key):
        if self.known.get(key) is known:
            del self.known[key]
        known.held = known.contents = known.own = None

    # -- types ------------------------------------------------------------------------------------------------------

    def shape_of(self, kind):
        if issubclass(kind, dict) and self.on_filling is not None and fills_itself(kind):
            self.on_filling, note = None, self.on_filling
            note()
        table = reader_of(kind)
        if table is None:
            shape = shape_of(kind, self.is_user_module)
        else:
            shape = Shape(table[0], class_name(kind), read=table[1])
        self.shapes[kind] = shape
        return shape


class Same:
    """A key that is itself and equals nothing else, so that no `__eq__` of the program is called."""

    __slots__ = ("key",)

    def __init__(self, key):
        self.key = key

    def __hash__(self):
        return id(self.key)

    def __eq__(self, other):
        return type(other) is Same and other.key is self.key


def in_order(value):
    """The items of an `OrderedDict` in its order, where that can be read without code of the program."""
    if not all(map(is_plain, dict.__iter__(value))):
        return value
    try:
        return {key: dict.__getitem__(value, key) for key in OrderedDict.__iter__(value)}
    except (KeyError, RuntimeError):
        # Another thread changes it, and is seen to.
        return value


def has_same_pairs(value, old):
    return all(map(is_, dict.values(value), old.values())) and all(map(is_, dict.__iter__(value), old))


def is_weak(known):
    return known is None or known.held is None


def is_released(view):
    try:
        return view.obj is None
    except ValueError:
        return True


def is_simple(value):
    return type(value) in SIMPLE


def is_plain(key):
    """Whether a key is hashed and compared without code of the program."""
    return type(key) in SIMPLE or type(key) is tuple and all(map(is_simple, key))


def differ(old, new):
    if old is new:
        return False
    kind = type(old)
    # Zero has a sign.
    return kind is not type(new) or kind not in SIMPLE or old != new or kind is float and not old and repr(old) != repr(new)
