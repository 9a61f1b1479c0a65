//! What hosts put in the place of the variables in an entry, as their makers document it.

use std::path::{Path, PathBuf};

use engine::adapter::{Host as _, Machine};

/// The variables that a host expands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    /// None: what looks like one is text.
    None,
    /// `${NAME}` and `${NAME:-default}`, and if it is bare also `$NAME`.
    Shell { bare: bool },
    /// `${NAME}` in the environment and in headers. What happens elsewhere is not documented.
    InEnvironment,
    /// `${env:NAME}`.
    Prefixed,
    /// The same, and those of VS Code that do not depend on what is open in it.
    Editor,
    /// `{env:NAME}`, which is empty if it is not set.
    Braces,
    /// `${{ secrets.NAME }}`, which the host stores.
    Secrets,
}

/// Where a text is that may have variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextPlace<'a> {
    /// It is the value of a variable or of a header in the entry.
    pub(crate) is_environment: bool,
    pub(crate) home: &'a Path,
    /// The folder of the project that the file belongs to; none for a user's file.
    pub(crate) project: Option<&'a PathBuf>,
}

/// Why a variable has no value here.
const UNKNOWN: &str = "doctor cannot know its value";

impl Variables {
    /// The text as the host gives it to the server. Fails with the variable that it cannot expand, and why.
    pub(crate) fn expanded(self, text: &str, place: TextPlace<'_>) -> Result<String, String> {
        let open = if self == Self::Braces { '{' } else { '$' };
        let (mut done, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once(open) {
            done.push_str(before);
            let in_braces = if self == Self::Braces { Some(after) } else { after.strip_prefix('{') };
            let found = match in_braces {
                Some(inner) => inner.split_once('}'),
                None if self == (Self::Shell { bare: true }) => Some(split_name(after)),
                None => None,
            };
            let Some((name, tail)) = found.filter(|(name, _)| !name.is_empty()) else {
                done.push(open);
                rest = after;
                continue;
            };
            let written = rest.strip_suffix(tail).and_then(|rest| rest.strip_prefix(before));
            let written = written.unwrap_or_default();
            match self.value(name, place) {
                Ok(Some(value)) => done.push_str(&value),
                Ok(None) => done.push_str(written),
                Err(reason) => return Err(format!("`{written}`: {reason}")),
            }
            rest = tail;
        }
        Ok(done + rest)
    }

    /// The value of what is in the braces; none if the host takes it as text.
    fn value(self, name: &str, place: TextPlace<'_>) -> Result<Option<String>, String> {
        let set = |name: &str| {
            Machine.env(name).map(Some).ok_or_else(|| format!("the variable {name} is not set here"))
        };
        match self {
            Self::None => Ok(None),
            // A variable in a default: hosts differ.
            Self::Shell { .. } if name.contains('$') => Err(UNKNOWN.to_owned()),
            Self::Shell { .. } => match name.split_once(":-") {
                Some((name, or)) => Ok(Some(Machine.env(name).unwrap_or_else(|| or.to_owned()))),
                None if split_name(name).1.is_empty() => set(name),
                None => Ok(None),
            },
            Self::InEnvironment if place.is_environment && split_name(name).1.is_empty() => set(name),
            Self::Prefixed | Self::Editor if name.starts_with("env:") => set(name.trim_start_matches("env:")),
            Self::Editor => match (name, place.project) {
                ("userHome", _) => Ok(Some(place.home.display().to_string())),
                ("pathSeparator" | "/", _) => Ok(Some(std::path::MAIN_SEPARATOR_STR.to_owned())),
                ("workspaceFolder", Some(folder)) => Ok(Some(folder.display().to_string())),
                ("workspaceFolderBasename", Some(folder)) => {
                    Ok(folder.file_name().map(|name| name.to_string_lossy().into_owned()))
                }
                _ => Err(UNKNOWN.to_owned()),
            },
            Self::Braces => match name.split_once(':') {
                Some(("env", name)) => Ok(Some(Machine.env(name).unwrap_or_default())),
                Some(("file", _)) => Err(UNKNOWN.to_owned()),
                _ => Ok(None),
            },
            Self::Secrets if !name.starts_with('{') => Ok(None),
            Self::InEnvironment | Self::Prefixed | Self::Secrets => Err(UNKNOWN.to_owned()),
        }
    }
}

/// The name at the start of a text, and the rest.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len());
    text.split_at(end)
}
