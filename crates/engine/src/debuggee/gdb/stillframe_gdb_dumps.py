"""Crash dumps, which GDB's adapter opens since version 18."""

import gdb
from gdb.dap import launch, startup
from stillframe_gdb_requests import REQUESTS

# What an earlier one does with the name of a target.
TARGET = "target remote "


class State:
    is_open = False


def is_open():
    return State.is_open or getattr(gdb.selected_inferior(), "corefile", None) is not None


def opened_by_target(attach):
    def attached(*, coreFile=None, **arguments):
        if coreFile is not None:
            arguments["target"] = "core-file '" + coreFile.replace("'", "'\\''") + "'"
        return attach(**arguments)

    return attached


def opening(execute, report):
    def executed(command, *arguments, **options):
        if not command.startswith(TARGET + "core-file "):
            return execute(command, *arguments, **options)
        try:
            gdb.execute(command[len(TARGET) :], to_string=True)
        except gdb.error as error:
            raise startup.DAPException(str(error)) from error
        State.is_open = True
        report(None)

    return executed


def complete(on_stop):
    if not hasattr(gdb.events, "corefile_changed"):
        REQUESTS["attach"] = opened_by_target(REQUESTS["attach"])
        launch.exec_and_log = opening(launch.exec_and_log, on_stop)
