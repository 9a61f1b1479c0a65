//! The effective settings and their sources: the command line, the environment, the files of the project and of the
//! user.
//!
//! `table.rs` has the settings, `file.rs` reads one file, `find.rs` finds the files, `environment.rs` and
//! `options.rs` read variables and options, `merge.rs` decides which value wins, `show.rs` is `stillframe config`.

mod adapters;
mod environment;
mod file;
mod find;
mod merge;
mod options;
mod show;
mod table;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgMatches;
use engine::bounds::SetBy;
use engine::policy::{Policy, SharedPolicy};
use engine::safety::ClientRoots;

use crate::terminal;

pub(crate) use self::options::{ConfigArgs, ServerSafetyArgs};
pub(crate) use self::show::run;

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(u64),
    Flag(bool),
    Text(String),
    /// Paths or names.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::List(items) => items.join(", ").fmt(f),
        }
    }
}

/// Where a value is from, the strongest last.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SettingSource {
    Default,
    User { file: PathBuf, line: usize },
    Project { file: PathBuf, line: usize },
    Environment(&'static str),
    Option(&'static str),
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { file, line } | Self::Project { file, line } => {
                write!(f, "{}:{line}", file.display())
            }
            Self::Environment(name) | Self::Option(name) => f.write_str(name),
        }
    }
}

impl SettingSource {
    /// The same, as the engine's source of a limit.
    fn set_by(&self) -> SetBy {
        match self {
            Self::Default => SetBy::Default,
            Self::User { .. } | Self::Project { .. } => SetBy::File(self.to_string()),
            Self::Environment(name) => SetBy::Variable(name),
            Self::Option(name) => SetBy::Option(name),
        }
    }
}

/// A configured value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SettingValue {
    name: &'static str,
    value: Value,
    origin: SettingSource,
}

/// The effective settings.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// For the engine.
    policy: SharedPolicy,
    /// The toolsets to offer, as written; none by default.
    pub(crate) toolset: Option<String>,
    /// Where the journal is, as written; none by default.
    pub(crate) log_file: Option<String>,
    /// Answers show likely credentials.
    pub(crate) shows_credentials: bool,
    /// Everything that holds, in the order of the table.
    all: Vec<SettingValue>,
    /// The files that were read.
    files: Vec<PathBuf>,
}

/// Reads an option that is a flag.
pub(crate) fn yes_or_no(text: &str) -> Result<bool, String> {
    environment::flag(text).ok_or_else(|| "it must be true or false".to_owned())
}

impl Settings {
    /// Reads all sources. A setting that a project's file must not have is reported, and has no effect.
    pub(crate) fn read(args: &ConfigArgs, matches: &ArgMatches) -> anyhow::Result<Self> {
        let found = find::files(args)?;
        let mut given = Vec::new();
        let (mut files, mut configured) = (Vec::new(), Vec::new());
        for (file, is_project) in found {
            let (settings, described) = file::read(&file, is_project)?;
            given.extend(settings);
            if is_project {
                for adapter in described {
                    terminal::hint(&format!(
                        "warning: {}: ignored the adapter `{}`, which could start any program; to use it, \
                         copy it to the user's file or start stillframe with `--config {}`",
                        adapter.origin,
                        adapter.name,
                        file.display()
                    ));
                }
            } else {
                configured.extend(described);
            }
            files.push(file);
        }
        given.extend(environment::given(environment::variable)?);
        given.extend(options::given(args, matches)?);
        adapters::check(&configured)?;
        engine::adapter::configured::configure(configured);
        let merged = merge::merge(given)?;
        for warning in &merged.warnings {
            terminal::hint(&format!("warning: {warning}"));
        }
        let all = merged.all;
        let text = |name: &str| {
            all.iter()
                .find(|given| given.name == name && given.origin != SettingSource::Default)
                .map(|given| &given.value)
        };
        Ok(Self {
            toolset: text("serve.toolset").map(ToString::to_string),
            log_file: text("journal.file").map(ToString::to_string),
            shows_credentials: matches!(text("safety.redact"), Some(Value::Flag(false))),
            policy: Arc::new(merged.policy),
            all,
            files,
        })
    }

    /// The settings of the engine.
    pub(crate) fn policy(&self) -> SharedPolicy {
        Arc::clone(&self.policy)
    }

    /// The same for a server, whose client may say which folders are allowed.
    pub(crate) fn server_policy(&self) -> SharedPolicy {
        if !self.uses_client_roots() {
            return self.policy();
        }
        let mut policy = Policy::clone(&self.policy);
        policy.safety.client_roots = Some(ClientRoots::default());
        Arc::new(policy)
    }

    /// The client of a server says which folders are allowed.
    pub(crate) fn uses_client_roots(&self) -> bool {
        self.flag("safety.client_roots")
    }

    /// A server asks the user before a call changes something.
    pub(crate) fn confirms(&self) -> bool {
        self.flag("safety.confirm")
    }

    fn flag(&self, name: &str) -> bool {
        self.all.iter().any(|given| given.name == name && given.value == Value::Flag(true))
    }

    /// An option that sets something, when there is one.
    pub(crate) fn option(&self) -> Option<&'static str> {
        self.all.iter().find_map(|given| match given.origin {
            SettingSource::Option(name) => Some(name),
            _ => None,
        })
    }

    /// What is set, as options for a server elsewhere; paths are rewritten for that machine. The toolset and the
    /// journal have other ways.
    pub(crate) fn as_options(&self, path_there: impl Fn(&str) -> String) -> Vec<String> {
        options::as_options(&self.all, path_there)
    }

    /// How far things may go, and what may be touched.
    pub(crate) fn rules(&self) -> &Policy {
        &self.policy
    }
}

#[cfg(test)]
mod tests;
