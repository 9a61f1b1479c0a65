"""Stops say which signal or exception they are about, and the end of a program which signal has ended it."""

import os

import gdb
import stillframe_gdb_calls as calls
import stillframe_gdb_dumps as dumps
from gdb.dap import events, launch, startup
from gdb.dap import next as steps
from gdb.dap.server import send_event
from stillframe_gdb_exceptions import signal_information, thrown_information
from stillframe_gdb_program import OUTPUT
from stillframe_gdb_requests import answers


class State:
    """What the adapter's own handlers of events do not pass on."""

    event = None
    exception = None
    has_ended = False
    # The command of a step, with the frame and the line that it began in.
    step = None


def on_stop(event):
    State.event = event
    events._on_stop(event)


def on_exit(event):
    State.event = event
    State.has_ended = True
    events._on_exit(event)


def completing(send):
    def sent(name, body=None):
        if name in ("continued", "stopped") and calls.is_running():
            return
        if name in ("stopped", "exited"):
            OUTPUT.drain()
            body = stopped(body) if name == "stopped" else exited(body)
            if body is None:
                return
        send(name, body)

    return sent


def stopped(body):
    """The body of the event, or nothing for a stop that is not one for the client."""
    event, State.exception = State.event, None
    if dumps.is_open():
        return {**body, "reason": "exception"}
    if body["reason"] == "attach":
        gdb.post_event(lambda: gdb.execute("continue &", to_string=True))
        return None
    if body["reason"] == "step" and is_on_its_line():
        gdb.post_event(lambda: events.exec_and_expect_stop(State.step[0]))
        return None
    if isinstance(event, gdb.SignalEvent) and body["reason"] != "pause":
        State.exception = signal_information(event.stop_signal)
    elif isinstance(event, gdb.BreakpointEvent) and is_catchpoint(event):
        State.exception = thrown_information()
    if State.exception is None:
        return body
    text = f"{State.exception['exceptionId']}: {State.exception['description']}".rstrip(": ")
    return {**body, "reason": "exception", "hitBreakpointIds": [], "text": text}


def is_on_its_line():
    """A step over a function of a library may end after the call, in the middle of the line."""
    if State.step is None:
        return False
    _, frame, line = State.step
    return frame.is_valid() and gdb.newest_frame() == frame and frame.find_sal().line == line


def is_catchpoint(event):
    return any(place.type == getattr(gdb, "BP_CATCHPOINT", None) for place in event.breakpoints)


# What a shell exits with when it cannot run a program.
NOT_STARTED = 127


def exited(body):
    if hasattr(State.event, "exit_code"):
        return body
    ended_by = gdb.convenience_variable("_exitsignal")
    return {**body, "exitCode": NOT_STARTED if ended_by is None else -int(ended_by)}


def remembering(run):
    def begun(command, *arguments, **options):
        State.step = None
        if command in ("step", "next"):
            frame = gdb.newest_frame()
            State.step = (command, frame, frame.find_sal().line)
        try:
            run(command, *arguments, **options)
        except Exception as error:
            # Where a thread has ended meanwhile, the program runs, or its end is reported next.
            if not report_unnoticed_end() and "No such process" not in str(error):
                raise

    return begun


def report_unnoticed_end():
    """GDB does not notice that a program is killed while it is suspended, and fails to resume it."""
    try:
        with open(f"/proc/{gdb.selected_inferior().pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return False
    if fields[0] not in "ZX":
        return False
    # As `wait` reports it; `man 5 proc` has the fields.
    status = int(fields[49])
    send_event("exited", {"exitCode": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)})
    send_event("terminated")
    return True


def starting(run):
    """The adapter answers before it starts the program, and reports no failure of that."""

    def started(command, *arguments, **options):
        try:
            run(command, *arguments, **options)
            problem = ""
        except Exception as error:
            problem = str(error)
        if gdb.selected_inferior().pid == 0 and not State.has_ended:
            text = f"GDB cannot start the program: {problem}".rstrip(": ")
            send_event("output", {"category": "stderr", "output": text + "\n"})
            send_event("exited", {"exitCode": NOT_STARTED})
            send_event("terminated")

    return started


@answers("exceptionInfo", "supportsExceptionInfoRequest")
def exception_info(*, threadId: int, **args):
    if State.exception is None:
        raise startup.DAPException("the thread is not at an exception")
    return State.exception


def complete():
    for name in ("send_event", "send_event_maybe_later"):
        if hasattr(events, name):
            setattr(events, name, completing(getattr(events, name)))
    launch.exec_and_expect_stop = starting(launch.exec_and_expect_stop)
    steps.exec_and_expect_stop = remembering(steps.exec_and_expect_stop)
    gdb.events.stop.disconnect(events._on_stop)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.disconnect(events._on_exit)
    gdb.events.exited.connect(on_exit)
    dumps.complete(on_stop)
