//! The interface of a bare client.

/// A bare client whose program is stopped.
pub(super) trait Client: Sized {
    /// Evaluates an expression in the innermost frame.
    fn evaluate(&mut self, expression: &str) -> anyhow::Result<()>;

    /// Reads the variables of the innermost frame.
    fn locals(&mut self) -> anyhow::Result<()>;

    /// Reads all frames.
    fn stack(&mut self) -> anyhow::Result<()>;

    /// Steps over a line, and asks for what a report holds.
    fn step(&mut self) -> anyhow::Result<()>;

    /// Evaluates an expression, and runs on to the next stop.
    fn pass(&mut self, expression: &str) -> anyhow::Result<()>;

    /// Removes the breakpoint.
    fn clear_breakpoints(&mut self) -> anyhow::Result<()>;

    /// Ends the program.
    fn end(self);
}
