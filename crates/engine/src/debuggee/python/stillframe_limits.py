"""Time limits: an expression that takes too long is interrupted."""

# Faster than `signal`, whose functions look each number up in an enumeration, which takes as long as everything
# else that a limit does.
import _signal
import os
import signal
import time

import stillframe_state as state
from stillframe_threads import start_thread

sleep = state.original("time").sleep


class Interrupted(BaseException):
    """Raised inside user code that takes too long."""


def limited(seconds, work, *arguments):
    """Call `work`, and raise `Interrupted` in it when it takes too long.

    Python raises the exception between two instructions; a system call or a lock is interrupted only by a signal, which
    Python handles in the main thread alone. The signal is `SIGURG`, because a late one is ignored, and neither the
    program nor asyncio listens for it. Native code that holds the GIL, such as a regular expression, stops the clock
    too; stillframe then sends the signal from outside. User code may catch the exception, so it is raised again until
    the work ends.
    """
    limit = Limit(seconds)
    try:
        try:
            # Not before: a limit that fires outside `try` would never end.
            clock.add(limit)
            return work(*arguments)
        finally:
            limit.active = False
    finally:
        # Nothing new is raised after this line, but a pending exception can still arrive once or twice. So there is no
        # lock that could stay locked, and no loop, whose jump would be a point for it outside `try`.
        limit.active = False
        try:
            limit.end()
        except Interrupted:
            try:
                limit.end()
            except Interrupted:
                limit.end()


class Limit:
    """A deadline for the thread that created it."""

    def __init__(self, seconds):
        self.due = time.monotonic() + seconds
        self.active = True
        self.firing = False
        self.fired = 0
        self.ident = state.threading.get_ident()
        self.signals = None
        self.take_signal()

    def check(self):
        """Run in the clock's thread, every few milliseconds. The exception and the signal alternate, so that they do
        not arrive together."""
        if time.monotonic() < self.due + 0.02 * self.fired:
            return
        self.firing = True
        if self.active:
            self.fired += 1
            if self.fired % 2 or self.signals is None:
                raise_in(self.ident, Interrupted)
            else:
                signal.pthread_kill(self.ident, signal.SIGURG)
        self.firing = False

    def take_signal(self):
        if state.threading.current_thread() is not state.threading.main_thread() or not hasattr(_signal, "SIGURG"):
            return
        handler = _signal.getsignal(_signal.SIGURG)
        if handler is None:
            # It was not set from Python, and could not be restored.
            return

        def interrupt(number, frame):
            if self.active and time.monotonic() >= self.due:
                raise Interrupted

        # An event loop with a wakeup descriptor must not be woken by this signal.
        self.signals = (handler, _signal.set_wakeup_fd(-1))
        _signal.signal(_signal.SIGURG, interrupt)

    def end(self):
        clock.limits.discard(self)
        while self.firing:
            sleep(0)
        if self.fired:
            absorb(self.ident)
            # A signal that was sent has been delivered by now, and is handled here.
            sleep(0)
        if self.signals is not None:
            handler, wakeup = self.signals
            _signal.signal(_signal.SIGURG, handler)
            if wakeup != -1:
                _signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
            self.signals = None


class Clock:
    """One thread that checks all limits. It starts with the first one, and again in a forked child. It is not a
    `threading.Thread`, so neither the program nor pydevd sees it."""

    def __init__(self):
        self.limits = set()
        self.pid = self.ident = None
        self.idle = state.threading.Lock()
        self.idle.acquire()

    def add(self, limit):
        if self.pid != os.getpid():
            self.__init__()
            self.pid = os.getpid()
            start_thread(self.run)
        self.limits.add(limit)
        if self.idle.locked():
            self.idle.release()

    def run(self):
        self.ident = state.threading.get_ident()
        while True:
            if not self.limits:
                self.idle.acquire()
            for limit in list(self.limits):
                limit.check()
            sleep(0.01)


clock = Clock()


def raise_in(ident, exception):
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(exception))


def absorb(ident):
    """Absorb an exception that may still be pending for this thread.

    It is replaced by one that is expected here. Clearing it, which the C function also supports, leaves a flag set in
    Python 3.11, and the next traced call spins forever.
    """
    try:
        raise_in(ident, Interrupted)
        for _ in range(10**6):
            pass
    except Interrupted:
        pass
