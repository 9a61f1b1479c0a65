//! Stack traces as PHP prints them, innermost frame first:
//!
//! ```text
//! #0 /app/src/Basket.php(12): Basket->price()
//! #1 {main}
//! ```

use std::path::Path;

use super::{Php, is_internal};
use crate::adapter::tracebacks::{PrintedFrame, Tracebacks, below};

impl Tracebacks for Php {
    fn frame<'a>(&self, line: &'a str) -> Option<PrintedFrame<'a>> {
        let rest = line.trim_start().strip_prefix('#')?;
        let (number, rest) = rest.split_once(' ')?;
        number.parse::<u32>().ok()?;
        let (file, rest) = rest.split_once('(')?;
        let (line, rest) = rest.split_once("): ")?;
        let function = rest.split('(').next()?;
        Some(PrintedFrame {
            function,
            file,
            line: line.parse().ok()?,
            is_users: !is_internal(Path::new(file)),
        })
    }

    fn package<'a>(&self, file: &'a str) -> Option<&'a str> {
        let rest = below(file, "vendor")?;
        let end = rest.match_indices('/').nth(1).map(|(at, _)| at)?;
        rest.get(..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_packages_are_read() {
        let frame = Php.frame("#1 /a/vendor/acme/tool/src/X.php(12): Acme\\X->run('a')").unwrap();
        assert_eq!((frame.function, frame.line, frame.is_users), ("Acme\\X->run", 12, false));
        assert_eq!(Php.package(frame.file), Some("acme/tool"));
        assert_eq!(Php.frame("#2 {main}"), None);
    }
}
