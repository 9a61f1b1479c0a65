"""Completes rustc's printers for GDB.

The one of a hash table reads each control byte by itself, as many as the table says it has, and the one of a `Ref` takes the
`NonNull` in it for a pointer.
"""

import gdb
import gdb_providers
from stillframe_places import Places, may_be_table


def make_map(printer, valobj, show_values=True):
    """In place of the constructor of the printer of a hash map, or of a hash set."""
    printer._valobj, printer._show_values = valobj, show_values
    table = printer._table()
    inner = table["table"]
    mask, printer._size = int(inner["bucket_mask"]), int(inner["items"])
    if not may_be_table(mask, printer._size):
        raise gdb.MemoryError("not initialized, or moved")
    control = inner["ctrl"]["pointer"]
    inferior, address = gdb.selected_inferior(), int(control)
    printer._pair_type = table.type.template_argument(0).strip_typedefs()
    printer._new_layout = True
    printer._data_ptr = control.cast(printer._pair_type.pointer())
    printer._valid_indices = Places(lambda at, size: inferior.read_memory(address + at, size).tobytes(), mask + 1)


def make_ref(printer, valobj):
    """The same for a `Ref` and a `RefMut`."""
    printer._value = gdb_providers.unwrap_unique_or_non_null(valobj["value"]).dereference()
    printer._borrow = valobj["borrow"]["borrow"]["value"]["value"]


gdb_providers.StdHashMapProvider.__init__ = make_map
gdb_providers.StdRefProvider.__init__ = make_ref
