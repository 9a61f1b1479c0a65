"""Starts the agent in a program: imports pydevd and patches it."""

import functools
import os
import sys
import time
import types

import stillframe_state as state
from stillframe_breakpoints import begin_with_functions, debug_files_with_breakpoints
from stillframe_debugger import say
from stillframe_errors import message_argument
from stillframe_loaded import report_unloaded
from stillframe_modules import load
from stillframe_processes import close_inherited_connection, configure_children, hold_children
from stillframe_rules import report_failures
from stillframe_steps import follow_steps, know_commands
from stillframe_stops import follow_stops, install_pause_handler
from stillframe_threads import follow_plain_threads, leave_own_threads, name_threads
from stillframe_types import is_a


def prepare(root):
    """Import pydevd from ROOT, configure it for stillframe, and return it."""
    # Otherwise pydevd warns about frozen modules on standard error.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    sys.path.insert(0, root)
    substitutes = substitute_console_modules()
    try:
        from debugpy._vendored import force_pydevd  # noqa: F401
        import pydevd
    finally:
        sys.path.remove(root)
        for name in substitutes:
            del sys.modules[name]

    state.take_threading()
    patch(pydevd)
    configure_children(pydevd)
    install_pause_handler()
    hold_children(os.environ.get("STILLFRAME_HOLD"))
    if "STILLFRAME_TESTS" in os.environ:
        load("stillframe_tests").install(load)
    load("stillframe_coverage").install(load("stillframe_imports").after, say)
    load("stillframe_pickled").install(load("stillframe_imports").after)
    return pydevd


# What pydevd imports for its console only, and the names that it looks for there.
CONSOLE_MODULES = {
    "xmlrpc.client": ("ServerProxy", "Marshaller", "Server"),
    "xmlrpc.server": ("SimpleXMLRPCServer",),
    "http.server": ("BaseHTTPRequestHandler",),
}


def substitute_console_modules():
    """Let pydevd import empty modules in place of those that it does not need here, which take a quarter of the time
    that it takes as a whole. Returns the names of those that are to be removed again, before the program starts."""
    substitutes = [name for name in CONSOLE_MODULES if name not in sys.modules]
    for name in substitutes:
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(dict.fromkeys(CONSOLE_MODULES[name]))
    return substitutes


def patch(pydevd):
    """Patch pydevd where it is slow or prints too much."""
    from _pydev_bundle import pydev_log
    from _pydevd_bundle import pydevd_api, pydevd_constants, pydevd_utils

    know_commands()
    # Our own limit applies first.
    pydevd_constants.PYDEVD_WARN_EVALUATION_TIMEOUT = 10**6
    pydevd_utils.Timer.__init__.__defaults__ = (10**6,)
    if pydevd_constants.DebugInfoHolder.DEBUG_TRACE_LEVEL <= 0:
        # Its log does not belong on the program's standard error.
        pydev_log._LoggingGlobals._debug_stream_initialized = True
    # Where the text of code is unknown, pydevd shows its bytecode.
    pydevd_api.code_to_bytecode_representation = lambda code: ""
    PyDevdAPI = pydevd_api.PyDevdAPI
    # By default, pydevd waits for a running thread to stop before it returns its stack.
    PyDevdAPI.request_stack.__defaults__ = tuple(
        0 if isinstance(default, float) else default for default in PyDevdAPI.request_stack.__defaults__
    )
    if hasattr(pydevd.PyDB, "stillframe"):
        return
    pydevd.PyDB.stillframe = True
    # No exit is an exception to stop at, whatever its code. pydevd would stop at some, and fails if the code has no
    # hash.
    pydevd.PyDB.ignore_system_exit_code = lambda self, error: True
    # It ends the debugger after the last thread, but polls every 200 ms, and the program waits for it. pydevd's
    # `atexit` handler ends the debugger at once.
    pydevd.CheckAliveThread.start = lambda self: None
    start, end = pydevd.PyDB.initialize_network, pydevd.PyDB.dispose_and_kill_all_pydevd_threads

    # It sleeps for 100 ms to "give threads time to start", which nothing needs.
    @functools.wraps(start)
    def initialize_network(*args, **kwargs):
        real, pydevd.time = pydevd.time, types.SimpleNamespace(sleep=lambda seconds: None, time=time.time)
        try:
            return start(*args, **kwargs)
        finally:
            pydevd.time = real

    # At exit it waits up to 500 ms for its own daemon threads. It is enough that everything was sent.
    @functools.wraps(end)
    def dispose_and_kill_all_pydevd_threads(self, wait=True, timeout=0.5):
        if not self.pydb_disposed:
            flush(self)
            release_frame()
        return end(self, wait=False, timeout=timeout)

    load("stillframe_main").install(pydevd)
    try:
        load("stillframe_requests")
    except (ImportError, AttributeError):
        # Another version of pydevd serves all requests itself.
        pass
    name_threads()
    leave_own_threads()
    follow_plain_threads()
    mute_kept_tracer()
    follow_steps(pydevd)
    follow_stops(pydevd)
    pydevd.PyDB.initialize_network = initialize_network
    pydevd.PyDB.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
    debug_files_with_breakpoints(pydevd)
    begin_with_functions(PyDevdAPI)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=close_inherited_connection)


def mute_kept_tracer():
    """pydevd warns about each call of `sys.settrace` on standard error. Many only restore the tracer that is set, as
    `doctest` does."""
    import pydevd_tracing

    def get_frame():
        frame = sys._getframe(1)
        return None if frame.f_locals["tracing_func"] is sys.gettrace() else frame

    pydevd_tracing.get_frame = get_frame


# How long the end of the program waits until everything has been sent, in seconds.
FLUSH_LIMIT = 10.0


def flush(debugger):
    """Send the remaining reports, and wait until everything has been sent."""
    from _pydevd_bundle.pydevd_net_command import NetCommand

    report_failures()
    if "stillframe_recorder" in sys.modules:
        sys.modules["stillframe_recorder"].report_hits()
    try:
        report_unloaded(debugger)
    except Exception:
        # Unusual modules or arguments of the program must not prevent its end.
        pass
    message = {"type": "event", "event": "stillframe", "body": {"kind": "flushed"}}
    command, sent = NetCommand(-1, 0, message, is_json=True), state.threading.Event()
    command.call_after_send(lambda *ignored: sent.set())
    # The writer thread itself calls this when the connection is lost: nothing can be sent then.
    if debugger.writer not in (None, state.threading.current_thread()):
        debugger.writer.add_command(command)
        # Many log messages take a while. If the writer has ended, the rest is lost.
        until = time.monotonic() + FLUSH_LIMIT
        while not sent.wait(0.1) and debugger.writer.is_alive() and time.monotonic() < until:
            pass


def release_frame():
    """With `sys.monitoring`, pydevd keeps the outermost frame that an exception was to reach. Objects of the main module
    would outlive other modules at the end, and their finalizers would fail."""
    kept = getattr(sys.modules.get("_pydevd_sys_monitoring_cython"), "_thread_local_info", None)
    if kept is not None:
        vars(kept).pop("f_unhandled_frame", None)


def forbid_side_effects():
    """Make pydevd's own reports of exceptions and threads read their texts without running code of the program."""
    from _pydevd_bundle import pydevd_thread_lifecycle
    from _pydevd_bundle.pydevd_frame_utils import FramesList
    from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson

    def get_description(frames):
        error = vars(frames).get("stillframe_error")
        return message_argument(error) if is_a(error, BaseException) else error

    def set_description(frames, error):
        vars(frames)["stillframe_error"] = error

    FramesList.exc_desc = property(get_description, set_description)
    read_thread_names_directly(pydevd_thread_lifecycle.mark_thread_suspended)
    read_thread_names_directly(NetCommandFactoryJson.make_list_threads_message)


def read_thread_names_directly(function):
    """Make a function of pydevd read a thread's `_name`, and not the property `name`, which the program may
    override."""
    code = getattr(function, "__code__", None)
    if isinstance(code, types.CodeType) and "name" in code.co_names:
        names = tuple("_name" if name == "name" else name for name in code.co_names)
        function.__code__ = code.replace(co_names=names)
