"""Steps: makes them end where the user expects it, where pydevd loses them or ends them elsewhere."""

import dis
import functools
import inspect
import json
import opcode
import sys

import stillframe_state as state
from stillframe_children import NOT_RETURNED
from stillframe_debugger import debugger, send_event

# Flags of the code of generators and coroutines.
MAY_WAIT = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

# Idents of threads that are still suspended, and will step.
asked_to_step = set()

# The start frames of unfinished steps, by thread ident.
stepping = {}

# The lines of those frames where the steps began.
stepping_from = {}

# By command of pydevd for a step: the one for a step to the next line that runs.
INTO = {}

# What suspends for a step that ends, by thread ident.
ended_steps = {}

# The instructions at which a suspended generator or coroutine is.
WAITING = ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME")


def know_commands():
    """Fill `INTO`."""
    from _pydevd_bundle import pydevd_comm_constants as commands

    of_all = (commands.CMD_STEP_OVER, commands.CMD_STEP_RETURN, commands.CMD_STEP_INTO)
    INTO.update(dict.fromkeys((*of_all, commands.CMD_STEP_INTO_COROUTINE), commands.CMD_STEP_INTO))
    of_users = (commands.CMD_STEP_OVER_MY_CODE, commands.CMD_STEP_RETURN_MY_CODE, commands.CMD_STEP_INTO_MY_CODE)
    INTO.update(dict.fromkeys(of_users, commands.CMD_STEP_INTO_MY_CODE))


def follow_steps(pydevd):
    """Patch pydevd so that steps end where they should."""
    mute_skipped_steps(pydevd)
    mark_what_was_not_returned()
    tell_suspensions_from_returns(pydevd)
    if sys.version_info < (3, 13):
        suspend_late(pydevd)


def mute_skipped_steps(pydevd):
    """At the first step that skips library code, pydevd names a setting of its own in the program's output."""
    pydevd.PyDB.notify_skipped_step_in_because_of_filters = lambda self, frame: None


def report_ended_steps(request):
    """Report functions that have returned since a step began in them, if the thread now runs library code: it may never
    return to user code."""
    names = []
    current = sys._current_frames()
    for ident, frame in list(stepping.items()):
        if has_ended(frame, current.values()) and not runs_users_code(current.get(ident)):
            names.append(frame.f_code.co_name)
            # Do not extend the lifetime of the frame's objects.
            stepping.pop(ident, None)
            cancel_step(ident)
    send_event("found", place=json.loads(request)[0], found=bool(names), names=names)


def cancel_step(ident):
    """Keep pydevd from ending a step later, wherever the thread is then in user code. A thread that has stopped meanwhile
    stays suspended."""
    info = getattr(state.threading._active.get(ident), "additional_info", None)
    if info is not None:
        info.pydev_step_stop = None
        info.pydev_original_step_cmd = info.pydev_step_cmd = -1
        info.update_stepping_info()


def suspend_late(pydevd):
    """With a tracer, pydevd takes the end of a function by an exception for a return, and a step ends in its caller. In
    Python 3.12, it ends at each item of a comprehension. pydevd suspends all threads before it says of what kind the event
    is, and in which frame."""
    set_suspend = pydevd.PyDB.set_suspend

    @functools.wraps(set_suspend)
    def suspend(self, thread, stop_reason, *arguments, **more):
        mark = functools.partial(set_suspend, self, thread, stop_reason, *arguments, **more)
        if stop_reason not in INTO:
            return mark()
        ended_steps[thread.ident] = mark
        return None

    pydevd.PyDB.set_suspend = suspend


@functools.lru_cache(maxsize=256)
def hidden(code):
    """The names that comprehensions hide, with the offsets of the code between which they do.

    From Python 3.12 on, a comprehension runs in the frame around it, which saves its variables of the same names.
    """
    found, saved, running = [], [], []
    for each in dis.get_instructions(code):
        if each.opname == "LOAD_FAST_AND_CLEAR":
            saved.append((each.argval, each.offset))
        elif each.opname == "FOR_ITER":
            # It jumps after the loop, where the variables are restored.
            running += [(name, begin, each.argval) for name, begin in saved]
            saved = []
        elif each.opname == "GET_ANEXT":
            # Where an asynchronous one ends is not marked.
            saved = []
        elif each.opname.startswith("STORE_FAST"):
            for one in running[:]:
                if one[2] <= each.offset and one[0] in stored_names(each):
                    running.remove(one)
                    found.append((one[0], one[1], each.offset))
    return found


def stored_names(instruction):
    """The names that an instruction stores. From Python 3.13 on, it may store two, or store one and load another."""
    names = instruction.argval
    if type(names) is not tuple:
        return (names,)
    return names[:1] if instruction.opname.endswith("LOAD_FAST") else names


def is_in_comprehension(frame):
    return any(begin <= frame.f_lasti <= end for _, begin, end in hidden(frame.f_code))


def left_by_exception(caller):
    """Whether the tracer runs because an exception leaves a function that was called there."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_back is not caller:
        frame = frame.f_back
    return frame is not None and not opcode.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN")


def step_to_handler(info):
    """Have a step end at the next line that runs: that of the `except` or `finally`, if one is in user code."""
    # That for a coroutine does not say whose code to stop in; the requested one does.
    into = INTO.get(info.pydev_original_step_cmd) or INTO[info.pydev_step_cmd]
    info.pydev_step_cmd, info.pydev_step_stop = into, None
    info.update_stepping_info()


# The name that the program sees for our tool.
UNWINDING = "stillframe steps"


class Unwinding:
    """With `sys.monitoring`, pydevd forgets a step whose function an exception leaves, and the program runs on. While
    something steps, our own events show where that happens."""

    def __init__(self):
        self.tool = None
        self.turn = state.threading.Lock()

    def begin(self):
        with self.turn:
            if self.tool is not None or not hasattr(sys, "monitoring"):
                return
            # Unreserved tool IDs; the recorder takes the others first.
            free = [number for number in (3, 4) if sys.monitoring.get_tool(number) is None]
            if free:
                self.tool, events = free[0], sys.monitoring.events
                sys.monitoring.use_tool_id(self.tool, UNWINDING)
                sys.monitoring.register_callback(self.tool, events.PY_UNWIND, on_unwind)
                sys.monitoring.set_events(self.tool, events.PY_UNWIND)

    def end(self):
        with self.turn:
            if self.tool is not None and not stepping:
                # The program may have freed it.
                if sys.monitoring.get_tool(self.tool) == UNWINDING:
                    sys.monitoring.set_events(self.tool, 0)
                    sys.monitoring.register_callback(self.tool, sys.monitoring.events.PY_UNWIND, None)
                    sys.monitoring.free_tool_id(self.tool)
                self.tool = None


unwinding = Unwinding()


def on_unwind(code, offset, error):
    """An exception leaves a function."""
    frame, ident = sys._getframe(1), state.threading.get_ident()
    info = getattr(state.threading._active.get(ident), "additional_info", None)
    if info is None or info.pydev_step_stop is not frame or info.pydev_step_cmd not in INTO:
        return
    from _pydevd_sys_monitoring.pydevd_sys_monitoring import enable_code_tracing

    step_to_handler(info)
    while frame is not None:
        enable_code_tracing(ident, frame.f_code, frame)
        frame = frame.f_back


def has_ended(frame, stacks):
    for other in stacks:
        while other is not None:
            if other is frame:
                return False
            other = other.f_back
    code = frame.f_code
    return not (code.co_flags & MAY_WAIT and opcode.opname[code.co_code[frame.f_lasti]] in WAITING)


def runs_users_code(frame):
    """Whether a step could end in the innermost code of a thread."""
    if frame is None:
        return False
    return not debugger().apply_files_filter(frame, frame.f_code.co_filename, True)


def mark_what_was_not_returned():
    """With a tracer, pydevd also takes the end of a function by an exception, and the suspension of a coroutine, for a
    return. It asks for the class of a function only to name what that has returned."""

    def replace(module, named):
        @functools.wraps(named)
        def get_clsname_for_code(code, frame):
            is_return = opcode.opname[code.co_code[frame.f_lasti]].startswith("RETURN")
            return named(code, frame) if is_return and code.co_name != "stillframe_pause" else NOT_RETURNED

        module.get_clsname_for_code = get_clsname_for_code

    for name, module in list(sys.modules.items()):
        if "pydevd" in name and "get_clsname_for_code" in vars(module):
            replace(module, module.get_clsname_for_code)


class ReturnLine(int):
    """A line with a `return`, which pydevd compares with the line at which a coroutine or generator ends or is suspended.
    They are equal only if it ends: the same line may have an `await`."""

    def __eq__(self, line):
        return int.__eq__(self, line) and not is_suspended(self.code, sys._getframe(1))

    __hash__ = int.__hash__


def is_suspended(code, frame):
    """Whether the tracer runs because the innermost frame with this code is suspended. Python lets a tracer jump from
    there, and only from there; then it refuses the line itself."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    try:
        frame.f_lineno = -1
    except (AttributeError, ValueError) as error:
        return "comes before" in str(error)
    return False


def tell_suspensions_from_returns(pydevd):
    """With a tracer, pydevd takes the suspension of a coroutine on a line with a `return` for its end, and a step over
    the line ends in whatever runs next."""
    collect = pydevd.collect_return_info

    @functools.wraps(collect)
    def collect_return_info(code, *more):
        found = collect(code, *more)
        for each in found:
            each.return_line = ReturnLine(each.return_line)
            each.return_line.code = code
        return found

    pydevd.collect_return_info = collect_return_info
