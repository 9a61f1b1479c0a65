"""Runs a Python program and records it.

    python stillframe_record.py SEGMENTS ITEMS DEPTH TEXT file|module TARGET NAME [ARGUMENT ...]

SEGMENTS is what the names of the files begin with that the recording is written to (record_wire.py). ITEMS, DEPTH and
TEXT limit how much of a value is recorded. NAME is what the program has as `sys.argv[0]`. It has the same `sys.argv`,
`sys.path`, `__main__`, traceback of an uncaught exception and exit code as with plain Python. Its stack begins with the
frames of this file.

Written for Python 3.8 to 3.13.
"""

import atexit
import os
import sys


def main():
    segments, items, depth, text, kind, target = sys.argv[1:7]
    # The rest begins with NAME.
    del sys.argv[:7]
    here = os.path.dirname(os.path.abspath(__file__))
    # Python inserts this file's folder, except in isolated and safe-path mode.
    isolated = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    if not isolated:
        del sys.path[0]
    # The program may not want its own files compiled to disk. Ours are in our cache.
    without_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    sys.path.insert(0, here)
    try:
        import record_run

        recorder = record_run.Recorder(segments, int(items), int(depth), int(text), here)
    finally:
        sys.path.remove(here)
        sys.dont_write_bytecode = without_bytecode
    record_children(here, segments, items, depth, text)
    if not isolated:
        sys.path.insert(0, os.path.dirname(os.path.abspath(target)) if kind == "file" else os.getcwd())
    return run(recorder, kind == "module", target)


def record_children(here, *settings):
    """Have every Python that this program starts load our `sitecustomize.py`."""
    paths = [os.path.join(here, "site"), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    os.environ["STILLFRAME_RECORD"] = os.pathsep.join(settings)


def run(recorder, is_module, target):
    """Run the program as `__main__`."""
    try:
        code, names = (module if is_module else script)(target)
    except Exception as error:
        sys.excepthook(type(error), error.with_traceback(None), None)
        return 1
    # Threads and functions of `atexit` run when the main module has ended. What is registered first runs last.
    atexit.register(recorder.stop)
    try:
        recorder.start()
        exec(code, names)
    except SystemExit:
        raise
    except BaseException as error:
        # The program's own frames begin after this one.
        trace = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        if isinstance(error, KeyboardInterrupt):
            sys.excepthook = lambda *shown: None
            raise
        return 1
    return 0


def script(path):
    from importlib.machinery import SourceFileLoader

    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    return code, fresh_main(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))


def module(name):
    import runpy

    name, spec, code = runpy._get_module_details(name)
    sys.argv[0] = code.co_filename
    return code, fresh_main(
        __file__=code.co_filename, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent, __spec__=spec
    )


def fresh_main(**names):
    main = type(sys)("__main__")
    always = {"__builtins__": __builtins__, "__spec__": None, "__package__": None, "__annotations__": {}}
    main.__dict__.update(always, **names)
    sys.modules["__main__"] = main
    return main.__dict__


if __name__ == "__main__":
    sys.exit(main())
