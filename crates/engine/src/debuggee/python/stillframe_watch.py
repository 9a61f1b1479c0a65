"""Stops the program after a watched value was written.

Python has no data breakpoints. So while something is watched, each line of user code has one of pydevd's breakpoints
whose condition calls `on_line` below, which compares the watched storage with what it held before. Comparing and
reading run no code of the program. Storage is a slot of one object: an attribute, an item, a global, or a local variable
of one frame, which nested functions may keep. So a write by another name for the object is seen. Adding, removing and
replacing items of a list, a dictionary or a set that the slot holds counts as a write; a change inside another object
that it holds does not.
"""

import ast
import collections
import dis
import functools
import gc
import itertools
import json
import operator
import os
import sys
import threading
import types

import stillframe_state as state
import stillframe_steps as steps
from stillframe_agent import REQUESTS
from stillframe_debugger import client_file_of, debugger, find_frame, is_of_debugger, paths_of, send_event
from stillframe_errors import Raised, describe, refuse
from stillframe_expressions import evaluate_without_side_effects, private_owner
from stillframe_limits import Interrupted, limited
from stillframe_loaded import loaded_files
from stillframe_rules import RULE_LIMIT, rule_of
from stillframe_steps import hidden, stored_names
from stillframe_types import class_dict, class_name, class_order, is_a, type_name
from stillframe_values import Renderer

# What a slot without a value holds.
MISSING = object()
# The longest text of a value.
MOST_TEXT = 300
# How many lines that ran are remembered of a thread, and of how many threads, to name the one that wrote.
MOST_LINES = 256
# Of longer lists, dictionaries and sets, only the length is compared.
MOST_ITEMS = 1000
# Values of these types are equal if they look so; others only if they are the same.
PLAIN = (type(None), bool, int, float, complex, str, bytes)

numbers = itertools.count(1)
# Storage that was found, by the number that the client knows it by.
found = {}
# The numbers of what the client has last asked to watch, with those that are disabled.
requested = set()
# What is watched.
watched = []
# The lines that ran before, by thread, with the thread that ran last at the end: ID of the frame, code and line.
ran = {}
# Our breakpoints, by pydevd's name for the file.
ours = {}
turn = threading.Lock()


# ---------------------------------------------------------------------------------------------------------
# Storage


class Slot:
    """A place that holds a value. `name` is how instructions that store there call it; None for items.

    `stores` is how the names of these instructions begin.
    """

    name = None
    stores = ()

    def read(self):
        try:
            return self.get()
        except Exception:
            return MISSING

    def concerns(self, frame):
        return True

    def by_now(self, current):
        """Where the value is stored from now on; None if its storage is gone."""
        return self

    def why_missing(self, text):
        """What to say of one that does not exist yet, in words that stay true when it does."""
        return "`%s` did not exist when this was set; the program stops when it is created" % text


class Attribute(Slot):
    stores = ("STORE_ATTR", "DELETE_ATTR")

    def __init__(self, owner, name):
        self.owner, self.name = owner, name
        self.names = namespace_reader(owner)
        self.member = None
        if self.names is None or entry(self.names(owner), name) is MISSING:
            self.member = self.descriptor()

    def descriptor(self):
        """The descriptor of a slot (`__slots__`); None if an entry of the namespace will hold the value."""
        kind = self.owner if is_a(self.owner, type) else type(self.owner)
        for each in class_order(kind):
            member = class_dict(each).get(self.name)
            if type(member) is types.MemberDescriptorType:
                return member
            if member is not None and any("__set__" in class_dict(base) for base in class_order(type(member))):
                refuse(
                    "`%s` is a %s, whose value is computed; watch the attribute that it reads"
                    % (self.name, type_name(member))
                )
        if self.names is None:
            refuse("a %s has no attribute `%s` that can be watched" % (type_name(self.owner), self.name))
        return None

    def get(self):
        if self.member is not None:
            return self.member.__get__(self.owner)
        # An attribute of the class does not count.
        return entry(self.names(self.owner), self.name)

    def why_missing(self, text):
        kind = self.owner if is_a(self.owner, type) else type(self.owner)
        holder = next((each for each in class_order(kind) if self.name in class_dict(each)), None)
        if holder is None:
            return super().why_missing(text)
        of_class = "%s.%s" % (class_name(holder), self.name)
        return (
            "`%s` was that of the class when this was set; only a write to `%s` itself stops the program, so watch `%s`, too"
            % (text, text, of_class)
        )


def entry(names, key):
    """The entry of a dictionary, read without `__getitem__` and `__missing__` of its class."""
    return dict.get(names, key, MISSING)


def namespace_reader(owner):
    """What reads the namespace of an object without running its code; None if it has none."""
    if is_a(owner, type):
        return lambda kind: dict(class_dict(kind))
    for kind in class_order(type(owner)):
        own = class_dict(kind).get("__dict__")
        if type(own) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            return own.__get__
    return None


class Item(Slot):
    stores = ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")

    def __init__(self, owner, key):
        self.owner, self.key = owner, key
        if is_a(owner, list):
            self.reader = list.__getitem__
        elif is_a(owner, dict):
            self.reader = entry
        else:
            refuse("items of a %s cannot be watched; those of lists and dictionaries can" % type_name(owner))
        if type(key) not in PLAIN:
            refuse("the key must be a number or a text")

    def get(self):
        return self.reader(self.owner, self.key)


class Global(Slot):
    stores = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME", "STORE_ATTR", "DELETE_ATTR")

    def __init__(self, names, name):
        self.names, self.name = names, name

    def get(self):
        return entry(self.names, self.name)


class Local(Slot):
    stores = ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF", "STORE_NAME", "DELETE_NAME")

    def __init__(self, frame, name):
        self.frame, self.name = frame, name
        code = frame.f_code
        self.is_shared = name in code.co_cellvars or name in code.co_freevars

    def get(self):
        names = self.frame.f_locals
        # From Python 3.13 on, those of a function are a built-in proxy.
        return entry(names, self.name) if is_a(names, dict) else names[self.name]

    def concerns(self, frame):
        # Only nested functions write to another function's variables.
        return (self.is_shared or frame is self.frame) and not self.is_hidden()

    def is_hidden(self):
        """Whether a comprehension that runs in the frame has a variable of this name in its place."""
        at = self.frame.f_lasti
        return any(name == self.name and begin <= at <= end for name, begin, end in hidden(self.frame.f_code))

    def by_now(self, current):
        if not has_ended(self.frame, current):
            return self
        cell = cell_of(self.frame, self.name) if self.is_shared else None
        return None if cell is None else Cell(cell, self.name)

    def why_gone(self):
        return "`%s` has returned" % self.frame.f_code.co_name


class Cell(Slot):
    """A variable of a function that has returned, which nested functions keep."""

    stores = ("STORE_DEREF", "DELETE_DEREF")

    def __init__(self, cell, name):
        self.cell, self.name = cell, name

    def get(self):
        return self.cell.cell_contents

    def by_now(self, current):
        # One reference is ours, and one is the argument.
        return self if sys.getrefcount(self.cell) > 2 else None

    def why_gone(self):
        return "no function refers to `%s` any longer" % self.name


def cell_of(frame, name):
    """The cell of a variable of a frame that has ended, which refers to all of its cells; None if it was cleared."""
    cells = [each for each in gc.get_referents(frame) if type(each) is types.CellType]
    names = frame.f_code.co_cellvars + frame.f_code.co_freevars
    return cells[names.index(name)] if len(cells) == len(names) else None


def find(number, text, access):
    """Find the storage of an expression in a frame. Returns its number."""
    frame = find_frame(number)
    if access != "write":
        refuse("access `%s` cannot be watched in Python; leave `access` out to watch writes" % access)
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise Raised(describe(error, None))
    slot, note = slot_of(node, frame, text), None
    if isinstance(slot, Local) and slot.is_hidden():
        refuse("`%s` is the variable of a comprehension here; watch it before or after that" % text)
    if slot.read() is MISSING:
        # One that does not exist yet can be watched, if it belongs to something that does.
        if not isinstance(slot, (Attribute, Item)):
            refuse("`%s` is not defined here" % text)
        note = slot.why_missing(text)
    identity = str(next(numbers))
    found[identity] = slot
    return {"id": identity, "note": note}


def slot_of(node, frame, text):
    if isinstance(node, ast.Name):
        code = frame.f_code
        if code.co_flags & 2 and node.id in code.co_varnames + code.co_cellvars + code.co_freevars:
            return Local(frame, node.id)
        if not code.co_flags & 1 and frame.f_locals is not frame.f_globals:
            if not is_a(frame.f_locals, dict):
                refuse("`%s` is looked up in the program's own mapping, which would run code" % node.id)
            if entry(frame.f_locals, node.id) is not MISSING:
                return Local(frame, node.id)
        return Global(frame.f_globals, node.id)
    if isinstance(node, ast.Attribute):
        name = node.attr
        owner = private_owner(frame) if name.startswith("__") and not name.endswith("__") else None
        return Attribute(value_of(node.value, frame), "_%s%s" % (owner, name) if owner else name)
    if isinstance(node, ast.Subscript):
        key = node.slice.value if is_index(node.slice) else node.slice
        if isinstance(key, (ast.Slice, ast.Tuple)):
            refuse("the key must be a number or a text")
        return Item(value_of(node.value, frame), value_of(key, frame))
    refuse("`%s` has no storage to watch; watch a variable, an attribute or an item" % text)


def is_index(node):
    """Up to Python 3.8, a node around the key."""
    return type(node).__name__ == "Index"


def value_of(node, frame):
    """The value of a part of the expression, without running code of the program."""
    text = ast.unparse(node) if hasattr(ast, "unparse") else source_of(node)
    return evaluate_without_side_effects(frame, text)


def source_of(node):
    """The text of a simple expression, before Python 3.9."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Attribute):
        return "%s.%s" % (source_of(node.value), node.attr)
    if isinstance(node, ast.Subscript):
        key = node.slice.value if is_index(node.slice) else node.slice
        return "%s[%s]" % (source_of(node.value), source_of(key))
    refuse("watch a variable, an attribute or an item of something that has a name")


# ---------------------------------------------------------------------------------------------------------
# Watching


class Watch:
    def __init__(self, identity, expression, slot, rule, is_enabled):
        self.identity, self.expression, self.slot, self.rule = identity, expression, slot, rule
        # A disabled one is kept only to notice when its storage is gone, and must not extend the lifetime of a value.
        self.is_enabled = is_enabled
        self.value = slot.read() if is_enabled else MISSING
        self.text, self.items = text_of(self.value), items_of(self.value)

    def change(self, frame):
        """The texts before and after, if the value or its items were written since the last call."""
        # Any function may write the items, and removed ones are not to be held for longer than a line.
        before, kept = self.value, self.items
        value = self.slot.read() if self.slot.concerns(frame) else before
        items = items_of(value)
        if (value is before or is_alike(value, before)) and are_alike(items, kept):
            return None
        if self.value is not before or self.items is not kept:
            return self.change(frame)  # Another thread has compared in between.
        old, self.value, self.text, self.items = self.text, value, text_of(value), items
        return old, self.text


def items_of(value):
    """What a list, a dictionary or a set holds, or how much a long one holds; None of other values."""
    kind = next((kind for kind in (list, dict, set) if is_a(value, kind)), None)
    if kind is None:
        return None
    if kind.__len__(value) > MOST_ITEMS:
        return kind.__len__(value)
    return tuple(itertools.chain(kind.__iter__(value), dict.values(value) if kind is dict else ()))


def are_alike(items, others):
    """Whether two results of `items_of` are of the same items. Most lines change none, which is seen the fastest."""
    if type(items) is not tuple or type(others) is not tuple:
        return items == others
    if len(items) != len(others):
        return False
    return all(map(operator.is_, items, others)) or all(a is b or is_alike(a, b) for a, b in zip(items, others))


def is_alike(value, other):
    kind = type(value)
    return kind is type(other) and kind in PLAIN and (value == other or value != value and other != other)


def text_of(value):
    if value is MISSING:
        return "<not set>"
    before, state.side_effect_free = state.side_effect_free, True
    try:
        return Renderer(MOST_TEXT).text(value)[0]
    except Exception:
        return "<%s>" % type_name(value)
    finally:
        state.side_effect_free = before


def watch(request):
    """Replace what is watched: numbers of storage, expressions, rules, and whether each is enabled."""
    wanted = json.loads(request)
    with turn:
        known = {each.identity: each for each in watched}
        new = []
        for identity, expression, rule, is_enabled in wanted:
            if not is_enabled and not isinstance(found.get(identity), (Local, Cell)):
                continue
            rule = rule_of(*rule)
            if identity in known and known[identity].is_enabled == is_enabled:
                known[identity].rule = rule
                new.append(known[identity])
            elif identity in found:
                new.append(Watch(identity, expression, found[identity], rule, is_enabled))
        watched[:] = new
        # Do not extend the lifetime of what was removed.
        numbers_now = {identity for identity, *_ in wanted}
        for identity in requested - numbers_now:
            found.pop(identity, None)
        requested.clear()
        requested.update(numbers_now)
        follow()


def follow():
    """Have lines of user code call us while something is watched."""
    its_debugger = debugger()
    if not watched:
        state.watching = None
        ran.clear()
        remove_breakpoints(its_debugger)
        return
    hook(type(its_debugger))
    if state.watching is None:
        state.watching = on_line
        files = set(loaded_files())
        for ident, frame in sys._current_frames().items():
            lines = []
            while frame is not None:
                files.add(frame.f_code.co_filename)
                if is_users_file(its_debugger, frame.f_code.co_filename):
                    lines.append((id(frame), frame.f_code, frame.f_lineno))
                frame = frame.f_back
            if lines:
                # The line that is about to run may be the one that writes.
                ran[ident] = collections.deque(reversed(lines), MOST_LINES)
        for file in files:
            add_breakpoints(its_debugger, file)
        its_debugger.on_breakpoints_changed()


def hook(kind):
    """Keep our breakpoints when those of a file are replaced, and add those of files that are loaded."""
    if hasattr(kind, "stillframe_watch"):
        return
    kind.stillframe_watch = True
    changed, typed = kind.on_breakpoints_changed, kind.get_file_type

    @functools.wraps(changed)
    def on_breakpoints_changed(self, removed=False):
        if state.watching is not None:
            for file in list(ours):
                fill(self, file)
        return changed(self, removed)

    @functools.wraps(typed)
    def get_file_type(self, frame, *more):
        result = typed(self, frame, *more)
        file = frame.f_code.co_filename
        if result is None and state.watching is not None and file not in seen:
            if add_breakpoints(self, file):
                changed(self)
        return result

    kind.on_breakpoints_changed, kind.get_file_type = on_breakpoints_changed, get_file_type


# Files that were considered, by their names in code.
seen = set()


def add_breakpoints(its_debugger, file):
    """Add ours to a file of user code. Returns whether there are any."""
    seen.add(file)
    if not file or file.startswith("<") or not is_users_file(its_debugger, file):
        return False
    path = paths_of(file)[1]
    if path not in ours:
        try:
            with open(file, "rb") as source:
                ours[path] = source.read().count(b"\n") + 1
        except OSError:
            return False
    fill(its_debugger, path)
    return True


def is_users_file(its_debugger, file):
    return not is_of_debugger(file) and its_debugger._files_filtering.in_project_roots(os.path.abspath(file))


def fill(its_debugger, path):
    """Add ours to the lines of a file that have no other."""
    from _pydevd_bundle.pydevd_breakpoints import LineBreakpoint

    if type(its_debugger.breakpoints.get(path)) is not dict:
        its_debugger.breakpoints[path] = {}
    lines = its_debugger.breakpoints[path]
    # A location without rules, where only what is watched can stop the program.
    condition = "__import__('sys').modules['stillframe_agent'].hit(0)"
    for line in range(1, ours[path] + 1):
        if line not in lines:
            breakpoint = LineBreakpoint(-1, line, condition, "None", None)
            breakpoint.stillframe_watch = True
            lines[line] = breakpoint


def remove_breakpoints(its_debugger):
    for path in ours:
        lines = its_debugger.breakpoints.get(path) or {}
        for line in [line for line, each in lines.items() if hasattr(each, "stillframe_watch")]:
            del lines[line]
    ours.clear()
    seen.clear()
    its_debugger.on_breakpoints_changed()


# ---------------------------------------------------------------------------------------------------------
# Lines


def on_line(frame):
    """A line of user code is about to run. The numbers of the breakpoints that stop it, and what changed."""
    ident = threading.get_ident()
    stops, changes = [], []
    for each in list(watched):
        slot = each.slot.by_now(frame)
        if slot is None:
            end(each)
            continue
        if slot is not each.slot:
            # Do not extend the lifetime of a frame that has ended.
            each.slot = found[each.identity] = slot
        change = each.change(frame) if each.is_enabled else None
        if change is not None:
            report(each, change, frame, ident, stops, changes)
    lines = ran[ident] = ran.pop(ident, None) or collections.deque(maxlen=MOST_LINES)
    lines.append((id(frame), frame.f_code, frame.f_lineno))
    if len(ran) > MOST_LINES:
        ran.pop(next(iter(list(ran))), None)
    return stops, changes


def report(each, change, frame, ident, stops, changes):
    # A rule uses the variables beside the one that is watched, also where another function writes its items.
    ruled = frame if each.slot.concerns(frame) else each.slot.frame
    names = {**ruled.f_globals, **ruled.f_locals}
    rule = each.rule
    try:
        if not rule.applies(names):
            return
        if rule.message is not None:
            text = limited(RULE_LIMIT, eval, rule.message, names)
            send_event("logged", id=rule.number, text=text)
            return
    except Interrupted:
        return rule.failed(TimeoutError("it took longer than %g s" % RULE_LIMIT))
    except BaseException as error:
        return rule.failed(error)
    old, new = change
    stops.append(rule.number)
    by = writer(each.slot, frame, ident)
    changes.append({"id": rule.number, "expression": each.expression, "old": old, "new": new, "by": by})


def writer(slot, frame, ident):
    """The line that wrote, as far as that is known: of those that ran last, one that stores by this name, or else one
    that calls or stores an item, and may have written, or else that of the only thread."""
    mine = list(reversed(ran.get(ident, ())))
    before = [each for each in mine if each[0] == id(frame) and each[1] is frame.f_code]
    threads = list(ran.items())
    last, others = threads[-1] if threads else (ident, mine)
    lines = mine[:1] + before[:1] + list(others)[-1:]
    writers = [each for each in lines if has_instruction(*each[1:], slot.stores, slot.name)]
    # A thread that has ended finds no more changes, and others may have waited for it in a call.
    lines = lines if last in sys._current_frames() else lines[::-1]
    writers += [each for each in lines if has_instruction(*each[1:], ("CALL",) + Item.stores, None)]
    writers += mine[:1] if len(threads) == 1 else []
    if not writers:
        return None
    _, code, line = writers[0]
    return {"function": code.co_name, "file": client_file_of(code) or code.co_filename, "line": line}


@functools.lru_cache(maxsize=256)
def has_instruction(code, line, operations, name):
    """Whether a line of code has one of these instructions, for a name if there is one."""
    current = None
    starts = dict(dis.findlinestarts(code))
    for each in dis.get_instructions(code):
        current = starts.get(each.offset, current)
        if current == line and each.opname.startswith(operations) and (name is None or name in stored_names(each)):
            return True
    return False


def has_ended(frame, current):
    """Whether a frame is no longer on any stack."""
    each = current
    while each is not None:
        if each is frame:
            return False
        each = each.f_back
    return steps.has_ended(frame, sys._current_frames().values())


def end(each):
    """The storage of a variable is gone."""
    reason = "its storage is gone: %s" % each.slot.why_gone()
    send_event("unwatched", id=each.rule.number, reason=reason)
    with turn:
        watched.remove(each)
        # Do not extend the lifetime of the frame's objects.
        found.pop(each.identity, None)
        if not watched:
            follow()


REQUESTS["watch"] = find
