"""Calls functions that take a view such as `std::string_view` by value. LLDB calls a constructor to copy one, which no
program has, and would pass the address of the copy."""

import re

import lldb
from stillframe_cpp_names import functions
from stillframe_cpp_texts import referred
from stillframe_evaluate import plain_class
from stillframe_values import Code

VIEWS = re.compile(r"^std::(basic_string_view|span)<")
# What is passed and returned as it is.
SIMPLE = (lldb.eTypeClassBuiltin, lldb.eTypeClassPointer, lldb.eTypeClassEnumeration, lldb.eTypeClassReference)


def by_value(frame, receiver, function, arguments, spellings):
    """Code for a call that passes the words of views; None without any, or if it is not clear what is called."""
    if not any(map(is_view, arguments)):
        return None
    target, name = frame.GetThread().GetProcess().GetTarget(), re.split(r"\W", function)[-1]
    kind = lldb.eFunctionNameTypeBase if receiver is None else lldb.eFunctionNameTypeMethod
    found = [one for one in functions(target, name, kind) if takes(one, name, receiver, arguments)]
    if len(found) != 1:
        return None
    kinds, passed = [], []
    if receiver is not None:
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
    words = "".join(f"struct Words{count} {{ unsigned long words[{count}]; }}; " for count in (1, 2))
    returned = found[0].GetType().GetFunctionReturnType().GetCanonicalType().GetName()
    address = found[0].GetStartAddress().GetLoadAddress(target)
    return Code(f"{words}(({returned} (*)({', '.join(kinds)})){address:#x})({', '.join(passed)})")


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
    return returned.GetTypeClass() in SIMPLE and len(kinds) == len(arguments) and all(map(fits, kinds, arguments))


def fits(kind, value):
    is_reference = kind.IsReferenceType()
    if not is_view(value) and not is_reference:
        return kind.GetTypeClass() in SIMPLE
    # A reference to a class that this one derives from may lead to another place.
    kind = plain(kind.GetDereferencedType()) if is_reference else kind
    return isinstance(value, lldb.SBValue) and kind.GetName() == plain(referred(value).GetType()).GetName()
