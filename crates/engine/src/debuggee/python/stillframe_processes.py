"""The child processes of the program: they load the agent before they connect."""

import functools
import os
import signal
import sys

from stillframe_modules import load


def hold_children(marker):
    """Stop each child process that runs another program, as long as a file is there: the debugger inspects the process
    and lets it run."""
    if marker is None:
        return
    import subprocess

    execute = subprocess.Popen._execute_child

    @functools.wraps(execute)
    def execute_and_hold(self, *args, **kwargs):
        execute(self, *args, **kwargs)
        if os.path.exists(marker):
            try:
                os.kill(self.pid, signal.SIGSTOP)
            except OSError:
                pass

    subprocess.Popen._execute_child = execute_and_hold


def can_follow(code):
    """Whether pydevd can put statements before code on its first line."""
    try:
        compile("pass; " + code, "<string>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def configure_children(pydevd):
    """Make child processes import the agent before they connect."""
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle.pydevd_defaults import PydevdCustomization

    here = os.path.dirname(os.path.abspath(__file__))
    PydevdCustomization.PREIMPORT = here + ";stillframe_agent"
    if hasattr(pydevd, "stillframe"):
        return
    pydevd.stillframe = True
    configure, code_for_child = pydevd.config, pydev_monkey._get_python_c_args
    debugged = pydev_monkey.patch_args

    # pydevd warns about frozen modules, in whatever environment a child is given.
    @functools.wraps(debugged)
    def patch_args(args, *others, **named):
        new = debugged(args, *others, **named)
        if isinstance(new, str) or list(new) == list(args):
            return new
        options = ["-X", "frozen_modules=off"]
        return [new[0], *(map(os.fsencode, options) if isinstance(new[0], bytes) else options), *new[1:]]

    # The code that pydevd prepends for `python -c` children lacks the import.
    @functools.wraps(configure)
    def config(protocol="", debug_mode="", preimport=""):
        return configure(protocol, debug_mode, preimport or PydevdCustomization.PREIMPORT)

    separate = pydev_monkey._separate_future_imports

    @functools.wraps(code_for_child)
    def _get_python_c_args(host, port, code, *args, **kwargs):
        is_bytes = isinstance(code, bytes)
        text = code.decode("utf-8") if is_bytes else code
        future, text = separate(text) if "__future__" in text else ("", text)
        if not can_follow(text):
            text = "exec(compile(%r, '<string>', 'exec'))" % text
        text = "del sys, pydevd, stillframe_agent; " + text
        if future:
            # pydevd takes these imports to the front again. It may have ended them twice.
            text = "%s;%s" % (future.rstrip("; \t"), text)
        load = "import pydevd; sys.path.insert(0, %r); import stillframe_agent; del sys.path[0]; " % here
        text = code_for_child(host, port, text, *args, **kwargs).replace("import pydevd; ", load, 1)
        return text.encode("utf-8") if is_bytes else text

    pydevd.config, pydev_monkey._get_python_c_args = config, _get_python_c_args
    pydev_monkey.patch_args = patch_args
    load("stillframe_scripts").install(pydev_monkey)


def stop_debugging_children():
    """Stop debugging new child processes. Otherwise they would wait for a debugger forever."""
    from _pydev_bundle import pydev_monkey

    pydev_monkey._get_apply_arg_patching = lambda: False
    if "stillframe_ahead" in sys.modules:
        sys.modules["stillframe_ahead"].expect(0, ())
    if "stillframe_recorder" in sys.modules:
        sys.modules["stillframe_recorder"].finish()


def close_inherited_connection():
    """In a forked child, which has a separate connection or none: while it holds this one open, stillframe would not
    notice that the parent has exited."""
    debugger = sys.modules["pydevd"].get_global_debugger()
    writer = getattr(debugger, "writer", None)
    if writer is not None:
        try:
            writer.sock.close()
        except OSError:
            pass
