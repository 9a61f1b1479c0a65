"""Gives the client, LLDB and our recorder the values of expressions, and refuses names that LLDB would take for others."""

import json
import re

import lldb
from stillframe_cpp_unions import TAKEN, is_varying
from stillframe_expressions import ASSIGNMENTS, Evaluation
from stillframe_names import bare
from stillframe_values import Code, Failed, made, spelled

# What a method is called on, as far as it is a path of names, and its name.
METHOD = re.compile(r"([\w.>-]*?)(?:\.|->)\s*([A-Za-z_]\w*)\s*\(")
STREAMS = {"stdin", "stdout", "stderr"}
# A variable with what is read of it.
PATH = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*(?:\.\w+|->\w+|\[[^\[\]]*\])*")
LETTER = re.compile(r"'(?:[^'\\]|\\.)'")
# What calculations have besides variables.
BUILT_IN = {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "const", "sizeof", "true", "false", "nullptr"}
# An enumeration may have operators, as a class may.
SIMPLE = {lldb.eTypeClassBuiltin, lldb.eTypeClassPointer}
HOLDERS = {lldb.eTypeClassPointer, lldb.eTypeClassArray}


def evaluate(types, debugger, command, result):
    """Print an expression for the value of `FRAME EXPRESSION`, or why there is none, as JSON after a marker.

    FRAME is lldb-dap's number for a frame, and EXPRESSION is JSON. Of one that LLDB can evaluate, only the number of items
    is printed, if it has any. `run FRAME EXPRESSION` calls functions of the program, if LLDB could evaluate those alone.
    `pure FRAME EXPRESSION` also prints one that only calculates, because the adapter reads just variables without effects.
    """
    runs, is_pure = command.startswith("run "), command.startswith("pure ")
    number, expression = command.removeprefix("run ").removeprefix("pure ").split(" ", 1)
    frame = frame_numbered(debugger, number)
    try:
        found, form = understood(types, frame, json.loads(expression), runs)
        if found is None or isinstance(found, Code) and not types.HAS_VARIANTS:
            check_methods(frame, json.loads(expression))
        # LLDB compiles nothing for a value that it keeps.
        is_text = types.HAS_VARIANTS and type(found) is str
        if found is not None and not is_text and not isinstance(found, (Code, lldb.SBValue)):
            found = made(debugger.GetSelectedTarget(), found)
        spelling = None if found is None else spelled(found)
        printed = {"as": spelling, "runs": isinstance(found, Code), **form} if spelling else {}
        if is_pure and found is None and calculates(types, frame, json.loads(expression)):
            printed["as"] = json.loads(expression)
        value = frame.GetValueForVariablePath(json.loads(expression)) if found is None else found
        printed["indexed"] = indexed(value) if isinstance(value, lldb.SBValue) else None
        if any(printed.values()):
            result.AppendMessage("evaluated " + json.dumps(printed))
    except Failed as failed:
        result.AppendMessage("evaluated " + json.dumps({"error": str(failed)}))


def calculates(types, frame, expression):
    """Whether an expression calculates with numbers and pointers: it has no call, no assignment and no operator of a class."""
    before, tokens = "", Evaluation(types, frame, expression).tokens
    for kind, text in tokens:
        is_change = text in ASSIGNMENTS | {"++", "--", ","} or kind == "text" or kind == "other" and text not in "?:~"
        is_call = text == "(" and (before in (")", "]") or re.match(r"\w", before[-1:]) and before not in BUILT_IN)
        # Part of what is not a path, whose type is unknown.
        is_part = text in (".", "->", "[") and (before == ")" or before[:1].isdigit())
        if is_change or is_call or is_part or kind == "number" and "_" in text:
            return False
        before = text
    expression = re.sub(r"\s*(->|[.[])\s*", r"\1", LETTER.sub("0", expression))
    follows = any(text == "*" for _, text in tokens)
    return all(is_number(frame, path, follows) for path in paths(expression) if path not in BUILT_IN)


def paths(expression):
    """The variables in an expression and in its indexes, each with what is read of it, and the first for any item."""
    for found in PATH.findall(expression):
        yield re.sub(r"\[[^\[\]]*\]", "[0]", found)
        yield from (path for index in re.findall(r"\[([^\[\]]*)\]", found) for path in paths(index))


def is_number(frame, path, follows):
    """Whether a path leads to a number or a pointer, by pointers and arrays alone; with `follows`, to one that leads to
    a number."""
    def kind(part):
        found = (frame.GetValueForVariablePath(root + part) for root in ("", "this->"))
        value = next((one for one in found if one.IsValid()), lldb.SBValue())
        return value.GetType().GetCanonicalType().GetDereferencedType() or value.GetType().GetCanonicalType()

    through = [kind(path[: found.start()]) for found in re.finditer(r"->|\[", path)]
    found = kind(path)
    while follows and found.IsPointerType():
        found = found.GetPointeeType().GetCanonicalType()
    return found.GetTypeClass() in SIMPLE and all(one.GetTypeClass() in HOLDERS for one in through)


def indexed(value):
    """How many items a container has, which lldb-dap reports only of variables; none for another value."""
    value.SetPreferSyntheticValue(True)
    is_row = value.IsSynthetic() and value.GetChildAtIndex(0).GetName() == "[0]"
    return value.GetNumChildren() if is_row else None


def frame_numbered(debugger, number):
    thread = debugger.GetSelectedTarget().GetProcess().GetThreadByIndexID(int(number) >> 19)
    return thread.GetFrameAtIndex(int(number) & ((1 << 19) - 1))


def understood(types, frame, expression, runs=False, read=Evaluation.result):
    """The value of an expression, and how it is shown; no value for one that only LLDB may understand."""
    # LLDB finds a variable, and decides nothing about it.
    is_value = not runs and read is Evaluation.result
    if is_value and frame.FindVariable(expression).IsValid() and not frame.FindVariable("__closure").IsValid():
        return None, {}
    try:
        evaluation = Evaluation(types, frame, expression, runs)
        check_names(evaluation)
        if runs:
            types.check_calls(evaluation)
        return read(evaluation), evaluation.form
    except Failed:
        raise
    except Exception:
        return None, {}


def check_methods(frame, expression):
    """Refuse a method that is not in the program and has the name of a function of C, which LLDB would call instead, such
    as `error`, which ends the program."""
    target = frame.GetThread().GetProcess().GetTarget()
    for receiver, name in METHOD.findall(expression):
        is_c = any(one.GetSymbol().GetMangledName() in (None, name) for one in target.FindSymbols(name, lldb.eSymbolTypeCode))
        if not is_c:
            continue
        methods = [one.GetSymbol().GetName() or "" for one in target.FindFunctions(name, lldb.eFunctionNameTypeMethod)]
        owners = {plain_class(method, name) for method in methods}
        value = frame.GetValueForVariablePath(receiver)
        classes = classes_of(value.GetType()) if value.IsValid() else None
        # Of an unknown class, it is hardly one of the standard library.
        if not (owners & classes if classes else any(not owner.startswith("std::") for owner in owners)):
            raise Failed(f"the program has no method `{name}`: nothing calls it, or the compiler has inlined it")


def classes_of(kind):
    """The names of a class and of those that it derives from, without arguments; none for a smart pointer, which has the
    methods of what it points to."""
    kind = kind.GetDereferencedType() if kind.IsReferenceType() else kind
    kind = (kind.GetPointeeType() if kind.IsPointerType() else kind).GetCanonicalType().GetUnqualifiedType()
    name = re.sub(r"<.*", "", kind.GetName() or "")
    if re.match(r"std::(unique|shared|weak)_ptr$", name):
        return None
    found = {name}
    for base in kind.bases:
        found |= classes_of(base.GetType()) or set()
    return found


def plain_class(method, name):
    """`shop::Box` for `int shop::Box<int>::open(int) const`, where `name` is `open`."""
    return bare(method).split(f"::{name}(")[0].rsplit(" ", 1)[-1]


def check_names(evaluation):
    """Refuse a name for which LLDB would take a variable inside a library, such as one of libc's."""
    frame, unknown = evaluation.frame, []
    for text in evaluation.names():
        if "::" in text or text in evaluation.types.CONSTANTS:
            continue
        if evaluation.variable(text) is None:
            unknown.append(text)
        elif "[" in evaluation.text or "sizeof" in evaluation.text:
            check_length(evaluation, text)
    target, module = (frame.GetThread().GetProcess().GetTarget(), frame.GetModule()) if unknown else (None, None)
    for text in unknown:
        if is_inside_library(target, module, text) and not is_other(evaluation, target, module, text):
            raise Failed(f"use of undeclared identifier '{text}'")


def check_length(evaluation, name):
    """Refuse what depends on the length of an array that LLDB does not know: its size, or where an item of several rows is."""
    value = evaluation.variable(name)
    has_rows = TAKEN.search((value.GetTypeName() or "").partition("]")[2])
    is_row = has_rows and re.search(rf"(?<![.>])\b{name}\s*\[", evaluation.text)
    is_sized = re.search(rf"\bsizeof[\s(*]*{name}\b(?!\s*\[)", evaluation.text)
    if (is_row or is_sized) and is_varying(value):
        raise Failed(f"`{name}` has a variable length, which LLDB does not know")


def is_inside_library(target, module, name):
    """Whether libraries have a variable, and the program has none and refers to none of that name."""
    if module.FindGlobalVariables(target, name, 1).GetSize():
        return False
    found = target.FindGlobalVariables(name, 10)
    if found.GetSize():
        return all(is_hidden(value, module) for value in found)
    # Of data without debug information, LLDB takes what it finds first. What the program refers to is a symbol of its own.
    own, symbols = (module, target.FindModule(target.GetExecutable())), list(target.FindSymbols(name))
    is_data = any(one.GetSymbol().GetType() == lldb.eSymbolTypeData for one in symbols)
    return is_data and not any(one.GetModule() in own for one in symbols)


def is_other(evaluation, target, module, name):
    """Whether a name may be one of the program that is not a variable's: of what is called, of a type, or of a constant; or
    one that each program of C knows."""
    if name in STREAMS and not evaluation.types.HAS_VARIANTS:
        return True
    texts = [text for _, text in evaluation.tokens]
    around = {(before, behind) for before, text, behind in zip(["", *texts], texts, [*texts[1:], ""]) if text == name}
    behind = {sign for _, sign in around}
    is_function = "(" in behind and target.FindFunctions(name, lldb.eFunctionNameTypeBase).GetSize() > 0
    is_argument = bool(around & {("<", ","), ("<", ">"), (",", ">")})
    is_type = (is_argument or behind & {")", "*", "(", "const", "volatile"}) and module.FindFirstType(name).IsValid()
    return is_function or is_type or evaluation.types.enumerator(evaluation.frame, name) is not None


def is_hidden(value, module):
    """Whether a variable that is not of the module is visible only inside a library."""
    if value.GetLoadAddress() == lldb.LLDB_INVALID_ADDRESS:
        return True  # A constant that the compiler has put into the code.
    other = value.GetAddress().GetModule()
    symbols = other.FindSymbols(value.GetName() or "")
    return other.IsValid() and other != module and not any(one.GetSymbol().IsExternal() for one in symbols)
