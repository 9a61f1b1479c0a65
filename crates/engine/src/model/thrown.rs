//! What is known about an exception beyond what its language prints.

use super::activity::SampledFrame;

/// The exception that a program is stopped at, looked into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thrown {
    /// A mark that its process has left on it, by which a test runner in that process can name it later.
    pub mark: Option<String>,
    /// The test that threw it, where the stack shows it. Other tests may run beside it.
    pub test: Option<String>,
    /// All frames, those of libraries included, innermost first. Empty where the debugger's own stack has them.
    pub stack: Vec<SampledFrame>,
    /// What was asserted, when an assertion threw it.
    pub assertion: Option<Assertion>,
}

/// An assertion that does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assertion {
    /// What was asserted, as the source has it: `basket.total == price * 2`.
    pub expression: Option<String>,
    /// How the two sides are compared: `==`, `in`, `toBe`. None where there is one side.
    pub operator: Option<String>,
    /// What was given; in a framework that names them, the actual value.
    pub left: Option<Side>,
    /// What it was compared with; in a framework that names them, the expected value.
    pub right: Option<Side>,
}

/// One side of an assertion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Source text.
    pub expression: Option<String>,
    /// Its value, unless that could not be known without running code of the program again.
    pub value: Option<SideValue>,
}

/// The value of a side, when the assertion failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideValue {
    /// The value as text, in the language's notation.
    pub text: String,
    /// The name of its type; empty where only the text is known.
    pub type_name: String,
    /// The text is truncated.
    pub cut: bool,
}
