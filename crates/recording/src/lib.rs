//! Recordings: what a whole run of a program did, in one file, and the answers to questions about it.
//!
//! A recorder inside the program (`recorders`, one for each language) writes records into files that are mapped into
//! memory (`wire`). One thread reads them and writes them, redacted and in batches, into a `SQLite` database
//! (`store`). `run` starts the program and waits for both; the `library` is the folder of recordings. A
//! [`Recording`] is one that is read, [`ask`] has the questions, [`export`] writes other formats, and [`serve`] lets a debugger move through it.

pub mod ask;
mod attributes;
mod clock;
mod error;
pub mod export;
mod interrupt;
mod library;
mod memory;
mod methods;
mod moment;
mod predicate;
mod reading;
mod recorders;
mod redacted;
mod replay;
mod run;
mod spans;
mod spelling;
mod stack;
mod store;
mod streams;
mod text;
pub mod timeline;
mod value;
mod wire;

pub use error::{Error, Result};
pub use interrupt::{Interrupts, Phase};
pub use library::{Library, Listed};
pub use reading::Recording;
pub use recorders::{Limits, recorder_for};
pub use replay::serve;
pub use run::{RecordRequest, Recorded, record};
