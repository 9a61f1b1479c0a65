"""Does something when the program has imported a module, so that programs that do not import it are unaffected."""

import importlib.machinery
import sys

# What to do, by the module's name.
waiting = {}


def after(name, do):
    """Call `do` when the module is there."""
    if name in sys.modules:
        do()
        return
    waiting[name] = do
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)


class Finder:
    """Finds the modules of `waiting`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        do = waiting.get(name)
        if do is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                try:
                    do()
                except Exception:
                    # An unknown version runs as it is.
                    pass

            spec.loader.exec_module = exec_module
        return spec
