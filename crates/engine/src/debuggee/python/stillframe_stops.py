"""Stops: pauses threads that wait in native code, and decides what happens when pydevd suspends one."""

import functools
import signal
import sys
import time

import stillframe_state as state
from stillframe_breakpoints import is_still_set, is_to_stop
from stillframe_children import RETURN_VALUES, shown_returned
from stillframe_rules import about_to_stop, report_hit
from stillframe_steps import (
    asked_to_step,
    ended_steps,
    is_in_comprehension,
    left_by_exception,
    step_to_handler,
    stepping,
    stepping_from,
    unwinding,
)

# pydevd can only suspend a thread that runs Python code. A signal interrupts the main thread's wait to run this code
# for a moment; afterwards Python resumes the wait.
PAUSE = """
def stillframe_pause(number, frame, clock=clock, sleep=sleep, restore_tracing=restore_tracing):
    restore_tracing()
    end = clock() + 0.2
    while clock() < end:
        sleep(0.002)
"""


def install_pause_handler():
    if not hasattr(signal, "SIGURG") or state.threading.current_thread() is not state.threading.main_thread():
        return
    if signal.getsignal(signal.SIGURG) == signal.SIG_DFL:
        names = {"clock": time.monotonic, "sleep": state.original("time").sleep, "restore_tracing": restore_tracing}
        # pydevd does not suspend in code that it considers its own or a library's.
        exec(compile(PAUSE, "/stillframe/pause.py", "exec"), names)
        signal.signal(signal.SIGURG, names["stillframe_pause"])


def restore_tracing():
    """Up to Python 3.11, an error inside the tracer removes it, for example a RecursionError. If the program catches
    that error, nothing would ever suspend it again."""
    if sys.version_info >= (3, 12) or sys.gettrace() is not None:
        return
    from _pydevd_bundle.pydevd_constants import STATE_SUSPEND

    debugger = sys.modules["pydevd"].get_global_debugger()
    info = getattr(state.threading.current_thread(), "additional_info", None)
    # The program may have sent the signal.
    if debugger is not None and getattr(info, "pydev_state", None) == STATE_SUSPEND:
        trace_again(debugger)


def trace_again(debugger):
    """Trace this thread, which has lost its tracer."""
    debugger.enable_tracing()
    debugger.set_trace_for_frame_and_parents(state.threading.get_ident(), sys._getframe(2))


def follow_stops(pydevd):
    """Patch what happens when pydevd suspends a thread."""
    from _pydevd_bundle import pydevd_api
    from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK, CMD_THREAD_SUSPEND

    suspend = pydevd.PyDB.do_wait_suspend

    @functools.wraps(suspend)
    def do_wait_suspend(self, thread, frame, event, *arguments, **more):
        line, ident = frame.f_lineno, thread.ident
        suspend_for_step = ended_steps.pop(ident, None)
        if suspend_for_step is not None:
            if sys.version_info >= (3, 12):
                if event == "line" and stepping_from.get(ident) == line and stepping.get(ident) is frame:
                    if is_in_comprehension(frame):
                        return None
            elif event == "return" and left_by_exception(frame):
                step_to_handler(thread.additional_info)
                self.set_trace_for_frame_and_parents(ident, frame)
                return None
            suspend_for_step()
        has_hit = ident in about_to_stop
        about_to_stop.discard(ident)
        # Another thread has stopped, and pydevd reports that one.
        is_bystander = getattr(thread, "stop_reason", None) == CMD_THREAD_SUSPEND
        stepping.pop(ident, None)
        stepping_from.pop(ident, None)
        unwinding.end()
        try:
            result = suspend(self, thread, frame, event, *arguments, **more)
        finally:
            # What was returned is new at one stop. pydevd would keep it, also among the variables of a module.
            frame.f_globals.pop(RETURN_VALUES, None)
            while shown_returned:
                shown_returned.pop().clear()
            steps = ident in asked_to_step
            if steps:
                asked_to_step.discard(ident)
                stepping[ident] = frame
                stepping_from[ident] = frame.f_lineno
                unwinding.begin()
        if not is_bystander:
            return result
        if not steps and frame.f_lineno == line:
            if is_still_set(self, frame) if has_hit else event == "line" and is_to_stop(self, frame):
                about_to_stop.add(ident)
                self.set_suspend(thread, CMD_SET_BREAK)
                return self.do_wait_suspend(thread, frame, event, *arguments, **more)
        if has_hit:
            report_hit([])
        return result

    request = pydevd_api.PyDevdAPI.request_step

    @functools.wraps(request)
    def request_step(self, its_debugger, thread_id, *more):
        from _pydevd_bundle.pydevd_thread_lifecycle import pydevd_find_thread_by_id

        asked_to_step.add(getattr(pydevd_find_thread_by_id(thread_id), "ident", None))
        return request(self, its_debugger, thread_id, *more)

    pydevd.PyDB.do_wait_suspend = do_wait_suspend
    pydevd_api.PyDevdAPI.request_step = request_step
