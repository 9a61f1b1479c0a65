"""Where the entries of a hash map or a hash set of Rust are, by the control bytes of its table."""

# How many bytes are read at once.
BLOCK = 1 << 16
# The control byte of a place without an entry has this bit.
UNUSED = 0x80


class Places:
    """The numbers of the places of a table that are in use, which are found as far as they are requested. `read` gives some
    control bytes, by the number of the first one."""

    def __init__(self, read, count):
        self.read, self.count = read, count
        self.found, self.at = [], 0

    def __getitem__(self, index):
        while len(self.found) <= index and self.at < self.count:
            size = min(BLOCK, self.count - self.at)
            block = self.read(self.at, size)
            self.found += [self.at + number for number, control in enumerate(block) if control < UNUSED]
            self.at += size
        return self.found[index]


def may_be_table(mask, items):
    """Whether a table can have this mask and this many entries: the number of its places is a power of two."""
    return mask & (mask + 1) == 0 and items <= mask
