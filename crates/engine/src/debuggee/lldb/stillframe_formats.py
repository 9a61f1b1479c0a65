"""What the formatters of C++ and of Rust share: lists of items as texts, children of containers, and what makes it quick.

LLDB prepares its interpreter of Python for each call of one of our functions, also for a value about which the function has
nothing to say.
"""

import __main__
import functools
import inspect
import itertools
import struct

import lldb

# The maximum length of a value other than a string.
LONGEST = 1000
ITEMS = 100
PLAIN = """
bool|_Bool|char|signed char|unsigned char|wchar_t|char8_t|char16_t
short|unsigned short|int|unsigned int|long|unsigned long|long long|unsigned long long
short int|short unsigned int|unsigned|long int|long unsigned int|long long int|long long unsigned int
float|double|long double
"""
# How the line begins by which it sets the variables of its interpreter.
PREPARES = "lldb.debugger_unique_id = "
# Whole numbers, by how the module `struct` calls them.
NUMBERS_OF_C = {
    lldb.eBasicTypeShort: "h", lldb.eBasicTypeUnsignedShort: "H", lldb.eBasicTypeInt: "i", lldb.eBasicTypeUnsignedInt: "I",
    lldb.eBasicTypeLong: "q", lldb.eBasicTypeUnsignedLong: "Q",
}


def quicken(debugger, summary):
    """Give plain types, and no pointers to them, a summary of nothing, which comes before the one for all types. Run that
    line without the interactive console of Python that LLDB makes for it, which takes 0.3 ms. Keep the signature of the
    other summary, which LLDB reads before each call."""
    summary.__signature__ = inspect.signature(summary)
    names = " ".join(f'"{name}"' for line in PLAIN.split("\n") for name in line.split("|") if name)
    debugger.HandleCommand(f'type summary add -p -r -s "{{${{var.none}}}}" -w stillframe {names}')
    run_one_line = getattr(__main__, "run_one_line", None)
    if run_one_line is None:
        # Another version of LLDB calls Python in another way.
        return
    compiled = functools.cache(lambda line: compile(line, "lldb", "exec"))

    def run(variables, line):
        if line.startswith(PREPARES):
            exec(compiled(line), variables)
        else:
            run_one_line(variables, line)

    __main__.run_one_line = run


def items(value, shown, room, more, numbers=None):
    """What a value has as texts. One that may have such `numbers` has its items one behind the other."""
    count = value.GetNumChildren()
    texts = read_at_once(value, min(count, ITEMS), numbers) if numbers and count > 1 else None
    return joined(map(shown, children(value)) if texts is None else texts, count, room, more)


def joined(shown, count, room, more):
    """Some of `count` texts, in at most about `room` characters, and how many are left out."""
    parts, length = [], 0
    for part in itertools.islice(shown, ITEMS):
        parts.append(part or "?")
        length += len(parts[-1]) + 2
        if length > room:
            break
    return ", ".join(parts + [f"{more} {count - len(parts)} more"] * (len(parts) < count))


def children(value):
    return map(value.GetChildAtIndex, range(value.GetNumChildren()))


def read_at_once(value, count, known):
    """This many whole numbers as texts; None for other items."""
    first, last = value.GetChildAtIndex(0), value.GetChildAtIndex(count - 1)
    code, size = known.get(first.GetType().GetCanonicalType().GetBasicType()), first.GetByteSize()
    if code is None or last.GetLoadAddress() - first.GetLoadAddress() != (count - 1) * size:
        return None
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(first.GetLoadAddress(), count * size, error)
    return map(str, struct.unpack(f"<{count}{code}", read)) if error.Success() else None


class Children:
    """The children of a container, each at an address and of a type."""

    MOST = 10_000

    def __init__(self, value, _internal=None):
        self.value = value
        self.found = []

    def update(self):
        self.found = []
        try:
            self.read(self.value.GetNonSyntheticValue())
        except Exception:  # An uninitialized container can contain anything.
            pass
        return False

    def num_children(self):
        return len(self.found)

    def has_children(self):
        return True

    def get_child_index(self, name):
        return int(name.strip("[]")) if name.strip("[]").isdigit() else -1

    def get_child_at_index(self, index):
        if not 0 <= index < len(self.found):
            return None
        at, kind = self.found[index]
        return self.value.CreateValueFromAddress(f"[{index}]", at, kind)
