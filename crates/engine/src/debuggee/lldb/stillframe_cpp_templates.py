"""Methods of class templates by the paths that programmers write: LLDB knows `Ring::push` only as `Ring<int, 3>::push`."""

import re

import lldb

# A class may be made for more types than breakpoints should be set for.
MOST = 50
ARGUMENTS = re.compile(r"<[^<>]*>")


def find(debugger, command, result, _internal):
    """Print the mangled name of each function with this path, behind `function `."""
    wanted = command.strip()
    owner, _, last = wanted.rpartition("::")
    if not owner or "<" in wanted:
        return
    contexts = debugger.GetSelectedTarget().FindFunctions(last, lldb.eFunctionNameTypeBase | lldb.eFunctionNameTypeMethod)
    # Of a method that is itself a template, LLDB may know only the symbol.
    symbols = (context.GetSymbol() for context in contexts)
    found = [symbol for symbol in symbols if has_source(symbol) and f"::{path(symbol.GetName())}".endswith(f"::{wanted}")]
    # A destructor has several names.
    places = {symbol.GetStartAddress().GetFileAddress(): symbol.GetMangledName() for symbol in found}
    for mangled in list(places.values())[:MOST]:
        result.AppendMessage(f"function {mangled}")


def has_source(symbol):
    return bool(symbol.GetMangledName()) and symbol.GetStartAddress().GetLineEntry().IsValid()


def path(name):
    """`shop::Ring::each` for `int shop::Ring<int, 3>::each<char>(char) const`."""
    name = name.replace("(anonymous namespace)", "")
    while (shorter := ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name.partition("(")[0].rpartition(" ")[2]


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -s current -f stillframe_cpp_templates.find stillframe-functions")
