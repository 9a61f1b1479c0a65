"""Analyzes loops of Python source without running it; `model::source::Loop` documents each field.

If in doubt, the analysis claims less: the program of a loop that is reported as certainly endless may be killed.
"""

import _ast as ast

from stillframe_tree import children, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.While, ast.For, ast.AsyncFor)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
# Functions and methods whose results have an end, and functions whose results end with their last argument.
FINITE = {"range", "sorted", "reversed", "list", "tuple", "set", "dict", "items", "keys", "values", "split", "splitlines"}
# Methods that add to a collection.
ADDS = {"add", "append", "appendleft", "extend", "extendleft", "insert", "update"}
WRAPPERS = {"enumerate", "zip", "map", "filter"}
# What is known to have an end by the source.
HAS_END = "true"
# Expressions whose value always has a length.
COLLECTIONS = {"list", "dict", "set", "deque", "defaultdict", "OrderedDict"}
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
# A signal handler can run between any two instructions, and change or raise anything.
SIGNALS = {"signal", "_signal"}


def loops_of(tree, source):
    """The loops of a module, sorted by first line."""
    found = []
    collect(tree, tree, Module(tree, source), found)
    return found


class Module:
    """The context shared by all loops of a module."""

    def __init__(self, tree, source):
        self.tree = tree
        self.lines = decoded(source).splitlines()
        self.handles_signals = any(SIGNALS & set(imported(node)) for node in walk(tree))

    def text(self, node):
        """The source of an expression; None if it spans several lines."""
        if node.lineno != node.end_lineno:
            return None
        # Columns of the syntax tree are in bytes.
        return self.lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()


def decoded(source):
    # A declaration is in one of the first two lines; without one, the encoding is UTF-8.
    if not any(b"coding" in line for line in source.splitlines()[:2]):
        return source.decode("utf-8-sig")
    from importlib.util import decode_source

    return decode_source(source)


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) else []


def collect(node, scope, module, found):
    """Add the loops in a node; `scope` is the enclosing function or module."""
    for child in children(node):
        if isinstance(child, LOOPS):
            found.append(describe(child, scope, module))
        collect(child, child if isinstance(child, FUNCTIONS) else scope, module, found)


def describe(loop, scope, module):
    is_while = isinstance(loop, ast.While)
    assigned = names_assigned(loop)
    is_left = leaves(loop.body)
    return {
        "start": loop.lineno,
        "end": loop.body[-1].end_lineno,
        "goes_through": not is_while,
        "end_known": end_known(loop.iter, loop, module) if isinstance(loop, ast.For) else None,
        "has_exit": is_left,
        "is_endless": not is_left and (truth(loop.test) is True if is_while else has_no_end(loop.iter)),
        "is_certain": is_while and not module.handles_signals and is_certain(loop, assigned),
        "is_closed": is_while and is_closed(loop),
        "condition": list(conditions(loop, scope, module)),
        "variables": names_in_head(loop),
        "assigned": assigned,
    }


def has_no_end(iterated):
    """Whether a `for` iterates over an infinite iterator: `itertools.count()`, `itertools.cycle(names)`."""
    called = iterated.func if isinstance(iterated, ast.Call) else None
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "itertools":
        return called.attr in ("count", "cycle") or (called.attr == "repeat" and len(iterated.args) == 1)
    return False


def end_known(iterated, loop, module):
    """An expression that is true if what a loop iterates over has an end; None if that is unknown."""
    if isinstance(iterated, DISPLAYS + (ast.Tuple, ast.Constant, ast.JoinedStr)):
        return HAS_END
    if isinstance(iterated, ast.Subscript) and isinstance(iterated.slice, ast.Slice):
        return HAS_END
    if isinstance(iterated, ast.Call):
        function = iterated.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
        if called in FINITE:
            return HAS_END
        if called in WRAPPERS and iterated.args:
            return end_known(iterated.args[0 if called == "enumerate" else -1], loop, module)
        return None
    written = is_readable(iterated) and module.text(iterated)
    return "len(%s) >= 0" % written if written and not adds_to(loop.body, written, module) else None


def adds_to(nodes, name, module):
    """Whether any of these nodes in the body of a loop adds to the collection with this name."""
    for node in nodes:
        changed = None
        if isinstance(node, ast.AugAssign):
            changed = node.target
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ADDS:
            changed = node.func.value
        if (changed and module.text(changed) == name) or adds_to(children(node), name, module):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------
# Loop exits


def leaves(statements, inside=False):
    """Whether any of these nodes in a loop's body may exit it; `inside` is true in an inner loop, whose `break` exits
    only that one."""
    return any(leaves_by(each, inside) for each in statements)


def leaves_by(node, inside):
    if isinstance(node, (ast.Return, ast.Raise, ast.Assert, ast.Yield, ast.YieldFrom, ast.Await)):
        return True
    if isinstance(node, (ast.AsyncFor, ast.AsyncWith)) or getattr(node, "is_async", False):
        return True
    if isinstance(node, ast.Break):
        return not inside
    if isinstance(node, LOOPS):
        head = [node.test] if isinstance(node, ast.While) else [node.iter]
        return leaves(head + node.body, True) or leaves(node.orelse, inside)
    if isinstance(node, FUNCTIONS):
        return False
    return leaves(children(node), inside)


def truth(test):
    """The constant truth value of a condition, or None."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand)
        return None if inner is None else not inner
    return None


# Nodes that run other code, suspend the function, or read what other code may change.
OPEN = (ast.Call, ast.Attribute, ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom, ast.For, ast.With, ast.Import)
OPEN += (ast.ImportFrom, ast.AsyncFor, ast.AsyncWith, ast.ClassDef) + FUNCTIONS + COMPREHENSIONS


def is_closed(loop):
    """Whether the next iteration depends only on variables."""
    return not any(isinstance(each, OPEN) for each in walk(loop))


# ---------------------------------------------------------------------------------------------------------
# Certainty


def is_certain(loop, assigned):
    """Whether nothing in the loop can raise or run other code, in this or a later iteration, and no name of the
    condition is assigned."""
    if truth(loop.test) is False or leaves(loop.body):
        return False
    names = set()
    if truth(loop.test) is None and not is_plain(loop.test, names):
        return False
    if names & set(assigned):
        return False
    first = first_statements(loop.body)
    # Every iteration's statements have succeeded once by the time of the analysis.
    numbers = {name for each in first for name in assigned_numbers(each)}
    known = names | numbers
    for each in first:
        if isinstance(each, ast.If):
            is_plain(each.test, known)
    return all(is_harmless(each, numbers, known) for each in loop.body)


def first_statements(body):
    """The statements with which every iteration begins."""
    first = []
    for each in body:
        if isinstance(each, LOOPS):
            break
        first.append(each)
        if any(isinstance(inner, (ast.Continue,) + LOOPS) for inner in walk(each)):
            break
    return first


def assigned_numbers(statement):
    """The names to which a statement assigns an integer, if it does nothing else."""
    if isinstance(statement, ast.Assign) and is_integer(statement.value):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if is_count(statement):
        return [statement.target.id]
    return []


def is_integer(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def is_count(node):
    """`i += 1` and the like."""
    return (
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.op, (ast.Add, ast.Sub))
        and is_integer(node.value)
    )


def is_plain(node, names):
    """Whether an expression consists of names, constants and comparisons. Add its names to `names`."""
    if isinstance(node, ast.Name):
        names.add(node.id)
        return True
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_plain(node.operand, names)
    if isinstance(node, ast.BoolOp):
        # Operands after the first are not always evaluated, so they have a separate set.
        rest = set()
        plain = is_plain(node.values[0], names) and all([is_plain(each, rest) for each in node.values[1:]])
        return plain and rest <= names
    if isinstance(node, ast.Compare):
        operators = all(isinstance(operator, tuple(SIGNS) + (ast.Is, ast.IsNot)) for operator in node.ops)
        sides = [node.left] + node.comparators
        # Only the first two of a chain are always compared.
        return operators and len(sides) == 2 and all([is_plain(side, names) for side in sides])
    return False


def is_harmless(node, numbers, known):
    """Whether a statement can neither raise nor exit the loop."""
    if isinstance(node, (ast.Pass, ast.Continue, ast.Break)):
        # This `break` belongs to an inner loop; others were checked before.
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        names = assigned_numbers(node)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return len(names) == len(targets) and set(names) <= numbers
    if isinstance(node, ast.If):
        return is_harmless_test(node.test, numbers, known) and all(
            is_harmless(each, numbers, known) for each in node.body + node.orelse
        )
    if isinstance(node, ast.While):
        return is_harmless_test(node.test, numbers, known) and all(
            is_harmless(each, numbers, known) for each in node.body + node.orelse
        )
    if isinstance(node, ast.For):
        is_literal = isinstance(node.iter, (ast.Tuple, ast.List)) and all(map(is_integer, node.iter.elts))
        target = isinstance(node.target, ast.Name) and node.target.id in numbers
        return is_literal and target and all(is_harmless(each, numbers, known) for each in node.body + node.orelse)
    return False


def is_harmless_test(test, numbers, known):
    names = set()
    if not is_plain(test, names) or not names <= known:
        return False
    # Any value can be tested for truth again; only comparisons of numbers are certain not to raise.
    nodes = list(walk(test))
    compares = any(isinstance(each, ast.Compare) for each in nodes)
    constants = (each for each in nodes if isinstance(each, ast.Constant))
    return not compares or names <= numbers and all(map(is_integer, constants))


# ---------------------------------------------------------------------------------------------------------
# Loop headers


def conditions(loop, scope, module):
    """The comparisons that must all be true for the loop to continue. `for i in range(n)` continues while `i < n`, if
    the body assigns neither."""
    if isinstance(loop, ast.While):
        yield from compared(loop.test, scope, module)
    elif isinstance(loop, ast.For) and isinstance(loop.target, ast.Name):
        counted = range_end(loop.iter)
        written = counted is not None and is_readable(counted) and module.text(counted)
        if written and not (names_read(counted) | {loop.target.id}) & set(stored(loop.body)):
            yield {"left": loop.target.id, "operator": "<", "right": written}


def range_end(node):
    """The end of an ascending range."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
        return None
    if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    if len(node.args) == 3 and not (is_integer(node.args[2]) and node.args[2].value > 0):
        return None
    return node.args[min(1, len(node.args) - 1)] if 1 <= len(node.args) <= 3 else None


def compared(test, scope, module):
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from compared(each, scope, module)
    elif isinstance(test, ast.Compare):
        sides = [test.left] + test.comparators
        for left, operator, right in zip(sides, test.ops, sides[1:]):
            sign, written = SIGNS.get(type(operator)), [module.text(left), module.text(right)]
            if sign and all(written) and is_readable(left) and is_readable(right):
                yield {"left": written[0], "operator": sign, "right": written[1]}
    else:
        is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        test = test.operand if is_not else test
        written = not isinstance(test, (ast.Constant, ast.Compare)) and is_readable(test) and module.text(test)
        if written:
            # A known collection is reported by its length and a number by its value; anything else turns out not to be
            # a number when it is evaluated.
            has_length = isinstance(test, ast.Name) and is_collection(test.id, scope, module.tree)
            left = "len(%s)" % written if has_length else written
            yield {"left": left, "operator": "==" if is_not else "!=", "right": "0"}


def is_readable(node):
    """Whether evaluating an expression calls nothing but `len` of a name."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return is_readable(node.value)
    if isinstance(node, ast.Subscript):
        # Up to Python 3.8 an index is wrapped.
        index = node.slice.value if type(node.slice).__name__ == "Index" else node.slice
        return is_readable(node.value) and is_readable(index)
    if isinstance(node, ast.BinOp):
        return is_readable(node.left) and is_readable(node.right)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and is_readable(node.operand)
    if isinstance(node, ast.Call):
        is_len = isinstance(node.func, ast.Name) and node.func.id == "len" and not node.keywords
        return is_len and len(node.args) == 1 and isinstance(node.args[0], ast.Name)
    return False


def is_collection(name, scope, tree):
    """Whether only new collections are ever bound to a name, in a function or its module."""
    if name in parameters(scope):
        return False
    nodes = list(walk(scope))
    bound = sum(each == name for node in nodes for each in names_bound(node))
    if bound == 0 and scope is not tree:
        return is_collection(name, tree, tree)
    values = [
        node.value
        for node in nodes
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in getattr(node, "targets", None) or [node.target]
        if isinstance(target, ast.Name) and target.id == name
    ]
    return 0 < bound == len(values) and all(map(makes_collection, values))


def makes_collection(node):
    if isinstance(node, ast.Call):
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
        return called in COLLECTIONS
    return isinstance(node, DISPLAYS)


def parameters(scope):
    if not isinstance(scope, FUNCTIONS):
        return set()
    return {node.arg for node in walk(scope.args) if isinstance(node, ast.arg)}


def names_in_head(loop):
    """The names that the loop header counts, iterates or compares; not those that it calls."""
    head = [loop.test] if isinstance(loop, ast.While) else [loop.target, loop.iter]
    called = {id(node.func) for part in head for node in walk(part) if isinstance(node, ast.Call)}
    names = [
        (node.lineno, node.col_offset, node.id)
        for part in head
        for node in walk(part)
        if isinstance(node, ast.Name) and id(node) not in called
    ]
    return list(dict.fromkeys(name for _, _, name in sorted(names)))


def names_read(node):
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}


def names_assigned(loop):
    head = [loop.test] if isinstance(loop, ast.While) else [loop.target, loop.iter]
    return list(dict.fromkeys(stored(head + loop.body)))


def stored(nodes):
    """Each binding of a name by these nodes, in order, without those inside functions and classes."""
    for node in nodes:
        yield from names_bound(node)
        if isinstance(node, COMPREHENSIONS):
            # Their variables are invisible outside, except for `name := value`.
            yield from stored(each.target for each in walk(node) if isinstance(each, ast.NamedExpr))
        elif not isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            yield from stored(children(node))


def names_bound(node):
    """The names that a node itself binds, without nested nodes."""
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    # Functions, classes, exception handlers, and captures of `match`.
    names = [getattr(node, "name", None), getattr(node, "rest", None)]
    return [name for name in names if isinstance(name, str)]
