"""Values are shown with what is inside, scopes also where they are empty, and stacks with how deep they are."""

import glob
import itertools
import re
import sys

import gdb
import gdb.printing
from gdb.dap import bt, scopes, startup, varref
from gdb.dap.server import send_gdb_with_response
from stillframe_gdb_requests import REQUESTS

# Of a text of C, which has its address before it.
TEXT_ADDRESS = re.compile(r"\b0x[0-9a-f]+ (?=[uUL]?\")")
# In a value of Rust: a text; a character, which is `233 'é'`, or `233 '\xe9'` before version 18; and what is before
# the last part of a path, as `core::option::Option<u32>::` in `core::option::Option<u32>::Some`.
PARTS = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*")|\b(?P<letter>\d+) '(?:\\.[^']*|[^'\\])'|"""
    r"(?:\b\w+(?:<(?:[^<>]|<[^<>]*>)*>)?::)+(?=\w)"
)
ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", "'": "\\'", "\\": "\\\\"}
OPAQUE = (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_VOID)
MOST_ITEMS = 10_000


def shown(value):
    """The text of a value in an answer."""
    return Shown.text(value)


class Shown:
    text = None


def showing(to_object):
    """GDB's adapter shows no more of a structure than that it is one."""

    def with_text(self):
        result = to_object(self)
        try:
            value = self._value if hasattr(self, "_value") else self.value
            result["result" if "result" in result else "value"] = shown(value)
        except (gdb.error, gdb.MemoryError, RuntimeError):
            pass
        return result

    return with_text


def text_of(value):
    return TEXT_ADDRESS.sub("", referred(value).format_string())


def text_of_rust(value):
    """A value without the modules of its types."""
    value = referred(value)
    kind = value.type.strip_typedefs()
    # GDB has one type for references, boxes and raw pointers of Rust.
    if kind.code == gdb.TYPE_CODE_PTR and kind.target().code not in OPAQUE and int(value) != 0:
        value = value.dereference()
    return PARTS.sub(written, value.format_string())


def written(part):
    """A part of a value, as Rust's `Debug` has it."""
    if part["letter"] is None:
        return part["text"] or ""
    number = int(part["letter"])
    if number > sys.maxunicode:
        return part[0]
    character = chr(number)
    escaped = character if character.isprintable() else f"\\u{{{number:x}}}"
    return f"'{ESCAPES.get(character, escaped)}'"


def referred(value):
    """A reference is shown as what it refers to."""
    is_reference = value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
    return value.referenced_value() if is_reference else value


class Shortened:
    """A printer of a container, which the adapter would read whole to know its length."""

    def __init__(self, printer):
        self.printer = printer

    def __getattr__(self, name):
        return getattr(self.printer, name)

    def children(self):
        return itertools.islice(self.printer.children(), MOST_ITEMS)


class Unreadable(gdb.printing.NoOpScalarPrinter):
    """In place of a printer that fails at a value, such as one that is not initialized: the others are shown."""

    def __init__(self, error):
        self._text = f"<error reading variable: {error}>"

    def to_string(self):
        return self._text


def shortening(make_visualizer):
    def made(value):
        try:
            printer = make_visualizer(value)
        except gdb.error as error:
            return Unreadable(error)
        is_long = hasattr(printer, "children") and not hasattr(printer, "num_children")
        return Shortened(printer) if is_long else printer

    return made


def naming(compute_name):
    """The items of an array of C have names such as `7`, those of a vector `[7]`."""

    def named(self, name):
        return compute_name(self, f"[{name}]" if str(name).isdigit() else name)

    return named


def finding(find):
    """GDB's adapter finds only children that it has listed before."""

    def found(self, name):
        try:
            return find(self, name)
        except startup.DAPException:
            count = min(self.child_count() or 0, MOST_ITEMS)
            if count == 0:
                raise
            list(self.fetch_children(0, count))
            return find(self, name)

    return found


def listing_locals(answer):
    """GDB's adapter leaves out a scope without variables."""

    def answered(**arguments):
        result = answer(**arguments)
        names = [scope["name"] for scope in result["scopes"]]
        if "Locals" not in names:
            empty = send_gdb_with_response(lambda: empty_scope(arguments["frameId"]))
            result["scopes"].insert(names[:1] == ["Arguments"], empty)
        return result

    return answered


def forget_values(_event=None):
    """GDB's adapter keeps the variables of a scope as they were when they were first listed."""
    for scope in itertools.chain.from_iterable(scopes.frame_to_scope.values()):
        scope.reset_children()


def empty_scope(frame):
    return scopes._ScopeReference("Locals", "locals", frame, ()).to_object()


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


def load_printers(of_rust):
    """Those of the C++ library, which GDB finds by itself only where it is that of the system, and of Rust."""
    for folder in glob.glob("/usr/share/gcc*/python"):
        sys.path.insert(0, folder)
        try:
            from libstdcxx.v6.printers import register_libstdcxx_printers

            register_libstdcxx_printers(None)
            break
        except Exception:
            continue
    if of_rust:
        sys.path.insert(0, of_rust)
        try:
            import gdb_lookup

            gdb_lookup.register_printers(gdb)
            import stillframe_gdb_rust  # noqa: F401
        except Exception:
            pass


def complete(of_rust):
    """`of_rust`: the folder of the printers of Rust, for a program of Rust."""
    load_printers(of_rust)
    Shown.text = text_of_rust if of_rust else text_of
    varref.VariableReference.to_object = showing(varref.VariableReference.to_object)
    varref.BaseReference._compute_name = naming(varref.BaseReference._compute_name)
    varref.BaseReference.find_child_by_name = finding(varref.BaseReference.find_child_by_name)
    REQUESTS["scopes"] = listing_locals(REQUESTS["scopes"])
    bt._backtrace = counting(bt._backtrace)
    gdb.printing.make_visualizer = shortening(gdb.printing.make_visualizer)
    for changed in (gdb.events.memory_changed, gdb.events.register_changed):
        changed.connect(forget_values)
