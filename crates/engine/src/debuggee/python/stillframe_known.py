"""Formats values of well-known types: those of the standard library and of popular packages.

Values are read from slots, instance dictionaries, and attributes implemented in C. No `__repr__`, property or
`__getattr__` of the program runs. A type is known if it is the very class of its package, or if a package has marked
the program's class.

The agent asks for the parts of a value: a prefix, a suffix, and the parts, each with a label, which is a string or a
tuple of a key. If a reader finds something unexpected, it fails, and the value is shown like any other.
"""

import collections
import datetime
import itertools
import re
import sys
import types

from stillframe_types import class_dict, class_name, class_order

# The maximum number of rows and columns of a table, and of array items in each dimension.
ROWS = 5
COLUMNS = 50
ITEMS = 6
# The minimum and maximum of larger arrays are not computed.
MOST_ELEMENTS = 1000000

module_name = type.__dict__["__module__"].__get__
read = object.__getattribute__


class Bare(str):
    """A text that is shown without quotes."""


class Pairs(list):
    """Keys with values, shown like a dictionary."""


Bare.__name__, Pairs.__name__ = "str", "dict"
MORE = Bare("...")


def reader_for(kind, side_effect_free):
    """The reader for values of a type: a function of the value and the maximum number of parts, and whether its
    attributes are internal and not shown; None for other types."""
    reader = EXACT.get(id(kind))
    if reader is not None:
        return reader, True
    module, name = module_name(kind), class_name(kind)
    if type(module) is str and is_of_package(kind, module, name):
        reader = BY_NAME.get((module, name))
        if reader is not None:
            return reader, True
    if not side_effect_free and writes_itself(kind):
        return None
    for owner in class_order(kind):
        for mark, reader in MARKS.items():
            if mark in class_dict(owner):
                return reader, reader in WITHOUT_ATTRIBUTES
    for (module, name), reader in BASES.items():
        base = defined(module, name)
        if base is not None and any(owner is base for owner in class_order(kind)):
            return reader, reader in WITHOUT_ATTRIBUTES
    return (attributes, False) if says_nothing(kind) else None


def defined(module, name):
    found = sys.modules.get(module)
    return read(found, "__dict__").get(name) if type(found) is types.ModuleType else None


def is_of_package(kind, module, name):
    return defined(module, name) is kind


# Base classes whose functions format subclasses of the program.
PACKAGES = ("attr", "collections", "dataclasses", "django", "enum", "pydantic", "reprlib", "sqlalchemy")


def writes_itself(kind):
    """Whether the program overrides how its values are shown."""
    for owner in class_order(kind):
        own = class_dict(owner).get("__repr__")
        if own is None:
            continue
        if type(own) is not types.FunctionType:
            return type(own) is not types.WrapperDescriptorType
        package = own.__globals__.get("__name__")
        made = own.__code__.co_filename.startswith("<attrs generated")
        return not made and not (type(package) is str and package.partition(".")[0] in PACKAGES)
    return False


def says_nothing(kind):
    """Whether the representation of an instance is only its type and address."""
    owner = next(owner for owner in class_order(kind) if "__repr__" in class_dict(owner))
    return owner is object and kind is not object


def attributes(value, most):
    """`<Cart: total=3>` for an instance that Python shows as its address."""
    members = (member for owner in class_order(type(value)) for member in class_dict(owner).items())
    slots = (name for name, member in members if type(member) is types.MemberDescriptorType)
    names = dict.fromkeys(itertools.chain(slots, fields_of(value)))
    # Names such as `__module__` are about the instance, and not what it holds.
    shown = (name for name in names if not (type(name) is str and name.startswith("__") and name.endswith("__")))
    parts = list(itertools.islice(named(value, shown), most))
    if not parts:
        raise LookupError("no attributes")
    return "<" + class_name(type(value)) + ": ", parts, ">"


def fields_of(value):
    """The instance dictionary of a value."""
    for owner in class_order(type(value)):
        own = class_dict(owner).get("__dict__")
        if type(own) is types.GetSetDescriptorType:
            own = own.__get__(value)
            # A copy of a subclass, whose methods may be the program's.
            return own if type(own) is dict else dict.copy(own) if issubclass(type(own), dict) else {}
    return {}


def named(value, names):
    """Attributes of an instance, from its dictionary or slots; those without a value are omitted."""
    own = fields_of(value)
    for name in names:
        if type(name) is not str:
            continue
        if name in own:
            yield name + "=", own[name]
            continue
        for owner in class_order(type(value)):
            slot = class_dict(owner).get(name)
            if type(slot) is types.MemberDescriptorType:
                try:
                    yield name + "=", slot.__get__(value)
                except AttributeError:
                    pass
                break


def called(value, parts):
    """Formatted as a call of the class."""
    return class_name(type(value)) + "(", list(parts), ")"


# ---------------------------------------------------------------------------------------------------------
# The standard library


def as_python_does(value, most):
    """Formatted with Python's own repr, whatever the instance contains."""
    return repr(value), (), ""


def as_it_is(value, most):
    return str.__str__(value), (), ""


def moment(value, most):
    zone = value.tzinfo
    if zone is None or type(zone) is datetime.timezone or is_of_package(type(zone), "zoneinfo", "ZoneInfo"):
        return as_python_does(value, most)
    return repr(value.replace(tzinfo=None))[:-1] + ", ", [("tzinfo=", zone)], ")"


def fraction(value, most):
    return "Fraction(", [("", read(value, "_numerator")), ("", read(value, "_denominator"))], ")"


def path(value, most):
    for name in ("_raw_paths", "_parts"):
        # Before it is joined, it contains the program's arguments.
        if any(type(part) is not str for part in getattr(value, name, ())):
            raise TypeError(name)
    return class_name(type(value)) + "(", [("", str(value))], ")"


def uuid(value, most):
    digits = "%032x" % read(value, "int")
    text = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return "UUID(", [("", text)], ")"


def array(value, most):
    head = [("", item) for item in itertools.islice(value, most)]
    return "array(%r, [" % value.typecode, head, "])"


def match(value, most):
    # A string subclass may override slicing.
    if type(value.string) not in (str, bytes):
        raise TypeError("string")
    return as_python_does(value, most)


def view(value, most):
    items = [("", item) for item in itertools.islice(value, most)]
    return class_name(type(value)) + "([", items, "])"


def view_of_pairs(value, most):
    return "dict_items([", [("", pair) for pair in itertools.islice(value, most)], "])"


def pairs(value, most):
    return "{", [((key,), item) for key, item in itertools.islice(value, most)], "}"


def dictionary(value, most):
    head = itertools.islice(dict.items(value), most)
    return class_name(type(value)) + "({", [((key,), item) for key, item in head], "})"


def ordered(value, most):
    head = itertools.islice(collections.OrderedDict.items(value), most)
    return "OrderedDict({", [((key,), item) for key, item in head], "})"


def defaults(value, most):
    inside = Pairs(itertools.islice(dict.items(value), most))
    return "defaultdict(", [("", value.default_factory), ("", inside)], ")"


def simple(value, most):
    own = types.SimpleNamespace.__dict__["__dict__"].__get__(value)
    return "namespace(", list(itertools.islice(((str(name) + "=", item) for name, item in own.items()), most)), ")"


def named_tuple(value, most):
    names = next(class_dict(owner)["_fields"] for owner in class_order(type(value)) if "_fields" in class_dict(owner))
    if type(names) is not tuple or not isinstance(value, tuple) or len(names) != tuple.__len__(value):
        raise TypeError("_fields")
    return called(value, zip((str.__str__(name) + "=" for name in names), tuple.__iter__(value)))


def dataclass(value, most):
    fields = next(
        class_dict(owner)["__dataclass_fields__"]
        for owner in class_order(type(value))
        if "__dataclass_fields__" in class_dict(owner)
    )
    is_field = defined("dataclasses", "_FIELD")
    names = [name for name, field in fields.items() if field._field_type is is_field and field.repr]
    return called(value, named(value, names))


def member(value, most):
    own = fields_of(value)
    name = own.get("_name_") or combined(value, own["_value_"])
    return "<%s.%s: " % (class_name(type(value)), name), [("", own["_value_"])], ">"


def combined(value, number):
    """The name of a combination of flags, which is unset before Python 3.11."""
    names = []
    for name, each in class_dict(type(value))["_member_map_"].items():
        flag = fields_of(each)["_value_"]
        if type(flag) is int and flag and flag & number == flag:
            names.append(name)
    return "|".join(names) or "0"


# ---------------------------------------------------------------------------------------------------------
# numpy and pandas


def numpy_array(value, most):
    elements = value.dtype.kind
    parts = [("shape=", value.shape), ("dtype=", Bare(value.dtype))]
    if elements in "biuf" and 0 < value.size <= MOST_ELEMENTS:
        parts += [(name + "=", number) for name, number in extremes_of(value)]
    return "ndarray(", parts + [("", array_head(value, ITEMS))], ")"


def extremes_of(value):
    """The least and the greatest number of an array, with their names; NaN is skipped."""
    for name, function in (("min", "fmin"), ("max", "fmax")):
        yield name, defined("numpy", function).reduce(value, axis=None).item()


def array_head(value, count):
    """The first elements along each dimension, as lists."""
    inner = 2 if value.ndim <= 4 else 1
    wanted = [slice(0, count)] * 2 + [slice(0, inner)] * (value.ndim - 2)
    head = value[tuple(wanted[: value.ndim])]
    if head.dtype.kind in "Mm":
        head = head.astype("U")
    return with_rest(head.tolist(), value.shape) if value.ndim else head.item()


def with_rest(items, shape):
    found = [with_rest(item, shape[1:]) for item in items] if len(shape) > 1 else list(items)
    return found + [MORE] if len(found) < shape[0] else found


def data_frame(value, most):
    manager = fields_of(value)["_mgr"]
    columns, rows = read(manager, "axes")
    labels = index_head(columns, COLUMNS)
    shown, kinds = {}, {}
    for column, values, place in columns_of(manager, len(labels)):
        shown[column] = column_head(values, place)
        kinds[column] = Bare(dtype_of(values))
    width, height = index_length(columns), index_length(rows)
    places = range(len(labels))
    dtypes = Pairs((label, kinds[at]) for at, label in enumerate(labels))
    head = Pairs(
        (label, tuple(shown[at][row] for at in places)) for row, label in enumerate(index_head(rows, ROWS))
    )
    return "DataFrame(", [("shape=", (height, width)), ("dtypes=", dtypes), ("head=", head)], ")"


def columns_of(manager, count):
    """The first columns of a table: for each its index, the values of its block, and its index in those."""
    for block in read(manager, "blocks"):
        values = read(block, "values")
        for place, column in enumerate(read(block, "_mgr_locs").as_array.tolist()):
            if column < count:
                yield column, values, place


def series(value, most):
    values, rows = values_and_rows(value)
    head = Pairs(zip(index_head(rows, ROWS), column_head(values, 0)))
    parts = [("shape=", (index_length(rows),)), ("dtype=", Bare(dtype_of(values))), ("head=", head)]
    name = fields_of(value).get("_name")
    return "Series(", parts if name is None else [("name=", name)] + parts, ")"


def values_and_rows(series):
    manager = fields_of(series)["_mgr"]
    return read(read(manager, "blocks")[0], "values"), read(manager, "axes")[0]


def index(value, most):
    head = index_head(value, ITEMS)
    length = index_length(value)
    return class_name(type(value)) + "([", [("", each) for each in head + [MORE] * (length > len(head))], "])"


def dtype_of(values):
    kind = type(values)
    # The program can define its own element type.
    return str(values.dtype) if in_pandas(kind) or is_array(values) else class_name(kind)


def is_array(values):
    return is_of_package(type(values), "numpy", "ndarray")


def in_pandas(kind):
    module = module_name(kind)
    return type(module) is str and module.partition(".")[0] == "pandas" and is_of_package(kind, module, class_name(kind))


# pandas arrays that store the values in a numpy array.
KEEP_VALUES = ("DatetimeArray", "TimedeltaArray", "StringArray", "StringArrayNumpySemantics", "NumpyExtensionArray")


def column_head(values, place, count=ROWS):
    """The first values of a column; `place` is its index in its block."""
    if is_array(values):
        return first_of(values, place, count)
    name = class_name(type(values)) if in_pandas(type(values)) else None
    if name == "Categorical":
        labels = read(values, "_dtype")._categories
        return [item_of(labels, code) for code in first_of(read(values, "_ndarray"), 0, count)]
    if name in KEEP_VALUES:
        head = first_of(read(values, "_ndarray"), place, count)
        # They are stored in a different time zone.
        return [time + "Z" for time in head] if is_of_package(type(read(values, "_dtype")), *ZONED) else head
    own = fields_of(values)
    if name and "_mask" in own:
        pairs = zip(first_of(own["_data"], place, count), first_of(own["_mask"], place, count))
        return [Bare("<NA>") if is_missing else item for item, is_missing in pairs]
    if name and "_pa_array" in own:
        return own["_pa_array"].slice(0, count).to_pylist()
    return [MORE] * count


ZONED = "pandas.core.dtypes.dtypes", "DatetimeTZDtype"


def first_of(values, place, count):
    return plain((values[place] if values.ndim > 1 else values)[:count])


def plain(head):
    """Items of an array as Python objects."""
    if head.dtype.kind == "M":
        return [ZERO_FRACTION.sub("", text) for text in head.astype("U").tolist()]
    return (head.astype("m8[us]") if head.dtype.kind == "m" else head).tolist()


ZERO_FRACTION = re.compile(r"\.0+$")


def item_of(labels, code):
    return Bare("<NA>") if code < 0 else column_head(fields_of(labels)["_data"][code : code + 1], 0)[0]


def index_length(labels):
    own = fields_of(labels)
    if "_range" in own:
        return len(own["_range"])
    if "_codes" in own:
        return len(list(own["_codes"])[0])
    data = own["_data"]
    return data.shape[0] if is_array(data) or in_pandas(type(data)) else len(data)


def index_head(labels, count):
    own = fields_of(labels)
    if "_range" in own:
        return list(own["_range"][:count])
    if "_codes" in own:
        levels, codes = list(own["_levels"]), list(own["_codes"])
        rows = zip(*([code for code in each[:count].tolist()] for each in codes))
        return [tuple(item_of(level, code) for level, code in zip(levels, row)) for row in rows]
    return column_head(own["_data"], 0, count)


# ---------------------------------------------------------------------------------------------------------
# Models and rows


def attrs_object(value, most):
    fields = next(
        class_dict(owner)["__attrs_attrs__"]
        for owner in class_order(type(value))
        if "__attrs_attrs__" in class_dict(owner)
    )
    return called(value, named(value, [field.name for field in fields if field.repr is not False]))


def pydantic_model(value, most):
    own = fields_of(value)
    more = defined("pydantic.main", "BaseModel").__dict__.get("__pydantic_extra__")
    extra = more.__get__(value) if type(more) is types.MemberDescriptorType else None
    parts = [(name + "=", item) for name, item in own.items()]
    return called(value, parts + [(name + "=", item) for name, item in (extra or {}).items()])


def row_object(value, most):
    """An instance of a class mapped by SQLAlchemy. Reading an unloaded attribute would load it."""
    own = fields_of(value)
    manager = next(
        class_dict(owner)["_sa_class_manager"]
        for owner in class_order(type(value))
        if "_sa_class_manager" in class_dict(owner)
    )
    properties = fields_of(fields_of(manager)["mapper"])["_props"]
    # Columns first.
    names = sorted(dict.keys(manager), key=lambda name: "Relationship" in class_name(type(properties.get(name))))
    return called(value, ((name + "=", own.get(name, Bare("<not loaded>"))) for name in names))


def row(value, most):
    places = read(value, "_key_to_index")
    data = read(value, "_data")
    names = {place: name for name, place in places.items() if type(name) is str}
    return "Row(", [(names[at] + "=" if at in names else "", item) for at, item in enumerate(data)], ")"


def statement(value, most):
    """Its text would need the compiler, which calls types and elements of the program."""
    return "<%s: evaluate str() of it to see the SQL>" % class_name(type(value)), (), ""


def django_model(value, most):
    own = fields_of(value)
    return called(value, ((name + "=", item) for name, item in own.items() if name != "_state"))


def query_set(value, most):
    """Reading its items would execute the query."""
    own = fields_of(value)
    start = "<%s of %s: " % (class_name(type(value)), class_name(own["model"]))
    if own["_result_cache"] is None:
        return start + "not evaluated>", (), ""
    return start, [("", own["_result_cache"])], ">"


EXACT = {
    id(Bare): as_it_is,
    id(Pairs): pairs,
    id(range): as_python_does,
    id(memoryview): as_python_does,
    id(datetime.date): as_python_does,
    id(datetime.timedelta): as_python_does,
    id(datetime.timezone): as_python_does,
    id(datetime.datetime): moment,
    id(datetime.time): moment,
    id(re.Pattern): as_python_does,
    id(re.Match): match,
    id(types.SimpleNamespace): simple,
    id(type({}.keys())): view,
    id(type({}.values())): view,
    id(type({}.items())): view_of_pairs,
    id(collections.OrderedDict): ordered,
    id(collections.defaultdict): defaults,
    id(collections.Counter): dictionary,
}

BY_NAME = {
    ("decimal", "Decimal"): as_python_does,
    ("fractions", "Fraction"): fraction,
    ("uuid", "UUID"): uuid,
    ("array", "array"): array,
    ("zoneinfo", "ZoneInfo"): as_python_does,
    ("numpy", "ndarray"): numpy_array,
    ("sqlalchemy.engine.row", "Row"): row,
    ("sqlalchemy.sql.selectable", "Select"): statement,
}
for _name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"):
    BY_NAME["pathlib", _name] = BY_NAME["pathlib._local", _name] = path
for _name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
              "float64", "complex64", "complex128", "str_", "bytes_", "datetime64", "timedelta64", "bool_"):
    BY_NAME["numpy", _name] = as_python_does
# Since version 3, the `__module__` of pandas' classes is the public one.
for _name, _module, _reader in (
    ("DataFrame", "frame", data_frame),
    ("Series", "series", series),
    ("Index", "indexes.base", index),
    ("RangeIndex", "indexes.range", index),
    ("MultiIndex", "indexes.multi", index),
    ("DatetimeIndex", "indexes.datetimes", index),
):
    BY_NAME["pandas", _name] = BY_NAME["pandas.core." + _module, _name] = _reader

# Marks that packages leave on classes of the program, the most specific first.
MARKS = {
    "_sa_class_manager": row_object,
    "__dataclass_fields__": dataclass,
    "__attrs_attrs__": attrs_object,
    "_fields": named_tuple,
}

BASES = {
    ("enum", "Enum"): member,
    ("pydantic.main", "BaseModel"): pydantic_model,
    ("django.db.models.base", "Model"): django_model,
    ("django.db.models.query", "QuerySet"): query_set,
}

WITHOUT_ATTRIBUTES = (row_object, query_set)
