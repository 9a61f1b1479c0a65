"""Finds the items of `std::list` and `std::forward_list` of libstdc++, and of containers of its debug mode.

LLDB's own formatter goes through the whole list, by several calls of LLDB for each node, and finds no more than 256 items.
It shows containers of the debug mode as if they were empty.
"""

import re

import lldb
from stillframe_cpp import Children, HashedChildren, aligned, find

LISTS = r"^std::(__cxx11::)?(forward_)?list<.+>$"
DEBUGGED = r"^std::__debug::(vector|deque|(forward_)?list|(unordered_)?(multi)?(map|set))<.+>$"
INNER = re.compile(r"^std::__cxx1998::(?:__cxx11::)?(\w+)<")


class ListChildren(Children):
    """Nodes that begin with the address of the next one."""

    def read(self, raw):
        kind = raw.GetType().GetCanonicalType().GetTemplateArgumentType(0)
        head, links, end = find(raw, "_M_head"), 1, 0
        if head is None:
            # The list leads back to its beginning, also from its end.
            head, links = find(raw, "_M_node"), 2
            end = head.GetLoadAddress()
        process, error = raw.GetProcess(), lldb.SBError()
        node = head.GetChildMemberWithName("_M_next").GetValueAsUnsigned()
        while node and node != end and len(self.found) < self.MOST:
            following = process.ReadPointerFromMemory(node, error)
            if error.Fail():
                break
            self.found.append((node + aligned(links * process.GetAddressByteSize(), kind), kind))
            node = following


def of_debug_mode(value, internal):
    """The children of a container of the debug mode, which derives from that of the other mode."""
    # Another version of LLDB may not have it.
    from lldb.formatters.cpp import gnu_libstdcpp

    bases = value.GetNonSyntheticValue().children
    inner, name = next((base, found.group(1)) for base in bases if (found := INNER.match(base.GetTypeName() or "")))
    if name in ("vector", "deque"):
        made = gnu_libstdcpp.StdVectorSynthProvider if name == "vector" else gnu_libstdcpp.StdDequeSynthProvider
    elif name.endswith("list"):
        made = ListChildren
    else:
        made = HashedChildren if name.startswith("unordered_") else gnu_libstdcpp.StdMapLikeSynthProvider
    return made(inner.GetNonSyntheticValue(), internal)


def __lldb_init_module(debugger, _internal):
    for name, pattern in (("ListChildren", LISTS), ("of_debug_mode", DEBUGGED)):
        debugger.HandleCommand(f'type synthetic add -l stillframe_cpp_lists.{name} -x "{pattern}" --category stillframe')
