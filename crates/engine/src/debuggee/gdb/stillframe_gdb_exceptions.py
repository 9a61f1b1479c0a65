"""What a stop for a signal or a C++ exception is about, read from memory: nothing of the program runs for it."""

import gdb

# `si_code` in `signal.h`.
CAUSES = {
    ("SIGSEGV", 1): "address not mapped to object",
    ("SIGSEGV", 2): "invalid permissions for mapped object",
    ("SIGBUS", 1): "invalid address alignment",
    ("SIGBUS", 2): "nonexistent physical address",
    ("SIGFPE", 1): "integer divide by zero",
    ("SIGFPE", 2): "integer overflow",
    ("SIGFPE", 3): "floating point divide by zero",
}


def signal_information(name):
    cause = ""
    try:
        code = int(gdb.parse_and_eval("$_siginfo.si_code"))
        cause = CAUSES.get((name, code), "")
        if name in ("SIGSEGV", "SIGBUS") and cause:
            address = int(gdb.parse_and_eval("$_siginfo._sifields._sigfault.si_addr"))
            cause += f" (fault address: {address:#x})"
    except gdb.error:
        pass
    return {"exceptionId": name, "description": cause, "breakMode": "unhandled"}


# The classes of the standard library whose first field is the message.
WITH_MESSAGE = ("std::runtime_error", "std::logic_error")
SIMPLE = ("bool", "char", "int", "unsigned int", "long", "unsigned long", "float", "double")


def thrown_information():
    """The type and the message of a C++ exception."""
    kinds, message = [], ""
    try:
        thrown = int(gdb.parse_and_eval("$_probe_arg0"))
        kinds = type_names(int(gdb.parse_and_eval("$_probe_arg1")))
        if any(kind in WITH_MESSAGE for kind in kinds):
            message = gdb.parse_and_eval(f"*(char **)({thrown} + sizeof(void *))").string(errors="replace")
        elif kinds and kinds[0] in SIMPLE:
            message = gdb.parse_and_eval(f"*({kinds[0]} *){thrown}").format_string()
    except (gdb.error, gdb.MemoryError):
        pass
    kind = kinds[0] if kinds else "C++ exception"
    return {"exceptionId": kind, "description": message, "breakMode": "always"}


def type_names(information):
    """The name of a `std::type_info`, and those of its first base classes."""
    names = []
    while information and len(names) < 20:
        name = symbol_at(information).partition("typeinfo for ")[2]
        if not name:
            break
        names.append(name)
        own = symbol_at(int(gdb.parse_and_eval(f"*(unsigned long *){information}")))
        # The one base of a `__si_class_type_info`, in the Itanium C++ ABI.
        is_derived = "__si_class_type_info" in own
        base = f"*(unsigned long *)({information} + 2 * sizeof(void *))"
        information = int(gdb.parse_and_eval(base)) if is_derived else 0
    return names


def symbol_at(address):
    text = gdb.execute(f"info symbol {address}", to_string=True)
    # A symbol of a library may have a version: `typeinfo for int@CXXABI_1.3`.
    return text.partition(" in section ")[0].partition(" + ")[0].partition("@")[0]
