"""Evaluates expressions that LLDB's compiler cannot: methods and operators of types whose children a formatter finds.

Their functions are rarely in the program, because the compiler inlined them or nothing calls them, and LLDB takes `m[0]`
for the first child of a map. What needs none of that is left to LLDB.
"""

import contextlib
import operator
import re

import lldb
from stillframe_memory import dereferenced
from stillframe_values import (
    Address, Code, Failed, Integer, Optional, Position, Single, Unknown, Variant, checked, need, needed, simple, spelled, stored,
    unquoted,
)

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d[\w']*(?:\.\d\w*)?)|(?P<name>"
    r"(?:(?:std::)?(?:get|get_if|holds_alternative)|static_cast|dynamic_cast)<[^()]*?>(?=\s*\()|(?![bLuU]')[A-Za-z_$][\w$]*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<letter>[bLuU]?'(?:[^'\\]|\\.)')"
    r"|(?P<sign>->|--|\+\+|==|!=|<=|>=|&&|\|\||(?:<<|>>|[-+*/%&|^])?=|<<|>>|\.\.=?|[-+*/%<>!&|^().,\[\]])|(?P<other>\S))"
)
COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# What makes an expression that is not evaluated, because it decides nothing, one that LLDB may not understand.
BEYOND = {"(", "[", "->", "*"}
# Of code that has run, and failed.
RAN = (
    lldb.eExpressionDiscarded, lldb.eExpressionInterrupted, lldb.eExpressionHitBreakpoint, lldb.eExpressionTimedOut,
    lldb.eExpressionResultUnavailable, lldb.eExpressionStoppedForDebug,
)
# Types of numbers in C++, by their bits and whether they have a sign.
NUMBERS = {
    (8, True): "char", (16, True): "short", (16, False): "unsigned short", (32, True): "int", (32, False): "unsigned",
    (64, True): "long", (64, False): "unsigned long",
}


class Evaluation:
    """One expression in a frame, by recursive descent. `types` knows the types of a language. With `runs`, functions of
    the program are called as soon as something else depends on what they return."""

    def __init__(self, types, frame, expression, runs=False):
        self.types, self.frame, self.text, self.runs = types, frame, expression, runs
        # Until when closures are evaluated.
        self.until = None
        captured = types.captures(frame)
        self.captured = {one.GetName(): one for one in captured or ()}
        self.this = self.captured.get("this") or frame.FindVariable("this")
        # The variables that have been looked up; None for other names.
        self.found = {"this": self.this if self.this.IsValid() else None}
        self.tokens = [(one.lastgroup, one.group(one.lastgroup)) for one in TOKEN.finditer(expression.strip())]
        # Whether LLDB cannot evaluate it. It does not find the parameters of a lambda, and calculates with numbers of Rust as
        # with those of C.
        self.is_needed = runs or captured is not None or types.HAS_VARIANTS and any(
            text == "as" or kind != "name" and text not in ("*", "&") for kind, text in self.tokens
        )
        follows = runs or any(text in ("->", "[", "*") for _, text in self.tokens)
        variables = (self.variable(text) for text in self.names() | {"this"})
        kinds = [one.GetType() for one in variables if one is not None]
        self.is_fatal = types.is_fatal([*kinds, *(types.named(self, follows) or ())], follows)
        self.is_needed |= self.is_fatal
        self.at = 0
        # What the parameters of a closure are.
        self.locals = {}
        # What the client adds to the text and the type of the value, and a note about it.
        self.form, self.note = {}, None

    def names(self):
        """The names that are not those of members or of types behind `as`, nor parameters of a closure."""
        texts = [None, *(text for _, text in self.tokens)]
        others = (".", "->", "as")
        found = {text for before, (kind, text) in zip(texts, self.tokens) if kind == "name" and before not in others}
        return found - self.types.parameters(texts)

    def result(self):
        try:
            value = self.either()
            if self.types.HAS_VARIANTS and (sign := self.take(*ASSIGNMENTS)):
                value = self.types.assigned(self, value, sign)
            value = self.types.opened(self, value)
            # A constant of an enum.
            if type(value) is Variant and value.content is None:
                value = self.plain(value)
            need(self.at == len(self.tokens) and not isinstance(value, Variant))
            value = self.types.shown(value)
            # A method that LLDB would call.
            need(not self.is_fatal or not isinstance(value, Code))
        except Failed:
            raise
        except Exception:
            self.give_up()
            raise
        need(self.is_needed)
        return value

    def decided(self):
        """Whether it is true, as a condition."""
        value = self.truth(self.either())
        need(self.at == len(self.tokens))
        return value

    def give_up(self):
        """Say that LLDB cannot evaluate the expression, either."""
        if self.is_fatal or self.types.is_beyond_lldb(self.text):
            raise Failed(self.types.REFUSED)

    def peek(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def take(self, *signs):
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else (None, None)
        if kind == "sign" and text in signs:
            self.at += 1
            return text
        return None

    def expect(self, sign):
        need(self.peek() == sign)
        self.at += 1

    def comma(self, end):
        """What comes behind one of several that are listed."""
        need(self.take(",") or self.peek() == end)

    def either(self):
        value = self.logical(self.both, "||")
        if self.peek() != "?" or self.types.HAS_VARIANTS:
            return value
        self.at += 1
        if self.truth(value):
            found = self.either()
            self.expect(":")
            self.skip(":")
            return found
        self.skip(":")
        self.expect(":")
        return self.either()

    def both(self):
        return self.logical(self.level, "&&")

    def logical(self, operand, sign):
        """Operands of which the rest is not evaluated once one has decided."""
        value = operand()
        while self.take(sign):
            known = self.truth(value)
            if known == (sign == "||"):
                self.skip(sign)
                value = known
                continue
            other = operand()
            value = Code(f"(bool)({other})") if isinstance(other, Code) else self.truth(other)
        return value

    def skip(self, sign):
        """Go on behind an operand of `&&` or `||`."""
        depth = 0
        while self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if not depth and (text in (")", "]", ",", "||", sign) or text == "?" and sign != ":"):
                break
            depth += (text in ("(", "[")) - (text in (")", "]"))
            self.is_needed |= kind in ("text", "letter") or text in BEYOND or "::" in text
            self.at += 1

    def level(self, at=0):
        """Operators of one precedence, and those that bind tighter."""
        value = self.unary()
        while (binds := self.types.BINDS.get(self.peek(), -1)) >= at:
            sign = self.take(self.peek())
            value = self.combined(sign, value, self.level(binds + 1))
        return value

    def combined(self, sign, left, right):
        if isinstance(left, Code) or isinstance(right, Code):
            return Code(f"({self.code(left)} {sign} {self.code(right)})")
        return self.compare(sign, left, right) if sign in COMPARED else self.compute(sign, left, right)

    def code(self, value):
        return needed(value if isinstance(value, Code) else spelled(self.plain(value)))

    def compute(self, sign, left, right):
        self.is_needed |= self.types.HAS_VARIANTS
        left, right = self.plain(left), self.plain(right)
        need(not isinstance(left, Address) and not isinstance(right, Address))
        if isinstance(left, str) or isinstance(right, str):
            need(sign == "+" and type(left) is type(right) is str)
            self.is_needed = True
            return left + right
        return self.types.computed(sign, left, right)

    def unary(self):
        value = self.prefixed()
        while self.peek() == "as" and self.types.HAS_VARIANTS:
            self.at += 1
            value = self.types.cast(self.plain(value), self.peek())
            self.at += 1
        return value

    def prefixed(self):
        kind = self.types.cast(self) if not self.types.HAS_VARIANTS and self.peek() == "(" else None
        if kind is not None:
            return self.types.converted(self.plain(self.prefixed()), kind)
        sign = self.take("!", "-", "*", "&")
        if sign is None:
            return self.postfix()
        start = self.at
        value = self.prefixed()
        if sign == "!" and self.types.HAS_VARIANTS:
            return self.types.inverted(self.plain(value))
        if sign == "!":
            return not self.truth(value)
        if sign == "-":
            return self.negated(self.plain(value), self.at == start + 1 and self.tokens[start][0] == "number")
        if sign == "*":
            is_plain = self.types.HAS_VARIANTS and not isinstance(value, (lldb.SBValue, Variant))
            return value if is_plain else self.target(value)
        # A reference in Rust is shown as what it refers to.
        found = value if self.types.HAS_VARIANTS else self.types.referred(self.known(value)).AddressOf()
        need(not isinstance(found, lldb.SBValue) or found.IsValid())
        return found

    def negated(self, value, is_literal):
        if isinstance(value, float):
            return type(value)(-value)
        # In `-128i8`, 128 alone does not fit.
        is_typed = is_literal and isinstance(value, Integer)
        return Integer(-value, value.bits, value.is_signed) if is_typed else self.compute("-", 0, value)

    def postfix(self):
        value = self.primary()
        while sign := self.take(".", "->", "["):
            if sign == "[":
                value = self.indexed(value)
                continue
            if sign == "->":
                value = self.target(value, self.peek())
            kind, name = self.tokens[self.at] if self.at < len(self.tokens) else (None, None)
            need(kind in ("name", "number"))
            self.at += 1
            given = self.types.generics(self)
            if self.take("("):
                value = self.called(value, name, self.arguments(), given)
            else:
                # The fields of tuples in tuples: `x.0.1`.
                for part in name.split("."):
                    value = self.field(value, part)
        return value

    def primary(self):
        if self.take("("):
            value = self.types.completed(self, self.either())
            self.expect(")")
            return value
        if self.types.HAS_VARIANTS and self.take("["):
            return self.arguments("]")
        need(self.at < len(self.tokens))
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return self.types.number(text)
        if kind in ("text", "letter"):
            return self.types.literal(text) if kind == "text" else self.types.letter(text[0], unquoted(text.lstrip("bLuU")))
        need(kind == "name")
        if text.endswith(">"):
            self.expect("(")
            self.is_needed = True
            return needed(self.types.templated(self, text, self.arguments()))
        if text in self.locals:
            return self.locals[text]
        if text in self.types.CONSTANTS:
            return self.types.CONSTANTS[text]
        if text in self.types.MACROS and self.take("!"):
            return self.types.MACROS[text](self)
        found = self.variable(text)
        if found is not None:
            return found
        if text == "sizeof" and self.is_fatal and self.take("("):
            return self.types.sized(self)
        is_known = self.types.HAS_VARIANTS or self.runs or text in self.types.FUNCTIONS
        content = self.arguments() if is_known and self.take("(") else None
        if content is not None and text in self.types.FUNCTIONS:
            self.is_needed = True
            return self.types.FUNCTIONS[text](self, *content)
        if content is not None and not self.types.HAS_VARIANTS:
            need(text not in ("sizeof", "alignof", "typeid", "decltype"))
            self.check_called(content)
            return self.call(self.types.function_path(self.frame, self.this, text), content)
        return Variant(text, *content or ())

    def variable(self, name):
        if name not in self.found:
            found = self.captured.get(name) or self.frame.FindVariable(name)
            if not found.IsValid():
                found = self.types.outside(self.frame, self.this, name)
                # LLDB may take one of the same name in another namespace.
                taken = self.frame.GetValueForVariablePath(name) if found is not None else None
                self.is_needed |= taken is not None and taken.GetLoadAddress() != found.GetLoadAddress()
            self.found[name] = found
        return self.found[name]

    def arguments(self, end=")"):
        found = []
        while not self.take(end):
            closure = self.types.closure(self)
            found.append(self.either() if closure is None else closure)
            self.comma(end)
        return found

    def indexed(self, value):
        start = self.either() if self.peek() != ".." else 0
        if self.take(".."):
            end = self.plain(self.either()) if self.peek() != "]" else None
            self.expect("]")
            return self.part(value, self.plain(start), end)
        self.expect("]")
        if isinstance(value, list):
            return value[checked(self.plain(start), len(value))]
        found = needed(self.types.item(self.known(value), self.key(start)))
        kind = value.GetType().GetCanonicalType()
        self.is_needed |= not (kind.IsArrayType() or kind.IsPointerType())
        return found

    def part(self, value, start, end):
        text = self.types.string_of(value) if isinstance(value, lldb.SBValue) else self.plain(value)
        if text is None:
            return self.types.row_of(value, start, end)
        need(isinstance(text, str))
        return text.encode()[start:end].decode("utf-8", "replace")

    def field(self, value, name):
        if isinstance(value, tuple) and name.isdigit():
            return value[checked(int(name), len(value))]
        return needed(self.types.field(self.known(value), name))

    def called(self, value, name, arguments, given=""):
        if self.types.HAS_VARIANTS and type(value) is str and name in self.types.COPIES:
            return value
        found = self.types.chained(self, value, name, arguments, given)
        if found is not None:
            return found
        views = list(map(self.types.is_view, arguments))
        is_row = [is_view and self.types.string_of(argument) is None for is_view, argument in zip(views, arguments)]
        keys = [argument if is_kept else self.key(argument) for is_kept, argument in zip(is_row, arguments)]
        is_found = isinstance(value, Optional) or not isinstance(value, (Variant, Code, lldb.SBValue))
        found = self.types.call(value if self.types.HAS_VARIANTS and is_found else self.known(value), name, keys)
        # A length; a literal that a method gives back has no type yet.
        if type(found) is int and not any(found is key for key in keys):
            found = Integer(found, 64, False)
        if found is None:
            self.types.check_method(value, name)
            # LLDB can call a method of the user's, but not find what it is called on.
            need(self.is_needed and not any(isinstance(key, Variant) for key in keys))
            given, arguments = arguments, arguments if any(views) else keys
            # LLDB keeps what a reference is, and not what it leads to.
            value = self.types.referred(value) if isinstance(value, lldb.SBValue) else value
            self.check_called([value, *arguments])
            return self.call(f"{spelled(value)}.{name}", arguments, value, given)
        self.is_needed = True
        return found

    def check_called(self, values):
        """Refuse to have LLDB call something with values whose classes end it."""
        known = [value for value in values if isinstance(value, lldb.SBValue)]
        if self.runs and (self.is_fatal or self.types.is_fatal([value.GetType() for value in known], True)):
            raise Failed(self.types.REFUSED)

    def call(self, function, arguments, receiver=None, given=None):
        """What a function of the program returns, or else code for that. What was given may be objects of texts."""
        spellings = list(map(self.argument, arguments))
        code = Code(f"{function}({', '.join(spellings)})")
        if not self.runs:
            return code
        code, kind = self.types.by_value(self.frame, receiver, function, given or arguments, spellings) or (code, None)
        try:
            return self.ran(code, kind)
        except Unknown:
            # It may take strings as objects.
            for others in self.types.objects(self.frame, arguments, spellings) or ():
                with contextlib.suppress(Unknown):
                    return self.ran(Code(f"{function}({', '.join(others)})"))
            raise

    def argument(self, value):
        """What code of the program is called with, in its own type: that chooses the function."""
        kind = None
        if isinstance(value, lldb.SBValue):
            value = self.types.referred(value)
            number = simple(value)
            if number is not None and not isinstance(number, Address):
                kind, value = value.GetType().GetUnqualifiedType().GetName(), number
        elif isinstance(value, Integer) and not isinstance(value, Address):
            kind = NUMBERS.get((value.bits, value.is_signed))
        elif isinstance(value, Single):
            kind = "float"
        spelling = needed(spelled(value))
        return spelling if kind is None else f"({kind})({spelling})"

    def ran(self, code, made=None):
        """What code of the program returns. It may have to be made a value of a type."""
        options = lldb.SBExpressionOptions()
        options.SetTimeoutInMicroSeconds(1_000_000)
        options.SetIgnoreBreakpoints(True)
        found = self.frame.EvaluateExpression(code, options)
        if found.GetError().Fail():
            message = (found.GetError().GetCString() or "").partition("\n")[0].removeprefix("error: ")
            # Of one that did not compile, LLDB has said more about the whole expression.
            raise Failed(message) if found.GetError().GetError() in RAN else Unknown
        if made is not None:
            return stored(found.GetTarget(), made, bytes(found.GetData().uint8)[: made.GetByteSize()])
        kind = found.GetType().GetCanonicalType()
        functions = (kind.GetMemberFunctionAtIndex(at) for at in range(kind.GetNumberOfMemberFunctions()))
        is_own = not (kind.GetName() or "").startswith("std::")
        if is_own and any((function.GetName() or "").startswith("~") for function in functions):
            raise Failed(f"LLDB ends what this returns before it is read: `{kind.GetName()}` has a destructor")
        return found

    def target(self, value, name=""):
        """What a pointer leads to, to read a member of it."""
        if isinstance(value, Position):
            if value.entry is None:
                raise Failed("the iterator is at the end")
            return value.entry
        if isinstance(value, Address) and not value:
            raise Failed("the pointer is null")
        value = self.known(value)
        is_pointer = value.GetType().GetCanonicalType().IsPointerType()
        pointer = value if is_pointer else self.types.pointer_in(value)
        if pointer is not None:
            self.is_needed |= not is_pointer
            if not pointer.GetValueAsUnsigned():
                raise Failed("the pointer is null")
            # A class that derives from the one in the source may have another member of that name, and LLDB knows less of
            # the virtual methods of such a class.
            known = pointer.GetStaticValue().Dereference()
            is_member = known.GetNonSyntheticValue().GetChildMemberWithName(name).IsValid()
            is_member = is_member or self.types.has_method(known.GetType(), name)
            return known if is_member else dereferenced(pointer)
        self.is_needed = True
        return needed(self.types.target(value))

    def known(self, value):
        """A value of the program, not of a literal or a calculation."""
        value = value.unwrapped() if isinstance(value, Optional) else value
        if isinstance(value, Variant) and value.content is None and self.types.HAS_VARIANTS:
            raise Failed(f"use of undeclared identifier '{value.name}'")
        need(isinstance(value, lldb.SBValue))
        value.SetPreferSyntheticValue(True)
        return value

    def key(self, value):
        if isinstance(value, tuple):
            return tuple(map(self.key, value))
        if isinstance(value, Variant) and not isinstance(value, Optional):
            return Variant(value.path, *map(self.key, value.contents))
        return self.types.key(self, value)

    def plain(self, value):
        """A number, a truth value or a string."""
        value = value.unwrapped() if isinstance(value, Optional) else value
        if not isinstance(value, lldb.SBValue):
            if type(value) is Variant and value.content is None:
                value = self.types.enumerator(self.frame, value.path)
                self.is_needed = True
            need(isinstance(value, (int, float, str)) and not isinstance(value, Code))
            return value
        if value.GetType().GetCanonicalType().GetTypeClass() == lldb.eTypeClassBuiltin:
            number = simple(value)
            if number is not None:
                return number
        inner = self.types.inner(self.known(value))
        self.is_needed |= inner is not value
        text = self.types.string_of(inner)
        if text is not None:
            return text
        number = self.types.number_in(inner)
        return needed(simple(inner)) if number is None else number

    def truth(self, value):
        is_there = self.types.is_there(self.known(value)) if isinstance(value, lldb.SBValue) else None
        if is_there is not None:
            self.is_needed = True
            return is_there
        value = self.plain(value)
        need(not isinstance(value, str))
        return bool(value)

    def compare(self, sign, left, right):
        left, right = self.types.texts(self, left, right) or (left, right)
        if sign not in ("==", "!="):
            left, right = self.ordered(left, right), self.ordered(right, left)
        same = self.same(left, right)
        if same is not None:
            need(sign in ("==", "!="))
            self.is_needed = True
            return same == (sign == "==")
        left, right = self.plain(left), self.plain(right)
        need(isinstance(left, str) == isinstance(right, str))
        self.is_needed |= isinstance(left, str)
        return COMPARED[sign](*self.types.common(left, right))

    def ordered(self, value, other):
        """The number of a constant that an enum is compared with."""
        if type(value) is not Variant or not isinstance(other, lldb.SBValue):
            return value
        members = self.types.inner(self.known(other)).GetType().GetCanonicalType().GetEnumMembers()
        found = next((one for one in members if one.GetName() == value.name), None)
        self.is_needed = True
        return value if found is None else Integer(found.GetValueAsSigned(), 64)

    def same(self, left, right):
        """Whether two values are equal; None for numbers and strings, which have an order."""
        if isinstance(left, (tuple, list)) or isinstance(right, (tuple, list)):
            return self.types.same_items(self, left, right)
        for variant, other in ((right, left), (left, right)):
            if isinstance(variant, Variant):
                same = self.is_variant(other, variant)
                need(same is not None or isinstance(variant, Optional) or not self.types.HAS_VARIANTS)
                return same
        values = [self.known(one) for one in (left, right) if isinstance(one, lldb.SBValue)]
        nothing = [self.types.is_nothing(value) for value in values]
        if any(nothing):
            return nothing == [True, True]
        return self.types.same_variant(self, *values) if len(values) == 2 else None

    def is_variant(self, value, variant):
        """Whether a value is such a variant; None for a value of no enum."""
        if isinstance(value, Variant):
            if not self.types.HAS_VARIANTS:
                return None
            for one in (value, variant):
                if one.name not in ("Some", "None"):
                    self.known(one)
            name, contents = value.name, value.contents if variant.contents else ()
        else:
            value = self.known(value) if isinstance(value, lldb.SBValue) else value
            found = self.types.variant(value, variant.path)
            if found is None:
                return None
            name, contents = found[0], self.types.fields(value) if variant.contents else ()
        is_same = name == variant.name and len(contents) == len(variant.contents)
        return is_same and all(self.compare("==", *both) for both in zip(contents, variant.contents))
