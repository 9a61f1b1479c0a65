//! Values of a suspended thread of JavaScript.
//!
//! Our code in the program, `debuggee/node/values.js`, reads them: it lists, pages, truncates and describes without
//! running the program's code. A request is one call of it, which returns JSON. A value with children is identified
//! by an object that the debugger holds and the path from there to the value.
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
pub(super) use self::frame::{Frame, context_of};
pub(super) use self::helper::object;
pub(super) use self::names::{is_part_of_name, renamed};
pub(super) use self::reader::ValueReader;

#[cfg(test)]
mod tests;
