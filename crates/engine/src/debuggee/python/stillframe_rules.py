"""The rules of breakpoints: conditions, hit counts and log messages, applied where pydevd calls `hit`."""

import dis
import functools
import itertools
import json
import operator
import re
import sys
import time

import stillframe_state as state
from stillframe_debugger import debugger, send_event, thread_id
from stillframe_errors import message_of
from stillframe_limits import Interrupted, limited
from stillframe_modules import load
from stillframe_types import class_name, class_order, is_a

COMPARE = {
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda count, every: count % every == 0,
}

# The first failure is reported at once, later ones in batches, and the rest at each stop and at the end.
FAILURE_PAUSE = 0.1

# How long a condition or log message may take, in seconds.
RULE_LIMIT = 1.0

# The rules of each location, with their owners; see `define`.
places = {}
known_rules = {}

# Idents of threads that have hit a breakpoint, and are not suspended yet.
about_to_stop = set()

# For each thread, the ID of the frame of a generator or coroutine function that it has entered, but whose first line it
# has not reached; see `stop_at_first_line`.
entered = {}


class Rule:
    def __init__(self, number, condition, hit, message, record, function):
        self.number = number
        self.key = (condition, hit, message, record, function)
        # The only one whose code it applies to, or None.
        self.function = function
        self.condition = compile(condition.strip(), "<condition>", "eval", dont_inherit=True) if condition else None
        self.compare, self.count = (COMPARE[hit[0]], hit[1]) if hit else (None, None)
        self.message = load("stillframe_messages").log_code(message) if message else None
        self.passes = itertools.count(1)
        self.failures = 0
        self.failure = ""
        self.last_report = 0.0
        self.record = load("stillframe_recorder").Record(self, condition, record) if record else None

    def applies(self, names):
        """Whether the rule acts at this hit; counts it if its condition is true."""
        if self.condition is not None and not limited(RULE_LIMIT, eval, self.condition, names):
            return False
        return self.compare is None or self.compare(next(self.passes), self.count)

    def failed(self, error):
        self.failures += 1
        self.failure = message_of(error)
        if time.monotonic() - self.last_report >= FAILURE_PAUSE:
            self.report_failures()

    def report_failures(self):
        times, self.failures = self.failures, 0
        if times:
            self.last_report = time.monotonic()
            send_event("failed", id=self.number, message=self.failure, times=times)


def report_failures():
    for rule in list(known_rules.values()):
        rule.report_failures()


def define(request):
    """Set the rules of a location. The condition that pydevd evaluates there calls `hit`. Rules of a function
    breakpoint have an owner: the class of a method, or an empty string."""
    report_failures()
    place, groups = json.loads(request)
    places[place] = [(owner, rule_of(*rule)) for owner, rules in groups for rule in rules]


def rule_of(number, *key):
    """Keep an unchanged rule with its hit count: changing one breakpoint sets all of them again."""
    known = known_rules.get(number)
    if known is None or known.key != key:
        known = known_rules[number] = Rule(number, *key)
    return known


def hit(place):
    """Whether to stop. pydevd's condition calls this with the globals of the frame at the breakpoint, which identify
    that frame."""
    evaluation = sys._getframe(1)
    frame = evaluation.f_back
    while frame is not None and frame.f_globals is not evaluation.f_globals:
        frame = frame.f_back
    return reached(place, evaluation if frame is None else frame)


def reached(place, frame):
    """Apply the rules of a location, and of the function that begins there, to a frame that has reached it, and report
    hits. True to stop."""
    enters = any(owner is not None for owner, _ in places.get(place, ()))
    stop = apply_rules(place, frame)
    changed, changes = state.watching(frame) if state.watching is not None else ((), ())
    stop.extend(changed)
    if entered.get(state.threading.get_ident()) == id(frame):
        del entered[state.threading.get_ident()]
        by_name = debugger().function_breakpoint_name_to_breakpoint.get(frame.f_code.co_name)
        stop += apply_rules(place_of(by_name), frame) if by_name is not None else []
    if stop:
        about_to_stop.add(state.threading.get_ident())
        report_hit(stop, enters and len(stop) > len(changed), changes)
    return bool(stop)


def report_hit(ids, enters=False, changes=()):
    """Report the breakpoints at which this thread stops next; none if it continued instead."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    send_event("hit", ids=ids, thread=BaseSchema._translate_id_to_dap(thread_id()), enters=enters, changes=list(changes))


def apply_rules(place, frame):
    """The rules of a location that stop a frame that has reached it."""
    records = records_at(place, frame.f_code)
    if records:
        sys.modules["stillframe_recorder"].reached(place, frame, records)
        return []
    rules = rules_for(place, frame.f_code)
    if not rules or is_back_in_statement(frame):
        return []
    names = dict(frame.f_globals)
    names.update(frame.f_locals)
    stop = []
    for owner, rule in rules:
        if owner and not is_method_of(owner, names):
            continue
        try:
            if rule.record is not None:
                rule.record.passed(frame)
                continue
            if not rule.applies(names):
                continue
            if rule.message is None:
                stop.append(rule.number)
            else:
                send_event("logged", id=rule.number, text=limited(RULE_LIMIT, eval, rule.message, names))
        except Interrupted:
            rule.failed(TimeoutError("it took longer than %g s" % RULE_LIMIT))
        except BaseException as error:
            rule.failed(error)
    return stop


def rules_for(place, code):
    """The rules of a location that apply to code there: the line of a function can also be that of its definition."""
    rules = places.get(place, ())
    return [(owner, rule) for owner, rule in rules if rule.function is None or rule.function == code.co_name]


def records_at(place, code):
    """The records of a location in code, or None if other rules apply there too."""
    rules = rules_for(place, code)
    records = [rule.record for owner, rule in rules if owner is None and rule.record is not None]
    return records if len(records) == len(rules) else None


def place_of(breakpoint):
    """The location number of one of pydevd's breakpoints, or None if it is not ours."""
    match = re.search(r"\.hit\((\d+)\)$", str(breakpoint.condition))
    return int(match.group(1)) if match else None


def rules_at(breakpoint):
    return [rule.number for _, rule in places.get(place_of(breakpoint), ())]


def is_method_of(owner, names):
    """Whether the function at the breakpoint is a method of a class of that name, judging by `self` or `cls`."""
    first = names.get("self", names.get("cls"))
    kind = first if is_a(first, type) else type(first)
    wanted = owner.rpartition(".")[2]
    return any(class_name(each) == wanted for each in class_order(kind))


def is_back_in_statement(frame):
    """Whether a frame has returned to the first line of a multiline statement: a call with arguments on separate lines
    ends where it began. That is not another hit."""
    return frame.f_lasti in ways_back_in(frame.f_code)


def ways_back_in(code):
    """The offsets at which code returns to the first line of a statement."""
    known = ways_back.get(code)
    if known is None:
        try:
            known = find_ways_back(code)
        except Exception:
            # Without readable source, each line event counts.
            known = ()
        ways_back[code] = known
    return known


ways_back = {}


def find_ways_back(code):
    """The offsets at which a line is entered from a later line of the same statement."""
    starts = [(offset, line) for offset, line in dis.findlinestarts(code) if line is not None]
    lines = [line for _, line in starts]
    if len(lines) == len(set(lines)):
        return ()
    ends = last_lines_of_statements(code.co_filename)
    found, seen = set(), set(lines[:1])
    for (_, before), (offset, line) in zip(starts, starts[1:]):
        # A literal may evaluate its items before it reaches its own first line.
        if line in seen and line < before <= ends.get(line, line):
            found.add(offset)
        seen.add(line)
    return frozenset(found)


@functools.lru_cache(maxsize=None)
def last_lines_of_statements(file):
    """The last line of the statement that begins on each line; for a compound statement, of its header."""
    import ast
    import tokenize

    with tokenize.open(file) as source:
        tree = ast.parse(source.read())
    ends = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            end = node.end_lineno if not body else first_line(body[0]) - 1
            ends[node.lineno] = max(end, ends.get(node.lineno, 0))
    return ends


def first_line(node):
    marks = [mark.lineno for mark in getattr(node, "decorator_list", ())]
    return min(marks + [getattr(node, "lineno", None) or node.pattern.lineno])
