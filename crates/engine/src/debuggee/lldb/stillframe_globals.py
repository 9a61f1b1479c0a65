"""Names the variables outside of functions that debug information lists, and that the linker has removed."""

from stillframe_evaluate import frame_numbered
from stillframe_memory import is_removed


def removed(debugger, number, result, _internal):
    """Print the name of each that a frame lists, by lldb-dap's number for the frame, after `removed `, and where it is
    declared, as lldb-dap adds that to a name which several variables have."""
    for one in frame_numbered(debugger, number).GetVariables(False, False, True, False):
        if is_removed(one):
            place = one.GetDeclaration()
            result.AppendMessage(f"removed {one.GetName()} @ {place.GetFileSpec().GetFilename()}:{place.GetLine()}")


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_globals.removed stillframe-removed")
