"""Evaluations that end just around their limit, thousands of them, in the main thread and in another one.

    python agent_stress.py FOLDER_OF_THE_AGENT ROUNDS

Afterwards no exception may be on its way to anyone, the signal's handler is as it was, and every call has
either given its value or said that it was interrupted.
"""

import random
import signal
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])
import stillframe_limits as agent  # noqa: E402

rounds = int(sys.argv[2])
limit = 0.002
strays = []
bystander_over = threading.Event()


def spin(seconds):
    end = time.monotonic() + seconds
    turns = 0
    while time.monotonic() < end:
        turns += 1
    return "value"


def swallow(seconds):
    """User code that catches whatever comes, and goes on for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            while time.monotonic() < end:
                pass
        except BaseException:
            pass
    return "value"


def fail(seconds):
    spin(seconds)
    raise KeyError("own")


WORK = [spin, time.sleep, swallow, fail]


def one(random):
    work = random.choice(WORK)
    try:
        value = agent.limited(limit, work, limit * random.uniform(0.5, 1.5))
        return "value" if value in ("value", None) else repr(value)
    except agent.Interrupted:
        return "interrupted"
    except KeyError as error:
        return "own" if error.args == ("own",) else repr(error)


def many(seed, seen):
    generator = random.Random(seed)
    for _ in range(rounds):
        outcome = one(generator)
        seen[outcome] = seen.get(outcome, 0) + 1
        # What comes late would come here, in code that is nobody's evaluation.
        for _ in range(50):
            pass
    time.sleep(0.1)


def guarded(name, work, *arguments):
    try:
        work(*arguments)
    except BaseException as error:
        strays.append("%s: %r" % (name, error))


def stand_by():
    while not bystander_over.is_set():
        sum(range(100))


def handler(number, frame):
    """The program's own, to be found again afterwards."""


signal.signal(signal.SIGURG, handler)
outcomes = [{}, {}]
threads = [
    threading.Thread(target=guarded, args=("worker", many, 2, outcomes[1])),
    threading.Thread(target=guarded, args=("bystander", stand_by)),
]
for thread in threads:
    thread.start()
guarded("main", many, 1, outcomes[0])
threads[0].join()
bystander_over.set()
threads[1].join()

assert strays == [], strays
for seen in outcomes:
    assert set(seen) <= {"value", "interrupted", "own"}, seen
    assert seen.get("interrupted", 0) > 0 and seen.get("value", 0) > 0, seen
assert signal.getsignal(signal.SIGURG) is handler, signal.getsignal(signal.SIGURG)
assert not agent.clock.limits, agent.clock.limits
# Within a limit that is never reached nothing is ever raised.
assert agent.limited(60, spin, 0.05) == "value"
print("no strays")
