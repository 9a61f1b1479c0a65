"""Finds the statement and the active call at which a running frame is, from the source.

No code of the program runs for that: names are looked up where they are stored, and properties are not evaluated.
"""

import ast
import builtins
import dis
import itertools
import linecache
import os
import sys
import tokenize
import types

import stillframe_numbered as numbered
from stillframe_debugger import paths_of
from stillframe_expressions import private_owner

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WITHS = (ast.With, ast.AsyncWith)
# The instructions that call `__enter__`, by Python version; and `__aenter__`, which is awaited afterwards.
ENTERS, ENTERS_LATER = {"SETUP_WITH", "BEFORE_WITH"}, {"BEFORE_ASYNC_WITH"}
# The fields of compound statements that contain statements.
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

# Marks a value that cannot be known without running code.
UNKNOWN = object()

# The syntax trees and lines of files, by name and modification time.
parsed = {}

of_library = (os.path.dirname(os.__file__) + os.sep, "<frozen ")


def is_library(code):
    """Whether code belongs to Python or to an installed package."""
    file = code.co_filename
    return file.startswith(of_library) or "site-packages" in file or "dist-packages" in file


def source(file):
    """The syntax tree and the lines of a file, or None."""
    try:
        stamp = os.stat(file).st_mtime_ns
    except (OSError, ValueError):
        stamp = None
    known = parsed.get(file)
    if known is None or known[0] != stamp:
        try:
            if stamp is None:
                text = "".join(linecache.cache[file][2])
            else:
                with tokenize.open(file) as opened:
                    text = opened.read()
            known = stamp, ast.parse(text), text.split("\n")
        except (OSError, SyntaxError, ValueError, LookupError, TypeError, RecursionError):
            known = stamp, None, []
        parsed[file] = known
    return known[1], known[2]


def text_of(node, frame):
    """The source of an expression; None if it spans several lines."""
    lines = source(frame.f_code.co_filename)[1]
    if node.lineno != node.end_lineno or node.lineno > len(lines):
        return None
    return lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()


class Step:
    """A statement on the path to a location, with its siblings; `block` is the name of their list."""

    def __init__(self, statements, index, block):
        self.statements = statements
        self.index = index
        self.block = block
        self.node = statements[index]


def way_to(frame):
    """The statements that enclose a frame's location, from the outermost in its function."""
    tree, _ = source(frame.f_code.co_filename)
    span = span_of(frame)
    # If only the line is known, use its innermost statement.
    place = (frame.f_lineno, None) if span is None else (span[0], span[2])
    way, node = [], tree
    while node is not None and place[0] is not None:
        step = step_into(node, place)
        if step is None:
            break
        way.append(step)
        node = step.node
    name, first = frame.f_code.co_name, frame.f_code.co_firstlineno
    for index in range(len(way) - 1, -1, -1):
        if isinstance(way[index].node, FUNCTIONS) and way[index].node.name == name and first == start_of(way[index].node):
            return way[index + 1 :]
    return way if name == "<module>" else way[-1:]


def step_into(node, place):
    for block in BLOCKS:
        statements = getattr(node, block, None)
        if not isinstance(statements, list):
            continue
        for index, each in enumerate(statements):
            if is_in(place, each):
                return Step(statements, index, block)
    return None


def is_in(place, statement):
    """Whether a line, and a column if known, is in a statement."""
    line, column = place
    first, last = start_of(statement), end_of(statement)
    if column is None or not first <= line <= last:
        return first <= line <= last
    begins = getattr(statement, "lineno", first) if first == line else 0
    if begins == line and hasattr(statement, "col_offset") and column < statement.col_offset:
        return False
    final = statement if hasattr(statement, "end_col_offset") else statement.body[-1]
    return line < last or column < final.end_col_offset


def start_of(node):
    marks = [mark.lineno for mark in getattr(node, "decorator_list", ())]
    return min(marks + [getattr(node, "lineno", None) or node.pattern.lineno])


def end_of(node):
    return getattr(node, "end_lineno", None) or end_of(node.body[-1])


def head_of(statement):
    """The nodes of a statement without those of nested statements."""
    waiting = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list) and not (node is statement and name in BLOCKS):
                waiting += [each for each in value if isinstance(each, ast.AST)]


def calls_under_way(frame):
    """The calls that a frame may be in, most likely first: `Call` nodes, `with` statements as pairs of the statement
    and the item's index, `for` statements."""
    way = way_to(frame)
    if not way:
        return []
    statement = way[-1].node
    if isinstance(statement, WITHS) and is_entering(frame):
        return [(statement, item_of(frame, statement))]
    span = span_of(frame)
    calls = [node for node in head_of(statement) if isinstance(node, ast.Call)]
    # In Python 3.10 a method call has the position of the method's name.
    exact = [node for node in calls if span in (place_of(node), place_of(node.func))]
    if exact:
        return exact
    around = []
    if isinstance(statement, WITHS):
        around.append((statement, item_of(frame, statement)))
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        around.append(statement)
    # Before Python 3.11 only the line is known.
    on_line = [node for node in calls if node.lineno <= frame.f_lineno <= node.end_lineno]
    return around + on_line if span is not None and around else on_line + around


def place_of(node):
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def is_entering(frame):
    """Whether a frame is entering a `with`."""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]] if frame.f_lasti >= 0 else None
    return name in ENTERS or name in ENTERS_LATER


def span_of(frame):
    """The span of the instruction at which a frame is: two lines and two columns; None if unknown."""
    code = frame.f_code
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return numbered.span_of(code, frame.f_lasti)
    span = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    return span if span is not None and None not in span else None


def item_of(frame, statement):
    """The index of the `with` item at which a frame is."""
    first, last = statement.lineno, start_of(statement.body[0]) - 1
    is_later = isinstance(statement, ast.AsyncWith)
    line, entered = None, -1 if is_later else 0
    for each in dis.get_instructions(frame.f_code):
        if isinstance(each.starts_line, int) and each.starts_line is not True:
            line = each.starts_line
        line = getattr(each, "line_number", None) or line
        if each.offset >= frame.f_lasti:
            break
        enters = each.opname in (ENTERS_LATER if is_later else ENTERS)
        if enters and line is not None and first <= line <= max(first, last):
            entered += 1
    return max(0, min(entered, len(statement.items) - 1))


def value_of(node, frame):
    """The value in a frame of an expression of names and attributes."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        owner = value_of(node.value, frame)
        if owner is not UNKNOWN:
            return attribute(owner, private(node.attr, frame))
    elif isinstance(node, ast.Subscript):
        owner, index = value_of(node.value, frame), node.slice
        index = value_of(index.value if type(index).__name__ == "Index" else index, frame)
        if type(owner) in (dict, list, tuple) and type(index) in (int, str):
            try:
                return owner[index]
            except LookupError:
                pass
    return UNKNOWN


def private(name, frame):
    """The mangled name of a private attribute in a method."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    owner = private_owner(frame)
    return "_%s%s" % (owner.lstrip("_"), name) if owner else name


def attribute(owner, name):
    """A stored attribute, or a method of the class."""
    try:
        own = object.__getattribute__(owner, "__dict__")
    except Exception:
        own = {}
    if isinstance(own, (dict, types.MappingProxyType)) and name in own:
        return own[name]
    for kind in type.__getattribute__(owner if isinstance(owner, type) else type(owner), "__mro__"):
        members = type.__getattribute__(kind, "__dict__")
        if name in members:
            member = members[name]
            if type(member) is types.MemberDescriptorType:
                try:
                    return member.__get__(owner, type(owner))
                except AttributeError:
                    return UNKNOWN
            if type(member) is types.GetSetDescriptorType:
                # Native code, such as that of a task.
                return member.__get__(owner, type(owner))
            return UNKNOWN if isinstance(member, property) else member
    return UNKNOWN


def local(frame, name):
    """A variable of a frame."""
    return frame.f_locals.get(name) if frame is not None else None


def module_of(frame):
    return frame.f_globals.get("__name__")


def loaded(module, name):
    """An attribute of a module that the program has loaded, or None."""
    return getattr(sys.modules.get(module), name, None)


def file_of(code):
    """The absolute path of code's file, or its placeholder such as `<string>`."""
    file = code.co_filename
    return file if os.path.isabs(file) or file.startswith("<") else paths_of(file)[0]
