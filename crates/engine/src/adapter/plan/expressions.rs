//! Expressions that an adapter refuses, as others for the same value.

/// What another spelling of an expression depends on; empty if it is unknown.
#[derive(Debug, Default)]
pub struct Deciding {
    /// Its type.
    pub kind: String,
    /// Its value, as the adapter gives it.
    pub text: String,
}

/// Another expression for one that the adapter refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The expression.
    pub expression: String,
    /// Whether the adapter's message for it says more than that for the first one.
    pub explains: bool,
}
