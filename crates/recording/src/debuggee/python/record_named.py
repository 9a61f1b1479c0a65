"""Classes, functions, modules and members of enumerations, which are recorded by their names.

Their attributes belong to separate objects, which are written like others. Nothing here runs code of the program.
"""

import enum
import types

from record_shapes import CLASS, FUNCTION, SIMPLE, VALUE, VALUES, Shape
from record_shapes import class_dict, class_module, class_name, class_order, module_of, own_dictionary

# What is shown by name.
NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType, enum.Enum)

# The attribute by which a class has the classes that it inherits from, and the object with a function's attributes it.
BASES, OF = "__bases__", "__function__"


class Named:
    """The part of a `Heap` that writes what is recorded by its name."""

    def named(self, value, kind):
        """A function, a class, a module or a member of an enumeration."""
        if issubclass(kind, type) and self.has_state(value):
            return self.new_class(value)
        key = id(value)
        entry = self.shapes.get(key)
        if entry is None or entry[0] is not value:
            text, _, _ = self.render(value)
            entry = self.shapes[key] = (value, self.atom(class_name(kind), text))
            if issubclass(kind, enum.Enum):
                self.write_member(value, kind, entry[1])
        return entry[1]

    def write_member(self, value, kind, word):
        """Write the string or the number that a member is, and its attributes."""
        base = next((read for base, read in VALUES if issubclass(kind, base)), None)
        if base is not None:
            self.attribute_write(self.new_attributes(value, kind, word), VALUE, self.word(base(value)))
        self.check_named(value, kind)

    def has_state(self, value):
        """Whether the attributes of a class are variables of the program."""
        module = class_module(value)
        return type(module) is str and self.is_user_module(module) and not issubclass(value, enum.Enum)

    def new_class(self, value):
        """A class of the program, with its attributes."""
        known = self.numbered(value, Shape(CLASS, class_name(value)))
        self.contents_of(known, value, self.depth)
        bases = tuple(base for base in class_order(value)[1:] if self.has_state(base))
        if bases:
            self.attribute_write(known, BASES, self.word(bases))
        return known.word

    def attributes_of_named(self, value, kind):
        """What a function or a member of an enumeration of the program keeps in its attributes."""
        if kind is types.FunctionType:
            own, module, is_pythons = value.__dict__, value.__globals__.get("__name__"), is_double
        else:
            shape = self.shapes.get(kind) or self.shape_of(kind)
            own, module, is_pythons = own_dictionary(shape, value), module_of(kind), is_of_enumerations
        if not own or not self.is_user_module(module):
            return {}
        return {name: item for name, item in list(own.items())[: self.items] if not is_pythons(name)}

    def check_named(self, value, kind):
        """Write what has changed in the attributes of a function or a member."""
        word, now = self.named(value, kind), self.attributes_of_named(value, kind)
        known = self.functions.get(word)
        if known is None:
            if not now:
                return
            known = self.new_attributes(value, kind, word)
        self.compare_named(known, now, self.depth)

    def new_attributes(self, value, kind, word):
        """The object that the attributes of a function or a member belong to."""
        name = value.__qualname__ if kind is types.FunctionType else name_of_member(self.render(value)[0])
        known = self.functions[word] = self.numbered(value, Shape(FUNCTION, name), keep=False)
        self.attribute_write(known, OF, word)
        return known

    def class_attributes(self, value):
        """The attributes of a class that are variables: no methods, properties and the like, and nothing of Python's."""
        own = list(class_dict(value).items())
        return dict([(name, item) for name, item in own if is_variable(name, item)][: self.items])


def is_variable(name, item):
    kind = type(item)
    if name[:2] == "__" or name == "_abc_impl":
        return False
    return kind in SIMPLE or not any("__get__" in class_dict(base) for base in class_order(kind))


def is_double(name):
    return name[:2] == "__"


def is_of_enumerations(name):
    """Whether Python itself keeps an attribute of a member, such as `_value_`."""
    return name[:1] == "_" == name[-1:]


def name_of_member(text):
    """`State.NEW` of `<State.NEW: 1>`."""
    return text[1:].partition(":")[0]
