"""Runs inside a Python program to record values at the locations that it hits.

The agent loads it for the first breakpoint that records. At each hit, a `Record` evaluates its expressions and writes a
row, one line of JSON, to a named pipe. It does not buffer, so that nothing is lost if the program is killed. The reader
is `recording.rs`.

    [id, hit, time, pid, thread, cells]              a row; a cell is [type, text], [type, text, flags] or
                                                     [null, message]; flags are 1 for truncated and 2 for JSON
    {"id": id, "writer": "pid/start", "hits": hits}  how often the location was hit so far

Written for Python 3.8 to 3.13.
"""

import _signal
import ast
import atexit
import errno
import itertools
import json.encoder
import math
import os
import re
import signal
import sys
import threading
import time

from stillframe_debugger import send_event
from stillframe_errors import message_of
from stillframe_expressions import compiled, private_owner
from stillframe_limits import Interrupted, limited
from stillframe_modules import load
from stillframe_rules import RULE_LIMIT, is_back_in_statement
from stillframe_types import type_name
from stillframe_values import MOST_BITS, Renderer

# Omitted rows are reported as a count, after at most this many seconds.
COUNT_PAUSE = 0.05

# The size of an atomic write to a pipe. POSIX guarantees 512; Linux has 4096.
ATOMIC = 4000

# Error messages are not truncated below this, because their end matters too.
LONG_MESSAGE = 1000

# Programs rarely reach descriptors with such numbers, and rarely close descriptors that they did not open.
HIGH = 512

# Values nested more deeply, such as cycles, do not become JSON.
DEEPEST = 50

# The agent formats integers above this, because it handles very long ones.
LONG = 10**18

# Built-in functions that depend on the frame that calls them.
INTROSPECTIVE = {"dir", "eval", "exec", "globals", "locals", "vars"}

SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)

quoted = json.encoder.encode_basestring
current_thread = threading.current_thread
getpid = os.getpid

records = []
pipes = {}
thread_names = {}
owner_pid = getpid()


# ---------------------------------------------------------------------------------------------------------
# Hits


def reached(place, frame, records_here):
    """A frame has reached, through pydevd, a location that only records."""
    if not is_back_in_statement(frame) and (monitor is None or not monitor.comes_first(frame)):
        for record in records_here:
            try:
                record.passed(frame)
            except BaseException:
                # Losing it is better than what pydevd would do with it.
                pass
    if monitor is not None:
        monitor.take_over(place, frame, records_here)


class Record:
    """Records the hits of a rule of the agent."""

    def __init__(self, rule, condition, spec):
        path, expressions, self.every, self.only_changed, self.most, form, self.limit = spec
        self.rule = rule
        self.condition = Expression(condition) if condition else None
        self.expressions = [Expression(text) for text in expressions]
        self.as_json = form == "json"
        self.pipe = pipes.get(path) or pipes.setdefault(path, Pipe(path))
        self.restart()
        # An earlier record of the same rule may have unreported hits.
        records[:] = [record for record in records if not record.pipe.closed] + [self]

    def restart(self):
        self.hits = itertools.count(1)
        self.rows = itertools.count(1)
        self.last = None
        self.full = False
        self.counted = 0
        self.last_report = 0.0
        self.writer = "%d/%d" % (getpid(), time.time_ns())

    def passed(self, frame):
        """A frame has reached the location. Only an exception of the program's signal handlers is raised."""
        try:
            if not self.pipe.closed:
                self.take(frame)
        except Exception as error:
            # If recording fails, the row is omitted, and the program keeps running.
            if was_raised_by_a_signal(error):
                raise

    def take(self, frame, clock=time.time):
        if owner_pid != getpid():
            restart()
        names = frame.f_globals, frame.f_locals
        if self.condition is not None and not self.holds(frame, names):
            return
        hit, rule = next(self.hits), self.rule
        if self.full or (hit - 1) % self.every or rule.compare is not None and not rule.compare(hit, rule.count):
            return self.leave_out()
        if hit == 1:
            # An expression may end the program, or never return.
            self.report_hits()
        at = clock()
        cells = ",".join([self.cell(expression, frame, names) for expression in self.expressions])
        if self.only_changed and cells == self.last:
            return self.leave_out()
        if next(self.rows) > self.most:
            self.full = True
            return self.leave_out()
        self.last = cells
        row = (rule.number, hit, at * 1000, owner_pid, thread_name(), cells)
        self.pipe.write(rule.number, "[%d,%d,%.3f,%d,%s,[%s]]\n" % row)

    def holds(self, frame, names):
        try:
            return self.condition.value(frame, names, bool)
        except BaseException as error:
            if was_raised_by_a_signal(error):
                raise
            self.rule.failed(in_time(error))
            return False

    def leave_out(self):
        """Count a hit that has no row."""
        now = time.monotonic()
        if now - self.last_report >= COUNT_PAUSE:
            self.last_report = now
            self.report_hits()

    def report_hits(self):
        # The only way to read a counter without advancing it.
        hits = int(repr(self.hits)[len("count(") : -1]) - 1
        if hits != self.counted and not self.pipe.closed:
            self.counted = hits
            line = '{"id":%d,"writer":%s,"hits":%d}\n' % (self.rule.number, quoted(self.writer), hits)
            self.pipe.write(self.rule.number, line)

    def cell(self, expression, frame, names):
        try:
            value = expression.value(frame, names)
            for attempt in range(4):
                try:
                    return self.cell_of(value)
                except RuntimeError:
                    # Another thread may change a container while it is read.
                    pass
            return self.cell_of(value)
        except BaseException as error:
            if was_raised_by_a_signal(error):
                raise
            message, most = message_of(in_time(error)), max(self.limit, LONG_MESSAGE)
            return "[null,%s]" % quoted(message if len(message) <= most else message[:most] + "...")

    def cell_of(self, value):
        kind = type(value)
        if kind is int and -LONG < value < LONG:
            text = str(value)
            if len(text) <= self.limit:
                return '["int","%s",2]' % text if self.as_json else '["int","%s"]' % text
        name = quoted(type_name(value))
        if self.as_json:
            text = json_text(value, self.limit)
            if text is not None:
                return "[%s,%s,2]" % (name, quoted(text))
        text, cut, _ = Renderer(self.limit).text(value)
        return "[%s,%s%s]" % (name, quoted(text), ",1" if cut else "")


def thread_name():
    """The name of the current thread, as JSON."""
    try:
        name = current_thread().name
    except Exception as error:
        if was_raised_by_a_signal(error):
            raise
        # A subclass may override `name`.
        name = ""
    known = thread_names.get(name)
    if known is None:
        if len(thread_names) > 1000:
            thread_names.clear()
        known = thread_names[name] = quoted(str(name))
    return known


def in_time(error):
    """The error to report: `Interrupted` becomes a timeout."""
    if isinstance(error, Interrupted):
        return TimeoutError("it took longer than %g s" % RULE_LIMIT)
    return error


def was_raised_by_a_signal(error):
    """Whether an exception comes from one of the program's signal handlers. Such a handler runs between any two
    instructions, ours too, and its exception is for the program."""
    if current_thread() is not threading.main_thread() or isinstance(error, Interrupted):
        return False
    handlers = [_signal.getsignal(number) for number in range(1, _signal.NSIG)]
    if type(error) is KeyboardInterrupt and signal.default_int_handler in handlers:
        return True
    codes = [getattr(getattr(handler, "__func__", handler), "__code__", None) for handler in handlers]
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


# ---------------------------------------------------------------------------------------------------------
# Expressions


class Expression:
    """An expression, compiled once. If it does not compile, evaluating it raises the error."""

    def __init__(self, text):
        self.text = text.strip()
        self.error = None
        self.code = None
        self.private = {} if "__" in self.text else None
        try:
            tree = compile(self.text, "<string>", "eval", ast.PyCF_ONLY_AST, dont_inherit=True)
            self.code = compiled(self.text, "eval")
        except Exception as error:
            self.error = error
            return
        nodes = list(ast.walk(tree.body))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        # Reading a variable needs no time limit.
        self.is_name = isinstance(tree.body, (ast.Name, ast.Constant))
        self.needs_copy = any(isinstance(node, SCOPES) for node in nodes) or bool(names & INTROSPECTIVE)

    def value(self, frame, names, convert=None):
        """Its value, given a frame's globals and locals."""
        if self.error is not None:
            # Otherwise its traceback would grow with each raise.
            raise self.error.with_traceback(None)
        code = self.code if self.private is None else self.code_in(frame)
        if self.needs_copy:
            # Comprehensions and lambdas look up locals among the globals, and assignments must not reach the program.
            both = dict(names[0])
            both.update(names[1])
            names = (both,)
        if self.is_name and convert is None:
            return eval(code, *names)
        if convert is None:
            return limited(RULE_LIMIT, eval, code, *names)
        return limited(RULE_LIMIT, lambda: convert(eval(code, *names)))

    def code_in(self, frame):
        """The code with private names mangled as in the frame's method."""
        owner = private_owner(frame)
        if owner not in self.private:
            self.private[owner] = compiled(self.text, "eval", frame)
        return self.private[owner]


# ---------------------------------------------------------------------------------------------------------
# Values as JSON


def json_text(value, limit):
    """A value as JSON; None if JSON cannot represent it exactly or within the limit."""
    pieces = []
    try:
        write_json(value, pieces, [limit], 0)
    except ValueError:
        return None
    return "".join(pieces)


def write_json(value, pieces, room, depth):
    """Write a value as JSON. Raise `ValueError` beyond the limit, or if JSON cannot represent it. Spaces that
    `json.dumps` would write are omitted, but count."""
    kind = type(value)
    if depth == DEEPEST:
        raise ValueError
    if kind is str:
        add(json_string(value, room[0]), pieces, room)
    elif value is None or kind is bool:
        add({None: "null", True: "true", False: "false"}[value], pieces, room)
    elif kind is int and value.bit_length() <= MOST_BITS or kind is float and math.isfinite(value):
        add(repr(value), pieces, room)
    elif kind is list or kind is tuple:
        add("[", pieces, room)
        for index, item in enumerate(value):
            if index:
                add(",", pieces, room)
                room[0] -= 1
            write_json(item, pieces, room, depth + 1)
        add("]", pieces, room)
    elif kind is dict:
        add("{", pieces, room)
        for index, (key, item) in enumerate(value.items()):
            if type(key) is not str:
                raise ValueError
            add(("," if index else "") + json_string(key, room[0]) + ":", pieces, room)
            room[0] -= 2 if index else 1
            write_json(item, pieces, room, depth + 1)
        add("}", pieces, room)
    else:
        raise ValueError


def json_string(text, room):
    if len(text) > room:
        raise ValueError
    if not text.isascii():
        # A lone surrogate raises an error here, which is a `ValueError`.
        text.encode()
    return quoted(text)


def add(piece, pieces, room):
    room[0] -= len(piece)
    if room[0] < 0:
        raise ValueError
    pieces.append(piece)


# ---------------------------------------------------------------------------------------------------------
# Writing


class Pipe:
    """The connection to the reader. If the pipe cannot be opened, as in a container, or a line is too long for an
    atomic write, lines go through the debugger's connection."""

    def __init__(self, path):
        self.path = path
        self.descriptor = None
        self.unreachable = False
        # The reader has closed the pipe.
        self.closed = False

    def write(self, number, line, send=os.write):
        try:
            data = line.encode()
        except UnicodeEncodeError:
            line = re.sub("[\ud800-\udfff]", "\ufffd", line)
            data = line.encode()
        if len(data) > ATOMIC or not self.open():
            return send_event("recorded", id=number, line=line.rstrip("\n"))
        try:
            if _signal.getsignal(_signal.SIGPIPE) == _signal.SIG_IGN:
                send(self.descriptor, data)
            else:
                without_signal(send, self.descriptor, data)
        except OSError as error:
            if error.errno != errno.EBADF:
                self.closed = True
                self.close()
                return
            # The program has closed all descriptors that it did not open.
            self.descriptor = None
            if self.open():
                send(self.descriptor, data)

    def open(self):
        if self.descriptor is not None:
            return True
        if self.unreachable:
            return False
        try:
            # Otherwise it would wait for a reader.
            opened = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self.unreachable = error.errno != errno.ENXIO
            self.closed = not self.unreachable
            return False
        self.descriptor = moved_up(opened)
        os.set_blocking(self.descriptor, True)
        return True

    def close(self):
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            try:
                os.close(descriptor)
            except OSError:
                pass  # The program has closed it.


def moved_up(descriptor):
    """The descriptor under a high number, so that the program neither closes nor reuses it by accident."""
    import fcntl

    try:
        higher = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except (OSError, ValueError):
        return descriptor
    os.close(descriptor)
    return higher


def without_signal(send, descriptor, data):
    """Write without SIGPIPE: a program may have chosen to die of it, but our pipe is not its own."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        send(descriptor, data)
    except BrokenPipeError:
        if signal.SIGPIPE not in before and signal.SIGPIPE in signal.sigpending():
            signal.sigwait([signal.SIGPIPE])
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---------------------------------------------------------------------------------------------------------
# Start and end


def report_hits():
    """Report hit counts that have changed."""
    for record in list(records):
        record.report_hits()


def restart():
    """Start over in a forked child. Its debugger sets the breakpoints again."""
    global owner_pid
    owner_pid = getpid()
    for pipe in list(pipes.values()):
        pipe.close()
    for record in list(records):
        record.restart()
    stop_monitor()


def stop_monitor():
    if monitor is not None:
        try:
            monitor.stop()
        except Exception:
            # The program has removed something that pydevd or Python needs for it.
            pass


def end():
    """The program is ending. Code that still runs must not use a half-destroyed module."""
    report_hits()
    stop_monitor()


def finish():
    """Stop recording: the debugger detaches."""
    end()
    for pipe in list(pipes.values()):
        pipe.closed = True
        pipe.close()


def listen():
    """Subscribe to breakpoint changes and process exits."""
    import functools

    import pydevd

    change = pydevd.PyDB.on_breakpoints_changed

    @functools.wraps(change)
    def on_breakpoints_changed(self, *arguments, **more):
        if monitor is not None:
            monitor.breakpoints_changed()
        changed = change(self, *arguments, **more)
        # A removed location may never be hit again.
        report_hits()
        return changed

    pydevd.PyDB.on_breakpoints_changed = on_breakpoints_changed
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=restart)
    atexit.register(end)
    # `multiprocessing` children exit without running `atexit` handlers.
    if hasattr(threading, "_register_atexit"):
        try:
            threading._register_atexit(threads_end)
        except RuntimeError:
            pass  # It is too late.


def threads_end():
    """From here on pydevd no longer handles the main thread, so neither do we."""
    report_hits()
    if monitor is not None:
        monitor.ended = True


monitor = None
if hasattr(sys, "monitoring") and "STILLFRAME_WITHOUT_MONITORING" not in os.environ:
    monitor = load("stillframe_monitor")
listen()
