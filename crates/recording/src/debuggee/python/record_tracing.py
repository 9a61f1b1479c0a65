"""Events of Python before 3.12, from `sys.settrace`.

A frame of the program's code has a trace function of its own, which knows its activation; other frames have none.
"""

import opcode
import os
import sys
import threading

from record_accelerator import native
from record_effects import ends_iteration
from record_wire import SUSPEND

GENERATES = 0x20 | 0x80 | 0x200

LOST = "an interrupt or an exhausted stack stopped Python from tracing a thread; what that thread ran afterwards is missing"


class Source:
    def __init__(self, recorder):
        self.recorder = recorder
        # Activations of generators, by the identity of their frame, with the frame.
        self.waiting = {}
        self.is_on, self.is_lost = True, False
        # The trace functions of the program, by thread.
        self.others = {}

    def start(self):
        self.set, self.get = sys.settrace, sys.gettrace
        sys.settrace, sys.gettrace = self.settrace, self.gettrace
        threading.settrace(self.on_call)
        self.trace_thread()

    def trace_thread(self):
        """Begin to trace the thread that runs."""
        if native:
            native.trace()
        else:
            self.set(self.on_call)

    def observe(self, code):
        return self.recorder.code(code)

    def follow(self, activation, frame):
        """Trace a call that began unseen."""
        if native:
            native.follow(frame, activation)
        else:
            frame.f_trace = self.tracer(activation, frame.f_code.co_flags & GENERATES)

    def check(self):
        """Say so if Python no longer traces the main thread, where interrupts are raised. It stops when one gets out of a
        trace function, which may be before the first instruction of that."""
        is_main = threading.get_ident() == threading.main_thread().ident
        if self.is_on and not native and is_main and not self.recorder.wire.is_lost and self.get() is None:
            self.lose()

    def lose(self):
        if not self.is_lost:
            self.recorder.wire.gap(LOST)
            self.is_lost = True

    def stop(self):
        self.check()
        self.is_on = False
        sys.settrace, sys.gettrace = self.set, self.get
        self.set(None)
        threading.settrace(None)

    def settrace(self, function):
        """What the program calls as `sys.settrace`. There is one trace function, which is the program's while it has
        one."""
        if function == self.on_call:
            # `threading` begins a thread with it.
            self.trace_thread()
            return
        frame = sys._getframe(1)
        self.others[threading.get_ident()] = function
        if function is not None or not self.is_on:
            place = os.path.basename(frame.f_code.co_filename), frame.f_lineno
            self.recorder.wire.gap("the program traced itself from %s:%d on; what ran until it ended that is missing" % place)
            self.set(function)
            return
        self.recorder.forget_ended(frame)
        self.trace_thread()

    def gettrace(self):
        return self.others.get(threading.get_ident())

    def on_call(self, frame, event, argument):
        if not self.is_on:
            return None
        recorder = self.recorder
        code = recorder.code(frame.f_code)
        if not code:
            return None
        thread = recorder.thread()
        generates = frame.f_code.co_flags & GENERATES
        found = self.waiting.pop(id(frame), None) if generates else None
        if found is not None:
            recorder.resume(thread, found[0])
            return found[2]
        activation = recorder.enter(thread, code, frame)
        return self.tracer(activation, generates)

    def tracer(self, activation, generates):
        recorder = self.recorder
        record, lines, base = recorder.wire.record, activation.code.lines, activation.base
        heap, watched = recorder.heap, recorder.heap.watched
        is_raised = was_raised = False

        def trace(frame, event, argument):
            nonlocal is_raised, was_raised
            if not self.is_on:
                return None
            try:
                pending = activation.pending
                if watched and heap.has_watched_changed():
                    recorder.settle_watched(activation)
                if pending is not None:
                    # After an event other than the next line, more of this line may run.
                    recorder.settle(activation, pending, frame)
                if event == "line":
                    is_raised = False
                    line = frame.f_lineno
                    try:
                        word, activation.pending = lines[line]
                    except KeyError:
                        word, activation.pending = recorder.line_of(activation.code, line)
                    record(base | word)
                elif event == "return":
                    # Python reports the return of None for a frame that an exception leaves, which may have run a `finally`.
                    # Where a `with` has handled it, there may be no other line.
                    if argument is None and was_raised and not has_returned(frame, generates and not is_raised):
                        recorder.unwind(recorder.thread(), activation)
                    elif generates and is_yield(frame):
                        self.waiting[id(frame)] = (activation, frame, trace)
                        recorder.leave(recorder.thread(), activation, argument, SUSPEND)
                    else:
                        recorder.leave(recorder.thread(), activation, argument)
                elif event == "exception":
                    is_raised = self.on_exception(activation, frame, argument) or is_raised
                    was_raised = was_raised or is_raised
            except BaseException:
                self.lose()
                raise
            return trace

        return trace

    def on_exception(self, activation, frame, argument):
        """Record an exception, unless it is one of Python itself. Whether it was."""
        kind, error, _ = argument
        if ends_iteration(frame.f_code, frame.f_lasti, kind):
            return False
        self.recorder.throw(activation, error if isinstance(error, BaseException) else kind(error))
        return True


def has_returned(frame, generates):
    """Whether a frame that is left has come to a `return` or a `yield`."""
    at = frame.f_lasti
    return at >= 0 and frame.f_code.co_code[at] == RETURN or bool(generates) and is_yield(frame)


def is_yield(frame):
    """Whether a frame that is left will be resumed."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if at < 0:
        return False
    # Before Python 3.11, one that waits in `yield from` or `await` is just before that instruction.
    return code[at] in YIELDS or code[at] != RETURN and code[at + 2 : at + 3] == YIELD_FROM


RETURN = opcode.opmap["RETURN_VALUE"]
YIELDS = {opcode.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND") if name in opcode.opmap}
YIELD_FROM = bytes([opcode.opmap["YIELD_FROM"]]) if "YIELD_FROM" in opcode.opmap else None
