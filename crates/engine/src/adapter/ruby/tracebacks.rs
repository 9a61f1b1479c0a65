//! Backtraces as Ruby prints them, innermost frame first:
//!
//! ```text
//! app.rb:5:in `index': key not found: "x" (KeyError)
//!         from app.rb:9:in `block in serve'
//! ```

use std::path::Path;

use super::{Ruby, is_internal};
use crate::adapter::tracebacks::{PrintedFrame, Tracebacks, below};

impl Tracebacks for Ruby {
    fn frame<'a>(&self, line: &'a str) -> Option<PrintedFrame<'a>> {
        let line = line.trim_start();
        let line = line.strip_prefix("from ").unwrap_or(line);
        let (place, rest) = line.split_once(":in ")?;
        let (file, number) = place.rsplit_once(':')?;
        let function = rest.trim_start_matches(['`', '\'']).split('\'').next()?;
        let number = number.parse().ok()?;
        let is_source = Path::new(file).extension().is_some_and(|extension| extension == "rb");
        if !(is_source || rest.starts_with(['`', '\''])) {
            return None;
        }
        Some(PrintedFrame { function, file, line: number, is_users: is_users(file) })
    }

    fn package<'a>(&self, file: &'a str) -> Option<&'a str> {
        let folder = below(file, "gems")?.split('/').next()?;
        let name = folder
            .rsplit_once('-')
            .filter(|(_, version)| version.starts_with(|first: char| first.is_ascii_digit()));
        Some(name.map_or(folder, |(name, _)| name))
    }
}

fn is_users(file: &str) -> bool {
    let path = Path::new(file);
    if path.is_absolute() { !is_internal(path) } else { !file.starts_with('<') && !file.starts_with("(eval") }
}
