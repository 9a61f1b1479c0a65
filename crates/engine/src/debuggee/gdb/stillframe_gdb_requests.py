"""Requests and commands that GDB's adapter does not have."""

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


# By name. Each takes the rest of the text, and gives what it prints.
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


def complete():
    REQUESTS["evaluate"] = commanded(REQUESTS["evaluate"])
