"""What the modules of the agent share and assign. Each is read as an attribute of this module, where it may change."""

import sys
import threading  # noqa: F401

# What checks watched values before each line of user code; None while nothing is watched.
watching = None

# True during a request that must not run code of the program.
side_effect_free = False

# True while values are read that were not requested yet: those that only code of the program can show have to wait.
runs_no_code = False

# Whether code of the program may have run; false while its launcher waits for the debugger.
has_begun = True


def original(name):
    """A module without what gevent replaces in the program's. pydevd has a copy then."""
    saved = sys.modules.get("_pydev_bundle._pydev_saved_modules")
    return getattr(saved, name.lstrip("_"), None) or __import__(name)


def take_threading():
    global threading
    threading = original("threading")
