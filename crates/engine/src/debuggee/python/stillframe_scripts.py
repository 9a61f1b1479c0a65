"""Has pydevd follow Python scripts that are started by their own name, such as `pytest`, or by a shell.

It follows processes whose program is an interpreter. A script that begins with `#!` is started by the system with its
interpreter, so here it is started with it from the beginning. In a command for a shell, that is done where it is not
more than a program and its arguments. Whatever is not certain is left to the system, and runs undebugged.
"""

import functools
import os
import re
import shlex
import subprocess

# Where an argument of `Popen._execute_child` is after its environment.
SHELL = 2

# What only a shell understands, and the variables and the command behind them of what else it is given.
SYNTAX = re.compile(r"[;&|<>()$`\\*?\[\]{}~#!\n]")
COMMAND = re.compile(r"""((?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+)*)(.*)""", re.DOTALL)
# Words that mean something else to a shell than a program.
BUILTINS = frozenset(
    "alias bg break case cd command continue do done echo elif else esac eval exec exit export false fc fg fi for function "
    "getopts hash if in jobs kill let local printf pwd read readonly return set shift source test then time times trap true "
    "type ulimit umask unalias unset until wait while".split()
)
# Earlier versions cannot be debugged.
INTERPRETER = re.compile(r"(?:python|pypy)(?:3(?:\.(?:[89]|\d\d+))?)?[a-z]*$")


def install(pydev_monkey):
    """Before pydevd replaces what starts processes."""
    is_on = pydev_monkey._get_apply_arg_patching
    for name in ("create_execv", "create_execve"):
        setattr(pydev_monkey, name, with_interpreter(getattr(pydev_monkey, name), is_on))
    execute = subprocess.Popen._execute_child

    @functools.wraps(execute)
    def execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others, **named):
        if executable is None and is_on():
            # It may be an iterator.
            args = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
            by_shell = others[SHELL] if len(others) > SHELL else named.get("shell")
            if by_shell and len(args) == 1:
                args = [shell_command(args[0], env, cwd)]
            elif args and not by_shell:
                args = command_of(args[0], env, cwd) + args[1:]
        return execute(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others, **named)

    def shell_command(text, environment=None, folder=None):
        try:
            return followed_command(text, environment, folder) or text
        except Exception:
            return text

    def followed_command(text, environment, folder):
        if SYNTAX.search(text):
            return None
        variables, command = COMMAND.match(text).groups()
        words = shlex.split(command)
        if words[0] in BUILTINS or re.search(r"\bPATH=", variables):
            return None
        if not pydev_monkey.is_python(words[0]):
            words[:1] = command_of(words[0], environment, folder)
        followed = pydev_monkey.patch_args(words)
        if "--file" in followed:
            script = followed[followed.index("--file") + 1]
            if script in words and not os.path.exists(os.path.join(folder or "", script)):
                return None
        return variables + " ".join(map(shlex.quote, followed)) if followed != words else None

    subprocess.Popen._execute_child = execute_child
    system = os.system
    os.system = functools.wraps(system)(lambda command: system(shell_command(command) if is_on() else command))


def with_interpreter(create, is_on):
    @functools.wraps(create)
    def create_with_interpreter(original_name):
        execute, searches = create(original_name), "execvp" in original_name

        @functools.wraps(execute)
        def execute_script(path, args, *environment):
            command = command_of(path, *environment, searches=searches) if is_on() else [path]
            if len(command) > 1:
                path, args = command[0], command + list(args)[1:]
            return execute(path, args, *environment)

        return execute_script

    return create_with_interpreter


def command_of(program, environment=None, folder=None, searches=True):
    """The command that starts a Python script: its interpreter, options and the script. Other programs are theirs
    themselves."""
    try:
        path = os.fsdecode(program)
        if searches and os.sep not in path:
            path = found(path, environment)
        file = os.path.join(folder or "", path)
        if not os.access(file, os.X_OK):
            return [program]
        with open(file, "rb") as script:
            if script.read(2) != b"#!":
                return [program]
            first, second = (os.fsdecode(script.readline(512)) for _ in range(2))
        words = interpreter_of(first, second, environment)
        name = os.path.basename(os.path.realpath(words[0]))
        is_known = os.path.isabs(words[0]) and os.access(words[0], os.X_OK) and INTERPRETER.match(name)
        return [*words, path] if is_known else [program]
    except Exception:
        return [program]


def interpreter_of(first, second, environment):
    """The interpreter and its option, from the first lines of a script. Fails where they are not plain."""
    if not first.endswith("\n") or "\r" in first:
        raise ValueError(first)
    interpreter, *options = first.split(None, 1)
    options = [option.strip() for option in options]
    name = os.path.basename(interpreter)
    if name == "sh" and second.startswith("'''exec' "):
        # What pip writes where the path of the interpreter is too long for the system, or has a space.
        _, interpreter, script, arguments = shlex.split(second)
        options = [] if (script, arguments) == ("$0", "$@") else [second]
    elif name == "env":
        words = options[0].split()
        if words[0] == "-S":
            del words[0]
            interpreter, *options = words
        else:
            interpreter, options = options[0], []
        if any(sign in word for word in [interpreter, *options] for sign in "='\"$\\# \t"):
            raise ValueError(first)
        interpreter = found(interpreter, environment)
    if any(len(option.split()) != 1 for option in options):
        raise ValueError(first)
    return [interpreter, *options]


def found(name, environment):
    """The path of a program on the search path. Fails if there is none."""
    # Not at the start of each program: it takes 3 ms.
    import shutil

    return os.fspath(shutil.which(name, path=os.pathsep.join(os.get_exec_path(environment))))
