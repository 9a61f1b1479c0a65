//! The table of settings.

use std::path::Path;

use engine::{adapter, bounds, sources};

use super::Value;

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number of `[limits]`.
    Bound,
    Flag,
    /// One or several toolsets.
    Toolset,
    /// A path, or `off`.
    File,
    /// Paths of folders or files.
    Paths,
    /// Names of languages.
    Languages,
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// `SECTION.KEY`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Its description.
    pub(super) about: &'static str,
    /// The option that sets it; a limit is one of those that `--limit` sets.
    pub(super) option: Option<&'static str>,
    /// The same for the environment.
    pub(super) variable: Option<&'static str>,
}

/// The settings other than limits.
const OTHERS: &[Setting] = &[
    setting(
        "safety.roots",
        Kind::Paths,
        "Folders that files and programs must be in; empty for no restriction.",
    )
    .set_by("--allow-root", "STILLFRAME_ALLOW_ROOT"),
    setting("safety.client_roots", Kind::Flag, "Restrict files and programs to the MCP client's roots.")
        .set_by("--allow-client-roots", "STILLFRAME_ALLOW_CLIENT_ROOTS"),
    setting("safety.confirm", Kind::Flag, "Ask the user before a call changes a program or attaches to one.")
        .set_by("--confirm", "STILLFRAME_CONFIRM"),
    setting("safety.read_only", Kind::Flag, "Refuse to change debugged programs.")
        .set_by("--read-only", "STILLFRAME_READ_ONLY"),
    setting("safety.programs", Kind::Paths, "Programs that may be started under read_only.")
        .set_by("--allow-program", "STILLFRAME_ALLOW_PROGRAM"),
    setting("safety.languages", Kind::Languages, "Allowed languages; empty for all.")
        .set_by("--allow-language", "STILLFRAME_ALLOW_LANGUAGE"),
    setting("safety.remote_attach", Kind::Flag, "Allow attaching to other machines.")
        .set_by("--allow-remote-attach", "STILLFRAME_ALLOW_REMOTE_ATTACH"),
    setting("safety.redact", Kind::Flag, "Redact likely credentials in answers.")
        .set_by("--redact", "STILLFRAME_REDACT"),
    setting("serve.toolset", Kind::Toolset, "Toolsets to offer, separated by commas.")
        .set_by("--toolset", "STILLFRAME_TOOLSET"),
    setting("journal.file", Kind::File, "Journal file, or off.").set_by("--log-file", "STILLFRAME_LOG_FILE"),
];

const fn setting(name: &'static str, kind: Kind, about: &'static str) -> Setting {
    Setting { name, kind, about, option: None, variable: None }
}

/// Every setting: the limits, and then the others.
pub(super) fn all() -> impl Iterator<Item = Setting> {
    let limits =
        bounds::TABLE.iter().map(|bound| setting(bound.setting, Kind::Bound, bound.about.trim_start()));
    limits.chain(OTHERS.iter().copied())
}

/// A limit in one word, such as `sessions=8`; otherwise the problem.
pub(super) fn read_limit(text: &str) -> Result<(&'static str, Value), String> {
    let Some((name, number)) = text.split_once('=') else {
        return Err(format!("`{text}` has no value; write NAME=N, such as `sessions=8`"));
    };
    let Some(setting) = named(&format!("limits.{}", name.trim())) else {
        let meant = sources::meant(name.trim(), bounds::TABLE.iter().map(|bound| bound.name));
        let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        return Err(format!("unknown limit `{name}`; {meant}`stillframe config` lists them"));
    };
    let number = number.trim().parse().map_err(|_| setting.wrong(number))?;
    Ok((setting.name, setting.checked(Value::Number(number), None)?))
}

pub(super) fn named(name: &str) -> Option<Setting> {
    all().find(|setting| setting.name == name)
}

impl Setting {
    const fn set_by(self, option: &'static str, variable: &'static str) -> Self {
        Self { option: Some(option), variable: Some(variable), ..self }
    }

    pub(super) fn section(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(section, _)| section)
    }

    /// The limit that it is.
    pub(super) fn bound(&self) -> Option<&'static bounds::Bound> {
        bounds::named(self.name.strip_prefix("limits.")?)
    }

    pub(super) fn default(&self) -> Value {
        match self.kind {
            Kind::Bound => Value::Number(self.bound().map_or(0, |bound| bound.default)),
            Kind::Flag => Value::Flag(self.name == "safety.redact"),
            Kind::Toolset => Value::Text("standard".to_owned()),
            Kind::File => Value::Text(
                journal::default_path().map_or_else(|| "off".to_owned(), |path| path.display().to_string()),
            ),
            Kind::Paths | Kind::Languages => Value::List(Vec::new()),
        }
    }

    /// The values it accepts, for messages.
    pub(super) fn takes(&self) -> String {
        match self.kind {
            Kind::Bound => {
                let Some(bound) = self.bound() else { return "a whole number".to_owned() };
                format!(
                    "a whole number from {} to {} ({})",
                    bound.range.start(),
                    bound.range.end(),
                    bound.unit
                )
            }
            Kind::Flag => "true or false".to_owned(),
            Kind::Toolset => "the names of toolsets, such as \"standard,script\"".to_owned(),
            Kind::File => "a path, or \"off\"".to_owned(),
            Kind::Paths => "a list of paths, such as [\".\"]".to_owned(),
            Kind::Languages => {
                let names = adapter::all().map(|adapter| format!("{:?}", adapter.name()));
                format!("a list of languages: {}", names.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// That this is not what it takes.
    pub(super) fn wrong(&self, got: &str) -> String {
        format!("`{}` must be {}, not `{got}`", self.name, self.takes())
    }

    /// The value if it may be set, its paths being of the folder, or of the working directory without one; the
    /// problem when it may not.
    pub(super) fn checked(&self, value: Value, folder: Option<&Path>) -> Result<Value, String> {
        self.check(&value)?;
        let placed = |path: &String| {
            let path = folder.map_or_else(|| path.into(), |folder| folder.join(path));
            sources::absolute(&path).display().to_string()
        };
        Ok(match (self.kind, value) {
            (Kind::File, Value::Text(path)) if path != "off" => Value::Text(placed(&path)),
            (Kind::Paths, Value::List(paths)) => Value::List(paths.iter().map(placed).collect()),
            (_, value) => value,
        })
    }

    /// Whether a value may be set; the problem when not.
    fn check(&self, value: &Value) -> Result<(), String> {
        match (self.kind, value) {
            (Kind::Bound, Value::Number(number)) => match self.bound() {
                Some(bound) if !bound.range.contains(number) => {
                    Err(format!("`{}` must be {}, not {number}", self.name, self.takes()))
                }
                _ => Ok(()),
            },
            (Kind::Toolset, Value::Text(names)) => match tools::toolsets::choose(names) {
                Ok(_) => Ok(()),
                Err(problem) => Err(format!("`{}`: {problem}", self.name)),
            },
            (Kind::File, Value::Text(path)) if path.is_empty() => {
                Err(format!("`{}` is empty; it must be {}", self.name, self.takes()))
            }
            (Kind::Paths, Value::List(paths)) if paths.iter().any(String::is_empty) => {
                Err(format!("`{}` has an empty path; it must be {}", self.name, self.takes()))
            }
            (Kind::Languages, Value::List(names)) => {
                match names.iter().find(|name| adapter::by_name(name).is_none()) {
                    Some(name) => {
                        Err(format!("`{}` does not allow `{name}`; it must be {}", self.name, self.takes()))
                    }
                    None => Ok(()),
                }
            }
            (Kind::Flag, Value::Flag(_)) | (Kind::File, Value::Text(_)) | (Kind::Paths, Value::List(_)) => {
                Ok(())
            }
            _ => Err(format!("`{}` must be {}", self.name, self.takes())),
        }
    }
}
