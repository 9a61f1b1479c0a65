"""Our threads, which neither the program nor pydevd sees, names of pydevd's, and the program's beside greenlets."""

import functools
import itertools
import os
import sys
import types
import weakref

import stillframe_state as state

# With `sys.monitoring`, pydevd looks for the beginning of each thread that runs code, and makes a thread object, which the
# program sees, for one that does not begin in such a function. One that does is taken for a thread in the making.
BOOTSTRAP = """
def _bootstrap(run):
    run()
"""
BOOTSTRAP_FILE = "/stillframe/threading.py"


def start_thread(run):
    """Start a thread that pydevd does not trace: pydevd replaces the function that starts threads."""
    names = {}
    exec(compile(BOOTSTRAP, BOOTSTRAP_FILE, "exec"), names)
    thread = state.original("_thread")
    getattr(thread, "_original_start_new_thread", thread.start_new_thread)(names["_bootstrap"], (run,))


def is_own_thread(frame):
    """Whether a thread that is at this frame is ours, or that of an earlier debugger of the program."""
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename == BOOTSTRAP_FILE


def leave_own_threads():
    """With a tracer, pydevd traces all threads when it starts, and makes thread objects for those that have none."""
    import pydevd_tracing

    trace = pydevd_tracing.set_trace_to_threads

    @functools.wraps(trace)
    def set_trace_to_threads(tracing_func, thread_idents=None, create_dummy_thread=True):
        if thread_idents is None:
            is_its = lambda ident: getattr(state.threading._active.get(ident), "pydev_do_not_trace", False)
            own_threads = {ident for ident, frame in sys._current_frames().items() if is_own_thread(frame)}
            idents = {*sys._current_frames(), *state.threading._active} - own_threads
            thread_idents = [ident for ident in idents if not is_its(ident)]
        return trace(tracing_func, thread_idents, create_dummy_thread)

    pydevd_tracing.set_trace_to_threads = set_trace_to_threads


def name_threads():
    """Leave the numbers in the default names of threads to those of the program."""
    from _pydevd_bundle import pydevd_daemon_thread

    kind = pydevd_daemon_thread.PyDBDaemonThread

    def __init__(self, py_db, target_and_args=None):
        state.threading.Thread.__init__(self, name="pydevd")
        pydevd_daemon_thread.notify_about_gevent_if_needed()
        self._py_db = weakref.ref(py_db)
        self._kill_received = False
        pydevd_daemon_thread.mark_as_pydevd_daemon_thread(self)
        self._target_and_args = target_and_args

    kind.__init__ = __init__
    # pydevd has created a thread when it was imported. A program that it is attached to may have created others.
    threading = sys.modules["threading"]
    if repr(threading._counter.__self__) == "count(2)":
        threading._counter = itertools.count(1).__next__


def follow_plain_threads():
    """With gevent, pydevd has a copy of `threading`, and knows only threads that this has started. Let it know those of
    the program, except those that gevent makes of greenlets."""
    from _pydev_bundle import pydev_monkey

    program, copy = sys.modules["threading"], state.threading
    if program is copy:
        return
    thread_type = copy.Thread

    class ThreadType(type):
        def __instancecheck__(self, value):
            return isinstance(value, thread_type) or copy._active.get(copy.get_ident()) is value

    copy.Thread = ThreadType("Thread", (thread_type,), {})
    for ident in sys._current_frames().keys() & program._active.keys():
        copy._active.setdefault(ident, program._active[ident])

    process = os.getpid()

    def _bootstrap(function, *args):
        if os.getpid() != process:
            # After a fork by gevent, a thread would wait forever at its first stop.
            return function(*args)
        ident = copy.get_ident()
        copy._active[ident] = function.__self__
        try:
            pydev_monkey._UseNewThreadStartup(function, args, {})()
        finally:
            copy._active.pop(ident, None)

    # pydevd takes a thread that is here for one in the making. It would make a thread object for it otherwise.
    _bootstrap.__code__ = _bootstrap.__code__.replace(co_filename=program.__file__)

    def follow(start):
        return lambda function, *args, **options: start(functools.partial(_bootstrap, function), *args, **options)

    for name in ("_start_new_thread", "_start_joinable_thread"):
        # Otherwise gevent has replaced it already.
        if isinstance(getattr(program, name, None), types.BuiltinFunctionType):
            setattr(program, name, follow(getattr(program, name)))
