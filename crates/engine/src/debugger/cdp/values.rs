//! Values of a suspended thread of JavaScript.
//!
//! They are read by code of ours in the program, `debuggee/node/values.js`, which lists, pages, cuts and
//! describes without running anything of the program's. A request is one call of it; JSON comes back. What has
//! children is known here by an object that the debugger holds and the steps that lead from there to it.
//!
//! Reading order: `frame` (which scopes count), `references`, `reader` (the state), `helper` (the code in the
//! program), `rows` (what it answers), `names` and `text`, `plain` (for programs that the code cannot get into), then
//! `exceptions`, `evaluate`, `children`, `scopes`, `assign`.

mod assign;
mod awaited;
mod children;
mod evaluate;
mod exceptions;
mod frame;
mod helper;
mod names;
mod plain;
mod reader;
mod references;
mod rows;
mod scopes;
mod text;

pub(super) use self::evaluate::is_path;
pub(super) use self::frame::Frame;
pub(super) use self::names::renamed;
pub(super) use self::reader::ValueReader;

#[cfg(test)]
mod tests;
