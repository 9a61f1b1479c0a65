"""What can be done with values of C++'s standard library in `stillframe_expressions`."""

import re
import sys

import lldb
import stillframe_captures
import stillframe_cpp as cpp
from stillframe_cpp_functions import (
    FUNCTIONS, cast, check_calls, common, computed, converted, enumerator, number_in, letter, number, sized, templated,
    texts,
)
from stillframe_cpp_maps import count, has, mapped, matching, place_of, size, start_of
from stillframe_cpp_names import check_method, function_path, has_method, member, named, outside
from stillframe_cpp_texts import (
    NOWHERE, characters, extent, found_in, is_a, is_at, literal, objects, ordered, placed, referred, string_of, unit,
)
from stillframe_cpp_views import by_value, is_view
from stillframe_evaluate import evaluate
from stillframe_values import Failed, Integer, Position, Single, Span, checked, missing, need, needed, nothing

# Of other modules, what an evaluation asks for.
__all__ = [
    "FUNCTIONS", "by_value", "cast", "check_calls", "check_method", "common", "computed", "converted", "enumerator",
    "function_path", "has_method", "is_view", "letter", "literal", "named", "number", "number_in", "objects", "outside",
    "sized", "templated", "texts",
]
# LLDB finds names other than variables.
HAS_VARIANTS = False
MACROS = {}
LEVELS = [("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
BINDS = {sign: at for at, signs in enumerate(LEVELS) for sign in signs}
CONSTANTS = {
    "true": True, "false": False, "nullptr": 0, "std::string::npos": NOWHERE,
}
# Why an expression is not given to LLDB.
REFUSED = (
    "LLDB ends at this expression, because a class has an optional of a class such as a string; fields, operators and "
    "the most common methods of the standard library can be evaluated here"
)
# How far the types of variables are followed to see whether LLDB's compiler crashes at one.
FOLLOWED = 4
# Whether that crashes at a type, by its name and whether pointers are followed.
fatal = {}
captures = stillframe_captures.captures
VECTORS = re.compile(cpp.STD + r"vector<(?!bool)")


def is_beyond_lldb(_expression):
    return False


def key(evaluation, value):
    return evaluation.plain(value)


def parameters(_tokens):
    return set()


# What Rust has, and these languages have not.
closure = generics = chained = nothing


def opened(_evaluation, value):
    return value


def shown(value):
    """The value of an expression, if it has one that LLDB can keep."""
    need(not isinstance(value, Span))
    if isinstance(value, Position) and value.entry is None:
        raise Failed("the iterator is at the end")
    return value.entry if isinstance(value, Position) else value


def completed(_evaluation, value):
    return value


def is_fatal(kinds, follows):
    """Whether LLDB's compiler crashes at one of these types, or at one that pointers lead to if it `follows` them."""
    kinds = {(kind.GetName(), follows): kind for kind in kinds}
    for known in kinds.keys() - fatal.keys():
        fatal[known] = has_fatal(direct(kinds[known]), follows, FOLLOWED, set())
    return any(fatal[known] for known in kinds)


def has_fatal(kind, follows, depth, seen):
    """Whether there is an optional of a class that is not trivial in another class."""
    kind = direct(kind) if follows else kind
    kind = (kind.GetArrayElementType() if kind.IsArrayType() else kind).GetCanonicalType().GetUnqualifiedType()
    name = kind.GetName() or ""
    if name in seen:
        return False
    seen.add(name)
    if cpp.OPTIONALS.match(name):
        payload = kind.GetDirectBaseClassAtIndex(0).GetType().GetFieldAtIndex(0).GetType().GetCanonicalType()
        # A content with a destructor is in a class of its own.
        base = payload.GetDirectBaseClassAtIndex(0).GetType().GetName() or ""
        return base.startswith("std::_Optional_payload<")
    if not depth or kind.GetTypeClass() not in (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion):
        return False
    inside = [one.GetType() for one in (*kind.fields, *kind.bases)]
    if follows and name.startswith("std::"):
        inside = [kind.GetTemplateArgumentType(at) for at in range(kind.GetNumberOfTemplateArguments())]
    return any(has_fatal(one, follows, depth - 1, seen) for one in inside if one.IsValid())


def direct(kind):
    """What a pointer or a reference is to."""
    kind = kind.GetDereferencedType() if kind.IsReferenceType() else kind
    return kind.GetPointeeType() if kind.IsPointerType() else kind


def part(value, index):
    """What `std::get` returns."""
    value = referred(value)
    if is_a(value, cpp.VARIANTS):
        if cpp.index_of(value) != index:
            raise Failed(f"the variant has index {cpp.index_of(value)}, not {index}")
        return value.GetChildAtIndex(0)
    if is_a(value, cpp.TUPLES):
        return value.GetChildAtIndex(checked(index, value.GetNumChildren()))
    return item(value, index)


def variant(value, name=""):
    """The constant that an enum has, or whether an optional is empty, if that is what the name is of."""
    if not isinstance(value, lldb.SBValue):
        return None
    value, (scope, _, last) = referred(value), name.rpartition("::")
    if name in ("nullopt", "std::nullopt") and is_a(value, cpp.OPTIONALS):
        return "" if value.GetNumChildren() else last, None
    kind = value.GetType().GetCanonicalType().GetUnqualifiedType()
    names = {member.GetName() for member in kind.GetEnumMembers()}
    is_same = not scope or f"::{kind.GetName()}".endswith(f"::{scope}")
    return (value.GetValue(), None) if is_same and last in names else None


def same_variant(*_values):
    return None


def is_nothing(value):
    value = referred(value)
    return is_a(value, cpp.OPTIONALS) and not value.GetNumChildren()


def inner(value):
    """What a reference, an atomic, an iterator or an optional is compared by."""
    value = referred(value)
    if is_a(value, cpp.ITERATORS):
        return cpp.iterator_pointer(value)
    if is_a(value, cpp.ATOMICS):
        return cpp.loaded(value.GetNonSyntheticValue())
    if is_a(value, cpp.POINTERS):
        return pointer_of(value)
    return cpp.optional_content(value) if is_a(value, cpp.OPTIONALS) and value.GetNumChildren() else value


def is_there(value):
    """Whether an optional or a smart pointer has something; None for another value."""
    value = referred(value)
    if is_a(value, cpp.OPTIONALS):
        return value.GetNumChildren() > 0
    return pointer_of(value).GetValueAsUnsigned() > 0 if is_a(value, cpp.POINTERS) else None


def item(value, key):
    value = referred(value)
    if is_a(value, cpp.MAPS):
        return mapped(value, key)
    if is_a(value, cpp.INDEXED):
        return value.GetChildAtIndex(checked(key, value.GetNumChildren()))
    kind = value.GetType().GetCanonicalType()
    if kind.IsArrayType():
        return placed(value, value.GetLoadAddress(), key, kind.GetArrayElementType())
    if kind.IsPointerType() or is_a(value, cpp.POINTERS):
        pointer = value if kind.IsPointerType() else pointer_of(value)
        return placed(value, pointer.GetValueAsUnsigned(), key, pointer.GetType().GetPointeeType())
    return None if extent(value) is None else unit(value, key)


def field(value, name):
    is_json = is_a(value, cpp.JSONS)
    found = member(value, name) if value.GetType().GetCanonicalType().IsReferenceType() and not is_json else None
    value = referred(value)
    found = member(value, name) if found is None else found
    if found.IsValid():
        return found
    # LLDB takes any name for the content of a variant.
    if is_a(value, cpp.VARIANTS, cpp.OPTIONALS):
        raise missing(value.GetType(), name)
    return None


def target(value):
    value = referred(value)
    if is_a(value, cpp.OPTIONALS):
        return content(value)
    if is_a(value, cpp.EXPECTED):
        return expected(value)
    if is_a(value, cpp.ITERATORS):
        found = cpp.at_iterator(value)
        if found is None:
            raise Failed("the iterator is at the end")
        return found
    return None


def content(value):
    if not value.GetNumChildren():
        raise Failed("the optional is empty")
    return cpp.optional_content(value)


def pointer_in(value):
    """The pointer to what a smart pointer owns; None for another value."""
    value = referred(value)
    return pointer_of(value).GetDynamicValue(lldb.eDynamicDontRunTarget) if is_a(value, cpp.POINTERS) else None


def pointer_of(value):
    """The pointer in a `unique_ptr`, `shared_ptr` or `weak_ptr`."""
    pointer = value.GetNonSyntheticValue().GetChildMemberWithName("_M_ptr")
    return pointer if pointer.IsValid() else value.GetChildAtIndex(0).GetNonSyntheticValue()


def call(value, name, arguments):
    value = referred(value)
    for known, methods in METHODS:
        if name in methods and is_a(value, *known):
            return methods[name](value, *arguments)
    if is_a(value, cpp.OPTIONALS):
        # LLDB's compiler crashes.
        raise Failed(f"`{name}` of an optional cannot be called here; evaluate `*x`, `has_value` or `value_or`")
    return None


def underlying(value):
    return referred(value.GetNonSyntheticValue().GetChildMemberWithName("c"))


def first_of(value):
    return value.GetChildAtIndex(checked(0, value.GetNumChildren()))


def last_of(value):
    count = value.GetNumChildren()
    if size(value) > count:
        raise Failed(f"the last of {size(value):,} items cannot be read here: the first {count:,} can")
    return value.GetChildAtIndex(checked(max(count, 1) - 1, count))


def in_vector(value, field):
    """The iterator to the beginning or to the end of a vector."""
    pointer = needed(cpp.find(value.GetNonSyntheticValue(), field))
    is_there = field == "_M_start" and value.GetNumChildren() > 0
    return Position(pointer.GetValueAsUnsigned(), value.GetChildAtIndex(0) if is_there else None)


def bit(value, at):
    shown = cpp.text(value, 0, cpp.LONGEST)
    return shown[len(shown) - 1 - checked(at, len(shown))] == "1"


def complex_parts(value):
    kind = Single if value.GetByteSize() == 8 else float
    return [kind(part) for part in cpp.complex_parts(value.GetNonSyntheticValue())]


def is_empty(value):
    return not size(value)


def expected(value):
    raw = value.GetNonSyntheticValue()
    if not cpp.has_value(raw):
        raise Failed(f"the value is `{cpp.text(value, 0, cpp.LONGEST)}`")
    return raw.GetChildMemberWithName("_M_val")


def unexpected(value):
    if cpp.has_value(value.GetNonSyntheticValue()):
        raise Failed("it has a value, and no error")
    return value.GetNonSyntheticValue().GetChildMemberWithName("_M_unex")


def use_count(value):
    found = cpp.find(value.GetNonSyntheticValue(), "_M_use_count")
    return 0 if found is None else found.GetValueAsUnsigned()


def locked(value):
    """What `lock` of a `weak_ptr` returns: null once the object is gone."""
    return pointer_of(value) if use_count(value) else Integer(0, 64, False)


def length(value):
    return extent(value)[1]


# By types, the methods that change nothing.
METHODS = [
    ([cpp.TEXTS], {
        "size": length,
        "length": length,
        "empty": lambda value: not length(value),
        "c_str": string_of,
        "data": string_of,
        "substr": characters,
        "find": found_in,
        "at": unit,
        "front": lambda value: unit(value, 0),
        "back": lambda value: unit(value, max(length(value), 1) - 1),
        "compare": lambda value, other: ordered(string_of(value), other),
        "starts_with": lambda value, part: is_at(bytes.startswith, value, part),
        "ends_with": lambda value, part: is_at(bytes.endswith, value, part),
    }),
    ([cpp.PATHS], {"string": string_of, "native": string_of, "c_str": string_of, "empty": lambda value: not length(value)}),
    ([cpp.LISTS, cpp.MAPS], {"size": size, "empty": is_empty}),
    ([cpp.LISTS], {"front": first_of, "back": last_of}),
    ([cpp.INDEXED], {"at": item}),
    ([VECTORS], {
        name: lambda value, field=field: in_vector(value, field)
        for name, field in (("begin", "_M_start"), ("end", "_M_finish"), ("cbegin", "_M_start"), ("cend", "_M_finish"))
    }),
    ([cpp.SETS, cpp.MAPS], {
        "contains": has,
        "count": count,
        "find": lambda value, key: place_of(value, next(iter(matching(value, key)), None)),
        "begin": start_of,
        "end": lambda value: place_of(value, None),
        "cend": lambda value: place_of(value, None),
    }),
    ([cpp.COMPLEX], {"real": lambda value: complex_parts(value)[0], "imag": lambda value: complex_parts(value)[1]}),
    ([cpp.REFERENCES], {"get": lambda value: value.GetNonSyntheticValue().GetChildMemberWithName("_M_data").Dereference()}),
    ([cpp.BITS], {
        "count": lambda value: cpp.text(value, 0, cpp.LONGEST).count("1"),
        "any": lambda value: "1" in cpp.text(value, 0, cpp.LONGEST),
        "none": lambda value: "1" not in cpp.text(value, 0, cpp.LONGEST),
        "all": lambda value: "0" not in cpp.text(value, 0, cpp.LONGEST),
        "test": lambda value, at: bit(value, at),
        "to_string": lambda value: cpp.text(value, 0, cpp.LONGEST),
        "to_ulong": lambda value: Integer(int(cpp.text(value, 0, cpp.LONGEST), 2), 64, False),
        "size": lambda value: len(cpp.text(value, 0, cpp.LONGEST)),
    }),
    ([cpp.DURATIONS], {"count": lambda value: value.GetNonSyntheticValue().GetChildMemberWithName("__r")}),
    ([cpp.MAPS], {"at": mapped}),
    ([cpp.QUEUES], {
        "size": lambda value: underlying(value).GetNumChildren(),
        "empty": lambda value: is_empty(underlying(value)),
        "front": lambda value: first_of(underlying(value)),
        "back": lambda value: last_of(underlying(value)),
        "top": lambda value: (first_of if "priority" in value.GetType().GetCanonicalType().GetName() else last_of)(
            underlying(value)
        ),
    }),
    ([cpp.OPTIONALS], {
        "value_or": lambda value, other: other if is_empty(value) else content(value),
        "has_value": is_there,
        "value": content,
    }),
    ([cpp.EXPECTED], {
        "has_value": lambda value: cpp.has_value(value.GetNonSyntheticValue()),
        "value": expected,
        "error": unexpected,
    }),
    ([cpp.POINTERS], {"get": pointer_of, "use_count": use_count, "expired": lambda value: not use_count(value), "lock": locked}),
    ([cpp.VARIANTS], {"index": cpp.index_of, "valueless_by_exception": lambda value: cpp.index_of(value) < 0}),
    ([cpp.ATOMICS], {"load": lambda value: cpp.loaded(value.GetNonSyntheticValue())}),
]


def command(debugger, text, result, _internal):
    evaluate(sys.modules[__name__], debugger, text, result)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_cpp_types.command stillframe-evaluate")
