//! The page of the limits.

use std::fmt::Write as _;

use engine::bounds::Bound;

/// What comes before the table.
const HEAD: &str = "# Limits

Written by `cargo xtask docs` from `crates/engine/src/bounds.rs`.

Set a limit under `[limits]` in `stillframe.toml`, with `--limit NAME=N`, or in `STILLFRAME_LIMITS`, separated by commas;
see [configuration](configuration.md). A project's file can lower a limit but not raise it.

Reaching a limit is either an error with the code `limit_reached`, which names the limit, its source (the default, a file,
a variable or an option) and how to proceed, or a marked truncation. The tools of `inspector` have their own error codes,
and use `LIMIT_REACHED` for this. A call that requests more than a limit is refused; a default, such as the wait or the
number of rows, is lowered to the limit. The sizes of a stop report are defaults: a call may request up to the top of the
range. The options of commands such as `stillframe test --timeout` are the user's own, and no time limit applies to them
(at most a year); those of `stillframe debug` are those of calls.

| limit | unit | default | range | description |
| --- | --- | --- | --- | --- |
";

/// Writes the page.
pub(super) fn write(table: &[Bound]) -> String {
    let mut page = HEAD.to_owned();
    for Bound { name, unit, default, range, about, .. } in table {
        let (least, most) = (range.start(), range.end());
        // Writing to a string does not fail.
        let _ = writeln!(page, "| `{name}` | {unit} | {default} | {least} to {most} | {} |", about.trim());
    }
    page
}
