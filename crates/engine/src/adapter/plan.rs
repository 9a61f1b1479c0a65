//! What to run and how to connect to it: plain data, made by an adapter and carried out by a debugger.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::deadlines;
use crate::model::launch::Stdin;
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::process::ProcessSpec;

mod cdp;
mod expressions;
mod sampling;
mod stops;

pub use cdp::{CdpSetup, CdpWire, Entry};
pub use expressions::{Comparison, Deciding, Other};
pub use sampling::{HolderRecord, LockSearch, StackSampling, StackWait};
pub use stops::{RefusedLines, SimultaneousStops, ThreadOfCalls};

/// What to run and how to connect to it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Plan {
    /// By the Debug Adapter Protocol.
    Dap {
        /// How to connect.
        transport: Transport,
        /// What to send on the connection.
        setup: DapSetup,
    },
    /// By the inspector protocol.
    Cdp {
        /// How to connect.
        wire: CdpWire,
        /// The rest.
        setup: CdpSetup,
    },
}

impl Plan {
    /// The command line that it begins with, unless the program runs already.
    pub fn process(&self) -> Option<&ProcessSpec> {
        match self {
            Self::Dap { transport: Transport::Stdio(process), .. }
            | Self::Dap { transport: Transport::Spawn { process, .. }, .. }
            | Self::Dap { transport: Transport::Listen { process: Some(process), .. }, .. }
            | Self::Dap { transport: Transport::Dbgp { process, .. }, .. }
            | Self::Cdp { wire: CdpWire::Announced(process), .. } => Some(process),
            Self::Dap { .. } | Self::Cdp { .. } => None,
        }
    }
}

/// How to connect to an adapter. Every process that is started for it belongs to the session's process group.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// The adapter is started, and speaks on its standard input and output.
    Stdio(ProcessSpec),
    /// The adapter is started, and listens.
    Spawn {
        /// The adapter. [`ADDRESS`] in its arguments is a placeholder for the address to listen on.
        process: ProcessSpec,
        /// What it prints before the `HOST:PORT` where it listens, at the beginning of a line; none when it
        /// listens at the address in its arguments.
        announces: Option<&'static str>,
        /// It is the program too, so that its end is the program's.
        is_program: bool,
    },
    /// An adapter, or a program with one inside, listens.
    Connect {
        /// Name or address of its machine.
        host: String,
        /// Its port.
        port: u16,
    },
    /// The program, and each of its children, connects to us and serves the protocol.
    Listen {
        /// The program to start; none if it is already running. [`ADDRESS`] in its arguments is a placeholder for our
        /// address, and [`TOKEN`] for the secret that it then sends.
        process: Option<ProcessSpec>,
        /// A helper that makes a running program connect to us, with the same places.
        injector: Option<ProcessSpec>,
    },
    /// The program, and each of its children, connects to us and speaks DBGp, which is translated.
    Dbgp {
        /// The program, with the places of [`Transport::Listen`] and [`PORT`].
        process: ProcessSpec,
        /// It is a server: it connects with each request that it serves, not when it starts.
        serves: bool,
    },
}

/// A placeholder for our address in a plan: `HOST:PORT` for [`Transport::Listen`] and [`Transport::Spawn`], the path
/// of a pipe for [`CdpWire::Announced`].
pub const ADDRESS: &str = "{address}";

/// A placeholder for the port alone, for [`Transport::Spawn`] and [`Transport::Dbgp`].
pub const PORT: &str = "{port}";

/// A placeholder for the secret with which the program proves that it is the one we started, for
/// [`Transport::Listen`].
pub const TOKEN: &str = "{token}";

/// Puts our address where the plan says so.
pub fn addressed(spec: ProcessSpec, address: &str) -> ProcessSpec {
    filled(spec, ADDRESS, address)
}

/// Puts something where the plan says so.
pub fn filled(mut spec: ProcessSpec, place: &str, with: &str) -> ProcessSpec {
    for argument in &mut spec.args {
        if let Some(text) = argument.to_str().filter(|text| text.contains(place)) {
            *argument = OsString::from(text.replace(place, with));
        }
    }
    for value in spec.env.values_mut().flatten() {
        if value == place {
            with.clone_into(value);
        }
    }
    spec
}

/// What an adapter of the Debug Adapter Protocol needs to know, and what we need to know of it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct DapSetup {
    /// The name that `initialize` takes.
    pub adapter_id: &'static str,
    /// Whether the program is launched or attached to. Its children are attached to, unless the adapter requests otherwise.
    pub request: StartRequest,
    /// The arguments of that request.
    pub arguments: Map<String, Value>,
    /// What the program reads, where the adapter has us start it.
    pub stdin: Stdin,
    /// Changes to the program's environment, where the adapter has us start it; none removes a variable.
    pub env: BTreeMap<String, Option<String>>,
    /// `HOST:PORT` of what is attached to, which the connector fills in.
    pub remote: Option<String>,
    /// A stop at a breakpoint that is not ours is the entry of the program.
    pub stops_on_entry: bool,
    /// Its process numbers are this machine's.
    pub is_local: bool,
    /// Steps that end in a library continue until they have left it.
    pub leaves_libraries: bool,
    /// The machine-code file that runs, if the adapter knows it.
    pub binary: Option<PathBuf>,
    /// Why breakpoints do not bind in that file, such as missing debug information.
    pub no_code: Option<String>,
    /// It is a crash dump: nothing of it can run.
    pub is_dump: bool,
    /// The signal by which the program of a crash dump ended, where the adapter does not report it.
    pub dump_signal: Option<i32>,
    /// Where the adapter departs from the specification.
    pub quirks: &'static Quirks,
}

impl DapSetup {
    /// For a program of this machine without input, whose steps leave libraries, and of which no more is known.
    pub fn new(
        adapter_id: &'static str,
        request: StartRequest,
        arguments: Map<String, Value>,
        quirks: &'static Quirks,
    ) -> Self {
        Self {
            adapter_id,
            request,
            arguments,
            stdin: Stdin::Empty,
            env: BTreeMap::new(),
            remote: None,
            stops_on_entry: false,
            is_local: true,
            leaves_libraries: true,
            binary: None,
            no_code: None,
            is_dump: false,
            dump_signal: None,
            quirks,
        }
    }
}

/// The request that starts debugging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartRequest {
    /// The adapter starts the program, and ends it with the session.
    Launch,
    /// The program is already running, and keeps running when we disconnect.
    Attach,
}

/// Defines [`Quirks`] and its default, from a list of the fields with theirs.
macro_rules! quirks {
    ($($(#[$about:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// Where an adapter departs from the specification, or fills in what it leaves open. The default is an adapter
        /// that does neither.
        #[derive(Clone, Debug)]
        pub struct Quirks {
            $($(#[$about])* pub $name: $type,)*
        }

        impl Quirks {
            /// An adapter that follows the specification.
            pub const NONE: Self = Self { $($name: $default,)* };
        }
    };
}

quirks! {
    /// It sends `initialized` when breakpoints may be set. One that never does is configured after its answer to
    /// `launch` or `attach`.
    sends_initialized: bool = true;
    /// How long it may take to answer `configurationDone`.
    configured_within: Duration = deadlines::REQUEST;
    /// How to start a program so that its debugger accepts connections, for messages.
    listens: &'static str = "an adapter that listens at `host` and `port`";
    /// Functions that every exception passes. A breakpoint there is a stop at an exception.
    exception_functions: fn(ExceptionMode) -> &'static [&'static str] = |_| &[];
    /// A command of the debugger that prints the type and the message of an exception that is being thrown, as JSON
    /// in a line after `thrown `.
    exception_command: Option<&'static str> = None;
    /// A command of the debugger that also stops the program where an error leaves it or a test, and prints the number
    /// of each breakpoint after `breakpoint `. It replaces what it has done before.
    errors_command: Option<fn(ExceptionMode) -> &'static str> = None;
    /// A command of the debugger that takes a thread which has stopped at one of these breakpoints, and prints `passes` if
    /// that is only because another thread has stopped at the same time.
    passing_error_command: Option<&'static str> = None;
    /// A command of the debugger that takes the path of a function which the debugger does not find, and prints each name
    /// by which it finds it after `function `.
    functions_command: Option<&'static str> = None;
    /// A command of the debugger that completes what it does when breakpoints are set. With numbers and the name of a file, it
    /// instead prints those that are bound in another file.
    breakpoints_command: Option<&'static str> = None;
    /// A command of the debugger that records values at breakpoints while the program runs; see `dap/recording.rs`.
    record_command: Option<&'static str> = None;
    /// The descriptions of stops that may be at a breakpoint which the debugger inserts or removes in that moment, or at
    /// a throw that was reported, and a command that takes the thread and prints `missed` if it is.
    missed_command: Option<(&'static [&'static str], &'static str)> = None;
    /// Of several breakpoints at the same code, it reports one; a command that takes the thread and prints all of them.
    hits_command: Option<&'static str> = None;
    /// The last exception in what the program has printed to its standard error.
    printed_exception: fn(&str) -> Option<Exception> = |_| None;
    /// The name of a function, without what the compiler adds.
    function: fn(&str) -> String = str::to_owned;
    /// The name of a variable; none for one that the compiler has made.
    variable: fn(&str) -> Option<&str> = |name| Some(name);
    /// The name of a variable that one of an inner block hides, by the name that the adapter gives it; none if it is not
    /// shown. Variables come from the outermost block in. Without it, the adapter lists no name twice.
    shadowed: Option<fn(&str) -> Option<&str>> = None;
    /// A type and the text of a value, as the language writes them.
    value: fn(&str, String) -> (String, String) = |kind, text| (kind.to_owned(), text);
    /// Its names for the exceptions to stop at.
    exception_filters: fn(ExceptionMode) -> &'static [&'static str] = |_| &[];
    /// The function that the program of the user begins with, where a stop on entry is a breakpoint there.
    entry_function: Option<&'static str> = None;
    /// Another name for a function that the adapter refuses to break at, by its message: one that means a single one.
    other_function: fn(&str, &str) -> Option<String> = |_, _| None;
    /// Other names for a function by which the adapter stops on the lines of its body, in their order, by the text of its
    /// source and the line where it stops otherwise: the first of them with code is used, if the adapter accepts it.
    function_body: fn(&str, &str, u32) -> Vec<String> = |_, _, _| Vec::new();
    /// What to do if the adapter refuses a breakpoint because its line has no code.
    refused_lines: Option<RefusedLines> = None;
    /// Whether a name is that of a closure, of an adapter that binds a breakpoint on a line in the closures that begin there,
    /// too.
    is_closure: Option<fn(&str) -> bool> = None;
    /// How many closures of that adapter's a function is in, by its name.
    closure_depth: fn(&str) -> usize = |_| 0;
    /// How many closures are around a line of a source on which another one begins; none if none does.
    closures_around: fn(&str, u32) -> Option<usize> = |_, _| None;
    /// The variables that have no value yet on a line of a source, whatever the adapter shows there.
    unset_variables: Option<fn(&str, u32) -> Vec<String>> = None;
    /// The name of a thread, without what the adapter adds.
    thread_name: fn(&str) -> String = str::to_owned;
    /// An expression that describes, in a thread's innermost frame, what the thread waits for; none for a running
    /// thread, which the adapter's name for it shows.
    wait_reason: fn(&str) -> Option<&'static str> = |_| None;
    /// What the value of that expression says; none of a thread that runs.
    wait_text: fn(&str) -> Option<String> = |_| None;
    /// A step into a library stops there, so that it is stepped out of.
    steps_into_libraries: bool = false;
    /// A step off the end of a function that a library has called, such as a closure, stops in that library.
    steps_out_into_libraries: bool = false;
    /// A command for a frame. At the code that stores the parameters of a function, where a step into one on a single line
    /// stops, it prints `before` and the command that runs that code.
    entry_command: Option<&'static str> = None;
    /// Commands with which a step over a place where a future has to wait ends after it.
    future_commands: Option<FutureCommands> = None;
    /// A command of the debugger by which a step ends in the handler of an exception; see `dap/catches.rs`.
    catches_command: Option<&'static str> = None;
    /// Whether a step from a line of a source goes back to another one because the first ends a function, and calls that
    /// are made there belong to the other.
    goes_back_at_end: Option<fn(&str, u32, u32) -> bool> = None;
    /// A pause may stop one of the runtime's own threads while the user's threads wait.
    pauses_anywhere: bool = false;
    /// A pause suspends all threads, and is reported for another one than was requested.
    ignores_paused_thread: bool = false;
    /// Whether a function handles signals on a stack of its own, so that the stack does not show what it interrupted.
    is_signal_handler: fn(&str) -> bool = |_| false;
    /// Whether a function is one of the compiler's own that runs before the program, and has a line of the user's, where
    /// it does not stop.
    is_start_function: Option<fn(&str) -> bool> = None;
    /// A value that must be read at each stop before others can be.
    read_first: Option<ReadFirst> = None;
    /// How to read exceptions whose message the adapter does not know.
    thrown_value: Option<ThrownValue> = None;
    /// Functions of the runner of tests and, in each, an expression for the name of the test that runs there.
    running_test: &'static [(&'static str, &'static str)] = &[];
    /// Whether the text of a stop says that a condition could not be evaluated, rather than that the program threw.
    is_bad_condition: fn(&str) -> bool = |_| false;
    /// The command that starts the program in our terminal, by the one that the adapter asks for.
    launcher: fn(Vec<String>) -> Vec<String> = |words| words;
    /// Whether the text of a stop, or the message of a failed evaluation, says that the process is gone.
    is_gone: fn(&str) -> bool = |_| false;
    /// The exceptions that stop the program can only be changed while it is suspended.
    filters_only_when_stopped: bool = false;
    /// The comparisons in an expression whose constants the adapter may not round as the language does.
    inexact_comparisons: fn(&str) -> Vec<Comparison> = |_| Vec::new();
    /// A comparison whose constant needs no rounding, by the values of its constant and of what is compared.
    exact_comparison: fn(&Comparison, &Deciding, &Deciding) -> Option<String> = |_, _, _| None;
    /// A condition for the adapter that is true wherever a breakpoint's is, which is evaluated again at a stop where
    /// [`Self::stops_at_bad_conditions`] is set; none if only that can be.
    native_condition: fn(&str) -> Option<String> = |condition| Some(condition.to_owned());
    /// Another spelling of an expression that the adapter refuses to evaluate, by its message and the value of
    /// `deciding_name` with the source: one that may change the program.
    other_expression: fn(&str, &str, &Deciding) -> Option<Other> = |_, _, _| None;
    /// The operands of a refused expression, by its message, that are to be evaluated one by one: the expression is true
    /// if all of one of the lists are. Empty if it has none.
    operands: fn(&str, &str) -> Vec<Vec<String>> = |_, _| Vec::new();
    /// A name in a refused expression, by its message, on whose value another spelling depends.
    deciding_name: fn(&str, &str) -> Option<String> = |_, _| None;
    /// A command of the debugger that takes a frame and an expression, and prints an expression that the adapter can
    /// evaluate for one that it cannot, or an error, as JSON in a line after `evaluated `.
    expression_command: Option<&'static str> = None;
    /// Whether the adapter itself evaluates each variable that is listed in a function of this name, without
    /// `expression_command`.
    has_own_names: fn(&str) -> bool = |_| false;
    /// A command of the debugger that takes a frame, and prints the name of each global variable that the frame's scopes
    /// list although the program does not have it, in a line after `removed `.
    removed_command: Option<&'static str> = None;
    /// Whether an expression runs code of the program whatever the context that it is evaluated in.
    is_call: fn(&str) -> bool = |_| false;
    /// Whether a breakpoint stops the program while an expression calls one of its functions, and the call with it.
    calls_stop_at_breakpoints: bool = false;
    /// In which thread such an expression has a result; none if in any.
    thread_of_calls: Option<ThreadOfCalls> = None;
    /// Whether such an expression has run although it was refused with this message, and has no result to be lost; else the
    /// message to show.
    has_run_without_result: fn(&str, String) -> Result<(), String> = |_, message| Err(message);
    /// The message of such an expression that was refused, with what the debugger cannot call.
    refused_call: fn(String) -> String = |message| message;
    /// Why the program may not use a value that was assigned.
    assignment_note: Option<&'static str> = None;
    /// How a program ended, by the `exitCode` of the event `exited`.
    end: fn(i64) -> End = |code| End::Exited(i32::try_from(code).unwrap_or(i32::MAX));
    /// Whether the message of a failed evaluation says that it took too long.
    is_timeout: fn(&str) -> bool = |_| false;
    /// Whether the message of a failed evaluation reports that code of the program has run for it.
    has_run: fn(&str) -> bool = |_| false;
    /// Whether the message about an expression or assignment in a crash dump says that it would run or change the
    /// program.
    needs_running: fn(&str) -> bool = |_| false;
    /// Whether the message of a failed evaluation reports an unknown name.
    is_unknown_name: fn(&str) -> bool = |_| false;
    /// What an adapter stops at by default is what nothing catches, and all that it offers is everything.
    default_filters: bool = false;
    /// How many numbered children a value of a type has, where the type says so and the value does not.
    length: fn(&str) -> Option<u64> = |_| None;
    /// Its own notes, in the category `console`, are not worth showing.
    mutes_console: bool = false;
    /// What it reports as the program's standard error is what it prints itself: the program's streams are ours.
    mutes_stderr: bool = false;
    /// The message of a refusal, without what the adapter puts around it.
    message: fn(&str) -> String = |text| text.to_owned();
    /// The exception of a stop, without what the adapter puts around it.
    exception: fn(Exception) -> Exception = |exception| exception;
    /// The references of a frame's scopes are valid until the scopes of another frame are requested.
    scopes_of_one_frame: bool = false;
    /// Variables are assigned to by evaluating an assignment, because `setVariable` accepts less than the language does.
    assigns_by_evaluating: bool = false;
    /// It accepts the time limit of an evaluation, as `timeout` in ms.
    bounds_evaluations: bool = false;
    /// Beginnings of lines that the program's runtime prints because it is debugged, and that are left out.
    muted: &'static [&'static str] = &[];
    /// The implementation of the rules knows which breakpoints were hit, if the event `stopped` does not list them.
    reports_hits: bool = false;
    /// A condition that cannot be evaluated stops the program.
    stops_at_bad_conditions: bool = false;
    /// Removing a breakpoint while the program runs can break it, so that the program is paused first.
    removes_only_when_stopped: bool = false;
    /// Its answers to a request for breakpoints on functions are in an order of its own.
    answers_functions_in_any_order: bool = false;
    /// It pauses a running program to change breakpoints, and reports that as a pause if a thread has come to a
    /// breakpoint meanwhile.
    pauses_for_breakpoints: bool = false;
    /// How it reports threads that stop at the same time.
    simultaneous_stops: SimultaneousStops = SimultaneousStops::None;
    /// It continues a step that a breakpoint of another thread has interrupted, and refuses other steps until then.
    keeps_steps: bool = false;
    /// It says how many frames there are only where it has sent the last, and otherwise too many.
    counts_sent_frames: bool = false;
    /// How long the program must have run when it is paused: sooner, the debugger may lose its threads.
    runs_before_pause: Duration = Duration::ZERO;
    /// What the program writes comes by a terminal, with CR LF for each line end.
    writes_crlf: bool = false;
    /// What the user has to know about a machine-code file before a stop in it.
    caution: fn(&Path) -> Option<String> = |_| None;
    /// It takes the longest text of a value (`text`, in characters), and reports the length of a text that it has cut
    /// (`textLength`). Without this, `textLength` is the length of a string, whose text is a literal.
    takes_limits: bool = false;
    /// An expression for the text of a value, as in a log message.
    as_text: fn(&str) -> String = |expression| expression.to_owned();
    /// An expression for whether a value counts as true.
    as_condition: fn(&str) -> String = |expression| expression.to_owned();
    /// It takes samples of a program that runs (`startSampling`, `activity`, `stopSampling`).
    samples: bool = false;
    /// How a program is sampled by pausing it; none if that is not done.
    stack_sampling: Option<StackSampling> = None;
    /// It describes assertions, and marks exceptions so that a test runner can refer to them (`thrown`).
    describes_throws: bool = false;
    /// The type of the error that a failed evaluation threw, by its message; empty where it has none.
    error_type: fn(&str) -> &str = |_| "";
    /// At an exception, the name of the exception in expressions is `error`.
    names_exception: bool = false;
    /// Whether the description of a stop with another reason is that of a pause.
    is_pause: fn(&str) -> bool = |_| false;
    /// How data breakpoints work where the protocol does not say it.
    data: DataQuirks = DataQuirks {
        refusal: None,
        command: None,
        covers: |outer, inner| outer == inner,
        is_stop: |_| false,
        frames: None,
        line_at: None,
    };
}

/// How data breakpoints work where the protocol does not say it.
#[derive(Clone, Copy, Debug)]
pub struct DataQuirks {
    /// Why nothing is watched, although the adapter offers it.
    pub refusal: Option<&'static str>,
    /// The debugger's command that finds storage, and reads it in any frame; none if the adapter does both. See
    /// `dap/data/storage.rs`.
    pub command: Option<&'static str>,
    /// Whether watching storage watches other storage, too, by the adapter's names for both.
    pub covers: fn(&str, &str) -> bool,
    /// Whether the description of a stop with another reason is that of a data breakpoint.
    pub is_stop: fn(&str) -> bool,
    /// How storage in a frame is known, to stop watching it when the function returns; none if the adapter does that.
    pub frames: Option<FrameQuirks>,
    /// A command that names the line of the code at an address, as `[START-END): FILE:LINE:COLUMN`.
    pub line_at: Option<fn(u64) -> String>,
}

/// How storage in a frame is known.
#[derive(Clone, Copy, Debug)]
pub struct FrameQuirks {
    /// The address in the adapter's name for the storage.
    pub address: fn(&str) -> Option<u64>,
    /// An expression for the end of a frame's storage.
    pub stack_pointer: &'static str,
    /// A command that stops where a function returns to: by that address and by the stack pointer before.
    pub at_return: fn(&str, u64) -> String,
    /// The adapter's number for the breakpoint, in the answer to that command.
    pub number: fn(&str) -> Option<i64>,
    /// A command that removes it.
    pub remove: fn(i64) -> String,
}

/// Commands of the debugger about a thread, by the adapter's number for it. See `dap/awaits.rs`.
#[derive(Clone, Copy, Debug)]
pub struct FutureCommands {
    /// Whether a function may be a future, by its name.
    pub may_be: fn(&str) -> bool,
    /// Remembers the future that a step begins in. Prints `future` if the frame is one.
    pub begin: &'static str,
    /// Breaks where that future is polled again, if it waits. Prints the number of the breakpoint after `waits `.
    pub wait: &'static str,
    /// Prints `polls` if the thread is where that future is polled again.
    pub polls: &'static str,
}

/// How the exception is read that a thread is throwing.
#[derive(Clone, Copy, Debug)]
pub struct ThrownValue {
    /// A function that every exception passes.
    pub function: &'static str,
    /// Expressions for the exception there, the best one first.
    pub expressions: &'static [&'static str],
}

/// A value that must be read before others can be. See `dap/first.rs`.
#[derive(Clone, Copy, Debug)]
pub struct ReadFirst {
    /// An expression for it.
    pub expression: &'static str,
    /// Whether values in a scope of this name may be read only after it.
    pub scope_may_lack: fn(&str) -> bool,
    /// Whether the text of another value, or the message of a refusal, says that something could not be read, or may be
    /// for that, or does not show all of the value.
    pub may_lack: fn(&str) -> bool,
}

/// Each adapter has a constant of its own.
impl PartialEq for Quirks {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
