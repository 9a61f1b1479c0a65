"""What each line of a file may change, as its source says.

After a line has run, only this is compared with what is known: the names that it stores, and the objects that it
stores into or calls methods of or passes on. An object is given by a path: a name, and attributes and items from there.
The class of an object is one of its attributes.
Where a path is not known to its end, as in `rows[i + 1].append(0)`, everything below its beginning is compared.
"""

import ast
import collections
import opcode
import sys

# Instructions at which an exception means that an iterator has no more items: it is not one of the program.
ITERATING = {opcode.opmap[name] for name in ("FOR_ITER", "SEND", "YIELD_FROM") if name in opcode.opmap}

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

# Built-in functions that do not change their arguments.
HARMLESS = frozenset(
    "abs all any bool dict enumerate float frozenset globals hash id int isinstance issubclass len list max min print range repr "
    "reversed round set sorted str sum tuple type zip".split()
)

# Methods that change their object, and functions that change their first argument.
METHODS = frozenset(
    "add append appendleft clear difference_update discard extend extendleft insert intersection_update move_to_end pop "
    "popitem popleft remove reverse rotate setdefault sort subtract symmetric_difference_update update".split()
)
FUNCTIONS = frozenset(
    "delattr heapify heappop heappush heappushpop heapreplace insort insort_left insort_right setattr shuffle".split()
)

# Built-in functions that run code that is not known.
EXECUTING = frozenset(["eval", "exec"])

# Functions of modules that return something that is in their arguments.
PICKING = frozenset("choice getitem nlargest nsmallest reduce sample".split())

# Decorators of a function whose value is kept as an attribute of its object.
KEEPING = frozenset(["cached_property"])

# The attribute of an object that is its class, and where the paths of what `globals()` returns begin.
OWN_CLASS, GLOBALS = "__class__", "globals()"

# Ways from one object to the next: an attribute, an item with a constant key, an item whose key is a variable, and one
# whose key is computed by a formula.
ATTRIBUTE, CONSTANT, VARIABLE, COMPUTED = range(4)

# What a formula is: a constant, the object at the end of a path, a length, or an operation with two formulas.
LITERAL, PATH, LENGTH = range(3)
OPERATIONS = {ast.Add: 3, ast.Sub: 4, ast.Mult: 5, ast.FloorDiv: 6, ast.Mod: 7}


class Effects:
    """What a line may change: variables of its function and of its module, objects as a whole, single attributes and
    items of objects, objects somewhere in others, and whether what a call in it returns, or the name of the method that
    returns the only one of those in others, as in `self.output().value = 1`. And what it reads items of, as
    a `defaultdict` makes those that it has not, objects of which it gives a method away, whether a function begins there
    whose object keeps what it returns, and whether something may be changed before another function is called, as in
    `use(items.pop())`."""

    __slots__ = ("names", "shared", "paths", "slots", "below", "read", "given", "returned", "keeps", "early")

    def __init__(
        self, names=(), shared=(), paths=(), slots=(), below=(), read=(), given=(), returned=False, keeps=False, early=False
    ):
        self.names, self.shared, self.paths, self.slots = names, shared, paths, slots
        self.below, self.read, self.given = below, read, given
        self.returned, self.keeps, self.early = returned, keeps, early

    def when(self, reading_changes):
        """The same where reading an item may make it, or not; None if the line changes nothing then."""
        read = self.read if reading_changes else ()
        parts = (self.names, self.shared, self.paths, self.slots, self.below, read, self.given, self.returned)
        return Effects(*parts, early=self.early) if any(parts) else None


NOTHING = Effects()


def effects_in(source, path):
    """The effects of the lines of a file, by line; none for a line that changes nothing."""
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    lines = {}
    visit_body(tree, lines)
    # `push = items.append` and the like: such a function changes what it belongs to.
    bound = {name for node in ast.walk(tree) if is_binding(node) for target in node.targets for name in all_names(target)}
    for found in lines.values():
        found.paths.update({(name, ()): True for name in found.called & bound})
    return {line: found.effects() for line, found in lines.items()}


class Found:
    """What is found for a line."""

    def __init__(self):
        self.names, self.shared, self.paths, self.slots, self.below, self.read = set(), set(), {}, {}, {}, {}
        self.given = {}
        self.returned = self.keeps = False
        # Whether a method or a function is called that changes something, and another one.
        self.mutates = self.calls = self.early = False
        # The names of functions that are called, and how often those of methods, and of those of whose results something
        # is changed.
        self.called, self.methods, self.made = set(), collections.Counter(), collections.Counter()
        # Those of the paths that are changed for certain.
        self.changed = set()

    def add(self, other):
        self.early |= other.early or bool(self.changed) and other.calls
        for name, value in vars(other).items():
            if type(value) is bool:
                setattr(self, name, getattr(self, name) or value)
            else:
                getattr(self, name).update(value)

    def passed(self, node):
        """An object is given to a function that may change it. Where the program's own do, their lines say so."""
        path, _ = path_of(node)
        if path is not None:
            self.paths[path] = True

    def change(self, node):
        """The object that an expression gives is changed."""
        path, is_whole = path_of(node)
        if is_whole:
            self.paths[path] = True
            self.changed.add(path)
        else:
            self.change_below(node, path)

    def change_below(self, node, path):
        """The same for an expression whose path ends early: the object is somewhere below."""
        paths = [path] if path is not None else [(name, ()) for name in loaded_names(node)]
        self.below.update(dict.fromkeys(paths, True))
        # What a method returns is known when it does so.
        self.made[node.func.attr if isinstance(node, ast.Call) and path is not None else None] += 1
        self.returned |= path is None

    def store(self, node):
        """An attribute or an item is stored, or deleted."""
        of, is_whole = path_of(node.value)
        if not is_whole:
            self.change_below(node.value, of)
            return
        path, is_known = path_of(node)
        if is_known and isinstance(node.ctx, ast.Store):
            self.slots[of + (path[1][-1],)] = True
        else:
            self.paths[of] = True
        self.changed.add(of)

    def load(self, node):
        """An item is read."""
        path, _ = path_of(node.value)
        if path is not None and not isinstance(node.slice, ast.Slice):
            self.read[path] = True

    def give(self, node):
        """A method is not called here, but what gets it may do so at any time: `later(items.append, 1)`."""
        path, is_whole = path_of(node.value)
        if is_whole:
            self.given[path] = True

    def execute(self, scope):
        """The line runs code that is not known, which may change what has a name in the function."""
        names = {each.id for each in ast.walk(scope) if isinstance(each, ast.Name)}
        self.names |= names
        self.paths.update({(name, ()): True for name in [*names, GLOBALS]})

    def call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in HARMLESS:
            return
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
        if isinstance(node.func, ast.Attribute):
            self.methods[name] += 1
            (self.change if name in METHODS else self.passed)(node.func.value)
        elif isinstance(node.func, ast.Name):
            self.called.add(name)
        if name in (METHODS if isinstance(node.func, ast.Attribute) else FUNCTIONS):
            self.mutates = True
        else:
            self.calls = True
        for index, argument in enumerate(node.args + [keyword.value for keyword in node.keywords]):
            (self.change if name in FUNCTIONS and index == 0 else self.passed)(argument)

    def free(self):
        return self.paths, self.below, self.read, self.given

    def comprehend(self, node, inner):
        """What a comprehension changes. Its variables are its own, and what they hold is somewhere in what it iterates."""
        own = {name for each in node.generators for name in all_names(each.target)}
        self.names |= inner.names - own
        self.called |= inner.called - own
        self.methods += inner.methods
        # It may call a method many times.
        self.made[None] += bool(inner.made or inner.changed)
        self.mutates |= inner.mutates
        self.calls |= inner.calls
        for ours, theirs in zip(self.free(), inner.free()):
            ours.update({path: True for path in theirs if path[0] not in own})
        if any(path[0] in own for path in [*inner.changed, *inner.below]):
            iterated = {name for each in node.generators for name in loaded_names(each.iter)}
            self.below.update({(name, ()): True for name in iterated - own})

    def effects(self):
        slots = [slot for slot in self.slots if slot[:2] not in self.paths]
        # The accelerator compares names by identity.
        names = tuple(map(sys.intern, sorted(self.names)))
        shared, below = tuple(sorted(self.shared)), tuple(self.below)
        made = next(iter(self.made)) if sum(self.made.values()) == 1 else None
        returned = made if made is not None and self.methods[made] == 1 else self.returned
        # What only this method returns is changed after it was called.
        is_late = returned is made and not self.changed and not self.called and self.methods.keys() - METHODS == {made}
        early = self.early or self.mutates and self.calls and not is_late
        read, given = tuple(self.read), tuple(self.given)
        return Effects(names, shared, tuple(self.paths), tuple(slots), below, read, given, returned, self.keeps, early)


def ends_iteration(code, at, kind):
    """Whether an exception of a type at an instruction says that `for`, `await` or `yield from` is over."""
    return issubclass(kind, StopIteration) and at >= 0 and code.co_code[at] in ITERATING


def visit_body(scope, lines):
    """The statements of a scope."""
    # Names that functions inside it may store.
    inner = {name for node in ast.walk(scope) if isinstance(node, ast.Nonlocal) for name in node.names}
    shared = {name for node in statements_in(scope) if isinstance(node, ast.Global) for name in node.names}
    for statement in statements_in(scope):
        found = Found()
        if collect(statement, found):
            found.names |= inner
        if found.called & EXECUTING:
            found.execute(scope)
        found.shared = found.names & shared
        found.names -= shared
        add_to(lines, *span_of(statement), found)
        if isinstance(statement, ast.ExceptHandler) and statement.name:
            # Python deletes the name where the handler ends.
            gone = Found()
            (gone.shared if statement.name in shared else gone.names).add(statement.name)
            for below in statements_in(statement):
                add_to(lines, *span_of(below), gone)
        for node in own_parts(statement):
            visit_lambdas(node, lines)
    for node in scopes_in(scope):
        visit_body(node, lines)


def span_of(statement):
    """The first and the last line of a statement without the statements in it."""
    line = statement.pattern.lineno if type(statement).__name__ == "match_case" else statement.lineno
    return min([line] + [each.lineno for each in getattr(statement, "decorator_list", ())]), last_line(statement)


def add_to(lines, first, last, found):
    for line in range(first, last + 1):
        lines.setdefault(line, Found()).add(found)


def visit_lambdas(expression, lines):
    """What the functions in an expression change when they are called."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Lambda):
            found = Found()
            collect(ast.Expr(value=node.body), found)
            add_to(lines, node.body.lineno, node.body.end_lineno, found)


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
    names = found.names
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names.add(statement.name)
        found.keeps = any(all_names(each) & KEEPING or getattr(each, "attr", None) in KEEPING for each in statement.decorator_list)
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        names.update((each.asname or each.name).split(".")[0] for each in statement.names)
        if "*" in names:
            found.paths[GLOBALS, ()] = True
    elif isinstance(statement, ast.ExceptHandler) and statement.name:
        names.add(statement.name)
    elif isinstance(statement, (ast.For, ast.AsyncFor, ast.While)) and statement.body[0].lineno == statement.lineno:
        # What is on its line runs many times.
        found.made[None] += 1
    waiting = own_parts(statement)
    # Those that are called here, or through the name that they get (`is_binding`).
    not_given = set(bound_by(statement))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            found.store(node)
        elif isinstance(node, ast.Subscript):
            found.load(node)
        elif isinstance(node, ast.Attribute):
            if node.attr in METHODS and node not in not_given:
                found.give(node)
        elif isinstance(node, ast.Call):
            calls = True
            found.call(node)
            not_given.add(node.func)
        elif isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
            calls = True
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            names.add(node.name)
        elif type(node).__name__ == "MatchMapping" and node.rest:
            names.add(node.rest)
        if isinstance(node, COMPREHENSIONS):
            inner = Found()
            parts = [collect(ast.Expr(value=child), inner) for child in ast.iter_child_nodes(node)]
            found.comprehend(node, inner)
            calls = calls or any(parts)
            continue
        waiting.extend(ast.iter_child_nodes(node))
    if isinstance(statement, ast.AugAssign):
        # `items += more` changes the list itself. In what a method returns, it is compared with that.
        is_in_result = isinstance(getattr(statement.target, "value", None), ast.Call)
        made = found.made.copy()
        found.change(statement.target)
        found.made = made if is_in_result else found.made
    return calls


def is_binding(node):
    return isinstance(node, ast.Assign) and isinstance(node.value, (ast.Attribute, ast.Call, ast.Tuple))


def bound_by(statement):
    """The methods that become variables of a function."""
    if not is_binding(statement) or not all(isinstance(each, (ast.Name, ast.Tuple)) for each in statement.targets):
        return []
    return statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]


def all_names(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def loaded_names(node):
    """The variables that an expression reads, but for those of functions in it."""
    if isinstance(node, ast.Lambda):
        return set()
    names = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    return names.union(*map(loaded_names, ast.iter_child_nodes(node)))


def path_of(node):
    """The path of an expression, or of as much of it as has one, and whether that is the whole expression."""
    steps, is_whole = [], True
    while True:
        if isinstance(node, ast.Starred):
            node = node.value
        elif isinstance(node, ast.Attribute):
            steps.append((ATTRIBUTE, node.attr))
            node = node.value
        elif isinstance(node, ast.Subscript):
            key = node.slice
            key = getattr(key, "value", key) if type(key).__name__ == "Index" else key
            if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub) and is_index(key.operand):
                steps.append((CONSTANT, -key.operand.value))
            elif isinstance(key, ast.Constant) and type(key.value) in (int, str):
                steps.append((CONSTANT, key.value))
            elif isinstance(key, ast.Name):
                steps.append((VARIABLE, key.id))
            else:
                formula = formula_of(key)
                if formula is None:
                    # What comes after an unknown item is not known either.
                    steps.clear()
                    is_whole = False
                else:
                    steps.append((COMPUTED, formula))
            node = node.value
        elif isinstance(node, ast.Call):
            # What a call returns has no name; what it was called on may be part of it.
            if is_call_of("super", node, 0):
                return ("self", tuple(reversed(steps))), is_whole
            if is_call_of("globals", node, 0):
                return (GLOBALS, tuple(reversed(steps))), is_whole
            if is_call_of("type", node, 1):
                steps.append((ATTRIBUTE, OWN_CLASS))
                node = node.args[0]
                continue
            steps.clear()
            is_whole = False
            if not isinstance(node.func, ast.Attribute) or node.func.attr in PICKING:
                return None, False
            node = node.func.value
        elif isinstance(node, ast.Name):
            return (node.id, tuple(reversed(steps))), is_whole
        else:
            return None, False


def is_call_of(name, node, count):
    """Whether a call is one of a built-in function with this many arguments."""
    return isinstance(node.func, ast.Name) and node.func.id == name and len(node.args) == count and not node.keywords


def is_index(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


def formula_of(node):
    """How a key can be computed again without running code of the program; None if it cannot."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, str):
        return LITERAL, node.value
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        path, is_whole = path_of(node)
        return (PATH, *path) if is_whole else None
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = formula_of(node.left), formula_of(node.right)
        return (OPERATIONS[type(node.op)], left, right) if left is not None and right is not None else None
    if isinstance(node, ast.Call) and is_call_of("len", node, 1):
        of = formula_of(node.args[0])
        return (LENGTH, of) if of is not None else None
    return None
