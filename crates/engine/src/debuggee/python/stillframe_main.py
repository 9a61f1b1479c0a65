"""Has pydevd run a program's main module as Python does.

pydevd has its own copy of `runpy` for this. That gives the module names which Python gives to other modules, removes it
when its code ends although threads and exit handlers still run, and takes the path of a script as it was given.
"""

import builtins
import dis
import functools
import importlib.machinery
import os
import sys

# The function that runs the code of the main module. pydevd knows uncaught exceptions by its name and its file.
RUN_CODE = """
def _run_code(code, run_globals, init_globals=None, mod_name=None, mod_spec=None, pkg_name=None, script_name=None):
    run_globals.update(stillframe_names(mod_spec, script_name))
    exec(code, run_globals)
    return run_globals
"""


def install(pydevd):
    from _pydevd_bundle import pydevd_runpy

    pydevd_runpy.stillframe_names = names_of_main
    # Tracebacks of children show its line, so that must be the same.
    last = max(line or 0 for _, line in dis.findlinestarts(pydevd_runpy._run_code.__code__))
    text = "\n" * (last - RUN_CODE.count("\n")) + RUN_CODE
    exec(compile(text, pydevd_runpy.__file__, "exec"), vars(pydevd_runpy))
    pydevd_runpy._TempModule.__exit__ = lambda self, *ignored: None
    find_beside_script(pydevd, pydevd_runpy)


def names_of_main(spec, script):
    """What Python defines in the main module: that of a package, folder or archive, or a script."""
    names = {"__name__": "__main__", "__doc__": None, "__builtins__": builtins, "__spec__": spec}
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    if spec is not None:
        own = {"file": spec.origin, "cached": spec.cached, "loader": spec.loader, "package": spec.parent}
    else:
        machinery = importlib.machinery
        kind = machinery.SourcelessFileLoader if script.endswith(".pyc") else machinery.SourceFileLoader
        own = {"file": script, "cached": None, "loader": kind("__main__", script), "package": None}
    names.update(("__%s__" % name, value) for name, value in own.items())
    return names


def find_beside_script(pydevd, pydevd_runpy):
    """Give a script the `sys.path` and the `__file__` that it has without a debugger. pydevd takes the folder of a link
    to it, also in isolated mode, and the path as it was given."""
    # What runs the script itself stays as it is: pydevd knows uncaught exceptions by it.
    run, first_argument = pydevd.PyDB.run, pydevd_runpy._ModifiedArgv0
    given = {}

    @functools.wraps(run)
    def run_script(self, file, globals=None, locals=None, is_module=False, set_trace=True):
        whole = file if is_module or sys.version_info < (3, 9) else os.path.join(os.getcwd(), file)
        given[whole] = file
        return run(self, whole, globals, locals, is_module, set_trace)

    # The last that is done before the script runs.
    @functools.wraps(first_argument)
    def first_argument_of(path):
        if sys.path[:1] == [os.path.dirname(os.path.abspath(path))]:
            if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
                del sys.path[0]
            else:
                sys.path[0] = os.path.dirname(os.path.realpath(path))
        return first_argument(given.get(path, path))

    pydevd.PyDB.run, pydevd_runpy._ModifiedArgv0 = run_script, first_argument_of
