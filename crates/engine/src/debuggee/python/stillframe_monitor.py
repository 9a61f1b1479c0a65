"""The fast way to record, for Python 3.12 and newer: places are watched by `sys.monitoring` under a tool number
of our own, past pydevd.

The first pass of a place comes by pydevd, as at every breakpoint. If all that is there records, the line is
taken over in that code object: pydevd is made to forget the line in it, and our own line events are switched
on. A change of breakpoints gives everything back. Either way a pass is told to one of the two, because what
changes the sides happens in one piece: a chain of C functions, within which no other thread runs.

pydevd 1.8.22 keeps what it knows of a code object in `_code_to_func_code_info_cache`, by equality. It is made
again after `PyDB.mtime` has changed.
"""

import collections
import dis
import functools
import operator
import sys
import threading
import weakref

import stillframe_inspector as inspector

# Those without a meaning. Coverage, profilers and debuggers have their own.
TOOLS = (4, 3)

# Takes anything and gives what is false, in C.
NEVER = "".format

monitoring = getattr(sys, "monitoring", None)
partial = functools.partial

tool = None
ended = False
turn = threading.Lock()

# What happens at lines, by the identity of the code object: tuples of the instructions at which the line is
# only come back to, and of the records.
taken = {}
# The same before the last release: an event may have begun before it.
earlier = {}
# References to the code objects of `taken`.
codes = {}
# What pydevd has forgotten, which is so for all code objects that are equal.
forgotten = {}
# Places that cannot be taken over in a code object.
refused = set()


def in_one_piece(steps):
    """Calls functions that are written in C. Between two of them no other thread runs."""
    collections.deque(map(operator.call, steps), maxlen=0)


def is_taken(frame):
    return frame.f_lineno in taken.get(id(frame.f_code), ())


def take_over(place, frame, records):
    """Has the passes of a line in the frame's code come to `records` by the events of ours from now on."""
    code, line = frame.f_code, frame.f_lineno
    key = (id(code), line, place)
    if ended or key in refused or not turn.acquire(False):
        return
    try:
        if can_be_taken(place, frame) and has_tool():
            lines = dict(taken.get(id(code), ()))
            lines[line] = (frozenset(inspector.ways_back_in(code)), records)
            begin(frame, lines)
        else:
            refused.add(key)
    except Exception:
        # The way by pydevd is as right.
        refused.add(key)
    finally:
        turn.release()


def can_be_taken(place, frame):
    its_debugger, code, line = inspector.debugger(), frame.f_code, frame.f_lineno
    lines = inspector.breakpoints_in(its_debugger, code.co_filename)
    if not lines or line not in lines or inspector.place_of(lines[line]) != place:
        # Functions are places too, but those are entered and not passed.
        return False
    path = inspector.paths_of(code.co_filename)[0]
    # For a library's code pydevd has more to keep in mind.
    return not its_debugger.apply_files_filter(frame, path, True) and not is_jumped_to_from_itself(code, line)


def is_jumped_to_from_itself(code, line):
    """Whether a loop is on this line alone. In Python 3.12 coming round in it is no line event, and pydevd
    makes one up."""
    if sys.version_info >= (3, 13):
        return False
    spans = [span for span in code.co_lines() if span[2] is not None]

    def lines_at(offset):
        # pydevd counts the end of a span to it.
        return {where for start, end, where in spans if start <= offset <= end}

    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasjrel and instruction.argval < instruction.offset:
            if line in lines_at(instruction.offset) & lines_at(instruction.argval):
                return True
    return False


def has_tool():
    """Whether there is a number for us."""
    global tool
    if tool is not None:
        return True
    for number in TOOLS:
        if monitoring.get_tool(number) is None:
            monitoring.use_tool_id(number, "stillframe")
            monitoring.register_callback(number, monitoring.events.LINE, on_line)
            monitoring.register_callback(number, monitoring.events.PY_START, on_start)
            monitoring.register_callback(number, monitoring.events.PY_RESUME, on_start)
            tool = number
            return True
    return False


def begin(frame, lines):
    """Changes sides for the code of a frame."""
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    # There is a compiled version of it, and one that is not.
    theirs = sys.modules[pydevd_sys_monitoring.FuncCodeInfo.__module__]
    cache, code, its_debugger = theirs._code_to_func_code_info_cache, frame.f_code, inspector.debugger()
    if type(its_debugger.breakpoints) is not Breakpoints:
        its_debugger.breakpoints = Breakpoints(its_debugger.breakpoints)
    breakpoints = its_debugger.breakpoints
    theirs_here = inspector.breakpoints_in(its_debugger, code.co_filename)
    left = {line: breakpoint for line, breakpoint in theirs_here.items() if line not in lines}
    forgotten[code] = lines
    monitoring.set_events(tool, monitoring.events.PY_START | monitoring.events.PY_RESUME)
    try:
        in_one_piece(
            [
                # What pydevd calls to know a code object again is put into C too.
                partial(setattr, breakpoints, "get", {inspector.paths_of(code.co_filename)[1]: left}.get),
                partial(setattr, its_debugger, "apply_files_filter", NEVER),
                partial(cache.pop, code, None),
                partial(theirs._get_func_code_info, code, frame),
                partial(delattr, its_debugger, "apply_files_filter"),
                partial(delattr, breakpoints, "get"),
            ]
            + watching(code, lines)
            + [step for twin in running_twins(code) for step in watching(twin, lines)]
        )
    except BaseException:
        vars(its_debugger).pop("apply_files_filter", None)
        vars(breakpoints).pop("get", None)
        cache.pop(code, None)
        forgotten.pop(code, None)
        raise


def watching(code, lines):
    """The steps that switch our events on in a code object. What was switched off at single lines is so no more."""
    forget = partial(forget_code, id(code))
    return [
        partial(monitoring.set_local_events, tool, code, 0),
        partial(monitoring.set_local_events, tool, code, monitoring.events.LINE),
        partial(operator.setitem, taken, id(code), lines),
        partial(operator.setitem, codes, id(code), weakref.ref(code, forget)),
    ]


def forget_code(number, reference):
    if codes.get(number) is reference:
        del codes[number]
        taken.pop(number, None)


def running_twins(code):
    """Other code objects that are equal, as those of a module that was loaded twice, in frames that run."""
    found = {}
    for frame in sys._current_frames().values():
        while frame is not None:
            if frame.f_code is not code and frame.f_code == code:
                found[id(frame.f_code)] = frame.f_code
            frame = frame.f_back
    return found.values()


class Breakpoints(dict):
    """pydevd's breakpoints by file, with room for another `get`."""


def on_line(code, line, frame_at=sys._getframe):
    """A line event of ours."""
    lines = taken.get(id(code)) or earlier.get(id(code))
    if lines is None:
        return None
    found = lines.get(line)
    if found is None:
        return monitoring.DISABLE
    frame = frame_at(1)
    if frame.f_lasti not in found[0]:
        for record in found[1]:
            record.passed(frame)
    return None


def on_start(code, offset):
    """Code begins to run, or goes on, that has not since the last change. It may be a twin."""
    if id(code) not in taken and code in forgotten:
        if not turn.acquire(False):
            return None
        try:
            lines = forgotten.get(code)
            if lines is not None:
                in_one_piece(watching(code, lines))
        finally:
            turn.release()
    return monitoring.DISABLE


def release():
    """Gives all lines back to pydevd."""
    global taken, earlier
    with turn:
        refused.clear()
        earlier = taken
        if not taken:
            return
        its_debugger = inspector.debugger()
        steps = [partial(monitoring.set_events, tool, 0)]
        for code in [reference() for reference in codes.values()]:
            if code is not None:
                steps.append(partial(monitoring.set_local_events, tool, code, 0))
                steps.append(partial(monitoring.set_local_events, monitoring.DEBUGGER_ID, code, pydevds_events(code)))
        if its_debugger is not None:
            steps.append(partial(setattr, its_debugger, "mtime", its_debugger.mtime + 1))
        steps.append(monitoring.restart_events)
        taken = {}
        in_one_piece(steps)
        codes.clear()
        forgotten.clear()


def pydevds_events(code):
    """What pydevd listens to in code with breakpoints."""
    events = monitoring.events
    return monitoring.get_local_events(monitoring.DEBUGGER_ID, code) | events.LINE | events.JUMP


def end():
    """Gives all lines back for good."""
    global ended
    ended = True
    release()


def restart():
    """In a child that was forked off."""
    global turn
    turn = threading.Lock()
    release()
