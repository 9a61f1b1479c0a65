"""The comparison of a failed assertion, with the values of both sides.

Nothing is called again. The sides of a plain `assert` are read if that runs no code of the program, and if what ran
after them cannot have changed them; pytest passes the values of a comparison to a hook; and assertion functions of a
library, such as `assertEqual`, have their arguments in a frame that the traceback keeps.
"""

import ast
import operator
import re
import sys

from stillframe_modules import load
from stillframe_types import type_name

pure = load("stillframe_pure")

# The last comparison that pytest explained: operator, left, right.
compared = None

COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
# The operators that unittest's functions check.
METHODS = {
    "assertEqual": "==",
    "assertNotEqual": "!=",
    "assertIs": "is",
    "assertIsNot": "is not",
    "assertIn": "in",
    "assertNotIn": "not in",
    "assertGreater": ">",
    "assertGreaterEqual": ">=",
    "assertLess": "<",
    "assertLessEqual": "<=",
    "assertListEqual": "==",
    "assertTupleEqual": "==",
    "assertDictEqual": "==",
    "assertSetEqual": "==",
    "assertMultiLineEqual": "==",
    "assertSequenceEqual": "==",
}
# Functions that test one argument.
ALONE = frozenset(("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"))


def of(frame, error, trace, text):
    """The failed assertion in a user frame, or None. `text` returns a value's text and whether it is truncated. A side
    is a pair of its source and its value: text, type, truncated."""
    if not isinstance(error, AssertionError):
        return None
    inner = called_by(frame, trace)
    if inner is not None:
        return of_function(frame, inner, text)
    return of_statement(frame, error, text)


def called_by(frame, trace):
    """The library frame of the assertion function that a frame called."""
    while trace is not None and trace.tb_frame is not frame:
        trace = trace.tb_next
    while trace is not None and trace.tb_frame is frame:
        trace = trace.tb_next
    return trace.tb_frame if trace is not None and "assert" in trace.tb_frame.f_code.co_name.lower() else None


# ---------------------------------------------------------------------------------------------------------
# Assertion functions


def of_function(frame, inner, text):
    """`self.assertEqual(first, second)` and its like: the first arguments are the sides."""
    code = inner.f_code
    names = [name for name in code.co_varnames[: code.co_argcount] if name not in ("self", "cls")]
    name = code.co_name
    call = call_on(frame, name)
    if call is None and name.startswith("wrap_"):
        # What pytest-mock puts in the place of a mock's functions.
        name = name[len("wrap_") :]
        call = call_on(frame, name)
    sources = [source(frame, node) for node in call.args] if call is not None else []
    count = 1 if name in ALONE else 2
    values = inner.f_locals
    sides = []
    for at, argument in enumerate(names[:count]):
        if argument in ("msg", "message", "err_msg") or argument not in values:
            break
        shown = sources[at] if at < len(sources) else None
        sides.append((shown, valued(values[argument], text)))
    return {
        "expression": source(frame, call) if call is not None else None,
        "operator": METHODS.get(name, name),
        "left": sides[0] if sides else None,
        "right": sides[1] if len(sides) > 1 else None,
    }


def call_on(frame, name):
    """The call of a function in the statement that a frame is at."""
    statement = statement_of(frame)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", None)) == name:
            return node
    return None


# ---------------------------------------------------------------------------------------------------------
# Assert statements


def of_statement(frame, error, text):
    statement = statement_of(frame)
    if not isinstance(statement, ast.Assert):
        return None
    test = statement.test
    found = {"expression": source(frame, test), "operator": None, "left": None, "right": None}
    if isinstance(test, ast.Compare):
        compare(found, test, frame, error, text)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found["operator"] = "not"
        found["left"] = side(test.operand, frame, text, explained(error, "not "))
    else:
        found["left"] = side(test, frame, text, explained(error, ""))
    return found


def compare(found, test, frame, error, text):
    """The two sides of a comparison; for a chain, of the part that fails."""
    operands = [test.left] + test.comparators
    pairs = list(zip(operands, test.ops, operands[1:]))
    if compared is not None and is_rewritten(frame):
        _, left, right = compared
        pair = next((each for each in pairs if is_of(each, compared, frame)), pairs[0])
        found["left"] = (source(frame, pair[0]), valued(left, text))
        found["right"] = (source(frame, pair[2]), valued(right, text))
    else:
        failing = [each for each in pairs if fails(each, frame)]
        if len(pairs) > 1 and not failing:
            return
        pair = (failing or pairs)[0]
        is_same = is_unchanged(pair[0], pair[2], frame)
        found["left"] = side(pair[0], frame, text, None) if is_same else (source(frame, pair[0]), None)
        found["right"] = side(pair[2], frame, text, None)
    found["operator"] = COMPARISONS.get(type(pair[1]))


def is_unchanged(node, later, frame):
    """Whether an operand still has the value that was compared. A later one may run code of the program, but that cannot
    assign to variables of this function, unless nested functions share them."""
    try:
        plain(later, frame)
        return True
    except LookupError:
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    stored = [each.id for each in ast.walk(later) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    code = frame.f_code
    own = set(code.co_varnames).difference(code.co_cellvars, stored)
    return not names or isinstance(node, ast.Name) and node.id in own


def is_of(pair, compared, frame):
    """Whether a comparison of a chain may be the one that pytest speaks of."""
    symbol, left, right = compared
    if COMPARISONS.get(type(pair[1])) != symbol:
        return False
    for node, value in ((pair[0], left), (pair[2], right)):
        try:
            known = plain(node, frame)
        except LookupError:
            continue
        if type(known) in (int, float, str) and (type(known) is not type(value) or known != value):
            return False
    return True


def fails(pair, frame):
    """Whether a comparison of plain values is known to be false."""
    try:
        left, right = plain(pair[0], frame), plain(pair[2], frame)
    except LookupError:
        return False
    known = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
    holds = known.get(COMPARISONS.get(type(pair[1])))
    is_plain = type(left) in (int, float, str) and type(right) in (int, float, str)
    try:
        return holds is not None and is_plain and not holds(left, right)
    except TypeError:
        return False


def is_rewritten(frame):
    """Whether pytest has rewritten, and therefore explained, the statement."""
    return any(name.startswith("@py_assert") for name in frame.f_code.co_varnames + frame.f_code.co_names)


def explained(error, before):
    """pytest's text for the value: `assert TEXT`, followed by its origin."""
    message = error.args[0] if error.args and type(error.args[0]) is str else ""
    line = message.splitlines()[0] if message else ""
    found = re.match(r"assert %s(.+)$" % before, line)
    return [found.group(1), "", False] if found else None


def side(node, frame, text, otherwise):
    try:
        value = valued(plain(node, frame), text)
    except LookupError:
        value = otherwise
    return (source(frame, node), value)


def valued(value, text):
    shown, cut = text(value)
    return [shown, type_name(value), cut]


# ---------------------------------------------------------------------------------------------------------
# Values


def plain(node, frame):
    """The value of an expression that runs no code of the program; otherwise LookupError."""
    try:
        return pure.Evaluation(source_of(frame)[1], frame).value(node)
    except Exception as error:
        raise LookupError from error


# ---------------------------------------------------------------------------------------------------------
# Source


def source_of(frame):
    """The syntax tree and the text of a frame's file."""
    return sys.modules["stillframe_throws"].tree_of(frame.f_code.co_filename)


def statement_of(frame):
    """The innermost simple statement at which a frame is."""
    try:
        tree, _ = source_of(frame)
    except Exception:
        return None
    at = frame.f_lineno
    found = None
    for node in ast.walk(tree):
        is_simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
        if is_simple and node.lineno <= at <= node.end_lineno:
            if found is None or node.lineno >= found.lineno:
                found = node
    return found


def source(frame, node):
    """The text of an expression, in one line."""
    try:
        _, text = source_of(frame)
        found = ast.get_source_segment(text, node)
    except Exception:
        return None
    return found and " ".join(line.strip() for line in found.splitlines())
