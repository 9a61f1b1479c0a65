"""Finds the items of `std::list` and `std::forward_list` of libstdc++.

LLDB's own formatter goes through the whole list, by several calls of LLDB for each node, and finds no more than 256 items.
"""

import lldb
from stillframe_cpp import Children, aligned, find

LISTS = r"^std::(__cxx11::)?(forward_)?list<.+>$"


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


def __lldb_init_module(debugger, _internal):
    command = f'type synthetic add -l stillframe_cpp_lists.ListChildren -x "{LISTS}" --category stillframe'
    debugger.HandleCommand(command)
