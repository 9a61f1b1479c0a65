//! `FILE:LINE`, `FILE:FUNCTION` or `FILE`.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A place as it is written on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file.
    pub(crate) file: PathBuf,
    /// The line, 1-based.
    pub(crate) line: Option<u32>,
    /// The function.
    pub(crate) function: Option<String>,
}

impl FromStr for Place {
    type Err = Infallible;

    /// A name with a colon in it is a file when there is one of that name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let alone = Self { file: text.into(), line: None, function: None };
        let Some((file, rest)) = text.rsplit_once(':') else { return Ok(alone) };
        if file.is_empty() || rest.is_empty() || rest.contains(['/', '\\']) || Path::new(text).is_file() {
            return Ok(alone);
        }
        let line = rest.parse().ok();
        let function = line.is_none().then(|| rest.to_owned());
        Ok(Self { file: file.into(), line, function })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_and_maybe_a_line_or_a_function() {
        let table = [
            ("a.py:12", "a.py", Some(12), None),
            ("dir/a.py:main", "dir/a.py", None, Some("main")),
            ("a.py:Class.method", "a.py", None, Some("Class.method")),
            ("a.py", "a.py", None, None),
            ("a.py:", "a.py:", None, None),
            (":12", ":12", None, None),
            (r"C:\a.py", r"C:\a.py", None, None),
            (r"C:\a.py:3", r"C:\a.py", Some(3), None),
        ];
        for (text, file, line, function) in table {
            let place: Place = text.parse().unwrap();
            let expected = Place { file: file.into(), line, function: function.map(str::to_owned) };
            assert_eq!(place, expected, "{text}");
        }
    }
}
