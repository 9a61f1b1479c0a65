"""Runs inside the debugged Python program: reads values, evaluates expressions and applies breakpoint rules.

pydevd can do all of this, but it runs properties and unbounded `__repr__`s, truncates values silently, loses
evaluations that raise `SystemExit`, and ignores failing conditions. So stillframe asks pydevd to evaluate one
expression, a call of `call` below, in the suspended thread, and reads the JSON that comes back.

This module is what `agent.rs` calls. Reading order of the others, each behind those that it imports:

- what all of them use: `state`, `modules`, `types`, `errors`, `threads`, `limits`, `debugger`;
- what answers requests: `values`, `children`, `expressions`, `exceptions`; `requests` takes them from pydevd;
- what stops the program: `rules`, `loaded`, `breakpoints`, `steps`, `stops`;
- what begins: `processes`, `start`.

Written for Python 3.8 to 3.13 and debugpy 1.8.22. Internals of pydevd are looked up when they are needed, so that an
incompatible version fails in one request and not at startup.
"""

import json
import os
import sys

import stillframe_children as children
import stillframe_exceptions as exceptions
import stillframe_expressions as expressions
import stillframe_state as state
from stillframe_errors import Raised, describe
from stillframe_loaded import report_file, report_function  # noqa: F401
from stillframe_modules import load  # noqa: F401
from stillframe_processes import stop_debugging_children  # noqa: F401
from stillframe_rules import define, hit, reached, report_failures  # noqa: F401
from stillframe_start import forbid_side_effects, prepare  # noqa: F401
from stillframe_steps import mute_skipped_steps, report_ended_steps  # noqa: F401

to_json = json.JSONEncoder(ensure_ascii=False).encode


class Answer(str):
    """JSON text whose repr is itself, so that pydevd sends it unchanged."""

    __repr__ = str.__str__


def call(request):
    """Serve one request: the name of a function in the table below and its arguments, as JSON."""
    report_failures()
    name, arguments, state.side_effect_free = json.loads(request)
    try:
        answer = REQUESTS[name](*arguments)
    except Raised as error:
        answer = {"error": error.body}
    except BaseException as error:
        answer = {"error": describe(error, error.__traceback__)}
    return Answer(to_json(answer))


REQUESTS = {
    "same": children.request_same,
    "scopes": children.request_scopes,
    "locals": children.request_locals,
    "children": children.request_children,
    "evaluate": expressions.request_evaluate,
    "assign": expressions.request_assign,
    "seen": exceptions.request_seen,
    "thrown": exceptions.request_thrown,
    "exception": exceptions.request_exception,
    "printed": exceptions.request_printed,
    "meets": exceptions.request_meets,
}

# An earlier debugger may have been attached. What it watched and recorded belongs to its agent.
sys.modules.pop("stillframe_watch", None)
if "stillframe_recorder" in sys.modules:
    sys.modules.pop("stillframe_recorder").finish()
    sys.modules.pop("stillframe_monitor", None)

if os.path.basename(getattr(sys.modules["__main__"], "__file__", None) or "") == "pydevd.py":
    # pydevd is the script of a child process, and does this itself a moment later.
    sys.modules.setdefault("pydevd", sys.modules["__main__"])

if "pydevd" in sys.modules and os.path.exists(__file__):
    # A child process: pydevd imports this module by the name that `prepare` set in the parent.
    prepare(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(sys.modules["pydevd"].__file__)))))
elif "_pydev_bundle._pydev_saved_modules" in sys.modules:
    # It was sent to a program that runs.
    state.take_threading()
    mute_skipped_steps(sys.modules["pydevd"])
