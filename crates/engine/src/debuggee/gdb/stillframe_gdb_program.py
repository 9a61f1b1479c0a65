"""How GDB starts the program: with its own streams, in its folder, with its environment.

Standard output is a terminal, so that it is written line by line. GDB's adapter gives the program one pipe for both
streams, into which GDB itself writes, too.
"""

import codecs
import os
import select
import shlex
import threading
import tty

import gdb
from gdb.dap import breakpoint, startup
from gdb.dap.server import send_event


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


def prepare(settings):
    """Everything that the program starts with is set; `settings` is what `stillframe_gdb` gets."""
    inferior = gdb.selected_inferior()
    # GDB has another shell than the user's, because it starts programs by it.
    changes = {"SHELL": settings.get("shell"), **(settings.get("env") or {})}
    for name, value in changes.items():
        if value is None:
            inferior.unset_env(name)
        else:
            inferior.set_env(name, value)
    redirect(settings.get("stdin") or ("empty", None))
    if settings.get("cwd"):
        gdb.execute("set cwd " + settings["cwd"])
    if settings.get("entry"):
        stop_on_entry(settings["entry"])


def redirect(stdin):
    """Has GDB start the program by a shell that connects its streams."""
    master, slave = os.openpty()
    tty.setraw(slave)
    reading, writing = os.pipe()
    OUTPUT.add("stdout", master)
    OUTPUT.add("stderr", reading)
    streams = [(stdin_path(*stdin), "<"), (os.ttyname(slave), ">"), (path_of(writing), "2>")]
    redirected = " ".join(sign + shlex.quote(path) for path, sign in streams)
    script = f'exec "$0" "$@" {redirected}'
    gdb.execute(f"set exec-wrapper /bin/sh -c {shlex.quote(script)}")
    startup.start_thread("program output", OUTPUT.watch)


def stdin_path(kind, value):
    """What the program reads: a file, a text, or nothing, which for `open` does not end."""
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


def stop_on_entry(name):
    with breakpoint.suppress_new_breakpoint_event():
        place = gdb.Breakpoint(function=name, temporary=True)
        if place.pending and name != "main":
            place.delete()
            gdb.Breakpoint(function="main", temporary=True)
