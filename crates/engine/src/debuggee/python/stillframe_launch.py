"""Runs a Python program under pydevd, connected to stillframe.

    python stillframe_launch.py HOST:PORT ROOT file|module TARGET [ARGUMENT ...]

ROOT is the folder that contains the `debugpy` package. Does the same as `python debugpy --connect` with less work
before the program starts, and the program has the same `sys.argv`, `sys.path`, `__main__`, traceback of an uncaught
exception and exit code as with plain Python.
"""

import gc
import importlib.machinery
import os
import re
import sys

# How many files beside the program are looked through, and how long they may be, in bytes.
MOST_FILES = 50
LONGEST_FILE = 200000


def main():
    address, root, kind, target = sys.argv[1:5]
    # Proves to the debugger that this is the program that it started. pydevd passes it to children.
    secret = os.environ.pop("STILLFRAME_TOKEN", None)
    del sys.argv[:4]
    sys.argv[0] = target if kind == "file" else "-m"

    # Python inserts this file's folder, except in isolated and safe-path mode.
    isolated = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    if not isolated:
        del sys.path[0]
    if uses_gevent(kind, target):
        # pydevd copies the modules then that gevent replaces, and follows greenlets.
        os.environ.setdefault("GEVENT_SUPPORT", "True")
    pydevd = connect(address, root, secret)
    if not isolated and not (kind == "file" and holds_modules(target)):
        sys.path.insert(0, os.path.dirname(os.path.realpath(target)) if kind == "file" else os.getcwd())
    return run(pydevd, kind == "module", target)


def holds_modules(target):
    """Whether the program is a folder or an archive. What runs it inserts it in `sys.path`."""
    for hook in sys.path_hooks:
        try:
            hook(target)
            return True
        except ImportError:
            pass
    return False


def uses_gevent(kind, target):
    """Whether the command, the program or a module beside it names gevent: pydevd must know before it is there."""
    if importlib.machinery.PathFinder.find_spec("gevent") is None:
        return False
    if any("gevent" in word for word in sys.argv) or os.path.basename(target) == "locust":
        return True
    if kind == "file":
        is_folder = os.path.isdir(target)
        folder, files = target if is_folder else os.path.dirname(os.path.abspath(target)), [target]
    else:
        folder, path = os.getcwd(), os.path.join(*target.split("."))
        files = [path + ".py", os.path.join(path, "__main__.py"), os.path.join(path, "__init__.py")]
    try:
        beside = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".py")]
    except OSError:
        beside = []
    return any(map(imports_gevent, files + beside[:MOST_FILES]))


def imports_gevent(path):
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LONGEST_FILE:
            return False
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return re.search(rb"(?m)(?:^|[;:])\s*(?:import|from)\s[^#;\n]*\bgevent", text) is not None


def connect(address, root, secret):
    """Connect to the debugger, wait until it has set its breakpoints, and return pydevd."""
    # The debugger is many objects, of which next to none becomes garbage: the collector need not look at them now, at
    # each of the program's collections, and at its end.
    collects = gc.isenabled()
    gc.disable()
    host, port = address.rsplit(":", 1)
    here = os.path.dirname(os.path.abspath(__file__))
    # The program may not want its own files compiled to disk. Ours are in our cache, and are many.
    without_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        sys.path.insert(0, here)
        try:
            import stillframe_agent
            import stillframe_state
        finally:
            del sys.path[0]
        pydevd = stillframe_agent.prepare(root)
    finally:
        sys.dont_write_bytecode = without_bytecode
    stillframe_state.has_begun = False
    pydevd.settrace(
        host=host,
        port=int(port),
        client_access_token=secret,
        suspend=False,
        patch_multiprocessing=True,
        notify_stdin=False,
        dont_trace_start_patterns=(here, os.path.join(root, "debugpy")),
        dont_trace_end_patterns=(),
    )
    pydevd._wait_for_attach()
    stillframe_state.has_begun = True
    gc.freeze()
    if collects:
        gc.enable()
    return pydevd


def run(pydevd, is_module, target):
    """Run the program. pydevd treats exceptions that leave its function `_exec` as uncaught."""
    try:
        module = target if is_module else None
        if is_module:
            sys.modules["__main__"] = type(sys)("__main__")
            name_program_after_module()
        debugger = pydevd.get_global_debugger()
        # Up to Python 3.11, a thread's tracer no longer knows entry points such as `_exec`.
        debugger.enable_tracing(debugger.trace_dispatch)
        debugger._exec(is_module, "", module, target, {}, {})
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and is_ours(pydevd, trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        if sys.gettrace() is None:
            # The tracer is gone: a recursion error or the program has removed it, so pydevd has not seen this
            # exception. From Python 3.12 on it needs no tracer.
            stop_for(pydevd, (type(error), error, trace))
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        if isinstance(error, KeyboardInterrupt):
            # Python ends with the signal when this leaves the main module. It has been shown by now.
            sys.excepthook = lambda *shown: None
            raise
        return 1
    return 0


def name_program_after_module():
    """Set `sys.argv[0]` to the module's file once that is found, as Python does and pydevd does not."""
    from _pydevd_bundle import pydevd_runpy

    run_module = pydevd_runpy._run_module_as_main
    pydevd_runpy._run_module_as_main = lambda module, alter_argv=True: run_module(module)


def stop_for(pydevd, uncaught):
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING and uncaught[2] is not None:
        pydevd.get_global_debugger().trigger_exception_handler(uncaught)


def is_ours(pydevd, path):
    return path.startswith(os.path.dirname(os.path.abspath(pydevd.__file__))) or path in (
        __file__,
        os.path.abspath(__file__),
    )


if __name__ == "__main__":
    sys.exit(main())
