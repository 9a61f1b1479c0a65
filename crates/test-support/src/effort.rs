//! How much is tried: on each push a part of the tables that take long, before a release all of them.

/// The environment variable that says so: `full` is everything.
const VARIABLE: &str = "STILLFRAME_EFFORT";

/// Whether everything is to be tried.
pub fn tries_everything() -> bool {
    std::env::var(VARIABLE).is_ok_and(|wanted| wanted == "full")
}

/// The rows of a table that are to be tried: all, or the first and each that is `step` after one.
pub fn rows_to_try<T>(rows: impl IntoIterator<Item = T>, step: usize) -> impl Iterator<Item = T> {
    rows.into_iter().step_by(if tries_everything() { 1 } else { step })
}
