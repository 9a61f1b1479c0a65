"""Completes GDB's own debug adapter, `gdb -i dap`.

GDB loads this with `-x`, when its adapter is set up and has not read a request yet. What to do is in the environment
variable `STILLFRAME_GDB`, as JSON: `program`, `launches`, `cwd`, `env`, `stdin`, `entry`, `skip`, `shell`, `timeout` and
`printers`, each of which may be missing. `gdb/python/lib/gdb/dap` in the source of GDB has the modules that are completed
here and in the files beside this one.
"""

import json
import os
import sys

import gdb
from gdb.dap import launch, startup
from gdb.dap.server import _commands as COMMANDS

SETTINGS = json.loads(os.environ.pop("STILLFRAME_GDB", "{}"))

# An older GDB does not know all of them.
OPTIONS = [
    "set debuginfod enabled off",
    "set confirm off",
    # In bytes. GDB shows nothing of an array that is larger.
    "set max-value-size 16777216",
    "set style enabled off",
    "set print characters 4000",
    "set print elements 200",
    "set print max-depth 6",
    "set print null-stop on",
    "set print static-members off",
    "set print symbol off",
    "set unwind-on-signal on",
    "set unwind-on-terminating-exception on",
    "set unwind-on-timeout on",
    "unset environment STILLFRAME_GDB",
    # GDB adds its own terminal's.
    "unset environment LINES",
    "unset environment COLUMNS",
]


def mute():
    """Drops what GDB says itself. The adapter reads its pipe until the end, which must not come."""
    os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def prepare():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import stillframe_gdb_calls as calls
    import stillframe_gdb_program as program
    import stillframe_gdb_recorder as recorder
    import stillframe_gdb_requests as requests
    import stillframe_gdb_stops as stops
    import stillframe_gdb_values as values
    import stillframe_gdb_watches  # noqa: F401

    for option in OPTIONS:
        run_quietly(option)
    for option in ("direct-call-timeout", "indirect-call-timeout"):
        run_quietly(f"set {option} {SETTINGS.get('timeout', 5)}")
    for pattern in SETTINGS.get("skip") or []:
        run_quietly(f"skip -rfunction {pattern}")
    values.complete(SETTINGS.get("printers"))
    stops.complete()
    calls.complete()
    recorder.complete()
    requests.complete()
    if SETTINGS.get("program"):
        # Not only when debugging starts, so that breakpoints and their conditions are checked before.
        launch.file_command(SETTINGS["program"])
    if SETTINGS.get("launches"):
        program.prepare(SETTINGS)


def run_quietly(command):
    try:
        gdb.execute(command, to_string=True)
    except gdb.error:
        pass


def refusing(problem):
    def refuse(**args):
        raise startup.DAPException(f"GDB {gdb.VERSION}: {problem}")

    return refuse


mute()
try:
    prepare()
except Exception as error:
    # Without all of this, what the adapter reports would be wrong.
    COMMANDS.update({name: refusing(error) for name in ("launch", "attach")})
