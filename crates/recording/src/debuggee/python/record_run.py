"""What happens in the program, as records: calls, lines, what they change, exceptions and output.

`Recorder` has what both sources of events use (record_monitoring.py, record_tracing.py): they say that a frame begins,
reaches a line, or ends. The program's code is what is in files that are not part of Python or of an installed package,
unless some were named (record_chosen.py).
"""

import atexit
import contextlib
import functools
import gc
import io
import os
import sys
import sysconfig
import threading
import types
import weakref

import stillframe_coverage
import stillframe_imports
import stillframe_pickled
import stillframe_state
from record_accelerator import native
from record_chosen import PACKAGES, Chosen
from record_effects import ATTRIBUTE, NOTHING, Effects, effects_in
from record_heap import MOST_BELOW, SIMPLE, WIDE, WITH_PARTS, Heap, Known, differ, module_dict
from record_named import NAMED, is_double
from record_paths import MISSING, Paths
from record_shapes import Shape, class_name
from record_wire import ABSENT, CODE, ENTER, INTEGER, LEAVE, LINE, MASK, NAME, OUTPUT, PLACE, RESUME, THREAD, THROW, UNWIND, WRITE
from record_wire import BY_SHIFT, CALL_SHIFT, Wire, claimed
from stillframe_values import Renderer

if sys.version_info >= (3, 12):
    from record_monitoring import Source
else:
    from record_tracing import Source

# Code that is part of the line that it is on.
PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

# Before Python 3.10, the end of a `with` is part of the line before it.
ENDS_UNSEEN = sys.version_info < (3, 10)
EXITS = ("__exit__", "__aexit__")

KEEPS_LOCALS = sys.version_info < (3, 13)

# Characters of output that are recorded of each write.
MOST_OUTPUT = 4000

# How much deeper than the program the recorder may be at a fork.
ROOM = 500
# Objects in the variables of a call of which all are written at a fork.
MOST_FORKED = 1000


def guarded(method):
    """A method whose errors are not the program's."""

    @functools.wraps(method)
    def call(self, *arguments):
        try:
            return method(self, *arguments)
        except RecursionError:
            # The program is as deep as it may be, and is about to find out.
            raise
        except Exception as error:
            self.fail(error)

    return call


def is_small(values):
    """Whether values and all that is in them are few."""
    seen = set()
    for value in values:
        if id(value) not in seen:
            seen.add(id(value))
            parts = gc.get_referents(value)
            values += [part for part in parts if type(part) not in SIMPLE and not issubclass(type(part), NAMED)]
        if len(values) > MOST_FORKED:
            return False
    return True


class Code:
    """A code object of the program."""

    __slots__ = ("number", "code", "lines", "arguments", "is_module", "effects", "keeps")

    def __init__(self, number, code, effects):
        self.number, self.code, self.effects = number, code, effects
        # The word of a line and what it may change.
        self.lines = {}
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        # Also what a closure has from the call around it.
        self.arguments = code.co_varnames[:count] + tuple(name for name in code.co_freevars if name != "__class__")
        self.is_module = code.co_name == "<module>"
        begin = effects.get(code.co_firstlineno)
        self.keeps = begin is not None and begin.keeps


class Activation:
    """A call that has begun and not ended."""

    __slots__ = ("owner", "number", "base", "code", "pending", "known", "caller", "returned")

    def __init__(self, number, code, caller):
        self.number = number
        self.base = number << CALL_SHIFT
        # What its variables belong to: the number of the call, or of the module.
        self.owner = number << 1
        self.code = code
        self.caller = caller
        # What the line that runs may change.
        self.pending = None
        # What was returned to that line last, if it may change that.
        self.returned = None
        self.known = {}


class Thread:
    __slots__ = ("number", "top")

    def __init__(self, number):
        self.number = number
        self.top = None


# Whose fields the accelerator reads.
CLASSES = {kind.__name__: kind for kind in (Activation, Code, Effects, Known, Shape, Thread)}


class Recorder(Paths):
    """Turns events into records."""

    def __init__(self, segments, items, depth, most_text, here):
        self.here, self.segments = here, segments
        self.limits = items, depth, most_text, self.is_user_module, renderer(most_text)
        self.files, self.user_modules = {}, {}
        self.chosen = Chosen()
        self.closed = False
        self.wire = self.source = None
        paths = sysconfig.get_paths()
        roots = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {here}
        self.libraries = tuple(os.path.realpath(root) + os.sep for root in roots if root)

    def start(self):
        """Record this process, unless too many others are."""
        if self.begin():
            stillframe_coverage.install(stillframe_imports.after, self.show_at_end)
            stillframe_pickled.install(stillframe_imports.after)
            stillframe_imports.after("greenlet", lambda: self.follow_greenlets(self.thread()))
            for name in ("stdout", "stderr"):
                self.record_output(name)
            if native:  # Needs no frame, of which the program may have none left.
                os.register_at_fork(after_in_child=native.detach)
            os.register_at_fork(after_in_child=self.begin_in_child)

    def show_at_end(self, note):
        """Show a note on standard error, which test runners redirect while they run. Once, not per process."""
        if self.main_name is None:
            atexit.register(os.write, 2, note.replace("debugger", "recorder").encode())

    def begin(self):
        """Begin to write numbers and files of this process. Whether there is room for it."""
        stream = claimed(self.segments)
        if stream is None:
            self.closed = True
            return False
        self.wire = Wire("%s-s%d" % (self.segments, stream))
        self.wire.on_lost = self.stop
        self.heap = Heap(self.wire, *self.limits)
        self.heap.on_filling = self.look_at_reads
        # The name of this process's first thread.
        self.main_name = "process %d" % os.getpid() if stream else None
        # By the identity of code objects, which each `Code` keeps: those of two files are equal if their text is.
        self.codes = {}
        self.local, self.foreign = threading.local(), {}
        # Held while changes are looked for, so that they are written together.
        self.turn = native.Turn() if native else threading.RLock()
        self.places = self.code_count = self.thread_count = 0
        # Globals of modules, by their identity: the owner of their variables, and what is known of them.
        self.modules = {}
        self.source = Source(self)
        if native:
            native.attach(self, self.source, CLASSES, MISSING)
        self.source.start()
        return True

    def stop(self):
        if self.closed:
            return
        self.closed = True
        if native:
            native.detach()
        if self.source is not None:
            self.source.stop()

    def fail(self, error):
        """An event could not be recorded. What comes after would be wrong, so that the recording ends."""
        self.wire.gap("the recorder failed: %s: %s" % (type(error).__name__, error))
        self.stop()

    def begin_in_child(self):
        """A forked child has the same files mapped, and writes to others, however deep the program is."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + ROOM)
        try:
            self.wire.abandon()
            if not self.closed:
                self.source.stop()
                # What the parent knew of its calls is not to keep what the child releases.
                call = getattr(getattr(self.local, "thread", None), "top", None)
                while call is not None:
                    call.known, call.returned, call = {}, None, call.caller
                if self.begin():
                    self.continue_calls(sys._getframe().f_back)
        finally:
            # Python refuses where the program has next to nothing left of its limit.
            with contextlib.suppress(RecursionError):
                sys.setrecursionlimit(limit)

    @guarded
    def continue_calls(self, frame):
        """Begin with the calls that are running and their variables, if the child may come back to them."""
        frames = []
        while frame is not None:
            if dict.get(frame.f_globals, "__name__") == "multiprocessing.popen_fork":
                return
            frames.append(frame)
            frame = frame.f_back
        heap, depth = self.heap, self.heap.depth
        for frame in reversed(frames):
            code, line = self.source.observe(frame.f_code), frame.f_lineno or frame.f_code.co_firstlineno
            if not code:
                continue
            names = frame.f_locals
            plain = [name for name in names if type(name) is str and not is_double(name)]
            shown = [name for name in plain if not issubclass(type(names[name]), NAMED)]
            # A child may end at once: of many objects, only the first level is written.
            heap.depth = depth if is_small([names[name] for name in shown]) else 1
            activation = self.enter(self.thread(), code, frame, b"forked")
            self.source.follow(activation, frame)
            word, activation.pending = code.lines.get(line) or self.line_of(code, line)
            self.wire.record(activation.base | word)
            with self.turn:
                self.wire.by = activation.number << BY_SHIFT
                self.store(activation.owner, activation.known, shown, names)
                # Before Python 3.13, the frame keeps them in a dictionary, which nothing else refers to.
                if KEEPS_LOCALS and frame.f_code.co_flags & 1 and sys.getrefcount(names) <= 3:
                    names.clear()
        heap.depth = depth

    # -- what is recorded -------------------------------------------------------------------------------------------

    def is_user_file(self, path):
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = self.look_at(path)
        return known

    def look_at(self, path):
        if path.startswith("<") or not os.path.isfile(path):
            return False
        real = os.path.realpath(path)
        if PACKAGES & set(real.split(os.sep)):
            return self.chosen.has_file(path)
        return not real.startswith(self.libraries)

    def is_user_module(self, name):
        known = self.user_modules.get(name)
        if known is None:
            path = getattr(sys.modules.get(name), "__file__", None)
            known = name == "__main__" or type(path) is str and self.is_user_file(path)
            self.user_modules[name] = known
        return known

    @guarded
    def code(self, code):
        """The `Code` of a code object; false if it is not the program's."""
        known = self.codes.get(id(code))
        if known is None:
            path = code.co_filename
            if code.co_name in PARTS or not self.is_user_file(path) or not self.chosen.has(code):
                return False
            known = self.codes[id(code)] = self.new_code(code, path)
        return known

    def new_code(self, code, path):
        effects = self.files[path]
        if effects is True:
            with open(path, "rb") as file:
                effects = self.files[path] = effects_in(file.read(), path) or {0: NOTHING}
        self.code_count += 1
        text = self.wire.text
        name = getattr(code, "co_qualname", code.co_name)
        words = text(os.path.abspath(path)) << 1 | 1, text(name) << 1 | 1, code.co_firstlineno << 1 | 1
        self.wire.blob(self.code_count << 5 | CODE, b"", *words)
        return Code(self.code_count, code, effects)

    def line_of(self, code, line):
        """The word of a line, and what it may change."""
        self.places += 1
        self.wire.record(self.places << 5 | PLACE, code.number << 1 | 1, line << 1 | 1)
        found = code.lines[line] = (self.places << 5 | LINE, self.effects_of(code, line))
        return found

    def effects_of(self, code, line):
        effects = code.effects.get(line)
        return effects.when(self.heap.on_filling is None) if effects is not None else None

    def look_at_reads(self):
        """From now on, what lines read items of may change by that."""
        for code in list(self.codes.values()):
            for line, (word, _) in list(code.lines.items()):
                code.lines[line] = (word, self.effects_of(code, line))
        if native:
            native.forget_lines()

    # -- threads ----------------------------------------------------------------------------------------------------

    def thread(self):
        """The thread that runs."""
        # Not by its identity, which another thread may have later.
        thread = getattr(self.local, "thread", None)
        if thread is None:
            identity = threading.get_ident()
            known = threading._active.get(identity)
            # One that was not started by Python has no state of its own between two calls.
            thread = self.local.thread = self.foreign.get(identity) if known is None else None
        if thread is None:
            self.thread_count += 1
            thread = self.local.thread = Thread(self.thread_count)
            if known is None:
                self.foreign[identity] = thread
            name = str(known.name) if known is not None else "thread"
            if self.main_name is not None and thread.number == 1:
                name = self.main_name
            self.wire.record(thread.number << 5 | THREAD, self.wire.text(name) << 1 | 1)
            self.follow_greenlets(thread)
        return thread

    def follow_greenlets(self, thread):
        """Keep the calls of each greenlet of a thread, which run in turns. A new one is called by what starts it."""
        library = sys.modules.get("greenlet")
        # The program may have set another function. A forked child has ours.
        if not hasattr(library, "settrace") or getattr(library.gettrace(), "__module__", __name__) != __name__:
            return
        # By identity: a greenlet may have methods of the program, which are not called here.
        tops = {}

        def switched(event, greenlets):
            if event in ("switch", "throw"):
                origin, target = map(id, greenlets)
                tops[origin] = thread.top, weakref.ref(greenlets[0], lambda _: tops.pop(origin, None))
                if target in tops:
                    thread.top = tops.pop(target)[0]

        library.settrace(switched)

    # -- calls ------------------------------------------------------------------------------------------------------

    def enter(self, thread, code, frame, forked=b""):
        caller = thread.top
        if caller is not None:
            self.settle_early(caller, frame.f_back, ENDS_UNSEEN and code.code.co_name in EXITS)
        with self.turn:
            self.wire.calls += 1
            activation = Activation(self.wire.calls, code, caller)
            if code.is_module:
                activation.owner, activation.known = self.module(frame.f_globals)
            thread.top = activation
            words = code.number, activation.owner, thread.number, caller.number if caller is not None else 0
            self.wire.blob(activation.number << 5 | ENTER, forked, *[word << 1 | 1 for word in words])
            if code.arguments:
                self.store_arguments(activation, frame)
        return activation

    def settle_early(self, caller, frame, is_other_line=False):
        """Write what the line of a caller has changed before it calls: what is called may change the same."""
        pending = caller.pending
        if pending is not None and (pending.early or is_other_line):
            while frame is not None and frame.f_code is not caller.code.code:
                frame = frame.f_back
            if frame is not None:
                self.settle(caller, pending, frame)

    @guarded
    def store_arguments(self, activation, frame):
        self.wire.by = activation.number << BY_SHIFT
        self.store(activation.owner, activation.known, activation.code.arguments, frame.f_locals)

    @guarded
    def leave(self, thread, activation, value, tag=LEAVE):
        with self.turn:
            self.wire.by = activation.number << BY_SHIFT
            value = unwrapped(value)
            word = self.heap.word(value)
            self.wire.record(activation.number << 5 | tag, word)
        caller = thread.top = activation.caller
        wanted = caller is not None and caller.pending is not None and caller.pending.returned
        if wanted is True or wanted == activation.code.code.co_name:
            caller.returned = value
        if activation.code.keeps and caller is not None:
            caller.returned = next(iter(activation.known.values()), None)
            caller.pending = caller.pending or NOTHING
            if type(caller.pending.returned) is str:
                # What a method has returned is not kept beside this.
                caller.pending = caller.pending.when(True)
                caller.pending.returned = False

    def forget_ended(self, frame):
        """Release calls that are no longer on the stack of this frame, because they ended unseen."""
        thread, codes = self.thread(), set()
        while frame is not None:
            codes.add(id(frame.f_code))
            frame = frame.f_back
        while thread.top is not None and id(thread.top.code.code) not in codes:
            thread.top = thread.top.caller

    def unwind(self, thread, activation):
        self.wire.record(activation.number << 5 | UNWIND)
        thread.top = activation.caller

    def resume(self, thread, activation):
        caller = activation.caller = thread.top
        if caller is not None:
            frame = sys._getframe(1)
            while frame is not None and frame.f_code is not activation.code.code:
                frame = frame.f_back
            self.settle_early(caller, frame.f_back if frame is not None else None, ENDS_UNSEEN)
        thread.top = activation
        self.wire.record(activation.number << 5 | RESUME, (caller.number if caller is not None else 0) << 1 | 1)

    @guarded
    def throw(self, activation, error):
        kind = type(error)
        text = message_of(error, self.heap.render)
        with self.turn:
            self.wire.record(activation.number << 5 | THROW, self.heap.atom(kind.__qualname__, text))

    # -- changes ----------------------------------------------------------------------------------------------------

    @guarded
    def settle_watched(self, activation):
        """Write what others have changed while the line ran."""
        with self.turn:
            self.wire.by = activation.number << BY_SHIFT
            self.heap.check_watched()

    @guarded
    def settle(self, activation, effects, frame):
        """Write what the line has changed that an activation has run."""
        names, heap = frame.f_locals, self.heap
        with self.turn:
            self.wire.by = activation.number << BY_SHIFT
            if effects.names:
                self.store(activation.owner, activation.known, effects.names, names)
            if effects.shared:
                owner, known = self.module(frame.f_globals)
                self.store(owner, known, effects.shared, frame.f_globals)
            for root, steps in effects.paths:
                value = self.find(root, steps, names, frame)
                if value is not MISSING and not self.check_globals(value):
                    heap.check(value)
            for root, steps, (kind, step) in effects.slots:
                value = self.find(root, steps, names, frame)
                if value is MISSING:
                    continue
                if kind == ATTRIBUTE:
                    self.check_attribute(value, step)
                    continue
                key = self.key(kind, step, names, frame)
                if not self.check_globals(value, key):
                    heap.check_item(value, key)
            is_one = type(effects.returned) is str and activation.returned is not None
            below = () if is_one else effects.below
            others = (heap.check_below, below), (heap.check_read, effects.read), (heap.watch, effects.given)
            for check, paths in others:
                for root, steps in paths:
                    value = self.find(root, steps, names, frame)
                    if value is not MISSING:
                        check(value)
            if activation.returned is not None:
                heap.check_below(activation.returned, WITH_PARTS if is_one else MOST_BELOW)
                activation.returned = None

    def check_attribute(self, value, name):
        """Write an attribute that may have changed. Those of a module are its variables."""
        if type(value) is not types.ModuleType:
            self.heap.check_attribute(value, name)
        elif self.is_own(value):
            owner, known = self.module(module_dict(value))
            self.store(owner, known, (name,), module_dict(value))

    def check_globals(self, value, name=None):
        """Write what has changed in the variables of a module, or one of them, if a value is their dictionary."""
        if type(value) is not dict or id(value) not in self.modules:
            return False
        owner, known = self.module(value)
        changed = [name]
        if type(name) is not str:
            # Another thread may add some.
            new = [(each, item) for each, item in list(value.items()) if type(each) is str and each not in known]
            changed = [*known, *(each for each, item in new if not is_double(each) and not issubclass(type(item), NAMED))]
        self.store(owner, known, changed, value)
        if self.heap.find(value) is not None:
            self.heap.check(value)
        return True

    def is_own(self, module):
        name = module_dict(module).get("__name__")
        return type(name) is str and self.is_user_module(name)

    def store(self, owner, known, names, values):
        heap, record, text = self.heap, self.wire.record, self.wire.text
        owner = owner << 1 | 1 | self.wire.by
        for name in names:
            value = values.get(name, MISSING)
            old = known.get(name, MISSING)
            if value is old:
                continue
            if value is MISSING:
                if issubclass(type(old), BaseException):
                    # The last line of a handler may have changed what is in it.
                    heap.check_below(old)
                del known[name]
                record(text(name) << 7 | NAME << 5 | WRITE, owner, ABSENT)
                continue
            known[name] = value
            if old is MISSING or differ(old, value):
                if type(value) is int and -WIDE < value < WIDE:
                    word = (value << 3 | INTEGER) & MASK
                else:
                    word = heap.word(value)
                record(text(name) << 7 | NAME << 5 | WRITE, owner, word)

    def module(self, names):
        """The owner of a module's variables, and what is known of them."""
        found = self.modules.get(id(names))
        if found is None:
            self.wire.calls += 1
            # The reference keeps the identity from being reused.
            found = self.modules[id(names)] = (self.wire.calls << 1, {}, names)
        return found[:2]

    # -- output -----------------------------------------------------------------------------------------------------

    def record_output(self, name):
        stream = getattr(sys, name)
        if type(stream) is not io.TextIOWrapper:
            return
        recorder, number = self, {"stdout": 1, "stderr": 2}[name]

        class TextIOWrapper(io.TextIOWrapper):
            def write(self, text):
                recorder.output(number, text)
                return super().write(text)

        settings = {"encoding": stream.encoding, "errors": stream.errors, "line_buffering": stream.line_buffering}
        stream.flush()
        write_through = getattr(stream, "write_through", False)
        replacement = TextIOWrapper(stream.buffer, write_through=write_through, **settings)
        replacement.mode = stream.mode
        # The old one would close the descriptor when it goes.
        self.originals = getattr(self, "originals", []) + [stream]
        setattr(sys, name, replacement)
        setattr(sys, "__%s__" % name, replacement)

    @guarded
    def output(self, number, text):
        if not self.closed and type(text) is str and text:
            self.source.check()
            top = self.thread().top
            by = (top.number if top is not None else 0) << 1 | 1
            self.wire.blob(number << 5 | OUTPUT, text[:MOST_OUTPUT].encode("utf-8", "replace"), by)


def unwrapped(value):
    """What an asynchronous generator yields, which Python wraps."""
    if class_name(type(value)) == "async_generator_wrapped_value":
        return next(iter(gc.get_referents(value)), value)
    return value


def renderer(most_text):
    """What makes text of values that are neither simple nor contain others."""
    stillframe_state.side_effect_free = True
    return lambda value: Renderer(most_text).text(value)


def message_of(error, render):
    """The message of an exception, without calling its `__str__`."""
    arguments = BaseException.__dict__["args"].__get__(error)
    if len(arguments) == 1 and type(arguments[0]) is str:
        return arguments[0]
    return ", ".join(render(argument)[0] for argument in arguments)
