//! What is fixed about a language and its debugger.

/// What is known of a language and its debugger without looking at a program or a machine.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct LanguageFacts {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The languages it covers, for messages.
    pub about: &'static str,
    /// Other names for it, in lower case.
    pub aliases: &'static [&'static str],
    /// What editors call their debugger of this language in a configuration.
    pub editor_type: &'static str,
    /// The extensions of its source files.
    pub extensions: &'static [&'static str],
    /// The names of its source files that have no extension.
    pub file_names: &'static [&'static str],
    /// The file that runs when a folder is run.
    pub main_file: Option<&'static str>,
    /// A program to try the debugger with.
    pub sample: Sample,
    /// Which debugger drives its programs.
    pub driver: Driver,
    /// How to build a program with debug information, for messages.
    pub debug_flags: &'static str,
    /// The user has described it.
    pub is_configured: bool,
    /// It compiles to machine code. Its debugger reads what a crashed program has left. Processes with such code that a
    /// program in another language starts are recognized by their debug information, and attached to.
    pub is_machine_code: bool,
    /// Interpreters load its machine code as extensions.
    pub is_loadable: bool,
    /// A program that listens for a client brings the debugger, so that none has to be installed here.
    pub listener_has_debugger: bool,
    /// Whether the debugger can tell several places of one line apart.
    pub has_columns: bool,
    /// Whether a breakpoint for a function stops only in that function, even if its line has other code. With columns,
    /// every one does.
    pub tells_functions_apart: bool,
    /// Whether the line of a function is passed when the function is defined, not only when it is called.
    pub passes_definitions: bool,
    /// Whether code of a loop may have no line, or one before the loop, as that of compilers may.
    pub has_stray_lines: bool,
    /// Whether functions of the runtime that call functions of the program, such as one that sorts, have no frames.
    pub has_hidden_callers: bool,
    /// A part of the message of the error with which the runtime ends a program whose threads all wait for each other.
    pub deadlock_error: Option<&'static str>,
    /// What records values at a breakpoint while the program runs on; none if nothing does.
    pub records: Option<RecordingSide>,
    /// A program can be sampled while it runs: stacks, what its threads wait for.
    pub samples: bool,
    /// How its test runners report each test.
    pub reporting: Reporting,
}

impl LanguageFacts {
    /// A language of which no more is known, with any adapter of the Debug Adapter Protocol.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            aliases: &[],
            editor_type: name,
            extensions: &[],
            file_names: &[],
            main_file: None,
            sample: Sample { source: "", line: 0 },
            driver: Driver::Dap,
            debug_flags: "debug information",
            is_configured: false,
            is_machine_code: false,
            is_loadable: false,
            listener_has_debugger: false,
            has_columns: false,
            tells_functions_apart: false,
            passes_definitions: true,
            has_stray_lines: false,
            has_hidden_callers: false,
            deadlock_error: None,
            records: None,
            samples: false,
            reporting: Reporting::None,
        }
    }
}

/// A program that computes 42 and prints it; on line 0, if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its source.
    pub source: &'static str,
    /// The line on which `answer` is 42 already; 1-based.
    pub line: u32,
}

/// Which debugger drives the programs of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Any adapter of the Debug Adapter Protocol.
    Dap,
    /// Our bridge, which speaks the Debug Adapter Protocol and more.
    Java,
    /// pydevd inside the program, with our agent beside it.
    Python,
    /// The inspector that is part of Node.
    Node,
}

/// How test runners report their tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporting {
    /// Not at all: tests cannot be run.
    None,
    /// They, or our code inside them, write reports.
    Inside,
    /// What they print is read.
    Printed(PrintedFormat),
}

/// How a test runner prints its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintedFormat {
    /// That of `go test`.
    Go,
    /// That of Rust's test harness.
    Libtest,
    /// That of `GoogleTest`.
    GoogleTest,
}

/// What evaluates the expressions of a [`Record`](crate::recording::Record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingSide {
    /// Our code inside the program.
    Program,
    /// Our code inside its debugger, which holds the program for as long as that takes.
    Debugger,
}
