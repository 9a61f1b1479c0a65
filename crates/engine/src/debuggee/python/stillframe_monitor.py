"""Fast recording for Python 3.12 and newer: lines are monitored with `sys.monitoring` under our own tool ID, bypassing
pydevd.

pydevd handles the first hit of a location, as at every breakpoint. If the location only records, the line of that code
object is taken over: pydevd forgets it, and our own line events are enabled. The switch is atomic: a chain of C
functions within which no other thread runs. Python calls the tool with the higher ID first, so if pydevd handles a line
again because breakpoints have changed and it re-examines all code, it is known whether we have handled it.

pydevd 1.8.22 keeps what it knows of a code object in `_code_to_func_code_info_cache`, by equality.
"""

import collections
import dis
import functools
import operator
import sys
import threading
import weakref

from stillframe_debugger import breakpoints_in, debugger, paths_of
from stillframe_rules import place_of, records_at, ways_back_in

# Unreserved tool IDs. Coverage, profilers and debuggers have reserved ones.
TOOLS = (4, 3)

# A C function that accepts anything and returns a falsy value.
NEVER = "".format

monitoring = getattr(sys, "monitoring", None)
partial = functools.partial

tool = None
# Counts the changes of breakpoints.
changes = 0
# The program's threads have been asked to end. pydevd no longer handles the main thread.
ended = False
turn = threading.Lock()

# Monitored lines, by the ID of the code object.
taken = {}
# References to those code objects.
codes = {}
# The same by file and equality, because pydevd forgets all equal code objects at once.
forgotten = {}
# The last location that each thread reached by one of our events: the ID of the frame, and the offset.
last = {}
# Lines that cannot be taken over, by the ID of the code object.
refused = set()


class Line:
    """A monitored line."""

    def __init__(self, place, records, code):
        self.place = place
        self.records = records
        self.ways_back = frozenset(ways_back_in(code))
        self.checked = changes

    def is_still_there(self, code, line):
        """Whether the breakpoint is unchanged since the last change of breakpoints."""
        now = changes
        if self.checked != now:
            place = place_at(code, line)
            records = records_at(place, code)
            if not records:
                return False
            self.place, self.records, self.checked = place, records, now
        return True


def place_at(code, line):
    """The location number of one of pydevd's breakpoints."""
    lines = breakpoints_in(debugger(), code.co_filename)
    return place_of(lines[line]) if lines and line in lines else None


def comes_first(frame):
    """Whether we have already handled the event that pydevd reports."""
    watched = frame.f_lineno in taken.get(id(frame.f_code), ())
    return watched and last.get(threading.get_ident()) == (id(frame), frame.f_lasti)


# ---------------------------------------------------------------------------------------------------------
# Events


def on_line(code, line, frame_at=sys._getframe, thread=threading.get_ident):
    """A line event of monitored code, not only of monitored lines."""
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
    """Code starts or resumes for the first time since a change. It may equal other monitored code, as in a module that
    was loaded twice."""
    key = in_file(code)
    if id(code) not in taken and key in forgotten:
        if not turn.acquire(False):
            return None
        try:
            if key in forgotten:
                in_one_piece(watching(code, forgotten[key]))
        finally:
            turn.release()
    return monitoring.DISABLE


# ---------------------------------------------------------------------------------------------------------
# Taking lines over


def take_over(place, frame, records):
    """Handle hits of a line in the frame's code with our own events from now on, for `records`."""
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
        # Recording with pydevd works as well.
        refused.add(key)
    finally:
        turn.release()


def can_be_taken(place, frame):
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if not PYDEVD_USE_SYS_MONITORING:
        # It was configured to use a trace function.
        return False
    code, line = frame.f_code, frame.f_lineno
    if place_at(code, line) != place:
        # Function breakpoints are locations too, but are hit on entry.
        return False
    if debugger().apply_files_filter(frame, paths_of(code.co_filename)[0], True):
        # pydevd has additional rules for library code.
        return False
    instructions = list(dis.get_instructions(code))
    if sys.version_info >= (3, 13):
        return not is_entered_at(instructions, code, line)
    return not is_jumped_to_from_itself(instructions, code, line)


def is_entered_at(instructions, code, line):
    """Whether the line begins where the function does, as in a lambda. Python 3.13.0 reports no more events of such a
    line to any tool once one tool has disabled them there."""
    starts = {offset for offset, start in dis.findlinestarts(code) if start == line}
    return any(each.opname == "RESUME" and each.offset in starts for each in instructions)


def is_jumped_to_from_itself(instructions, code, line):
    """Whether this line is a one-line loop. In Python 3.12 its next iteration is not a line event, and pydevd
    synthesizes one."""
    spans = [span for span in code.co_lines() if span[2] is not None]

    def lines_at(offset):
        # pydevd includes the end of a span.
        return {where for start, end, where in spans if start <= offset <= end}

    jumps = [each for each in instructions if each.opcode in dis.hasjrel and each.argval < each.offset]
    return any(line in lines_at(jump.offset) & lines_at(jump.argval) for jump in jumps)


def has_tool():
    """Whether a tool ID is available."""
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
    """pydevd's breakpoints by file, with a replaceable `get`."""


def begin(frame, lines):
    """Make pydevd forget the lines in the frame's code, and monitor them."""
    code, its_debugger, cache = frame.f_code, debugger(), pydevds_cache()
    if type(its_debugger.breakpoints) is not Breakpoints:
        its_debugger.breakpoints = Breakpoints(its_debugger.breakpoints)
    breakpoints, file = its_debugger.breakpoints, paths_of(code.co_filename)[1]
    left = {line: each for line, each in breakpoints[file].items() if line not in lines}
    forgotten[in_file(code)] = lines
    monitoring.set_events(tool, monitoring.events.PY_START | monitoring.events.PY_RESUME)
    try:
        in_one_piece(
            [
                # What pydevd calls to analyze the code again must be in C too.
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
        forgotten.pop(in_file(code), None)
        raise


def in_one_piece(steps):
    """Call C functions. No other thread runs between two of them."""
    collections.deque(map(operator.call, steps), maxlen=0)


def watching(code, lines):
    """The calls that enable our events in a code object, including lines where they were disabled."""
    number = id(code)
    return [
        partial(monitoring.set_local_events, tool, code, 0),
        partial(monitoring.set_local_events, tool, code, monitoring.events.LINE),
        partial(operator.setitem, taken, number, lines),
        partial(operator.setitem, codes, number, weakref.ref(code, partial(forget, number))),
    ]


def forget(number, reference):
    """A code object was deleted."""
    if codes.get(number) is reference:
        del codes[number]
        taken.pop(number, None)


def in_file(code):
    """What code objects of the same text in the same file have in common: they are equal in two files, too."""
    return code.co_filename, code


def twins(code):
    """Other equal code objects of the file: monitored ones, and those of running frames."""
    candidates = [reference() for reference in codes.values()]
    for frame in sys._current_frames().values():
        while frame is not None:
            candidates.append(frame.f_code)
            frame = frame.f_back
    found = {id(each): each for each in candidates if each is not code and in_file(each) == in_file(code)}
    return found.values()


def pydevds_module():
    from _pydevd_sys_monitoring import pydevd_sys_monitoring

    # It has a compiled and a pure Python version.
    return sys.modules[pydevd_sys_monitoring.FuncCodeInfo.__module__]


def pydevds_cache():
    return pydevds_module()._code_to_func_code_info_cache


def is_still_watched(watched, code, line):
    """Whether the line is still monitored after a change of breakpoints."""
    try:
        if watched.is_still_there(code, line):
            return True
        drop(code, line)
    except Exception:
        # Without pydevd there is nothing to record.
        pass
    return False


def drop(code, line):
    """A breakpoint was removed, or no longer only records. pydevd has been notified of the change."""
    with turn:
        lines = {other: watched for other, watched in taken.get(id(code), {}).items() if other != line}
        if lines:
            taken[id(code)] = forgotten[in_file(code)] = lines
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
    """Stop monitoring all lines. pydevd examines the code again when it runs next."""
    global tool, turn
    turn = threading.Lock()
    if tool is not None:
        monitoring.set_events(tool, 0)
        for reference in list(codes.values()):
            code = reference()
            if code is not None:
                monitoring.set_local_events(tool, code, 0)
        for _, code in forgotten:
            pydevds_cache().pop(code, None)
        for event in (monitoring.events.LINE, monitoring.events.PY_START, monitoring.events.PY_RESUME):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
        tool = None
    for table in (taken, codes, forgotten, last, refused):
        table.clear()
