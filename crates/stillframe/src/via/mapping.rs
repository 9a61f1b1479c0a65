//! A folder on another machine that is a folder here.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use engine::sources;

/// A folder there and the same folder here, as `--map THERE=HERE` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(super) there: String,
    pub(super) here: String,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').filter(|(there, here)| there.starts_with('/') && !here.is_empty());
        let Some((there, here)) = parts else {
            return Err(format!(
                "`{text}` is not THERE=HERE, such as `/app=./src`; THERE is an absolute path"
            ));
        };
        let here = sources::absolute(Path::new(here)).display().to_string();
        Self::new(there, &here)
            .ok_or_else(|| format!("`{text}` maps a root folder; map the folder of the sources"))
    }
}

impl Mapping {
    /// None for a root folder, at which every path begins.
    pub(super) fn new(there: &str, here: &str) -> Option<Self> {
        let [there, here] = [there, here].map(|path| path.trim_end_matches('/').to_owned());
        (!there.is_empty() && !here.is_empty()).then_some(Self { there, here })
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.there, self.here)
    }
}

/// Where mappings are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    /// `--map`.
    #[default]
    Given,
    Guessed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "`--map`",
            Self::Guessed => "a guess, which `--map` overrides",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_needs_two_folders() {
        for wrong in ["/app", "app=/src", "/app=", "=/src", "/=/src", "/app=/"] {
            assert!(wrong.parse::<Mapping>().is_err(), "{wrong}");
        }
        let mapping: Mapping = "/app/=src/".parse().unwrap();
        let here = std::env::current_dir().unwrap().join("src").display().to_string();
        assert_eq!(mapping, Mapping { there: "/app".to_owned(), here });
    }
}
