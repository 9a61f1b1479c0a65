"""Records values at breakpoints inside GDB while the program runs, and resumes it where a condition is false.

GDB calls a breakpoint's `stop` at each hit, and reports no stop where this returns false. Code of the program cannot run
then, so a hit that needs that is left to the client.
"""

import gdb
import stillframe_gdb_values as values
import stillframe_rows as rows
from gdb.dap import breakpoint as breakpoints
from stillframe_gdb_requests import command, name_of


class State:
    # By GDB's number of the breakpoint.
    places = {}
    # The rules whose last hit in a thread is left to the client, by the thread's number.
    left = {}
    # The next hit stops the program.
    is_pausing = False


class Recording(gdb.Breakpoint):
    """A breakpoint of the client."""

    def stop(self):
        place = State.places.get(self.number)
        if place is None:
            return True
        hit = Hit()
        with gdb.with_parameter("may-call-functions", "off"):
            unfinished = place.record(hit)
            stops = State.is_pausing or bool(unfinished) or place.may_stop(hit)
        State.is_pausing = False
        if unfinished:
            State.left.setdefault(hit.number, []).extend(unfinished)
        return stops


class Hit:
    """A thread at a breakpoint."""

    def __init__(self):
        thread = gdb.selected_thread()
        self.number = thread.global_num
        self.pid = thread.ptid[0]
        self.thread = name_of(thread)

    def met(self, condition):
        """Whether a condition is true; None where it fails."""
        kind, text = self.cell(condition, rows.LONG_MESSAGE)
        return None if kind is None else rows.is_true(text)

    def cell(self, expression, limit):
        try:
            value = gdb.parse_and_eval(expression)
            return rows.cell(str(value.type), values.shown(value), limit)
        except Exception as error:
            if "may-call-functions is off" in str(error):
                raise rows.Left from error
            return rows.error(str(error))

    def comparable(self, kind, text, limit):
        return kind, text[:limit], len(text) > limit


@command("stillframe-record")
def record(text):
    """Record, or examine conditions, at these breakpoints, in place of those before. `pause` stops at the next hit;
    `left THREAD` prints the rules whose hit is left to the client."""
    if text == "pause":
        State.is_pausing = True
        return ""
    if text.startswith("left "):
        return f"left {State.left.pop(int(text[5:]), [])}"
    State.places = rows.placed(text, State.places)
    State.is_pausing = False
    return "recording"


def made(make):
    def breakpoint(*, logMessage=None, **arguments):
        return Recording(**arguments) if logMessage is None else make(logMessage=logMessage, **arguments)

    return breakpoint


def complete():
    breakpoints._set_one_breakpoint = made(breakpoints._set_one_breakpoint)
