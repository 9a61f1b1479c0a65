"""Analyzes Python source without running it: which lines have code, where functions and loops are, and whether
conditions and log messages compile.

Reads a request from standard input and writes an answer to standard output, both as JSON. It runs in the interpreter
that will be debugged, because versions differ in which lines have code.
"""

import ast
import dis
import importlib
import json
import os
import sys


def main():
    # A long sum is nested as deeply as it has terms.
    sys.setrecursionlimit(10_000)
    request = json.load(sys.stdin)
    answer = {}
    if request.get("file") is not None:
        answer = analyze(request["file"])
    answer["refused"] = refused(request.get("expressions", []), request.get("messages", []))
    json.dump(answer, sys.stdout)


def analyze(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        tree = ast.parse(source, path)
        code = compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return {"error": "cannot be compiled: " + reason(error) + place(error)}
    lines = set()
    collect_lines(code, lines)
    lines.discard(0)
    functions = []
    collect_functions(tree, "", functions)
    functions.sort(key=lambda function: function["start"])
    return {
        "lines": sorted(lines),
        "length": len(source.splitlines()),
        "functions": functions,
        "loops": loops(tree, source),
    }


def loops(tree, source):
    try:
        return ours("stillframe_loops").loops_of(tree, source)
    except RecursionError:
        # Generated code can be nested more deeply than handwritten code.
        return []


def ours(name):
    """Load a module from this file's folder, which an isolated interpreter does not search."""
    beside = os.path.dirname(os.path.abspath(__file__))
    if beside not in sys.path:
        sys.path.insert(0, beside)
    return importlib.import_module(name)


def collect_lines(code, lines):
    lines.update(line for _, line in dis.findlinestarts(code) if line is not None)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            collect_lines(constant, lines)


def collect_functions(node, around, functions):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = around + child.name
            if not isinstance(child, ast.ClassDef):
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
    if len(body) > 1 and ast.get_docstring(function, clean=False) is not None:
        body = body[1:]
    first = body[0]
    return min([first.lineno] + [mark.lineno for mark in getattr(first, "decorator_list", ())])


def refused(expressions, messages):
    """Texts that do not compile, with the reason."""
    found = []
    for text in expressions:
        attempt(found, text, lambda text: compile(text.strip(), "<expression>", "eval", dont_inherit=True))
    if messages:
        log_code = ours("stillframe_agent").log_code
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


if __name__ == "__main__":
    main()
