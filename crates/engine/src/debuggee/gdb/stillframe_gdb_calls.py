"""Expressions that call functions of the program: they report no stops, and nothing stops them."""

import gdb
from gdb.dap import breakpoint, events, frames, globalvars, scopes, varref
from stillframe_gdb_values import forget_values


class Call:
    # What is put back when a call for an expression has ended; nothing if there is none.
    before = None
    # A call may need others for its arguments.
    depth = 0


def is_running():
    return Call.before is not None


# The numbers that the client knows. The adapter forgets them whenever the program runs.
NUMBERS = [
    (frames, "_all_frames"),
    (frames, "_iter_map"),
    (frames, "thread_ids"),
    (globalvars, "_id_to_scope"),
    (scopes, "_last_return_value"),
    (scopes, "frame_to_scope"),
    (varref, "all_variables"),
]


def on_inferior_call(event):
    if isinstance(event, gdb.InferiorCallPreEvent):
        # The condition of a breakpoint may call a function, too.
        if Call.depth == 0 and events.inferior_running:
            return
        Call.depth += 1
        if Call.depth == 1:
            begin_call()
    elif Call.depth > 0:
        Call.depth -= 1
        if Call.depth == 0:
            end_call()


def begin_call():
    """A breakpoint in the function would leave the program there, and other threads would run past theirs."""
    enabled = [place for place in gdb.breakpoints() if place.enabled]
    numbers = [(module, name, getattr(module, name)) for module, name in NUMBERS if hasattr(module, name)]
    Call.before = (enabled, numbers, gdb.parameter("scheduler-locking"))
    enable(enabled, False)
    gdb.set_parameter("scheduler-locking", "on")


def end_call():
    enabled, numbers, locking = Call.before
    Call.before = None
    gdb.set_parameter("scheduler-locking", locking)
    events.inferior_running = False
    for module, name, value in numbers:
        setattr(module, name, value)
    forget_values()
    enable(enabled, True)


def enable(places, is_enabled):
    with breakpoint.suppress_new_breakpoint_event():
        for place in places:
            if place.is_valid():
                place.enabled = is_enabled


def complete():
    gdb.events.inferior_call.disconnect(events._on_inferior_call)
    gdb.events.inferior_call.connect(on_inferior_call)
