"""Reads interpreter state that Python does not expose: the system lock inside a lock, and a frame's value stack.

The memory of the process is read as a file, so that a wrong address is an error and does not crash the program. Nothing
that is read is used as an object: it is only compared with the addresses of existing objects.
"""

import dis
import gc
import struct
import sys
import types

WORD = struct.calcsize("P")

# Offsets of the frame in a frame object, and of its variables, which precede the value stack (Python 3.11 to 3.13).
FRAME, VARIABLES = 3 * WORD, 72

# The methods that a `with` statement keeps until it ends.
EXITS = ("__exit__", "__aexit__")

# The offset of the system lock in a lock object, up to Python 3.12.
LOCK = 2 * WORD


def words(address, count):
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return struct.unpack("%dP" % count, memory.read(count * WORD))


def all_objects():
    """The objects that the collector knows, also those of before the program, which `stillframe_launch` froze."""
    gc.unfreeze()
    return gc.get_objects()


def lock_at(address, kinds):
    """The lock of these types that contains the system lock at this address, or None."""
    if sys.version_info >= (3, 13):
        return None
    for value in all_objects():
        if type(value) in kinds and words(id(value) + LOCK, 1)[0] == address:
            return value
    return None


def owners_of_exits():
    """Objects that an active `with` may exit, by the address of the exit method."""
    if not (3, 11) <= sys.version_info < (3, 14) or sys.implementation.name != "cpython":
        return {}
    kinds = (types.BuiltinMethodType, types.MethodType)
    methods = [each for each in all_objects() if type(each) in kinds]
    return {id(each): each.__self__ for each in methods if name_of(each) in EXITS}


def entered(frames, owners):
    """The context managers of the `with` statements in which these frames are."""
    found = []
    for frame in frames:
        try:
            found += [owners[word] for word in stack_of(frame) if word in owners]
        except (OSError, struct.error, OverflowError):
            continue
    return found


def name_of(method):
    """The name of a bound method, or None if it is unusual."""
    if type(method) is types.MethodType:
        function = method.__func__
        return function.__name__ if type(function) is types.FunctionType else None
    return method.__name__


def stack_of(frame):
    """The addresses that a frame keeps on its stack until its `try` and `with` statements end."""
    depth = max(
        (entry.depth for entry in dis._parse_exception_table(frame.f_code) if entry.start <= frame.f_lasti < entry.end),
        default=0,
    )
    if depth == 0:
        return ()
    owner = frame.f_code
    count = len(set(owner.co_varnames + owner.co_cellvars)) + len(owner.co_freevars)
    inner = words(id(frame) + FRAME, 1)[0]
    # The frame links back to its frame object, so it is valid.
    if id(frame) not in words(inner, VARIABLES // WORD):
        return ()
    return words(inner + VARIABLES + count * WORD, depth)
