"""Finds what names of Rust mean in a frame."""

from stillframe_memory import present
from stillframe_names import around, without_hash

# How many variables of a name are considered.
CONSIDERED = 10_000


def outside(frame, _this, name):
    """A constant, or a variable outside of functions: of several with a name, that of the nearest module around."""
    name = name.removeprefix("crate::").removeprefix("self::")
    target = frame.GetThread().GetProcess().GetTarget()
    known = {without_hash(one.GetName()): one for one in frame.GetModule().FindGlobalVariables(target, name, CONSIDERED)}
    known = {path: one for path, one in known.items() if f"::{path}".endswith(f"::{name}")}
    paths = (f"{scope}::{name}" if scope else name for scope in around(without_hash(frame.GetFunctionName())))
    nearest = [known[path] for path in paths if path in known][:1]
    # Another one is one that `use` names.
    return present(name, nearest or (known.values() if len(known) == 1 else ()))
