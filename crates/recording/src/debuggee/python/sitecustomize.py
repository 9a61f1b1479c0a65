"""Loaded by each Python that a recorded program starts: records it, too.

It takes precedence over the module of that name that Python itself, or the program, may have.
"""

import os
import sys


def record(here, settings):
    """Start to record this process."""
    segments, items, depth, text = settings.split(os.pathsep)
    without_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    sys.path.insert(0, here)
    try:
        import record_run

        recorder = record_run.Recorder(segments, int(items), int(depth), int(text), here)
    except Exception:
        # A Python that is too old. Each that is not recorded adds a byte.
        with open(segments + "-others", "ab") as others:
            others.write(b".")
        return
    finally:
        sys.path.remove(here)
        sys.dont_write_bytecode = without_bytecode
    recorder.start()


def other():
    """Load the module that would have been loaded."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    found = PathFinder.find_spec("sitecustomize")
    if found is not None and found.loader is not None:
        # What imports this one gets that one.
        sys.modules["sitecustomize"] = module = module_from_spec(found)
        found.loader.exec_module(module)


folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != folder]
if "STILLFRAME_RECORD" in os.environ:
    try:
        record(os.path.dirname(folder), os.environ["STILLFRAME_RECORD"])
    except (OSError, ValueError):
        # The recording is over.
        pass
other()
