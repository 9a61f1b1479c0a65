"""Calls functions that take a view such as `std::string_view` by value, or return an optional. LLDB calls constructors and
destructors of these, which no program has, and would pass an address."""

import re

import lldb
import stillframe_cpp as cpp
from stillframe_cpp_names import functions
from stillframe_cpp_texts import referred
from stillframe_evaluate import plain_class
from stillframe_values import Code

VIEWS = re.compile(r"^std::(basic_string_view|span)<")
# What is passed and returned as it is.
SIMPLE = (lldb.eTypeClassBuiltin, lldb.eTypeClassPointer, lldb.eTypeClassEnumeration, lldb.eTypeClassReference)
# What is passed in the same registers as a view or an optional.
WORDS = (
    "struct Words1 { unsigned long words[1]; }; struct Words2 { unsigned long words[2]; }; "
    "struct Real { double real; unsigned long word; }; "
)


def by_value(frame, receiver, function, arguments, spellings):
    """Code for a call that passes the words of views, and the optional that its result is; None if neither is there, or if it
    is not clear what is called."""
    target, name = frame.GetThread().GetProcess().GetTarget(), re.split(r"\W", function)[-1]
    kind = lldb.eFunctionNameTypeBase if receiver is None else lldb.eFunctionNameTypeMethod
    found = [one for one in functions(target, name, kind) if takes(one, name, receiver, arguments)]
    returned = plain(found[0].GetType().GetFunctionReturnType()) if len(found) == 1 else None
    if returned is None or not (any(map(is_view, arguments)) or returned.GetTypeClass() not in SIMPLE):
        return None
    kinds, passed = [], []
    if receiver is not None and has_object(target, found[0]):
        kinds, passed = ["void*"], [f"(void*){receiver.GetLoadAddress():#x}"]
    for kind, value, spelling in zip(parameters(found[0]), arguments, spellings):
        if kind.IsReferenceType():
            kinds.append("void*")
            spelling = f"(void*){referred(value).GetLoadAddress():#x}"
        elif is_view(value):
            kinds.append(f"Words{value.GetByteSize() // 8}")
            spelling = f"*({kinds[-1]}*){value.GetLoadAddress():#x}"
        else:
            kinds.append(kind.GetName())
        passed.append(spelling)
    words, address = words_of(returned), found[0].GetStartAddress().GetLoadAddress(target)
    code = Code(f"{WORDS}(({words or returned.GetName()} (*)({', '.join(kinds)})){address:#x})({', '.join(passed)})")
    return code, returned if words else None


def words_of(kind):
    """What is returned in the same registers as an optional of something simple; None for another type."""
    content = plain(kind.GetTemplateArgumentType(0)) if cpp.OPTIONALS.match(kind.GetName() or "") else None
    if content is None or content.GetTypeClass() not in SIMPLE or kind.GetByteSize() > 16:
        return None
    is_real = content.GetTypeFlags() & lldb.eTypeIsFloat
    return "Words1" if kind.GetByteSize() <= 8 else "Real" if is_real else "Words2"


def is_view(value):
    is_kept = isinstance(value, lldb.SBValue) and value.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS
    return is_kept and VIEWS.match(plain(value.GetType()).GetName() or "") is not None


def plain(kind):
    return kind.GetCanonicalType().GetUnqualifiedType()


def parameters(function):
    kinds = function.GetType().GetFunctionArgumentTypes()
    return [plain(kinds.GetTypeAtIndex(at)) for at in range(kinds.GetSize())]


def takes(function, name, receiver, arguments):
    """Whether a function is of the class of what it is called on, and takes such arguments."""
    kinds, returned = parameters(function), plain(function.GetType().GetFunctionReturnType())
    if receiver is not None:
        kind = plain(receiver.GetType())
        # A method of a base may be called with another address, and a virtual one may be another one.
        is_own = plain_class(function.GetName() or "", name) == re.sub(r"<.*", "", kind.GetName() or "")
        if not is_own or kind.IsPolymorphicClass():
            return False
    is_known = returned.GetTypeClass() in SIMPLE or words_of(returned) is not None
    return is_known and len(kinds) == len(arguments) and all(map(fits, kinds, arguments))


def has_object(target, function):
    """Whether a function is called on an object; a static method is not."""
    return any(one.GetName() == "this" for one in function.GetBlock().GetVariables(target, True, False, False))


def fits(kind, value):
    is_reference = kind.IsReferenceType()
    if not is_view(value) and not is_reference:
        return kind.GetTypeClass() in SIMPLE
    # A reference to a class that this one derives from may lead to another place.
    kind = plain(kind.GetDereferencedType()) if is_reference else kind
    return isinstance(value, lldb.SBValue) and kind.GetName() == plain(referred(value).GetType()).GetName()
