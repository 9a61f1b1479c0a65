//! Stack traces as Java prints them, innermost frame first:
//!
//! ```text
//! java.lang.IllegalStateException: no price
//!     at shop.Cart.total(Cart.java:12)
//!     at java.base/java.lang.Thread.run(Thread.java:840)
//! ```

use super::Java;
use crate::adapter::tracebacks::{PrintedFrame, Tracebacks};

/// Beginnings of the names of classes that are not the user's.
const LIBRARIES: [&str; 12] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "scala.",
    "org.junit.",
    "junit.",
    "org.testng.",
    "org.apache.maven.",
    "org.springframework.",
];

impl Tracebacks for Java {
    fn frame<'a>(&self, line: &'a str) -> Option<PrintedFrame<'a>> {
        let call = line.trim().strip_prefix("at ")?;
        let (method, place) = call.strip_suffix(')')?.split_once('(')?;
        // The class loader and the module are before a slash.
        let method = method.rsplit('/').next()?;
        if method.contains(char::is_whitespace) || !method.contains('.') {
            return None;
        }
        let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
        let is_library = LIBRARIES.iter().any(|library| method.starts_with(library));
        Some(PrintedFrame {
            function: method,
            file,
            line: line.parse().unwrap_or_default(),
            is_users: !is_library && !method.contains("$$Lambda"),
        })
    }

    /// A stack trace does not name the archives that classes come from.
    fn package<'a>(&self, _file: &'a str) -> Option<&'a str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::tracebacks::read_frame;

    #[test]
    fn frames_are_read_with_whose_they_are() {
        let table = [
            ("\tat shop.Cart.total(Cart.java:12)", Some(("shop.Cart.total", "Cart.java", 12, true))),
            (
                "    at java.base/java.lang.Thread.run(Thread.java:840)",
                Some(("java.lang.Thread.run", "Thread.java", 840, false)),
            ),
            ("    at app//Main.main(Native Method)", Some(("Main.main", "Native Method", 0, true))),
            ("    at once (or later)", None),
            ("Caused by: java.lang.Error", None),
        ];
        for (line, expected) in table {
            let found = Java.frame(line);
            let found = found.map(|frame| (frame.function, frame.file, frame.line, frame.is_users));
            assert_eq!(found, expected, "{line}");
        }
        let (_, frame) = read_frame("\tat shop.Cart.total(Cart.java:12)").unwrap();
        assert!(frame.is_users, "no other language takes it for its own");
    }
}
