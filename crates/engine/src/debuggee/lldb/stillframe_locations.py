"""Disables locations of a breakpoint at which its line has already been hit.

LLDB breaks at the first instruction of a line in each block of variables, and a macro such as Rust's `println!` has
several blocks inside each other on one line. Each time the line runs, all of them are reached, one after the other. Of
these, the first remains. A location also stays if the program comes to it from another line, as to the part of a `for`
that takes the next item, or again and again, as in a loop on one line.

An async function of Rust is two functions: one that makes the future, and the body, which is entered at each resumption.
The first has the line that declares the function, the body has all others. LLDB may break in the body only where a future
is resumed: then another breakpoint is set where the line begins.

LLDB also breaks before the parameters of a function of C or C++ have their values, if the whole function is on one line;
and in a library, if the body of a function begins with code of the library that is compiled into it, such as `Box::new`.
"""

import json
import re

from stillframe_names import is_library, return_type, without_hash

# In instructions, each of which takes 50 µs.
LONGEST = 10_000
ADDRESS = re.compile(r"0x([0-9a-f]+)$")
# Those after which the next instruction does not run, on x86-64 and on ARM64.
ENDS = {"jmp", "jmpq", "ret", "retq", "ud2", "b", "br", "brk", "udf"}
CALLS = {"call", "callq", "bl", "blr"}
CLOSURE = re.compile(r"::(\{\{closure|\{closure|_\$u7b\$\$u7b\$closure)")
POLLED = re.compile(r"^core::task::poll::Poll<")
# Of rustc, with the code that drops the variables of a line that has not come to its end.
DROP = re.compile(r"^core::ptr::drop_in_place")

# How many locations each breakpoint had when it was last examined.
examined = {}
# The breakpoints that are set where the line of another one begins, with the number of that one.
others_of = {}
# Where these are, by the numbers of the breakpoints that LLDB shows in a library.
places = {}


class Flow:
    """The instructions of a function that run before each one. What comes to one through a table is not known."""

    def __init__(self, target, function):
        self.target, self.function, self.module = target, function, function.GetStartAddress().GetModule()
        self.before, self.after_call, self.ends = {}, {}, []
        # A future that is polled again comes to its function's declaration, and by a table to where it waits.
        self.is_polled = is_polling(target, function)
        self.declared = line_of(function.GetStartAddress()) if self.is_polled else 0
        instructions = function.GetInstructions(target)
        count = instructions.GetSize()
        for index in range(count if count <= LONGEST else 0):
            self.add(instructions.GetInstructionAtIndex(index))

    def add(self, instruction):
        address = file_address(instruction.GetAddress())
        following, name = address + instruction.GetByteSize(), instruction.GetMnemonic(self.target)
        if name in CALLS or instruction.DoesBranch():
            self.ends.append(address)
        if name in CALLS:
            self.after_call[following] = address
        elif name not in ENDS:
            self.before.setdefault(following, []).append(address)
        if name not in CALLS and instruction.DoesBranch():
            to = ADDRESS.search(instruction.GetOperands(self.target))
            if to:
                self.before.setdefault(self.linked(int(to.group(1), 16)), []).append(address)

    def linked(self, address):
        """An address in a loaded program as it is in the file."""
        found = self.target.ResolveLoadAddress(address)
        return file_address(found) if found.GetSection().IsValid() else address

    def comes(self, start, end):
        """Whether no branch between two instructions leads elsewhere. Jumps do where a panic continues."""
        for instruction in self.function.GetInstructions(self.target):
            is_branch = instruction.DoesBranch() and instruction.GetMnemonic(self.target) not in CALLS | ENDS
            if is_branch and start <= file_address(instruction.GetAddress()) < end:
                to = ADDRESS.search(instruction.GetOperands(self.target))
                if to is None or not start <= self.linked(int(to.group(1), 16)) <= end:
                    return False
        return True

    def entries(self):
        """Where lines begin."""
        unit = self.function.GetStartAddress().GetCompileUnit()
        start, end = file_address(self.function.GetStartAddress()), file_address(self.function.GetEndAddress())
        for index in range(unit.GetNumLineEntries()):
            address = file_address(unit.GetLineEntryAtIndex(index).GetStartAddress())
            if start <= address < end:
                yield address

    def line(self, address):
        return line_of(self.module.ResolveFileAddress(address))

    def leading(self, address):
        """The instructions that run before one. A call before one that jumps lead to, on another line, may not return."""
        found = self.before.get(address, [])
        call = self.after_call.get(address)
        returns = call is not None and (not found or self.line(call) == self.line(address))
        return [*found, call] if returns else found

    def arrival(self, address, others):
        """How the program comes to a location: `fresh` from another line or in a loop on its line, `continued` only from
        others on its line, or `resumed` in a future."""
        lines = {self.line(address), self.declared, 0}
        is_continued, seen, waiting = False, set(), [address]
        while waiting:
            for before in self.leading(waiting.pop()):
                if before == address:
                    return "fresh"
                if before in others:
                    is_continued = True
                elif before not in seen:
                    if self.line(before) not in lines:
                        return "fresh"
                    seen.add(before)
                    waiting.append(before)
        return "continued" if is_continued else "resumed" if self.is_polled else "fresh"


    def bound(self, address, others):
        """Where the names in the pattern of a closure's parameter have their values: of the locations that come after
        this one with no call and no branch between, the last."""
        if CLOSURE.search(self.function.GetName() or ""):
            reached = [other for other in others if other > address and not any(address <= end < other for end in self.ends)]
            return max(reached, default=address)
        return address


def file_address(address):
    return address.GetFileAddress()


def line_of(address):
    """The line of the function itself, where code of another one is inlined."""
    line = address.GetLineEntry().GetLine()
    block = address.GetBlock().GetContainingInlinedBlock()
    while block.IsValid():
        line = block.GetInlinedCallSiteLine()
        block = block.GetParent().GetContainingInlinedBlock()
    return line


def groups(locations):
    """The locations of each function, and of each place that a function was inlined at."""
    found = {}
    for location in locations:
        address = location.GetAddress()
        function = address.GetFunction()
        inlined = address.GetBlock().GetContainingInlinedBlock()
        begin = file_address(inlined.GetRangeStartAddress(0)) if inlined.IsValid() else None
        found.setdefault((file_address(function.GetStartAddress()), begin), (function, []))[1].append(location)
    return list(found.values())


def reduce(target, flow, locations):
    """Leave the first of the locations that are reached one after the other."""
    places = {file_address(location.GetAddress()): location for location in locations}
    arrivals = {address: flow.arrival(address, places.keys() - {address}) for address in sorted(places)}
    kept = [address for address, arrival in arrivals.items() if arrival == "fresh"]
    # The code of a future begins where it is polled first.
    kept = kept or [address for address, arrival in arrivals.items() if arrival == "resumed"][:1]
    bound = [flow.bound(address, places) for address in kept]
    for address, location in places.items():
        location.SetEnabled(address in bound or not kept)
    if flow.is_polled and not any(arrivals[address] == "fresh" for address in kept):
        begin(target, flow, locations)


def begin(target, flow, locations):
    """Break where a line of a future begins, if LLDB only does where it is resumed."""
    line = line_of(locations[0].GetAddress())
    entries = [address for address in flow.entries() if flow.line(address) == line]
    fresh = [address for address in entries if flow.arrival(address, set(entries) - {address}) == "fresh"]
    if not fresh or line == flow.declared:
        return
    for location in locations:
        location.SetEnabled(False)
    other = target.BreakpointCreateBySBAddress(flow.module.ResolveFileAddress(min(fresh)))
    others_of[other.GetID()] = locations[0].GetBreakpoint().GetID()


def pass_entry(target, location):
    """Break after the code that stores a function's parameters, which LLDB does not find if the function is on one line:
    before it they have other values."""
    address = location.GetAddress()
    start, body = address.GetFunction().GetStartAddress(), body_of(address.GetFunction())
    if location.IsEnabled() and body is not None and file_address(address) == file_address(start):
        location.SetEnabled(False)
        others_of[target.BreakpointCreateBySBAddress(body).GetID()] = location.GetBreakpoint().GetID()


def leave_library(breakpoint, target, location, locations):
    """Break where a function's own code begins after that of a library, if the breakpoint has no location there."""
    address = location.GetAddress()
    entry, start = address.GetLineEntry(), address.GetFunction().GetStartAddress()
    is_first = file_address(address) == file_address(start) + address.GetFunction().GetPrologueByteSize()
    is_inside = is_first and address.GetBlock().GetContainingInlinedBlock().IsValid() and is_library(entry.GetFileSpec())
    own = start.GetLineEntry().GetFileSpec()
    if not location.IsEnabled() or not is_inside or is_library(own):
        return
    if entry.GetFileSpec().GetFilename() in str(breakpoint):
        # It is the requested line.
        return
    flow = Flow(target, address.GetFunction())
    after = [flow.module.ResolveFileAddress(at) for at in sorted(flow.entries()) if at > file_address(address)]
    mine = [at for at in after if at.GetLineEntry().GetFileSpec() == own and at.GetLineEntry().GetLine()]
    begin = min(mine, key=lambda at: line_of(at) != line_of(address), default=None)
    if begin is not None and flow.comes(file_address(address), file_address(begin)):
        location.SetEnabled(False)
        places[breakpoint.GetID()] = own.fullpath, begin.GetLineEntry().GetLine()
        if all(other.GetAddress() not in mine for other in locations):
            others_of[target.BreakpointCreateBySBAddress(begin).GetID()] = breakpoint.GetID()


def body_of(function):
    """Where a function on one line has stored its parameters; none for one that LLDB enters after that."""
    entry = function.GetStartAddress().GetLineEntry()
    behind = entry.GetEndAddress()
    is_inside = file_address(behind) < file_address(function.GetEndAddress())
    is_unknown = function.GetPrologueByteSize() == 0
    return behind if is_unknown and is_inside and line_of(behind) == entry.GetLine() else None


def entry(debugger, _command, result, _internal):
    """Print `before` and a command that runs the rest of it, if the selected frame has not stored its parameters."""
    target = debugger.GetSelectedTarget()
    address = target.GetProcess().GetSelectedThread().GetFrameAtIndex(0).GetPCAddress()
    function = address.GetFunction()
    body = body_of(function) if function.IsValid() else None
    if body is not None and file_address(address) < file_address(body):
        rest = (at for at in function.GetInstructions(target) if at.GetAddress().GetFileAddress() < file_address(body))
        count = sum(at.GetAddress().GetFileAddress() >= file_address(address) for at in rest)
        result.AppendMessage(f"before `thread step-inst -c {count}")


def separate(target, locations):
    """Leave each line of an async function to one of its two functions."""
    names = {location.GetID(): function_name(location) for location in locations}
    for maker in locations:
        function = maker.GetAddress().GetFunction()
        if "{async_fn_env#" not in returned(target, function):
            continue
        bodies = tuple(names[maker.GetID()] + inside for inside in ("::{", "::_$u7b$"))
        body = [other for other in locations if names[other.GetID()].startswith(bodies)]
        is_declaration = line_of(maker.GetAddress()) == line_of(function.GetStartAddress())
        for location in body if is_declaration else [maker] if body else []:
            location.SetEnabled(False)


def leave_start(breakpoint, used):
    """Leave the `main` of the user's, and not the one that rustc makes for the C library, which calls it."""
    if any(function_name(location).endswith("::main") for location in used):
        for location in breakpoint.locations:
            address = location.GetAddress()
            if not address.GetFunction().IsValid() and address.GetSymbol().GetName() == "main":
                location.SetEnabled(False)


def is_polling(target, function):
    """Whether a function is the body of an async function."""
    return POLLED.match(returned(target, function)) is not None


def returned(target, function):
    return return_type(target, function).GetName() or ""


def function_name(location):
    return without_hash(location.GetAddress().GetFunction().GetName())


def once(debugger, _command, result, _internal):
    """Disable them in all breakpoints of the program. Prints the breakpoints that stand for others, and where those of
    them are that LLDB shows elsewhere, each as JSON after a marker."""
    target = debugger.GetSelectedTarget()
    forget(target)
    for breakpoint in [target.GetBreakpointAtIndex(index) for index in range(target.GetNumBreakpoints())]:
        count = breakpoint.GetNumLocations()
        if examined.get(breakpoint.GetID()) == count or breakpoint.GetID() in others_of:
            continue
        examined[breakpoint.GetID()] = count
        locations = [location for location in breakpoint.locations if location.GetAddress().GetFunction().IsValid()]
        used = [location for location in locations if not DROP.match(function_name(location))]
        leave_start(breakpoint, used)
        if used:
            for location in locations:
                location.SetEnabled(not DROP.match(function_name(location)))
        for function, group in groups(used):
            if len(group) > 1 or is_polling(target, function):
                reduce(target, Flow(target, function), group)
        separate(target, used)
        for location in used:
            pass_entry(target, location)
            leave_library(breakpoint, target, location, used)
    result.AppendMessage("others " + json.dumps(list(others_of.items())))
    result.AppendMessage("places " + json.dumps(list(places.items())))


def forget(target):
    """Remove those whose breakpoint is gone."""
    for number, of in list(others_of.items()):
        if not target.FindBreakpointByID(of).IsValid():
            target.BreakpointDelete(number)
            places.pop(others_of.pop(number), None)


def __lldb_init_module(debugger, _internal):
    debugger.HandleCommand("command script add -s current -f stillframe_locations.once stillframe-once")
    debugger.HandleCommand("command script add -s current -f stillframe_locations.entry stillframe-entry")
