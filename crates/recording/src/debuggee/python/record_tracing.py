"""Events of Python before 3.12, from `sys.settrace`.

A frame of the program's code has a trace function of its own, which knows its activation; other frames have none.
"""

import sys
import threading

from record_wire import SUSPEND

GENERATES = 0x20 | 0x80 | 0x200


class Source:
    def __init__(self, recorder):
        self.recorder = recorder
        # Activations of generators, by the identity of their frame, with the frame.
        self.waiting = {}
        self.is_on = True

    def start(self):
        threading.settrace(self.on_call)
        sys.settrace(self.on_call)

    def stop(self):
        self.is_on = False
        sys.settrace(None)
        threading.settrace(None)

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
        is_raised = False

        def trace(frame, event, argument):
            nonlocal is_raised
            if not self.is_on:
                return None
            pending = activation.pending
            if pending is not None:
                recorder.settle(activation, pending, frame)
                activation.pending = None
            if event == "line":
                is_raised = False
                line = frame.f_lineno
                try:
                    word, activation.pending = lines[line]
                except KeyError:
                    word, activation.pending = recorder.line_of(activation.code, line)
                record(base | word)
            elif event == "return":
                # Python reports the return of None for a frame that an exception leaves.
                if is_raised and argument is None:
                    recorder.unwind(recorder.thread(), activation)
                elif generates and is_yield(frame):
                    self.waiting[id(frame)] = (activation, frame, trace)
                    recorder.leave(recorder.thread(), activation, argument, SUSPEND)
                else:
                    recorder.leave(recorder.thread(), activation, argument)
            elif event == "exception":
                is_raised = True
                recorder.throw(activation, argument[1] if isinstance(argument[1], BaseException) else argument[0](argument[1]))
            return trace

        return trace


def is_yield(frame):
    """Whether a frame that is left will be resumed."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and code[at] in YIELDS


def yields():
    import opcode

    return {opcode.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND") if name in opcode.opmap}


YIELDS = yields()
