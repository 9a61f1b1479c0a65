"""Finds the items of containers of libstdc++ that LLDB shows as structures, or as if they were empty, and those of lists and
hash tables: LLDB's own formatters go through these by several calls for each node, and find at most 256 items of a list.
"""

import itertools
import re

import lldb
from stillframe_cpp import aligned, find, first_hashed
from stillframe_formats import Children

INNER = re.compile(r"^std::__cxx1998::(?:__cxx11::)?(\w+)<")


class HashedChildren(Children):
    """`std::unordered_map` and `std::unordered_set` of libstdc++: a list of nodes, each followed by its value."""

    def read(self, raw):
        table = raw.GetChildMemberWithName("_M_h")
        kind = table.GetType().GetCanonicalType().GetTemplateArgumentType(1)
        node = first_hashed(table)
        process, error = raw.GetProcess(), lldb.SBError()
        while node and len(self.found) < self.MOST:
            # The value is aligned, for all common types at most like a pointer.
            self.found.append((node + 8, kind))
            node = process.ReadPointerFromMemory(node, error)
            if error.Fail():
                break


class TreeChildren(Children):
    """`std::map` and `std::set` of libstdc++: a tree, whose nodes are found in their order, as far as they are requested."""

    # A tree of this depth has more nodes than fit into memory.
    DEEPEST = 128

    def update(self):
        self.count, self.nodes = 0, iter(())
        return super().update()

    def read(self, raw):
        tree = raw.GetChildMemberWithName("_M_t")
        kind = tree.GetType().GetCanonicalType().GetTemplateArgumentType(1)
        process = raw.GetProcess()
        size = process.GetAddressByteSize()
        # The result of a call is a copy in the debugger.
        header = find(tree, "_M_header")
        root, left = (header.GetChildMemberWithName(name).GetValueAsUnsigned() for name in ("_M_parent", "_M_left"))
        nodes = self.walk(process, root, size)
        first = next(nodes, None)
        # An empty one has no nodes, and one that is not initialized leads elsewhere.
        self.count = find(tree, "_M_node_count").GetValueAsUnsigned() if first == left else 0
        self.nodes = ((node + aligned(4 * size, kind), kind) for node in itertools.chain([first], nodes))

    def walk(self, process, node, size):
        outer, error = [], lldb.SBError()
        while (node or outer) and len(outer) < self.DEEPEST and error.Success():
            if node:
                outer.append(node)
                node = process.ReadPointerFromMemory(node + 2 * size, error)
            else:
                node = outer.pop()
                yield node
                node = process.ReadPointerFromMemory(node + 3 * size, error)

    def num_children(self):
        return self.count

    def get_child_at_index(self, index):
        if index < self.count:
            self.found.extend(itertools.islice(self.nodes, max(0, index + 1 - len(self.found))))
        return super().get_child_at_index(index)


class Row(Children):
    """Children that lie one after the other."""

    def update(self):
        self.start, self.count, self.kind = 0, 0, None
        return super().update()

    def num_children(self):
        return self.count

    def get_child_at_index(self, index):
        if not 0 <= index < self.count:
            return None
        return self.value.CreateValueFromAddress(f"[{index}]", self.start + index * self.kind.GetByteSize(), self.kind)


class ArrayChildren(Row):
    def read(self, raw):
        elements = raw.GetChildMemberWithName("_M_elems")
        self.kind = elements.GetType().GetArrayElementType()
        self.start, self.count = elements.GetLoadAddress(), elements.GetNumChildren()


class WindowChildren(Row):
    """`std::span`, `std::valarray` and `std::initializer_list` of libstdc++: a pointer and a length, which is in the type
    of a fixed span."""

    def read(self, raw):
        starts = (raw.GetChildMemberWithName(name) for name in ("_M_ptr", "_M_data", "_M_array"))
        start = next(start for start in starts if start.IsValid())
        lengths = (find(raw, name) for name in ("_M_extent_value", "_M_size", "_M_len"))
        length = next((length for length in lengths if length is not None), None)
        fixed = re.search(r", (\d+)(u?l*)>$", raw.GetType().GetCanonicalType().GetName() or "", re.I)
        self.kind, self.start = start.GetType().GetPointeeType(), start.GetValueAsUnsigned()
        self.count = length.GetValueAsUnsigned() if length is not None else int(fixed.group(1))


class TupleChildren(Children):
    """`std::tuple` of libstdc++: each item is in a base class of the next one's."""

    def read(self, raw):
        parts = [child.GetNonSyntheticValue() for child in raw.children]
        for head in parts:
            if "_Head_base<" in (head.GetTypeName() or ""):
                inside = head.GetChildMemberWithName("_M_head_impl")
                target = inside if inside.IsValid() else head
                self.found.append((target.GetLoadAddress(), target.GetType()))
        for rest in parts:
            if "_Tuple_impl<" in (rest.GetTypeName() or ""):
                self.read(rest)


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
        made = HashedChildren if name.startswith("unordered_") else TreeChildren
    return made(inner.GetNonSyntheticValue(), internal)


FOUND_BY = {
    r"^std::unordered_(multi)?(map|set)<.+>$": "HashedChildren",
    r"^std::(multi)?(map|set)<.+>$": "TreeChildren",
    r"^std::array<.+>$": "ArrayChildren",
    r"^std::(span|valarray|initializer_list)<.+>$": "WindowChildren",
    r"^std::tuple<.*>$": "TupleChildren",
    r"^std::(__cxx11::)?(forward_)?list<.+>$": "ListChildren",
    r"^std::__debug::(vector|deque|(forward_)?list|(unordered_)?(multi)?(map|set))<.+>$": "of_debug_mode",
}


def __lldb_init_module(debugger, _internal):
    for pattern, name in FOUND_BY.items():
        debugger.HandleCommand(f'type synthetic add -l stillframe_cpp_children.{name} -x "{pattern}" --category stillframe')
