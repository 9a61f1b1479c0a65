"""What the agent asks of pydevd: its debugger, frames, paths and connection."""

import itertools
import os
import sys

import stillframe_state as state
from stillframe_errors import refuse
from stillframe_modules import is_ours


def debugger():
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    return get_global_debugger()


def is_of_debugger(file):
    """Whether a file belongs to pydevd or to stillframe."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(sys.modules["pydevd"].__file__)))
    return is_ours(file) or file.startswith(root + os.sep)


def send_event(kind, **body):
    """Send one of our events on pydevd's connection, in order with its events."""
    import pydevd

    body["kind"] = kind
    pydevd.send_json_message({"type": "event", "event": "stillframe", "body": body})


def say(text):
    """Show our text in the program's output, as the debugger's."""
    import pydevd

    debugger = pydevd.get_global_debugger()
    if debugger is not None:
        debugger.writer.add_command(debugger.cmd_factory.make_console_message(text))


def thread_id():
    from _pydevd_bundle.pydevd_constants import get_current_thread_id

    return get_current_thread_id(state.threading.current_thread())


def find_frame(number):
    """The frame with this ID in DAP."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    frame = debugger().find_frame(thread_id(), BaseSchema._translate_id_from_dap(number))
    if frame is None:
        refuse("the frame is gone")
    return frame


def handles():
    """Objects that the client can expand, by number. They belong to pydevd's record of this suspension and go with it,
    so that no object lives longer than it would without a debugger."""
    tracker = debugger().suspended_frames_manager.get_frame_tracker(thread_id())
    if tracker is None:
        refuse("the thread is not suspended")
    try:
        return tracker.stillframe_handles
    except AttributeError:
        tracker.stillframe_handles = {}
        return tracker.stillframe_handles


numbers = itertools.count(1)


def add_handle(thing):
    number = next(numbers)
    handles()[number] = thing
    return number


def find_handle(number):
    known = handles()
    if number not in known:
        refuse("the value is gone")
    return known[number]


def paths_of(file):
    """The absolute path of a file, and its path in pydevd."""
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_file

    return get_abs_path_real_path_and_base_from_file(file)[:2]


def client_file_of(code):
    """The file of code as the client knows it; None for code without a file."""
    from pydevd_file_utils import map_file_to_client

    file = paths_of(code.co_filename)[0]
    return None if code.co_filename.startswith("<") else map_file_to_client(file)[0]


def breakpoints_in(its_debugger, file):
    """pydevd's breakpoints in a file, by line; falsy if there are none."""
    return its_debugger.breakpoints and its_debugger.breakpoints.get(paths_of(file)[1])
