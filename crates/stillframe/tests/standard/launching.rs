//! How programs are started, what they write, and starting them again.

mod commands;
mod environments;
mod output;
mod programs;
mod restarts;
mod slow;
