"""Completes GDB's own debug adapter, `gdb -i dap`.

GDB loads this with `-x`, when its adapter is set up and has not read a request yet. What to do is in the environment
variable `STILLFRAME_GDB`, as JSON: `program`, `launches`, `cwd`, `env`, `stdin`, `entry`, `skip`, `shell`, `timeout` and
`printers`, each of which may be missing. `gdb/python/lib/gdb/dap` in the source of GDB has the modules that are completed here:

- The program's streams are its own: standard output is a terminal, so that it is written line by line. The adapter
  gives it one pipe for both streams, into which GDB itself writes, too.
- A stop says which signal or exception it is about, and the end of a program which signal has ended it.
- Values are shown with what is inside.
- Expressions that call functions of the program report no stops.
"""

import codecs
import glob
import itertools
import json
import os
import re
import select
import shlex
import signal
import sys
import threading
import tty

import gdb
import gdb.printing
from gdb.dap import breakpoint, bt, events, frames, globalvars, launch, scopes, startup, varref
from gdb.dap import next as steps
from gdb.dap.server import _commands as COMMANDS
from gdb.dap.server import capability, request, send_event

SETTINGS = json.loads(os.environ.pop("STILLFRAME_GDB", "{}"))

# An older GDB does not know all of them.
OPTIONS = [
    "set debuginfod enabled off",
    "set confirm off",
    "set style enabled off",
    "set print characters 4000",
    "set print elements 200",
    "set print max-depth 6",
    "set print null-stop on",
    "set print static-members off",
    "set print symbol off",
    "set unwind-on-signal on",
    "set unwind-on-terminating-exception on",
    "set unwind-on-timeout on",
    "unset environment STILLFRAME_GDB",
    # GDB adds its own terminal's.
    "unset environment LINES",
    "unset environment COLUMNS",
]


def run_quietly(command):
    try:
        gdb.execute(command, to_string=True)
    except gdb.error:
        pass


class ProgramOutput:
    """Passes on what the program writes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.streams = {}

    def add(self, category, end):
        os.set_blocking(end, False)
        self.streams[end] = (category, codecs.getincrementaldecoder("utf-8")("replace"))

    def drain(self):
        """Reads what is there, so that it is reported before the stop or the end that follows it."""
        with self.lock:
            for end, (category, decoder) in self.streams.items():
                while True:
                    try:
                        data = os.read(end, 65536)
                    except OSError:
                        break
                    text = decoder.decode(data)
                    if text:
                        send_event("output", {"category": category, "output": text})
                    if not data:
                        break

    def watch(self):
        while True:
            select.select(list(self.streams), [], [])
            self.drain()


OUTPUT = ProgramOutput()


def mute():
    """Drops what GDB says itself. The adapter reads its pipe until the end, which must not come."""
    os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def stdin_path():
    """What the program reads: a file, a text, or nothing, which for `open` does not end."""
    kind, value = SETTINGS.get("stdin") or ("empty", None)
    if kind == "file":
        return value
    if kind == "empty":
        return os.devnull
    theirs, ours = os.pipe()

    def write():
        with os.fdopen(ours, "w", encoding="utf-8") as pipe:
            pipe.write(value)

    if kind == "text":
        startup.start_thread("program input", write)
    return path_of(theirs)


def path_of(descriptor):
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def redirect():
    """Has GDB start the program by a shell that connects its streams."""
    master, slave = os.openpty()
    tty.setraw(slave)
    reading, writing = os.pipe()
    OUTPUT.add("stdout", master)
    OUTPUT.add("stderr", reading)
    streams = [(stdin_path(), "<"), (os.ttyname(slave), ">"), (path_of(writing), "2>")]
    redirected = " ".join(sign + shlex.quote(path) for path, sign in streams)
    script = f'exec "$0" "$@" {redirected}'
    gdb.execute(f"set exec-wrapper /bin/sh -c {shlex.quote(script)}")
    startup.start_thread("program output", OUTPUT.watch)


def prepare_launch():
    inferior = gdb.selected_inferior()
    # GDB has another shell than the user's, because it starts programs by it.
    changes = {"SHELL": SETTINGS.get("shell"), **(SETTINGS.get("env") or {})}
    for name, value in changes.items():
        if value is None:
            inferior.unset_env(name)
        else:
            inferior.set_env(name, value)
    redirect()
    if SETTINGS.get("cwd"):
        gdb.execute("set cwd " + SETTINGS["cwd"])
    if SETTINGS.get("entry"):
        stop_on_entry(SETTINGS["entry"])


def stop_on_entry(name):
    with breakpoint.suppress_new_breakpoint_event():
        place = gdb.Breakpoint(function=name, temporary=True)
        if place.pending and name != "main":
            place.delete()
            gdb.Breakpoint(function="main", temporary=True)


class State:
    """What the adapter's own handlers of events do not pass on."""

    event = None
    exception = None
    has_ended = False
    # The command of a step, with the frame and the line that it began in.
    step = None
    # What is put back when a call for an expression has ended; nothing if there is none.
    before_call = None
    # A call may need others for its arguments.
    calls = 0


def on_stop(event):
    State.event = event
    events._on_stop(event)


def on_exit(event):
    State.event = event
    State.has_ended = True
    events._on_exit(event)


# The numbers that the client knows. The adapter forgets them whenever the program runs.
NUMBERS = [
    (frames, "_all_frames"),
    (frames, "_iter_map"),
    (frames, "thread_ids"),
    (globalvars, "_id_to_scope"),
    (scopes, "_last_return_value"),
    (scopes, "frame_to_scope"),
    (varref, "all_variables"),
]


def on_inferior_call(event):
    if isinstance(event, gdb.InferiorCallPreEvent):
        # The condition of a breakpoint may call a function, too.
        if State.calls == 0 and events.inferior_running:
            return
        State.calls += 1
        if State.calls == 1:
            begin_call()
    elif State.calls > 0:
        State.calls -= 1
        if State.calls == 0:
            end_call()


def begin_call():
    """A breakpoint in the function would leave the program there."""
    enabled = [place for place in gdb.breakpoints() if place.enabled]
    numbers = [(module, name, getattr(module, name)) for module, name in NUMBERS if hasattr(module, name)]
    State.before_call = (enabled, numbers)
    enable(enabled, False)


def end_call():
    enabled, numbers = State.before_call
    State.before_call = None
    events.inferior_running = False
    for module, name, value in numbers:
        setattr(module, name, value)
    enable(enabled, True)


def enable(places, is_enabled):
    with breakpoint.suppress_new_breakpoint_event():
        for place in places:
            if place.is_valid():
                place.enabled = is_enabled


def stopped(body):
    """The body of the event, or nothing for a stop that is not one for the client."""
    event, State.exception = State.event, None
    if getattr(gdb.selected_inferior(), "corefile", None) is not None:
        return {**body, "reason": "exception"}
    if body["reason"] == "attach":
        gdb.post_event(lambda: run_quietly("continue &"))
        return None
    if body["reason"] == "step" and is_on_its_line():
        gdb.post_event(lambda: events.exec_and_expect_stop(State.step[0]))
        return None
    if isinstance(event, gdb.SignalEvent) and body["reason"] != "pause":
        State.exception = signal_information(event.stop_signal)
    elif isinstance(event, gdb.BreakpointEvent) and is_catchpoint(event):
        State.exception = thrown_information()
    if State.exception is None:
        return body
    text = f"{State.exception['exceptionId']}: {State.exception['description']}".rstrip(": ")
    return {**body, "reason": "exception", "hitBreakpointIds": [], "text": text}


def remembering(run):
    def begun(command, *arguments, **options):
        State.step = None
        if command in ("step", "next"):
            frame = gdb.newest_frame()
            State.step = (command, frame, frame.find_sal().line)
        try:
            run(command, *arguments, **options)
        except Exception as error:
            # Where a thread has ended meanwhile, the program runs, or its end is reported next.
            if not report_unnoticed_end() and "No such process" not in str(error):
                raise

    return begun


def report_unnoticed_end():
    """GDB does not notice that a program is killed while it is suspended, and fails to resume it."""
    try:
        with open(f"/proc/{gdb.selected_inferior().pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return False
    if fields[0] not in "ZX":
        return False
    # As `wait` reports it; `man 5 proc` has the fields.
    status = int(fields[49])
    send_event("exited", {"exitCode": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)})
    send_event("terminated")
    return True


def is_on_its_line():
    """A step over a function of a library may end behind the call, in the middle of the line."""
    if State.step is None:
        return False
    _, frame, line = State.step
    return frame.is_valid() and gdb.newest_frame() == frame and frame.find_sal().line == line


def is_catchpoint(event):
    return any(place.type == getattr(gdb, "BP_CATCHPOINT", None) for place in event.breakpoints)


# `si_code` in `signal.h`.
CAUSES = {
    ("SIGSEGV", 1): "address not mapped to object",
    ("SIGSEGV", 2): "invalid permissions for mapped object",
    ("SIGBUS", 1): "invalid address alignment",
    ("SIGBUS", 2): "nonexistent physical address",
    ("SIGFPE", 1): "integer divide by zero",
    ("SIGFPE", 2): "integer overflow",
    ("SIGFPE", 3): "floating point divide by zero",
}


def signal_information(name):
    cause = ""
    try:
        code = int(gdb.parse_and_eval("$_siginfo.si_code"))
        cause = CAUSES.get((name, code), "")
        if name in ("SIGSEGV", "SIGBUS") and cause:
            address = int(gdb.parse_and_eval("$_siginfo._sifields._sigfault.si_addr"))
            cause += f" (fault address: {address:#x})"
    except gdb.error:
        pass
    return {"exceptionId": name, "description": cause, "breakMode": "unhandled"}


# The classes of the standard library whose first field is the message.
WITH_MESSAGE = ("std::runtime_error", "std::logic_error")
SIMPLE = ("bool", "char", "int", "unsigned int", "long", "unsigned long", "float", "double")


def thrown_information():
    """The type and the message of a C++ exception, read from memory: nothing of the program runs for it."""
    kinds, message = [], ""
    try:
        thrown = int(gdb.parse_and_eval("$_probe_arg0"))
        kinds = type_names(int(gdb.parse_and_eval("$_probe_arg1")))
        if any(kind in WITH_MESSAGE for kind in kinds):
            message = gdb.parse_and_eval(f"*(char **)({thrown} + sizeof(void *))").string(errors="replace")
        elif kinds and kinds[0] in SIMPLE:
            message = gdb.parse_and_eval(f"*({kinds[0]} *){thrown}").format_string()
    except (gdb.error, gdb.MemoryError):
        pass
    kind = kinds[0] if kinds else "C++ exception"
    return {"exceptionId": kind, "description": message, "breakMode": "always"}


def type_names(information):
    """The name of a `std::type_info`, and those of its first base classes."""
    names = []
    while information and len(names) < 20:
        name = symbol_at(information).partition("typeinfo for ")[2]
        if not name:
            break
        names.append(name)
        own = symbol_at(int(gdb.parse_and_eval(f"*(unsigned long *){information}")))
        # The one base of a `__si_class_type_info`, in the Itanium C++ ABI.
        is_derived = "__si_class_type_info" in own
        base = f"*(unsigned long *)({information} + 2 * sizeof(void *))"
        information = int(gdb.parse_and_eval(base)) if is_derived else 0
    return names


def symbol_at(address):
    text = gdb.execute(f"info symbol {address}", to_string=True)
    # A symbol of a library may have a version: `typeinfo for int@CXXABI_1.3`.
    return text.partition(" in section ")[0].partition(" + ")[0].partition("@")[0]


# What a shell exits with when it cannot run a program.
NOT_STARTED = 127


def exited(body):
    if hasattr(State.event, "exit_code"):
        return body
    ended_by = gdb.convenience_variable("_exitsignal")
    return {**body, "exitCode": NOT_STARTED if ended_by is None else -int(ended_by)}


def completing(send):
    def sent(name, body=None):
        if name in ("continued", "stopped") and State.before_call is not None:
            return
        if name in ("stopped", "exited"):
            OUTPUT.drain()
            body = stopped(body) if name == "stopped" else exited(body)
            if body is None:
                return
        send(name, body)

    return sent


def starting(run):
    """The adapter answers before it starts the program, and reports no failure of that."""

    def started(command, *arguments, **options):
        try:
            run(command, *arguments, **options)
            problem = ""
        except Exception as error:
            problem = str(error)
        if gdb.selected_inferior().pid == 0 and not State.has_ended:
            text = f"GDB cannot start the program: {problem}".rstrip(": ")
            send_event("output", {"category": "stderr", "output": text + "\n"})
            send_event("exited", {"exitCode": NOT_STARTED})
            send_event("terminated")

    return started


def showing(to_object):
    """GDB's adapter shows no more of a structure than that it is one."""

    def shown(self):
        result = to_object(self)
        try:
            value = self._value if hasattr(self, "_value") else self.value
            result["result" if "result" in result else "value"] = text_of(value)
        except (gdb.error, gdb.MemoryError, RuntimeError):
            pass
        return result

    return shown


def text_of(value):
    """A reference is shown as what it refers to, and a value of Rust without the modules of its types."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    if not SETTINGS.get("printers"):
        return TEXT_ADDRESS.sub("", value.format_string())
    # GDB has one type for references, boxes and raw pointers of Rust.
    if kind.code == gdb.TYPE_CODE_PTR and kind.target().code not in OPAQUE and int(value) != 0:
        value = value.dereference()
    parts = re.split(r'("(?:\\.|[^"\\])*")', value.format_string())
    return "".join(part if part.startswith('"') else MODULES.sub("", part) for part in parts)


class Shortened:
    """A printer of a container, which the adapter would read whole to know its length."""

    def __init__(self, printer):
        self.printer = printer

    def __getattr__(self, name):
        return getattr(self.printer, name)

    def children(self):
        return itertools.islice(self.printer.children(), MOST_ITEMS)


MOST_ITEMS = 10_000


def shortening(make_visualizer):
    def made(value):
        printer = make_visualizer(value)
        is_long = hasattr(printer, "children") and not hasattr(printer, "num_children")
        return Shortened(printer) if is_long else printer

    return made


# Of a text of C, which has its address before it.
TEXT_ADDRESS = re.compile(r"\b0x[0-9a-f]+ (?=[uUL]?\")")
OPAQUE = (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_VOID)
# What is before the last part of a path: `core::option::Option<u32>::` in `core::option::Option<u32>::Some`.
MODULES = re.compile(r"(?:\b\w+(?:<(?:[^<>]|<[^<>]*>)*>)?::)+(?=\w)")


def naming(compute_name):
    """The items of an array of C have names such as `7`, those of a vector `[7]`."""

    def named(self, name):
        return compute_name(self, f"[{name}]" if str(name).isdigit() else name)

    return named


def counting(backtrace):
    def counted(thread_id, levels, start, *arguments):
        result = backtrace(thread_id, levels, start, *arguments)
        found = len(result["stackFrames"])
        is_whole = levels == 0 or found < levels
        # The client asks for one frame at each hit.
        if levels != 1:
            result["totalFrames"] = start + found if is_whole else stack_depth()
        return result

    return counted


def stack_depth():
    depth, frame = 0, gdb.newest_frame()
    while frame is not None and depth < 100_000:
        depth, frame = depth + 1, frame.older()
    return depth


@capability("supportsExceptionInfoRequest")
@request("exceptionInfo")
def exception_info(*, threadId: int, **args):
    if State.exception is None:
        raise startup.DAPException("the thread is not at an exception")
    return State.exception


def load_printers():
    """Those of the C++ library, which GDB finds by itself only where it is that of the system, and of Rust."""
    for folder in glob.glob("/usr/share/gcc*/python"):
        sys.path.insert(0, folder)
        try:
            from libstdcxx.v6.printers import register_libstdcxx_printers

            register_libstdcxx_printers(None)
            break
        except Exception:
            continue
    if SETTINGS.get("printers"):
        sys.path.insert(0, SETTINGS["printers"])
        try:
            import gdb_lookup

            gdb_lookup.register_printers(gdb)
        except Exception:
            pass


def complete():
    for name in ("send_event", "send_event_maybe_later"):
        if hasattr(events, name):
            setattr(events, name, completing(getattr(events, name)))
    launch.exec_and_expect_stop = starting(launch.exec_and_expect_stop)
    steps.exec_and_expect_stop = remembering(steps.exec_and_expect_stop)
    varref.VariableReference.to_object = showing(varref.VariableReference.to_object)
    varref.BaseReference._compute_name = naming(varref.BaseReference._compute_name)
    bt._backtrace = counting(bt._backtrace)
    gdb.printing.make_visualizer = shortening(gdb.printing.make_visualizer)
    gdb.events.stop.disconnect(events._on_stop)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.disconnect(events._on_exit)
    gdb.events.exited.connect(on_exit)
    gdb.events.inferior_call.disconnect(events._on_inferior_call)
    gdb.events.inferior_call.connect(on_inferior_call)


def prepare():
    for option in OPTIONS:
        run_quietly(option)
    for option in ("direct-call-timeout", "indirect-call-timeout"):
        run_quietly(f"set {option} {SETTINGS.get('timeout', 5)}")
    for pattern in SETTINGS.get("skip") or []:
        run_quietly(f"skip -rfunction {pattern}")
    load_printers()
    complete()
    if SETTINGS.get("program"):
        # Not only when debugging starts, so that breakpoints and their conditions are checked before.
        launch.file_command(SETTINGS["program"])
    if SETTINGS.get("launches"):
        prepare_launch()


def refusing(problem):
    def refuse(**args):
        raise startup.DAPException(f"GDB {gdb.VERSION}: {problem}")

    return refuse


mute()
try:
    prepare()
except Exception as error:
    # Without all of this, what the adapter reports would be wrong.
    COMMANDS.update({name: refusing(error) for name in ("launch", "attach")})
