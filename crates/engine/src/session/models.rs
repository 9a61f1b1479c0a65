//! Tests a session's state against models of it: random sequences of operations on both, compared after each.
//!
//! A model implements the same idea differently, simple enough to be obviously correct, and is described in words.

mod breakpoints;
mod output;
mod references;
mod state;
mod watches;
