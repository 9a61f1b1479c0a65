"""Opens core dumps together with the memory that the kernel leaves out of them, because it is as in the files that were
mapped there: constants and texts, for which LLDB reads zeros."""

import collections
import os
import shutil
import struct
import tempfile

import lldb

Segment = collections.namedtuple("Segment", "kind flags offset address physical stored size alignment")
LAYOUT = "<IIQQQQQQ"
# The types of segments that are loaded and of those with notes, and of the note with the files that were mapped.
LOADED, NOTES, FILES = 1, 4, 0x46494C45
READABLE, PAGE = 4, 4096


def opened(debugger, path, result, _internal):
    error, target, is_async = lldb.SBError(), debugger.GetSelectedTarget(), debugger.GetAsync()
    debugger.SetAsync(False)
    try:
        with open(path, "rb") as dump, tempfile.NamedTemporaryFile(prefix="stillframe-") as whole:
            is_whole = completed(dump, whole, target.GetExecutable().fullpath)
            target.LoadCore(whole.name if is_whole else path, error)
    except (OSError, struct.error):
        target.LoadCore(path, error)
    debugger.SetAsync(is_async)
    if error.Fail():
        result.SetError(error)


def completed(dump, whole, program):
    """Copies a dump, with what it leaves out after it. False if it lacks nothing that is known, or its end."""
    header = bytearray(read(dump, 0, 64))
    (table,), (step, count) = struct.unpack_from("<Q", header, 32), struct.unpack_from("<HH", header, 54)
    segments = [Segment(*struct.unpack(LAYOUT, read(dump, table + at * step, 56))) for at in range(count)]
    if max(one.offset + one.stored for one in segments) > dump.seek(0, os.SEEK_END):
        return False
    missing = list(left_out(dump, segments, program))
    if not missing:
        return False
    dump.seek(0)
    shutil.copyfileobj(dump, whole, 1 << 20)
    for segment, path, start in missing:
        with open(path, "rb") as file:
            rest = read(file, start + segment.stored, segment.size - segment.stored)
        content = read(dump, segment.offset, segment.stored) + rest
        found = segment._replace(offset=written(whole, content), stored=len(content))
        segments = [one for one in segments if one != segment] + [found]
    struct.pack_into("<Q", header, 32, written(whole, b"".join(struct.pack(LAYOUT, *one) for one in segments)))
    struct.pack_into("<HH", header, 54, struct.calcsize(LAYOUT), len(segments))
    whole.seek(0)
    whole.write(header)
    whole.flush()
    return True


def left_out(dump, segments, program):
    """The segments that a dump does not have, or not whole, with the files that they are in, and where."""
    loaded, known = {one.address: one for one in segments if one.kind == LOADED}, {}
    for address, end, start, path in mappings(dump, segments):
        # gdb leaves out the segments, too.
        segment = loaded.get(address, Segment(LOADED, READABLE, 0, address, 0, 0, end - address, PAGE))
        if start == 0:
            known[path] = source(read(dump, segment.offset, min(segment.stored, PAGE)), [path, program])
        if segment.stored < segment.size and known.get(path):
            yield segment, known[path], start


def written(file, content):
    """Writes to the end of a file; where that is."""
    end = file.seek(-file.seek(0, os.SEEK_END) % PAGE, os.SEEK_CUR)
    file.write(content)
    return end


def read(file, at, length):
    file.seek(at)
    return file.read(length)


def source(start, paths):
    """The first of these files that is a program or a library with this start, in which its build ID is."""
    for path in paths if start.startswith(b"\x7fELF") else ():
        try:
            with open(path, "rb") as file:
                if file.read(len(start)) == start:
                    return path
        except OSError:
            continue
    return None


def mappings(dump, segments):
    """Where files were mapped, to which end, from where in the file, and which."""
    for segment in segments:
        notes, at = read(dump, segment.offset, segment.stored) if segment.kind == NOTES else b"", 0
        while at < len(notes):
            name, length, kind = struct.unpack_from("<III", notes, at)
            text = at + 12 + (name + 3) // 4 * 4
            if kind == FILES:
                count, unit = struct.unpack_from("<QQ", notes, text)
                names_at = text + 16 + 24 * count
                ranges = struct.iter_unpack("<QQQ", notes[text + 16 : names_at])
                names = notes[names_at:].split(b"\0")
                return [(at, end, page * unit, os.fsdecode(path)) for (at, end, page), path in zip(ranges, names)]
            at = text + (length + 3) // 4 * 4
    return []


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -f stillframe_dumps.opened stillframe-dump")
