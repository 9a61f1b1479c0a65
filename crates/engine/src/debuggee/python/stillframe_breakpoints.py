"""Makes pydevd stop at breakpoints that it would miss, and binds those of files that are loaded later."""

import functools
import inspect
import os
import types

import stillframe_state as state
from stillframe_debugger import breakpoints_in, debugger, paths_of, send_event
from stillframe_loaded import (
    compiled_texts,
    files_that_ran,
    find_function,
    first_line_of,
    functions_in,
    is_users,
    pending_files,
    place_of_function,
)
from stillframe_modules import is_ours
from stillframe_rules import entered, place_of, places, reached, rules_at


def begin_with_functions(api):
    """Have pydevd ask `sys.monitoring` for the calls of functions once breakpoints are on functions. It does so when it
    starts, before it knows them in a forked child, and when it gets breakpoints on lines."""
    set_functions = api.set_function_breakpoints

    @functools.wraps(set_functions)
    def set_function_breakpoints(self, its_debugger, breakpoints):
        set_functions(self, its_debugger, breakpoints)
        if breakpoints and not its_debugger.ready_to_run:
            its_debugger._clear_caches()

    api.set_function_breakpoints = set_function_breakpoints


def debug_files_with_breakpoints(pydevd):
    """Make pydevd treat a file with a breakpoint as user code, even a library's file under just-my-code."""
    filtered, in_scope = pydevd.PyDB.apply_files_filter, pydevd.PyDB.in_project_scope
    typed = pydevd.PyDB.get_file_type

    # pydevd calls this for each code object that it has not seen, whether it debugs that or not.
    @functools.wraps(typed)
    def get_file_type(self, frame, *more):
        on_code_first_run(self, frame)
        kind = typed(self, frame, *more)
        if kind is None and frame.f_code.co_flags & SUSPENDABLE:
            stop_at_first_line(self, frame)
        return kind

    @functools.wraps(filtered)
    def apply_files_filter(self, frame, original_filename, force_check_project_scope):
        # pydevd passes a dummy to decide whether to warn about a breakpoint that it is about to set.
        if not isinstance(frame, types.FrameType):
            return False
        if breakpoints_in(self, original_filename) or frame.f_code.co_filename in compiled_texts:
            return False
        return filtered(self, frame, original_filename, force_check_project_scope)

    @functools.wraps(in_scope)
    def in_project_scope(self, frame, absolute_filename=None):
        file = absolute_filename or frame.f_code.co_filename
        is_debugged = frame.f_code.co_filename in compiled_texts or breakpoints_in(self, file)
        return bool(is_debugged) or in_scope(self, frame, absolute_filename)

    # For processes that a program starts: they do not have the settings that hide our files in the first one.
    def dont_trace_external_files(self, file):
        return is_ours(file)

    pydevd.PyDB.get_file_type = get_file_type
    pydevd.PyDB.dont_trace_external_files = dont_trace_external_files
    pydevd.PyDB.apply_files_filter = apply_files_filter
    pydevd.PyDB.in_project_scope = in_project_scope


def on_code_first_run(its_debugger, frame):
    """Bind pending breakpoints of a file whose code is about to run."""
    file = frame.f_code.co_filename
    # A forked child has no debugger until it has connected.
    if file in files_that_ran or debugger() is None:
        return
    files_that_ran.add(file)
    debug_compiled_text(its_debugger, frame)
    path = paths_of(file)[1] if pending_files else None
    if path in pending_files:
        pending_files.discard(path)
        for line, breakpoint in list((breakpoints_in(its_debugger, file) or {}).items()):
            send_event("bound", ids=rules_at(breakpoint), line=line)
    by_name = its_debugger.function_breakpoint_name_to_breakpoint
    if by_name and is_users(frame.f_globals):
        written = functions_in(frame.f_code)
        for name, breakpoint in list(by_name.items()):
            rules = places.get(place_of(breakpoint), ())
            for owner, rule in rules:
                code = find_function(written, owner, name)
                if code is not None:
                    send_event("bound", ids=[rule.number], line=None, at=place_of_function(code))


def debug_compiled_text(its_debugger, frame):
    """Treat a text that user code runs as user code, too. pydevd takes each name without a file for that of a library:
    libraries such as `dataclasses` generate code."""
    name, caller = frame.f_code.co_filename, frame.f_back
    if frame.f_code.co_name != "<module>" or os.path.isabs(name) or name == "<string>":
        return
    if caller is None or not its_debugger.in_project_scope(caller):
        return
    if not name.startswith("<"):
        if os.path.exists(paths_of(name)[0]):
            return
        import pydevd_file_utils

        path = os.path.abspath(name)
        pydevd_file_utils.NORM_PATHS_CONTAINER[name] = path, path
        pydevd_file_utils.NORM_PATHS_AND_BASE_CONTAINER[name] = path, path, os.path.basename(path)
    compiled_texts.add(name)


SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE


def stop_at_first_line(its_debugger, frame):
    """Set a breakpoint on the first line of a generator or coroutine function that has a function breakpoint. With a
    tracer, pydevd takes each call of such a function for a resumption, and never stops."""
    code = frame.f_code
    # This runs at each call of such a function, so the common case comes first.
    if code.co_name not in its_debugger.function_breakpoint_name_to_breakpoint:
        return
    from _pydevd_bundle.pydevd_breakpoints import LineBreakpoint
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if PYDEVD_USE_SYS_MONITORING or not is_users(frame.f_globals):
        return
    begin, line = first_line_of(code)
    if frame.f_lasti <= begin:
        entered[state.threading.get_ident()] = id(frame)
    lines = its_debugger.breakpoints.setdefault(paths_of(code.co_filename)[1], {})
    if line not in lines:
        condition = "__import__('sys').modules['stillframe_agent'].hit(0)"
        lines[line] = LineBreakpoint(-1, line, condition, "None", None)
        its_debugger.on_breakpoints_changed()


def is_to_stop(its_debugger, frame):
    """Whether to stop a thread that was suspended with another one, on a line that it has not run yet. pydevd does not
    check for breakpoints there, and would miss them on resume."""
    lines = breakpoints_in(its_debugger, frame.f_code.co_filename)
    # A file whose breakpoints were all removed has an empty dictionary.
    breakpoint = lines.get(frame.f_lineno) if lines else None
    place = place_of(breakpoint) if breakpoint is not None else None
    return place is not None and reached(place, frame)


def is_still_set(its_debugger, frame):
    """Whether the breakpoint that a thread has hit still exists."""
    lines = breakpoints_in(its_debugger, frame.f_code.co_filename) or {}
    by_name = its_debugger.function_breakpoint_name_to_breakpoint or {}
    return frame.f_lineno in lines or frame.f_code.co_name in by_name
