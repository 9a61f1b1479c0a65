//! The tools of agents. This crate depends on no MCP library and no wire protocol.
//!
//! [`ops`] is what can be done, in neutral terms; [`toolsets`] are spellings of it, each a literal table;
//! [`render`] turns what the engine gives into the data of answers. A tool is its parameters: one struct that
//! can be read from JSON, one [`Tool`] implementation, one line in its toolset's table.

mod answer;
pub mod arguments;
mod budget;
mod command_line;
mod confirmation;
mod context;
mod error;
mod hidden;
mod journaled;
mod lenient;
mod location_arg;
pub mod ops;
mod prompt;
pub mod render;
mod schema;
mod shell;
mod tool;
pub mod toolsets;
mod truncate;

pub use answer::{Answer, Reply, Text};
pub use command_line::{ArgumentList, CommandLine};
pub use context::{Context, Report};
pub use error::{Next, ToolError, Words};
pub use hidden::{hide_in_data, hide_in_text, say_hidden};
pub use journaled::JournaledCall;
pub use location_arg::LocationArg;
pub use prompt::{Candidates, Prompt, PromptArgument};
pub use shell::quoted;
pub use tool::{Effects, Entry, Tool, Toolset};
pub use truncate::{show_in_data, show_in_text};
