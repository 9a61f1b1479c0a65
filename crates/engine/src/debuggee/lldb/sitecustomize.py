"""Makes LLDB's Python keep bytecode: importing the module `lldb` takes 200 ms without it.

LLDB 19 writes none, nor could it where a package of the system has it. Python imports this at its start, because our
folder is in `PYTHONPATH`.
"""

import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import cache_from_source


class Loader(SourceFileLoader):
    """Reads and writes bytecode in our folder."""

    def get_code(self, name):
        kept = sys.pycache_prefix, sys.dont_write_bytecode
        sys.pycache_prefix, sys.dont_write_bytecode = os.path.join(os.path.dirname(__file__), "bytecode"), False
        try:
            return super().get_code(name)
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = kept


class Finder:
    """Finds modules that have no bytecode beside them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            if not os.path.exists(cache_from_source(spec.loader.path)):
                spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


# Built-in modules come first: the library in which LLDB finds Python may have more of them than the standard library
# that is on the path expects.
sys.meta_path.insert(sys.meta_path.index(PathFinder), Finder)
