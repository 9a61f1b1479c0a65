"""Lists what a lambda of C++ has captured among the variables of its frame.

GCC keeps it in an object that LLDB leaves out.
"""

import lldb


class Captures:
    """The captured variables of a frame. LLDB calls them recognized arguments."""

    def get_recognized_arguments(self, frame):
        try:
            return captures(frame) or []
        except Exception:  # LLDB crashes at one.
            return []


def captures(frame):
    """The variables that the lambda of a frame has captured; None for the frame of another function."""
    closure = frame.FindVariable("__closure")
    if not closure.IsValid():
        return None
    # To look for a name finds variables of the function around it, too.
    options = lldb.SBVariablesOptions()
    for include in (options.SetIncludeArguments, options.SetIncludeLocals, options.SetInScopeOnly):
        include(True)
    options.SetIncludeRecognizedArguments(False)
    own = {one.GetName() for one in frame.GetVariables(options)}
    captured = [(child.GetName().removeprefix("__"), child) for child in closure.Dereference().children]
    return [renamed(child, name) for name, child in captured if name not in own]


def renamed(value, name):
    """A value under another name; for a reference, what it refers to. It stays right while the frame runs."""
    return (value.Dereference() if value.GetType().IsReferenceType() else value).Clone(name)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("settings set target.display-recognized-arguments true")
    recognizer = r"frame recognizer add -l stillframe_captures.Captures -f false -x -s .* -n operator\(\)"
    debugger.HandleCommand(recognizer)
