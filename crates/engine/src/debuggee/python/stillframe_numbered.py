"""Maps instructions to source positions, for Python before 3.11, whose code only has lines.

The source is compiled again with a number for each node in place of its line, so that the lines of that code are node
numbers. Both code objects have the same instructions, except for those that only represent a line.
"""

import ast
import dis
import itertools
import tokenize
import types

# Instructions that only one of them may have: they represent a line, or the high bits of an argument.
FILLING = ("NOP", "EXTENDED_ARG")

# The spans of a code object's instructions, by offset.
known = {}


def span_of(code, offset):
    """Two lines and two columns, or None if unknown."""
    if code not in known:
        try:
            known[code] = spans_of(code)
        except Exception:
            known[code] = {}
    return known[code].get(offset)


def spans_of(code):
    with tokenize.open(code.co_filename) as source:
        tree = ast.parse(source.read())
    spans = [None]
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            spans.append((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset))
            node.lineno = node.end_lineno = len(spans) - 1
            node.col_offset = node.end_col_offset = 0
    whole = compile(tree, code.co_filename, "exec", dont_inherit=True)
    own = instructions(code)
    for twin in codes_in(whole):
        first = spans[twin.co_firstlineno] if twin.co_firstlineno < len(spans) else None
        is_here = twin.co_name == "<module>" or first is not None and first[0] == code.co_firstlineno
        if is_here and twin.co_name == code.co_name:
            # They may differ in the return at the end of a function.
            pairs = itertools.takewhile(is_same, zip(own, instructions(twin)))
            numbers = dict(lines_of(twin))
            return {mine[0]: spans[numbers[its[0]]] for mine, its in pairs}
    return {}


def is_same(pair):
    (_, name), (_, other) = pair
    return name == other


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from codes_in(constant)


def instructions(code):
    return [(each.offset, each.opname) for each in dis.get_instructions(code) if each.opname not in FILLING]


def lines_of(code):
    line = 0
    for each in dis.get_instructions(code):
        line = each.starts_line or line
        yield each.offset, line
