"""Evaluates expressions in frames, and assigns."""

import collections
import functools
import types

import stillframe_state as state
from stillframe_children import Namespace, attributes, key_text, reported
from stillframe_debugger import find_frame, find_handle
from stillframe_errors import Raised, describe, refuse
from stillframe_limits import Interrupted, limited
from stillframe_modules import is_ours, load
from stillframe_types import class_dict, class_name, class_order, container_kind, is_a, type_name
from stillframe_values import Renderer


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
