"""The recorder's hot path in native code (record_native.c), if it has been compiled for this Python.

`recorders/python.rs` compiles it beside this file. Without it, everything is recorded as well, by Python code.
"""

import importlib.machinery
import importlib.util
import os
import sys


def load():
    """The module; None without it."""
    if sys.version_info < (3, 11) or os.environ.get("STILLFRAME_RECORD_NATIVE") == "0":
        return None
    # It depends on the layout of this very version's objects.
    name = "record_native-%08x%s" % (sys.hexversion, importlib.machinery.EXTENSION_SUFFIXES[0])
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    if not os.path.exists(path):
        return None
    try:
        spec = importlib.util.spec_from_file_location("record_native", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except ImportError:
        return None


native = load()
