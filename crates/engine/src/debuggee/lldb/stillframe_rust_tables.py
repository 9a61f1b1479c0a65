"""Finds the entries of hash maps and hash sets of Rust.

rustc's formatter asks LLDB for each control byte of a table, as many as the table says it has: that takes half a minute for
a million entries, and far longer for a map that is not initialized. Here they are read in blocks, as far as entries are
asked for.
"""

import lldb
from stillframe_places import Places, may_be_table


def table_of(value):
    """What a map or a set of the standard library keeps its entries in."""
    held = value.GetNonSyntheticValue()
    while held.IsValid() and not held.GetChildMemberWithName("bucket_mask").IsValid():
        parts = (held.GetChildMemberWithName(name) for name in ("table", "base", "map"))
        held = next((part for part in parts if part.IsValid()), lldb.SBValue()).GetNonSyntheticValue()
    return held


def control_bytes(table):
    """Where the control bytes of a table begin, and how many there are; None for what cannot be a table."""
    mask, items = (table.GetChildMemberWithName(name).GetValueAsUnsigned() for name in ("bucket_mask", "items"))
    address = table.GetChildMemberWithName("ctrl").GetNonSyntheticValue().GetChildAtIndex(0).GetValueAsUnsigned()
    if not may_be_table(mask, items):
        return None
    error = lldb.SBError()
    table.GetProcess().ReadMemory(address + mask, 1, error)
    return (address, mask + 1) if error.Success() else None


def is_table(value):
    return control_bytes(table_of(value)) is not None


def update(provider):
    """In place of the method of rustc's formatter."""
    table = provider.table()
    inner = table.GetChildMemberWithName("table").GetNonSyntheticValue()
    known = control_bytes(inner)
    address, count = known or (0, 0)
    provider.size = inner.GetChildMemberWithName("items").GetValueAsUnsigned() if known else 0
    provider.pair_type = table.GetType().GetTemplateArgumentType(0).GetCanonicalType()
    provider.pair_type_size = provider.pair_type.GetByteSize()
    provider.new_layout = True
    ctrl = inner.GetChildMemberWithName("ctrl").GetChildAtIndex(0)
    provider.data_ptr = ctrl.Cast(provider.pair_type.GetPointerType())
    process = table.GetProcess()
    provider.valid_indices = Places(lambda at, size: process.ReadMemory(address + at, size, lldb.SBError()) or b"", count)
