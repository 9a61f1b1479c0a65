"""Arrays of NumPy and tables of pandas, as the lists and dictionaries that a recording has of them.

They are read as stillframe_known.py reads them: no code of the program runs.
"""

from record_shapes import DICT, LIST, SIMPLE, class_module, class_name
from stillframe_modules import load

# How many values of a table are read, and how many rows at least. More would take as long as the line that changed one.
MOST_CELLS, LEAST_ROWS = 400, 5
# How much is read along each dimension beyond the second.
DEEPER = 2
# The least and the greatest value of larger arrays are not computed.
MOST_ELEMENTS = 100_000
# The kinds of elements that are numbers and texts.
FLAT = "biufcSU"
# What is compared without code of the program; of attributes, shapes as well.
COMPARED = frozenset(SIMPLE)
COMPARED_FACTS = frozenset(SIMPLE + (tuple,))
# Arrays that share their memory, and memories for which they are known.
MOST_SHARING, MOST_MEMORIES = 8, 50_000


class Part:
    """What was made for the recording, of which only the beginning is known."""

    __slots__ = ()

    def __init__(self, contents, whole, is_flat):
        super().__init__(contents)
        # The length of the whole.
        self.whole = whole
        # All in it are numbers, or all are texts.
        self.is_flat = is_flat


class Items(Part, list):
    """The first items of an array, or of a row of one."""

    __slots__ = ("whole", "is_flat")


class Pairs(Part, dict):
    """The first values of a table or a column, by their labels."""

    __slots__ = ("whole", "is_flat")


def itself(value, _):
    """What is read of a row or a column, which were made for the recording."""
    return value, {}


def reader_of(kind):
    """What the contents of a type are read as and the function that reads them, or None."""
    module, name = class_module(kind), class_name(kind)
    if type(module) is not str or name not in READERS:
        return None
    return READERS[name] if load("stillframe_known").is_of_package(kind, module, name) else None


# The names of types of elements, which take longer to make than the elements.
dtypes = {}

# Each gives the contents of a value and its attributes.


def array(value, most):
    shape = value.shape
    name = dtypes.get(value.dtype)
    if name is None:
        name = dtypes[value.dtype] = str(value.dtype)
    facts = {"shape": shape, "dtype": name}
    if not shape:
        facts["value"] = value.item()
        return Items((), 0, True), facts
    head = value[tuple(map(slice, counts(shape, most)))]
    if head.dtype.kind in "Mm":
        head = head.astype("U")
    if head.size < value.size <= MOST_ELEMENTS and value.dtype.kind in "biuf":
        facts.update(load("stillframe_known").extremes_of(value))
    return rows_of(head.tolist(), shape, head.dtype.kind in FLAT), facts


def memory_of(value):
    """The array in whose memory the items of an array are; None of anything else."""
    if class_name(type(value)) != "ndarray":
        return None
    return value if value.base is None else value.base


def counts(shape, most):
    """How many items are read along each dimension."""
    if len(shape) == 1:
        return [most]
    wide = min(most, MOST_CELLS // LEAST_ROWS)
    rows = min(most, max(LEAST_ROWS, MOST_CELLS // max(1, min(wide, shape[1]))))
    return [rows, wide] + [DEEPER] * (len(shape) - 2)


def rows_of(items, shape, is_flat):
    if len(shape) == 1:
        return Items(items, shape[0], is_flat)
    return Items([rows_of(item, shape[1:], is_flat) for item in items], shape[0], False)


def table(value, most):
    known = load("stillframe_known")
    manager = known.fields_of(value)["_mgr"]
    columns, rows = known.read(manager, "axes")
    names = labels_of(columns, most)
    width, height = known.index_length(columns), known.index_length(rows)
    count = min(most, max(LEAST_ROWS, MOST_CELLS // max(1, len(names))))
    labels = labels_of(rows, count)
    found = {
        column: column_of(labels, values, place, height)
        for column, values, place in known.columns_of(manager, len(names))
    }
    return Pairs(((name, found[at]) for at, name in enumerate(names)), width, False), {"shape": (height, width)}


def column(value, most):
    known = load("stillframe_known")
    values, rows = known.values_and_rows(value)
    facts = {"dtype": known.dtype_of(values)}
    name = known.fields_of(value).get("_name")
    if type(name) is str:
        facts["name"] = name
    return column_of(labels_of(rows, most), values, 0, known.index_length(rows)), facts


def column_of(labels, values, place, whole):
    known = load("stillframe_known")
    head = known.column_head(values, place, len(labels))
    if known.is_array(values) and values.dtype.kind in FLAT:
        return Pairs(zip(labels, head), whole, True)
    return Pairs(zip(labels, [None if type(value) is known.Bare else value for value in head]), whole, False)


def labels_of(index, count):
    labels = load("stillframe_known").index_head(index, count)
    return [label if type(label) in SIMPLE or type(label) is tuple else str(label) for label in labels]


READERS = {"ndarray": (LIST, array), "DataFrame": (DICT, table), "Series": (DICT, column)}


def keep(old, new, compared=COMPARED):
    """Put what is the same in `old` into `new`, and its rows and columns with what those of `new` have in them, so that
    all that has not changed is the same object as before."""
    if type(new) is Items and new.is_flat:
        new[: len(old)] = same_numbers(old, new)
        return
    if type(new) is Pairs and new.is_flat and list(old) == list(new):
        new.update(zip(new, same_numbers(old.values(), new.values())))
        return
    before = old if isinstance(old, dict) else dict(enumerate(old))
    for key, item in list(new.items() if isinstance(new, dict) else enumerate(new)):
        kept = before.get(key)
        if type(kept) is not type(item):
            continue
        if issubclass(type(item), Part):
            keep(kept, item)
            kept.clear()
            (kept.extend if type(item) is Items else kept.update)(item)
            kept.whole, kept.is_flat = item.whole, item.is_flat
        elif kept is not item and (type(item) not in compared or kept != item and (kept == kept or item == item)):
            continue
        new[key] = kept


def same_numbers(old, new):
    # NaN is the same as NaN, although it equals nothing. What was there may have been an object of the program.
    return [
        kept if type(kept) in COMPARED and (kept == item or kept != kept and item != item) else item
        for kept, item in zip(old, new)
    ]


class Tables:
    """The part of a heap that compares arrays and tables with what has been written of them."""

    def compare_table(self, known, value, depth):
        """Write what has changed in an array or a table of a library, or in a row or a column of one."""
        try:
            contents, own = known.shape.read(value, self.items)
        except Exception:
            # Another version of the library, or an array that is gone from under its view.
            return
        if contents is not value:
            keep(known.contents or (), contents)
            keep(known.own or (), own, COMPARED_FACTS)
        # What was written last is what questions show first: that is an item.
        old, known.own = known.own or {}, own
        self.write_named(known, old, own, depth)
        if known.kind is LIST:
            self.compare_items(known, contents, depth)
        else:
            self.compare_pairs(known, contents, depth)
        parts = () if contents.is_flat else contents if known.kind is LIST else contents.values()
        for item in parts:
            if issubclass(type(item), Part):
                self.check(item)
        memory = memory_of(value)
        if memory is not None and depth > 0:
            self.check_sharing(known, id(memory))

    def check_sharing(self, known, memory):
        """The same for other arrays that have their items in the same memory, as a slice has those of an array."""
        others = self.sharing.setdefault(memory, [])
        if len(self.sharing) > MOST_MEMORIES:
            self.sharing.clear()
        if known not in others:
            others[MOST_SHARING - 1 :] = []
            others.insert(0, known)
        for other in others[:]:
            value = other.weak() if other.weak is not None else other.held
            if value is None or id(memory_of(value)) != memory:
                others.remove(other)
            elif other is not known:
                self.compare_table(other, value, 0)
