//! Names of things. Each is a type of its own, so that one cannot be taken for another.

use std::fmt;

/// A debug session, from its creation to its closing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// A new random id, a UUID in its usual text form.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A breakpoint's ID for the session's user, shown as `bp-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BreakpointId(pub u32);

impl fmt::Display for BreakpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bp-{}", self.0)
    }
}

impl std::str::FromStr for BreakpointId {
    type Err = NotABreakpointId;

    fn from_str(text: &str) -> Result<Self, NotABreakpointId> {
        let digits = text.strip_prefix("bp-").unwrap_or(text);
        digits.parse().map(Self).map_err(|_| NotABreakpointId)
    }
}

/// The text is not of the form `bp-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotABreakpointId;

/// One process (or worker) of a session. The first one is the program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId(pub u32);

impl TargetId {
    /// The program that was launched or attached to.
    pub const PROGRAM: Self = Self(0);
}

/// A thread of any process of a session; the numbers are the session's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number that a debugger uses for a thread, a frame or a variable. It means something only together
/// with the target that it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RawId(pub i64);

/// A number for a frame or for something with children, until the program resumes.
///
/// Numbers are never used twice in a session, so one from an earlier stop is known for what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(pub u64);

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
