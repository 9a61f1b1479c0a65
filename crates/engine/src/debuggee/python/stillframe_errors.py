"""Exceptions as answers and reports have them."""

import traceback

import stillframe_state as state


class Raised(Exception):
    """Ends a request; its answer is the error."""

    def __init__(self, body):
        self.body = body


def refuse(message):
    raise Raised({"type": "", "message": message, "traceback": ""})


def describe(error, trace):
    """An exception in one line and as Python prints it. A failing `__str__` does no harm."""
    line = message_of(error)
    try:
        full = "".join(traceback.format_exception(type(error), error, trace))
    except BaseException:
        full = line
    return {"type": type(error).__name__, "message": line, "traceback": full}


def message_of(error):
    """An exception in one line; without side effects, its message argument."""
    if state.side_effect_free:
        return message_argument(error)
    try:
        line = "".join(traceback.format_exception_only(type(error), error)).strip()
        # The message of a syntax error comes last, after the source text.
        return line.splitlines()[-1] if isinstance(error, SyntaxError) else line
    except BaseException:
        return type(error).__name__


def message_argument(error):
    """The message argument of an exception."""
    arguments = BaseException.__dict__["args"].__get__(error)
    if type(error) is SyntaxError and len(arguments) == 2 and type(arguments[0]) is str:
        # The interpreter's own, with the location as second argument.
        return arguments[0]
    return arguments[0] if len(arguments) == 1 and type(arguments[0]) is str else ""
