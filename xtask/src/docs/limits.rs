//! The page of the limits.

use std::fmt::Write as _;

use engine::bounds::Bound;

/// What comes before the table.
const HEAD: &str = "# Limits

Written by `cargo xtask docs` from `crates/engine/src/bounds.rs`.

Each is set under `[limits]` in `stillframe.toml`, by `--limit NAME=N`, or in `STILLFRAME_LIMITS`, separated by commas;
see [configuration](configuration.md). A project's file can lower a limit and not raise it.

A limit that is met is an error with the code `limit_reached`, which says what the limit is, who has set it (nobody, a file,
a variable or an option) and what makes room, or a cut that is marked. The tools of `inspector` have their own code for
most of what fails, and `LIMIT_REACHED` for this. What a call asks for above a limit is refused; what it does not ask for,
such as the usual time or number of rows, is as much as the limit allows. The sizes of a stop report are what is usual: a
call may ask for as much as can be set, and no more. The options of commands such as `stillframe test --timeout` are the user's own: no limit of time holds for them.

| limit | unit | default | range | what it bounds |
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
