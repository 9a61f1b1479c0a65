"""Gives arrays in unions a length, because LLDB drops the one that they have, and finds arrays whose length it does not know."""

import re

import lldb
from stillframe_memory import dereferenced


# LLDB takes the size of the code for the bound of a variable-length array for that bound: of the address of a variable, and
# of the reading from there.
TAKEN = re.compile(r"\[[3-7]\]")
# The lines about local variables with the code for where they are.
LOCAL = re.compile(r'name = "(\w+)", .*location = (.*), decl')
# The names of variable-length arrays, by addresses in the program.
varying = {}


def sized(value, around=None):
    """An array in a union with as many items as the union has room for, and any other value as it is."""
    if not is_open(value) or value.GetLoadAddress() == lldb.LLDB_INVALID_ADDRESS:
        return value
    item = value.GetType().GetCanonicalType().GetArrayElementType()
    union = union_of(outer(value) if around is None else around, value) if item.GetByteSize() else None
    if union is None:
        return value
    kind = item.GetArrayType(union.GetByteSize() // item.GetByteSize())
    return value.CreateValueFromAddress(value.GetName(), value.GetLoadAddress(), kind)


def is_open(value):
    """Whether a value is an array whose type has no length, as in a union or at the end of a structure, or a wrong one."""
    kind = value.GetType().GetCanonicalType()
    return kind.IsArrayType() and ("[]" in (kind.GetName() or "") or is_varying(value))


def is_varying(value):
    """Whether a value is a variable-length array, or an array in one: its variable is a pointer to it."""
    frame, path = value.GetFrame(), lldb.SBStream()
    is_local = frame.IsValid() and value.GetValueType() == lldb.eValueTypeVariableLocal
    if not is_local or not TAKEN.search(value.GetType().GetCanonicalType().GetName() or ""):
        return False
    address = frame.GetPC()
    place = value.GetProcess().GetUniqueID(), address
    if place not in varying:
        result = lldb.SBCommandReturnObject()
        command = f"image lookup --verbose --address {address:#x}"
        value.GetTarget().GetDebugger().GetCommandInterpreter().HandleCommand(command, result)
        found = LOCAL.findall(result.GetOutput() or "")
        varying[place] = {name for name, code in found if code.endswith("DW_OP_deref")}
    value.GetExpressionPath(path)
    return re.sub(r"(\[\d+\])+$", "", path.GetData() or "") in varying[place]


def outer(value):
    """What a value is a member of, by the path to it."""
    path = lldb.SBStream()
    value.GetExpressionPath(path)
    around = re.sub(r"(\.|->)\w+$", "", path.GetData() or "")
    found = value.GetFrame().GetValueForVariablePath(around, lldb.eNoDynamicValues)
    return dereferenced(found) if found.GetType().GetCanonicalType().IsPointerType() else found


def union_of(around, member):
    """The innermost union with a member. The members of one without a name belong to what it is in."""
    raw = around.GetNonSyntheticValue()
    for one in raw.children:
        found = None if one.GetName() else union_of(one, member)
        if found is not None:
            return found
    is_union = raw.GetType().GetCanonicalType().GetTypeClass() == lldb.eTypeClassUnion
    is_in = raw.GetChildMemberWithName(member.GetName()).GetLoadAddress() == member.GetLoadAddress()
    return raw if is_union and is_in else None
