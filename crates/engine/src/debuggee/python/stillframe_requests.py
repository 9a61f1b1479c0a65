"""Serves requests for the agent and applies breakpoint rules without pydevd's overhead.

For each evaluation, pydevd makes objects of the request and the response, wakes a thread that watches the time, and
describes the result as a variable. It compiles the condition of a breakpoint at each hit.

A request waits in pydevd's queue for the suspended thread, behind the other commands. Other messages and conditions are
left to pydevd, and so is a request that pydevd refuses.
"""

import functools
import inspect
import json
import re
import sys
import types

from _pydev_bundle._pydev_saved_modules import threading
from _pydevd_bundle import pydevd_constants
from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
from _pydevd_bundle.pydevd_comm import WriterThread
from _pydevd_bundle.pydevd_comm_constants import CMD_EXIT, CMD_RETURN
from _pydevd_bundle.pydevd_net_command import NetCommand
from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor

# The expression of a request: this, and a JSON string.
CALL = "__import__('sys').modules['stillframe_agent'].call("
CALL_IN_MESSAGE = CALL.encode()
# Messages that are sent together.
MOST_MESSAGES = 50
# The condition of a breakpoint.
HIT = re.compile(r"__import__\('sys'\)\.modules\['(stillframe_\w+)'\]\.hit\((\d+)\)")


def install(pydevd):
    # An earlier client may have installed it.
    process, send = map(inspect.unwrap, (PyDevJsonCommandProcessor.process_net_command_json, NetCommand.send))
    apply = inspect.unwrap(pydevd.PyDB.handle_breakpoint_condition)

    @functools.wraps(process)
    def process_net_command_json(self, its_debugger, contents, *more, **named):
        try:
            if CALL_IN_MESSAGE in contents and take(its_debugger, json.loads(contents)):
                return None
        except Exception:
            # pydevd reports the problem.
            pass
        return process(self, its_debugger, contents, *more, **named)

    # The header and the body of each message take a system call and wake the client. A stop sends several messages.
    @functools.wraps(send)
    def send_together(self, sock):
        writer = threading.current_thread()
        if not isinstance(writer, WriterThread) or writer.py_db.dap_messages_listeners or not is_plain(self):
            return send(self, sock)
        messages, waiting = [self], writer._cmd_queue
        while waiting.queue and is_plain(waiting.queue[0]) and len(messages) < MOST_MESSAGES:
            messages.append(waiting.get(False))
        bodies = [message._as_bytes for message in messages]
        return sock.sendall(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))

    @functools.wraps(apply)
    def handle_breakpoint_condition(self, info, breakpoint, frame):
        try:
            module, place = rules_of(breakpoint.condition)
            return sys.modules[module].reached(place, frame)
        except Exception:
            # pydevd reports the problem.
            return apply(self, info, breakpoint, frame)

    PyDevJsonCommandProcessor.process_net_command_json, NetCommand.send = process_net_command_json, send_together
    pydevd.PyDB.handle_breakpoint_condition = handle_breakpoint_condition
    reader = getattr(pydevd.get_global_debugger(), "reader", None)
    if reader is not None:
        # It runs already.
        processor = reader.process_net_command_json.__self__
        reader.process_net_command_json = types.MethodType(process_net_command_json, processor)


def is_plain(command):
    """Whether the writer only sends a command; after others, it does something or ends."""
    is_message = type(command) is NetCommand and command.as_dict is not None
    return is_message and command.id != CMD_EXIT and not command._after_send


@functools.lru_cache(maxsize=None)
def rules_of(condition):
    """The module that applies the rules of a breakpoint, and its number for their location."""
    module, place = HIT.fullmatch(condition).groups()
    return module, int(place)


def take(its_debugger, message):
    """Queue a request for its thread. Returns whether this was done."""
    arguments = message["arguments"]
    call = arguments["expression"]
    if message["command"] != "evaluate" or not call.startswith(CALL) or "stillframe_agent" not in sys.modules:
        return False
    if not its_debugger.authentication.is_authenticated() or its_debugger.dap_messages_listeners:
        return False
    # The user may have had pydevd limit evaluations, or let other threads run during a long one.
    if pydevd_constants.PYDEVD_UNBLOCK_THREADS_TIMEOUT >= 0 or pydevd_constants.PYDEVD_INTERRUPT_THREAD_TIMEOUT > 0:
        return False
    frame = BaseSchema._translate_id_from_dap(arguments["frameId"])
    thread = its_debugger.suspended_frames_manager.get_thread_id_for_variable_reference(frame)
    if thread is None:
        return False
    request = json.loads(call[len(CALL) : -1])
    with its_debugger._main_lock:
        its_debugger.post_method_as_internal_command(thread, serve, message["seq"], request)
    return True


def serve(its_debugger, number, request):
    """Answer a request in the thread that it is for."""
    response = {"type": "response", "request_seq": number, "success": True, "command": "evaluate"}
    try:
        with pydevd_constants.filter_all_warnings():
            answer = sys.modules["stillframe_agent"].call(request)
        response["body"] = {"result": answer, "variablesReference": 0}
    except BaseException as error:
        response.update(success=False, message=type(error).__name__)
    its_debugger.writer.add_command(NetCommand(CMD_RETURN, 0, response, is_json=True))


install(sys.modules["pydevd"])
