"""Finds callbacks that `asyncio` event loops run repeatedly.

A loop keeps pending callbacks, handles, in a queue, and the current one in a variable. A handle that was in one of them
and is in neither now has run.
"""

import itertools
import sys
import time

import stillframe_code as code
import stillframe_state as state
from stillframe_types import is_a

# The polling interval, in seconds.
APART = 0.005
# The maximum number of handles that are read from a queue.
MOST = 100

sleep, clock = state.original("time").sleep, time.monotonic


def callbacks(seconds):
    """The functions that were called more than once in that time: name, file, first line, and number of finished calls.
    None if a call takes long."""
    began = last = clock()
    until, open_calls, counts = began + seconds, {}, {}
    while clock() < until:
        # Keep them alive, so that no two have the same ID.
        now = {id(handle): handle for handle in handles()}
        for number in [each for each in open_calls if each not in now]:
            called, last = called_by(open_calls.pop(number)), clock()
            if called is not None and not code.is_library(called):
                counts[called] = counts.get(called, 0) + 1
        open_calls.update(now)
        sleep(APART)
    if until - last > seconds / 2:
        return []
    found = [[each.co_name, code.file_of(each), each.co_firstlineno, count] for each, count in counts.items() if count > 1]
    return sorted(found, key=lambda each: -each[3])


def handles():
    """The current and next callbacks of loops."""
    found = []
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            if frame.f_code.co_name == "_run_once" and code.module_of(frame) == "asyncio.base_events":
                found.append(code.local(frame, "handle"))
                ready = code.attribute(code.local(frame, "self"), "_ready")
                found += itertools.islice(ready.copy(), MOST)
                break
            frame = frame.f_back
    return [handle for handle in found if handle is not None]


def called_by(handle):
    """The user code that a handle runs: for a task, its coroutine's."""
    function = code.attribute(handle, "_callback")
    function = getattr(function, "func", function)
    kind = code.loaded("asyncio.tasks", "Task")
    owner = getattr(function, "__self__", None)
    if kind and is_a(owner, kind):
        return getattr(kind.get_coro(owner), "cr_code", None)
    function = getattr(function, "__func__", function)
    return getattr(function, "__code__", None)
