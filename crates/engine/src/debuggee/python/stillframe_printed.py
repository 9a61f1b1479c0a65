"""The text of an exception as Python prints it, with causes, notes and the parts of a group, without the frames of
libraries and of the debugger.

pydevd's text has no parts of groups, and wrong lines of code where a statement has several.
"""

import traceback

from stillframe_debugger import debugger

# How many frames of each exception are shown, the innermost ones: the first that makes the text short enough.
FRAMES = (50, 10, 3)

# How long a text may be, in characters.
LONGEST = 7500


def text_of(error, trace):
    """An exception that may be on its way out: the frames that it has not left yet come first."""
    # This runs the program's `__str__`, so it is done once.
    printed = traceback.TracebackException(type(error), error, trace)
    stacks = {}
    keep_shown(printed, error, trace, stacks)
    callers = trace.tb_frame.f_back if trace is not None else None
    above = [frame for frame, _ in traceback.walk_stack(callers) if is_shown(frame)] if callers is not None else []
    printed.stack[:0] = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in reversed(above))
    stacks[id(printed)] = printed.stack, list(printed.stack)
    for frames in FRAMES:
        for stack, whole in stacks.values():
            stack[:] = innermost(whole, frames)
        text = "".join(printed.format())
        if len(text) <= LONGEST:
            break
    return shortened(text)


def shortened(text):
    """The text without its middle if it is too long: an exception is named at its end, and its cause at its start."""
    if len(text) <= LONGEST:
        return text
    mark = "\n... %d characters left out ...\n"
    half = (LONGEST - len(mark % len(text))) // 2
    return text[:half] + mark % (len(text) - 2 * half) + text[-half:]


def keep_shown(printed, error, trace, stacks):
    """Remove the frames of others from what is printed of an exception and of those that belong to it. Collects the
    stacks, each with a copy, by the identity of what they belong to."""
    if printed is None or error is None or id(printed) in stacks:
        return
    if printed.stack:
        pairs = zip(printed.stack, traceback.walk_tb(trace))
        printed.stack[:] = [summary for summary, (frame, _) in pairs if is_shown(frame)]
    stacks[id(printed)] = printed.stack, list(printed.stack or ())
    for name in ("__cause__", "__context__"):
        other = getattr(error, name)
        keep_shown(getattr(printed, name), other, getattr(other, "__traceback__", None), stacks)
    # An exception that is not a group may have a property of this name.
    parts = getattr(printed, "exceptions", None)
    for part, other in zip(parts, error.exceptions) if parts else ():
        keep_shown(part, other, other.__traceback__, stacks)


def innermost(stack, most):
    """The end of a stack. Repeated lines count once, because Python prints how many there are."""
    kept = 0
    for start in range(len(stack), 0, -1):
        is_repeated = start < len(stack) and stack[start - 1] == stack[start]
        kept += not is_repeated
        if kept > most:
            return stack[start:]
    return stack


def is_shown(frame):
    """Whether pydevd shows a frame at a stop. Libraries are shown if the user wants to debug them, other than where user
    code is looked for (`is_users`, `runs_users_code`)."""
    its_debugger = debugger()
    if its_debugger.get_file_type(frame) is not None:
        return False
    file = frame.f_code.co_filename
    return not (its_debugger.is_files_filter_enabled and its_debugger.apply_files_filter(frame, file, False))
