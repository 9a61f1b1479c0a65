//! Every time limit, in one table.

use std::time::Duration;

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// How long a call waits for the next stop unless it says otherwise. Clients cut calls at 30 to 60 s, so
/// it stays below.
pub const WAIT: Duration = ms(20_000);
/// The longest wait that can be requested. Clients that receive progress wait this long.
pub const LONGEST_WAIT: Duration = ms(600_000);
/// How long a pause waits for the program to stop unless it says otherwise. A program that is blocked in
/// the operating system does not stop, and the answer says so.
pub const PAUSE: Duration = ms(2_000);
/// How long a call waits for a program to start, even with a shorter timeout: the reason why a program does not start
/// is worth more than an immediate answer.
pub const START: Duration = ms(5_000);
/// How long a call waits for the debugger to acknowledge a resume, even with a shorter timeout.
pub const ACKNOWLEDGE: Duration = ms(1_000);
/// How long an expression may take unless it says otherwise.
pub const EVALUATE: Duration = ms(5_000);
/// How long the condition on an exception may take.
pub const CONDITION: Duration = ms(2_000);
/// How long a watched expression may take at a stop.
pub const WATCH: Duration = ms(250);
/// How long values may be read at a stop to compare them with those of an earlier one.
pub const COMPARE: Duration = ms(10);
/// How long all watched expressions together may take at a stop.
pub const WATCHES: Duration = ms(1_000);

/// How long the user of an MCP client may take to allow a call.
pub const CONFIRMATION: Duration = ms(300_000);
/// How long an MCP client may take to list its roots.
pub const ROOTS: Duration = ms(10_000);

/// From what came back of a trigger until a stop that follows from it is no longer waited for.
pub const TRIGGERED: Duration = ms(300);
/// How long a step is waited for before the program is asked whether it has left the code of the user.
pub const LEFT: Duration = ms(300);

/// A request that the debugger answers from what it has.
pub const REQUEST: Duration = ms(5_000);
/// From a thread's stop until the debugger has reported those of all threads that have stopped with it.
pub const TOGETHER: Duration = ms(1_000);
/// How long a change to breakpoints waits at a stop: a process that waits for its stopped child does not answer.
pub const SIBLINGS: Duration = ms(100);
/// A request that may run the program's own code, as reading values does.
pub const READ: Duration = ms(10_000);
/// What each child of a page adds to [`READ`]: lldb-dap 19 takes 0.4 ms for one on an idle machine.
pub const READ_CHILD: Duration = ms(2);
/// A heap snapshot: a second or so for each 100 MB of the program's objects.
pub const SNAPSHOT: Duration = ms(40_000);
/// How much longer than the debuggee's own limit we wait for the answer to an evaluation.
pub const EVALUATE_GRACE: Duration = ms(2_500);
/// How long a program that should react is left alone before it gets a signal, and between two signals.
pub const NUDGE: Duration = ms(200);
/// From spawning a program until it connects.
pub const CONNECT: Duration = ms(30_000);
/// From the request to launch until the program is there, while an adapter may build it.
pub const LAUNCH: Duration = ms(600_000);
/// From the request to attach until the adapter is in the program. LLDB uses the CPU for 3 s to read the symbols of Node.js,
/// and the program may die by a signal if LLDB is ended meanwhile.
pub const ATTACH: Duration = ms(120_000);
/// How long a process is held until a debugger traces it, which is before the debugger reads symbols.
pub const HELD: Duration = ms(30_000);
/// From the answer to `launch` until `initialized`. An adapter that keeps silent for longer never sends it.
pub const INITIALIZED: Duration = ms(2_000);
/// From a refusal of `configurationDone` until that of `launch`, which says why.
pub const REFUSAL: Duration = ms(500);
/// Building a program from its sources before it is started.
pub const BUILD: Duration = ms(600_000);
/// From the end of the helper that gets into a running process until that process connects.
pub const INJECT: Duration = ms(5_000);
/// A short helper process, such as the one that reads a source file.
pub const HELPER: Duration = ms(10_000);
/// Installing a debugger from the network.
pub const INSTALL: Duration = ms(180_000);

/// From a program's exit until its pipes are empty. Something that it left behind may hold them open.
pub const DRAIN: Duration = ms(300);
/// From a program's end until a child that it started a moment before has connected.
pub const CHILD: Duration = ms(1_000);
/// How much longer that may take on a busy machine, where the child waits for a processor.
pub const QUEUED: Duration = ms(10_000);
/// From the close of a program's connection until it is known how it ended, or that it keeps running.
pub const LEAVING: Duration = ms(1_500);
/// The interval of checks of a process that is becoming another program.
pub const EXEC: Duration = ms(1);
/// The interval of checks of something that does not report its end.
pub const LOOK: Duration = ms(20);
/// The interval of checks whether the parent process is alive, where the system does not report its end.
#[cfg(all(unix, not(target_os = "linux")))]
pub const PARENT: Duration = ms(1_000);
/// The interval of checks whether a running program is there. One that is gone in two of them, between which its debugger
/// reports nothing, has ended.
pub const UNNOTICED: Duration = ms(2_500);
/// How long a program is given to say that it runs. One that native code keeps from saying so runs all the same.
pub const RUN: Duration = ms(1_000);
/// How long a program may take to report its activity. A program that does not respond is reported without it.
pub const ACTIVITY: Duration = ms(300);
/// A polite word to the debugger before it is cut off.
pub const GOODBYE: Duration = ms(500);
/// From the end of a killed server until its debuggers have detached from programs that are not ours. lldb-dap 19 takes
/// 0.4 s on an idle machine.
pub const DETACH: Duration = ms(5_000);
/// From the end of a client's connection until debugpy's adapter has forgotten the client. Of 200 that came again at
/// once 3 were too early, of 200 that came after 20 ms none, at a load of three for each processor.
pub const FORGET: Duration = ms(100);
/// From the kill signal until a process is gone.
pub const KILL: Duration = ms(1_000);
