"""Analyzes Python source without running it: which lines have code, where functions and loops are, and whether
conditions and log messages compile.

Reads a request from standard input and writes an answer to standard output, both as JSON. It runs in the interpreter
that will be debugged, because versions differ in which lines have code. The first breakpoint of a session waits for
it, and imports take most of its time: so neither `ast` nor `json` is imported.
"""

import _ast
import sys

from stillframe_tree import children

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:
    from json.encoder import encode_basestring_ascii as quoted

# What begins the end of a zip archive, which Python runs as a program, and how long that end can be.
ARCHIVE = b"PK\x05\x06"
LONGEST_END = 22 + 65535


def main():
    # A long sum is nested as deeply as it has terms.
    sys.setrecursionlimit(10_000)
    # JSON of strings, lists and null is a Python expression.
    request = eval(sys.stdin.read(), {"__builtins__": {}, "null": None})
    answer = {}
    if request.get("file") is not None:
        answer = analyze(request["file"])
    answer["refused"] = refused(request.get("expressions", []), request.get("messages", []))
    sys.stdout.write(as_json(answer))


def as_json(value):
    """The JSON of strings, integers, booleans, None, and lists and dictionaries of these."""
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (quoted(key), as_json(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join(map(as_json, value))
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else repr(value)


def analyze(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        tree = compile(source, path, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        code = compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        if ARCHIVE in source[-LONGEST_END:]:
            return {"lines": [], "length": 0, "functions": [], "loops": []}
        return {"error": "cannot be compiled: " + reason(error) + place(error)}
    lines = set()
    collect_lines(code, lines)
    functions = []
    collect_functions(tree, "", functions)
    functions.sort(key=lambda function: function["start"])
    return {
        "lines": sorted(lines - {0, None}),
        "length": len(source.splitlines()),
        "functions": functions,
        "loops": loops(tree, source),
    }


def loops(tree, source):
    from stillframe_loops import loops_of

    try:
        return loops_of(tree, source)
    except RecursionError:
        # Generated code can be nested more deeply than handwritten code.
        return []


def collect_lines(code, lines):
    lines.update(lines_of(code))
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            collect_lines(constant, lines)


def lines_of(code):
    if hasattr(code, "co_lines"):
        return (line for _, _, line in code.co_lines())
    # Up to Python 3.9.
    from dis import findlinestarts

    return (line for _, line in findlinestarts(code))


def collect_functions(node, around, functions):
    for child in children(node):
        if isinstance(child, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            name = around + child.name
            if not isinstance(child, _ast.ClassDef):
                functions.append(
                    {
                        "name": name,
                        "start": min([child.lineno] + [mark.lineno for mark in child.decorator_list]),
                        "header": child.lineno,
                        "body": first_statement(child),
                        "end": child.end_lineno,
                    }
                )
            collect_functions(child, name + ".", functions)
        else:
            collect_functions(child, around, functions)


def first_statement(function):
    """The line of the first statement after the docstring."""
    body = function.body
    if len(body) > 1 and is_docstring(body[0]):
        body = body[1:]
    first = body[0]
    return min([first.lineno] + [mark.lineno for mark in getattr(first, "decorator_list", ())])


def is_docstring(statement):
    value = getattr(statement, "value", None) if isinstance(statement, _ast.Expr) else None
    return isinstance(value, _ast.Constant) and isinstance(value.value, str)


def refused(expressions, messages):
    """Texts that do not compile, with the reason."""
    found = []
    for text in expressions:
        attempt(found, text, lambda text: compile(text.strip(), "<expression>", "eval", dont_inherit=True))
    if messages:
        from stillframe_messages import log_code
    for text in messages:
        attempt(found, text, log_code)
    return found


def attempt(found, text, check):
    try:
        check(text)
    except (SyntaxError, ValueError) as error:
        found.append({"text": text, "message": reason(error)})


def reason(error):
    return "%s: %s" % (type(error).__name__, getattr(error, "msg", None) or error)


def place(error):
    line = getattr(error, "lineno", None)
    text = (getattr(error, "text", None) or "").strip()
    if line is None:
        return ""
    return " at line %d, `%s`" % (line, text) if text else " at line %d" % line
