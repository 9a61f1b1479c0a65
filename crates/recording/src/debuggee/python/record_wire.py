"""What a recording is written to while the program runs: files that are mapped into memory.

What is in them survives the program, however it ends, and costs no system call. They are read by `wire.rs`, which also
removes each file when it has read it.

A file is a sequence of 64-bit words. A record is a word with a tag in its lowest 5 bits and a number above, followed by
the words that its tag requires. The first word is written last, so that what is not 0 is complete. Python switches
threads only at calls and loops, so that the bodies of the methods below are atomic.
"""

import mmap
import os
import threading
import time

from record_accelerator import native

# Words of a file.
SIZE = 1 << 18
# How many files may be unread before the program waits.
MOST_UNREAD = 32
# After this many seconds without a reader, the recording ends.
PATIENCE = 10

# How many processes are recorded.
MOST_PROCESSES = 15

LINE, ENTER, LEAVE, UNWIND, THROW, SUSPEND, RESUME, THREAD = range(1, 9)
WRITE, TEXT, OBJECT, ATOM, CODE, PLACE, OUTPUT, NEXT, GAP = range(9, 18)

# A line's word has its place above the tag, and the number of the call above that.
CALL_SHIFT = 29
# A write has its owner in the lower half of a word, and the number of the call that made it in the upper.
BY_SHIFT = 32

# What a value is, in the lowest 3 bits of its word.
INTEGER, CONSTANT, ATOMIC, REFERENCE = range(1, 5)
NONE, TRUE, FALSE, ABSENT = (number << 3 | CONSTANT for number in range(4))

# What a key is, in the lowest 2 bits of its number.
NAME, INDEX, ITEM, LENGTH = range(4)

MASK = (1 << 64) - 1


def allocate(descriptor, start, length):
    os.ftruncate(descriptor, start + length)


class Counters:
    """What the accelerator has as fields."""

    def __init__(self):
        self.texts = {}
        self.number = -1
        self.position = 0
        # How many calls have begun, and objects have numbers.
        self.calls = self.objects = 0
        # The number of the call that makes the changes, for the upper half of a word.
        self.by = 0
        self.words = None


def claimed(segments):
    """A number that no other process of the run has; None if there are too many."""
    for number in range(MOST_PROCESSES):
        try:
            os.close(os.open("%s-stream-%d" % (segments, number), os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            return number
        except FileExistsError:
            pass
        except OSError:
            return None
    try:
        # Its length says how many others there are.
        with open(segments + "-others", "ab") as others:
            others.write(b".")
    except OSError:
        pass
    return None


class Wire(native.Wire if native else Counters):
    """Writes records. Numbers of texts, objects and so on are given out here."""

    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix
        # Called when the recording is no longer read. What is written from then on is lost.
        self.on_lost = None
        self.is_lost = False
        self.turn = threading.Lock()
        self.number = -1
        self.bytes = None
        self.advance(-1)

    def abandon(self):
        """Write to memory that is not read from now on, in a process that has the same files mapped as another one."""
        self.is_lost, self.on_lost = True, None
        self.turn = threading.Lock()
        self.advance(self.number)

    def path(self, number):
        return "%s-%d" % (self.prefix, number)

    def advance(self, left):
        """Continue in the next file, unless another thread has done so since `left` was the current one."""
        with self.turn:
            if self.number != left:
                return
            number = self.number + 1
            file = self.new_file(self.path(number)) if not self.is_lost and self.has_reader() else None
            if file is None and not self.is_lost:
                self.is_lost = True
                if self.on_lost is not None:
                    self.on_lost()
            view = memoryview(file or mmap.mmap(-1, SIZE * 8))
            self.bytes = view
            # In this order, because other threads use them.
            words = view.cast("Q")
            self.words, self.number, self.position = words, number, 0

    def new_file(self, path):
        """A file that is mapped; None if there is no space for it."""
        try:
            descriptor = os.open(path + ".new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        try:
            # Without its space, writing to it could kill the program later.
            getattr(os, "posix_fallocate", allocate)(descriptor, 0, SIZE * 8)
            file = mmap.mmap(descriptor, SIZE * 8)
            os.rename(path + ".new", path)
            return file
        except OSError:
            os.unlink(path + ".new")
            return None
        finally:
            os.close(descriptor)

    def has_reader(self):
        """Whether the recording is read. Waits for a reader that is behind."""
        oldest, closed = self.path(self.number - MOST_UNREAD), self.prefix + "-closed"
        until = time.monotonic() + PATIENCE
        while not os.path.exists(closed):
            if not os.path.exists(oldest):
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        return False

    def record(self, first, second=None, third=None):
        """Write a record of up to three words."""
        while True:
            at, number = self.position, self.number
            self.position = at + 3
            if at + 3 <= SIZE:
                if second is None:
                    self.position = at + 1
                elif third is None:
                    self.position = at + 2
                    self.words[at + 1] = second
                else:
                    self.words[at + 1] = second
                    self.words[at + 2] = third
                self.words[at] = first
                return
            self.leave(at, number)

    def leave(self, at, number):
        """The file is full from `at` on."""
        if at < SIZE and number == self.number:
            self.words[at] = NEXT
        self.advance(number)

    def blob(self, first, data, *words):
        """Write a record with some words and bytes."""
        length = len(data)
        need = 2 + len(words) + (length + 7) // 8
        while True:
            at, number = self.position, self.number
            self.position = at + need
            if at + need <= SIZE:
                view = self.words
                start = (at + need) * 8 - (length + 7) // 8 * 8
                self.bytes[start : start + length] = data
                view[at + 1] = length << 1 | 1
                for index, word in enumerate(words):
                    view[at + 2 + index] = word
                view[at] = first
                return
            self.leave(at, number)

    def gap(self, why):
        """Say why something is missing in the recording."""
        self.blob(GAP, why.encode("utf-8", "replace"))

    def text(self, text):
        """The number of a text, which is written when it is new."""
        number = self.texts.get(text)
        if number is None:
            number = len(self.texts) + 1
            self.texts[text] = number
            self.blob(number << 5 | TEXT, text.encode("utf-8", "replace"))
        return number
