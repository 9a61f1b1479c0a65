"""Finds what a thread waits for in native code, from the call in the source or else from the system call."""

import ast
import builtins
import io
import os
import signal
import stat
import sys
import time

import stillframe_code as code
import stillframe_locks as locks
import stillframe_memory as memory
from stillframe_types import is_a

# Filled by `stillframe_waits`.
Wait = None


# A thread that waits for the GIL looks like one that waits in native code, but for fewer samples.
LONG = 4


def wait(scene, thread, frame):
    """What the native code that a frame has called waits for."""
    for node in code.calls_under_way(frame):
        found = by_source(scene, frame, node)
        if found is not None:
            return found
    return by_system(scene, thread, frame) or (unnamed(frame) if thread.seen >= LONG else None)


def by_source(scene, frame, node):
    if type(node) is tuple:
        expression = node[0].items[node[1]].context_expr
        return of_lock(scene, frame, expression, code.value_of(expression, frame), False)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return of_file(code.value_of(node.iter, frame))
    function = code.value_of(node.func, frame)
    arguments = Arguments(node, frame)
    for known, wait in functions():
        if function is known:
            return wait(arguments)
    if not isinstance(node.func, ast.Attribute):
        return None
    owner, method = code.value_of(node.func.value, frame), node.func.attr
    if method in ("acquire", "__enter__"):
        limit = arguments.get("timeout", 1)
        timed = node.func.attr == "acquire" and limit not in (None, -1)
        return of_lock(scene, frame, node.func.value, owner, timed)
    if is_a(owner, code.loaded("_socket", "socket") or ()):
        kind = "server" if method == "accept" else "socket"
        return Wait(kind, about_socket(owner, method), is_limited(owner))
    if is_a(owner, code.loaded("_queue", "SimpleQueue") or ()):
        timed = arguments.get("timeout", 1) is not None
        return Wait("lock", "an item of the queue " + quoted(node.func.value, frame), timed)
    if method == "poll" and type(owner).__module__ == "select":
        return Wait("socket", "one of several connections or files", arguments.get("timeout", 0) not in (None, -1))
    return of_file(owner)


def of_lock(scene, frame, expression, value, timed):
    lock = locks.lock_in(value)
    if lock is not None:
        return Wait("lock", "the lock " + quoted(expression, frame), timed, scene.holders(lock))
    if is_a(value, code.loaded("multiprocessing.synchronize", "SemLock") or ()):
        value = value._semlock
    if is_a(value, code.loaded("_multiprocessing", "SemLock") or ()):
        kind = "lock" if value._count() > 0 else "process"
        return Wait(kind, "the lock %s between processes" % quoted(expression, frame), timed)
    return None


def quoted(expression, frame):
    text = code.text_of(expression, frame)
    return "`%s`" % text if text else "that has no name"


class Arguments:
    """The known arguments of a call."""

    def __init__(self, node, frame):
        self.node = node
        self.frame = frame

    def get(self, name, position):
        """The value of an argument; None if it is omitted or unknown."""
        for keyword in self.node.keywords:
            if keyword.arg == name:
                return self.known(keyword.value)
        if position < len(self.node.args):
            return self.known(self.node.args[position])
        return None

    def known(self, node):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = code.value_of(node.operand, self.frame)
            return -value if type(value) in (int, float) else None
        value = code.value_of(node, self.frame)
        return None if value is code.UNKNOWN else value

    def text(self):
        return code.text_of(self.node, self.frame)


# ---------------------------------------------------------------------------------------------------------
# By the function


def functions():
    """Blocking functions, and what they wait for. The program may have replaced them, so they are looked up."""
    select, fcntl, socket = (sys.modules.get(name) for name in ("select", "fcntl", "_socket"))
    yield real_sleep, sleeps
    yield time.sleep, sleeps
    yield builtins.input, lambda arguments: Wait("input", "a line of standard input")
    yield builtins.open, opens
    for name in ("read", "readv", "pread"):
        yield getattr(os, name, None), lambda arguments: about_descriptor(arguments.get("fd", 0))
    yield os.open, opens
    yield os.waitpid, lambda arguments: Wait("child", process(arguments.get("pid", 0)))
    for name in ("wait", "wait3", "wait4", "waitid"):
        yield getattr(os, name, None), lambda arguments: Wait("child", "any child process")
    yield os.system, lambda arguments: Wait("child", "the command `%s`" % arguments.get("command", 0))
    for name in ("pause", "sigwait", "sigwaitinfo"):
        yield getattr(signal, name, None), lambda arguments: Wait("other", "a signal")
    if fcntl is not None:
        for name in ("flock", "lockf", "fcntl"):
            yield getattr(fcntl, name), locks_file
    if select is not None:
        yield select.select, selects
    if socket is not None:
        yield socket.getaddrinfo, lambda arguments: Wait("socket", "the address of `%s`" % arguments.get("host", 0), True)


real_sleep = time.sleep


def sleeps(arguments):
    seconds = arguments.get("seconds", 0)
    length = "%g s" % seconds if type(seconds) in (int, float) else "`%s`" % arguments.text()
    return Wait("timer", "a sleep of " + length, True)


def opens(arguments):
    path = arguments.get("file", 0) or arguments.get("path", 0)
    name = "`%s`" % path if isinstance(path, str) else "a file"
    return Wait("file", "%s to be opened at its other end" % name)


def process(pid):
    return "process %d" % pid if type(pid) is int and pid > 0 else "any child process"


def locks_file(arguments):
    number = descriptor_of(arguments.get("fd", 0))
    return Wait("file", "the lock of the file %s" % name_of(number))


def selects(arguments):
    files = arguments.get("rlist", 0)
    if type(files) in (list, tuple) and len(files) == 1 and descriptor_of(files[0]) == 0:
        return Wait("input", "standard input", arguments.get("timeout", 3) is not None)
    return Wait("socket", "one of several connections or files", arguments.get("timeout", 3) is not None)


# ---------------------------------------------------------------------------------------------------------
# Files and connections

FILES = (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair, io.FileIO)


def descriptor_of(value):
    """The descriptor of an open file; None if it cannot be read without running code."""
    if type(value) is int:
        return value
    if type(value) in FILES[:2] + FILES[2:4]:
        inner = value.buffer if type(value) is io.TextIOWrapper else value.raw
        return descriptor_of(inner)
    if type(value) is io.FileIO:
        try:
            return io.FileIO.fileno(value)
        except ValueError:
            return None
    return None


def of_file(value):
    return about_descriptor(descriptor_of(value)) if type(value) in FILES else None


def about_descriptor(number, pid="self"):
    """What a read of a descriptor waits for."""
    if number is None:
        return Wait("file", "data from a file")
    if number == 0:
        return Wait("input", "standard input")
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return Wait("file", "data from a file")
    if stat.S_ISSOCK(mode):
        return Wait("socket", "data from a connection")
    if stat.S_ISFIFO(mode):
        name = name_of(number)
        return Wait("file", "data from a pipe" if name.startswith("`pipe:") else "data from the pipe " + name)
    return Wait("file", "data from the file " + name_of(number))


def name_of(number):
    try:
        return "`%s`" % os.readlink("/proc/self/fd/%d" % number)
    except (OSError, TypeError):
        return "that has no name"


def is_limited(value):
    """Whether a socket's own timeout ends its wait."""
    socket = code.loaded("_socket", "socket")
    return socket is not None and is_a(value, socket) and socket.gettimeout(value) is not None


def about_socket(value, method):
    """What a method of a socket waits for."""
    socket = code.loaded("_socket", "socket")
    is_socket = socket is not None and is_a(value, socket)
    if method == "accept":
        return "connections to %s" % (address(socket.getsockname, value) if is_socket else "a port")
    peer = address(socket.getpeername, value) if is_socket else "a peer"
    if method.startswith("connect"):
        return "a connection to be established"
    return ("room to send to %s" if method.startswith("send") else "data from %s") % peer


def address(method, value):
    try:
        found = method(value)
    except OSError:
        return "a closed peer"
    if type(found) is tuple and len(found) >= 2:
        return "%s:%s" % found[:2]
    return "`%s`" % found if found else "a socket without a name"


# ---------------------------------------------------------------------------------------------------------
# By the operating system

# Blocking system calls, by their numbers on two architectures.
READS, SOCKETS, SERVERS, POLLS, LOCKS, CHILDREN, SLEEPS, FLOCKS, OPENS = range(9)
NUMBERS = {
    "x86_64": {
        0: READS, 19: READS, 45: SOCKETS, 47: SOCKETS, 42: SOCKETS, 43: SERVERS, 288: SERVERS, 7: POLLS, 271: POLLS,
        23: POLLS, 270: POLLS, 232: POLLS, 281: POLLS, 202: LOCKS, 61: CHILDREN, 247: CHILDREN, 35: SLEEPS, 230: SLEEPS,
        73: FLOCKS, 72: FLOCKS, 257: OPENS,
    },
    "aarch64": {
        63: READS, 65: READS, 207: SOCKETS, 212: SOCKETS, 203: SOCKETS, 202: SERVERS, 242: SERVERS, 73: POLLS, 72: POLLS,
        22: POLLS, 98: LOCKS, 260: CHILDREN, 95: CHILDREN, 101: SLEEPS, 115: SLEEPS, 32: FLOCKS, 25: FLOCKS, 56: OPENS,
    },
}  # fmt: skip


def by_system(scene, thread, frame):
    """The wait for the system call that a thread is in; None if unknown."""
    try:
        with open("/proc/self/task/%d/syscall" % thread.native) as file:
            words = file.read().split()
        call, first = NUMBERS[os.uname().machine][int(words[0])], int(words[1], 16)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if call == LOCKS:
        # A thread that waits for the GIL checks again after a timeout.
        return of_system_lock(scene, frame, first) if int(words[4], 16) == 0 else None
    if call == READS:
        return about_descriptor(first)
    if call == SOCKETS:
        return Wait("socket", "a connection")
    if call == SERVERS:
        return Wait("server", "connections to a port")
    if call == POLLS:
        return Wait("socket", "one of several connections or files")
    if call == CHILDREN:
        return Wait("child", "a child process")
    if call == SLEEPS:
        return Wait("timer", "a sleep", True)
    if call == FLOCKS:
        return Wait("file", "the lock of the file %s" % name_of(first))
    if call == OPENS:
        return Wait("file", "a file to be opened at its other end")
    return None


def of_system_lock(scene, frame, address):
    lock = memory.lock_at(address, locks.LOCKS)
    entered = [node[0].items[node[1]] for node in code.calls_under_way(frame) if type(node) is tuple]
    if lock is None and not entered:
        return None
    name = "the lock " + quoted(entered[0].context_expr, frame) if entered else "a lock"
    return Wait("lock", name, False, scene.holders(lock) if lock is not None else ())


def unnamed(frame):
    """An unknown wait. The source must show that native code is running."""
    calls = [node for node in code.calls_under_way(frame) if isinstance(node, ast.Call)]
    texts = [code.text_of(node, frame) for node in calls if code.span_of(frame) is not None]
    return Wait("other", "`%s` to return" % texts[0]) if texts and texts[0] else None
