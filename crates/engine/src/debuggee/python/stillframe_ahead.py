"""Sends what the report of a stop needs before it is requested: the stack, and the variables of the innermost frame.

Each request wakes three threads of the program in turn, and almost every stop is followed by the same two. So a thread
that is about to stop answers what was requested first at the last stop, and its answers arrive before the event of the
stop. No code of the program runs for them: where that is needed to show a value, the variables wait for their request,
whose time is limited.
"""

import functools
import inspect
import sys

import stillframe_debugger
import stillframe_state as state
from stillframe_children import request_locals
from stillframe_rules import report_failures

# What was requested first at the last stop: the number of frames, the arguments of `locals` after the frame, and
# whether no code of the program may run.
expected = None


class NeedsCode(BaseException):
    """Code of the program would have to run. `except Exception` must not absorb it."""


def expect(levels, arguments):
    """Answer the same at the next stop; nothing with 0 levels."""
    global expected
    expected = (levels, arguments, state.side_effect_free) if levels else None


def answer(its_debugger, thread_id):
    """Send the answers of a thread that is about to stop."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    levels, arguments, state.side_effect_free = expected
    report_failures()
    make = its_debugger.cmd_factory.make_get_thread_stack_message
    response = make(its_debugger, 0, thread_id, None, None, must_be_suspended=True, levels=levels)
    stack = response.as_dict["body"]
    innermost = stack["stackFrames"][0]["id"]
    number = BaseSchema._translate_id_to_dap(thread_id)
    stillframe_debugger.send_event("ahead", thread=number, levels=levels, stack=stack, locals=variables(innermost, arguments))


def variables(frame, arguments):
    """The request and its answer; None if it has to wait."""
    state.runs_no_code = True
    try:
        return [[frame, *arguments], request_locals(frame, *arguments)]
    except (NeedsCode, Exception):
        return None
    finally:
        state.runs_no_code = False


def install(pydevd):
    """Answer before each event of a stop."""
    notification = pydevd.ThreadsSuspendedSingleNotification
    # An earlier client may have installed it.
    send = inspect.unwrap(notification.send_suspend_notification)

    @functools.wraps(send)
    def send_suspend_notification(self, thread_id, thread, stop_reason):
        # pydevd also reports a thread that was suspended earlier.
        if expected is not None and thread_id == stillframe_debugger.thread_id():
            try:
                answer(self._py_db(), thread_id)
            except Exception:
                # Everything can still be requested.
                pass
        return send(self, thread_id, thread, stop_reason)

    notification.send_suspend_notification = send_suspend_notification


if "pydevd" in sys.modules:
    install(sys.modules["pydevd"])
