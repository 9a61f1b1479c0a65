"""Keeps the file of code that cloudpickle sends to another process, where breakpoints are looked up by it.

Programs that start workers with joblib, Dask, Ray or Spark send them functions of the main module this way. cloudpickle
3.1 leaves the file out, so that a pickle does not depend on where the program is.
"""

import functools
import sys
import types

# It is also part of other packages.
NAMES = tuple(
    package + "cloudpickle.cloudpickle" for package in ("", "joblib.externals.", "ray.", "pyspark.", "distributed.")
)
LEFT_OUT = "<dynamic-code>"


def install(after):
    """`after` calls a function when a module has been imported."""
    for name in NAMES:
        after(name, functools.partial(keep_files, name))


def keep_files(name):
    module = sys.modules[name]
    reduce = module._code_reduce

    @functools.wraps(reduce)
    def code_reduce(code):
        kind, parts, *state = reduce(code)
        return (kind, tuple(code.co_filename if part == LEFT_OUT else part for part in parts), *state)

    module._code_reduce = code_reduce
    module.Pickler._dispatch_table[types.CodeType] = code_reduce
