"""Evaluates expressions that provably have no side effects.

No code of the program runs: no method of its classes, property, descriptor, `__getattr__` or `__eq__`, and no iteration
over anything but built-in containers. An expression that needs that is refused, and the error names the part. The
amount of computation is limited, too.
"""

import ast
import collections
import operator
import types

from stillframe_expressions import private_owner
from stillframe_modules import load
from stillframe_types import class_dict, class_name, class_order

load("stillframe_equality")

from stillframe_equality import (  # noqa: E402
    DICT,
    LISTS,
    MISSING,
    NUMBERS,
    PLAIN,
    SEQUENCES,
    SETS,
    TEXTS,
    Equality,
    Kinds,
    Refused,
    in_class,
    item_of,
)

# The maximum length of an expression, and of its steps. A step is a part of the expression or an item that it reads.
LONGEST = 10000
STEPS = 100000
# The maximum size of results: characters, items or bits.
LARGE = 1000000
BITS = 100000

WHOLE = Kinds(bool, int)
REAL = Kinds(bool, int, float)
MAPPINGS = DICT + Kinds(collections.defaultdict)
ALWAYS_TRUE = Kinds(types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert}
COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# Data attributes of numbers, and of every exception.
OF_NUMBERS = ("real", "imag", "numerator", "denominator")
OF_EXCEPTIONS = ("args", "__cause__", "__context__", "__suppress_context__", "__traceback__")
# Attributes of classes that can be read.
OF_CLASSES = ("__name__", "__qualname__", "__mro__", "__dict__", "__base__", "__bases__")

module_dict = types.ModuleType.__dict__["__dict__"].__get__
# The built-in implementations of attribute access.
USUAL_READING = tuple(
    kind.__dict__["__getattribute__"] for kind in (object, types.ModuleType, BaseException)
)


def evaluate(text, frame):
    """The value of an expression in a frame."""
    text = text.strip()
    if len(text) > LONGEST:
        raise Refused("the expression is longer than %d characters" % LONGEST)
    try:
        tree = parsed(text, "eval")
    except SyntaxError as error:
        if is_statement(text):
            raise Refused("it is a statement, which may have side effects")
        raise error from None
    return Evaluation(text, frame).value(tree.body)


def parsed(text, kind):
    return compile(text, "<string>", kind, ast.PyCF_ONLY_AST, dont_inherit=True)


def is_statement(text):
    try:
        return parsed(text, "exec") is not None
    except SyntaxError:
        return False


def instance_dict(value):
    """The instance dictionary of a value, read without its class; None if it has none."""
    if type(value) is types.ModuleType:
        return module_dict(value)
    if issubclass(type(value), type):
        return class_dict(value)
    for owner in class_order(type(value)):
        found = item_of(class_dict(owner), "__dict__")
        if found is not MISSING:
            if type(found) in (types.GetSetDescriptorType, types.MemberDescriptorType):
                try:
                    own = found.__get__(value)
                except AttributeError:
                    return {}
                return own if type(own) is dict else {}
            return {}
    return {}


class Evaluation(Equality):
    def __init__(self, text, frame):
        self.text = text
        self.frame = frame
        self.steps = STEPS
        self.owner = private_owner(frame)

    def refuse(self, node, why):
        part = ast.get_source_segment(self.text, node) if node is not None else None
        raise Refused("`%s` %s" % (part or self.text, why))

    def step(self, node, count=1):
        self.steps -= count
        if self.steps < 0:
            self.refuse(node, "needs more than %d steps" % STEPS)

    def value(self, node):
        self.step(node)
        rule = getattr(self, "of_" + type(node).__name__, None)
        if rule is None:
            self.refuse(node, "may have side effects: %s are not evaluated here" % WORDS.get(type(node), "such expressions"))
        return rule(node)

    # Names and attributes

    def of_Constant(self, node):
        return node.value

    def of_Name(self, node):
        name = self.mangled(node.id)
        for names in (self.frame.f_locals, self.frame.f_globals, self.frame.f_builtins):
            # The namespace can be a mapping of the program, as in the body of a class.
            if type(names) is not dict and not is_view_of_locals(names):
                self.refuse(node, "is looked up in the program's own mapping, which would run code")
            found = item_of(dict(names), name)
            if found is not MISSING:
                return found
        raise NameError("name %r is not defined" % node.id)

    def mangled(self, name):
        private = self.owner and name.startswith("__") and not name.endswith("__")
        return "_%s%s" % (self.owner, name) if private else name

    def of_Attribute(self, node):
        value = self.value(node.value)
        name = self.mangled(node.attr)
        kind = type(value)
        if issubclass(kind, type):
            return self.attribute_of_class(node, value, name)
        if not any(in_class(kind, "__getattribute__") is usual for usual in USUAL_READING) and kind not in PLAIN + LISTS + SETS + DICT:
            self.refuse(node, "would run the `__getattribute__` of `%s`" % class_name(kind))
        found = in_class(kind, name)
        if found is not MISSING:
            if type(found) is types.MemberDescriptorType:
                return found.__get__(value)
            if type(found) is types.GetSetDescriptorType and self.is_plain_field(kind, name):
                return found.__get__(value)
            if self.has(found, "__set__") or self.has(found, "__delete__"):
                if name == "__dict__" and type(found) is types.GetSetDescriptorType:
                    return instance_dict(value)
                self.refuse(node, "is %s, which would run" % described(found))
        own = item_of(instance_dict(value), name)
        if own is not MISSING:
            return own
        if found is not MISSING:
            if type(found) is types.FunctionType:
                return types.MethodType(found, value)
            if type(found) is staticmethod:
                return found.__func__
            if self.has(found, "__get__"):
                self.refuse(node, "is %s, which would run" % described(found))
            return found
        if in_class(kind, "__getattr__") is not MISSING:
            self.refuse(node, "would run the `__getattr__` of `%s`" % class_name(kind))
        if kind is types.ModuleType and item_of(module_dict(value), "__getattr__") is not MISSING:
            self.refuse(node, "would run the `__getattr__` of the module")
        raise AttributeError("%r object has no attribute %r" % (class_name(kind), node.attr))

    def is_plain_field(self, kind, name):
        """Whether an attribute is data of a built-in value."""
        if kind in NUMBERS:
            return name in OF_NUMBERS
        if issubclass(kind, BaseException):
            return name in OF_EXCEPTIONS and in_class(kind, name) is BaseException.__dict__.get(name)
        return False

    def attribute_of_class(self, node, value, name):
        found = in_class(value, name)
        if found is MISSING or name in OF_CLASSES:
            if name in OF_CLASSES and in_class(type(value), name) is type.__dict__[name]:
                return type.__dict__[name].__get__(value)
            if in_class(type(value), name) is not MISSING or in_class(type(value), "__getattr__") is not MISSING:
                self.refuse(node, "would be looked up by the metaclass `%s`" % class_name(value))
            raise AttributeError("type object %r has no attribute %r" % (class_name(value), node.attr))
        own = in_class(type(value), name)
        if in_class(type(value), "__getattribute__") is not type.__dict__["__getattribute__"] or (
            own is not MISSING and (self.has(own, "__set__") or self.has(own, "__delete__"))
        ):
            self.refuse(node, "would be looked up by the metaclass `%s`" % class_name(value))
        if type(found) in (types.FunctionType, property):
            return found
        if type(found) is staticmethod:
            return found.__func__
        if self.has(found, "__get__"):
            self.refuse(node, "is %s, which would run" % described(found))
        return found

    def has(self, value, method):
        return in_class(type(value), method) is not MISSING

    # Containers

    def of_Tuple(self, node):
        return tuple(self.value(item) for item in node.elts)

    def of_List(self, node):
        return [self.value(item) for item in node.elts]

    def of_Set(self, node):
        return set(self.key(item, self.value(item)) for item in node.elts)

    def of_Dict(self, node):
        if None in node.keys:
            self.refuse(node, "may have side effects: it unpacks another mapping")
        return {self.key(key, self.value(key)): self.value(value) for key, value in zip(node.keys, node.values)}

    def key(self, node, value):
        """A value whose hash and equality are used."""
        self.check_plain(node, value)
        return value

    def of_Subscript(self, node):
        value = self.value(node.value)
        kind = type(value)
        if kind not in SEQUENCES + MAPPINGS:
            self.refuse(node, "would ask `%s` for an item, which would run its own code" % class_name(kind))
        # Up to Python 3.8 the index is wrapped in a node.
        index = node.slice.value if type(node.slice).__name__ == "Index" else node.slice
        if isinstance(index, ast.Slice):
            parts = [None if part is None else self.value(part) for part in (index.lower, index.upper, index.step)]
            if kind not in SEQUENCES or any(part is not None and type(part) not in WHOLE for part in parts):
                self.refuse(node, "is not a slice with whole numbers")
            return value[slice(*parts)]
        index = self.value(index)
        if kind not in SEQUENCES:
            return self.item(node, value, index)
        if type(index) not in WHOLE:
            self.refuse(node, "has an index that is not a whole number")
        return value[index]

    def item(self, node, names, key):
        items = list(names.items())
        place = self.place_of(node, key, [known for known, _ in items], is_hashed=True)
        if place is None:
            if type(names) is not dict and names.default_factory is not None:
                self.refuse(node, "would add the key, which is not there yet")
            # The message contains the key's own repr.
            raise KeyError(key if self.is_plain(node, key) else "<%s object>" % class_name(type(key)))
        return items[place][1]

    # Operators

    def of_BoolOp(self, node):
        ends = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.value(part)
            if self.truth(part, value) == ends:
                return value
        return value

    def of_IfExp(self, node):
        is_met = self.truth(node.test, self.value(node.test))
        return self.value(node.body if is_met else node.orelse)

    def truth(self, node, value):
        kind = type(value)
        if kind in PLAIN + SETS + LISTS + DICT:
            return bool(value)
        if kind in ALWAYS_TRUE:
            return True
        if in_class(kind, "__bool__") is MISSING and in_class(kind, "__len__") is MISSING:
            return True
        self.refuse(node, "has its truth tested, which would run `%s`" % class_name(kind))

    def of_UnaryOp(self, node):
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand, value)
        if type(value) not in NUMBERS:
            self.refuse(node, "would run an operator of `%s`" % class_name(type(value)))
        return UNARY[type(node.op)](value)

    def of_BinOp(self, node):
        left, right = self.value(node.left), self.value(node.right)
        work = BINARY.get(type(node.op))
        if work is None:
            self.refuse(node, "would run an operator that the program defines")
        kinds = (type(left), type(right))
        if all(kind in NUMBERS for kind in kinds):
            self.check_size(node, left, right)
        elif isinstance(node.op, ast.Add) and kinds[0] is kinds[1] and kinds[0] in TEXTS + LISTS:
            if len(left) + len(right) > LARGE:
                self.refuse(node, "is too large to be computed here")
        elif isinstance(node.op, ast.Mult) and any(kind in TEXTS + LISTS for kind in kinds):
            times, what = (left, right) if kinds[0] in NUMBERS else (right, left)
            if type(times) not in WHOLE or len(what) * max(times, 0) > LARGE:
                self.refuse(node, "is too large to be computed here")
        elif all(kind in SETS for kind in kinds) and type(node.op) in (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub):
            self.check_plain(node.left, left)
            self.check_plain(node.right, right)
        else:
            names = tuple(class_name(kind) for kind in kinds)
            self.refuse(node, "would run an operator of `%s` or `%s`" % names)
        return work(left, right)

    def check_size(self, node, left, right):
        if not all(type(side) in WHOLE for side in (left, right)):
            return
        bits = int(left).bit_length()
        if isinstance(node.op, ast.Pow):
            is_large = right > 0 and bits * right > BITS
        elif isinstance(node.op, ast.LShift):
            is_large = bits + right > BITS
        else:
            is_large = bits + int(right).bit_length() > BITS
        if is_large:
            self.refuse(node, "is too large to be computed here")

    def of_Compare(self, node):
        left_node, left = node.left, self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators):
            right = self.value(right_node)
            if isinstance(op, (ast.Is, ast.IsNot)):
                met = (left is right) == isinstance(op, ast.Is)
            elif isinstance(op, (ast.In, ast.NotIn)):
                met = self.contains(node, right_node, right, left_node, left) == isinstance(op, ast.In)
            elif isinstance(op, (ast.Eq, ast.NotEq)):
                if isinstance(op, ast.NotEq):
                    self.comparing(node, left, "__ne__")
                    self.comparing(node, right, "__ne__")
                met = self.equal_to(node, left, right) == isinstance(op, ast.Eq)
            else:
                self.check_plain(left_node, left)
                self.check_plain(right_node, right)
                met = COMPARE[type(op)](left, right)
            if not met:
                return False
            left_node, left = right_node, right
        return True

    def contains(self, node, container_node, container, item_node, item):
        kind = type(container)
        if kind not in SEQUENCES + SETS + DICT:
            self.refuse(container_node, "has its contents tested, which would run `%s`" % class_name(kind))
        if kind in TEXTS or kind is range:
            self.check_plain(item_node, item)
            return item in container
        return self.place_of(node, item, list(container), is_hashed=kind in SETS + DICT) is not None

    # Functions

    def of_Call(self, node):
        function = node.func
        known = FUNCTIONS.get(function.id) if isinstance(function, ast.Name) else None
        if known is None or node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            self.refuse(node, "is a call, which may have side effects; allowed calls: %s" % ", ".join(sorted(FUNCTIONS)))
        its_own = self.value(function)
        is_builtin = its_own is OWN_TYPES.get(function.id) or (
            type(its_own) is types.BuiltinFunctionType and its_own.__name__ == function.id
        )
        if not is_builtin:
            self.refuse(node, "would call `%s`, which the program has replaced" % function.id)
        return known(self, node, [self.value(one) for one in node.args])

    def call_len(self, node, values):
        (value,) = self.arguments(node, values, 1)
        if type(value) not in SEQUENCES + SETS + DICT:
            self.refuse(node, "would run the `__len__` of `%s`" % class_name(type(value)))
        return len(value)

    def call_type(self, node, values):
        (value,) = self.arguments(node, values, 1)
        return type(value)

    def call_id(self, node, values):
        (value,) = self.arguments(node, values, 1)
        return id(value)

    def call_bool(self, node, values):
        (value,) = self.arguments(node, values, 1)
        return self.truth(node, value)

    def call_isinstance(self, node, values):
        value, kinds = self.arguments(node, values, 2)
        kinds = kinds if type(kinds) is tuple else (kinds,)
        for kind in kinds:
            if not issubclass(type(kind), type) or in_class(type(kind), "__instancecheck__") is not in_class(
                type, "__instancecheck__"
            ):
                self.refuse(node, "would run the `__instancecheck__` of a class")
        return any(any(kind is one for one in class_order(type(value))) for kind in kinds)

    def call_repr(self, node, values):
        (value,) = self.arguments(node, values, 1)
        self.check_plain(node, value)
        return repr(value)

    def call_number(self, node, values):
        if not values or any(type(value) not in REAL for value in self.spread(values)):
            self.refuse(node, "is evaluated for numbers only")
        return SIMPLE[node.func.id](*values)

    def spread(self, values):
        if len(values) == 1 and type(values[0]) in LISTS + SETS:
            self.step(None, len(values[0]))
            return list(values[0]) or [None]
        return values

    def arguments(self, node, values, count):
        if len(values) != count:
            self.refuse(node, "takes %d argument%s" % (count, "" if count == 1 else "s"))
        return values


def is_view_of_locals(names):
    # From Python 3.13 on, a function's locals are a built-in proxy.
    is_static = not type.__dict__["__flags__"].__get__(type(names)) & 1 << 9
    return is_static and class_name(type(names)) == "FrameLocalsProxy"


def described(found):
    return "a property" if type(found) is property else "a `%s`" % class_name(type(found))


SIMPLE = {"abs": abs, "min": min, "max": max, "sum": sum}
FUNCTIONS = {
    "len": Evaluation.call_len,
    "type": Evaluation.call_type,
    "id": Evaluation.call_id,
    "bool": Evaluation.call_bool,
    "isinstance": Evaluation.call_isinstance,
    "repr": Evaluation.call_repr,
}
FUNCTIONS.update((name, Evaluation.call_number) for name in SIMPLE)
OWN_TYPES = {"type": type, "bool": bool}
WORDS = {
    ast.Lambda: "functions",
    ast.ListComp: "comprehensions",
    ast.SetComp: "comprehensions",
    ast.DictComp: "comprehensions",
    ast.GeneratorExp: "generators",
    ast.JoinedStr: "f-strings",
    ast.Await: "awaits",
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.NamedExpr: "assignments",
    ast.Starred: "unpackings",
}
