"""What the interpreter keeps and does not show: the system's lock inside a lock, and what a frame has on its stack.

The memory of the process is read as a file, so that a wrong address is an error and not the end of the program.
Nothing that is found there is taken for an object: it is only compared with the addresses of objects that there are.
"""

import dis
import gc
import struct
import sys
import types

WORD = struct.calcsize("P")

# Where a frame object has its frame, and where that has its variables, before what it works on (Python 3.11 to 3.13).
FRAME, VARIABLES = 3 * WORD, 72

# What `with` keeps until it ends.
EXITS = ("__exit__", "__aexit__")

# Where a lock has the system's, up to Python 3.12.
LOCK = 2 * WORD


def words(address, count):
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return struct.unpack("%dP" % count, memory.read(count * WORD))


def lock_at(address, kinds):
    """The lock of these types that keeps the system's lock of this address; nothing when it is none of Python's."""
    if sys.version_info >= (3, 13):
        return None
    for value in gc.get_objects():
        if type(value) in kinds and words(id(value) + LOCK, 1)[0] == address:
            return value
    return None


def owners_of_exits():
    """What can be left at the end of a `with` that is under way, by the address of what leaves it."""
    if not (3, 11) <= sys.version_info < (3, 14) or sys.implementation.name != "cpython":
        return {}
    kinds = (types.BuiltinMethodType, types.MethodType)
    methods = [each for each in gc.get_objects() if type(each) in kinds]
    return {id(each): each.__self__ for each in methods if name_of(each) in EXITS}


def entered(frames, owners):
    """What is to be left at the end of the `with` statements that these frames are in."""
    found = []
    for frame in frames:
        try:
            found += [owners[word] for word in stack_of(frame) if word in owners]
        except (OSError, struct.error, OverflowError):
            continue
    return found


def name_of(method):
    """The name of a method that is bound to something; nothing where it is not a plain one."""
    if type(method) is types.MethodType:
        function = method.__func__
        return function.__name__ if type(function) is types.FunctionType else None
    return method.__name__


def stack_of(frame):
    """The addresses of what a frame keeps until its `try` and `with` statements end."""
    depth = max(
        (entry.depth for entry in dis._parse_exception_table(frame.f_code) if entry.start <= frame.f_lasti < entry.end),
        default=0,
    )
    if depth == 0:
        return ()
    owner = frame.f_code
    count = len(set(owner.co_varnames + owner.co_cellvars)) + len(owner.co_freevars)
    inner = words(id(frame) + FRAME, 1)[0]
    # The frame says whose it is, so this is one.
    if id(frame) not in words(inner, VARIABLES // WORD):
        return ()
    return words(inner + VARIABLES + count * WORD, depth)
