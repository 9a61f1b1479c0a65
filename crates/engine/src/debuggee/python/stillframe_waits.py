"""Finds what the threads of a Python program wait for.

For a thread in the standard library, that follows from its functions and their variables; for one in native code, from
the call in the source, or else from the system call.
"""

import stillframe_code as code
import stillframe_locks as locks
import stillframe_native as native
import stillframe_tasks as tasks
from stillframe_types import is_a

import threading


class Scene:
    """The threads of the program at one moment: pairs of a thread's state and its frames, innermost first, by DAP
    ID; and whether there may be others that Python does not know."""

    def __init__(self, threads, has_unknown_threads):
        self.threads = threads
        self.has_unknown_threads = has_unknown_threads

    def blocked(self, thread, frames):
        """What an idle thread waits for; None if it only waits for the GIL."""
        if not frames:
            return None
        try:
            found = self.in_library(frames) or native.wait(self, thread, frames[0])
        except Exception:
            # An unreadable wait is not reported.
            return None
        own = [frame for frame in frames if not code.is_library(frame.f_code)]
        return found and found.to_report((own or frames[-1:])[0])

    def in_library(self, frames):
        """What the library functions that a thread is in wait for. The one that user code called is the most
        informative."""
        found = None
        for frame, caller in zip(frames, frames[1:] + [None]):
            wait = CALLS.get((code.module_of(frame), frame.f_code.co_name))
            if wait is not None:
                found = wait(self, Call(frame, caller)) or found
            if not code.is_library(frame.f_code):
                break
        return found

    def pending(self):
        """Pending tasks and timers of the program's event loops."""
        return tasks.pending([frames for _, frames in self.threads.values()])

    def holders(self, lock):
        return locks.holders(lock, list(self.threads.values()))

    def number(self, thread):
        """The DAP ID of a Python thread, as a list that is empty for an unknown one."""
        found = [number for number, (known, _) in self.threads.items() if known.thread() is thread]
        return found if thread is not None else []


class Wait:
    """A wait; `what` completes the phrase `waits for`."""

    def __init__(self, kind, what, timed=False, holders=()):
        self.kind, self.what, self.timed, self.holders = kind, what, timed, list(holders)
        # The ID and name of the waiting task; then holders are tasks, otherwise threads.
        self.task = None

    def to_report(self, frame):
        place = None if frame is None else [code.file_of(frame.f_code), frame.f_lineno or 0]
        return {
            "kind": self.kind,
            "what": self.what,
            "place": place,
            "timed": bool(self.timed),
            "holders": self.holders,
            "task": self.task,
        }


native.Wait = tasks.Wait = Wait


class Call:
    """A library function that a thread is in, and the frame that called it."""

    def __init__(self, frame, caller):
        self.frame = frame
        self.caller = caller
        self.owner = code.local(frame, "self")

    def is_timed(self):
        limit = code.local(self.frame, "timeout")
        return limit is not None and limit != -1

    def named(self, noun):
        """The noun with the caller's name for the object: ``the event `done` ``."""
        name = self.frame.f_code.co_name
        for node in code.calls_under_way(self.caller) if self.caller is not None else ():
            text = written(node, name, self.caller)
            if text is not None:
                return "the %s `%s`" % (noun, text)
        return "%s %s" % ("an" if noun[0] in "aeiou" else "a", noun)


def written(node, method, frame):
    """The source of the object whose method is called."""
    if type(node) is tuple:
        return code.text_of(node[0].items[node[1]].context_expr, frame)
    function = getattr(node, "func", None)
    if getattr(function, "attr", None) == method:
        return code.text_of(function.value, frame)
    return None


# ---------------------------------------------------------------------------------------------------------
# Threads


def waits_for_condition(scene, call):
    if is_a(call.owner, threading.Event):
        return Wait("lock", call.named("event"), call.is_timed())
    if is_a(call.owner, threading.Barrier):
        return Wait("lock", "other threads at " + call.named("barrier"), call.is_timed())
    return Wait("lock", "a notification of " + call.named("condition"), call.is_timed())


def acquires_semaphore(scene, call):
    return Wait("lock", call.named("semaphore"), call.is_timed())


def enters(scene, call):
    """`with` on a condition, whose lock is acquired by native code."""
    lock = locks.lock_in(call.owner)
    if lock is None:
        return None
    return Wait("lock", "the lock of " + call.named("condition"), False, scene.holders(lock))


def joins(scene, call):
    if not is_a(call.owner, threading.Thread):
        return None
    holders = scene.number(call.owner)
    return Wait("thread", "the end of thread `%s`" % call.owner._name, call.is_timed(), holders)


def starts(scene, call):
    return Wait("thread", "thread `%s` to begin" % code.attribute(call.owner, "_name"), True)


def waits_for_threads(scene, call):
    """At the end of the main thread."""
    main = threading._main_thread
    left = [
        (number, known.name)
        for number, (known, _) in scene.threads.items()
        if not known.is_daemon and known.thread() is not main
    ]
    names = ", ".join("`%s`" % name for _, name in left)
    what = "the end of thread%s %s" % ("s" if len(left) > 1 else "", names)
    return Wait("thread", what, False, [number for number, _ in left]) if left else None


# ---------------------------------------------------------------------------------------------------------
# Queues and pools


def gets(scene, call):
    return Wait("lock", "an item of " + call.named("queue"), call.is_timed())


def puts(scene, call):
    return Wait("lock", "room in " + call.named("queue"), call.is_timed())


def joins_queue(scene, call):
    return Wait("lock", "the work on all items of " + call.named("queue"))


def waits_for_future(scene, call):
    return Wait("lock", "the result of " + call.named("future"), call.is_timed())


def waits_for_futures(scene, call):
    return Wait("lock", "the results of futures", call.is_timed())


def waits_for_pool(scene, call):
    return Wait("lock", "the result of a pool of processes", call.is_timed())


# ---------------------------------------------------------------------------------------------------------
# Processes


def waits_for_command(scene, call):
    process = next(
        (value for value in map(lambda name: code.local(call.frame, name), ("self", "process", "p"))
         if is_a(value, code.loaded("subprocess", "Popen") or ())),
        None,
    )
    if process is None:
        return None
    words = code.attribute(process, "args")
    text = " ".join(map(str, words)) if type(words) in (list, tuple) else str(words)
    shown = text if len(text) <= 200 else text[:200] + "..."
    what = "the command `%s` (process %s)" % (shown, code.attribute(process, "pid"))
    return Wait("child", what, call.is_timed())


def joins_process(scene, call):
    popen = code.attribute(call.owner, "_popen")
    pid = code.attribute(popen, "pid")
    name = code.attribute(call.owner, "_name")
    return Wait("child", "the process `%s` (process %s)" % (name, pid), call.is_timed())


def waits_for_fork(scene, call):
    return Wait("child", "process %s" % code.attribute(call.owner, "pid"), call.is_timed())


def receives(scene, call):
    return Wait("file", "data from another process", call.is_timed())


# ---------------------------------------------------------------------------------------------------------
# Connections


def accepts(scene, call):
    return Wait("server", native.about_socket(call.owner, "accept"), native.is_limited(call.owner))


def serves(scene, call):
    return Wait("server", native.about_socket(code.attribute(call.owner, "socket"), "accept"))


def reads_socket(scene, call):
    owner = code.attribute(call.owner, "_sock") if code.attribute(call.owner, "_sock") is not code.UNKNOWN else call.owner
    return Wait("socket", native.about_socket(owner, "recv"), native.is_limited(owner))


def connects(scene, call):
    address = code.local(call.frame, "address")
    where = "%s:%s" % address[:2] if type(address) is tuple and len(address) >= 2 else "a server"
    return Wait("socket", "a connection to " + where, True)


def selects(scene, call):
    return Wait("socket", "one of several connections or files", call.is_timed())


def runs_loop(scene, call):
    return tasks.loop(call.frame, scene.has_unknown_threads)


CALLS = {
    ("threading", "wait"): waits_for_condition,
    ("threading", "wait_for"): waits_for_condition,
    ("threading", "acquire"): acquires_semaphore,
    ("threading", "__enter__"): enters,
    ("threading", "join"): joins,
    ("threading", "start"): starts,
    ("threading", "_shutdown"): waits_for_threads,
    ("queue", "get"): gets,
    ("queue", "put"): puts,
    ("queue", "join"): joins_queue,
    ("multiprocessing.queues", "get"): gets,
    ("multiprocessing.queues", "put"): puts,
    ("multiprocessing.queues", "join"): joins_queue,
    ("multiprocessing.pool", "get"): waits_for_pool,
    ("multiprocessing.pool", "wait"): waits_for_pool,
    ("multiprocessing.pool", "join"): waits_for_pool,
    ("multiprocessing.process", "join"): joins_process,
    ("multiprocessing.popen_fork", "wait"): waits_for_fork,
    ("multiprocessing.connection", "recv"): receives,
    ("multiprocessing.connection", "recv_bytes"): receives,
    ("multiprocessing.connection", "accept"): receives,
    ("multiprocessing.connection", "wait"): receives,
    ("concurrent.futures._base", "result"): waits_for_future,
    ("concurrent.futures._base", "exception"): waits_for_future,
    ("concurrent.futures._base", "wait"): waits_for_futures,
    ("concurrent.futures._base", "as_completed"): waits_for_futures,
    ("concurrent.futures._base", "result_iterator"): waits_for_futures,
    ("subprocess", "wait"): waits_for_command,
    ("subprocess", "communicate"): waits_for_command,
    ("subprocess", "run"): waits_for_command,
    ("subprocess", "call"): waits_for_command,
    ("socket", "accept"): accepts,
    ("socket", "readinto"): reads_socket,
    ("socket", "create_connection"): connects,
    ("socketserver", "serve_forever"): serves,
    ("ssl", "read"): reads_socket,
    ("ssl", "recv"): reads_socket,
    ("ssl", "do_handshake"): reads_socket,
    ("selectors", "select"): selects,
    ("asyncio.base_events", "_run_once"): runs_loop,
}
