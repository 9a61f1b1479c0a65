"""Names of functions as programmers write them, where a name in a function is looked up, and what functions return."""

import re

ARGUMENTS = re.compile(r"<[^<>]*>")
HASH = re.compile(r"::h[0-9a-f]{16}$")
# Sources that are not the user's.
LIBRARY = re.compile(
    r"^(?!/)|^/(rustc?|usr)/|^/build/(reproducible-path|[^/]*-(?=[^/]*[A-Z0-9])[A-Za-z0-9]{6})/"
    r"|/\.cargo/(registry|git)/|/lib/rustlib/"
)


def is_library(source):
    return not source.IsValid() or LIBRARY.search(source.fullpath or "") is not None


def bare(name):
    """Without the arguments of templates and generic types."""
    while (shorter := ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name


def path_of(name):
    """`shop::Ring::each` for `int shop::Ring<int, 3>::each<char>(char) const`."""
    return bare(name).partition("(")[0].rpartition(" ")[2]


def without_hash(name):
    """Without what rustc adds."""
    return HASH.sub("", name or "")


def around(function):
    """Where a name in a function is looked up, by the function's name: what it is in, from the inside, and outside of all."""
    parts = path_of(function).split("::")[:-1]
    return ["::".join(parts[:end]) for end in range(len(parts), -1, -1)]


def return_type(target, function):
    """The type that a function returns. LLDB adds a method to its class when it reads the type of that method: to a class
    that it has not read yet, before the others, and virtual calls in expressions then go to another method, such as
    the destructor."""
    for one in function.GetBlock().GetVariables(target, True, False, False):
        if one.GetName() == "this":
            # To count its fields, LLDB reads the class.
            one.GetType().GetPointeeType().GetNumberOfFields()
            break
    return function.GetType().GetFunctionReturnType()
