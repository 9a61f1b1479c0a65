"""Data breakpoints: watchpoints in the processor's registers, on an address.

A watchpoint of GDB on a variable stops the program where the function returns. One of the client ends there without a
stop.
"""

import contextlib
import json
import re
from typing import Sequence

import gdb
import stillframe_effects
from gdb.dap.breakpoint import suppress_new_breakpoint_event
from gdb.dap.frames import select_frame
from gdb.dap.server import send_event
from gdb.dap.startup import DAPException, parse_and_eval
from stillframe_gdb_requests import answers, command
from stillframe_gdb_values import referred, shown

# How many registers a processor has for this, and how many bytes each of them watches.
REGISTERS = 4
WIDTH = 8
# How far below the stack pointer a function that calls no other may keep its variables.
RED_ZONE = 128
ACCESS = {"write": gdb.WP_WRITE, "read": gdb.WP_READ, "readWrite": gdb.WP_ACCESS}
MEMBER = re.compile(r"(.+?)\s*(?:\.|->)\s*(\w+)", re.DOTALL)
PARAMETERS = re.compile(r"(?<=.)\((?:[^()]|\([^()]*\))*\)(?: const)?$")


class Storage:
    """The memory of a value, in any frame and language: what a convenience variable points to."""

    # By the client's name in commands.
    known = {}

    def __init__(self, name, pointer):
        self.variable, self.pointer = f"$stillframe_watched_{name}", pointer
        self.address, self.size = int(pointer), pointer.type.target().sizeof
        # The name that the client has in requests.
        self.id = f"{self.address:x}/{self.size}"
        # The caller of `main`, too, is where a function returns to.
        with gdb.with_parameter("backtrace past-main", True):
            self.frame = frame_around(self.address)
        gdb.set_convenience_variable(self.variable[1:], pointer)

    def content(self):
        value = self.pointer.dereference()
        text = shown(value)
        data = gdb.selected_inferior().read_memory(self.address, self.size)
        return {"type": str(value.type), "text": text, "bytes": bytes(data).hex(), "is_partial": "..." in text}

    def registers(self):
        """How many of them watch it: each a width that is a power of two, at a multiple of that."""
        at, left, count = self.address, self.size, 0
        while left > 0 and count <= REGISTERS:
            width = WIDTH
            while width > left or at % width:
                width //= 2
            at, left, count = at + width, left - width, count + 1
        return count


class Frame:
    """A call of a function, which ends where the stack pointer is above its frame."""

    def __init__(self, inner, outer):
        self.function = PARAMETERS.sub("", inner.name() or "the function")
        self.thread = gdb.selected_thread().global_num
        self.end = pointer_in(inner)
        self.returns_to = outer.pc()


def frame_around(address):
    """The frame that an address is in; none if it is not on the stack of the thread."""
    inner = gdb.selected_frame()
    while (outer := inner.older()) is not None:
        if inner.type() != gdb.INLINE_FRAME:
            if pointer_in(inner) - RED_ZONE <= address < pointer_in(outer):
                return Frame(inner, outer)
            if address < pointer_in(inner):
                return None
        inner = outer
    return None


def pointer_in(frame):
    return int(frame.read_register("sp"))


class Watch(gdb.Breakpoint):
    """A data breakpoint."""

    # What was accessed last.
    accessed = None

    def __init__(self, storage, access):
        super().__init__(f"*{storage.variable}", type=gdb.BP_WATCHPOINT, wp_class=ACCESS[access])
        self.storage = storage
        self.is_over = False
        self.scope = FrameEnd(self) if storage.frame else None

    def stop(self):
        Watch.accessed = self.storage.id
        return not self.is_over

    def end(self):
        """GDB must not delete a breakpoint while it handles a hit."""
        if not self.is_over:
            self.is_over = True
            gdb.post_event(self.remove)
            message = f"its storage is gone: `{self.storage.frame.function}` has returned"
            body = {"id": self.number, "verified": False, "message": message}
            send_event("breakpoint", {"reason": "changed", "breakpoint": body})

    def remove(self):
        self.is_over = True
        with suppress_new_breakpoint_event():
            for place in (self, self.scope):
                if place is not None and place.is_valid():
                    place.delete()


class FrameEnd(gdb.Breakpoint):
    """Where a function returns to whose variable is watched."""

    def __init__(self, watch):
        frame = watch.storage.frame
        super().__init__(f"*{frame.returns_to:#x}", internal=True)
        self.thread = frame.thread
        self.watch, self.end = watch, frame.end

    def stop(self):
        if pointer_in(gdb.newest_frame()) > self.end:
            self.watch.end()
        return False


@command("stillframe-watched")
def watched(text):
    """What `stillframe_watched.py` prints for LLDB. There is nothing to clear."""
    how, frame, *rest = text.split(" ", 2)
    try:
        printed = {"find": find, "read": read}[how](int(frame), *rest)
    except (gdb.error, DAPException) as error:
        printed = {"problem": str(error), "has_effect": str(error) == stillframe_effects.REASON}
    return "watched " + json.dumps(printed)


def find(frame, rest):
    name, expression = rest.split(" ", 1)
    select_frame(frame)
    try:
        with gdb.with_parameter("may-call-functions", "off"):
            pointer = pointer_to(json.loads(expression))
    except (gdb.error, DAPException) as error:
        if "may-call-functions is off" in str(error):
            raise gdb.error(stillframe_effects.REASON) from error
        raise
    storage = Storage.known[name] = Storage(name, pointer)
    return {"id": storage.id}


def pointer_to(expression):
    if stillframe_effects.may_change(expression):
        raise gdb.error(stillframe_effects.REASON)
    value = referred(parse_and_eval(expression))
    if is_bit_field(expression.strip()):
        raise gdb.error("it is a bit field")
    if value.address is None:
        raise gdb.error("it is not in the program's memory")
    return value.address


def read(_frame, names):
    names, values = json.loads(names), {}
    for name in Storage.known.keys() - names:
        del Storage.known[name]
    for name, storage in Storage.known.items():
        with contextlib.suppress(gdb.error):
            values[name] = storage.content()
    return {"accessed": Watch.accessed, "values": values}


def is_bit_field(expression):
    """GDB has an address for one: that of what it shares with others."""
    member = MEMBER.fullmatch(expression)
    of, name = member.groups() if member else ("*this", expression)
    try:
        kind = referred(gdb.parse_and_eval(of)).type.strip_typedefs()
        kind = kind.target().strip_typedefs() if kind.code == gdb.TYPE_CODE_PTR else kind
        return kind[name].bitsize > 0
    except (gdb.error, KeyError, TypeError):
        return False


class Watches:
    # By the `id` of the storage, and the access.
    present = {}


@answers("setDataBreakpoints", "supportsDataBreakpoints")
def set_data_breakpoints(*, breakpoints: Sequence, **args):
    wanted = [(one["dataId"], one["accessType"]) for one in breakpoints]
    for key in Watches.present.keys() - wanted:
        Watches.present.pop(key).remove()
    return {"breakpoints": [set_one(*key) for key in wanted]}


def set_one(storage_id, access):
    watch = Watches.present.get((storage_id, access))
    if watch is None or watch.is_over:
        # The address may be that of an earlier variable, too.
        storage = [storage for storage in Storage.known.values() if storage.id == storage_id][-1]
        try:
            watch = Watches.present[storage_id, access] = made(storage, access)
        except gdb.error as error:
            return {"verified": False, "message": str(error)}
    return {"id": watch.number, "verified": True}


def made(storage, access):
    used = sum(watch.storage.registers() for watch in Watches.present.values() if not watch.is_over)
    if storage.size == 0 or used + storage.registers() > REGISTERS:
        most = f"processors watch at most {REGISTERS} values, of {WIDTH} bytes each"
        raise gdb.error(f"{most}; remove another watch, or watch a part")
    with suppress_new_breakpoint_event():
        watch = Watch(storage, access)
        if watch.type == gdb.BP_WATCHPOINT:
            watch.remove()
            raise gdb.error("GDB would have to run the program step by step to watch it")
    return watch


@command("stillframe-line")
def line_at(text):
    """The line of the code at an address, as LLDB prints it."""
    place = gdb.find_pc_line(int(text))
    path = place.symtab.fullname() if place.symtab else "?"
    return f"[{place.pc:#x}-{(place.last or place.pc) + 1:#x}): {path}:{place.line}:0"
