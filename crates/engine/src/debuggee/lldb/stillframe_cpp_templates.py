"""Functions of C++ by the paths that programmers write: LLDB knows `Ring::push` only as `Ring<int, 3>::push`, and `shop::add`
of an unnamed namespace only with `(anonymous namespace)`."""

import lldb
from stillframe_names import path_of

# A class may be made for more types than breakpoints should be set for.
MOST = 50


def find(debugger, command, result, _internal):
    """Print the mangled name of each function with this path, after `function `."""
    wanted = command.strip()
    owner, _, last = wanted.rpartition("::")
    if not owner or "<" in wanted:
        return
    contexts = debugger.GetSelectedTarget().FindFunctions(last, lldb.eFunctionNameTypeBase | lldb.eFunctionNameTypeMethod)
    # Of a method that is itself a template, LLDB may know only the symbol.
    symbols = (context.GetSymbol() for context in contexts)
    found = [symbol for symbol in symbols if has_source(symbol) and f"::{path_of(plain(symbol))}".endswith(f"::{wanted}")]
    # A destructor has several names.
    places = {symbol.GetStartAddress().GetFileAddress(): symbol.GetMangledName() for symbol in found}
    for mangled in list(places.values())[:MOST]:
        result.AppendMessage(f"function {mangled}")


def has_source(symbol):
    return bool(symbol.GetMangledName()) and symbol.GetStartAddress().GetLineEntry().IsValid()


def plain(symbol):
    return symbol.GetName().replace("(anonymous namespace)::", "")


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -s current -f stillframe_cpp_templates.find stillframe-functions")
