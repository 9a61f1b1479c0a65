//! The specification, and where adapters depart from it: scripted adapters at the other end of a wire.
//!
//! Each file is about one theme. What adapters really do is in the tests of the whole program.

pub(in crate::debugger) mod peer;

mod assigning;
mod breakpoints;
mod ends;
mod evaluating;
mod motion;
mod recording;
mod requests;
mod reverse;
mod rules;
mod spawn;
mod starts;
mod stepping;
mod stops;
mod together;
mod values;
