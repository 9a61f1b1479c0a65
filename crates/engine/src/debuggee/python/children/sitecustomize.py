"""Makes a Python process that a program in another language has started connect to stillframe.

`PYTHONPATH` names the folder of this file, so that Python imports it before the program. The environment contains the
address (STILLFRAME_PYTHON), a secret (STILLFRAME_PYTHON_TOKEN) and what the paths of the folders that contain
`debugpy` begin with (STILLFRAME_PYTHON_DEBUGPY); a tag for the version of Python completes them.

A script or module is started again by `stillframe_launch.py` in the same process, so that it runs as if it had been
started by the debugger. Other code, such as that of `python -c`, is debugged from here on. A process that cannot be
debugged runs without a debugger.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.dirname(HERE)
LAUNCHER = os.path.join(SCRIPTS, "stillframe_launch.py")


def debug():
    address = os.environ.get("STILLFRAME_PYTHON")
    root = folder_of_debugpy(os.environ.get("STILLFRAME_PYTHON_DEBUGPY", ""))
    if not address or root is None or is_debugged():
        return
    kind, target, flags, arguments = command_line()
    if kind is None:
        return join(address, root)
    os.environ["STILLFRAME_TOKEN"] = os.environ.get("STILLFRAME_PYTHON_TOKEN", "")
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    launch = ["-X", "frozen_modules=off", LAUNCHER, address, root, kind, target]
    os.execv(sys.executable, [sys.executable, *flags, *launch, *arguments])


def is_debugged():
    """Whether the debugger, or pydevd in the parent process, has started this process."""
    words = sys.argv[:1] if sys.argv[0] != "-c" else original_words()[-1 - len(sys.argv) :]
    return any("stillframe_launch" in word or "pydevd" in word for word in words)


def folder_of_debugpy(beginning):
    folder, name = os.path.split(beginning)
    own = name + (sys.implementation.cache_tag or "python-%d%d" % sys.version_info[:2])
    # Without the compiled parts that only its own version can load, the debugger of another one is slower.
    try:
        names = [own, *sorted(other for other in os.listdir(folder) if other.startswith(name))]
    except OSError:
        return None
    roots = (os.path.join(folder, name) for name in names)
    return next((root for root in roots if os.path.isfile(os.path.join(root, "debugpy", "__init__.py"))), None)


def command_line():
    """The kind of program, its name, the options of Python before it, and its arguments."""
    words = original_words()
    arguments = sys.argv[1:]
    before = words[1 : len(words) - len(arguments)]
    if sys.argv[0] == "-m":
        option = before[-1] if before[-1].startswith("-m") and before[-1] != "-m" else None
        if option is not None:
            return "module", option[2:], before[:-1], arguments
        return "module", before[-1], before[:-2], arguments
    if sys.argv[0] and sys.argv[0] != "-c" and before and os.path.isfile(before[-1]):
        return "file", before[-1], before[:-1], arguments
    return None, None, [], []


def original_words():
    if hasattr(sys, "orig_argv"):
        return sys.orig_argv
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


def join(address, root):
    sys.path.insert(0, SCRIPTS)
    try:
        import stillframe_launch
    finally:
        sys.path.remove(SCRIPTS)
    stillframe_launch.connect(address, root, os.environ.get("STILLFRAME_PYTHON_TOKEN"))


def customize():
    """Do what the `sitecustomize` that this one hides does."""
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours


sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != HERE]
try:
    debug()
except Exception as error:
    print("this process runs without a debugger:", repr(error), file=sys.stderr)
customize()
