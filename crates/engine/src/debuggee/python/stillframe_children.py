"""The variables of frames and the contents of values, in pages."""

import dis
import functools
import inspect
import itertools
import time
import types

from stillframe_debugger import add_handle, client_file_of, find_frame, find_handle
from stillframe_errors import message_of
from stillframe_modules import load
from stillframe_types import (
    BRACKETS,
    FUNCTIONS,
    PLAIN,
    class_dict,
    class_order,
    container_kind,
    instance_dict,
    is_a,
    type_name,
)
from stillframe_values import Renderer

RETURN_VALUES = "__pydevd_ret_val_dict"

# How the names of values begin there that no function has returned.
NOT_RETURNED = "(not returned)"

# What pydevd has collected there for the frames that were read at this stop.
shown_returned = []


class Attribute:
    """A property: listed without running it."""

    def __init__(self, name):
        self.name = name


class Namespace:
    """The locals or globals of a frame, as an object with children."""

    def __init__(self, frame, is_globals):
        self.frame = frame
        self.is_globals = is_globals

    def variables(self):
        names = dict(self.frame.f_globals if self.is_globals else self.frame.f_locals)
        names.pop("_pydev_stop_at_break", None)
        returned = names.pop(RETURN_VALUES, {})
        if returned:
            shown_returned.append(returned)
        shown = [("(return) " + name, value) for name, value in returned.items() if not name.startswith(NOT_RETURNED)]
        return shown + list(names.items())

    def is_module_level(self):
        return self.is_globals or self.frame.f_locals is self.frame.f_globals or self.frame.f_code.co_name == "<module>"


def reported(value, renderer):
    """The server's `Value`: text, type, reference, number of children, whether the text is truncated, and its full
    length if known."""
    text, cut, length = renderer.text(value)
    count = 0 if id(type(value)) in PLAIN else children_count(value)
    return [text, type_name(value), add_handle(value) if count else None, count, cut, length]


def children_count(value):
    """How many children a value has."""
    return items_count(value) + len(attributes(value))


def items_count(value):
    kind = container_kind(value)
    return kind.__len__(value) if kind else 0


def items(value, start, stop):
    """Named items from `start` to `stop`."""
    kind = container_kind(value)
    if kind is dict:
        pairs = itertools.islice(dict.items(value), start, stop)
        return [(key_text(key), item) for key, item in pairs]
    if kind in (list, tuple):
        fields = (class_dict(owner).get("_fields") for owner in class_order(type(value)))
        names = next((names for names in fields if names is not None), None)
        found = kind.__getitem__(value, slice(start, stop))
        if kind is tuple and isinstance(names, tuple) and len(names) == tuple.__len__(value):
            return list(zip(names[start:stop], found))
        return [(str(start + index), item) for index, item in enumerate(found)]
    if kind:
        found = itertools.islice(kind.__iter__(value), start, stop)
        return [(str(start + index), item) for index, item in enumerate(found)]
    return []


def key_text(key):
    return Renderer(100).text(key)[0]


def attributes(value):
    """The attributes of an instance, class or module, without running any code of it."""
    kind = type(value)
    if id(kind) in PLAIN or id(kind) in BRACKETS or id(kind) in FUNCTIONS:
        return []
    shown = parts_for_attributes(value, kind)
    if shown is not None:
        return shown
    found = {}
    # `object`, the last one, has neither slots nor properties; those of `type` are internals of the interpreter.
    classes = [owner for owner in class_order(kind)[:-1] if owner is not type]
    if is_a(value, BaseException):
        # Read directly, so that overrides of a subclass do not run.
        found["args"] = BaseException.__dict__["args"].__get__(value)
        for name in ("__cause__", "__context__"):
            cause = BaseException.__dict__[name].__get__(value)
            if cause is not None:
                found[name] = cause
    for owner in reversed(classes):
        for name, member in class_dict(owner).items():
            if type(member) is types.MemberDescriptorType and class_dict(owner).get("__module__") is not None:
                try:
                    found[name] = member.__get__(value, kind)
                except AttributeError:
                    pass  # A slot without a value.
    own = instance_dict(value)
    hide = is_a(value, (type, types.ModuleType))
    found.update((name, item) for name, item in own.items() if not (hide and is_dunder(name)))
    for owner in classes:
        for name, member in class_dict(owner).items():
            if type(member) in (property, functools.cached_property) and name not in found:
                found[name] = Attribute(name)
    return list(found.items())


def parts_for_attributes(value, kind):
    """Parts to show in place of the attributes of a value that only has internal ones."""
    if container_kind(value) is not None:
        return None
    renderer = Renderer(100)
    reader = renderer.reader(kind)
    parts = renderer.parts(value, kind) if reader and reader[1] else None
    return parts and [(label[:-1], item) for label, item in parts[1] if type(label) is str and label]


def is_dunder(name):
    return isinstance(name, str) and name.startswith("__") and name.endswith("__")


def is_special(name, value, module_level):
    """Whether a variable belongs to the language or to pytest's assertion rewriting, or is code rather than data."""
    if is_dunder(name) or str(name).startswith("@py_"):
        return True
    return module_level and is_a(value, (types.ModuleType, types.FunctionType, type))


def request_scopes(number):
    frame = find_frame(number)
    code = frame.f_code
    file = client_file_of(code)
    # The lines of a module are those of its file.
    part = [file, code.co_firstlineno, last_line_of(code)] if code.co_flags & inspect.CO_OPTIMIZED and file else None
    return {"locals": add_handle(Namespace(frame, False)), "globals": add_handle(Namespace(frame, True)), "code": part}


def last_line_of(code):
    inner = [last_line_of(each) for each in code.co_consts if type(each) is types.CodeType]
    return max([line for _, line in dis.findlinestarts(code) if line] + inner + [code.co_firstlineno])


def request_locals(number, start, count, limit, with_special, expansion, levels=None):
    """With LEVELS, the same is sent ahead at the next stop, and this many frames."""
    if levels is not None:
        load("stillframe_ahead").expect(levels, [start, count, limit, with_special, expansion])
    rows = page(Namespace(find_frame(number), False), start, count, limit, with_special)
    return {"rows": rows, "expanded": expand(rows, limit, *expansion)}


def expand(rows, limit, values, count, depth, seconds):
    """The contents of variables, and of what they contain, breadth first: whose child each is, its place there, and
    its children. What cannot be read is left out."""
    until = time.monotonic() + seconds
    expanded, level = [], [(None, rows)]
    while level and depth > 0:
        above, level, depth = level, [], depth - 1
        for parent, siblings in above:
            for index, (_, value, _) in enumerate(siblings["variables"]):
                if value[2] is None:
                    continue
                if len(expanded) >= values or time.monotonic() > until:
                    return expanded
                try:
                    children = page(find_handle(value[2]), 0, count, limit, False)
                except Exception:
                    continue
                level.append((len(expanded), children))
                expanded.append([parent, index, children])
    return expanded


def request_children(number, start, count, limit, with_special):
    return page(find_handle(number), start, count, limit, with_special)


def request_same(number, others):
    """The index of the identical value among others, or None."""
    value = find_handle(number)
    places = (place for place, other in enumerate(others) if find_handle(other) is value)
    return {"same": next(places, None)}


def page(parent, start, count, limit, with_special):
    stop, hidden = start + count, 0
    module_level = is_a(parent, types.ModuleType)
    if type(parent) is Namespace:
        named, module_level = parent.variables(), parent.is_module_level()
        if not with_special:
            shown = [pair for pair in named if not is_special(pair[0], pair[1], module_level)]
            named, hidden = shown, len(named) - len(shown)
        total, named = len(named), named[start:stop]
    else:
        in_items, extra = items_count(parent), attributes(parent)
        total = in_items + len(extra)
        named = items(parent, start, stop)
        named += extra[max(start - in_items, 0) : max(stop - in_items, 0)]
    renderer = Renderer(limit)
    rows = []
    for name, value in named:
        if type(value) is Attribute:
            text = "<property: not run; evaluate it to see its value>"
            rows.append([name, [text, "property", None, 0, False, None], False])
            continue
        try:
            row = [str(name), reported(value, renderer), is_special(name, value, module_level)]
        except Exception as error:
            # One unreadable object must not hide the others.
            text = "<cannot be read: %s>" % message_of(error)
            row = [str(name), [text, type_name(value), None, 0, False, None], False]
        rows.append(row)
    return {"total": total, "hidden": hidden, "start": start, "variables": rows}
