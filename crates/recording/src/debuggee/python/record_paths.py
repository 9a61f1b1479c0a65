"""Where the paths of what a line may change lead (record_effects.py).

Nothing here runs code of the program.
"""

import ast
import enum
import operator
import sys
import types

from record_effects import ATTRIBUTE, COMPUTED, CONSTANT, GLOBALS, LENGTH, LITERAL, OPERATIONS, OWN_CLASS, PATH, VARIABLE
from record_heap import is_plain, module_dict
from record_named import is_variable
from record_shapes import INSTANCE, SIMPLE, class_dict, class_order, is_given_by_code, own_dictionary

MISSING = object()

OPERATORS = {
    OPERATIONS[ast.Add]: operator.add,
    OPERATIONS[ast.Sub]: operator.sub,
    OPERATIONS[ast.Mult]: operator.mul,
    OPERATIONS[ast.FloorDiv]: operator.floordiv,
    OPERATIONS[ast.Mod]: operator.mod,
}

# Those whose items are found without code of the program, or contain nothing that changes.
PLAIN = (list, tuple, dict) + SIMPLE


class Paths:
    """The part of a `Recorder` that finds objects by their paths."""

    def find(self, root, steps, names, frame):
        """The object at the end of a path."""
        value = root_of(root, names, frame)
        return self.follow(value, steps, names, frame) if steps and value is not MISSING else value

    def follow(self, value, steps, names, frame, is_exact=False):
        """The object at the end of a path, or as near to it as can be read without running code."""
        for kind, step in steps:
            found = MISSING
            if kind == ATTRIBUTE:
                found = self.attribute(value, step)
            else:
                key = self.key(kind, step, names, frame)
                base = type(value)
                if type(key) is int and (base is list or base is tuple) and -len(value) <= key < len(value):
                    found = value[key]
                elif isinstance(value, dict) and is_plain(key):
                    found = dict.get(value, key, MISSING)
            if found is MISSING:
                if not is_exact and self.may_be_below(value, kind, step):
                    self.heap.check_below(value)
                return MISSING if is_exact else value
            value = found
        return value

    def may_be_below(self, value, kind, step):
        """Whether a step that was not found may have led to something that is in the object."""
        if kind == ATTRIBUTE:
            return is_given_by_code(type(value), step, self.is_user_module)
        return kind == COMPUTED or kind == VARIABLE and isinstance(value, dict) or type(value) not in PLAIN

    def key(self, kind, step, names, frame):
        """The key of a step."""
        if kind == CONSTANT:
            return step
        return root_of(step, names, frame) if kind == VARIABLE else self.compute(step, names, frame)

    def compute(self, formula, names, frame):
        """The value of a formula, of integers and strings only: operations with others run code."""
        kind = formula[0]
        if kind == LITERAL:
            return formula[1]
        if kind == PATH:
            _, root, steps = formula
            value = root_of(root, names, frame)
            return value if value is MISSING else self.follow(value, steps, names, frame, is_exact=True)
        if kind == LENGTH:
            value = self.compute(formula[1], names, frame)
            return len(value) if type(value) in (list, tuple, dict, str) else MISSING
        left, right = (self.compute(each, names, frame) for each in formula[1:])
        are_integers = type(left) is int and type(right) is int
        if are_integers or type(left) is str and type(right) is str and kind == OPERATIONS[ast.Add]:
            try:
                return OPERATORS[kind](left, right)
            except ZeroDivisionError:
                pass
        return MISSING

    def attribute(self, value, name):
        """What an attribute is, if it can be read without running code."""
        heap, kind = self.heap, type(value)
        if name == OWN_CLASS:
            return kind if heap.has_state(kind) else MISSING
        if value is sys and name == "modules":
            return sys.modules
        if kind is types.ModuleType:
            return module_dict(value).get(name, MISSING) if self.is_own(value) else MISSING
        if kind is types.FunctionType or issubclass(kind, enum.Enum):
            return heap.attributes_of_named(value, kind).get(name, MISSING)
        if issubclass(kind, type):
            return self.class_attribute(value, name)
        shape = heap.shapes.get(kind) or heap.shape_of(kind)
        if shape.kind != INSTANCE and not shape.has_own:
            return MISSING
        found = own_dictionary(shape, value).get(name, MISSING)
        if found is not MISSING:
            return found
        for slot, read in shape.slots:
            if slot == name:
                try:
                    return read(value)
                except AttributeError:
                    pass
        return self.class_attribute(kind, name)

    def class_attribute(self, kind, name):
        """An attribute of a class, or of one that it inherits from, if it is a variable."""
        for base in class_order(kind):
            found = class_dict(base).get(name, MISSING)
            if found is not MISSING:
                return found if self.heap.has_state(base) and is_variable(name, found) else MISSING
        return MISSING


def root_of(name, names, frame):
    """What is at the beginning of a path."""
    if name == GLOBALS:
        return frame.f_globals
    value = names.get(name, MISSING)
    return frame.f_globals.get(name, MISSING) if value is MISSING else value
