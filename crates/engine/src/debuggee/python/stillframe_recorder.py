"""What stillframe runs inside a Python program to record values at places that the program passes.

The agent loads it for the first breakpoint that records. A `Record` is what such a breakpoint does at a
pass: it evaluates its expressions and writes a row, one line of JSON, into a named pipe, straight away, so
that nothing is lost when the program is killed at the next moment. The other end is `recording.rs`.

    [id, hit, time, pid, thread, cells]              a row; a cell is [type, text], [type, text, flags] or
                                                     [null, message]; flags are 1 for cut and 2 for JSON
    {"id": id, "writer": "pid/start", "hits": hits}  how often the place was passed so far

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

import stillframe_agent as agent

# Rows that were left out are told of as a number, after so many seconds at the latest.
COUNT_PAUSE = 0.05

# A pipe takes so many bytes in one piece, whoever else writes. POSIX asks for 512; Linux has 4096.
ATOMIC = 4000

# Messages of errors are not cut below this, for their end says as much as their beginning.
LONG_MESSAGE = 1000

# Programs seldom come to descriptors with such numbers, and close none by number that are not theirs.
HIGH = 512

# JSON is not written of what is nested more deeply, which a cycle is.
DEEPEST = 50

# From here on integers are written by the agent, which knows what to do with very long ones.
LONG = 10**18

# Names that see more of the place where an expression stands than its variables.
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
# Passes


def reached(place, frame, records_here):
    """A frame has come, by pydevd, to a place where nothing but recording is done."""
    if not agent.is_back_in_statement(frame) and (monitor is None or not monitor.comes_first(frame)):
        for record in records_here:
            try:
                record.passed(frame)
            except BaseException:
                # What pydevd would make of it is worse than to lose it.
                pass
    if monitor is not None:
        monitor.take_over(place, frame, records_here)


class Record:
    """What a rule of the agent does at the passes of its place."""

    def __init__(self, rule, condition, spec):
        path, expressions, self.every, self.only_changed, self.most, form, self.limit = spec
        self.rule = rule
        self.condition = Expression(condition) if condition else None
        self.expressions = [Expression(text) for text in expressions]
        self.as_json = form == "json"
        self.pipe = pipes.get(path) or pipes.setdefault(path, Pipe(path))
        self.restart()
        # One of the same rule as it was before still has passes to tell of.
        records[:] = [record for record in records if not record.pipe.closed] + [self]

    def restart(self):
        self.hits = itertools.count(1)
        self.rows = itertools.count(1)
        self.last = None
        self.full = False
        self.counted = 0
        self.told = 0.0
        self.writer = "%d/%d" % (getpid(), time.time_ns())

    def passed(self, frame):
        """A frame has come to the place. Nothing is raised but what a handler of the program raised for a
        signal meanwhile."""
        try:
            if not self.pipe.closed:
                self.take(frame)
        except Exception as error:
            # What cannot be recorded is left out, and the program keeps running.
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
        """The place was passed, and there is no row to tell of it."""
        now = time.monotonic()
        if now - self.told >= COUNT_PAUSE:
            self.told = now
            self.tell_hits()

    def tell_hits(self):
        # A counter has no other way to be read without being moved.
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
                    # Another thread changes a container while it is read.
                    pass
            return self.cell_of(value)
        except BaseException as error:
            if was_raised_by_a_signal(error):
                raise
            message, most = agent.message_of(in_time(error)), max(self.limit, LONG_MESSAGE)
            return "[null,%s]" % quoted(message if len(message) <= most else message[:most] + "...")

    def cell_of(self, value):
        kind = type(value)
        if kind is int and -LONG < value < LONG:
            text = str(value)
            if len(text) <= self.limit:
                return '["int","%s",2]' % text if self.as_json else '["int","%s"]' % text
        name = quoted(agent.type_name(value))
        if self.as_json:
            text = json_text(value, self.limit)
            if text is not None:
                return "[%s,%s,2]" % (name, quoted(text))
        text, cut, _ = agent.Renderer(self.limit).text(value)
        return "[%s,%s%s]" % (name, quoted(text), ",1" if cut else "")


def thread_name():
    """The name of the thread that runs, as JSON."""
    try:
        name = current_thread().name
    except Exception as error:
        if was_raised_by_a_signal(error):
            raise
        # A subclass may have its own idea of a name.
        name = ""
    known = thread_names.get(name)
    if known is None:
        if len(thread_names) > 1000:
            thread_names.clear()
        known = thread_names[name] = quoted(str(name))
    return known


def in_time(error):
    """What to say of an error: the end of the time limit is one of ours."""
    if isinstance(error, agent.Interrupted):
        return TimeoutError("it took longer than %g s" % agent.RULE_LIMIT)
    return error


def was_raised_by_a_signal(error):
    """Whether an exception comes from a handler that the program has set for a signal. Such a handler runs
    between any two instructions, ours too, and its exception is for the program."""
    if current_thread() is not threading.main_thread() or isinstance(error, agent.Interrupted):
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
    """An expression, compiled once. One that cannot be compiled raises its error when it is evaluated."""

    def __init__(self, text):
        self.text = text.strip()
        self.error = None
        self.code = None
        self.private = {} if "__" in self.text else None
        try:
            tree = compile(self.text, "<string>", "eval", ast.PyCF_ONLY_AST, dont_inherit=True)
            self.code = agent.compiled(self.text, "eval")
        except Exception as error:
            self.error = error
            return
        nodes = list(ast.walk(tree.body))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        # Reading a variable takes no time that could be limited.
        self.is_name = isinstance(tree.body, (ast.Name, ast.Constant))
        self.needs_copy = any(isinstance(node, SCOPES) for node in nodes) or bool(names & INTROSPECTIVE)

    def value(self, frame, names, convert=None):
        """Its value in a frame, whose globals and locals are given."""
        if self.error is not None:
            # It would keep each of the places where it was raised.
            raise self.error.with_traceback(None)
        code = self.code if self.private is None else self.code_in(frame)
        if self.needs_copy:
            # Comprehensions and lambdas look for local names among the globals, and what is assigned must
            # not reach the program.
            both = dict(names[0])
            both.update(names[1])
            names = (both,)
        if self.is_name and convert is None:
            return eval(code, *names)
        if convert is None:
            return agent.limited(agent.RULE_LIMIT, eval, code, *names)
        return agent.limited(agent.RULE_LIMIT, lambda: convert(eval(code, *names)))

    def code_in(self, frame):
        """Private names mean what they mean in the method of the frame."""
        owner = agent.private_owner(frame)
        if owner not in self.private:
            self.private[owner] = agent.compiled(self.text, "eval", frame)
        return self.private[owner]


# ---------------------------------------------------------------------------------------------------------
# Values as JSON


def json_text(value, limit):
    """A value as JSON; nothing when JSON cannot say all of it, or not in so many characters."""
    pieces = []
    try:
        write_json(value, pieces, [limit], 0)
    except ValueError:
        return None
    return "".join(pieces)


def write_json(value, pieces, room, depth):
    """Writes a value while there is room. Raises `ValueError` where there is none, or JSON has no word. The
    blanks that `json.dumps` writes are left out, and take room."""
    kind = type(value)
    if depth == DEEPEST:
        raise ValueError
    if kind is str:
        add(json_string(value, room[0]), pieces, room)
    elif value is None or kind is bool:
        add({None: "null", True: "true", False: "false"}[value], pieces, room)
    elif kind is int and value.bit_length() <= agent.MOST_BITS or kind is float and math.isfinite(value):
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
        # Half of a surrogate pair is an error here, which is a `ValueError`.
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
    """A way to the other end. Lines go by the debugger's connection where the pipe cannot be opened, as in
    a container, and where they are too long to be written in one piece."""

    def __init__(self, path):
        self.path = path
        self.descriptor = None
        self.unreachable = False
        # Nobody listens any more.
        self.closed = False

    def write(self, number, line, send=os.write):
        try:
            data = line.encode()
        except UnicodeEncodeError:
            line = re.sub("[\ud800-\udfff]", "\ufffd", line)
            data = line.encode()
        if len(data) > ATOMIC or not self.open():
            return agent.tell("recorded", id=number, line=line.rstrip("\n"))
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
            # The program has closed all descriptors that it does not know.
            self.descriptor = None
            if self.open():
                send(self.descriptor, data)

    def open(self):
        if self.descriptor is not None:
            return True
        if self.unreachable:
            return False
        try:
            # Without a reader it would wait for one.
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
                pass  # The program was first.


def moved_up(descriptor):
    """The same under a number that the program does not come to, so that what it closes and opens by number
    is its own."""
    import fcntl

    try:
        higher = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except (OSError, ValueError):
        return descriptor
    os.close(descriptor)
    return higher


def without_signal(send, descriptor, data):
    """A program may have chosen to end when it writes to a pipe without a reader. Ours is not one of its."""
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


def tell_hits():
    """Tells how often places were passed, as far as that is news."""
    for record in list(records):
        record.tell_hits()


def restart():
    """In a child that was forked off everything begins anew. Its debugger sets the breakpoints again."""
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
            # The program has taken away what pydevd or Python needs for it.
            pass


def end():
    """The program has come to its end. What is left of it does not find this module whole."""
    tell_hits()
    stop_monitor()


def finish():
    """No more rows: the debugger goes."""
    end()
    for pipe in list(pipes.values()):
        pipe.closed = True
        pipe.close()


def listen():
    """Has the changes of breakpoints and the ends of processes told to us."""
    import functools

    import pydevd

    change = pydevd.PyDB.on_breakpoints_changed

    @functools.wraps(change)
    def on_breakpoints_changed(self, *arguments, **more):
        if monitor is not None:
            monitor.breakpoints_changed()
        changed = change(self, *arguments, **more)
        # A place that was taken away may never be passed again.
        tell_hits()
        return changed

    pydevd.PyDB.on_breakpoints_changed = on_breakpoints_changed
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=restart)
    atexit.register(end)
    # The children of `multiprocessing` end without the functions of `atexit`.
    if hasattr(threading, "_register_atexit"):
        try:
            threading._register_atexit(threads_end)
        except RuntimeError:
            pass  # It is too late already.


def threads_end():
    """From here on pydevd does not look at the main thread any more, so neither do we."""
    tell_hits()
    if monitor is not None:
        monitor.ended = True


monitor = None
if hasattr(sys, "monitoring") and "STILLFRAME_WITHOUT_MONITORING" not in os.environ:
    monitor = agent.load("stillframe_monitor")
listen()
