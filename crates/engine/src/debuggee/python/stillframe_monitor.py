"""The fast way to record, for Python 3.12 and newer: lines are watched by `sys.monitoring` under a tool number
of our own, past pydevd.

The first pass of a place comes by pydevd, as at every breakpoint. If all that is there records, the line is
taken over in that code object: pydevd is made to forget it there, and our own line events are switched on. What
changes the sides happens in one piece, a chain of C functions within which no other thread runs. Python asks
the tool with the higher number first, so when pydevd comes to a line all the same, because breakpoints have
changed and it looks at all code anew, it is known whether we were there.

pydevd 1.8.22 keeps what it knows of a code object in `_code_to_func_code_info_cache`, by equality.
"""

import collections
import dis
import functools
import operator
import sys
import threading
import weakref

import stillframe_agent as agent

# Those without a meaning. Coverage, profilers and debuggers have their own.
TOOLS = (4, 3)

# Takes anything and gives what is false, in C.
NEVER = "".format

monitoring = getattr(sys, "monitoring", None)
partial = functools.partial

tool = None
# Counts the changes of breakpoints.
changes = 0
# The threads of the program are told to end. pydevd does not look at the main thread any more.
ended = False
turn = threading.Lock()

# What is watched: by the identity of the code object a dictionary of lines.
taken = {}
# References to those code objects.
codes = {}
# The same by equality, for what pydevd has forgotten it has forgotten in all code that is equal.
forgotten = {}
# Where each thread has come to by an event of ours: the identity of the frame, and the instruction.
last = {}
# Lines that cannot be taken over, by the identity of the code object.
refused = set()


class Line:
    """A line that is watched."""

    def __init__(self, place, records, code):
        self.place = place
        self.records = records
        self.ways_back = frozenset(agent.ways_back_in(code))
        self.checked = changes

    def is_still_there(self, code, line):
        """Looks whether the breakpoint is the one that it was before the last change."""
        now = changes
        if self.checked != now:
            place = place_at(code, line)
            records = agent.records_at(place)
            if not records:
                return False
            self.place, self.records, self.checked = place, records, now
        return True


def place_at(code, line):
    """The place that a breakpoint of pydevd's stands for."""
    lines = agent.breakpoints_in(agent.debugger(), code.co_filename)
    return agent.place_of(lines[line]) if lines and line in lines else None


def comes_first(frame):
    """Whether the event that pydevd tells of has been one of ours before."""
    watched = frame.f_lineno in taken.get(id(frame.f_code), ())
    return watched and last.get(threading.get_ident()) == (id(frame), frame.f_lasti)


# ---------------------------------------------------------------------------------------------------------
# Events


def on_line(code, line, frame_at=sys._getframe, thread=threading.get_ident):
    """A line of code that is watched, not only of one of the lines."""
    lines = taken.get(id(code))
    if lines is None:
        return None
    watched = lines.get(line)
    if watched is None:
        return monitoring.DISABLE
    frame = frame_at(1)
    if watched.checked != changes and not is_still_watched(watched, code, line):
        return None
    last[thread()] = (id(frame), frame.f_lasti)
    if frame.f_lasti in watched.ways_back or ended and threading.current_thread() is threading.main_thread():
        return None
    for record in watched.records:
        record.passed(frame)
    return None


def on_start(code, offset):
    """Code runs, or goes on, for the first time since something has changed. It may be equal to other code
    that is watched, as a module's is that was loaded a second time."""
    if id(code) not in taken and code in forgotten:
        if not turn.acquire(False):
            return None
        try:
            if code in forgotten:
                in_one_piece(watching(code, forgotten[code]))
        finally:
            turn.release()
    return monitoring.DISABLE


# ---------------------------------------------------------------------------------------------------------
# Changing sides


def take_over(place, frame, records):
    """Has the passes of a line in the frame's code come to `records` by events of ours from now on."""
    code, line = frame.f_code, frame.f_lineno
    key = (id(code), line, changes)
    if ended or key in refused or not turn.acquire(False):
        return
    try:
        if can_be_taken(place, frame) and has_tool():
            begin(frame, {**taken.get(id(code), {}), line: Line(place, records, code)})
        else:
            refused.add(key)
    except Exception:
        # The way by pydevd is as right.
        refused.add(key)
    finally:
        turn.release()


def can_be_taken(place, frame):
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        # It was told to use a trace function.
        return False
    code, line = frame.f_code, frame.f_lineno
    if place_at(code, line) != place:
        # Functions are places too, but those are entered and not passed.
        return False
    if agent.debugger().apply_files_filter(frame, agent.paths_of(code.co_filename)[0], True):
        # For a library's code pydevd has more to keep in mind.
        return False
    instructions = list(dis.get_instructions(code))
    if sys.version_info >= (3, 13):
        return not is_entered_at(instructions, code, line)
    return not is_jumped_to_from_itself(instructions, code, line)


def is_entered_at(instructions, code, line):
    """Whether the line begins where the function does, as in a lambda. Python 3.13.0 tells nobody of such a
    line any more when one tool has switched the events off there."""
    starts = {offset for offset, start in dis.findlinestarts(code) if start == line}
    return any(each.opname == "RESUME" and each.offset in starts for each in instructions)


def is_jumped_to_from_itself(instructions, code, line):
    """Whether a loop is on this line alone. In Python 3.12 coming round in it is no line event, and pydevd
    makes one up."""
    spans = [span for span in code.co_lines() if span[2] is not None]

    def lines_at(offset):
        # pydevd counts the end of a span to it.
        return {where for start, end, where in spans if start <= offset <= end}

    jumps = [each for each in instructions if each.opcode in dis.hasjrel and each.argval < each.offset]
    return any(line in lines_at(jump.offset) & lines_at(jump.argval) for jump in jumps)


def has_tool():
    """Whether there is a number for us."""
    global tool
    if tool is None:
        for number in TOOLS:
            if monitoring.get_tool(number) is None:
                monitoring.use_tool_id(number, "stillframe")
                monitoring.register_callback(number, monitoring.events.LINE, on_line)
                monitoring.register_callback(number, monitoring.events.PY_START, on_start)
                monitoring.register_callback(number, monitoring.events.PY_RESUME, on_start)
                tool = number
                break
    return tool is not None


class Breakpoints(dict):
    """pydevd's breakpoints by file, with room for another `get`."""


def begin(frame, lines):
    """Has pydevd forget the lines in the frame's code, and us watch them."""
    code, its_debugger, cache = frame.f_code, agent.debugger(), pydevds_cache()
    if type(its_debugger.breakpoints) is not Breakpoints:
        its_debugger.breakpoints = Breakpoints(its_debugger.breakpoints)
    breakpoints, file = its_debugger.breakpoints, agent.paths_of(code.co_filename)[1]
    left = {line: each for line, each in breakpoints[file].items() if line not in lines}
    forgotten[code] = lines
    monitoring.set_events(tool, monitoring.events.PY_START | monitoring.events.PY_RESUME)
    try:
        in_one_piece(
            [
                # What pydevd calls to know the code again has to be in C too.
                partial(setattr, breakpoints, "get", {file: left}.get),
                partial(setattr, its_debugger, "apply_files_filter", NEVER),
                partial(cache.pop, code, None),
                partial(pydevds_module()._get_func_code_info, code, frame),
                partial(delattr, its_debugger, "apply_files_filter"),
                partial(delattr, breakpoints, "get"),
            ]
            + watching(code, lines)
            + [step for twin in twins(code) for step in watching(twin, lines)]
        )
    except BaseException:
        vars(its_debugger).pop("apply_files_filter", None)
        vars(breakpoints).pop("get", None)
        cache.pop(code, None)
        forgotten.pop(code, None)
        raise


def in_one_piece(steps):
    """Calls functions that are written in C. Between two of them no other thread runs."""
    collections.deque(map(operator.call, steps), maxlen=0)


def watching(code, lines):
    """The steps that switch our events on in a code object, at lines too where they were switched off."""
    number = id(code)
    return [
        partial(monitoring.set_local_events, tool, code, 0),
        partial(monitoring.set_local_events, tool, code, monitoring.events.LINE),
        partial(operator.setitem, taken, number, lines),
        partial(operator.setitem, codes, number, weakref.ref(code, partial(forget, number))),
    ]


def forget(number, reference):
    """A code object is gone."""
    if codes.get(number) is reference:
        del codes[number]
        taken.pop(number, None)


def twins(code):
    """Other code objects that are equal: those that are watched, and those of frames that run."""
    candidates = [reference() for reference in codes.values()]
    for frame in sys._current_frames().values():
        while frame is not None:
            candidates.append(frame.f_code)
            frame = frame.f_back
    found = {id(each): each for each in candidates if each is not code and each == code}
    return found.values()


def pydevds_module():
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    # There is a compiled version of it, and one that is not.
    return sys.modules[pydevd_sys_monitoring.FuncCodeInfo.__module__]


def pydevds_cache():
    return pydevds_module()._code_to_func_code_info_cache


def is_still_watched(watched, code, line):
    """Whether the line is, after a change of breakpoints."""
    try:
        if watched.is_still_there(code, line):
            return True
        drop(code, line)
    except Exception:
        # Without pydevd there is nothing to watch for.
        pass
    return False


def drop(code, line):
    """A breakpoint is not there any more, or not one that only records. pydevd knows, since it was told of
    the change."""
    with turn:
        lines = {other: watched for other, watched in taken.get(id(code), {}).items() if other != line}
        if lines:
            taken[id(code)] = forgotten[code] = lines
            return
        monitoring.set_local_events(tool, code, 0)
        taken.pop(id(code), None)
        codes.pop(id(code), None)
        if not taken:
            forgotten.clear()


def breakpoints_changed():
    global changes
    changes += 1
    refused.clear()


def stop():
    """Gives up all lines, and listens to nothing. pydevd looks at the code anew when it comes there again."""
    global tool, turn
    turn = threading.Lock()
    if tool is not None:
        monitoring.set_events(tool, 0)
        for reference in list(codes.values()):
            code = reference()
            if code is not None:
                monitoring.set_local_events(tool, code, 0)
        for code in forgotten:
            pydevds_cache().pop(code, None)
        for event in (monitoring.events.LINE, monitoring.events.PY_START, monitoring.events.PY_RESUME):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
        tool = None
    for table in (taken, codes, forgotten, last, refused):
        table.clear()
