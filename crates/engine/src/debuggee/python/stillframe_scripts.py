"""Has pydevd follow Python scripts that are started by their own name, such as `pytest`, or by a shell.

It follows processes whose program is an interpreter. A script that begins with `#!` is started by the system with its
interpreter, so here it is started with it from the beginning. In a command for a shell, that is done where it is not
more than a program and its arguments.
"""

import functools
import os
import re
import shlex
import shutil
import subprocess

# Where an argument of `Popen._execute_child` is behind its environment.
SHELL = 2

# What only a shell understands.
SYNTAX = re.compile(r"[;&|<>()$`\\*?\[\]{}~#!\n]")
# Earlier versions cannot be debugged.
INTERPRETER = re.compile(r"(?:python|pypy)(?:3(?:\.(?:[89]|\d\d+))?)?[a-z]*$")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def install(pydev_monkey):
    """Before pydevd replaces what starts processes."""
    is_on = pydev_monkey._get_apply_arg_patching
    for name in ("create_execv", "create_execve"):
        setattr(pydev_monkey, name, with_interpreter(getattr(pydev_monkey, name), is_on))
    execute = subprocess.Popen._execute_child

    @functools.wraps(execute)
    def execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others, **named):
        if executable is None and is_on():
            words = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
            by_shell = others[SHELL] if len(others) > SHELL else named.get("shell")
            if by_shell and len(words) == 1:
                args = [shell_command(words[0], env, cwd)]
            elif words and not by_shell:
                command = command_of(words[0], env, cwd)
                args = command + words[1:] if command else args
        return execute(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others, **named)

    def shell_command(text, environment=None, folder=None):
        words = simple_command(text)
        start = next((at for at, word in enumerate(words) if not ASSIGNMENT.match(word)), None)
        if start is None or any(word.startswith("PATH=") for word in words[:start]):
            return text
        program, *arguments = words[start:]
        if not pydev_monkey.is_python(program):
            command = command_of(program, environment, folder)
            if command is None:
                return text
            program, *arguments = command + arguments
        named = [word.split("=", 1) for word in words[:start]]
        followed = pydev_monkey.patch_args([program] + arguments)
        return " ".join(["%s=%s" % (name, shlex.quote(value)) for name, value in named] + [*map(shlex.quote, followed)])

    subprocess.Popen._execute_child = execute_child
    system = os.system
    os.system = functools.wraps(system)(lambda command: system(shell_command(command) if is_on() else command))


def with_interpreter(create, is_on):
    @functools.wraps(create)
    def create_with_interpreter(original_name):
        execute = create(original_name)

        @functools.wraps(execute)
        def execute_script(path, args, *environment):
            command = command_of(path, *environment) if is_on() else None
            if command:
                path, args = command[0], command + list(args)[1:]
            return execute(path, args, *environment)

        return execute_script

    return create_with_interpreter


def simple_command(text):
    """The words of a command for a shell; none if it is more than a program with arguments."""
    try:
        return [] if SYNTAX.search(text) else shlex.split(text)
    except (TypeError, ValueError):
        return []


def command_of(program, environment=None, folder=None):
    """The command that starts a Python script: its interpreter, options and the script; None for other programs."""
    try:
        path = os.fsdecode(program)
        if os.sep not in path:
            path = shutil.which(path, path=os.pathsep.join(os.get_exec_path(environment)))
        file = os.path.join(folder or "", path)
        if not os.access(file, os.X_OK):
            return None
        with open(file, "rb") as script:
            if script.read(2) != b"#!":
                return None
            first, second = (os.fsdecode(script.readline(512)) for _ in range(2))
        interpreter = interpreter_of(first, second, environment)
    except (OSError, TypeError, ValueError):
        return None
    return interpreter + [path] if interpreter else None


def interpreter_of(first, second, environment):
    """The interpreter and its options, from the first lines of a script."""
    words = first.split(None, 1)
    name = os.path.basename(words[0])
    if name == "env":
        words = [word for word in words[1].split() if word != "-S"]
        words[0] = shutil.which(words[0], path=os.pathsep.join(os.get_exec_path(environment)))
    elif name == "sh" and second.startswith("'''exec' "):
        # What pip writes where the path of the interpreter is too long for the system, or has a space.
        words = [shlex.split(second)[1]]
    words = [word.strip() for word in words]
    return words if INTERPRETER.match(os.path.basename(os.path.realpath(words[0]))) else None
