"""Decides where an exception is raised whether user code catches it.

A test suite raises thousands of exceptions that are caught. pydevd can stop at each, or at those that leave the
program, when the frames are gone. So it is configured to stop at each, and before it does, `should_stop` below checks
the frames from the raise outwards for a user frame inside a `try`, or a `with` such as that of `pytest.raises`, that
catches this type. It reads the source and runs no code of the program. What is unknown, such as a context manager of
the user, counts as not catching.

The decision is made in the innermost user frame that the exception reaches, and again in outer ones if a handler lets
it through.
"""

import ast
import builtins
import functools
import inspect
import itertools
import os
import sys
import threading
import tokenize
import types

from stillframe_debugger import debugger, is_of_debugger
from stillframe_modules import is_ours
from stillframe_stops import trace_again
from stillframe_types import class_order

# How often one location may stop in a process. If a library retries something and catches the exceptions, only
# different stops are informative.
MOST_AT_ONE_PLACE = 50
# Packages that run tests. Exceptions that they catch are the ones to stop at.
RUNNERS = frozenset(("_pytest", "pytest", "pluggy", "unittest", "xdist", "execnet"))
# Their functions that call test code.
OUTERMOST = frozenset(("from_call", "_callTestMethod", "_callSetUp", "_callTearDown", "_callCleanup"))
# Exceptions that end tests, tasks and programs without a failure.
ORDERLY = frozenset(("SystemExit", "CancelledError", "Cancelled", "Skipped", "XFailed", "Exit", "SkipTest", "_ShouldStop"))
# Packages of the debugger, whose compiled code has no files: it is in the traceback of an exhausted stack.
DEBUGGERS = frozenset(("pydevd", "_pydevd_bundle", "_pydevd_frame_eval", "_pydevd_sys_monitoring"))
# Functions that accept a type, and catch it in their `with`.
CATCHING = frozenset(
    ("raises", "suppress", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assertRaisesMessage")
)

active = False
numbers = itertools.count(1)
counts = {}


def watch(is_on):
    """Make pydevd stop only where `should_stop` agrees, or undo that."""
    global active
    active = bool(is_on)
    for name, module in list(sys.modules.items()):
        original = vars(module).get("should_stop_on_exception") if "pydevd" in name else None
        if original is not None and not hasattr(original, "stillframe"):
            module.should_stop_on_exception = asking_first(original)


def asking_first(original):
    """pydevd's decision, preceded by ours. It returns whether to stop, the frame, and its own state."""

    def should_stop_on_exception(py_db, info, frame, thread, arg, kept, is_unwind=False):
        if active and not should_stop(frame, arg):
            return False, frame, kept
        return original(py_db, info, frame, thread, arg, kept, is_unwind)

    should_stop_on_exception.stillframe = True
    return should_stop_on_exception


def should_stop(frame, arg):
    """Whether to stop at an exception that has reached a frame. If so, mark it."""
    kind, error, _ = arg
    try:
        if not is_users(frame) or is_orderly(kind):
            return False
        if sys.modules["stillframe_exceptions"].mark_of(error) is not None or is_caught(frame, kind):
            return False
        if has_stopped_often(frame.f_code, frame.f_lineno):
            return False
        give_mark(error)
    except Exception:
        # A superfluous stop is better than a missing one.
        pass
    return True


def has_stopped_often(*place):
    """Whether one location has had its stops. Counts this one."""
    counts[place] = counts.get(place, 0) + 1
    return counts[place] > MOST_AT_ONE_PLACE


def give_mark(error):
    """What says which of the stops a failure is about."""
    sys.modules["stillframe_exceptions"].marked_attributes(error).mark = "%d-%d" % (os.getpid(), next(numbers))


def stop_afterwards(error, trace):
    """Stop at an exception that has ended a test without a stop where it was raised: most that are orderly do not end
    tests, and with an exhausted stack nothing can stop."""
    try:
        its_debugger = debugger()
        if not active or its_debugger is None or sys.modules["stillframe_exceptions"].is_seen(error):
            return
        places = [place for place in frames_of(trace) if is_users(place[0])]
        if not places:
            return
        frame, line = places[-1]
        try:
            if not has_stopped_often(frame.f_code, line):
                give_mark(error)
                # Do not stop in what runs until then.
                its_debugger.disable_tracing()
                raised = (type(error), error, trace)
                its_debugger.do_stop_on_unhandled_exception(threading.current_thread(), frame, {}, raised)
        finally:
            trace_again(its_debugger)
    except Exception:
        # In the runner's own code, an error would end the run.
        pass


def frames_of(trace):
    """The frames that an exception has left, outermost first, and their lines."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


@functools.lru_cache(maxsize=1024)
def is_orderly(kind):
    return any(each.__name__ in ORDERLY for each in class_order(kind))


# ---------------------------------------------------------------------------------------------------------
# Frames


def is_users(frame):
    """Whether a frame runs user code."""
    file = frame.f_code.co_filename
    known = users_files.get(file)
    if known is None:
        known = users_files[file] = is_users_file(file) and package_of(frame) not in RUNNERS | DEBUGGERS
    return known


users_files = {}


def is_users_file(file):
    if file in sys.modules["stillframe_loaded"].compiled_texts:
        return True
    if file.startswith("<"):
        return False
    path = os.path.abspath(file)
    return not is_of_debugger(path) and debugger()._files_filtering.in_project_roots(path)


# The maximum number of reported frames.
MOST_FRAMES = 100


def stack_of(frame, trace):
    """The whole stack of an exception, innermost frame first: function, file and line of each. Frames that it has left
    are in its traceback."""
    left = list(frames_of(trace))
    frame = left[0][0].f_back if left else frame
    running = itertools.takewhile(is_programs, outwards(frame))
    places = left[::-1] + [(each, each.f_lineno) for each in running]
    return [(each.f_code.co_name, each.f_code.co_filename, line) for each, line in places[:MOST_FRAMES]]


def outwards(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def is_programs(frame):
    """Whether a frame belongs to the program and not to its startup."""
    file = frame.f_code.co_filename
    return "pydevd" not in os.path.basename(file) and not is_ours(file)


def package_of(frame):
    name = frame.f_globals.get("__name__")
    return name.partition(".")[0] if isinstance(name, str) else ""


def is_caught(frame, kind):
    """Whether user code catches an exception of this type raised in a frame."""
    called = None
    while frame is not None:
        if is_users(frame):
            if is_caught_in(frame, kind, called):
                return True
        elif package_of(frame) in RUNNERS:
            name = frame.f_code.co_name
            if name in OUTERMOST:
                return False
            if name in ("handle", "raises") and is_expected(frame, kind):
                return True
        called, frame = frame, frame.f_back
    return False


def is_uncaught(frame, kind):
    """Whether no code seems to catch an exception of this type raised in a frame, not even that of a library."""
    called = None
    for each in itertools.takewhile(is_programs, outwards(frame)):
        if package_of(each) == "threading" and each.f_code.co_name.startswith("_bootstrap"):
            break
        # unittest catches in a context manager.
        if package_of(each) in RUNNERS or is_caught_in(each, kind, called):
            return False
        called = each
    return True


def is_expected(frame, kind):
    """Whether a frame is that of `pytest.raises(KIND, function)`, or of its equivalent in unittest."""
    names = frame.f_locals
    expected = names.get("expected_exception")
    if expected is None and "self" in names:
        expected = getattr(names["self"], "expected", None)
    return expected is not None and is_one_of(kind, expected)


def is_one_of(kind, expected):
    """Whether `except` would match."""
    if isinstance(expected, tuple):
        return any(is_one_of(kind, each) for each in expected)
    return expected in class_order(kind)


def is_caught_in(frame, kind, called):
    """Whether a user frame is at a location where this type is caught. `called` is its callee's frame."""
    line = frame.f_lineno
    for guard in guards_of(frame.f_code):
        if guard.first <= line <= guard.last and guard.catches(frame, kind, called):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------
# Source


class Guard:
    """Lines of a function, and the exception types that are caught there."""

    def __init__(self, body, types):
        self.first = min(first_line(node) for node in body)
        self.last = max(node.end_lineno for node in body)
        # Expressions of the source; None for all types.
        self.types = types

    def catches(self, frame, kind, called):
        return any(matches(node, frame, kind) for node in self.types)


class Attempt:
    """A call of `hasattr`, or of `getattr` with a default: both catch AttributeError."""

    def __init__(self, call):
        self.first, self.last = call.lineno, call.end_lineno
        name = call.args[1] if len(call.args) > 1 else None
        self.name = name.value if isinstance(name, ast.Constant) else None

    def catches(self, frame, kind, called):
        if called is None or AttributeError not in kind.__mro__:
            return False
        return called.f_code.co_name in ("__getattr__", "__getattribute__", self.name)


def first_line(node):
    return min([mark.lineno for mark in getattr(node, "decorator_list", ())] + [node.lineno])


def matches(node, frame, kind):
    """Whether a handler's types include this one."""
    if node is None:
        return True
    if isinstance(node, ast.Tuple):
        return any(matches(each, frame, kind) for each in node.elts)
    try:
        return is_one_of(kind, value_of(node, frame))
    except LookupError:
        # It is unknown without running code; compare the name.
        name = getattr(node, "attr", getattr(node, "id", None))
        return any(each.__name__ == name for each in kind.__mro__)


def value_of(node, frame):
    """The value of a name, or of an attribute of a module or class."""
    if isinstance(node, ast.Name):
        code = frame.f_code
        if node.id in code.co_varnames or node.id in code.co_cellvars or node.id in code.co_freevars:
            return frame.f_locals[node.id]
        for names in (frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, frame)
        if type(owner) is types.ModuleType:
            return vars(owner)[node.attr]
        if isinstance(owner, type):
            for each in class_order(owner):
                if node.attr in vars(each):
                    return vars(each)[node.attr]
    raise LookupError


def guards_of(code):
    """The exception handlers of a function."""
    known = guards.get(code)
    if known is None:
        try:
            scope = scope_of(code)
        except Exception:
            # Without readable source, no handler is known.
            scope = None
        known = guards[code] = [] if scope is None else list(find_guards(scope.body))
    return known


guards = {}


def scope_of(code):
    """The function or module that some code was compiled from. Files of libraries can be too long to read whole."""
    file = code.co_filename
    if code.co_name == "<module>" or is_users_file(file):
        return scopes_of(file).get((code.co_name, code.co_firstlineno))
    with tokenize.open(file) as source:
        # `inspect.getsourcelines` asks every module for its file, which loads those that are lazy.
        lines = inspect.getblock(source.readlines()[code.co_firstlineno - 1 :])
    tree = ast.parse("".join(["if 1:\n" if lines[0][0].isspace() else "\n", *lines]))
    ast.increment_lineno(tree, code.co_firstlineno - 2)
    return next(node for node in ast.walk(tree) if getattr(node, "name", None) == code.co_name)


@functools.lru_cache(maxsize=None)
def tree_of(file):
    with tokenize.open(file) as source:
        text = source.read()
    return ast.parse(text), text


@functools.lru_cache(maxsize=None)
def scopes_of(file):
    """The functions, classes and module of a file, by name and first line as in code objects."""
    tree, _ = tree_of(file)
    found = {("<module>", line): tree for line in (0, 1)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name, first_line(node)] = node
    return found


def find_guards(body):
    """The handlers among statements, without those inside nested functions and classes."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if type(node).__name__ in ("Try", "TryStar"):
            caught = [handler.type for handler in node.handlers if not raises_again(handler)]
            if caught:
                yield Guard(node.body, caught)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            caught = [kind for item in node.items for kind in caught_by(item.context_expr)]
            if caught:
                yield Guard(node.body, caught)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3):
                yield Attempt(node)
        waiting.extend(ast.iter_child_nodes(node))


def raises_again(handler):
    """Whether a handler ends by raising what it has caught."""
    last = handler.body[-1]
    if not isinstance(last, ast.Raise):
        return False
    return last.exc is None or (isinstance(last.exc, ast.Name) and last.exc.id == handler.name)


def caught_by(expression):
    """The types that a context manager catches."""
    if not isinstance(expression, ast.Call):
        return []
    name = getattr(expression.func, "attr", getattr(expression.func, "id", None))
    if name not in CATCHING:
        return []
    named = [word.value for word in expression.keywords if word.arg in ("expected_exception", "exception")]
    return (expression.args if name == "suppress" else expression.args[:1]) + named
