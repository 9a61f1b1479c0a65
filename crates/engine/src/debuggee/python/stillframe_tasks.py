"""Finds what `asyncio` event loops wait for."""

import signal
import sys

import stillframe_code as code
import stillframe_locks as locks
from stillframe_types import is_a

# Filled by `stillframe_waits`.
Wait = None

# The maximum number of reported tasks and timers.
MOST = 200


def loop(frame, has_unknown_threads):
    """What a thread that runs an event loop waits for. It counts as limited in time unless only another thread of the
    program can wake it."""
    owner, limit = code.local(frame, "self"), code.local(frame, "timeout")
    count = len(tasks_of(owner))
    words = ("", "waits") if count == 1 else ("s", "wait")
    what = "its event loop, in which %d task%s %s" % (count, *words)
    called = [getattr(getattr(node, "func", None), "attr", None) for node in code.calls_under_way(frame)]
    is_cut_off = "select" in called and limit is None and not has_unknown_threads and not has_sources(owner)
    return Wait("task", what, not is_cut_off)


def has_sources(owner):
    """Whether an event loop may be woken by a file, such as a connection, or by a signal."""
    kind = code.loaded("asyncio.unix_events", "_UnixSelectorEventLoop")
    if kind is None or not is_a(owner, kind):
        return True
    # It has a pair of sockets by which other threads wake it.
    files = code.attribute(code.attribute(owner, "_selector"), "_fd_to_key")
    own = code.attribute(owner, "_ssock").fileno()
    return set(files) != {own} or bool(code.attribute(owner, "_signal_handlers")) or any(map(is_handled, signals()))


def signals():
    return [signal.getsignal(number) for number in signal.valid_signals()]


def is_handled(handler):
    """Whether a signal runs code of the program. Ctrl-C is to end it."""
    function = getattr(handler, "func", handler)
    is_ours = getattr(function, "__name__", None) == "stillframe_pause"
    is_runners = getattr(function, "__module__", None) == "asyncio.runners"
    return callable(handler) and handler is not signal.default_int_handler and not is_ours and not is_runners


def pending(stacks):
    """Unfinished tasks, and timers, of each loop that runs in one of these stacks."""
    found = []
    for owner in loops(stacks):
        tasks = [(task, frames_of_task(task)) for task in tasks_of(owner)]
        for task, frames in tasks:
            try:
                wait, frame = about(task, frames, tasks)
            except Exception:
                # It is running.
                continue
            found.append(wait.to_report(frame))
        found += [wait.to_report(None) for wait in timers(owner)]
    return found[:MOST]


def loops(stacks):
    kind = code.loaded("asyncio.base_events", "BaseEventLoop")
    found = []
    for frames in stacks if kind else ():
        for frame in frames:
            if frame.f_code.co_name == "run_forever" and code.module_of(frame) == "asyncio.base_events":
                owner = code.local(frame, "self")
                if is_a(owner, kind) and not any(owner is each for each in found):
                    found.append(owner)
    return found


def tasks_of(owner):
    all_tasks = code.loaded("asyncio.tasks", "all_tasks")
    for _ in range(20 if all_tasks else 0):
        try:
            return sorted(all_tasks(owner), key=name_of)
        except RuntimeError:
            # The set can change meanwhile.
            continue
    return []


def name_of(task):
    return sys.modules["asyncio.tasks"].Task.get_name(task)


def timers(owner):
    """Functions that the loop will call later; those that wake a task are reported with that."""
    now = owner.time()
    for handle in list(code.attribute(owner, "_scheduled")):
        function = code.attribute(handle, "_callback")
        function = getattr(function, "func", function)
        module = getattr(function, "__module__", None)
        if code.attribute(handle, "_cancelled") or (isinstance(module, str) and module.startswith("asyncio")):
            continue
        name = getattr(function, "__qualname__", None) or "a function"
        left = max(0, round((code.attribute(handle, "_when") - now) * 1000))
        yield Wait("timer", "a timer of %d ms more that calls `%s`" % (left, name), True)


def about(task, frames, tasks):
    """What a task waits for, and the user frame in which it does; `tasks` are pairs of all tasks of its loop and their
    frames."""
    name = "task `%s`" % name_of(task)
    if frames:
        name += " (`%s`)" % frames[0].f_code.co_name
    own = [frame for frame in frames if not code.is_library(frame.f_code)]
    what, timed = reason(task, frames)
    holders = holders_of(task, frames, tasks)
    if what and holders and holders[0] is not code.attribute(task, "_fut_waiter"):
        by = ("itself" if holder is task else "task `%s`" % name_of(holder) for holder in holders)
        what += " (held by %s)" % " and ".join(by)
    where = own[-1] if own else frames[-1] if frames else None
    description = name + (", which waits for " + what if what else ", which is about to resume")
    wait = Wait("task", description, timed, map(id, holders))
    wait.task = [id(task), name_of(task), where.f_code.co_name if where is not None else ""]
    return wait, where


def holders_of(task, frames, tasks):
    """The tasks that must act for one to continue: the one that it awaits, or the holder of the lock."""
    waited = code.attribute(task, "_fut_waiter")
    if is_a(waited, sys.modules["asyncio.tasks"].Task):
        return [waited]
    kind = code.loaded("asyncio.locks", "Lock")
    for frame in frames if kind else ():
        if code.module_of(frame) == "asyncio.locks" and frame.f_code.co_name == "acquire":
            lock = code.local(frame, "self")
            return locks.who_holds(lock, tasks) if is_a(lock, kind) else []
    return []


def frames_of_task(task):
    return frames_of(sys.modules["asyncio.tasks"].Task.get_coro(task))


def frames_of(awaited):
    """The frames of a coroutine and of its awaited coroutines, outermost first."""
    found = []
    while awaited is not None and len(found) < 100:
        for prefix, inner in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
            frame = getattr(awaited, prefix + "_frame", None) if hasattr(type(awaited), inner) else None
            if frame is not None:
                found.append(frame)
                awaited = getattr(awaited, inner)
                break
        else:
            break
    return found


def reason(task, frames):
    """What a task waits for, and whether that has a timeout."""
    timed = any(
        code.module_of(frame) == "asyncio.tasks"
        and frame.f_code.co_name in ("wait_for", "wait")
        and code.local(frame, "timeout") is not None
        for frame in frames
    )
    for index, frame in enumerate(frames):
        wait = AWAITS.get((code.module_of(frame), frame.f_code.co_name))
        if wait is not None:
            caller = frames[index - 1] if index else None
            what, is_timer = wait(frame, caller)
            return what, timed or is_timer
    return about_future(code.attribute(task, "_fut_waiter")), timed


def about_future(future):
    futures, tasks = sys.modules.get("asyncio.futures"), sys.modules["asyncio.tasks"]
    if future is None or futures is None:
        return None
    if is_a(future, tasks.Task):
        return "the end of task `%s`" % name_of(future)
    if type(future) is getattr(tasks, "_GatheringFuture", None):
        # It is implemented in C.
        children = future._children
        return "the end of %d tasks" % len(children)
    return "a future"


def awaited(frame, method):
    """The source of the object whose method is awaited."""
    import stillframe_waits as waits

    for node in code.calls_under_way(frame) if frame is not None else ():
        text = waits.written(node, method, frame)
        if text:
            return " `%s`" % text
    return ""


def sleeps(frame, caller):
    delay = code.local(frame, "delay")
    return "a sleep of %g s" % delay if type(delay) in (int, float) else "a sleep", True


def named(noun):
    def wait(frame, caller):
        # `async with lock` calls `__aenter__`.
        return "the %s%s" % (noun(code.local(frame, "self")), awaited(caller, frame.f_code.co_name)), False

    return wait


def kind_of(owner):
    return type(owner).__name__.lower()


AWAITS = {
    ("asyncio.tasks", "sleep"): sleeps,
    ("asyncio.locks", "acquire"): named(kind_of),
    ("asyncio.locks", "__aenter__"): named(kind_of),
    ("asyncio.locks", "wait"): named(kind_of),
    ("asyncio.queues", "get"): named(lambda owner: "next item of the queue"),
    ("asyncio.queues", "put"): named(lambda owner: "room in the queue"),
    ("asyncio.queues", "join"): named(lambda owner: "work on all items of the queue"),
    ("asyncio.streams", "read"): named(lambda owner: "next data of the stream"),
    ("asyncio.streams", "readline"): named(lambda owner: "next line of the stream"),
    ("asyncio.streams", "readuntil"): named(lambda owner: "next data of the stream"),
    ("asyncio.streams", "readexactly"): named(lambda owner: "next data of the stream"),
    ("asyncio.subprocess", "wait"): named(lambda owner: "end of the process"),
    ("asyncio.subprocess", "communicate"): named(lambda owner: "end of the process"),
    ("asyncio.base_events", "serve_forever"): named(lambda owner: "connections to the server"),
}
