"""Which code is recorded, if files, modules or functions were named."""

import os

# One name in each line: an absolute path, or what files, modules and functions may be called.
VARIABLE = "STILLFRAME_RECORD_ONLY"

PACKAGES = {"site-packages", "dist-packages"}


class Chosen:
    def __init__(self):
        self.names = [name for name in os.environ.get(VARIABLE, "").split("\n") if name]
        self.folder = os.path.realpath(os.getcwd()) + os.sep if self.names else None
        self.files, self.functions = {}, {}

    def has(self, code):
        """Whether a code object of the program is recorded."""
        if not self.names or self.has_file(code.co_filename):
            return True
        # Before Python 3.11, a method does not have the name of its class.
        is_qualified = hasattr(code, "co_qualname")
        name = code.co_qualname if is_qualified else code.co_name
        found = self.functions.get(name)
        if found is None:
            dotted = ".%s." % name.replace("<locals>.", "")
            wanted = self.names if is_qualified else [each.rpartition(".")[2] for each in self.names]
            found = self.functions[name] = any(".%s." % each in dotted for each in wanted)
        return found

    def has_file(self, path):
        """Whether a file, or a module that it is part of, was named."""
        found = self.files.get(path)
        if found is None:
            real = os.path.realpath(path)
            found = self.files[path] = any(self.is_in(real, name) for name in self.names)
        return found

    def is_in(self, real, name):
        if os.path.isabs(name):
            # Packages that are installed in a folder do not belong to it.
            inside = real[len(name):] if (real + os.sep).startswith(name + os.sep) else None
            return inside is not None and not PACKAGES & set(inside.split(os.sep))
        parts = os.path.splitext(real)[0].split(os.sep)
        wanted = (name[:-3] if name.endswith(".py") else name.replace(".", os.sep)).split(os.sep)
        if PACKAGES & set(parts):
            begin = 1 + max(at for at, part in enumerate(parts) if part in PACKAGES)
            return parts[begin:][:len(wanted)] == wanted
        if real.startswith(self.folder):
            parts = parts[self.folder.count(os.sep):]
        return any(parts[at:at + len(wanted)] == wanted for at in range(len(parts)))
