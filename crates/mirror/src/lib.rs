//! A person's editor as one more client of a debug session.
//!
//! A session that is exposed listens on the loopback address and speaks the adapter's side of the Debug Adapter
//! Protocol. An editor that attaches sees what the agent sees, and the agent sees what the editor does, because both
//! ask the same session: nothing here talks to a debugger.
//!
//! Reading order: [`Exposures`] (which sessions are exposed), `endpoint` (a port and its clients), `admission` (which
//! clients are accepted), `conversation` (one editor), then an editor's requests (`editor`, `inspection`, `control`,
//! `breakpoints`) and the events it receives (`news`).

mod admission;
mod breakpoints;
mod control;
mod conversation;
mod editor;
mod endpoint;
mod exposures;
mod inspection;
mod limits;
mod news;
mod outgoing;
mod redacted;
mod sources;

pub use exposures::{EditorAccess, Exposure, Exposures, Options};
