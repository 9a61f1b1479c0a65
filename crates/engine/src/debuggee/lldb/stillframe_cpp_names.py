"""Finds what names of C and C++ mean in a frame, and the classes that a class derives from."""

import re

import lldb
from stillframe_evaluate import METHOD, classes_of, plain_class
from stillframe_memory import dereferenced, present
from stillframe_names import around, return_type
from stillframe_values import Address, Failed, need, text_of

GLOBAL = (lldb.eValueTypeVariableStatic, lldb.eValueTypeVariableGlobal)
PATH = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
# What names mean, by the function and the binary that they are in.
types_named = {}
functions_named = {}
# What the source does not write.
UNNAMED = re.compile(r"\(anonymous namespace\)::|\b__cxx11::|\b__1::|\[abi:\w+\]")


def outside(frame, this, name):
    """A member of `this`, or a variable outside of functions, as C++ looks for a name; None for another name."""
    if "::" not in name and this.IsValid():
        found = member(this, name)
        if found.IsValid():
            return found
    last = name.rpartition("::")[2]
    known = [one for one in (frame.FindValue(last, kind) for kind in GLOBAL) if one.IsValid()]
    known = known or [one for one in in_module(frame, last) if one.GetAddress().GetSymbol().IsExternal()]
    if not known:
        return None
    for scope in scopes(frame, this) if not name.startswith("::") else [""]:
        path = f"{scope}::{name}" if scope else name.removeprefix("::")
        queries = (path, f"::{path}") if path != last else (f"::{path}",)
        found = (*known, *(frame.FindValue(query, kind) for query in queries for kind in GLOBAL))
        variable = present(name, (one for one in found if one.IsValid() and plain_path(one.GetName()) == path))
        if variable is not None:
            return variable
    return imported(frame, name)


def member(value, name):
    """A field of an object, or of what a pointer or a reference is to: one of the class that the source names, or else one
    of the class that the object has."""
    for one in (value.GetStaticValue(), value):
        kind = one.GetType().GetCanonicalType()
        inside = dereferenced(one) if kind.IsPointerType() or kind.IsReferenceType() else one
        found = inside.GetNonSyntheticValue().GetChildMemberWithName(name)
        if found.IsValid():
            break
    return found


def in_module(frame, name):
    """The variables of a name in all sources of the program, or of the library that the frame is in."""
    target = frame.GetThread().GetProcess().GetTarget()
    return list(frame.GetModule().FindGlobalVariables(target, name, 100))


def imported(frame, name):
    """The variable of a name that is in a namespace, which a source may use with all that is in it."""
    target = frame.GetThread().GetProcess().GetTarget()
    known = [(plain_path(one.GetName()), one) for one in in_module(frame, name)]
    known = [(path.removesuffix(f"::{name}"), one) for path, one in known if path.endswith(f"::{name}")]
    known = [(space, one) for space, one in known if "(" not in space and not target.FindFirstType(space).IsValid()]
    spaces = dict(known)
    if len(spaces) < 2:
        return present(name, spaces.values())
    # LLDB's compiler knows what is used where, but takes any variable of a name that nothing in use has.
    options = lldb.SBExpressionOptions()
    options.SetAllowJIT(False)
    address = frame.EvaluateExpression(f"&{name}", options).GetValueAsUnsigned()
    found = next((both for both in known if both[1].GetLoadAddress() == address), None)
    if found is not None and is_used(frame, found[0]):
        return present(name, found[1:])
    raise Failed(f"`{name}` is in several namespaces: write " + " or ".join(f"`{space}::{name}`" for space in spaces))


def is_used(frame, space):
    """Whether a source of what the frame is in uses a namespace."""
    unit = frame.GetCompileUnit()
    paths = {unit.GetSupportFileAtIndex(at).fullpath or "" for at in range(unit.GetNumSupportFiles())}
    using = re.compile(rf"\busing\s+(namespace\s+)?(\w*::)*{re.escape(space.rpartition('::')[2])}\b")
    return any(using.search(text_of(path)) for path in paths if not path.startswith("/usr/"))


def plain_path(name):
    return UNNAMED.sub("", name or "").removeprefix("::")


def scopes(frame, this):
    """Where a name in a frame is looked up, from the inside: its class and those that it derives from, namespaces, and
    outside of all."""
    found = []
    if this.IsValid():
        found += [plain_path(kind.GetName()) for kind in lineage(this.GetStaticValue().GetType().GetPointeeType())]
    path = re.sub(r"\boperator\b\W.*", "operator", plain_path(frame.GetFunctionName()))
    return found + around(path)


def lineage(kind):
    """A class and those that it derives from, the nearest first."""
    found = [kind.GetCanonicalType().GetUnqualifiedType()]
    for one in found:
        found += [base.GetType().GetCanonicalType().GetUnqualifiedType() for base in one.bases]
    return found


def methods(kind):
    """The names of the methods that a class itself has."""
    return {kind.GetMemberFunctionAtIndex(at).GetName() or "" for at in range(kind.GetNumberOfMemberFunctions())}


def has_method(kind, name):
    return any(name in methods(one) for one in lineage(kind))


def check_method(value, name):
    """Refuse a method for which LLDB may call another one, such as the destructor. It does not count the destructors that
    a source leaves out, and that of a class with virtual bases may have a place before other virtual methods."""
    kind = value.GetStaticValue().GetType()
    kind = kind.GetDereferencedType() if kind.IsReferenceType() else kind
    classes = lineage(kind.GetPointeeType() if kind.IsPointerType() else kind)
    owner = next((one for one in classes if name in methods(one)), None)
    if owner is not None and not is_static(owner, name) and any(leaves_out_destructor(one) for one in lineage(owner)):
        reason = f"`{owner.GetName()}` has a virtual base and no destructor of its own"
        raise Failed(f"LLDB may call another method than `{name}`: {reason}")


def is_static(kind, name):
    """Whether the methods of a name that a class itself has need no object."""
    found = (kind.GetMemberFunctionAtIndex(at) for at in range(kind.GetNumberOfMemberFunctions()))
    return all(one.GetKind() == lldb.eMemberFunctionKindStaticMethod for one in found if one.GetName() == name)


def leaves_out_destructor(kind):
    """Whether a class has a virtual destructor that only its virtual bases have in the source."""
    if not kind.GetNumberOfVirtualBaseClasses():
        return False
    own, *others = ([name for name in methods(one) if name.startswith("~")] for one in lineage(kind))
    return not own and any(others)


def type_of(frame, this, name):
    """The type that a name means in a frame; None for one that is not found."""
    target = frame.GetThread().GetProcess().GetTarget()
    for scope in scopes(frame, this) if not name.startswith("::") else [""]:
        path = f"{scope}::{name}" if scope else name.removeprefix("::")
        found = (one for one in target.FindTypes(path) if plain_path(one.GetName()) == path)
        kind = next(found, None)
        if kind is not None:
            return kind.GetCanonicalType().GetUnqualifiedType()
        if target.FindSymbols(f"typeinfo for {path}").GetSize():
            return None
    return None


def named(evaluation, follows):
    """The types that an expression names, and those that the functions return which it calls."""
    frame, found = evaluation.frame, []
    target = frame.GetThread().GetProcess().GetTarget()
    for text in evaluation.names():
        # LLDB reads what the type of a cast points to only if something else does.
        for path in [] if "*>" in text and not follows else PATH.findall(text):
            if path.startswith("std::") or path in evaluation.types.CONSTANTS or evaluation.variable(path) is not None:
                continue
            place = frame.GetFunctionName(), frame.GetModule().GetUUIDString(), path
            if place not in types_named:
                types_named[place] = type_of(frame, evaluation.this, path)
            called = functions(target, path.rpartition("::")[2], lldb.eFunctionNameTypeBase | lldb.eFunctionNameTypeMethod)
            found += [types_named[place], *(return_type(target, one) for one in called)]
    if evaluation.this.IsValid():
        texts = [text for _, text in evaluation.tokens]
        for before, name, behind in zip([None, *texts], texts, texts[1:]):
            if behind == "(" and before not in (".", "->"):
                check_method(evaluation.this, name)
    for receiver, name in METHOD.findall(evaluation.text):
        value = frame.GetValueForVariablePath(receiver)
        classes = classes_of(value.GetType()) if value.IsValid() else None
        for one in functions(target, name, lldb.eFunctionNameTypeMethod):
            if classes is None or plain_class(one.GetName() or "", name) in classes:
                found.append(return_type(target, one))
    return [kind for kind in found if kind is not None and kind.IsValid()]


def functions(target, name, kinds):
    """The user's functions of a name."""
    place = target.GetNumModules(), name, kinds
    if place not in functions_named:
        known = [one.GetFunction() for one in target.FindFunctions(name, kinds)]
        paths = [one.GetStartAddress().GetLineEntry().GetFileSpec().fullpath or "/usr/" for one in known]
        functions_named[place] = [one for one, path in zip(known, paths) if not path.startswith("/usr/")]
    return functions_named[place]


def function_path(frame, this, name):
    """The path of the function that a name means in a frame, if a namespace has it. By the name alone, LLDB may find a
    variable of a library instead."""
    target = frame.GetThread().GetProcess().GetTarget()
    kinds = (lldb.eFunctionNameTypeBase, lldb.eFunctionNameTypeMethod)
    known, methods = ({path_of(one) for one in functions(target, name, kind)} for kind in kinds)
    paths = (f"{scope}::{name}" if scope else name for scope in scopes(frame, this))
    path = next((path for path in paths if path in known or path in methods), name)
    return name if path in methods else path


def path_of(function):
    """`shop::total` for `shop::total(int)`."""
    return plain_path(function.GetName()).partition("(")[0]


def derived(frame, this, value, name):
    """A pointer to an object as one to its part that has a class, as `dynamic_cast` gives it; null, if it has no such part."""
    kind = type_of(frame, this, name)
    need(kind is not None and value.GetType().GetCanonicalType().IsPointerType())
    if not value.GetValueAsUnsigned():
        return Address(0, 64, False)
    whole = dereferenced(value.GetDynamicValue(lldb.eDynamicDontRunTarget)).GetNonSyntheticValue()
    is_whole = is_same(whole.GetType(), kind)
    found = {part.GetLoadAddress(): part for part in ([whole] if is_whole else parts(whole)) if is_same(part.GetType(), kind)}
    # An object with several such parts is ambiguous.
    if len(found) != 1:
        return Address(0, 64, False)
    pointer = found.popitem()[1].AddressOf()
    # What it leads to has the members of that class.
    pointer.SetPreferDynamicValue(lldb.eNoDynamicValues)
    return pointer


def parts(value):
    """An object, and the parts of it that are objects of the classes it derives from."""
    yield value
    kind = value.GetType().GetCanonicalType()
    # LLDB leaves out those without fields, and finds virtual ones.
    known = [child.GetNonSyntheticValue() for child in value.children[: len(kind.bases)]]
    for base in kind.bases:
        part = next((one for one in known if is_same(one.GetType(), base.GetType())), None)
        need(part or not kind.GetNumberOfVirtualBaseClasses())
        yield from parts(part or value.CreateChildAtOffset("base", base.GetOffsetInBytes(), base.GetType()))


def is_same(kind, other):
    kinds = (one.GetCanonicalType().GetUnqualifiedType().GetName() for one in (kind, other))
    return next(kinds) == next(kinds)


def is_named(kind, name):
    name = plain_name(name)
    kinds = (kind, kind.GetCanonicalType(), kind.GetUnqualifiedType())
    found = {plain_name(known or "") for one in kinds for known in (one.GetName(), one.GetDisplayTypeName())}
    return any(one == name or one.endswith("::" + name) and "<" not in one for one in found)


def plain_name(name):
    name = re.sub(r"std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>", "std::string", name)
    return re.sub(r"std::(__cxx11|__1)::|\s+|^class|^struct", lambda found: "std::" if ":" in found.group() else "", name)
