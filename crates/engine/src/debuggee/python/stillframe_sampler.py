"""Runs inside a Python program to sample what it is doing without stopping it.

A thread samples all stacks at each tick and merges them into call trees. The debugger polls with `report`, and gets the
samples since its last call, and what each thread waits for.

Native code that holds the GIL, such as an endless regular expression, blocks this thread and pydevd too. So each tick
also rearms a watchdog of `faulthandler`, a C thread, which writes all stacks to an in-memory file if the next ticks do
not arrive. `stacks.rs` reads that from outside.

Written for Python 3.8 to 3.13.
"""

import atexit
import bisect
import dis
import faulthandler
import json
import os
import sys
import time
import weakref

import stillframe_limits as limits
import stillframe_state as state
from stillframe_debugger import send_event
from stillframe_modules import load
from stillframe_threads import start_thread

for needed in ("numbered", "memory", "code", "locks", "native", "tasks", "turns", "waits"):
    # Load them now, so that imports among them need no path.
    load("stillframe_" + needed)

import stillframe_turns as turns  # noqa: E402
import stillframe_waits as waits  # noqa: E402
from stillframe_code import file_of, is_library  # noqa: E402

# The watchdog's timeout, and the interval at which it is rearmed, in seconds.
WATCHDOG = 0.5

# The middle of deeper stacks is omitted.
OUTERMOST, INNERMOST = 60, 40

# A thread that waits at one location uses at most this much CPU time, in seconds.
IDLE = 0.005

# And it has been there for at least this long, in seconds.
AT_LEAST = 0.08

# Programs rarely reach descriptors with such numbers, and rarely close descriptors that they did not open.
HIGH = 512

allocate_lock = state.original("_thread").allocate_lock
clock = time.monotonic
current_frames = sys._current_frames
get_ident = state.original("_thread").get_ident

sampler = None


class Sampler:
    """One run of sampling in this process."""

    def __init__(self, interval):
        self.interval = interval
        self.lock = allocate_lock()
        # Held until sampling should end.
        self.ending = allocate_lock()
        self.ending.acquire()
        self.watchdog = Watchdog()
        self.threads = {}
        self.gone = []
        self.kinds = {}
        self.own = None

    def run(self):
        self.own = get_ident()
        try:
            while True:
                with self.lock:
                    if sampler is not self:
                        return
                    self.watchdog.wind_up()
                    self.sample(current_frames())
                if self.ending.acquire(True, self.interval):
                    return
        except BaseException:
            # The interpreter is shutting down.
            pass

    def end(self):
        self.ending.release()
        self.watchdog.close()

    def sample(self, frames):
        """Add the location of each thread. `frames` are not kept, so that their objects do not live longer."""
        # In a forked process, a thread of the program may have the ident that the parent's clock has.
        its_clock = limits.clock.ident if limits.clock.pid == os.getpid() else None
        for own in (self.own, its_clock):
            frames.pop(own, None)
        now = clock()
        for ident in list(self.threads):
            if ident not in frames:
                self.gone.append(self.threads.pop(ident))
        for ident, frame in frames.items():
            thread = self.thread(ident)
            if thread is not None:
                thread.add(frame, self.path(frame), now)

    def thread(self, ident):
        """The state of a thread; None for threads of the debugger."""
        thread = state.threading._active.get(ident)
        known = self.threads.get(ident)
        if known is None or known.thread() is not thread:
            if known is not None:
                self.gone.append(known)
            known = self.threads[ident] = Sampled(ident, thread)
            if not known.is_ours:
                self.watchdog.write(json.dumps(known.about()))
        return None if known.is_ours else known

    def path(self, frame):
        """The program's part of a stack as code objects and offsets, innermost first."""
        path = [(each.f_code, each.f_lasti) for each in self.visible(frame)]
        if len(path) > OUTERMOST + INNERMOST:
            path[INNERMOST:-OUTERMOST] = []
        return path

    def report(self):
        """The samples since the last report."""
        with self.lock:
            frames = current_frames()
            has_unknown = thread_count() != len(frames) + self.watchdog.is_armed()
            frames.pop(get_ident(), None)
            self.sample(frames)
            threads = [thread for thread in self.threads.values() if not thread.is_ours]
            for thread in threads:
                if thread.has_new_number():
                    self.watchdog.write(json.dumps(thread.about()))
            stacks = {thread.id: self.visible(frames.get(thread.ident)) for thread in threads}
            known = {thread.id: (thread, stacks[thread.id]) for thread in threads}
            scene = waits.Scene(known, has_unknown)
            lines = Lines()
            reports = [thread.to_report(lines, stacks[thread.id], scene) for thread in threads]
            reports += [thread.to_report(lines, [], None) for thread in self.gone if not thread.is_ours]
            pending = scene.pending()
            for thread in threads:
                thread.begin()
            self.gone, self.kinds = [], {}
        return {"threads": reports, "pending": pending}

    def visible(self, frame):
        """The program's frames of a stack, innermost first."""
        found, kinds, is_inside = [], self.kinds, False
        while frame is not None:
            code = frame.f_code
            # By identity: code objects of two files are equal if their text is.
            known = kinds.get(id(code))
            if known is None:
                known = kinds[id(code)] = code, kind_of(code)
            _, kind = known
            if kind is OWN or kind is LIBRARY:
                found.append(frame)
            elif kind is DEBUGGER and not is_inside:
                # Library functions called by the debugger are not the program's.
                found.clear()
            # What is outside of these runs the program.
            is_inside = is_inside or kind is OWN or kind is ENTRY
            frame = frame.f_back
        return found


class Sampled:
    """A thread of the program, and its samples."""

    def __init__(self, ident, thread):
        self.ident = ident
        self.thread = weakref.ref(thread) if thread is not None else lambda: None
        self.is_ours = getattr(thread, "is_pydev_daemon_thread", False)
        self.id, self.name, self.native, self.is_daemon = ident, "thread %d" % ident, None, True
        if thread is not None and not self.is_ours:
            self.id = number_of(thread)
            self.name, self.is_daemon = str(thread._name), bool(thread._daemonic)
            self.native = native_of(thread)
        self.position, self.since, self.seen, self.used = None, 0.0, 0, None
        self.begin()

    def begin(self):
        self.samples = 0
        # A node: its code, sample count, counts by offset, and callees by the identity of their code.
        self.root = (None, [0], {}, {})

    def has_new_number(self):
        """Update its DAP ID. A forked process starts with those of its parent."""
        thread, before = self.thread(), self.id
        if thread is not None:
            self.id = number_of(thread)
        return self.id != before

    def about(self):
        """Its report, whatever the thread does."""
        return {"ident": self.ident, "id": self.id, "name": self.name, "os": self.native, "daemon": self.is_daemon}

    def add(self, frame, path, now):
        self.samples += 1
        node = self.root
        for code, instruction in reversed(path):
            calls = node[3]
            node = calls.get(id(code))
            if node is None:
                node = calls[id(code)] = (code, [0], {}, {})
            node[1][0] += 1
            node[2][instruction] = node[2].get(instruction, 0) + 1
        position = (id(frame), frame.f_lasti)
        if position != self.position:
            self.position, self.since, self.seen, self.used = position, now, 1, self.processor_time()
        else:
            self.seen += 1

    def processor_time(self):
        """The CPU time of the thread, in seconds, or None if unknown."""
        return None if self.native is None else processor_time(self.native)

    def is_idle(self):
        """Whether it has been idle at one location for a while."""
        if self.seen < 2 or clock() - self.since < AT_LEAST:
            return False
        used = self.processor_time()
        return used is None or self.used is None or used - self.used < IDLE

    def to_report(self, lines, stack, scene):
        answer = self.about()
        answer["samples"] = self.samples
        answer["calls"] = flattened(self.root, lines)
        answer["stack"] = [
            [frame.f_code.co_name, file_of(frame.f_code), frame.f_lineno or 0] for frame in stack[:100]
        ]
        answer["blocked"] = scene.blocked(self, stack) if scene is not None and self.is_idle() else None
        return answer


def native_of(thread):
    """The system's thread ID, if Python has it."""
    native = getattr(thread, "_native_id", None)
    if native is None or not sys.platform.startswith("linux") or processor_time(native) is not None:
        return native
    # A forked process still has the ID of its parent's thread here (seen in 3.8 to 3.13). The forking thread is its
    # only one, and has the process ID.
    return os.getpid() if thread is state.threading.main_thread() else None


def thread_count():
    """The number of threads of this process, or None if unknown."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return None


def processor_time(native):
    """The CPU time of a thread of this process, in seconds, or None if unknown."""
    try:
        # The system's ID of a thread's clock. The ID of a thread of another process is refused.
        return time.clock_gettime((~native << 3) | 6)
    except (OSError, AttributeError):
        return None


def flattened(root, lines):
    """A tree as a list of calls: the index of the caller, name, file, first line, count, and counts by line."""
    flat, open_calls = [], [(-1, each) for each in root[3].values()]
    while open_calls:
        caller, (code, count, instructions, calls) = open_calls.pop()
        counts = {}
        for instruction, times in instructions.items():
            line = lines.of(code, instruction)
            if line is not None:
                counts[line] = counts.get(line, 0) + times
        flat.append([caller, code.co_name, file_of(code), code.co_firstlineno, count[0], sorted(counts.items())])
        open_calls += [(len(flat) - 1, each) for each in calls.values()]
    return flat


class Lines:
    """Maps instructions to lines."""

    def __init__(self):
        self.known = {}

    def of(self, code, instruction):
        # By identity: up to Python 3.10, equal code may have other lines.
        if id(code) not in self.known:
            starts = [(offset, line) for offset, line in dis.findlinestarts(code) if line is not None]
            self.known[id(code)] = code, [offset for offset, _ in starts], [line for _, line in starts]
        _, offsets, lines = self.known[id(code)]
        index = bisect.bisect_right(offsets, instruction) - 1
        return lines[index] if index >= 0 else code.co_firstlineno


# The owner of code: the user, a library, the debugger, or startup code of the program.
OWN, LIBRARY, DEBUGGER, ENTRY = range(4)
# Functions of pydevd and of our launcher that run the program.
ENTRIES = {"<module>", "main", "run", "_exec", "execfile", "__call__", "run_path"}
ENTRIES |= {"_run_code", "_run_module_code", "_run_module_as_main"}


def kind_of(code):
    file = code.co_filename
    if file.startswith(debugger_roots):
        return ENTRY if code.co_name in ENTRIES else DEBUGGER
    if file.startswith("<frozen importlib"):
        return ENTRY
    if code.co_name in ("_bootstrap", "_bootstrap_inner") and file == state.threading.__file__:
        return ENTRY
    return LIBRARY if is_library(code) else OWN


def number_of(thread):
    """The DAP ID of a thread."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
    from _pydevd_bundle.pydevd_constants import get_thread_id

    return BaseSchema._translate_id_to_dap(get_thread_id(thread))


def roots():
    pydevd = sys.modules["pydevd"].__file__
    of_debugger = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(pydevd))))
    here = os.path.dirname(__file__)
    return (of_debugger + os.sep, "<stillframe_", "/stillframe/") + ((here + os.sep,) if here else ())


debugger_roots = roots()


# ---------------------------------------------------------------------------------------------------------
# The watchdog


class Watchdog:
    """Writes all stacks when our threads cannot run. A process has only one, and the program's own use takes
    precedence."""

    def __init__(self):
        self.file = None
        try:
            opened = os.memfd_create("stillframe", os.MFD_CLOEXEC)
            self.file = moved_up(opened)
            self.inode = os.fstat(self.file).st_ino
        except (AttributeError, OSError):
            pass  # Not available on this system.

    def is_usable(self):
        try:
            return self.file is not None and os.fstat(self.file).st_ino == self.inode
        except OSError:
            # The program has closed all descriptors that it did not open.
            return False

    def is_armed(self):
        return not taken and self.is_usable()

    def wind_up(self):
        if self.is_armed():
            arm(WATCHDOG, repeat=True, file=self.file)

    def write(self, line):
        if self.is_usable():
            os.write(self.file, line.encode() + b"\n")

    def close(self):
        if not taken:
            disarm()
        if self.is_usable():
            os.close(self.file)
        self.file = None


def moved_up(descriptor):
    import fcntl

    try:
        higher = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except OSError:
        return descriptor
    os.close(descriptor)
    return higher


arm, disarm = faulthandler.dump_traceback_later, faulthandler.cancel_dump_traceback_later
# The program itself uses the watchdog.
taken = False


def dump_traceback_later(*arguments, **more):
    """Replaces the function for calls of the program."""
    global taken
    taken = True
    return arm(*arguments, **more)


def cancel_dump_traceback_later():
    """Replaces the function for calls of the program."""
    global taken
    taken = False
    return disarm()


# ---------------------------------------------------------------------------------------------------------
# Start and end


def start(request):
    """Start sampling, and report the descriptor of the watchdog's stacks."""
    global sampler
    number, interval = json.loads(request)
    end()
    sampler = Sampler(interval)
    start_thread(sampler.run)
    body = {"pid": os.getpid(), "descriptor": sampler.watchdog.file, "watchdog": WATCHDOG}
    send_event("answer", number=number, body=body)


def report(request):
    """Send the samples since the last report."""
    (number,) = json.loads(request)
    send_event("answer", number=number, body=sampler.report() if sampler else {"threads": [], "pending": []})


def callbacks(request):
    """Report callbacks that event loops run more than once within `seconds`."""
    number, seconds = json.loads(request)
    send_event("answer", number=number, body=turns.callbacks(seconds))


def stop(request):
    """Stop sampling."""
    end()


def end():
    """Stop sampling at the end of the program."""
    global sampler
    ended, sampler = sampler, None
    if ended is not None:
        with ended.lock:
            ended.end()


# The sampler whose lock is held across a fork.
forking = None


def before_fork():
    # The watchdog must not be armed during a fork: the child, which does not have its thread, would wait for its end
    # forever.
    global forking
    current = sampler
    if current is not None:
        current.lock.acquire()
        forking = current
        if not taken:
            disarm()


def after_fork_in_parent():
    global forking
    current, forking = forking, None
    if current is not None:
        current.lock.release()


def after_fork_in_child():
    global sampler, forking
    ended, sampler, forking = forking, None, None
    if ended is not None and ended.watchdog.is_usable():
        os.close(ended.watchdog.file)


def prepare():
    faulthandler.dump_traceback_later = dump_traceback_later
    faulthandler.cancel_dump_traceback_later = cancel_dump_traceback_later
    os.register_at_fork(
        before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=after_fork_in_child
    )
    atexit.register(end)


prepare()
