//! The page of the limits.

use std::fmt::Write as _;

use engine::bounds::Bound;

/// What comes before the table.
const HEAD: &str = "# Limits

Written by `cargo xtask docs` from `crates/engine/src/bounds.rs`.

Each is set under `[limits]` in `stillframe.toml`, by `--limit NAME=N`, or in `STILLFRAME_LIMITS`, separated by commas;
see [configuration](configuration.md). A limit that is met is an error with the code `limit_reached`, which names it, or
a cut that is marked.

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
