"""Walks syntax trees, as `ast` does, whose import takes longer than the analysis of a source."""

import _ast


def children(node):
    """The nodes directly below a node."""
    for field in node._fields:
        value = getattr(node, field, None)
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, _ast.AST):
                yield each


def walk(node):
    """A node and all nodes below it, level by level."""
    found = [node]
    for each in found:
        found.extend(children(each))
    return found
