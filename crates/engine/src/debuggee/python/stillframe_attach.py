"""Injects debugpy into a running program, by process ID.

    python stillframe_attach.py HOST:PORT TOKEN ROOT MODULES PID

It must run in the program's interpreter. ROOT is the folder that contains the `debugpy` package; debugpy connects to
HOST:PORT, with TOKEN. MODULES are the names of the agent's modules, each behind those that it imports.

Python 3.14 and later can run code in another process. In earlier versions the main thread is stopped with `ptrace(2)`,
calls functions of the interpreter, and continues where it was. Their addresses are those of this process, relocated to
where the other one has mapped the same file. The thread may have been anywhere, even inside an allocation, so the code
is scheduled with `Py_AddPendingCall`. A thread that does not reach that because it waits in a system call is stopped
there and made to run pending calls.
"""

import ctypes
import os
import signal
import struct
import sys
import tempfile
import time

# `ptrace(2)` and `linux/ptrace.h`.
CONT, DETACH, GETREGSET, SETREGSET, SEIZE, INTERRUPT, LISTEN = 7, 17, 0x4204, 0x4205, 0x4206, 0x4207, 0x4208
EVENT_STOP = 128
ALL_CHILDREN = 0x40000000

# Register sets (`linux/elf.h`), and the offsets of x86-64 registers in the first (`struct user_regs_struct`).
GENERAL, EXTENDED = 1, 0x202
RAX, ORIG_RAX, RIP, EFLAGS, RSP = 10, 15, 16, 18, 19
ARGUMENTS = (14, 13, 12, 11, 9, 8)
# More bytes than any processor's registers take.
REGISTERS = 1 << 16

# The red zone: bytes below the stack pointer that a function may use without moving it.
RED_ZONE = 128
# The return address of a called function: nothing is mapped there, so the thread stops.
NOWHERE = 0
DIRECTION = 0x400

# The bits of a register that are a C `int`, and the value of a failed `mmap`.
INT, NO_PLACE = 0xFFFFFFFF, 2**64 - 1

PAGE = 4096
READ_WRITE, PRIVATE_ANONYMOUS = 3, 0x22

# In seconds: the polling interval; how long a thread must stay asleep to count as blocked, because one that waits for
# the GIL wakes every few milliseconds; the timeout.
LOOK, ASLEEP, PATIENCE = 0.005, 0.05, 10

# The header before the code in the program's memory.
WANTED, BEGUN, ENDED, GIVEN_UP = b"w", b"b", b"e", b"g"


def main():
    address, token, root, modules, pid = sys.argv[1:6]
    code = code_for(address, token, root, modules.split(","))
    try:
        if hasattr(sys, "remote_exec"):
            remote_exec(int(pid), code)
        else:
            Injection(int(pid)).run(code)
    except OSError as error:
        # Such as for a process of another user.
        sys.exit("process %s cannot be traced: %s" % (pid, error.strerror))


# Runs in the program. It does not wait for the peer, which can disconnect at any time; if it already has, that must not
# affect the program.
CODE = """
import importlib, io, os, sys
# Otherwise pydevd warns about frozen modules. With gevent, it needs copies of the modules that gevent has replaced.
variables = {{"PYDEVD_DISABLE_FILE_VALIDATION": "1"}}
if "gevent.monkey" in sys.modules:
    variables["GEVENT_SUPPORT"] = "True"
variables = {{name: value for name, value in variables.items() if name not in os.environ}}
os.environ.update(variables)
sys.path[:0] = [{root}, {scripts}]
try:
    from debugpy._vendored import force_pydevd
    import pydevd
    from _pydev_bundle.pydev_log import log_context
    earlier = pydevd.get_global_debugger()
    if earlier is not None:
        earlier.dispose_and_kill_all_pydevd_threads(wait=False)
        # Its thread may be doing the same, and takes up to half a second to get there.
        pydevd.set_global_debugger(None)
    # Those of an earlier debugger, which may have been another version. What it has patched reads them where they are.
    for name in {modules}:
        if name in sys.modules:
            importlib.reload(sys.modules[name])
    import stillframe_agent
    with log_context(0, io.StringIO()):
        pydevd.settrace(
            host={host},
            port={port},
            client_access_token={token},
            suspend=False,
            wait_for_ready_to_run=False,
            patch_multiprocessing=True,
            notify_stdin=False,
            dont_trace_start_patterns=({scripts}, {folder}),
            dont_trace_end_patterns=(),
        )
except ConnectionError:
    pass
except Exception as error:
    print("a debugger could not get into this program:", repr(error), file=sys.stderr)
finally:
    sys.path.remove({root})
    sys.path.remove({scripts})
    for name in variables:
        del os.environ[name]
"""


def code_for(address, token, root, modules):
    host, port = address.rsplit(":", 1)
    words = {
        "host": host,
        "port": int(port),
        "token": token,
        "root": root,
        "folder": os.path.join(root, "debugpy"),
        "scripts": os.path.dirname(os.path.abspath(__file__)),
        "modules": modules,
    }
    return in_one(CODE.format(**{name: ascii(word) for name, word in words.items()}))


def in_one(code):
    """Code as one expression that defines no names."""
    return "exec({}, {{}})".format(ascii(code))


def remote_exec(pid, code):
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("import os; os.remove({})\n{}\n".format(ascii(file.name), code))
    try:
        sys.remote_exec(pid, file.name)
    except BaseException:
        os.remove(file.name)
        raise


class Injection:
    """Code to run in the main thread of a process."""

    def __init__(self, pid):
        self.pid = pid
        # All of them are found before anything is changed.
        self.functions = {name: address_in(pid, name) for name in NAMES}

    def run(self, code):
        with Thread(self.pid) as thread:
            self.hand_over(thread, code)
        until = time.monotonic() + PATIENCE
        while self.state() == WANTED:
            if time.monotonic() > until:
                self.set_state(GIVEN_UP)
                sys.exit("the main thread has been in native code for %d s, without running Python" % PATIENCE)
            if self.is_asleep():
                with Thread(self.pid) as thread:
                    self.take_turn(thread)
        while self.state() == BEGUN:
            time.sleep(LOOK)

    def hand_over(self, thread, code):
        room = 4 * len(code) + PAGE
        place = thread.call(self.functions["mmap"], 0, room, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0)
        if place == NO_PLACE:
            sys.exit("cannot allocate memory in process %d" % self.pid)
        self.place = place
        code = in_one(ONCE.format(place=place, wanted=WANTED, begun=BEGUN, ended=ENDED, code=code))
        with self.memory() as memory:
            memory.write(WANTED + code.encode("ascii") + b"\0")
        # The page stays mapped, because it can be read at any later time.
        run, begin = self.functions["PyRun_SimpleString"], place + len(WANTED)
        if thread.call(self.functions["Py_AddPendingCall"], run, begin) & INT:
            sys.exit("cannot call into process %d: its stack has no room" % self.pid)

    def take_turn(self, thread):
        holds_lock = thread.call(self.functions["PyGILState_Check"]) & INT
        if holds_lock or not thread.is_in_system() or self.state() != WANTED:
            return
        state = thread.call(self.functions["PyGILState_Ensure"]) & INT
        thread.call(self.functions["Py_MakePendingCalls"])
        thread.call(self.functions["PyGILState_Release"], state)

    def is_asleep(self):
        """Whether the main thread is blocked, and has not woken in between."""
        before = waits(self.pid)
        until = time.monotonic() + ASLEEP
        while time.monotonic() < until:
            if self.state() != WANTED:
                return False
            time.sleep(LOOK)
        return waits(self.pid) == before

    def state(self):
        try:
            with self.memory() as memory:
                return memory.read(1)
        except OSError:
            sys.exit("process %d has ended meanwhile" % self.pid)

    def set_state(self, state):
        with self.memory() as memory:
            memory.write(state)

    def memory(self):
        return memory_at(self.pid, self.place)


# It runs at most once, and not after a timeout. It stores its state in place.
ONCE = """
with open("/proc/self/mem", "r+b", buffering=0) as memory:
    def is_at(state):
        memory.seek({place})
        return memory.read(1) == state
    def put(state):
        memory.seek({place})
        memory.write(state)
    if is_at({wanted}):
        put({begun})
        try:
            {code}
        finally:
            put({ended})
"""

NAMES = (
    "mmap",
    "PyGILState_Check",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyRun_SimpleString",
    "Py_AddPendingCall",
    "Py_MakePendingCalls",
)


def waits(pid):
    """How often the main thread of a process has blocked."""
    with open("/proc/%d/task/%d/status" % (pid, pid)) as lines:
        return [line for line in lines if line.startswith("voluntary_ctxt_switches")]


def address_in(pid, name):
    """The address in another process of a function that this one has too."""
    own = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    for begin, end, offset, path in mapped("self"):
        if begin <= own < end:
            place = own - begin + offset
            break
    for begin, end, offset, other in mapped(pid):
        if other == path and offset <= place < offset + end - begin:
            return begin + place - offset
    sys.exit("the process does not run `%s`: it has no `%s`" % (sys.executable, path))


def memory_at(pid, place):
    """The memory of a process as a file, at an address."""
    memory = open("/proc/%d/mem" % pid, "r+b", buffering=0)
    memory.seek(place)
    return memory


def mapped(pid):
    """The files that a process has mapped: start, end, offset and path."""
    with open("/proc/%s/maps" % pid) as lines:
        for line in lines:
            parts = line.rstrip("\n").split(None, 5)
            if len(parts) == 6:
                begin, end = (int(part, 16) for part in parts[0].split("-"))
                yield begin, end, int(parts[2], 16), parts[5]


class Thread:
    """The main thread of a process, stopped, and resumed unchanged at the end."""

    def __init__(self, pid):
        self.pid = pid
        self.has_ended = False

    def __enter__(self):
        self.ptrace(SEIZE)
        self.ptrace(INTERRUPT)
        while not self.wait():
            self.ptrace(CONT, data=self.signal)
        self.saved = self.registers(GENERAL), self.registers(EXTENDED)
        return self

    def __exit__(self, *_):
        if self.has_ended:
            return
        general, extended = self.saved
        self.set_registers(EXTENDED, extended)
        self.set_registers(GENERAL, general)
        self.ptrace(DETACH)

    def ptrace(self, request, place=0, data=0):
        if PTRACE(request, self.pid, place, data) == -1:
            sys.exit("process %d cannot be traced: %s" % (self.pid, os.strerror(ctypes.get_errno())))

    def wait(self):
        """Wait for a stop; false if it is for a signal that the process should receive."""
        _, status = os.waitpid(self.pid, ALL_CHILDREN)
        if not os.WIFSTOPPED(status):
            self.has_ended = True
            sys.exit("process %d has ended meanwhile" % self.pid)
        self.signal = os.WSTOPSIG(status)
        return status >> 16 == EVENT_STOP

    def is_in_system(self):
        """Whether it was in a system call."""
        return struct.unpack_from("q", self.saved[0], 8 * ORIG_RAX)[0] >= 0

    def registers(self, kind):
        data = ctypes.create_string_buffer(REGISTERS)
        parts = Vector(ctypes.addressof(data), REGISTERS)
        self.ptrace(GETREGSET, kind, ctypes.addressof(parts))
        return data.raw[: parts.length]

    def set_registers(self, kind, registers):
        data = ctypes.create_string_buffer(registers, len(registers))
        parts = Vector(ctypes.addressof(data), len(registers))
        self.ptrace(SETREGSET, kind, ctypes.addressof(parts))

    def call(self, function, *arguments):
        """Make it call a function, and return the result. Signals reach the process meanwhile."""
        registers = list(struct.unpack("27Q", self.saved[0]))
        top = (registers[RSP] - RED_ZONE) // 16 * 16 - 8
        with memory_at(self.pid, top) as memory:
            memory.write(struct.pack("Q", NOWHERE))
        for register, argument in zip(ARGUMENTS, arguments):
            registers[register] = argument % 2**64
        # Do not restart a system call.
        registers[ORIG_RAX] = 2**64 - 1
        registers[RAX], registers[RIP], registers[RSP] = 0, function, top
        registers[EFLAGS] &= ~DIRECTION
        self.set_registers(GENERAL, struct.pack("27Q", *registers))
        request, number = CONT, 0
        while True:
            self.ptrace(request, data=number)
            request, number = CONT, 0
            if self.wait():
                # A process suspended by a signal stays so until it gets SIGCONT.
                request = CONT if self.signal == signal.SIGTRAP else LISTEN
                continue
            registers = struct.unpack("27Q", self.registers(GENERAL))
            if self.signal == signal.SIGSEGV and registers[RIP] == NOWHERE:
                return registers[RAX]
            number = self.signal


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


PTRACE = ctypes.CDLL(None, use_errno=True).ptrace
PTRACE.restype = ctypes.c_long
PTRACE.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]

main()
