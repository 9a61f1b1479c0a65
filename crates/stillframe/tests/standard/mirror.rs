//! A person's editor beside the agent: both see one session.

mod admission;
mod breakpoints;
mod control;
mod editor;
mod independent;
mod lifetime;
mod orders;
mod reading;
