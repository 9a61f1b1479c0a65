"""Compares values without running code of the program.

Built-in classes compare without running anything else, and so do subclasses that do not override the comparison. An
instance of a class that inherits it from `object` equals only itself. A comparison that needs a method of the program
is refused, unless something else decides it.
"""

from stillframe_types import class_dict, class_name, class_order

# The depth to which containers are compared.
DEPTH = 50


class Kinds:
    """A set of types, compared by identity: a metaclass may define `__eq__`."""

    def __init__(self, *kinds):
        self.ids = frozenset(id(kind) for kind in kinds)

    def __contains__(self, kind):
        return id(kind) in self.ids

    def __add__(self, others):
        together = Kinds()
        together.ids = self.ids | others.ids
        return together


NUMBERS = Kinds(bool, int, float, complex)
TEXTS = Kinds(str, bytes, bytearray)
LISTS = Kinds(list, tuple)
SEQUENCES = TEXTS + LISTS + Kinds(range)
SETS = Kinds(set, frozenset)
DICT = Kinds(dict)
PLAIN = NUMBERS + TEXTS + Kinds(type(None), type(Ellipsis), type(NotImplemented), range)
BYTES = Kinds(bytes, bytearray)
# Built-in classes that define equality.
COMPARING = PLAIN + LISTS + SETS + DICT + Kinds(object)

MISSING = object()


class Refused(Exception):
    """A part of the expression may have side effects; the text says which, and why."""


def item_of(names, wanted):
    """The item of a dictionary with that name. A key of a string subclass may define `__eq__`; if there is one, keys
    are compared one by one."""
    for name in names:
        if type(name) is not str:
            break
    else:
        return names.get(wanted, MISSING)
    for name, value in names.items():
        if type(name) is str and name == wanted:
            return value
    return MISSING


def in_class(kind, name):
    """An attribute of a class or its base classes."""
    for owner in class_order(kind):
        found = item_of(class_dict(owner), name)
        if found is not MISSING:
            return found
    return MISSING


class Equality:
    """The comparisons of an evaluation that counts its steps and refuses side effects."""

    def comparing(self, node, value, method="__eq__"):
        """The built-in class that implements a comparison method of a value, looked up as Python does; refused if the
        program implements it."""
        kind = type(value)
        has_it = lambda base: kind in COMPARING or item_of(class_dict(base), method) is not MISSING
        owner = next(filter(has_it, class_order(kind)), None)
        # A subclass of bytes may export another buffer.
        if owner not in COMPARING or (owner in BYTES and owner is not kind):
            self.refuse(node, "needs the `%s` of `%s`, which would run" % (method, class_name(kind)))
        return owner

    def equal_to(self, node, left, right, depth=DEPTH):
        """Whether two values are equal, if that needs no code of the program."""
        self.step(node)
        if type(left) is type(right) and type(left) in PLAIN:
            return left == right
        if depth == 0:
            self.refuse(node, "is nested too deeply")
        kinds = own, other = self.comparing(node, left), self.comparing(node, right)
        if all(kind in NUMBERS for kind in kinds):
            met = own.__eq__(left, right)
            return (other.__eq__(right, left) if met is NotImplemented else met) is True
        if all(kind in BYTES for kind in kinds):
            return left == right
        if all(kind in SETS for kind in kinds):
            left, right = list(own.__iter__(left)), list(other.__iter__(right))
            return len(left) == len(right) and self.places_of(node, left, right, depth) is not None
        if own is not other:
            return False
        if own in LISTS:
            left, right = list(own.__iter__(left)), list(own.__iter__(right))
            return len(left) == len(right) and self.equal_pairs(node, zip(left, right), depth)
        if own is dict:
            return self.equal_dicts(node, list(dict.items(left)), list(dict.items(right)), depth)
        return own.__eq__(left, right) is True

    def equal_dicts(self, node, left, right, depth):
        keys = [key for key, _ in right]
        places = self.places_of(node, [key for key, _ in left], keys, depth) if len(left) == len(right) else None
        if places is None:
            return False
        pairs = [(value, right[place][1]) for (_, value), place in zip(left, places)]
        return self.equal_pairs(node, pairs, depth)

    def places_of(self, node, wanted, items, depth):
        """The indices of values among the items of a set or dictionary; None if one is missing."""
        places = [self.place_of(node, one, items, True, depth - 1) for one in wanted]
        return None if None in places else places

    def equal_pairs(self, node, pairs, depth):
        """Whether the items of two containers are equal. A known difference decides, even if another comparison was
        refused."""
        refused = None
        for one, other in pairs:
            try:
                # Containers treat identical items as equal.
                if one is not other and not self.equal_to(node, one, other, depth - 1):
                    return False
            except Refused as error:
                refused = error
        if refused is not None:
            raise refused
        return True

    def place_of(self, node, wanted, items, is_hashed, depth=DEPTH):
        """The index of a value among the items of a container, or None. The first match decides."""
        if is_hashed and type(wanted) not in SETS and self.is_plain(node, wanted):
            # It fails as in the program if there is none.
            hash(wanted)
        refused = None
        for place, item in enumerate(items):
            try:
                if item is wanted:
                    return place
                if self.equal_to(node, item, wanted, depth):
                    if is_hashed:
                        self.comparing(node, item, "__hash__")
                        self.comparing(node, wanted, "__hash__")
                    return place
            except Refused as error:
                refused = error
        if refused is not None:
            raise refused
        return None

    def check_plain(self, node, value):
        if not self.is_plain(node, value):
            self.refuse(node, "would be compared, which may run `%s`" % class_name(type(value)))

    def is_plain(self, node, value, depth=DEPTH):
        """Whether a value and its contents are built-in, so that comparing it runs nothing else."""
        self.step(node)
        kind = type(value)
        if kind in PLAIN or kind is type:
            return True
        if depth == 0:
            self.refuse(node, "is nested too deeply")
        if kind is dict:
            return all(
                self.is_plain(node, key, depth - 1) and self.is_plain(node, item, depth - 1)
                for key, item in list(value.items())
            )
        if kind in SETS + LISTS:
            return all(self.is_plain(node, item, depth - 1) for item in list(value))
        return False
