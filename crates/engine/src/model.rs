//! Plain data, in the words of the Debug Adapter Protocol.
//!
//! Nothing here depends on a wire, a task or a clock. If a debugger and an agent identify the same thing by different
//! numbers, the type takes the number as a parameter: `StackFrame<RawId>` is the debugger's, `StackFrame<Reference>`
//! the agent's.

pub mod activity;
pub mod breakpoint;
pub mod data_breakpoint;
pub mod ids;
pub mod launch;
pub mod limits;
pub mod performance;
pub mod record;
pub mod source;
pub mod stack;
pub(crate) mod stacks;
pub mod stop;
pub mod thrown;
pub mod variable;
