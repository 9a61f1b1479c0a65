"""What the program has loaded: its files, and the functions in them. Breakpoints elsewhere have to wait."""

import dis
import functools
import gc
import inspect
import json
import os
import re
import sys
import types

import stillframe_state as state
from stillframe_debugger import client_file_of, debugger, is_of_debugger, paths_of, send_event
from stillframe_rules import place_of, rules_at
from stillframe_types import is_a

# Files of which pydevd has seen code that is about to run.
files_that_ran = set()

# Files with breakpoints that the program has not loaded, by their paths in pydevd.
pending_files = set()

# The names under which user code has compiled texts that it runs itself.
compiled_texts = set()


def report_file(request):
    """Report whether the program has loaded the file of a location, or else when it does. pydevd verifies a breakpoint
    in any file that exists."""
    answer, place = json.loads(request)
    breakpoints = list((debugger().breakpoints or {}).items())
    file = next((file for file, lines in breakpoints if place in map(place_of, list(lines.values()))), None)
    found = False
    if file is not None:
        # Registered before the check, so that a file that is loaded meanwhile is not missed.
        pending_files.add(file)
        found = is_loaded(file) or state.has_begun and file in files_of_functions()
    if found:
        pending_files.discard(file)
    send_event("found", place=answer, found=found, names=[])


def loaded_modules():
    """The namespace of each loaded module."""
    return [vars(module) for module in list(sys.modules.values()) if type(module) is types.ModuleType]


def loaded_files():
    """The files of loaded modules, and files whose code ran."""
    files = files_that_ran.union(module.get("__file__") for module in loaded_modules() if "__file__" in module)
    return {file for file in files if type(file) is str}


def is_loaded(path):
    """Whether a loaded file has this path in pydevd."""

    def stem(file):
        return os.path.splitext(os.path.basename(file))[0].lower()

    # Resolving a path costs far more than comparing names, which differ only for links.
    wanted = stem(path)
    candidates = (file for file in loaded_files() if stem(file) == wanted or os.path.islink(file))
    return any(paths_of(file)[1] == path for file in candidates)


def files_of_functions():
    """The files of code that was loaded before the debugger attached, and is not a module."""
    functions = [each for each in gc.get_objects() if type(each) is types.FunctionType]
    codes = {function.__code__.co_filename for function in functions}
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            codes.add(frame.f_code.co_filename)
            frame = frame.f_back
    return {paths_of(file)[1] for file in codes}


def report_unloaded(its_debugger):
    """At the end, report breakpoints in files that the program never loaded."""
    wanted = {file: lines for file, lines in (its_debugger.breakpoints or {}).items() if lines}
    if not wanted:
        return
    # The script is a module only while it runs.
    script = [sys.argv[0]] if sys.argv and os.path.isfile(sys.argv[0]) else []
    loaded = {paths_of(file)[1] for file in loaded_files().union(script)}
    users = {module["__file__"] for module in loaded_modules() if module.get("__file__") and is_users(module)}
    users = sorted(users.union(script))
    for file in wanted:
        if file not in loaded:
            ids = [number for breakpoint in list(wanted[file].values()) for number in rules_at(breakpoint)]
            send_event("unloaded", ids=ids, file=file, loaded=users[:2000])


def report_function(request):
    """Report whether loaded user code has a function of that name; pydevd verifies every name. The reply is an event,
    because an evaluation outside a frame returns nothing."""
    place, owner, name = json.loads(request)
    known = known_functions()
    code = find_function(known, owner, name)
    if code is not None:
        return send_event("found", place=place, found=True, names=[], at=place_of_function(code))
    names = sorted("%s.%s" % pair if pair[0] else pair[1] for pair in known)
    send_event("found", place=place, found=False, names=names[:2000])


def known_functions():
    """The code of loaded user functions, by pairs of class and name."""
    known = {}
    for module in loaded_modules():
        if is_users(module):
            collect_functions(module, module.get("__name__"), known)
    return known


def find_function(functions, owner, name):
    owner = owner and owner.rpartition(".")[2]
    is_it = lambda kind, function: name == function and (not owner or owner == kind)
    return next((code for pair, code in functions.items() if is_it(*pair)), None)


def place_of_function(code):
    """Where a function is: its file, the line with its name, and that of its first statement."""
    import linecache

    file = client_file_of(code)
    if file is None:
        return None
    # Decorators come first.
    names = range(code.co_firstlineno, first_line_of(code)[1] + 1)
    header = re.compile(r"\s*(async\s+)?def\b")
    declared = next((line for line in names if header.match(linecache.getline(code.co_filename, line))), names[0])
    return {"file": file, "declared": declared, "line": first_line_of(code)[1]}


@functools.lru_cache(maxsize=None)
def first_line_of(code):
    """The offset at which a generator or coroutine function starts, and the first line of its body."""
    # From Python 3.11 on, the instructions that create the generator come first, on the line of the `def`.
    begin = next((each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"), -1)
    starts = list(dis.findlinestarts(code))
    return begin, next((line for start, line in starts if start > begin), starts[0][1])


def is_users(module):
    """Whether pydevd would stop in a module, given its namespace."""
    file = module.get("__file__")
    if not isinstance(file, str):
        return module.get("__name__") == "__main__"
    its_debugger = debugger()
    if file.startswith("<") or is_of_debugger(file):
        return False
    if not its_debugger.is_files_filter_enabled:
        return True
    return its_debugger._files_filtering.in_project_roots(os.path.abspath(file))


def collect_functions(names, module, known, owner=None):
    """Add the functions of a module or class, and nested ones, by pairs of class and name."""
    for value in list(names.values()):
        value = getattr(value, "__func__", getattr(value, "fget", value)) if owner else value
        value = inspect_unwrapped(value)
        if type(value) is types.FunctionType and value.__module__ == module:
            collect_code(value.__code__, owner, known)
        elif is_a(value, type) and owner is None and type.__getattribute__(value, "__module__") == module:
            collect_functions(type.__getattribute__(value, "__dict__"), module, known, value.__name__)


def inspect_unwrapped(value):
    while type(value) is types.FunctionType and "__wrapped__" in vars(value):
        value = vars(value)["__wrapped__"]
    return value


def collect_code(code, owner, known):
    known.setdefault((owner, code.co_name), code)
    for pair, inner in functions_in(code).items():
        known.setdefault(pair, inner)


def functions_in(code, owner=None):
    """The functions defined in the code of a module, class or function, by pairs of class and name."""
    found = {}
    for inner in code.co_consts:
        if type(inner) is not types.CodeType or inner.co_name.startswith("<"):
            continue
        if inner.co_flags & inspect.CO_OPTIMIZED:
            found.setdefault((owner, inner.co_name), inner)
            more = functions_in(inner)
        else:
            more = functions_in(inner, inner.co_name)
        for pair, code in more.items():
            found.setdefault(pair, code)
    return found
