//! Steps, waits and pauses.

mod pauses;
mod steps;
mod waits;
