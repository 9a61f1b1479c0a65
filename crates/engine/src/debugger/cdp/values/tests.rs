//! Against the `node` on the search path.

mod assignments;
mod expansion;
mod expressions;
mod frames;
mod harness;
mod side_effects;
mod summaries;

use harness::{PausedProgram, page};
