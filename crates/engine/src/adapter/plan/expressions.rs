//! Expressions that an adapter refuses or gets wrong, as others for the same value.

use std::ops::Range;

/// What another spelling of an expression depends on; empty if it is unknown.
#[derive(Debug, Default)]
pub struct Deciding {
    /// Its type.
    pub kind: String,
    /// Its value, as the adapter gives it.
    pub text: String,
    /// The text of the source that the expression is evaluated in.
    pub source: String,
}

/// Another expression for one that the adapter refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The expression.
    pub expression: String,
    /// Whether the adapter's message for it says more than that for the first one.
    pub explains: bool,
}

/// A comparison in an expression, with a constant that the adapter does not round as the language does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Where it is in the expression.
    pub place: Range<usize>,
    /// What is compared.
    pub other: String,
    /// The operator.
    pub sign: &'static str,
    /// What it is compared with.
    pub constant: String,
}
