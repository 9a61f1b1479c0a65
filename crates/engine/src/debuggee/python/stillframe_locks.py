"""Finds the holder of a lock.

Python's locks do not record it. It follows from where threads and tasks are in the source: inside `with lock:`, or
after `lock.acquire()` and before `lock.release()`.
"""

import _thread
import ast
import re
import threading

import stillframe_code as code
import stillframe_memory as memory
from stillframe_types import is_a

LOCK, RLOCK = _thread.LockType, type(_thread.RLock())
LOCKS = (LOCK, RLOCK)


def lock_in(value):
    """The lock that acquiring or entering `value` waits for, or None."""
    of_tasks = code.loaded("asyncio.locks", "Lock") or (), code.loaded("asyncio.locks", "Condition") or ()
    for _ in range(3):
        if type(value) in LOCKS or is_a(value, of_tasks[0]):
            return value
        if not is_a(value, threading.Condition) and not is_a(value, of_tasks[1]):
            return None
        value = code.attribute(value, "_lock")
    return None


def holders(lock, threads):
    """The IDs of the threads that hold a lock; `threads` are pairs of a thread and its frames."""
    if type(lock) is RLOCK:
        owner = re.search(r"owner=(\d+)", RLOCK.__repr__(lock))
        ident = int(owner.group(1)) if owner else 0
        return [thread.id for thread, _ in threads if ident and thread.ident == ident]
    return who_holds(lock, [(thread.id, frames) for thread, frames in threads])


def who_holds(lock, stacks):
    """The threads or tasks that hold a lock; `stacks` are pairs of one and its frames."""
    stacks = [(one, held(frames, lock)) for one, frames in stacks]
    found = [one for one, frames in stacks if any(is_held_in(frame, lock) for frame in frames)]
    if found:
        return found
    # If the source does not identify a lock, the interpreter's memory may. Reading it is slow.
    owners = memory.owners_of_exits()
    return [one for one, frames in stacks if is_entered(memory.entered(frames, owners), lock)]


def is_entered(managers, lock):
    """Whether one of these context managers, which active `with` statements will exit, holds a lock."""
    inner = [manager.gen.gi_frame for manager in managers if is_generator(manager)]
    is_own = any(lock_in(manager) is lock for manager in managers)
    return is_own or any(is_held_in(frame, lock) for frame in inner if frame is not None)


def is_generator(manager):
    """Whether it was created by `contextlib.contextmanager`."""
    kind = code.loaded("contextlib", "_GeneratorContextManager")
    return kind is not None and is_a(manager, kind)


def held(frames, lock):
    """The frames outside a wait for a condition, which releases its lock meanwhile."""
    of_tasks = code.loaded("asyncio.locks", "Condition")
    waits = [kind.wait.__code__ for kind in (threading.Condition, of_tasks) if kind is not None]
    lets_go = any(frame.f_code in waits and lock_in(code.local(frame, "self")) is lock for frame in frames)
    return [] if lets_go else frames


def is_held_in(frame, lock):
    """Whether a frame is after the acquisition of a lock and before its release."""
    way = code.way_to(frame)
    is_held = False
    for depth, step in enumerate(way):
        for before in step.statements[: step.index] if step.block in ("body", "orelse", "finalbody") else ():
            is_held = after(before, frame, lock, is_held)
        is_innermost = depth + 1 == len(way)
        node = step.node
        if is_innermost:
            is_held = is_held or acquired_before(frame, node, lock)
        if isinstance(node, code.WITHS):
            entered = code.item_of(frame, node) if is_innermost else len(node.items)
            items = [item.context_expr for item in node.items[:entered]]
            is_held = is_held or any(means(item, frame, lock) for item in items)
        elif isinstance(node, (ast.If, ast.While)) and not is_innermost and way[depth + 1].block == "body":
            is_held = is_held or calls(node.test, "acquire", frame, lock)
        elif isinstance(node, ast.Try) and not is_innermost and way[depth + 1].block in ("orelse", "finalbody"):
            for before in node.body:
                is_held = after(before, frame, lock, is_held)
    return is_held


def acquired_before(frame, statement, lock):
    """Whether the active statement acquired a lock before its current call."""
    span = code.span_of(frame)
    return span is not None and any(
        is_call_of(each, "acquire", frame, lock) and (each.end_lineno, each.end_col_offset) <= (span[0], span[2])
        for each in code.head_of(statement)
    )


def after(statement, frame, lock, is_held):
    """Whether a lock is held after a statement that has run."""
    if isinstance(statement, code.FUNCTIONS + (ast.ClassDef,)):
        return is_held
    if calls(statement, "release", frame, lock):
        return False
    straight = isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Try, ast.Assert))
    return is_held or straight and calls(statement, "acquire", frame, lock)


def calls(node, method, frame, lock):
    return any(is_call_of(each, method, frame, lock) for each in ast.walk(node))


def is_call_of(node, method, frame, lock):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and means(node.func.value, frame, lock)
    )


def means(node, frame, lock):
    return lock_in(code.value_of(node, frame)) is lock
