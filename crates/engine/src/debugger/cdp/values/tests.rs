//! Against the `node` on the search path.

mod assignments;
mod careful;
mod expressions;
mod frames;
mod harness;
mod places;
mod texts;

use harness::{PausedProgram, page};
