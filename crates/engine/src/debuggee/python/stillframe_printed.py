"""The text of an exception as Python prints it, with causes, notes and the parts of a group, without the frames of
libraries and of the debugger.

pydevd's text has no parts of groups, and wrong lines of code where a statement has several.
"""

import sys
import traceback

# How many frames of each exception are shown, the innermost ones: the first that makes the text short enough.
FRAMES = (50, 10, 3)

# How long a text may be, in characters.
LONGEST = 7500


def text_of(error, trace):
    """An exception that may be on its way out: the frames that it has not left yet come first."""
    for frames in FRAMES:
        text = "".join(formatted(error, trace, frames))
        if len(text) <= LONGEST:
            break
    return text


def formatted(error, trace, frames):
    printed = traceback.TracebackException(type(error), error, trace)
    keep_users(printed, error, trace, frames, set())
    callers = trace.tb_frame.f_back if trace is not None else None
    above = [frame for frame, _ in traceback.walk_stack(callers) if is_users(frame)] if callers is not None else []
    stack = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in reversed(above))
    printed.stack[:] = innermost(stack + printed.stack, frames)
    return printed.format()


def keep_users(printed, error, trace, frames, seen):
    """Remove the frames of others from what is printed of an exception and of those that belong to it."""
    if printed is None or error is None or id(printed) in seen:
        return
    seen.add(id(printed))
    if printed.stack:
        pairs = zip(printed.stack, traceback.walk_tb(trace))
        printed.stack[:] = innermost([summary for summary, (frame, _) in pairs if is_users(frame)], frames)
    for name in ("__cause__", "__context__"):
        other = getattr(error, name)
        keep_users(getattr(printed, name), other, getattr(other, "__traceback__", None), frames, seen)
    for part, other in zip(getattr(printed, "exceptions", None) or (), getattr(error, "exceptions", None) or ()):
        keep_users(part, other, other.__traceback__, frames, seen)


def innermost(stack, most):
    """The end of a stack. Repeated lines count once, because Python prints how many there are."""
    kept = 0
    for start in range(len(stack), 0, -1):
        is_repeated = start < len(stack) and stack[start - 1] == stack[start]
        kept += not is_repeated
        if kept > most:
            return stack[start:]
    return stack


def is_users(frame):
    """Whether pydevd shows a frame at a stop."""
    debugger = sys.modules["stillframe_agent"].debugger()
    if debugger.get_file_type(frame) is not None:
        return False
    file = frame.f_code.co_filename
    return not (debugger.is_files_filter_enabled and debugger.apply_files_filter(frame, file, False))
