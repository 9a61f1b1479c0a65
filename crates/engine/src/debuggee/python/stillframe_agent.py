"""Runs inside the debugged Python program: reads values, evaluates expressions and applies breakpoint rules.

pydevd can do all of this, but it runs properties and unbounded `__repr__`s, truncates values silently, loses
evaluations that raise `SystemExit`, and ignores failing conditions. So stillframe asks pydevd to evaluate one
expression, a call of `call` below, in the suspended thread, and reads the JSON that comes back.

Written for Python 3.8 to 3.13 and debugpy 1.8.22. Internals of pydevd are looked up when they are needed, so that an
incompatible version fails in one request and not at startup.
"""

import collections
import dis
import functools
import gc
import inspect
import itertools
import json
import opcode
import operator
import os
import re
import signal
import sys
import time
import types

import stillframe_state as state
from stillframe_errors import Raised, describe, message_argument, message_of, refuse  # noqa: F401
from stillframe_limits import Interrupted, clock, limited  # noqa: F401
from stillframe_modules import is_ours, load  # noqa: F401
from stillframe_threads import leave_own_threads, name_threads, start_thread  # noqa: F401
from stillframe_types import (  # noqa: F401
    BRACKETS,
    FUNCTIONS,
    PLAIN,
    class_dict,
    class_name,
    class_order,
    container_kind,
    instance_dict,
    is_a,
    type_name,
)
from stillframe_values import MOST_BITS, Renderer  # noqa: F401

# ---------------------------------------------------------------------------------------------------------
# pydevd


def debugger():
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    return get_global_debugger()


def send_event(kind, **body):
    """Send one of our events on pydevd's connection, in order with its events."""
    import pydevd

    body["kind"] = kind
    pydevd.send_json_message({"type": "event", "event": "stillframe", "body": body})


def say(text):
    """Show our text in the program's output, as the debugger's."""
    import pydevd

    debugger = pydevd.get_global_debugger()
    if debugger is not None:
        debugger.writer.add_command(debugger.cmd_factory.make_console_message(text))


def thread_id():
    from _pydevd_bundle.pydevd_constants import get_current_thread_id

    return get_current_thread_id(state.threading.current_thread())


def find_frame(number):
    """The frame with this ID in DAP."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    frame = debugger().find_frame(thread_id(), BaseSchema._translate_id_from_dap(number))
    if frame is None:
        refuse("the frame is gone")
    return frame


def handles():
    """Objects that the client can expand, by number. They belong to pydevd's record of this suspension and go with it,
    so that no object lives longer than it would without a debugger."""
    tracker = debugger().suspended_frames_manager.get_frame_tracker(thread_id())
    if tracker is None:
        refuse("the thread is not suspended")
    try:
        return tracker.stillframe_handles
    except AttributeError:
        tracker.stillframe_handles = {}
        return tracker.stillframe_handles


numbers = itertools.count(1)


def add_handle(thing):
    number = next(numbers)
    handles()[number] = thing
    return number


def find_handle(number):
    known = handles()
    if number not in known:
        refuse("the value is gone")
    return known[number]


def paths_of(file):
    """The absolute path of a file, and its path in pydevd."""
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_file

    return get_abs_path_real_path_and_base_from_file(file)[:2]


def client_file_of(code):
    """The file of code as the client knows it; None for code without a file."""
    from pydevd_file_utils import map_file_to_client

    file = paths_of(code.co_filename)[0]
    return None if code.co_filename.startswith("<") else map_file_to_client(file)[0]


def breakpoints_in(its_debugger, file):
    """pydevd's breakpoints in a file, by line; falsy if there are none."""
    return its_debugger.breakpoints and its_debugger.breakpoints.get(paths_of(file)[1])


# ---------------------------------------------------------------------------------------------------------
# Children


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
    """With LEVELS, the same is sent ahead at the next stop, and so many frames."""
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


# ---------------------------------------------------------------------------------------------------------
# Expressions


def compiled(text, mode, frame=None):
    """Compile an expression; private names are mangled as in the frame's method."""
    owner = private_owner(frame) if frame is not None and "__" in text else None
    if owner is None:
        return compiled_once(text, mode)
    import ast

    class Mangle(ast.NodeTransformer):
        def mangled(self, name):
            private = name.startswith("__") and not name.endswith("__")
            return "_%s%s" % (owner, name) if private else name

        def visit_Attribute(self, node):
            node.attr = self.mangled(node.attr)
            return self.generic_visit(node)

        def visit_Name(self, node):
            node.id = self.mangled(node.id)
            return node

    tree = Mangle().visit(compile(text, "<string>", mode, ast.PyCF_ONLY_AST, dont_inherit=True))
    return compile(tree, "<string>", mode, dont_inherit=True)


@functools.lru_cache(maxsize=32)
def compiled_once(text, mode):
    """The same expressions are often evaluated at each stop."""
    return compile(text, "<string>", mode, dont_inherit=True)


def private_owner(frame):
    """The class that defines the frame's function; no code of the program runs."""
    qualified = getattr(frame.f_code, "co_qualname", None)
    if qualified is not None:
        parts = qualified.split(".")
        return parts[-2].lstrip("_") if len(parts) > 1 and parts[-2] != "<locals>" else None
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    first = frame.f_locals.get(names[0]) if names else None
    for kind in class_order(first if is_a(first, type) else type(first)):
        member = class_dict(kind).get(frame.f_code.co_name)
        if type(member) is types.FunctionType and member.__code__ is frame.f_code:
            return class_name(kind).lstrip("_")
    return None


def run_code(code, frame):
    """Run code as if it were in the frame. Locals are merged into the globals, where comprehensions and lambdas inside
    the code look names up; assignments are copied back."""
    before = dict(frame.f_globals)
    local = frame.f_locals
    before.update(local)
    names = dict(before)
    try:
        return eval(code, names)
    finally:
        names.pop("__builtins__", None)
        changed = [name for name, value in names.items() if name not in before or before[name] is not value]
        gone = [name for name in before if name not in names and name != "__builtins__"]
        if changed or gone:
            carry_back(frame, local, names, changed, gone)


def carry_back(frame, local, names, changed, gone):
    for name in changed:
        if name not in local and name in frame.f_globals:
            frame.f_globals[name] = names[name]
        else:
            local[name] = names[name]
    for name in gone:
        (local if name in local else frame.f_globals).pop(name, None)
    from _pydevd_bundle.pydevd_save_locals import save_locals

    save_locals(frame)


def evaluate_in(frame, text, seconds):
    """Evaluate an expression, or else run a statement, within a time limit."""
    text = text.strip()
    try:
        code = compiled(text, "eval", frame)
    except SyntaxError as error:
        try:
            code = compiled(text, "exec", frame)
        except SyntaxError:
            raise Raised({**describe(error, None), **({"message": NO_AWAIT} if has_await(text) else {})})
    try:
        return limited(seconds, run_code, code, frame)
    except Interrupted:
        raise Raised({"type": "Interrupted", "message": "", "traceback": ""})
    except BaseException as error:
        raise Raised(describe(error, user_part(error.__traceback__)))


NO_AWAIT = (
    "SyntaxError: cannot `await` here, because the event loop does not run while the program is stopped; evaluate "
    "`task.result()` of a task that is done, or stop after an `await` in the program and read what it returned"
)


def has_await(text):
    """Whether the only problem of a text is that it awaits something."""
    import ast

    try:
        compile(text, "<expression>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except Exception:
        return False
    return True


def user_part(trace):
    """A traceback from its first frame outside our files."""
    while trace is not None and is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def request_evaluate(number, text, seconds, limit):
    frame = find_frame(number)
    value = evaluate_without_side_effects(frame, text) if state.side_effect_free else evaluate_in(frame, text, seconds)
    return {"value": reported(value, Renderer(limit))}


def evaluate_without_side_effects(frame, text):
    """Evaluate an expression without side effects."""
    pure = load("stillframe_pure")
    try:
        return pure.evaluate(text, frame)
    except pure.Refused as error:
        refuse("%s; side effects are not allowed here, and nothing was changed" % error)
    except Exception as error:
        raise Raised(describe(error, None))


def request_assign(frame_number, number, name, text, seconds, limit):
    parent, frame = find_handle(number), find_frame(frame_number)
    if type(parent) is Namespace:
        frame = parent.frame
    value = evaluate_in(frame, text, seconds)
    assign(parent, name, value)
    return {"value": reported(value, Renderer(limit))}


def is_global_in(frame, name):
    """Whether a name in a function is that of a global. A variable of the function may have no value yet."""
    code = frame.f_code
    return name in frame.f_globals and name not in code.co_varnames + code.co_cellvars + code.co_freevars


def assign(parent, name, value):
    if type(parent) is Namespace:
        is_global = parent.is_globals
        if name not in dict(parent.variables()):
            is_global = not is_global and is_global_in(parent.frame, name)
            if not is_global:
                refuse("no variable `%s` here" % name)
        if is_global:
            parent.frame.f_globals[name] = value
        else:
            local = parent.frame.f_locals
            local[name] = value
            carry_back(parent.frame, local, {}, (), ())
        return
    kind = container_kind(parent)
    if kind is dict:
        for key in parent:
            if key_text(key) == name:
                parent[key] = value
                return
    if kind in (list, collections.deque) and name.isdigit() and int(name) < len(parent):
        parent[int(name)] = value
        return
    if kind in (tuple, set, frozenset) and name not in dict(attributes(parent)):
        refuse("a %s cannot be assigned to" % type_name(parent))
    if name not in dict(attributes(parent)):
        refuse("no `%s` in this %s" % (name, type_name(parent)))
    setattr(parent, name, value)


# ---------------------------------------------------------------------------------------------------------
# Exceptions


def request_seen(number):
    """Whether an earlier stop reported the exception that the frame is stopped at. The exception is marked, because
    each frame that it unwinds may stop."""
    error = exception_in(find_frame(number))
    if error is None:
        return {"seen": False}
    marked = marked_attributes(error)
    seen, marked.seen = marked.seen, True
    return {"seen": seen}


class MarkedAttributes(dict):
    """The attributes of an exception, with our marks beside them: exceptions of the language cannot have weak references.
    The program sees only its own attributes; copies and pickles are a plain `dict`."""

    __slots__ = ("seen", "mark")

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)


def marked_attributes(error):
    """The attributes of an exception, which can have marks from now on."""
    descriptor = BaseException.__dict__["__dict__"]
    own = descriptor.__get__(error)
    if type(own) is not MarkedAttributes:
        own = MarkedAttributes(own)
        own.seen, own.mark = False, None
        descriptor.__set__(error, own)
    return own


def mark_of(error):
    """The mark of an exception, if it has one."""
    own = BaseException.__dict__["__dict__"].__get__(error)
    return own.mark if type(own) is MarkedAttributes else None


def is_seen(error):
    """Whether a stop has reported an exception."""
    own = BaseException.__dict__["__dict__"].__get__(error)
    return type(own) is MarkedAttributes and own.seen


def request_thrown(number, limit):
    """Details of the exception that the frame is stopped at: mark, assertion and stack."""
    frame = find_frame(number)
    _, error, trace = frame.f_locals.get("__exception__", (None, None, None))
    if error is None:
        return {"mark": None, "assertion": None, "stack": []}
    stack = load("stillframe_throws").stack_of(frame, trace)
    mark = mark_of(error)
    renderer = Renderer(limit)
    text = lambda value: renderer.text(value)[:2]
    assertion = load("stillframe_assertions").of(frame, error, trace, text)
    return {"mark": mark, "assertion": assertion, "stack": stack}


def request_exception(number, limit):
    """The exception that the frame is stopped at: its type, its message, and whether it is uncaught."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_CAUGHT_EXCEPTION

    error = exception_in(find_frame(number))
    if error is None:
        refuse("the exception cannot be read here")
    name = type.__dict__["__qualname__"].__get__(type(error))
    # A subclass of Thread may override attribute access.
    reason = instance_dict(state.threading.current_thread()).get("stop_reason")
    uncaught = reason != CMD_STEP_CAUGHT_EXCEPTION
    return {"type": name, "message": message_of(error)[:limit], "uncaught": uncaught}


def request_printed(number, seconds):
    """The exception that the frame is stopped at, as Python prints it. Runs its `__str__`, as Python does."""
    _, error, trace = find_frame(number).f_locals.get("__exception__", (None, None, None))
    if error is None:
        refuse("the exception cannot be read here")
    try:
        return {"text": limited(seconds, load("stillframe_printed").text_of, error, trace)}
    except Interrupted:
        raise Raised({"type": "Interrupted", "message": "", "traceback": ""})


def exception_in(frame):
    """The exception that a frame is stopped at."""
    return frame.f_locals.get("__exception__", (None, None))[1]


def request_meets(number, condition, seconds):
    """Whether a condition is true for the exception that the frame is stopped at, named `error`."""
    frame = find_frame(number)
    error = exception_in(frame)
    if error is None:
        refuse("the exception cannot be read here")
    names = dict(frame.f_globals)
    names.update(frame.f_locals)
    names["error"] = error
    try:
        code = compile(condition.strip(), "<condition>", "eval", dont_inherit=True)
        return {"met": limited(seconds, lambda: bool(eval(code, names)))}
    except Interrupted:
        raise Raised({"type": "Interrupted", "message": "", "traceback": ""})


# ---------------------------------------------------------------------------------------------------------
# Breakpoint rules


COMPARE = {
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda count, every: count % every == 0,
}

# The first failure is reported at once, later ones in batches, and the rest at each stop and at the end.
FAILURE_PAUSE = 0.1

# How long a condition or log message may take, in seconds.
RULE_LIMIT = 1.0

# The rules of each location, with their owners; see `define`.
places = {}

known_rules = {}

# Idents of threads that have hit a breakpoint, and are not suspended yet.
about_to_stop = set()

# For each thread, the ID of the frame of such a function that it has entered but whose first line it has not reached.
entered = {}


class Rule:
    def __init__(self, number, condition, hit, message, record, function):
        self.number = number
        self.key = (condition, hit, message, record, function)
        # The only one whose code it applies to, or None.
        self.function = function
        self.condition = compile(condition.strip(), "<condition>", "eval", dont_inherit=True) if condition else None
        self.compare, self.count = (COMPARE[hit[0]], hit[1]) if hit else (None, None)
        self.message = load("stillframe_messages").log_code(message) if message else None
        self.passes = itertools.count(1)
        self.failures = 0
        self.failure = ""
        self.last_report = 0.0
        self.record = load("stillframe_recorder").Record(self, condition, record) if record else None

    def applies(self, names):
        """Whether the rule acts at this hit; counts it if its condition is true."""
        if self.condition is not None and not limited(RULE_LIMIT, eval, self.condition, names):
            return False
        return self.compare is None or self.compare(next(self.passes), self.count)

    def failed(self, error):
        self.failures += 1
        self.failure = message_of(error)
        if time.monotonic() - self.last_report >= FAILURE_PAUSE:
            self.report_failures()

    def report_failures(self):
        times, self.failures = self.failures, 0
        if times:
            self.last_report = time.monotonic()
            send_event("failed", id=self.number, message=self.failure, times=times)


def report_failures():
    for rule in list(known_rules.values()):
        rule.report_failures()


def define(request):
    """Set the rules of a location. The condition that pydevd evaluates there calls `hit`. Rules of a function
    breakpoint have an owner: the class of a method, or an empty string."""
    report_failures()
    place, groups = json.loads(request)
    places[place] = [(owner, rule_of(*rule)) for owner, rules in groups for rule in rules]


def rule_of(number, *key):
    """Keep an unchanged rule with its hit count: changing one breakpoint sets all of them again."""
    known = known_rules.get(number)
    if known is None or known.key != key:
        known = known_rules[number] = Rule(number, *key)
    return known


def hit(place):
    """Whether to stop. pydevd's condition calls this with the globals of the frame at the breakpoint, which identify
    that frame."""
    evaluation = sys._getframe(1)
    frame = evaluation.f_back
    while frame is not None and frame.f_globals is not evaluation.f_globals:
        frame = frame.f_back
    return reached(place, evaluation if frame is None else frame)


def reached(place, frame):
    """Apply the rules of a location, and of the function that begins there, to a frame that has reached it, and report
    hits. True to stop."""
    enters = any(owner is not None for owner, _ in places.get(place, ()))
    stop = apply_rules(place, frame)
    changed, changes = state.watching(frame) if state.watching is not None else ((), ())
    stop.extend(changed)
    if entered.get(state.threading.get_ident()) == id(frame):
        del entered[state.threading.get_ident()]
        by_name = debugger().function_breakpoint_name_to_breakpoint.get(frame.f_code.co_name)
        stop += apply_rules(place_of(by_name), frame) if by_name is not None else []
    if stop:
        about_to_stop.add(state.threading.get_ident())
        report_hit(stop, enters and len(stop) > len(changed), changes)
    return bool(stop)


def report_hit(ids, enters=False, changes=()):
    """Report the breakpoints at which this thread stops next; none if it continued instead."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    send_event("hit", ids=ids, thread=BaseSchema._translate_id_to_dap(thread_id()), enters=enters, changes=list(changes))


def apply_rules(place, frame):
    """The rules of a location that stop a frame that has reached it."""
    records = records_at(place, frame.f_code)
    if records:
        sys.modules["stillframe_recorder"].reached(place, frame, records)
        return []
    rules = rules_for(place, frame.f_code)
    if not rules or is_back_in_statement(frame):
        return []
    names = dict(frame.f_globals)
    names.update(frame.f_locals)
    stop = []
    for owner, rule in rules:
        if owner and not is_method_of(owner, names):
            continue
        try:
            if rule.record is not None:
                rule.record.passed(frame)
                continue
            if not rule.applies(names):
                continue
            if rule.message is None:
                stop.append(rule.number)
            else:
                send_event("logged", id=rule.number, text=limited(RULE_LIMIT, eval, rule.message, names))
        except Interrupted:
            rule.failed(TimeoutError("it took longer than %g s" % RULE_LIMIT))
        except BaseException as error:
            rule.failed(error)
    return stop


def rules_for(place, code):
    """The rules of a location that apply to code there: the line of a function can also be that of its definition."""
    rules = places.get(place, ())
    return [(owner, rule) for owner, rule in rules if rule.function is None or rule.function == code.co_name]


def records_at(place, code):
    """The records of a location in code, or None if other rules apply there too."""
    rules = rules_for(place, code)
    records = [rule.record for owner, rule in rules if owner is None and rule.record is not None]
    return records if len(records) == len(rules) else None


def place_of(breakpoint):
    """The location number of one of pydevd's breakpoints, or None if it is not ours."""
    match = re.search(r"\.hit\((\d+)\)$", str(breakpoint.condition))
    return int(match.group(1)) if match else None


def rules_at(breakpoint):
    return [rule.number for _, rule in places.get(place_of(breakpoint), ())]


def is_method_of(owner, names):
    """Whether the function at the breakpoint is a method of a class of that name, judging by `self` or `cls`."""
    first = names.get("self", names.get("cls"))
    kind = first if is_a(first, type) else type(first)
    wanted = owner.rpartition(".")[2]
    return any(class_name(each) == wanted for each in class_order(kind))


def is_back_in_statement(frame):
    """Whether a frame has returned to the first line of a multiline statement: a call with arguments on separate lines
    ends where it began. That is not another hit."""
    return frame.f_lasti in ways_back_in(frame.f_code)


def ways_back_in(code):
    """The offsets at which code returns to the first line of a statement."""
    known = ways_back.get(code)
    if known is None:
        try:
            known = find_ways_back(code)
        except Exception:
            # Without readable source, each line event counts.
            known = ()
        ways_back[code] = known
    return known


ways_back = {}


def find_ways_back(code):
    """The offsets at which a line is entered from a later line of the same statement."""
    starts = [(offset, line) for offset, line in dis.findlinestarts(code) if line is not None]
    lines = [line for _, line in starts]
    if len(lines) == len(set(lines)):
        return ()
    ends = last_lines_of_statements(code.co_filename)
    found, seen = set(), set(lines[:1])
    for (_, before), (offset, line) in zip(starts, starts[1:]):
        # A literal may evaluate its items before it reaches its own first line.
        if line in seen and line < before <= ends.get(line, line):
            found.add(offset)
        seen.add(line)
    return frozenset(found)


@functools.lru_cache(maxsize=None)
def last_lines_of_statements(file):
    """The last line of the statement that begins on each line; for a compound statement, of its header."""
    import ast
    import tokenize

    with tokenize.open(file) as source:
        tree = ast.parse(source.read())
    ends = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            end = node.end_lineno if not body else first_line(body[0]) - 1
            ends[node.lineno] = max(end, ends.get(node.lineno, 0))
    return ends


def first_line(node):
    marks = [mark.lineno for mark in getattr(node, "decorator_list", ())]
    return min(marks + [getattr(node, "lineno", None) or node.pattern.lineno])


# ---------------------------------------------------------------------------------------------------------
# Loaded code


# Files of which pydevd has seen code that is about to run.
files_that_ran = set()

# Files with breakpoints that the program has not loaded, by their paths in pydevd.
pending_files = set()

# The names under which user code has compiled texts that it runs itself.
compiled_texts = set()


def report_file(request):
    """Report whether the program has loaded the file of a location, or else when it does. pydevd verifies a breakpoint
    in any file that exists."""
    answer, place = json.loads(request)
    breakpoints = list((debugger().breakpoints or {}).items())
    file = next((file for file, lines in breakpoints if place in map(place_of, list(lines.values()))), None)
    found = False
    if file is not None:
        # Registered before the check, so that a file that is loaded meanwhile is not missed.
        pending_files.add(file)
        found = is_loaded(file) or state.has_begun and file in files_of_functions()
    if found:
        pending_files.discard(file)
    send_event("found", place=answer, found=found, names=[])


def loaded_modules():
    """The namespace of each loaded module."""
    return [vars(module) for module in list(sys.modules.values()) if type(module) is types.ModuleType]


def loaded_files():
    """The files of loaded modules, and files whose code ran."""
    files = files_that_ran.union(module.get("__file__") for module in loaded_modules() if "__file__" in module)
    return {file for file in files if type(file) is str}


def is_loaded(path):
    """Whether a loaded file has this path in pydevd."""

    def stem(file):
        return os.path.splitext(os.path.basename(file))[0].lower()

    # Resolving a path costs far more than comparing names, which differ only for links.
    wanted = stem(path)
    candidates = (file for file in loaded_files() if stem(file) == wanted or os.path.islink(file))
    return any(paths_of(file)[1] == path for file in candidates)


def files_of_functions():
    """The files of code that was loaded before the debugger attached, and is not a module."""
    functions = [each for each in gc.get_objects() if type(each) is types.FunctionType]
    codes = {function.__code__.co_filename for function in functions}
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            codes.add(frame.f_code.co_filename)
            frame = frame.f_back
    return {paths_of(file)[1] for file in codes}


def report_unloaded(its_debugger):
    """At the end, report breakpoints in files that the program never loaded."""
    wanted = {file: lines for file, lines in (its_debugger.breakpoints or {}).items() if lines}
    if not wanted:
        return
    # The script is a module only while it runs.
    script = [sys.argv[0]] if sys.argv and os.path.isfile(sys.argv[0]) else []
    loaded = {paths_of(file)[1] for file in loaded_files().union(script)}
    users = {module["__file__"] for module in loaded_modules() if module.get("__file__") and is_users(module)}
    users = sorted(users.union(script))
    for file in wanted:
        if file not in loaded:
            ids = [number for breakpoint in list(wanted[file].values()) for number in rules_at(breakpoint)]
            send_event("unloaded", ids=ids, file=file, loaded=users[:2000])


def report_function(request):
    """Report whether loaded user code has a function of that name; pydevd verifies every name. The reply is an event,
    because an evaluation outside a frame returns nothing."""
    place, owner, name = json.loads(request)
    known = known_functions()
    code = find_function(known, owner, name)
    if code is not None:
        return send_event("found", place=place, found=True, names=[], at=place_of_function(code))
    names = sorted("%s.%s" % pair if pair[0] else pair[1] for pair in known)
    send_event("found", place=place, found=False, names=names[:2000])


def known_functions():
    """The code of loaded user functions, by pairs of class and name."""
    known = {}
    for module in loaded_modules():
        if is_users(module):
            collect_functions(module, module.get("__name__"), known)
    return known


def find_function(functions, owner, name):
    owner = owner and owner.rpartition(".")[2]
    is_it = lambda kind, function: name == function and (not owner or owner == kind)
    return next((code for pair, code in functions.items() if is_it(*pair)), None)


def place_of_function(code):
    """Where a function is: its file, the line with its name, and that of its first statement."""
    import linecache

    file = client_file_of(code)
    if file is None:
        return None
    # Decorators come first.
    names = range(code.co_firstlineno, first_line_of(code)[1] + 1)
    header = re.compile(r"\s*(async\s+)?def\b")
    declared = next((line for line in names if header.match(linecache.getline(code.co_filename, line))), names[0])
    return {"file": file, "declared": declared, "line": first_line_of(code)[1]}


@functools.lru_cache(maxsize=None)
def first_line_of(code):
    """The offset at which a generator or coroutine function starts, and the first line of its body."""
    # From Python 3.11 on, the instructions that create the generator come first, on the line of the `def`.
    begin = next((each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"), -1)
    starts = list(dis.findlinestarts(code))
    return begin, next((line for start, line in starts if start > begin), starts[0][1])


def is_users(module):
    """Whether pydevd would stop in a module, given its namespace."""
    file = module.get("__file__")
    if not isinstance(file, str):
        return module.get("__name__") == "__main__"
    its_debugger = debugger()
    of_debugger = os.path.dirname(os.path.dirname(os.path.dirname(sys.modules["pydevd"].__file__)))
    if file.startswith((of_debugger + os.sep, "<")) or is_ours(file):
        return False
    if not its_debugger.is_files_filter_enabled:
        return True
    return its_debugger._files_filtering.in_project_roots(os.path.abspath(file))


def collect_functions(names, module, known, owner=None):
    """Add the functions of a module or class, and nested ones, by pairs of class and name."""
    for value in list(names.values()):
        value = getattr(value, "__func__", getattr(value, "fget", value)) if owner else value
        value = inspect_unwrapped(value)
        if type(value) is types.FunctionType and value.__module__ == module:
            collect_code(value.__code__, owner, known)
        elif is_a(value, type) and owner is None and type.__getattribute__(value, "__module__") == module:
            collect_functions(type.__getattribute__(value, "__dict__"), module, known, value.__name__)


def inspect_unwrapped(value):
    while type(value) is types.FunctionType and "__wrapped__" in vars(value):
        value = vars(value)["__wrapped__"]
    return value


def collect_code(code, owner, known):
    known.setdefault((owner, code.co_name), code)
    for pair, inner in functions_in(code).items():
        known.setdefault(pair, inner)


def functions_in(code, owner=None):
    """The functions defined in the code of a module, class or function, by pairs of class and name."""
    found = {}
    for inner in code.co_consts:
        if type(inner) is not types.CodeType or inner.co_name.startswith("<"):
            continue
        if inner.co_flags & inspect.CO_OPTIMIZED:
            found.setdefault((owner, inner.co_name), inner)
            more = functions_in(inner)
        else:
            more = functions_in(inner, inner.co_name)
        for pair, code in more.items():
            found.setdefault(pair, code)
    return found


# ---------------------------------------------------------------------------------------------------------
# Breakpoints


def begin_with_functions(api):
    """Have pydevd ask `sys.monitoring` for the calls of functions once breakpoints are on functions. It does so when it
    starts, before it knows them in a forked child, and when it gets breakpoints on lines."""
    set_functions = api.set_function_breakpoints

    @functools.wraps(set_functions)
    def set_function_breakpoints(self, its_debugger, breakpoints):
        set_functions(self, its_debugger, breakpoints)
        if breakpoints and not its_debugger.ready_to_run:
            its_debugger._clear_caches()

    api.set_function_breakpoints = set_function_breakpoints


def debug_files_with_breakpoints(pydevd):
    """Make pydevd treat a file with a breakpoint as user code, even a library's file under just-my-code."""
    filtered, in_scope = pydevd.PyDB.apply_files_filter, pydevd.PyDB.in_project_scope
    typed = pydevd.PyDB.get_file_type

    # pydevd calls this for each code object that it has not seen, whether it debugs that or not.
    @functools.wraps(typed)
    def get_file_type(self, frame, *more):
        on_code_first_run(self, frame)
        kind = typed(self, frame, *more)
        if kind is None and frame.f_code.co_flags & SUSPENDABLE:
            stop_at_first_line(self, frame)
        return kind

    @functools.wraps(filtered)
    def apply_files_filter(self, frame, original_filename, force_check_project_scope):
        # pydevd passes a dummy to decide whether to warn about a breakpoint that it is about to set.
        if not isinstance(frame, types.FrameType):
            return False
        if breakpoints_in(self, original_filename) or frame.f_code.co_filename in compiled_texts:
            return False
        return filtered(self, frame, original_filename, force_check_project_scope)

    @functools.wraps(in_scope)
    def in_project_scope(self, frame, absolute_filename=None):
        file = absolute_filename or frame.f_code.co_filename
        is_debugged = frame.f_code.co_filename in compiled_texts or breakpoints_in(self, file)
        return bool(is_debugged) or in_scope(self, frame, absolute_filename)

    # For processes that a program starts: they do not have the settings that hide our files in the first one.
    def dont_trace_external_files(self, file):
        return is_ours(file)

    pydevd.PyDB.get_file_type = get_file_type
    pydevd.PyDB.dont_trace_external_files = dont_trace_external_files
    pydevd.PyDB.apply_files_filter = apply_files_filter
    pydevd.PyDB.in_project_scope = in_project_scope


def on_code_first_run(its_debugger, frame):
    """Bind pending breakpoints of a file whose code is about to run."""
    file = frame.f_code.co_filename
    # A forked child has no debugger until it has connected.
    if file in files_that_ran or debugger() is None:
        return
    files_that_ran.add(file)
    debug_compiled_text(its_debugger, frame)
    path = paths_of(file)[1] if pending_files else None
    if path in pending_files:
        pending_files.discard(path)
        for line, breakpoint in list((breakpoints_in(its_debugger, file) or {}).items()):
            send_event("bound", ids=rules_at(breakpoint), line=line)
    by_name = its_debugger.function_breakpoint_name_to_breakpoint
    if by_name and is_users(frame.f_globals):
        written = functions_in(frame.f_code)
        for name, breakpoint in list(by_name.items()):
            rules = places.get(place_of(breakpoint), ())
            for owner, rule in rules:
                code = find_function(written, owner, name)
                if code is not None:
                    send_event("bound", ids=[rule.number], line=None, at=place_of_function(code))


def debug_compiled_text(its_debugger, frame):
    """Treat a text that user code runs as user code, too. pydevd takes each name without a file for that of a library:
    libraries such as `dataclasses` generate code."""
    name, caller = frame.f_code.co_filename, frame.f_back
    if frame.f_code.co_name != "<module>" or os.path.isabs(name) or name == "<string>":
        return
    if caller is None or not its_debugger.in_project_scope(caller):
        return
    if not name.startswith("<"):
        if os.path.exists(paths_of(name)[0]):
            return
        import pydevd_file_utils

        path = os.path.abspath(name)
        pydevd_file_utils.NORM_PATHS_CONTAINER[name] = path, path
        pydevd_file_utils.NORM_PATHS_AND_BASE_CONTAINER[name] = path, path, os.path.basename(path)
    compiled_texts.add(name)


SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE


def stop_at_first_line(its_debugger, frame):
    """Set a breakpoint on the first line of a generator or coroutine function that has a function breakpoint. With a
    tracer, pydevd takes each call of such a function for a resumption, and never stops."""
    code = frame.f_code
    # This runs at each call of such a function, so the common case comes first.
    if code.co_name not in its_debugger.function_breakpoint_name_to_breakpoint:
        return
    from _pydevd_bundle.pydevd_breakpoints import LineBreakpoint
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if PYDEVD_USE_SYS_MONITORING or not is_users(frame.f_globals):
        return
    begin, line = first_line_of(code)
    if frame.f_lasti <= begin:
        entered[state.threading.get_ident()] = id(frame)
    lines = its_debugger.breakpoints.setdefault(paths_of(code.co_filename)[1], {})
    if line not in lines:
        condition = "__import__('sys').modules['stillframe_agent'].hit(0)"
        lines[line] = LineBreakpoint(-1, line, condition, "None", None)
        its_debugger.on_breakpoints_changed()


def is_to_stop(its_debugger, frame):
    """Whether to stop a thread that was suspended with another one, on a line that it has not run yet. pydevd does not
    check for breakpoints there, and would miss them on resume."""
    lines = breakpoints_in(its_debugger, frame.f_code.co_filename)
    # A file whose breakpoints were all removed has an empty dictionary.
    breakpoint = lines.get(frame.f_lineno) if lines else None
    place = place_of(breakpoint) if breakpoint is not None else None
    return place is not None and reached(place, frame)


def is_still_set(its_debugger, frame):
    """Whether the breakpoint that a thread has hit still exists."""
    lines = breakpoints_in(its_debugger, frame.f_code.co_filename) or {}
    by_name = its_debugger.function_breakpoint_name_to_breakpoint or {}
    return frame.f_lineno in lines or frame.f_code.co_name in by_name


# ---------------------------------------------------------------------------------------------------------
# Steps


# Flags of the code of generators and coroutines.
MAY_WAIT = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

# Idents of threads that are still suspended, and will step.
asked_to_step = set()

# The start frames of unfinished steps, by thread ident.
stepping = {}

# The lines of those frames where the steps began.
stepping_from = {}

# By command of pydevd for a step: the one for a step to the next line that runs.
INTO = {}

# What suspends for a step that ends, by thread ident.
ended_steps = {}

# The instructions at which a suspended generator or coroutine is.
WAITING = ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME")


def know_commands():
    """Fill `INTO`."""
    from _pydevd_bundle import pydevd_comm_constants as commands

    of_all = (commands.CMD_STEP_OVER, commands.CMD_STEP_RETURN, commands.CMD_STEP_INTO)
    INTO.update(dict.fromkeys((*of_all, commands.CMD_STEP_INTO_COROUTINE), commands.CMD_STEP_INTO))
    of_users = (commands.CMD_STEP_OVER_MY_CODE, commands.CMD_STEP_RETURN_MY_CODE, commands.CMD_STEP_INTO_MY_CODE)
    INTO.update(dict.fromkeys(of_users, commands.CMD_STEP_INTO_MY_CODE))


def follow_steps(pydevd):
    """Have pydevd see what a step has to know."""
    mute_skipped_steps(pydevd)
    mark_what_was_not_returned()
    tell_suspensions_from_returns(pydevd)
    if sys.version_info < (3, 13):
        suspend_late(pydevd)


def mute_skipped_steps(pydevd):
    """At the first step that skips library code, pydevd names a setting of its own in the program's output."""
    pydevd.PyDB.notify_skipped_step_in_because_of_filters = lambda self, frame: None


def report_ended_steps(request):
    """Report functions that have returned since a step began in them, if the thread now runs library code: it may never
    return to user code."""
    names = []
    current = sys._current_frames()
    for ident, frame in list(stepping.items()):
        if has_ended(frame, current.values()) and not runs_users_code(current.get(ident)):
            names.append(frame.f_code.co_name)
            # Do not extend the lifetime of the frame's objects.
            stepping.pop(ident, None)
            cancel_step(ident)
    send_event("found", place=json.loads(request)[0], found=bool(names), names=names)


def cancel_step(ident):
    """Keep pydevd from ending a step later, wherever the thread is then in user code. A thread that has stopped meanwhile
    stays suspended."""
    info = getattr(state.threading._active.get(ident), "additional_info", None)
    if info is not None:
        info.pydev_step_stop = None
        info.pydev_original_step_cmd = info.pydev_step_cmd = -1
        info.update_stepping_info()


def suspend_late(pydevd):
    """With a tracer, pydevd takes the end of a function by an exception for a return, and a step ends in its caller. In
    Python 3.12, it ends at each item of a comprehension. pydevd suspends all threads before it says of what kind the event
    is, and in which frame."""
    set_suspend = pydevd.PyDB.set_suspend

    @functools.wraps(set_suspend)
    def suspend(self, thread, stop_reason, *arguments, **more):
        mark = functools.partial(set_suspend, self, thread, stop_reason, *arguments, **more)
        if stop_reason not in INTO:
            return mark()
        ended_steps[thread.ident] = mark
        return None

    pydevd.PyDB.set_suspend = suspend


@functools.lru_cache(maxsize=256)
def hidden(code):
    """The names that comprehensions hide, with the offsets of the code between which they do.

    From Python 3.12 on, a comprehension runs in the frame around it, which saves its variables of the same names.
    """
    found, saved, running = [], [], []
    for each in dis.get_instructions(code):
        if each.opname == "LOAD_FAST_AND_CLEAR":
            saved.append((each.argval, each.offset))
        elif each.opname == "FOR_ITER":
            # It jumps behind the loop, where the variables are restored.
            running += [(name, begin, each.argval) for name, begin in saved]
            saved = []
        elif each.opname == "GET_ANEXT":
            # Where an asynchronous one ends is not marked.
            saved = []
        elif each.opname.startswith("STORE_FAST"):
            for one in running[:]:
                if one[2] <= each.offset and one[0] in stored_names(each):
                    running.remove(one)
                    found.append((one[0], one[1], each.offset))
    return found


def stored_names(instruction):
    """The names that an instruction stores. From Python 3.13 on, it may store two, or store one and load another."""
    names = instruction.argval
    if type(names) is not tuple:
        return (names,)
    return names[:1] if instruction.opname.endswith("LOAD_FAST") else names


def is_in_comprehension(frame):
    return any(begin <= frame.f_lasti <= end for _, begin, end in hidden(frame.f_code))


def left_by_exception(caller):
    """Whether the tracer runs because an exception leaves a function that was called there."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_back is not caller:
        frame = frame.f_back
    return frame is not None and not opcode.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN")


def step_to_handler(info):
    """Have a step end at the next line that runs: that of the `except` or `finally`, if one is in user code."""
    # That for a coroutine does not say whose code to stop in; the one that was asked for does.
    into = INTO.get(info.pydev_original_step_cmd) or INTO[info.pydev_step_cmd]
    info.pydev_step_cmd, info.pydev_step_stop = into, None
    info.update_stepping_info()


# The name that the program sees for our tool.
UNWINDING = "stillframe steps"


class Unwinding:
    """With `sys.monitoring`, pydevd forgets a step whose function an exception leaves, and the program runs on. While
    something steps, our own events show where that happens."""

    def __init__(self):
        self.tool = None
        self.turn = state.threading.Lock()

    def begin(self):
        with self.turn:
            if self.tool is not None or not hasattr(sys, "monitoring"):
                return
            # Unreserved tool IDs; the recorder takes the others first.
            free = [number for number in (3, 4) if sys.monitoring.get_tool(number) is None]
            if free:
                self.tool, events = free[0], sys.monitoring.events
                sys.monitoring.use_tool_id(self.tool, UNWINDING)
                sys.monitoring.register_callback(self.tool, events.PY_UNWIND, on_unwind)
                sys.monitoring.set_events(self.tool, events.PY_UNWIND)

    def end(self):
        with self.turn:
            if self.tool is not None and not stepping:
                # The program may have freed it.
                if sys.monitoring.get_tool(self.tool) == UNWINDING:
                    sys.monitoring.set_events(self.tool, 0)
                    sys.monitoring.register_callback(self.tool, sys.monitoring.events.PY_UNWIND, None)
                    sys.monitoring.free_tool_id(self.tool)
                self.tool = None


unwinding = Unwinding()


def on_unwind(code, offset, error):
    """An exception leaves a function."""
    frame, ident = sys._getframe(1), state.threading.get_ident()
    info = getattr(state.threading._active.get(ident), "additional_info", None)
    if info is None or info.pydev_step_stop is not frame or info.pydev_step_cmd not in INTO:
        return
    from _pydevd_sys_monitoring.pydevd_sys_monitoring import enable_code_tracing

    step_to_handler(info)
    while frame is not None:
        enable_code_tracing(ident, frame.f_code, frame)
        frame = frame.f_back


def has_ended(frame, stacks):
    for other in stacks:
        while other is not None:
            if other is frame:
                return False
            other = other.f_back
    code = frame.f_code
    return not (code.co_flags & MAY_WAIT and opcode.opname[code.co_code[frame.f_lasti]] in WAITING)


def runs_users_code(frame):
    """Whether a step could end in the innermost code of a thread."""
    if frame is None:
        return False
    return not debugger().apply_files_filter(frame, frame.f_code.co_filename, True)


def mark_what_was_not_returned():
    """With a tracer, pydevd also takes the end of a function by an exception, and the suspension of a coroutine, for a
    return. It asks for the class of a function only to name what that has returned."""

    def replace(module, named):
        @functools.wraps(named)
        def get_clsname_for_code(code, frame):
            is_return = opcode.opname[code.co_code[frame.f_lasti]].startswith("RETURN")
            return named(code, frame) if is_return and code.co_name != "stillframe_pause" else NOT_RETURNED

        module.get_clsname_for_code = get_clsname_for_code

    for name, module in list(sys.modules.items()):
        if "pydevd" in name and "get_clsname_for_code" in vars(module):
            replace(module, module.get_clsname_for_code)


class ReturnLine(int):
    """A line with a `return`, which pydevd compares with the line at which a coroutine or generator ends or is suspended.
    They are equal only if it ends: the same line may have an `await`."""

    def __eq__(self, line):
        return int.__eq__(self, line) and not is_suspended(self.code, sys._getframe(1))

    __hash__ = int.__hash__


def is_suspended(code, frame):
    """Whether the tracer runs because the innermost frame with this code is suspended. Python lets a tracer jump from
    there, and only from there; then it refuses the line itself."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    try:
        frame.f_lineno = -1
    except (AttributeError, ValueError) as error:
        return "comes before" in str(error)
    return False


def tell_suspensions_from_returns(pydevd):
    """With a tracer, pydevd takes the suspension of a coroutine on a line with a `return` for its end, and a step over
    the line ends in whatever runs next."""
    collect = pydevd.collect_return_info

    @functools.wraps(collect)
    def collect_return_info(code, *more):
        found = collect(code, *more)
        for each in found:
            each.return_line = ReturnLine(each.return_line)
            each.return_line.code = code
        return found

    pydevd.collect_return_info = collect_return_info


# ---------------------------------------------------------------------------------------------------------
# Stops


# pydevd can only suspend a thread that runs Python code. A signal interrupts the main thread's wait to run this code
# for a moment; afterwards Python resumes the wait.
PAUSE = """
def stillframe_pause(number, frame, clock=clock, sleep=sleep, restore_tracing=restore_tracing):
    restore_tracing()
    end = clock() + 0.2
    while clock() < end:
        sleep(0.002)
"""


def install_pause_handler():
    if not hasattr(signal, "SIGURG") or state.threading.current_thread() is not state.threading.main_thread():
        return
    if signal.getsignal(signal.SIGURG) == signal.SIG_DFL:
        names = {"clock": time.monotonic, "sleep": time.sleep, "restore_tracing": restore_tracing}
        # pydevd does not suspend in code that it considers its own or a library's.
        exec(compile(PAUSE, "/stillframe/pause.py", "exec"), names)
        signal.signal(signal.SIGURG, names["stillframe_pause"])


def restore_tracing():
    """Up to Python 3.11, an error inside the tracer removes it, for example a RecursionError. If the program catches
    that error, nothing would ever suspend it again."""
    if sys.version_info >= (3, 12) or sys.gettrace() is not None:
        return
    from _pydevd_bundle.pydevd_constants import STATE_SUSPEND

    debugger = sys.modules["pydevd"].get_global_debugger()
    info = getattr(state.threading.current_thread(), "additional_info", None)
    # The program may have sent the signal.
    if debugger is not None and getattr(info, "pydev_state", None) == STATE_SUSPEND:
        trace_again(debugger)


def trace_again(debugger):
    """Trace this thread, which has lost its tracer."""
    debugger.enable_tracing()
    debugger.set_trace_for_frame_and_parents(state.threading.get_ident(), sys._getframe(2))


def follow_stops(pydevd):
    """Have steps end where they should, and breakpoints hit that pydevd would miss."""
    from _pydevd_bundle import pydevd_api
    from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK, CMD_THREAD_SUSPEND

    suspend = pydevd.PyDB.do_wait_suspend

    @functools.wraps(suspend)
    def do_wait_suspend(self, thread, frame, event, *arguments, **more):
        line, ident = frame.f_lineno, thread.ident
        suspend_for_step = ended_steps.pop(ident, None)
        if suspend_for_step is not None:
            if sys.version_info >= (3, 12):
                if event == "line" and stepping_from.get(ident) == line and stepping.get(ident) is frame:
                    if is_in_comprehension(frame):
                        return None
            elif event == "return" and left_by_exception(frame):
                step_to_handler(thread.additional_info)
                self.set_trace_for_frame_and_parents(ident, frame)
                return None
            suspend_for_step()
        has_hit = ident in about_to_stop
        about_to_stop.discard(ident)
        # Another thread has stopped, and pydevd reports that one.
        is_bystander = getattr(thread, "stop_reason", None) == CMD_THREAD_SUSPEND
        stepping.pop(ident, None)
        stepping_from.pop(ident, None)
        unwinding.end()
        try:
            result = suspend(self, thread, frame, event, *arguments, **more)
        finally:
            # What was returned is new at one stop. pydevd would keep it, also among the variables of a module.
            frame.f_globals.pop(RETURN_VALUES, None)
            while shown_returned:
                shown_returned.pop().clear()
            steps = ident in asked_to_step
            if steps:
                asked_to_step.discard(ident)
                stepping[ident] = frame
                stepping_from[ident] = frame.f_lineno
                unwinding.begin()
        if not is_bystander:
            return result
        if not steps and frame.f_lineno == line:
            if is_still_set(self, frame) if has_hit else event == "line" and is_to_stop(self, frame):
                about_to_stop.add(ident)
                self.set_suspend(thread, CMD_SET_BREAK)
                return self.do_wait_suspend(thread, frame, event, *arguments, **more)
        if has_hit:
            report_hit([])
        return result

    request = pydevd_api.PyDevdAPI.request_step

    @functools.wraps(request)
    def request_step(self, its_debugger, thread_id, *more):
        from _pydevd_bundle.pydevd_thread_lifecycle import pydevd_find_thread_by_id

        asked_to_step.add(getattr(pydevd_find_thread_by_id(thread_id), "ident", None))
        return request(self, its_debugger, thread_id, *more)

    pydevd.PyDB.do_wait_suspend = do_wait_suspend
    pydevd_api.PyDevdAPI.request_step = request_step


# ---------------------------------------------------------------------------------------------------------
# Child processes


def hold_children(marker):
    """Stop each child process that runs another program, as long as a file is there: the debugger inspects the process
    and lets it run."""
    if marker is None:
        return
    import subprocess

    execute = subprocess.Popen._execute_child

    @functools.wraps(execute)
    def execute_and_hold(self, *args, **kwargs):
        execute(self, *args, **kwargs)
        if os.path.exists(marker):
            try:
                os.kill(self.pid, signal.SIGSTOP)
            except OSError:
                pass

    subprocess.Popen._execute_child = execute_and_hold


def can_follow(code):
    """Whether pydevd can put statements in front of code on its first line."""
    try:
        compile("pass; " + code, "<string>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def configure_children(pydevd):
    """Make child processes import the agent before they connect."""
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle.pydevd_defaults import PydevdCustomization

    here = os.path.dirname(os.path.abspath(__file__))
    PydevdCustomization.PREIMPORT = here + ";stillframe_agent"
    if hasattr(pydevd, "stillframe"):
        return
    pydevd.stillframe = True
    configure, code_for_child = pydevd.config, pydev_monkey._get_python_c_args
    debugged = pydev_monkey.patch_args

    # pydevd warns about frozen modules, in whatever environment a child is given.
    @functools.wraps(debugged)
    def patch_args(args, *others, **named):
        new = debugged(args, *others, **named)
        if isinstance(new, str) or list(new) == list(args):
            return new
        options = ["-X", "frozen_modules=off"]
        return [new[0], *(map(os.fsencode, options) if isinstance(new[0], bytes) else options), *new[1:]]

    # The code that pydevd prepends for `python -c` children lacks the import.
    @functools.wraps(configure)
    def config(protocol="", debug_mode="", preimport=""):
        return configure(protocol, debug_mode, preimport or PydevdCustomization.PREIMPORT)

    separate = pydev_monkey._separate_future_imports

    @functools.wraps(code_for_child)
    def _get_python_c_args(host, port, code, *args, **kwargs):
        is_bytes = isinstance(code, bytes)
        text = code.decode("utf-8") if is_bytes else code
        future, text = separate(text) if "__future__" in text else ("", text)
        if not can_follow(text):
            text = "exec(compile(%r, '<string>', 'exec'))" % text
        text = "del sys, pydevd, stillframe_agent; " + text
        if future:
            # pydevd takes these imports to the front again. It may have ended them twice.
            text = "%s;%s" % (future.rstrip("; \t"), text)
        load = "import pydevd; sys.path.insert(0, %r); import stillframe_agent; del sys.path[0]; " % here
        text = code_for_child(host, port, text, *args, **kwargs).replace("import pydevd; ", load, 1)
        return text.encode("utf-8") if is_bytes else text

    pydevd.config, pydev_monkey._get_python_c_args = config, _get_python_c_args
    pydev_monkey.patch_args = patch_args
    load("stillframe_scripts").install(pydev_monkey)


def stop_debugging_children():
    """Stop debugging new child processes. Otherwise they would wait for a debugger forever."""
    from _pydev_bundle import pydev_monkey

    pydev_monkey._get_apply_arg_patching = lambda: False
    if "stillframe_ahead" in sys.modules:
        sys.modules["stillframe_ahead"].expect(0, ())
    if "stillframe_recorder" in sys.modules:
        sys.modules["stillframe_recorder"].finish()


def close_inherited_connection():
    """In a forked child, which has a separate connection or none: while it holds this one open, stillframe would not
    notice that the parent has exited."""
    debugger = sys.modules["pydevd"].get_global_debugger()
    writer = getattr(debugger, "writer", None)
    if writer is not None:
        try:
            writer.sock.close()
        except OSError:
            pass


# ---------------------------------------------------------------------------------------------------------
# Start


def prepare(root):
    """Import pydevd from ROOT, configure it for stillframe, and return it."""
    # Otherwise pydevd warns about frozen modules on standard error.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    sys.path.insert(0, root)
    substitutes = substitute_console_modules()
    try:
        from debugpy._vendored import force_pydevd  # noqa: F401
        import pydevd
    finally:
        sys.path.remove(root)
        for name in substitutes:
            del sys.modules[name]

    state.take_threading()
    patch(pydevd)
    configure_children(pydevd)
    install_pause_handler()
    hold_children(os.environ.get("STILLFRAME_HOLD"))
    if "STILLFRAME_TESTS" in os.environ:
        load("stillframe_tests").install(load)
    load("stillframe_coverage").install(load("stillframe_imports").after, say)
    load("stillframe_pickled").install(load("stillframe_imports").after)
    return pydevd


# What pydevd imports for its console only, and the names that it looks for there.
CONSOLE_MODULES = {
    "http": (),
    "xmlrpc": (),
    "xmlrpc.client": ("ServerProxy", "Marshaller", "Server"),
    "xmlrpc.server": ("SimpleXMLRPCServer",),
    "http.server": ("BaseHTTPRequestHandler",),
}


def substitute_console_modules():
    """Let pydevd import empty modules in place of those that it does not need here, which take a quarter of the time
    that it takes as a whole. Returns the names of those that are to be removed again, before the program starts."""
    substitutes = [name for name in CONSOLE_MODULES if name not in sys.modules]
    for name in substitutes:
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(dict.fromkeys(CONSOLE_MODULES[name]))
    return substitutes


def patch(pydevd):
    """Patch pydevd where it is slow or prints too much."""
    from _pydev_bundle import pydev_log
    from _pydevd_bundle import pydevd_api, pydevd_constants, pydevd_utils

    know_commands()
    # Our own limit applies first.
    pydevd_constants.PYDEVD_WARN_EVALUATION_TIMEOUT = 10**6
    pydevd_utils.Timer.__init__.__defaults__ = (10**6,)
    if pydevd_constants.DebugInfoHolder.DEBUG_TRACE_LEVEL <= 0:
        # Its log does not belong on the program's standard error.
        pydev_log._LoggingGlobals._debug_stream_initialized = True
    # Where the text of code is unknown, pydevd shows its bytecode.
    pydevd_api.code_to_bytecode_representation = lambda code: ""
    PyDevdAPI = pydevd_api.PyDevdAPI
    # By default, pydevd waits for a running thread to stop before it returns its stack.
    PyDevdAPI.request_stack.__defaults__ = tuple(
        0 if isinstance(default, float) else default for default in PyDevdAPI.request_stack.__defaults__
    )
    if hasattr(pydevd.PyDB, "stillframe"):
        return
    pydevd.PyDB.stillframe = True
    # No exit is an exception to stop at, whatever its code. pydevd would stop at some, and fails if the code has no
    # hash.
    pydevd.PyDB.ignore_system_exit_code = lambda self, error: True
    # It ends the debugger after the last thread, but polls every 200 ms, and the program waits for it. pydevd's
    # `atexit` handler ends the debugger at once.
    pydevd.CheckAliveThread.start = lambda self: None
    start, end = pydevd.PyDB.initialize_network, pydevd.PyDB.dispose_and_kill_all_pydevd_threads

    # It sleeps for 100 ms to "give threads time to start", which nothing needs.
    @functools.wraps(start)
    def initialize_network(*args, **kwargs):
        real, pydevd.time = pydevd.time, types.SimpleNamespace(sleep=lambda seconds: None, time=time.time)
        try:
            return start(*args, **kwargs)
        finally:
            pydevd.time = real

    # At exit it waits up to 500 ms for its own daemon threads. It is enough that everything was sent.
    @functools.wraps(end)
    def dispose_and_kill_all_pydevd_threads(self, wait=True, timeout=0.5):
        if not self.pydb_disposed:
            flush(self)
        return end(self, wait=False, timeout=timeout)

    load("stillframe_main").install(pydevd)
    try:
        load("stillframe_requests")
    except (ImportError, AttributeError):
        # Another version of pydevd serves all requests itself.
        pass
    name_threads()
    leave_own_threads()
    mute_kept_tracer()
    follow_steps(pydevd)
    follow_stops(pydevd)
    pydevd.PyDB.initialize_network = initialize_network
    pydevd.PyDB.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
    debug_files_with_breakpoints(pydevd)
    begin_with_functions(PyDevdAPI)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=close_inherited_connection)


def mute_kept_tracer():
    """pydevd warns about each call of `sys.settrace` on standard error. Many only restore the tracer that is set, as
    `doctest` does."""
    import pydevd_tracing

    def get_frame():
        frame = sys._getframe(1)
        return None if frame.f_locals["tracing_func"] is sys.gettrace() else frame

    pydevd_tracing.get_frame = get_frame


# How long the end of the program waits until everything has been sent, in seconds.
FLUSH_LIMIT = 10.0


def flush(debugger):
    """Send the remaining reports, and wait until everything has been sent."""
    from _pydevd_bundle.pydevd_net_command import NetCommand

    report_failures()
    if "stillframe_recorder" in sys.modules:
        sys.modules["stillframe_recorder"].report_hits()
    try:
        report_unloaded(debugger)
    except Exception:
        # Unusual modules or arguments of the program must not prevent its end.
        pass
    message = {"type": "event", "event": "stillframe", "body": {"kind": "flushed"}}
    command, sent = NetCommand(-1, 0, message, is_json=True), state.threading.Event()
    command.call_after_send(lambda *ignored: sent.set())
    # The writer thread itself calls this when the connection is lost: nothing can be sent then.
    if debugger.writer not in (None, state.threading.current_thread()):
        debugger.writer.add_command(command)
        # Many log messages take a while. If the writer has ended, the rest is lost.
        until = time.monotonic() + FLUSH_LIMIT
        while not sent.wait(0.1) and debugger.writer.is_alive() and time.monotonic() < until:
            pass


def forbid_side_effects():
    """Make pydevd's own reports of exceptions and threads read their texts without running code of the program."""
    from _pydevd_bundle import pydevd_thread_lifecycle
    from _pydevd_bundle.pydevd_frame_utils import FramesList
    from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson

    def get_description(frames):
        error = vars(frames).get("stillframe_error")
        return message_argument(error) if is_a(error, BaseException) else error

    def set_description(frames, error):
        vars(frames)["stillframe_error"] = error

    FramesList.exc_desc = property(get_description, set_description)
    read_thread_names_directly(pydevd_thread_lifecycle.mark_thread_suspended)
    read_thread_names_directly(NetCommandFactoryJson.make_list_threads_message)


def read_thread_names_directly(function):
    """Make a function of pydevd read a thread's `_name`, and not the property `name`, which the program may
    override."""
    code = getattr(function, "__code__", None)
    if isinstance(code, types.CodeType) and "name" in code.co_names:
        names = tuple("_name" if name == "name" else name for name in code.co_names)
        function.__code__ = code.replace(co_names=names)


# ---------------------------------------------------------------------------------------------------------
# Requests


to_json = json.JSONEncoder(ensure_ascii=False).encode


class Answer(str):
    """JSON text whose repr is itself, so that pydevd sends it unchanged."""

    __repr__ = str.__str__


def call(request):
    """Serve one request: the name of a function in the table below and its arguments, as JSON."""
    report_failures()
    name, arguments, state.side_effect_free = json.loads(request)
    try:
        answer = REQUESTS[name](*arguments)
    except Raised as error:
        answer = {"error": error.body}
    except BaseException as error:
        answer = {"error": describe(error, error.__traceback__)}
    return Answer(to_json(answer))


REQUESTS = {
    "same": request_same,
    "scopes": request_scopes,
    "locals": request_locals,
    "children": request_children,
    "evaluate": request_evaluate,
    "assign": request_assign,
    "seen": request_seen,
    "thrown": request_thrown,
    "exception": request_exception,
    "printed": request_printed,
    "meets": request_meets,
}

if "stillframe_recorder" in sys.modules:
    # An earlier debugger was attached. Its recorder belongs to its agent.
    sys.modules.pop("stillframe_recorder").finish()
    sys.modules.pop("stillframe_monitor", None)

if os.path.basename(getattr(sys.modules["__main__"], "__file__", None) or "") == "pydevd.py":
    # pydevd is the script of a child process, and does this itself a moment later.
    sys.modules.setdefault("pydevd", sys.modules["__main__"])

if "pydevd" in sys.modules and os.path.exists(__file__):
    # A child process: pydevd imports this module by the name that `prepare` set in the parent.
    prepare(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(sys.modules["pydevd"].__file__)))))
elif "_pydev_bundle._pydev_saved_modules" in sys.modules:
    # It was sent to a program that runs.
    state.take_threading()
    mute_skipped_steps(sys.modules["pydevd"])
