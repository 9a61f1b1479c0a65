"""What LLDB and GDB record at breakpoints while the program runs: at which hits, and how rows are written.

A `Hit` of the debugger evaluates: it has `pid` and `thread`, and the methods `met`, `cell` and `comparable`. What it cannot
evaluate by itself raises `Left`: the hit is left to the client, which sees a stop.
"""

import json
import os
import re
import signal
import time

# Messages of errors are not cut below this.
LONG_MESSAGE = 8192
# The client cuts texts, after it has removed addresses and paths of types from them.
ROOM = 1000
FALSE = {"false", "nullptr", r"'\0'"}

# Open pipes, by path.
pipes = {}


class Left(Exception):
    """The client has to evaluate it."""


class Place:
    """What is recorded at a breakpoint, and when it also stops: at each hit, or where one of the conditions may be true."""

    def __init__(self, given, known):
        self.stops, self.conditions = given["stops"], given["conditions"]
        known = {rule.given["id"]: rule for rule in known.rules} if known else {}
        rules = (known.get(rule["id"]) for rule in given["records"])
        self.rules = [
            old if old is not None and old.given == rule else Rule(rule) for old, rule in zip(rules, given["records"])
        ]

    def record(self, hit):
        """Records a hit. The rules that are left to the client."""
        return [rule.given["id"] for rule in self.rules if not rule.passed(hit)]

    def may_stop(self, hit):
        return self.stops or any(is_left(hit, condition) for condition in self.conditions)


class Rule:
    def __init__(self, given):
        self.given = given
        self.hits = 0
        self.rows = 0
        self.last = None
        self.is_left = False

    def passed(self, hit):
        """Record a hit. False if it is left to the client."""
        try:
            return not self.is_left and self.take(hit)
        except Left:
            self.is_left = True
            return False

    def take(self, hit):
        given = self.given
        if given["condition"] is not None:
            is_met = hit.met(given["condition"])
            if not is_met:
                return is_met is False
        self.hits += 1
        if self.rows >= given["most"] or (self.hits - 1) % given["every"]:
            return self.count(hit)
        at = time.time() * 1000
        cells = [hit.cell(expression, given["limit"]) for expression in given["expressions"]]
        if given["changes"]:
            compared = [hit.comparable(*cell, given["limit"]) for cell in cells]
            if compared == self.last:
                return self.count(hit)
            self.last = compared
        self.rows += 1
        write(given["pipe"], [given["id"], self.hits, at, hit.pid, hit.thread, cells])
        return True

    def count(self, hit):
        """Report a hit without a row."""
        write(self.given["pipe"], {"id": self.given["id"], "writer": f"{hit.pid}/0", "hits": self.hits})
        return True


def is_left(hit, condition):
    """Whether the client has to evaluate a condition, because it is true, or cannot be evaluated here."""
    try:
        return hit.met(condition) is not False
    except Left:
        return True


def is_true(text):
    text = text.strip()
    return text not in FALSE and any(letter not in "0." for letter in re.sub("^(0x)+", "", text))


def error(message):
    """The cell of an expression that fails."""
    return [None, message[:LONG_MESSAGE]]


def cell(kind, text, limit):
    return [kind, text[: limit + ROOM]]


def placed(text, before):
    """The places that a client asks for, by number, with what is known of those before. Their pipes are open."""
    wanted = {place["number"]: place for place in json.loads(text)}
    paths = {rule["pipe"] for place in wanted.values() for rule in place["records"]}
    for path in pipes.keys() - paths:
        os.close(pipes.pop(path))
    for path in paths - pipes.keys():
        # Fails without a reader.
        pipes[path] = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(pipes[path], True)
    return {number: Place(place, before.get(number)) for number, place in wanted.items()}


def write(path, line):
    descriptor = pipes.get(path)
    if descriptor is None:
        return
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # A byte that is not UTF-8 comes as a surrogate.
    data = re.sub("[\ud800-\udfff]", "\ufffd", text).encode() + b"\n"
    # A reader that is gone must not end the debugger.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
    try:
        os.write(descriptor, data)
    except BrokenPipeError:
        signal.sigtimedwait([signal.SIGPIPE], 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
