"""Stops where an error leaves `main` or a test of Rust.

The operator `?` calls `FromResidual::from_residual` when it returns an error. In tests, the program stops there if the
function that returns is the outermost one of the user's. What the error went through before is remembered, to say where
it comes from.

It also stops behind a call whose result `main` or a test returns, if that is an error (`stillframe_calls`). In `main`, `?`
is one of them. The body of an asynchronous `main` is a future, which returns nothing as its result: there, the program
stops in the conversions that `?` calls.

And it stops where `main` or a test itself makes the error that it returns: at `return Err(…)`, at a block that ends with
`Err(…)`, and in `anyhow`, which `bail!` and `ensure!` call.
"""

import json
import re

import lldb
import stillframe_calls
import stillframe_rust
import stillframe_rust_enums
from stillframe_names import LIBRARY, is_library, return_type, without_hash
from stillframe_stops import deciding, passes
from stillframe_values import line_at, text_of

CONVERSION = "from_residual"
# What `?` calls where there is no error.
OF_OPTION = "<core::option::Option<"
# What is in a function, such as its closures.
INSIDE = re.compile(r"::(\{|_\$u7b\$).*$")
TEST = re.compile(r"(^|[:<])test::__rust_begin_short_backtrace")
# A place with more errors that are handled is left alone: each costs the program half a millisecond.
MOST = 1000

# A function that returns a result, as a test or as `main`: what is before its body.
RETURNS = r"\s*\(\s*\)\s*->[^{;]*Result[^{;]*\{"
HEAD = re.compile(r"#\[(?:\w+::)*test\b[^]]*\](?:\s*#\[[^]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)" + RETURNS)
MAIN_HEAD = re.compile(r"^(?:async\s+)?fn\s+(main)" + RETURNS, re.MULTILINE)
MAIN = re.compile(r"^\w+::main$")
# The future that an asynchronous `main` is, for which it calls a runtime.
ASYNC_MAIN = re.compile(r"^async\s+fn\s+main\b", re.MULTILINE)
BODY = re.compile(r"^\w+::main::(\{\{closure\}\}|\{(?:closure|async_\w+)#0\}|_\$u7b\$\$u7b\$closure\$u7d\$\$u7d\$)$")
MANGLED_BODY = r"4main(28_|0)"
POLL = "core::task::poll::Poll<core::result::Result<"
# An error that is returned: not a pattern, and not an argument.
MADE = re.compile(r"(?:\breturn|[{};]|=>)\s*(Err\s*\()")
PATTERN = re.compile(r"\s*(=>|=[^=]|\||if\b)")
MACRO = re.compile(r"\b(bail|ensure)!")
MAKERS_CALLED = re.compile(r"(anyhow|eyre)\b.*(construct|from_adhoc|from_display|from_msg|format_err|msg)")
MAKERS = r"^(anyhow|eyre)::error::.*::(construct|from_adhoc|from_display|from_msg)"

hits = {}
# The numbers of all breakpoints here, and of those where errors are made.
numbers = set()
makers = set()
# By the number of the breakpoint after it: the line of a call whose result is returned.
calls = {}
# The functions that have returned an error.
left = set()
# By thread: the text of the error that a call has returned.
texts = {}
# By thread: the caller of the last function that returned an error, and where that error was first returned.
last = {}


def function_of(frame):
    """The function of the user's that a frame is in; none for code of a library."""
    if is_library(frame.GetLineEntry().GetFileSpec()):
        return None
    return INSIDE.sub("", without_hash(frame.GetFunctionName()))


def place_of(frame):
    entry = frame.GetLineEntry()
    return function_of(frame), f"{entry.GetFileSpec().fullpath}:{entry.GetLine()}"


@deciding
def returned(frame, location, _extra, _internal):
    """LLDB's callback: whether to stop."""
    thread = frame.GetThread()
    here = thread.GetFrameAtIndex(1)
    function = function_of(here)
    if function is None:
        return False
    caller = next((outer for outer in list(thread)[2:] if function_of(outer) not in (None, function)), None)
    before, origin = last.pop(thread.GetThreadID(), (None, None))
    origin = origin if before == place_of(here) else place_of(here)
    if caller is None and (is_body_of(here) or is_below_test(list(thread)[2:])):
        last[thread.GetThreadID()] = None, origin if origin != place_of(here) else None
        left.add(function)
        return True
    if caller is not None:
        last[thread.GetThreadID()] = place_of(caller), origin
    count = hits[location.GetID()] = hits.get(location.GetID(), 0) + 1
    if count == MOST:
        location.SetEnabled(False)
    return False


@deciding
def made(frame, location, _extra, _internal):
    """LLDB's callback where an error is made: whether it is one that the test at the bottom of the stack returns."""
    thread = frame.GetThread()
    here = next((frame for frame in thread if function_of(frame)), None)
    if here is None or (here.GetFrameID() != frame.GetFrameID() and not MACRO.search(line_of(here))):
        return False
    outer = list(thread)[here.GetFrameID() + 1:]
    if any(function_of(frame) not in (None, function_of(here)) for frame in outer):
        return False
    last.pop(thread.GetThreadID(), None)
    # One line may be several places in the machine code.
    if function_of(here) in left or not is_outermost(here, outer):
        return False
    left.add(function_of(here))
    return True


def is_outermost(here, outer):
    """Whether a function is `main`, or the test at the bottom of a stack."""
    if MAIN.search(without_hash(here.GetFunctionName())) or is_body_of(here):
        return True
    return is_below_test(outer)


def is_below_test(outer):
    """Whether the frames around a function are those of the code that runs tests."""
    return any(TEST.search(frame.GetFunctionName() or "") for frame in outer)


@deciding
def converted(frame, _location, _extra, _internal):
    """LLDB's callback in a conversion: whether it is for an asynchronous `main`, which returns its result."""
    here = frame.GetThread().GetFrameAtIndex(1)
    if not is_body_of(here):
        return False
    left.add(function_of(here))
    return True


def is_body_of(frame):
    return is_body(frame.GetThread().GetProcess().GetTarget(), frame.GetFunction())


def is_body(target, function):
    """Whether a function is the body of an asynchronous `main`."""
    is_named_so = BODY.search(without_hash(function.GetName()))
    if not is_named_so or not (return_type(target, function).GetName() or "").startswith(POLL):
        return False
    return ASYNC_MAIN.search(text_of(function.GetStartAddress().GetLineEntry().GetFileSpec().fullpath)) is not None


@deciding
def called(frame, location, _extra, _internal):
    """LLDB's callback after a call: whether the result that is returned is an error."""
    function, thread = function_of(frame), frame.GetThread()
    if function in left:
        return False
    value = stillframe_calls.result_of(frame)
    if value is None or stillframe_rust_enums.variant_name(value.GetNonSyntheticValue()) != "Err":
        return False
    left.add(function)
    # What `?` converts is known by its fields.
    residual = frame.FindVariable("residual")
    texts[thread.GetThreadID()] = text_of_error(residual if residual.IsValid() else value)
    line = calls.get(location.GetBreakpoint().GetID())
    before, origin = last.pop(thread.GetThreadID(), (None, None))
    path = frame.GetLineEntry().GetFileSpec().fullpath
    last[thread.GetThreadID()] = None, origin if before == (function, f"{path}:{line}") else None
    return True


def line_of(frame):
    entry = frame.GetLineEntry()
    return line_at(entry.GetFileSpec().fullpath, entry.GetLine())


def heads_of(text, head):
    """The functions in a source that return a result: each name, and the lines where an error is returned."""
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), text)
    for found in head.finditer(code):
        end = end_of(code, found.end())
        lines = [
            code.count("\n", 0, made.start(1)) + 1
            for made in MADE.finditer(code, found.end() - 1, end)
            if not PATTERN.match(code, end_of(code, made.end(), "()"))
        ]
        yield found.group(1), lines


def end_of(code, at, brackets="{}"):
    """Behind the bracket that closes the one before `at`."""
    depth = 1
    while depth and at < len(code):
        depth += (code[at] == brackets[0]) - (code[at] == brackets[1])
        at += 1
    return at


def sources(target):
    """The sources of the user's that the program is built of."""
    units = target.GetModuleAtIndex(0).compile_units
    files = {unit.GetSupportFileAtIndex(at).fullpath for unit in units for at in range(unit.GetNumSupportFiles())}
    return sorted(path for path in files if path and not LIBRARY.search(path))


def functions_named(target, name, path):
    """The functions of this name in a source."""
    for found in target.FindFunctions(name, lldb.eFunctionNameTypeBase):
        function = found.GetFunction()
        if function.IsValid() and function.GetStartAddress().GetLineEntry().GetFileSpec().fullpath == path:
            yield function


def calls_in(target, function, is_main):
    """The calls in a function whose result it returns: where each returns to, its line, and whether it makes an error."""
    # After `?`, a function may still have to find out which of its variables are there.
    returned = CONVERSION if is_main else None
    for called_function, address, place in stillframe_calls.last_calls(target, function, returned):
        name = called_function.GetName() or ""
        if is_main and MAKERS_CALLED.search(name) and MACRO.search(line_at(place.GetFileSpec().fullpath, place.GetLine())):
            yield address, place.GetLine(), True
        elif stillframe_calls.returns_like(target, called_function, function) and (is_main or CONVERSION not in name):
            yield address, place.GetLine(), False


def stop(debugger, where, result, _internal):
    """Stop at such errors in `main` or, too, in tests, or nowhere, and print the numbers of the breakpoints."""
    target = debugger.GetSelectedTarget()
    for number in numbers:
        target.BreakpointDelete(number)
    numbers.clear()

    def add(breakpoint, callback, known):
        breakpoint.SetScriptCallbackFunction(f"stillframe_errors.{callback}", lldb.SBStructuredData())
        known.add(breakpoint.GetID())
        numbers.add(breakpoint.GetID())

    def add_functions(path, head):
        for name, lines in heads_of(text_of(path), head):
            for line in lines:
                add(target.BreakpointCreateByLocation(path, line), "made", makers)
            for function in functions_named(target, name, path):
                for address, line, makes in calls_in(target, function, head is MAIN_HEAD):
                    breakpoint = target.BreakpointCreateBySBAddress(address)
                    calls[breakpoint.GetID()] = line
                    add(breakpoint, "made" if makes else "called", makers if makes else set())

    if where.strip():
        for path in mains(target):
            add_functions(path, MAIN_HEAD)
        for address in conversions(target) if where.strip() == "main" else ():
            add(target.BreakpointCreateBySBAddress(address), "converted", set())
    if where.strip() == "tests":
        breakpoint = target.BreakpointCreateByRegex(CONVERSION)
        for location in breakpoint.locations:
            address = location.GetAddress()
            is_inlined = address.GetBlock().GetContainingInlinedBlock().IsValid()
            symbol = address.GetSymbol().GetName() or ""
            if is_inlined or CONVERSION not in symbol or symbol.startswith(OF_OPTION):
                location.SetEnabled(False)
        add(breakpoint, "returned", set())
        add(target.BreakpointCreateByRegex(MAKERS), "made", makers)
        for path in sources(target):
            add_functions(path, HEAD)
    for number in sorted(numbers):
        result.AppendMessage(f"breakpoint {number}")


def mains(target):
    """The sources of the functions that may be the program's `main` and return a result."""
    functions = (found.GetFunction() for found in target.FindFunctions("main", lldb.eFunctionNameTypeBase))
    return {
        function.GetStartAddress().GetLineEntry().GetFileSpec().fullpath
        for function in functions
        if function.IsValid() and MAIN.search(without_hash(function.GetName()))
    }


def conversions(target):
    """Where the conversions begin that the bodies of asynchronous functions `main` call."""
    functions = (found.GetFunction() for found in target.FindGlobalFunctions(MANGLED_BODY, 0, lldb.eMatchTypeRegex))
    called_functions = {
        called_function.GetStartAddress().GetFileAddress(): called_function
        for function in functions
        if function.IsValid() and is_body(target, function)
        for called_function in stillframe_calls.callees(target, function)
        if CONVERSION in (called_function.GetName() or "")
    }
    for called_function in called_functions.values():
        address = called_function.GetStartAddress()
        address.OffsetAddress(called_function.GetPrologueByteSize())
        yield address


def describe(debugger, _command, result, _internal):
    """Print the type and text of the error at which the program has stopped, as JSON after a marker."""
    thread = debugger.GetSelectedTarget().GetProcess().GetSelectedThread()
    frame = thread.GetFrameAtIndex(0)
    number = stopped_at(thread)
    if number in makers:
        text = ""
    elif number in calls:
        text = texts.get(thread.GetThreadID(), "")
        if calls[number] != frame.GetLineEntry().GetLine():
            text += f" (returned by the call in line {calls[number]})"
    elif CONVERSION in (frame.GetFunctionName() or ""):
        text = text_of_error(frame.FindVariable("residual"))
    else:
        return
    _, origin = last.get(thread.GetThreadID(), (None, None))
    if origin:
        text += f" (first returned by `{origin[0]}` at {origin[1]})"
    result.AppendMessage("thrown " + json.dumps(["error", text]))


def text_of_error(result):
    text = stillframe_rust.text(result, 0, stillframe_rust.LONGEST) or ""
    return re.sub(r"^Err\((.*)\)$", r"\1", text, flags=re.DOTALL)


def stopped_at(thread):
    """The number of the breakpoint that a thread has stopped at."""
    is_breakpoint = thread.GetStopReason() == lldb.eStopReasonBreakpoint
    return thread.GetStopReasonDataAtIndex(0) if is_breakpoint else None


def __lldb_init_module(debugger, _internal):
    for name in ("stop", "describe", "passes"):
        debugger.HandleCommand(f"command script add -s current -f stillframe_errors.{name} stillframe-errors-{name}")
