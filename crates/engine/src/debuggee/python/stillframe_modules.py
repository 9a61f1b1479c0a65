"""How the modules of the agent load those that not every program needs, and recognize their own files."""

import builtins
import os
import sys

# The built-in names before the program can replace them.
BUILTINS = dict(vars(builtins))

# What the names of our files begin with. Modules that were sent to a program have no file.
OURS = "<stillframe_" if __file__.startswith("<") else os.path.dirname(os.path.abspath(__file__)) + os.sep


def load(name):
    """Return one of our optional modules. It is in the folder of this one, or was sent before."""
    if name not in sys.modules:
        from importlib import util

        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
        if sys.dont_write_bytecode:
            compile_once(beside, util.cache_from_source(beside))
        spec = util.spec_from_file_location(name, beside)
        module = util.module_from_spec(spec)
        module.__builtins__ = BUILTINS
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def compile_once(file, compiled):
    """Write the bytecode of one of our files where imports look for it."""
    if not os.path.exists(compiled):
        import py_compile

        try:
            py_compile.compile(file, compiled)
        except OSError:
            # The cache cannot be written. Compiling each time is only slower.
            pass


def is_ours(file):
    return file.startswith(OURS)
