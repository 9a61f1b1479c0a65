//! What holds a session's state, against models of it: random sequences of operations on both, compared after each.
//!
//! A model is the same idea in another way, simple enough to be believed, and says in words what it is.

mod breakpoints;
mod output;
mod references;
mod state;
mod watches;
