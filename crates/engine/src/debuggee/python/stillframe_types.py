"""The types of values, read without running code of the program."""

import collections
import types


def ids(*kinds):
    """The IDs of types, which are compared by identity: a metaclass may define `__eq__`."""
    return frozenset(map(id, kinds))


SCALARS = ids(type(None), bool, float, complex, type(Ellipsis), type(NotImplemented))
STRINGS = ids(str, bytes, bytearray)
# Types of values that have neither items nor attributes to show.
PLAIN = SCALARS | STRINGS | ids(int)
FUNCTIONS = ids(types.FunctionType, types.BuiltinFunctionType, types.MethodType)
BRACKETS_OF = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
    collections.deque: ("deque([", "])"),
}
BRACKETS = ids(*BRACKETS_OF)

# A metaclass may override attribute access; these bypass it.
class_name = type.__dict__["__name__"].__get__
class_dict = type.__dict__["__dict__"].__get__
class_order = type.__dict__["__mro__"].__get__


def is_a(value, kinds):
    """Like `isinstance`, without reading the value's `__class__`, which may lie or raise."""
    return issubclass(type(value), kinds)


def type_name(value):
    return class_name(type(value))


def full_name(kind):
    module = class_dict(kind).get("__module__")
    return "%s.%s" % (module, class_name(kind)) if isinstance(module, str) else class_name(kind)


def container_kind(value):
    """The built-in container type of a value. Its methods are called directly, so that overrides of a subclass do not
    run."""
    for kind in (dict, list, tuple, set, frozenset, collections.deque):
        if is_a(value, kind):
            return kind
    return None


def instance_dict(value):
    try:
        if is_a(value, type):
            return dict(class_dict(value))
        # A class may define a property named `__dict__`.
        for owner in class_order(type(value)):
            own = class_dict(owner).get("__dict__")
            if type(own) in (types.GetSetDescriptorType, types.MemberDescriptorType):
                own = own.__get__(value)
                return dict(own) if is_a(own, dict) else {}
        return {}
    except BaseException:
        return {}
