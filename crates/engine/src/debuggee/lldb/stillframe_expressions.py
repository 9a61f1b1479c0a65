"""Evaluates expressions that LLDB's compiler cannot: methods and operators of types whose children a formatter finds.

Their functions are rarely in the program, because the compiler inlined them or nothing calls them, and LLDB takes `m[0]`
for the first child of a map. What needs none of that is left to LLDB.
"""

import math
import operator
import re
import struct

import lldb

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d[\w']*(?:\.\d\w*)?)|(?P<name>std::get<\d+>|(?![bLuU]')[A-Za-z_$][\w$]*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<letter>[bLuU]?'(?:[^'\\]|\\.)')"
    r"|(?P<sign>->|--|\+\+|==|!=|<=|>=|&&|\|\||<<|>>|\.\.=?|[-+*/%<>!&|^().,\[\]])|(?P<other>\S))"
)
COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}
COMPUTED = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}
# What makes an expression that is not evaluated, because it decides nothing, one that LLDB may not understand.
BEYOND = {"(", "[", "->", "*"}
BASIC = {
    (8, True): lldb.eBasicTypeChar, (8, False): lldb.eBasicTypeUnsignedChar, (16, True): lldb.eBasicTypeShort,
    (16, False): lldb.eBasicTypeUnsignedShort, (32, True): lldb.eBasicTypeInt, (32, False): lldb.eBasicTypeUnsignedInt,
    (64, True): lldb.eBasicTypeLong, (64, False): lldb.eBasicTypeUnsignedLong, (128, True): lldb.eBasicTypeInt128,
    (128, False): lldb.eBasicTypeUnsignedInt128,
}
# LLDB does not keep the memory of values that it has not read from the program.
constants = []
FLOATS = (lldb.eBasicTypeFloat, lldb.eBasicTypeDouble)


class Unknown(Exception):
    """LLDB has to evaluate it."""


class Failed(Exception):
    """The expression has no value."""


class Integer(int):
    """A whole number of a type, wrapped at its width. One of no type yet, as in Rust's `1`, is an `int`."""

    def __new__(cls, value, bits=32, is_signed=True):
        value &= (1 << bits) - 1
        one = super().__new__(cls, value - (1 << bits) if is_signed and value >> (bits - 1) else value)
        one.bits, one.is_signed = bits, is_signed
        return one


class Single(float):
    """A number of 32 bits with a fraction."""

    def __new__(cls, value):
        return super().__new__(cls, struct.unpack("<f", struct.pack("<f", value))[0])


class Address(Integer):
    """What a pointer is; to calculate with it takes the size of what is there."""


class Code(str):
    """An expression for LLDB, about values that were found."""


class Letter(str):
    """A character of Rust; one of C is a number."""


class Variant:
    """A name that is not a variable, such as `Color::Red` or `None`, with what it is called with."""

    def __init__(self, name, content=None):
        self.path, self.name, self.content = name, name.rsplit("::", 1)[-1], content


class Optional(Variant):
    """What a method of the standard library has found, or why there is nothing."""

    def __init__(self, content, reason="the value is `None`"):
        super().__init__("None" if content is None else "Some", content)
        self.reason = reason

    def unwrapped(self):
        if self.content is None:
            raise Failed(self.reason)
        return self.content


class Evaluation:
    """One expression in a frame, by recursive descent. `types` knows the types of a language."""

    def __init__(self, types, frame, expression):
        self.types, self.frame = types, frame
        self.captured = {one.GetName(): one for one in types.captures(frame)}
        self.tokens = [(one.lastgroup, one.group(one.lastgroup)) for one in TOKEN.finditer(expression.strip())]
        follows = any(text in ("->", "[", "*") for _, text in self.tokens)
        self.is_fatal = types.is_fatal((self.variable(text) for text in self.names() | {"this"}), follows)
        # LLDB does not find the parameters of a lambda.
        self.is_needed = self.is_fatal or frame.FindVariable("__closure").IsValid()
        self.at, self.text = 0, expression

    def names(self):
        """The names that are not those of members."""
        texts = [None, *(text for _, text in self.tokens)]
        return {text for before, (kind, text) in zip(texts, self.tokens) if kind == "name" and before not in (".", "->")}

    def result(self):
        try:
            value = self.either()
            if isinstance(value, Optional):
                value = value.unwrapped()
            if self.at < len(self.tokens) or isinstance(value, Variant):
                raise Unknown
            # A method that LLDB would call.
            if self.is_fatal and isinstance(value, Code):
                raise Unknown
        except Failed:
            raise
        except Exception:
            self.give_up()
            raise
        if not self.is_needed:
            raise Unknown
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
        if not self.take(sign):
            raise Unknown

    def either(self):
        return self.logical(self.both, "||")

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
            if not depth and text in (")", "]", ",", "||", sign):
                break
            depth += (text in ("(", "[")) - (text in (")", "]"))
            self.is_needed |= kind in ("text", "letter") or text in BEYOND or "::" in text
            self.at += 1

    def level(self, at=0):
        """Operators of one precedence, and those that bind tighter."""
        if at == len(self.types.LEVELS):
            return self.unary()
        value = self.level(at + 1)
        while sign := self.take(*self.types.LEVELS[at]):
            value = self.combined(sign, value, self.level(at + 1))
        return value

    def combined(self, sign, left, right):
        if isinstance(left, Code) or isinstance(right, Code):
            return Code(f"({self.code(left)} {sign} {self.code(right)})")
        return self.compare(sign, left, right) if sign in COMPARED else self.compute(sign, left, right)

    def code(self, value):
        spelling = value if isinstance(value, Code) else spelled(self.plain(value))
        if spelling is None:
            raise Unknown
        return spelling

    def compute(self, sign, left, right):
        left, right = self.plain(left), self.plain(right)
        if isinstance(left, Address) or isinstance(right, Address):
            raise Unknown
        if isinstance(left, str) or isinstance(right, str):
            if sign != "+" or type(left) is not str or type(right) is not str:
                raise Unknown
            self.is_needed = True
            return left + right
        # LLDB takes Rust's for those of C, which bind less than a comparison.
        self.is_needed |= self.types.HAS_VARIANTS and sign in ("&", "|", "^")
        return self.types.computed(sign, left, right)

    def unary(self):
        value = self.prefixed()
        while self.peek() == "as" and self.types.HAS_VARIANTS:
            self.at += 1
            value = self.types.cast(self.plain(value), self.peek())
            self.at += 1
            self.is_needed = True
        return value

    def prefixed(self):
        sign = self.take("!", "-", "*", "&")
        if sign is None:
            return self.postfix()
        value = self.prefixed()
        if sign == "!":
            return self.types.inverted(self.plain(value)) if self.types.HAS_VARIANTS else not self.truth(value)
        if sign == "-":
            value = self.plain(value)
            return type(value)(-value) if isinstance(value, float) else self.compute("-", 0, value)
        if sign == "*":
            return self.target(value)
        # A reference in Rust is shown as what it refers to.
        if self.types.HAS_VARIANTS:
            return value
        raise Unknown

    def postfix(self):
        value = self.primary()
        while sign := self.take(".", "->", "["):
            if sign == "[":
                value = self.indexed(value)
                continue
            if sign == "->":
                value = self.target(value)
            kind, name = self.tokens[self.at] if self.at < len(self.tokens) else (None, None)
            if kind not in ("name", "number"):
                raise Unknown
            self.at += 1
            if self.take("("):
                value = self.called(value, name, self.arguments())
            else:
                # The fields of tuples in tuples: `x.0.1`.
                for part in name.split("."):
                    value = self.field(value, part)
        return value

    def primary(self):
        if self.take("("):
            value = self.either()
            self.expect(")")
            return value
        if self.at == len(self.tokens):
            raise Unknown
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            # LLDB does not know `1_000` and `1u8`.
            self.is_needed |= self.types.HAS_VARIANTS and not text.replace(".", "").isdigit()
            return self.types.number(text)
        if kind in ("text", "letter"):
            return unquoted(text) if kind == "text" else self.types.letter(text[0], unquoted(text.lstrip("bLuU")))
        if kind != "name":
            raise Unknown
        if text.startswith("std::get<"):
            self.expect("(")
            found = self.types.part(self.known(self.arguments()[0]), int(text[9:-1]))
            if found is None:
                raise Unknown
            self.is_needed = True
            return found
        if text in self.types.CONSTANTS:
            return self.types.CONSTANTS[text]
        if text in self.types.MACROS and self.take("!"):
            return self.types.MACROS[text](self)
        value = self.variable(text)
        if value is not None:
            return value
        content = self.arguments() if self.types.HAS_VARIANTS and self.take("(") else []
        if text == "String::from" and content:
            return content[0]
        return Variant(text, content[0] if content else None)

    def variable(self, name):
        found = self.captured.get(name) or self.frame.FindVariable(name)
        if found.IsValid():
            return found
        # Constants, and variables outside of functions.
        for scope in (lldb.eValueTypeVariableStatic, lldb.eValueTypeVariableGlobal):
            found = self.frame.FindValue(name, scope)
            if found.IsValid():
                return found
        this = self.frame.FindVariable("this")
        found = this.Dereference().GetChildMemberWithName(name) if this.IsValid() else this
        return found if found.IsValid() else None

    def arguments(self):
        found = []
        while not self.take(")"):
            found.append(self.either())
            if not self.take(",") and self.peek() != ")":
                raise Unknown
        return found

    def indexed(self, value):
        start = self.either() if self.peek() != ".." else 0
        if self.take(".."):
            end = self.plain(self.either()) if self.peek() != "]" else None
            self.expect("]")
            return self.part(value, self.plain(start), end)
        self.expect("]")
        found = self.types.item(self.known(value), self.key(start))
        if found is None:
            raise Unknown
        kind = value.GetType().GetCanonicalType()
        self.is_needed |= self.types.HAS_VARIANTS or not (kind.IsArrayType() or kind.IsPointerType())
        return found

    def part(self, value, start, end):
        text = self.plain(value)
        if not isinstance(text, str):
            raise Unknown
        self.is_needed = True
        return text.encode()[start:end].decode("utf-8", "replace")

    def field(self, value, name):
        value = self.known(value)
        found = self.types.field(value, name)
        if found is None:
            raise Unknown
        self.is_needed |= self.types.HAS_VARIANTS
        return found

    def called(self, value, name, arguments):
        if self.types.HAS_VARIANTS and type(value) is str and name in self.types.COPIES:
            return value
        arguments = [self.key(argument) for argument in arguments]
        is_found = isinstance(value, Optional) or not isinstance(value, (Variant, Code, lldb.SBValue))
        found = self.types.call(value if self.types.HAS_VARIANTS and is_found else self.known(value), name, arguments)
        if type(found) is int:
            found = Integer(found, 64, False)
        if found is None:
            # LLDB can call a method of the user's, but not find what it is called on.
            if not self.is_needed or any(isinstance(argument, Variant) for argument in arguments):
                raise Unknown
            return Code(f"{spelled(value)}.{name}({', '.join(map(spelled, arguments))})")
        self.is_needed = True
        return found

    def target(self, value):
        value = self.known(value)
        if value.GetType().GetCanonicalType().IsPointerType():
            return value.Dereference()
        found = self.types.target(value)
        if found is None:
            raise Unknown
        self.is_needed = True
        return found

    def known(self, value):
        """A value of the program, not of a literal or a calculation."""
        value = value.unwrapped() if isinstance(value, Optional) else value
        if isinstance(value, Variant) and value.content is None and self.types.HAS_VARIANTS:
            raise Failed(f"use of undeclared identifier '{value.name}'")
        if not isinstance(value, lldb.SBValue):
            raise Unknown
        value.SetPreferSyntheticValue(True)
        return value

    def key(self, value):
        return value if isinstance(value, Variant) and not isinstance(value, Optional) else self.plain(value)

    def plain(self, value):
        """A number, a truth value or a string."""
        value = value.unwrapped() if isinstance(value, Optional) else value
        if isinstance(value, (Variant, Code)):
            raise Unknown
        if not isinstance(value, lldb.SBValue):
            return value
        inner = self.types.inner(self.known(value))
        self.is_needed |= inner is not value
        text = self.types.string_of(inner)
        if text is not None:
            return text
        number = simple(inner)
        if number is None:
            raise Unknown
        # LLDB takes a literal of Rust beside it for one of 64 bits.
        self.is_needed |= self.types.HAS_VARIANTS and isinstance(number, Single)
        return number

    def truth(self, value):
        is_there = self.types.is_there(self.known(value)) if isinstance(value, lldb.SBValue) else None
        if is_there is not None:
            self.is_needed = True
            return is_there
        value = self.plain(value)
        if isinstance(value, str):
            raise Unknown
        return bool(value)

    def compare(self, sign, left, right):
        same = self.same(left, right)
        if same is not None:
            if sign not in ("==", "!="):
                raise Unknown
            self.is_needed = True
            return same == (sign == "==")
        left, right = self.plain(left), self.plain(right)
        if isinstance(left, str) != isinstance(right, str):
            raise Unknown
        self.is_needed |= isinstance(left, str)
        return COMPARED[sign](*self.types.common(left, right))

    def same(self, left, right):
        """Whether two values are equal; None for numbers and strings, which have an order."""
        for variant, other in ((right, left), (left, right)):
            if isinstance(variant, Variant):
                same = self.is_variant(other, variant)
                if same is None and not isinstance(variant, Optional):
                    raise Unknown
                return same
        values = [self.known(one) for one in (left, right) if isinstance(one, lldb.SBValue)]
        nothing = [self.types.is_nothing(value) for value in values]
        if any(nothing):
            return nothing == [True, True]
        return self.types.same_variant(self, *values) if len(values) == 2 else None

    def is_variant(self, value, variant):
        """Whether a value is such a variant; None for a value of no enum."""
        if isinstance(value, Variant):
            for one in (value, variant):
                if one.name not in ("Some", "None"):
                    self.known(one)
            found = value.name, value.content
        else:
            found = self.types.variant(self.known(value), variant.path) if isinstance(value, lldb.SBValue) else None
        if found is None:
            return None
        name, content = found
        is_same = name == variant.name
        return is_same and (variant.content is None or self.compare("==", content, variant.content))


def simple(value):
    """The number of a value; None for a value that is none."""
    kind = value.GetType().GetCanonicalType()
    if kind.GetTypeClass() not in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration, lldb.eTypeClassPointer):
        return None
    if not value.GetValue():
        return None  # It cannot be read.
    basic = kind.GetBasicType()
    if basic in FLOATS:
        data, error = value.GetData(), lldb.SBError()
        return Single(data.GetFloat(error, 0)) if basic == lldb.eBasicTypeFloat else data.GetDouble(error, 0)
    if basic == lldb.eBasicTypeChar32:
        return Letter(chr(value.GetValueAsUnsigned()))
    if basic == lldb.eBasicTypeBool:
        return bool(value.GetValueAsUnsigned())
    is_signed, bits = bool(kind.GetTypeFlags() & lldb.eTypeIsSigned), 8 * kind.GetByteSize()
    if bits > 64:
        return Integer(int(value.GetValue()), bits, is_signed)
    number = value.GetValueAsSigned() if is_signed else value.GetValueAsUnsigned()
    return (Address if kind.IsPointerType() else Integer)(number, bits, is_signed)


def calculated(sign, left, right):
    """The exact result for two numbers; those for whole numbers are rounded toward zero."""
    if sign in COMPUTED:
        return COMPUTED[sign](left, right)
    if isinstance(left, float):
        if sign == "%":
            return math.fmod(left, right) if right else math.nan
        if not right:
            return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
        return left / right
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if sign == "/" else left - right * quotient


def unquoted(text):
    known = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
    return re.sub(r"\\(.)", lambda found: known.get(found.group(1), found.group(1)), text[1:-1])


def spelled(value):
    """An expression of C++ for a value that was found."""
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"({'unsigned ' if value >= 1 << 31 else ''}long){int(value)}"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        quote = "'" if isinstance(value, Letter) else '"'
        known = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", quote: "\\" + quote, "\0": "\\000"}
        return quote + "".join(known.get(letter, letter) for letter in value) + quote
    return kept(value)


def kept(value):
    """The name under which LLDB keeps a value. It does not compile such a name."""
    one = value.Persist()
    return one.GetName() if one.IsValid() and one.GetName() else None


def made(target, value):
    """A number, a truth value or a string as a value of the program."""
    if isinstance(value, Letter):
        return constant(target, lldb.eBasicTypeChar32, struct.pack("<I", ord(value)))
    if isinstance(value, str):
        content = value.encode("utf-8", "replace") + b"\0"
        return constant(target, lldb.eBasicTypeChar, content, len(content))
    if isinstance(value, bool):
        return constant(target, lldb.eBasicTypeBool, bytes([value]))
    if isinstance(value, float):
        return constant(target, lldb.eBasicTypeDouble, struct.pack("<d", value))
    if not isinstance(value, Integer):
        value = Integer(value, 32 if -(1 << 31) <= value < 1 << 31 else 64)
    content = int(value).to_bytes(value.bits // 8, "little", signed=value.is_signed)
    return constant(target, BASIC[value.bits, value.is_signed], content)


def constant(target, basic, content, count=None):
    kind = target.GetBasicType(basic)
    data, error = lldb.SBData(), lldb.SBError()
    data.SetDataWithOwnership(error, content, lldb.eByteOrderLittle, target.GetAddressByteSize())
    constants.append(target.CreateValueFromData("constant", data, kind.GetArrayType(count) if count else kind))
    return constants[-1]


def missing(kind, name):
    return Failed(f"no member named '{name}' in '{kind.GetName()}'")


def checked(index, count):
    """An index of a list of `count` items."""
    if isinstance(index, bool) or not isinstance(index, int):
        raise Unknown
    if not 0 <= index < count:
        raise Failed(f"index {index} is out of range: the length is {count}")
    return index
