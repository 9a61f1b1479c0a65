"""The exception that a frame is stopped at."""

import stillframe_state as state
from stillframe_debugger import find_frame
from stillframe_errors import Raised, message_of, refuse
from stillframe_limits import Interrupted, limited
from stillframe_modules import load
from stillframe_types import instance_dict
from stillframe_values import Renderer


def request_seen(number):
    """Whether an earlier stop reported the exception that the frame is stopped at. The exception is marked, because
    each frame that it unwinds may stop."""
    error = exception_in(find_frame(number))
    if error is None:
        return {"seen": False}
    marked = marked_attributes(error)
    seen, marked.seen = marked.seen, True
    return {"seen": seen}


class MarkedAttributes(dict):
    """The attributes of an exception, with our marks beside them: exceptions of the language cannot have weak references.
    The program sees only its own attributes; copies and pickles are a plain `dict`."""

    __slots__ = ("seen", "mark")

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)


def marked_attributes(error):
    """The attributes of an exception, which can have marks from now on."""
    descriptor = BaseException.__dict__["__dict__"]
    own = descriptor.__get__(error)
    if type(own) is not MarkedAttributes:
        own = MarkedAttributes(own)
        own.seen, own.mark = False, None
        descriptor.__set__(error, own)
    return own


def mark_of(error):
    """The mark of an exception, if it has one."""
    own = BaseException.__dict__["__dict__"].__get__(error)
    return own.mark if type(own) is MarkedAttributes else None


def is_seen(error):
    """Whether a stop has reported an exception."""
    own = BaseException.__dict__["__dict__"].__get__(error)
    return type(own) is MarkedAttributes and own.seen


def request_thrown(number, limit):
    """Details of the exception that the frame is stopped at: mark, assertion and stack."""
    frame = find_frame(number)
    _, error, trace = frame.f_locals.get("__exception__", (None, None, None))
    if error is None:
        return {"mark": None, "assertion": None, "stack": []}
    stack = load("stillframe_throws").stack_of(frame, trace)
    mark = mark_of(error)
    renderer = Renderer(limit)
    text = lambda value: renderer.text(value)[:2]
    assertion = load("stillframe_assertions").of(frame, error, trace, text)
    return {"mark": mark, "assertion": assertion, "stack": stack}


def request_exception(number, limit):
    """The exception that the frame is stopped at: its type, its message, and whether it is uncaught."""
    frame = find_frame(number)
    error = exception_in(frame)
    if error is None:
        refuse("the exception cannot be read here")
    name = type.__dict__["__qualname__"].__get__(type(error))
    return {"type": name, "message": message_of(error)[:limit], "uncaught": is_uncaught(error, frame)}


def is_uncaught(error, frame):
    """Whether nothing seems to catch the exception that a frame is stopped at."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_CAUGHT_EXCEPTION

    # A subclass of Thread may override attribute access.
    if instance_dict(state.threading.current_thread()).get("stop_reason") != CMD_STEP_CAUGHT_EXCEPTION:
        return True
    try:
        return load("stillframe_throws").is_uncaught(frame, type(error))
    except Exception:
        # It was not sent to this program.
        return False


def request_printed(number, seconds):
    """The exception that the frame is stopped at, as Python prints it. Runs its `__str__`, as Python does."""
    frame = find_frame(number)
    _, error, trace = frame.f_locals.get("__exception__", (None, None, None))
    if error is None:
        refuse("the exception cannot be read here")
    try:
        text = limited(seconds, load("stillframe_printed").text_of, error, trace)
        return {"text": text, "uncaught": is_uncaught(error, frame)}
    except Interrupted:
        raise Raised({"type": "Interrupted", "message": "", "traceback": ""})


def exception_in(frame):
    """The exception that a frame is stopped at."""
    return frame.f_locals.get("__exception__", (None, None))[1]


def request_meets(number, condition, seconds):
    """Whether a condition is true for the exception that the frame is stopped at, named `error`."""
    frame = find_frame(number)
    error = exception_in(frame)
    if error is None:
        refuse("the exception cannot be read here")
    names = dict(frame.f_globals)
    names.update(frame.f_locals)
    names["error"] = error
    try:
        code = compile(condition.strip(), "<condition>", "eval", dont_inherit=True)
        return {"met": limited(seconds, lambda: bool(eval(code, names)))}
    except Interrupted:
        raise Raised({"type": "Interrupted", "message": "", "traceback": ""})
