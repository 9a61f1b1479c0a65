"""Requests and commands that GDB's adapter does not have."""

import gdb
from gdb.dap.server import _capabilities as ABILITIES
from gdb.dap.server import _commands as REQUESTS
from gdb.dap.server import request, send_gdb_with_response


def answers(name, ability=None, **options):
    """The function answers this request, in place of what a version of GDB may have for it."""
    REQUESTS.pop(name, None)

    def wrap(function):
        if ability:
            ABILITIES[ability] = True
        return request(name, **options)(function)

    return wrap


# By name. Each takes the rest of the text, and returns what it prints.
COMMANDS = {}


def command(name):
    """The function answers this command of the client, which it may give while the program runs."""

    def wrap(function):
        COMMANDS[name] = function
        return function

    return wrap


def commanded(evaluate):
    def evaluated(**arguments):
        name, _, rest = arguments["expression"].partition(" ")
        if arguments.get("context") != "repl" or name not in COMMANDS:
            return evaluate(**arguments)
        text = send_gdb_with_response(lambda: COMMANDS[name](rest))
        return {"result": text, "variablesReference": 0}

    return evaluated


def name_of(thread):
    return thread.name or thread.details or f"Thread #{thread.num}"


@answers("threads", expect_stopped=False)
def threads(**args):
    """Threads have a name each, and the operating system's number."""
    found = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    return {"threads": [{"id": one.global_num, "name": name_of(one), "osThread": one.ptid[1]} for one in found]}


def complete():
    REQUESTS["evaluate"] = commanded(REQUESTS["evaluate"])
