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
pub use stops::{RefusedLines, SimultaneousStops};

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

/// Where an adapter departs from the specification, or fills in what it leaves open. The default is an adapter that
/// does neither.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate departure")]
pub struct Quirks {
    /// It sends `initialized` when breakpoints may be set. One that never does is configured after its answer to
    /// `launch` or `attach`.
    pub sends_initialized: bool,
    /// How long it may take to answer `configurationDone`.
    pub configured_within: Duration,
    /// How to start a program so that its debugger accepts connections, for messages.
    pub listens: &'static str,
    /// Functions that every exception passes. A breakpoint there is a stop at an exception.
    pub exception_functions: fn(ExceptionMode) -> &'static [&'static str],
    /// A command of the debugger that prints the type and the message of an exception that is being thrown, as JSON
    /// in a line after `thrown `.
    pub exception_command: Option<&'static str>,
    /// A command of the debugger that also stops the program where an error leaves it or a test, and prints the number
    /// of each breakpoint after `breakpoint `. It replaces what it has done before.
    pub errors_command: Option<fn(ExceptionMode) -> &'static str>,
    /// A command of the debugger that takes a thread which has stopped at one of these breakpoints, and prints `passes` if
    /// that is only because another thread has stopped at the same time.
    pub passing_error_command: Option<&'static str>,
    /// A command of the debugger that takes the path of a function which the debugger does not find, and prints each name
    /// by which it finds it after `function `.
    pub functions_command: Option<&'static str>,
    /// A command of the debugger that completes what it does when breakpoints are set. With numbers and the name of a file, it
    /// instead prints those that are bound in another file.
    pub breakpoints_command: Option<&'static str>,
    /// A command of the debugger that records values at breakpoints while the program runs; see `dap/recording.rs`.
    pub record_command: Option<&'static str>,
    /// The descriptions of stops that may be at a breakpoint which the debugger inserts or removes in that moment, or at
    /// a throw that was reported, and a command that takes the thread and prints `missed` if it is.
    pub missed_command: Option<(&'static [&'static str], &'static str)>,
    /// The last exception in what the program has printed to its standard error.
    pub printed_exception: fn(&str) -> Option<Exception>,
    /// The name of a function, without what the compiler adds.
    pub function: fn(&str) -> String,
    /// The name of a variable; none for one that the compiler has made.
    pub variable: fn(&str) -> Option<&str>,
    /// The name of a variable that one of an inner block hides, by the name that the adapter gives it; none if it is not
    /// shown. Variables come from the outermost block in. Without it, the adapter lists no name twice.
    pub shadowed: Option<fn(&str) -> Option<&str>>,
    /// A type and the text of a value, as the language writes them.
    pub value: fn(&str, String) -> (String, String),
    /// Its names for the exceptions to stop at.
    pub exception_filters: fn(ExceptionMode) -> &'static [&'static str],
    /// The function that the program of the user begins with, where a stop on entry is a breakpoint there.
    pub entry_function: Option<&'static str>,
    /// Another name for a function that the adapter refuses to break at, by its message: one that means a single one.
    pub other_function: fn(&str, &str) -> Option<String>,
    /// Other names for a function by which the adapter stops on the lines of its body, in their order, by the text of its
    /// source and the line where it stops otherwise: the first of them with code is used, if the adapter accepts it.
    pub function_body: fn(&str, &str, u32) -> Vec<String>,
    /// What to do if the adapter refuses a breakpoint because its line has no code.
    pub refused_lines: Option<RefusedLines>,
    /// Whether a name is that of a closure, of an adapter that binds a breakpoint on a line in the closures that begin there,
    /// too.
    pub is_closure: Option<fn(&str) -> bool>,
    /// How many closures of that adapter's a function is in, by its name.
    pub closure_depth: fn(&str) -> usize,
    /// How many closures are around a line of a source on which another one begins; none if none does.
    pub closures_around: fn(&str, u32) -> Option<usize>,
    /// The variables that have no value yet on a line of a source, whatever the adapter shows there.
    pub unset_variables: Option<fn(&str, u32) -> Vec<String>>,
    /// The name of a thread, without what the adapter adds.
    pub thread_name: fn(&str) -> String,
    /// An expression that describes, in a thread's innermost frame, what the thread waits for; none for a running
    /// thread, which the adapter's name for it shows.
    pub wait_reason: fn(&str) -> Option<&'static str>,
    /// What the value of that expression says; none of a thread that runs.
    pub wait_text: fn(&str) -> Option<String>,
    /// A step into a library stops there, so that it is stepped out of.
    pub steps_into_libraries: bool,
    /// A step off the end of a function that a library has called, such as a closure, stops in that library.
    pub steps_out_into_libraries: bool,
    /// A command for a frame. At the code that stores the parameters of a function, where a step into one on a single line
    /// stops, it prints `before` and the command that runs that code.
    pub entry_command: Option<&'static str>,
    /// Commands with which a step over a place where a future has to wait ends after it.
    pub future_commands: Option<FutureCommands>,
    /// A command of the debugger by which a step ends in the handler of an exception; see `dap/catches.rs`.
    pub catches_command: Option<&'static str>,
    /// Whether a step from a line of a source goes back to another one because the first ends a function, and calls that
    /// are made there belong to the other.
    pub goes_back_at_end: Option<fn(&str, u32, u32) -> bool>,
    /// A pause may stop one of the runtime's own threads while the user's threads wait.
    pub pauses_anywhere: bool,
    /// A pause suspends all threads, and is reported for another one than was requested.
    pub ignores_paused_thread: bool,
    /// Whether a function handles signals on a stack of its own, so that the stack does not show what it interrupted.
    pub is_signal_handler: fn(&str) -> bool,
    /// Whether a function is one of the compiler's own that runs before the program, and has a line of the user's, where
    /// it does not stop.
    pub is_start_function: Option<fn(&str) -> bool>,
    /// A value that must be read at each stop before others can be.
    pub read_first: Option<ReadFirst>,
    /// How to read exceptions whose message the adapter does not know.
    pub thrown_value: Option<ThrownValue>,
    /// Functions of the runner of tests and, in each, an expression for the name of the test that runs there.
    pub running_test: &'static [(&'static str, &'static str)],
    /// Whether the text of a stop says that a condition could not be evaluated, rather than that the program threw.
    pub is_bad_condition: fn(&str) -> bool,
    /// The command that starts the program in our terminal, by the one that the adapter asks for.
    pub launcher: fn(Vec<String>) -> Vec<String>,
    /// Whether the text of a stop, or the message of a failed evaluation, says that the process is gone.
    pub is_gone: fn(&str) -> bool,
    /// The exceptions that stop the program can only be changed while it is suspended.
    pub filters_only_when_stopped: bool,
    /// The comparisons in an expression whose constants the adapter may not round as the language does.
    pub inexact_comparisons: fn(&str) -> Vec<Comparison>,
    /// A comparison whose constant needs no rounding, by the values of its constant and of what is compared.
    pub exact_comparison: fn(&Comparison, &Deciding, &Deciding) -> Option<String>,
    /// A condition for the adapter that is true wherever a breakpoint's is, which is evaluated again at a stop where
    /// [`Self::stops_at_bad_conditions`] is set; none if only that can be.
    pub native_condition: fn(&str) -> Option<String>,
    /// Another spelling of an expression that the adapter refuses to evaluate, by its message and the value of
    /// `deciding_name` with the source: one that may change the program.
    pub other_expression: fn(&str, &str, &Deciding) -> Option<Other>,
    /// The operands of a refused expression, by its message, that are to be evaluated one by one: the expression is true
    /// if all of one of the lists are. Empty if it has none.
    pub operands: fn(&str, &str) -> Vec<Vec<String>>,
    /// A name in a refused expression, by its message, on whose value another spelling depends.
    pub deciding_name: fn(&str, &str) -> Option<String>,
    /// A command of the debugger that takes a frame and an expression, and prints an expression that the adapter can
    /// evaluate for one that it cannot, or an error, as JSON in a line after `evaluated `.
    pub expression_command: Option<&'static str>,
    /// Whether the adapter itself evaluates each variable that is listed in a function of this name, without
    /// `expression_command`.
    pub has_own_names: fn(&str) -> bool,
    /// A command of the debugger that takes a frame, and prints the name of each global variable that the frame's scopes
    /// list although the program does not have it, in a line after `removed `.
    pub removed_command: Option<&'static str>,
    /// Whether an expression runs code of the program whatever the context that it is evaluated in.
    pub is_call: fn(&str) -> bool,
    /// Whether a breakpoint stops the program while an expression calls one of its functions, and the call with it.
    pub calls_stop_at_breakpoints: bool,
    /// Whether such an expression has run although it was refused with this message, and has no result to be lost; else the
    /// message to show.
    pub has_run_without_result: fn(&str, String) -> Result<(), String>,
    /// The message of such an expression that was refused, with what the debugger cannot call.
    pub refused_call: fn(String) -> String,
    /// Why the program may not use a value that was assigned.
    pub assignment_note: Option<&'static str>,
    /// How a program ended, by the `exitCode` of the event `exited`.
    pub end: fn(i64) -> End,
    /// Whether the message of a failed evaluation says that it took too long.
    pub is_timeout: fn(&str) -> bool,
    /// Whether the message of a failed evaluation reports that code of the program has run for it.
    pub has_run: fn(&str) -> bool,
    /// Whether the message about an expression or assignment in a crash dump says that it would run or change the
    /// program.
    pub needs_running: fn(&str) -> bool,
    /// Whether the message of a failed evaluation reports an unknown name.
    pub is_unknown_name: fn(&str) -> bool,
    /// What an adapter stops at by default is what nothing catches, and all that it offers is everything.
    pub default_filters: bool,
    /// How many numbered children a value of a type has, where the type says so and the value does not.
    pub length: fn(&str) -> Option<u64>,
    /// Its own notes, in the category `console`, are not worth showing.
    pub mutes_console: bool,
    /// What it reports as the program's standard error is what it prints itself: the program's streams are ours.
    pub mutes_stderr: bool,
    /// The message of a refusal, without what the adapter puts around it.
    pub message: fn(&str) -> String,
    /// The exception of a stop, without what the adapter puts around it.
    pub exception: fn(Exception) -> Exception,
    /// The references of a frame's scopes are valid until the scopes of another frame are requested.
    pub scopes_of_one_frame: bool,
    /// Variables are assigned to by evaluating an assignment, because `setVariable` accepts less than the language does.
    pub assigns_by_evaluating: bool,
    /// It accepts the time limit of an evaluation, as `timeout` in ms.
    pub bounds_evaluations: bool,
    /// Beginnings of lines that the program's runtime prints because it is debugged, and that are left out.
    pub muted: &'static [&'static str],
    /// The implementation of the rules knows which breakpoints were hit, if the event `stopped` does not list them.
    pub reports_hits: bool,
    /// A condition that cannot be evaluated stops the program.
    pub stops_at_bad_conditions: bool,
    /// Removing a breakpoint while the program runs can break it, so that the program is paused first.
    pub removes_only_when_stopped: bool,
    /// Its answers to a request for breakpoints on functions are in an order of its own.
    pub answers_functions_in_any_order: bool,
    /// It pauses a running program to change breakpoints, and reports that as a pause if a thread has come to a
    /// breakpoint meanwhile.
    pub pauses_for_breakpoints: bool,
    /// How it reports threads that stop at the same time.
    pub simultaneous_stops: SimultaneousStops,
    /// It continues a step that a breakpoint of another thread has interrupted, and refuses other steps until then.
    pub keeps_steps: bool,
    /// It says how many frames there are only where it has sent the last, and otherwise too many.
    pub counts_sent_frames: bool,
    /// How long the program must have run when it is paused: sooner, the debugger may lose its threads.
    pub runs_before_pause: Duration,
    /// What the program writes comes by a terminal, with CR LF for each line end.
    pub writes_crlf: bool,
    /// What the user has to know about a machine-code file before a stop in it.
    pub caution: fn(&Path) -> Option<String>,
    /// It takes the longest text of a value (`text`, in characters), and reports the length of a text that it has cut
    /// (`textLength`). Without this, `textLength` is the length of a string, whose text is a literal.
    pub takes_limits: bool,
    /// An expression for the text of a value, as in a log message.
    pub as_text: fn(&str) -> String,
    /// An expression for whether a value counts as true.
    pub as_condition: fn(&str) -> String,
    /// It takes samples of a program that runs (`startSampling`, `activity`, `stopSampling`).
    pub samples: bool,
    /// How a program is sampled by pausing it; none if that is not done.
    pub stack_sampling: Option<StackSampling>,
    /// It describes assertions, and marks exceptions so that a test runner can refer to them (`thrown`).
    pub describes_throws: bool,
    /// The type of the error that a failed evaluation threw, by its message; empty where it has none.
    pub error_type: fn(&str) -> &str,
    /// At an exception, the name of the exception in expressions is `error`.
    pub names_exception: bool,
    /// Whether the description of a stop with another reason is that of a pause.
    pub is_pause: fn(&str) -> bool,
    /// How data breakpoints work where the protocol does not say it.
    pub data: DataQuirks,
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

impl Quirks {
    /// An adapter that follows the specification.
    pub const NONE: Self = Self {
        sends_initialized: true,
        configured_within: deadlines::REQUEST,
        listens: "an adapter that listens at `host` and `port`",
        exception_functions: |_| &[],
        exception_command: None,
        errors_command: None,
        passing_error_command: None,
        functions_command: None,
        breakpoints_command: None,
        record_command: None,
        missed_command: None,
        printed_exception: |_| None,
        function: str::to_owned,
        variable: |name| Some(name),
        shadowed: None,
        value: |kind, text| (kind.to_owned(), text),
        exception_filters: |_| &[],
        entry_function: None,
        other_function: |_, _| None,
        function_body: |_, _, _| Vec::new(),
        refused_lines: None,
        is_closure: None,
        closure_depth: |_| 0,
        closures_around: |_, _| None,
        unset_variables: None,
        thread_name: str::to_owned,
        wait_reason: |_| None,
        wait_text: |_| None,
        steps_into_libraries: false,
        steps_out_into_libraries: false,
        entry_command: None,
        future_commands: None,
        catches_command: None,
        goes_back_at_end: None,
        pauses_anywhere: false,
        ignores_paused_thread: false,
        is_signal_handler: |_| false,
        is_start_function: None,
        read_first: None,
        thrown_value: None,
        running_test: &[],
        is_bad_condition: |_| false,
        launcher: |words| words,
        is_gone: |_| false,
        filters_only_when_stopped: false,
        inexact_comparisons: |_| Vec::new(),
        exact_comparison: |_, _, _| None,
        native_condition: |condition| Some(condition.to_owned()),
        other_expression: |_, _, _| None,
        operands: |_, _| Vec::new(),
        deciding_name: |_, _| None,
        expression_command: None,
        has_own_names: |_| false,
        removed_command: None,
        is_call: |_| false,
        calls_stop_at_breakpoints: false,
        has_run_without_result: |_, message| Err(message),
        refused_call: |message| message,
        assignment_note: None,
        end: |code| End::Exited(i32::try_from(code).unwrap_or(i32::MAX)),
        is_timeout: |_| false,
        has_run: |_| false,
        needs_running: |_| false,
        is_unknown_name: |_| false,
        default_filters: false,
        length: |_| None,
        mutes_console: false,
        mutes_stderr: false,
        message: |text| text.to_owned(),
        exception: |exception| exception,
        scopes_of_one_frame: false,
        assigns_by_evaluating: false,
        bounds_evaluations: false,
        muted: &[],
        reports_hits: false,
        stops_at_bad_conditions: false,
        removes_only_when_stopped: false,
        answers_functions_in_any_order: false,
        pauses_for_breakpoints: false,
        simultaneous_stops: SimultaneousStops::None,
        keeps_steps: false,
        counts_sent_frames: false,
        runs_before_pause: Duration::ZERO,
        writes_crlf: false,
        caution: |_| None,
        takes_limits: false,
        names_exception: false,
        samples: false,
        stack_sampling: None,
        describes_throws: false,
        as_text: |expression| expression.to_owned(),
        as_condition: |expression| expression.to_owned(),
        error_type: |_| "",
        is_pause: |_| false,
        data: DataQuirks {
            refusal: None,
            command: None,
            covers: |outer, inner| outer == inner,
            is_stop: |_| false,
            frames: None,
            line_at: None,
        },
    };
}
