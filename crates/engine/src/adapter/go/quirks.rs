//! Where Delve departs from the specification.

use super::super::plan::{
    DataQuirks, LockSearch, Quirks, ReadFirst, RefusedLines, SimultaneousStops, StackSampling, ThreadOfCalls,
    ThrownValue,
};
use super::{analysis, comparisons, delve, expressions, panics, values, waits};
use crate::model::stop::{End, Exception, ExceptionMode};

/// What every failure of a test goes through, `t.Error` and `t.Fatal` included.
const FAILED_TEST: &str = "testing.(*common).Fail";

/// What every panic goes through.
const PANIC: &str = "runtime.gopanic";

/// How Delve begins what it says about a condition that it cannot compile or evaluate, as if the program had thrown that.
const BAD_CONDITIONS: [&str; 8] = [
    "error evaluating expression: ",
    "multiple errors evaluating conditions",
    "condition expression ",
    "no type entry found",
    "could not find symbol value for ",
    "could not evaluate function or type ",
    "function calls not allowed ",
    "expression *ast.",
];

pub(super) const QUIRKS: Quirks = Quirks {
    listens: "`dlv exec --headless --accept-multiclient --listen=HOST:PORT PROGRAM`",
    exception_filters: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught | ExceptionMode::UserUnhandled => {
            &["unrecovered-panic", "runtime-fatal-throw"]
        }
        // Panics stop where they begin.
        ExceptionMode::All => &["runtime-fatal-throw"],
    },
    exception_functions: |mode| match mode {
        ExceptionMode::UserUnhandled => &[FAILED_TEST],
        ExceptionMode::All => &[PANIC],
        ExceptionMode::None | ExceptionMode::Uncaught => &[],
    },
    // A signal is its number below zero.
    end: |code| match i32::try_from(code) {
        Ok(code) if code < 0 => End::Killed { signal: -code, by_us: false },
        code => End::Exited(code.unwrap_or(i32::MAX)),
    },
    // An assignment is a call for it.
    needs_running: |text| {
        ["can not write to core process", "call is only supported"]
            .iter()
            .any(|begin| text.starts_with(begin))
    },
    is_unknown_name: |text| text.starts_with("could not find symbol value for"),
    mutes_console: true,
    message: delve::message,
    exception: |exception| Exception {
        // Delve stops at panics that nothing recovers, unless each one is stopped at where it begins.
        uncaught: exception.uncaught || exception.type_name != PANIC,
        type_name: match exception.type_name.as_str() {
            FAILED_TEST => "test failure".to_owned(),
            PANIC => "panic".to_owned(),
            _ => exception.type_name,
        },
        message: panics::message(&exception.message),
        ..exception
    },
    function: values::function,
    // A result without a name, which has its value only when the function has returned, and `.autotmp_1` of the compiler.
    variable: |name| (!name.starts_with("~r") && !name.starts_with('.')).then_some(name),
    value: |kind, text| (values::type_name(kind), values::of_type(kind, &text)),
    entry_function: Some("main.main"),
    // `main` is `runtime.main` too.
    other_function: |name, message| {
        // As it is shown in a stack.
        if let Some((before, after)) = name.split_once("[...]").filter(|_| !message.is_empty()) {
            return Some(format!("{before}{after}"));
        }
        (message.contains(" ambiguous: ") && !name.contains('.')).then(|| format!("main.{name}"))
    },
    function_body: |name, source, line| {
        analysis::body_offsets(source, line).map(|lines| format!("{name}:{lines}")).collect()
    },
    refused_lines: Some(RefusedLines { message: delve::NO_STATEMENT, read: analysis::read }),
    is_closure: Some(analysis::is_closure),
    closure_depth: analysis::closure_depth,
    closures_around: analysis::closures_around,
    unset_variables: Some(analysis::results_at_head),
    thread_name: values::goroutine,
    wait_reason: |name| (!has_thread(name)).then_some("runtime.curg.waitreason"),
    wait_text: values::wait_reason,
    data: DataQuirks {
        refusal: Some("Delve misses writes, and a program can crash while it watches"),
        ..Quirks::NONE.data
    },
    steps_into_libraries: true,
    goes_back_at_end: Some(analysis::goes_back_at_end),
    pauses_anywhere: true,
    pauses_for_breakpoints: true,
    simultaneous_stops: SimultaneousStops::One { may_be: has_thread },
    keeps_steps: true,
    counts_sent_frames: true,
    stack_sampling: Some(StackSampling {
        has_os_threads: false,
        ends_calls: false,
        is_spare: waits::is_spare,
        wait: waits::by_stack,
        locks: Some(LockSearch { awaited: waits::awaited_lock, held: waits::held_locks }),
    }),
    is_signal_handler: |name| name.starts_with("runtime.sig"),
    // Delve can read an interface in registers only when it has read one in memory.
    read_first: Some(ReadFirst {
        expression: "runtime.divideError",
        // Only the code of an optimized function keeps variables in registers, and the name of its scope says so.
        scope_may_lack: |name| name.contains("optimized"),
        may_lack: |text| {
            ["error loading module data", " has no member "].iter().any(|part| text.contains(part))
                || text.ends_with("...")
        },
    }),
    // A panic that is raised again, as the runner of tests does, has no message. `p` is unknown where the function begins.
    thrown_value: Some(ThrownValue { function: PANIC, expressions: &["p.arg", "e"] }),
    // Tests run in parallel: what is printed last may be of another one.
    running_test: &[(FAILED_TEST, "c.name"), ("testing.tRunner", "t.name")],
    stops_at_bad_conditions: true,
    is_bad_condition: |text| BAD_CONDITIONS.iter().any(|start| text.starts_with(start)),
    is_gone: |text| {
        matches!(text, "no such process" | "terminated")
            || text.starts_with("Process ") && text.contains(" has exited with status ")
    },
    filters_only_when_stopped: true,
    inexact_comparisons: comparisons::inexact,
    exact_comparison: comparisons::exact,
    native_condition: comparisons::weaker,
    other_expression: expressions::other,
    operands: expressions::operands,
    deciding_name: expressions::deciding_name,
    is_call: |expression| expression.trim_start().starts_with("call "),
    calls_stop_at_breakpoints: true,
    // `doCall` looks for the result only in the selected goroutine. Of optimized functions, Delve calls just this one, and it
    // allocates nothing.
    thread_of_calls: Some(ThreadOfCalls {
        is_chosen: |name| name.starts_with("* "),
        call: "call runtime.mallocgc(0, nil, false)",
        event: "call returned",
    }),
    has_run_without_result: expressions::has_run_without_result,
    refused_call: delve::refused_call,
    assignment_note: Some(
        "code up to the next branch may go on with the old value, which the compiler keeps in a register",
    ),
    ..Quirks::NONE
};

/// Whether a goroutine runs, by its name. `dlv dap` 1.27 adds the thread on which it does.
fn has_thread(name: &str) -> bool {
    name.contains(" (Thread ")
}
