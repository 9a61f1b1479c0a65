"""Functions of Rust by the paths that programmers write, where LLDB does not find them: those of a program with v0 names,
which are `<shop::Cart>::add`, and those that are generic."""

import re

import lldb
import stillframe_rust
from stillframe_names import is_library, without_hash

# A generic function may be compiled for more types than breakpoints should be set for.
MOST = 50


def find(debugger, command, result, _internal):
    """Print the mangled name of each of the user's functions with a path, after `function `; if there is none and LLDB
    does not find any either, of each of a library's."""
    wanted = next(iter(paths(command.strip())), "")
    last = wanted.rsplit("::", 1)[-1]
    # Both manglings have a name with its length in front.
    coded = f"{len(last)}{last}"
    target = debugger.GetSelectedTarget()
    mangled = (symbol for symbol in target.GetModuleAtIndex(0) if last and coded in (symbol.GetMangledName() or ""))
    found = [symbol for symbol in mangled if is_named(symbol.GetName() or "", wanted)]
    users = [symbol for symbol in found if is_users(symbol)]
    if not users and not target.FindFunctions(wanted, lldb.eFunctionNameTypeAuto).GetSize():
        users = found
    for symbol in users[:MOST]:
        result.AppendMessage(f"function {symbol.GetMangledName()}")


def is_users(symbol):
    return not is_library(symbol.GetStartAddress().GetLineEntry().GetFileSpec())


def is_named(name, wanted):
    return any(f"::{path}".endswith(f"::{wanted}") for path in paths(name))


def paths(name):
    """`shop::Cart::add` for `<shop::Cart<u8>>::add::<u8>`; of a method of a trait, also the path by the trait."""
    name = without_hash(stillframe_rust.decoded(name)).removeprefix("_")
    if not name.startswith("<"):
        return [plain(name)]
    end = closing(name, 0)
    owners = re.split(r" as (?=[^<>]*(?:<.*>)?$)", name[1:end])
    return [plain(owner + name[end + 1:]) for owner in owners]


def plain(path):
    """Without the arguments of generic types and functions."""
    while (start := path.find("<")) >= 0:
        path = path[:start].removesuffix("::") + path[closing(path, start) + 1:]
    return path


def closing(text, start):
    """Where the bracket that opens at `start` is closed. An arrow is not a bracket."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "<") - (text[at] == ">" and text[at - 1] != "-")
        if not depth:
            return at
    return len(text)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -s current -f stillframe_functions.find stillframe-functions")
