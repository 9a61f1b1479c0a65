"""What each line of a file may change, as its source says.

After a line has run, only this is compared with what is known: the names that it stores, and the objects that it
stores into or calls methods of or passes on. An object is given by a path: a name, and attributes and items from there.
"""

import ast
import opcode
import sys

# Instructions that an exception tells that an iterator has no more items, which is no exception of the program.
ITERATING = {opcode.opmap[name] for name in ("FOR_ITER", "SEND", "YIELD_FROM") if name in opcode.opmap}

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

# Built-in functions that do not change their arguments.
HARMLESS = frozenset(
    "abs all any bool dict enumerate float frozenset hash id int isinstance issubclass len list max min print range repr "
    "reversed round set sorted str sum tuple type zip".split()
)

# Ways from one object to the next: an attribute, an item with a constant key, an item whose key is a variable.
ATTRIBUTE, CONSTANT, VARIABLE = range(3)


class Effects:
    """What a line may change: variables of its function and of its module, objects as a whole, and single attributes
    and items of objects."""

    __slots__ = ("names", "shared", "paths", "slots")

    def __init__(self, names=(), shared=(), paths=(), slots=()):
        self.names, self.shared, self.paths, self.slots = names, shared, paths, slots

    def is_empty(self):
        return not (self.names or self.shared or self.paths or self.slots)


NOTHING = Effects()


def effects_in(source, path):
    """The effects of the lines of a file, by line; none for a line that changes nothing."""
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    lines = {}
    visit_body(tree, lines)
    return {line: found.effects() for line, found in lines.items()}


class Found:
    """What is found for a line."""

    def __init__(self):
        self.names, self.shared, self.paths, self.slots = set(), set(), {}, {}

    def add(self, other):
        self.names |= other.names
        self.shared |= other.shared
        self.paths.update(other.paths)
        self.slots.update(other.slots)

    def effects(self):
        slots = [slot for slot in self.slots if slot[:2] not in self.paths]
        # The accelerator compares names by identity.
        names = tuple(map(sys.intern, sorted(self.names)))
        return Effects(names, tuple(sorted(self.shared)), tuple(self.paths), tuple(slots))


def ends_iteration(code, at, kind):
    """Whether an exception of a type at an instruction says that `for`, `await` or `yield from` is over."""
    return issubclass(kind, StopIteration) and at >= 0 and code.co_code[at] in ITERATING


def visit_body(scope, lines):
    """The statements of a scope."""
    # Names that functions inside of it may store.
    inner = {name for node in ast.walk(scope) if isinstance(node, ast.Nonlocal) for name in node.names}
    shared = {name for node in statements_in(scope) if isinstance(node, ast.Global) for name in node.names}
    for statement in statements_in(scope):
        found = Found()
        if collect(statement, found):
            found.names |= inner
        found.shared = found.names & shared
        found.names -= shared
        last = last_line(statement)
        line = statement.pattern.lineno if type(statement).__name__ == "match_case" else statement.lineno
        first = min([line] + [each.lineno for each in getattr(statement, "decorator_list", ())])
        for line in range(first, last + 1):
            lines.setdefault(line, Found()).add(found)
    for node in scopes_in(scope):
        visit_body(node, lines)


def statements_in(scope):
    """All statements of a scope, also those in others, but not those of scopes inside."""
    waiting = [scope]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield child
                if isinstance(child, SCOPES):
                    continue
            elif isinstance(child, ast.ExceptHandler) or type(child).__name__ == "match_case":
                yield child
            elif isinstance(child, ast.expr):
                continue
            waiting.append(child)


def scopes_in(scope):
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, SCOPES):
            if not isinstance(child, ast.Lambda):
                yield child
        else:
            yield from scopes_in(child)


def own_parts(statement):
    """The parts of a statement that are not statements."""
    if isinstance(statement, SCOPES):
        return list(getattr(statement, "decorator_list", ())) + list(getattr(statement, "bases", ()))
    return [
        child
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, (ast.stmt, ast.ExceptHandler)) and type(child).__name__ != "match_case"
    ]


def last_line(statement):
    """The last line of a statement without the statements in it."""
    parts = own_parts(statement)
    if isinstance(statement, ast.stmt) and not hasattr(statement, "body"):
        return statement.end_lineno
    lines = [part.end_lineno for part in parts if getattr(part, "end_lineno", None)]
    return max(lines + [getattr(statement, "lineno", 1)])


def collect(statement, found):
    """Add what a statement stores. Whether it may run other code of the program."""
    calls = False
    names, paths = found.names, found.paths
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names.add(statement.name)
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        names.update((each.asname or each.name).split(".")[0] for each in statement.names)
    elif isinstance(statement, ast.ExceptHandler) and statement.name:
        names.add(statement.name)
    waiting = own_parts(statement)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            add_slot(node, found)
        elif isinstance(node, ast.Call):
            calls = True
            if not (isinstance(node.func, ast.Name) and node.func.id in HARMLESS):
                if isinstance(node.func, ast.Attribute):
                    add_path(node.func.value, paths)
                for argument in node.args + [keyword.value for keyword in node.keywords]:
                    add_path(argument, paths)
        elif isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
            calls = True
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            names.add(node.name)
        elif type(node).__name__ == "MatchMapping" and node.rest:
            names.add(node.rest)
        if isinstance(node, COMPREHENSIONS):
            # Its variables are its own.
            inner = Found()
            parts = [collect(ast.Expr(value=child), inner) for child in ast.iter_child_nodes(node)]
            paths.update(inner.paths)
            calls = calls or any(parts)
            continue
        waiting.extend(ast.iter_child_nodes(node))
    if isinstance(statement, ast.AugAssign):
        # `items += more` changes the list itself.
        add_path(statement.target, paths)
    return calls


def add_slot(node, found):
    """An attribute or an item that is stored, or the whole object if it is not known which."""
    of = path_of(node.value)
    whole = path_of(node)
    if of is None:
        return
    if isinstance(node.ctx, ast.Store) and whole is not None and len(whole[1]) == len(of[1]) + 1:
        found.slots[of + (whole[1][-1],)] = True
    else:
        found.paths[of] = True


def add_path(node, paths):
    path = path_of(node)
    if path is not None:
        paths[path] = True


def path_of(node):
    """The path of an expression, or of as much of it as has one."""
    steps = []
    while True:
        if isinstance(node, ast.Starred):
            node = node.value
        elif isinstance(node, ast.Attribute):
            steps.append((ATTRIBUTE, node.attr))
            node = node.value
        elif isinstance(node, ast.Subscript):
            key = node.slice
            key = getattr(key, "value", key) if type(key).__name__ == "Index" else key
            if isinstance(key, ast.Constant) and type(key.value) in (int, str):
                steps.append((CONSTANT, key.value))
            elif isinstance(key, ast.Name):
                steps.append((VARIABLE, key.id))
            else:
                # What comes after an unknown item is not known either.
                steps.clear()
            node = node.value
        elif isinstance(node, ast.Call):
            # What a call returns has no name; what it was called on may be part of it.
            steps.clear()
            if not isinstance(node.func, ast.Attribute):
                return None
            node = node.func.value
        elif isinstance(node, ast.Name):
            return node.id, tuple(reversed(steps))
        else:
            return None
