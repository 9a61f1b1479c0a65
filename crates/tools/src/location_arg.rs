//! A location as typed: `FILE:LINE`, `FILE:LINE:COLUMN`, `FILE:FUNCTION` or `FILE`.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A source location in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationArg {
    /// The file.
    pub file: PathBuf,
    /// The line, 1-based.
    pub line: Option<u32>,
    /// The column, 1-based.
    pub column: Option<u32>,
    /// The function.
    pub function: Option<String>,
}

impl FromStr for LocationArg {
    type Err = Infallible;

    /// A name with a colon in it is a file when there is one of that name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let alone = Self { file: text.into(), line: None, column: None, function: None };
        let Some((file, rest)) = split_place(text) else { return Ok(alone) };
        if file.is_empty() || rest.is_empty() || rest.contains(['/', '\\']) || Path::new(text).is_file() {
            return Ok(alone);
        }
        let Ok(number) = rest.parse() else {
            return Ok(Self { function: Some(rest.to_owned()), file: file.into(), ..alone });
        };
        let before = file.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        Ok(match before.filter(|(before, _)| !before.is_empty() && !Path::new(file).is_file()) {
            Some((file, line)) => Self { file: file.into(), line: Some(line), column: Some(number), ..alone },
            None => Self { file: file.into(), line: Some(number), ..alone },
        })
    }
}

/// Splits at the last colon that is not part of a path of names, as in `main.rs:shop::total`.
fn split_place(text: &str) -> Option<(&str, &str)> {
    let (file, rest) = text.rsplit_once(':')?;
    match file.strip_suffix(':') {
        Some(before) => {
            let (file, _) = split_place(before)?;
            Some((file, text.get(file.len() + 1..)?))
        }
        None => Some((file, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_file_with_an_optional_line_or_function() {
        let table = [
            ("a.py:12", "a.py", Some(12), None, None),
            ("a.js:12:7", "a.js", Some(12), Some(7), None),
            ("dir/a.py:main", "dir/a.py", None, None, Some("main")),
            ("a.py:Class.method", "a.py", None, None, Some("Class.method")),
            ("a.rs:shop::Cart::total", "a.rs", None, None, Some("shop::Cart::total")),
            ("a.py", "a.py", None, None, None),
            ("a.py:", "a.py:", None, None, None),
            (":12", ":12", None, None, None),
            (":12:7", ":12", Some(7), None, None),
            (r"C:\a.py", r"C:\a.py", None, None, None),
            (r"C:\a.py:3", r"C:\a.py", Some(3), None, None),
            (r"C:\a.py:3:9", r"C:\a.py", Some(3), Some(9), None),
        ];
        for (text, file, line, column, function) in table {
            let place: LocationArg = text.parse().unwrap();
            let function = function.map(str::to_owned);
            let expected = LocationArg { file: file.into(), line, column, function };
            assert_eq!(place, expected, "{text}");
        }
    }
}
