//! Bad input, row by row: what is wrong is named, and the session stays usable.

mod arguments;
mod endings;
mod killed;
mod programs;
mod undebugged;
