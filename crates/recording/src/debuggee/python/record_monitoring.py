"""Events of Python 3.12 and newer, from `sys.monitoring`.

Only the program's own code has events: other code is asked about once, when it first runs.
"""

import sys

from record_accelerator import native
from record_effects import ends_iteration
from record_wire import SIZE, SUSPEND

monitoring = sys.monitoring
events = monitoring.events

# Unreserved tool numbers. Coverage, profilers and debuggers have reserved ones.
TOOLS = (3, 4)


class Source:
    disable = monitoring.DISABLE

    def __init__(self, recorder):
        self.recorder = recorder
        self.tool = next((tool for tool in TOOLS if monitoring.get_tool(tool) is None), None)
        # The code objects that have events, by their identity, and generators that wait, by that of their frame.
        self.codes = {}
        self.waiting = {}

    def start(self):
        if self.tool is None:
            self.recorder.wire.gap("other tools of this program use `sys.monitoring`, and none is left")
            return
        monitoring.use_tool_id(self.tool, "stillframe record")
        callbacks = {
            events.PY_START: native.on_start if native else self.on_start,
            events.PY_RESUME: self.on_resume,
            events.PY_RETURN: native.on_return if native else self.on_return,
            events.PY_YIELD: self.on_yield,
            events.PY_THROW: self.on_resume,
            events.PY_UNWIND: self.on_unwind,
            events.RAISE: self.on_raise,
            events.LINE: native.on_line if native else self.line_callback(),
        }
        for event, callback in callbacks.items():
            monitoring.register_callback(self.tool, event, callback)
        # The last three cannot be had for some code only.
        monitoring.set_events(self.tool, events.PY_START | events.PY_UNWIND | events.RAISE | events.PY_THROW)

    def check(self):
        """Monitoring continues after an interrupt."""

    def stop(self):
        if self.tool is None:
            return
        tool, self.tool = self.tool, None
        monitoring.set_events(tool, 0)
        for known in self.codes.values():
            monitoring.set_local_events(tool, known.code, 0)
        monitoring.free_tool_id(tool)

    def line_callback(self):
        recorder, frame_at = self.recorder, sys._getframe
        local, wire, heap, watched = recorder.local, recorder.wire, recorder.heap, recorder.heap.watched

        def on_line(code, line):
            try:
                activation = local.thread.top
            except AttributeError:
                return
            if activation is None or activation.code.code is not code:
                return
            pending = activation.pending
            if watched and heap.has_watched_changed():
                recorder.settle_watched(activation)
            if pending is not None:
                recorder.settle(activation, pending, frame_at(1))
            try:
                word, activation.pending = activation.code.lines[line]
            except KeyError:
                word, activation.pending = recorder.line_of(activation.code, line)
            at = wire.position
            if at < SIZE:
                wire.position = at + 1
                wire.words[at] = activation.base | word
            else:
                wire.record(activation.base | word)

        return on_line

    def on_start(self, code, offset):
        recorder = self.recorder
        known = self.codes.get(id(code)) or self.observe(code)
        if not known:
            return self.disable
        recorder.enter(recorder.thread(), known, sys._getframe(1))

    def observe(self, code):
        """The `Code` of a code object, which has events from now on; none or false if it is not the program's."""
        known = self.recorder.code(code)
        if known:
            self.codes[id(code)] = known
            monitoring.set_local_events(
                self.tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
            )
        return known

    def follow(self, activation, frame):
        """A call that began unseen has the events of its code."""

    def settle(self, thread, activation, frame):
        """Write what the line has changed so far. More of it may run, which has no event of its own."""
        if self.recorder.heap.has_watched_changed():
            self.recorder.settle_watched(activation)
        if activation.pending is not None:
            self.recorder.settle(activation, activation.pending, frame)

    def running(self, code):
        """The thread, and its activation of this code."""
        thread = self.recorder.thread()
        activation = thread.top
        if activation is None or activation.code.code is not code:
            return thread, None
        return thread, activation

    def on_return(self, code, offset, value):
        thread, activation = self.running(code)
        if activation is not None:
            self.settle(thread, activation, sys._getframe(1))
            self.recorder.leave(thread, activation, value)

    def on_yield(self, code, offset, value):
        thread, activation = self.running(code)
        if activation is not None:
            frame = sys._getframe(1)
            self.settle(thread, activation, frame)
            self.waiting[id(frame)] = (activation, frame)
            self.recorder.leave(thread, activation, value, SUSPEND)

    def on_resume(self, code, offset, error=None):
        recorder, found = self.recorder, self.waiting.pop(id(sys._getframe(1)), None)
        if found is not None:
            recorder.resume(recorder.thread(), found[0])

    def on_raise(self, code, offset, error):
        if id(code) in self.codes and not ends_iteration(code, offset, type(error)):
            thread, activation = self.running(code)
            if activation is not None:
                self.settle(thread, activation, sys._getframe(1))
                self.recorder.throw(activation, error)

    def on_unwind(self, code, offset, error):
        if id(code) in self.codes:
            thread, activation = self.running(code)
            if activation is not None:
                self.settle(thread, activation, sys._getframe(1))
                self.recorder.unwind(thread, activation)
