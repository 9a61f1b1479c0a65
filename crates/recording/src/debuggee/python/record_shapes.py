"""How the objects of each type are read: what kind of contents they have, and where Python keeps their attributes.

Nothing here runs code of the program.
"""

import enum
import types
from collections import Counter, OrderedDict, deque

FUNCTION, LIST, DICT, SET, TUPLE, INSTANCE, OPAQUE, CLASS = range(8)

SIMPLE = (int, str, float, bool, type(None), bytes, complex)

class_dict = type.__dict__["__dict__"].__get__
class_order = type.__dict__["__mro__"].__get__
class_module = type.__dict__["__module__"].__get__
class_name = type.__dict__["__qualname__"].__get__

# The attribute by which an object of a class derived from one of these types has the string or number that it is.
VALUE = "__value__"
VALUES = ((str, str.__str__), (int, int.__int__), (float, float.__float__))
VALUES += ((bytes, lambda value: bytes.__getitem__(value, slice(None))),)

# Types of Python's own library whose objects only hold what the program gives them.
HOLDERS = (("types", "SimpleNamespace"), ("argparse", "Namespace"), ("collections", "ChainMap"))
HOLDERS += (("collections", "UserDict"), ("collections", "UserList"))
# The modules of classes whose methods change no containers of those that derive from them.
HARMLESS = ("builtins", "abc", "typing", "enum")


# What has methods that change it, and a length.
SIZED = (list, dict, set, deque)
# What classes have that gives no part of an object.
METHODS = (types.FunctionType, types.MemberDescriptorType, staticmethod, classmethod)


class Shape:
    """How the values of a type are read."""

    __slots__ = ("kind", "name", "dictionary", "slots", "fields", "has_own", "is_foreign", "is_queue", "is_ordered", "read", "is_special", "is_weak")

    def __init__(self, kind, name, dictionary=None, slots=(), fields=(), is_foreign=False, is_queue=False, is_ordered=False, read=None):
        self.kind, self.name, self.dictionary, self.slots = kind, name, dictionary, slots
        # The names of the items of a named tuple.
        self.fields = fields
        # It is a container that has attributes, too.
        self.has_own = kind != INSTANCE and (dictionary is not None or len(slots) > 0)
        # Methods of libraries change what is in the containers that it has.
        self.is_foreign = is_foreign
        # A list that is a `deque`.
        self.is_queue = is_queue
        # An `OrderedDict`, whose order is not the one of the dictionary that it is.
        self.is_ordered = is_ordered
        # What gives the contents and the attributes of an array or a table, or parts of one.
        self.read = read
        # record_native.c leaves it to Python, and what is new in a container that has attributes.
        self.is_special = is_foreign or is_queue or is_ordered or read is not None
        # Whether objects can be referred to weakly, until one cannot.
        self.is_weak = True


def shape_of(kind, is_user_module):
    """How the objects of a type are read."""
    # Before Python 3.9, some of its own types are completed when an attribute is first asked for.
    type.__getattribute__(kind, "__mro__")
    name = class_name(kind)
    if issubclass(kind, enum.Enum):
        return Shape(OPAQUE, name, members(kind, is_user_module)[0])
    module = module_of(kind)
    is_users = is_user_module(module)
    for base, number in ((list, LIST), (dict, DICT), (tuple, TUPLE), (set, SET), (frozenset, SET)):
        if issubclass(kind, base):
            own = members(kind, is_user_module) if is_users else (None, ())
            fields = fields_of(kind) if base is tuple else ()
            return Shape(number, name, *own, fields=fields, is_ordered=issubclass(kind, OrderedDict))
    if issubclass(kind, deque):
        dictionary, slots = members(kind, is_user_module) if is_users else (None, ())
        return Shape(LIST, name, dictionary, slots, is_queue=True)
    if issubclass(kind, BaseException) and not is_users:
        # Its text says most, and the program may put attributes on it.
        return Shape(OPAQUE, name, members(kind, is_user_module)[0], tuple(of_exceptions(kind)))
    # The numbers of libraries say more as text.
    slots = [(VALUE, value) for base, value in VALUES if issubclass(kind, base) and (is_users or base is str)]
    if not is_users and (module, name) not in HOLDERS:
        return Shape(INSTANCE, name, None, tuple(slots)) if slots else Shape(OPAQUE, name)
    dictionary, own = members(kind, is_user_module)
    slots += own
    if issubclass(kind, BaseException):
        slots += of_exceptions(kind)
    if dictionary is None and not slots:
        return Shape(OPAQUE, name)
    is_foreign = any(each not in HARMLESS and not is_user_module(each) for each in map(module_of, class_order(kind)))
    return Shape(INSTANCE, name, dictionary, tuple(slots), is_foreign=is_foreign)


def of_exceptions(kind):
    """What gives the attributes that an exception has from Python's own classes, such as `errno`, by their names."""
    found = [("args", BaseException.__dict__["args"].__get__), ("__cause__", unless_none(BaseException.__dict__["__cause__"]))]
    for owner in class_order(kind):
        if issubclass(owner, BaseException) and module_of(owner) == "builtins":
            for attribute, member in class_dict(owner).items():
                if type(member) is types.MemberDescriptorType and attribute[:1] != "_":
                    found.append((attribute, unless_none(member)))
    return found


def unless_none(member):
    """What reads an attribute that is as good as missing if it is None."""

    def read(value):
        found = member.__get__(value)
        if found is None:
            raise AttributeError
        return found

    return read


def module_of(kind):
    """The name of the module of a class; a program may give it anything else."""
    module = class_module(kind)
    return module if type(module) is str else ""


def members(kind, is_user_module):
    """What gives the dictionary of an object, or None, and its slots, by their names."""
    dictionary, slots = None, []
    for owner in class_order(kind):
        for attribute, member in class_dict(owner).items():
            if attribute == "__dict__" and type(member) in (types.GetSetDescriptorType, types.MemberDescriptorType):
                dictionary = dictionary or member.__get__
            elif type(member) is types.MemberDescriptorType and owner is not object and is_user_module(module_of(owner)):
                slots.append((attribute, member.__get__))
    return dictionary, tuple(slots)


def own_dictionary(shape, value):
    """The attributes of an object that are not in slots."""
    own = shape.dictionary(value) if shape.dictionary is not None else {}
    # That of a class of the program may have its own methods.
    is_of_program = type(own) is not dict and issubclass(type(own), dict)
    return dict(dict.items(own)) if is_of_program else own


def fills_itself(kind):
    """Whether dictionaries of a type may make an item when it is read."""
    has_hook = next((base for base in class_order(kind) if "__missing__" in class_dict(base)), Counter)
    return has_hook is not Counter


def is_given_by_code(kind, name, is_user_module):
    """Whether an attribute of a class's objects comes from code of the program, such as a property or `__getattr__`."""
    for base in class_order(kind):
        found = class_dict(base).get(name)
        if found is not None:
            is_own = is_user_module(module_of(base)) and type(found) not in METHODS
            return is_own and any("__get__" in class_dict(each) for each in class_order(type(found)))
    readers = ("__getattr__", "__getattribute__")
    return any(each in class_dict(base) for each in readers for base in class_order(kind) if is_user_module(module_of(base)))


def has_identity(kind):
    """Whether an object as a key is identified by itself, whatever it contains."""
    return next(base for base in class_order(kind) if "__hash__" in class_dict(base)) is object


def fields_of(kind):
    """The names of the items of a named tuple; none of another one."""
    found = next((class_dict(base)["_fields"] for base in class_order(kind) if "_fields" in class_dict(base)), ())
    return found if type(found) is tuple and all(type(name) is str for name in found) else ()


def size_of(value):
    """The length of a container; None of anything else."""
    for base in SIZED:
        if issubclass(type(value), base):
            return base.__len__(value)
    return None
