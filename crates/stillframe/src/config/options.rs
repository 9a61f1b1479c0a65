//! What is set on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::table::{self, Kind, Setting};
use super::{SettingSource, SettingValue, Value};

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Read only this configuration file, or `off` for none. [env: `STILLFRAME_CONFIG`]
    #[arg(long, global = true, value_name = "PATH", help_heading = HEADING)]
    pub(super) config: Option<PathBuf>,
    /// Read no configuration file.
    #[arg(long, global = true, help_heading = HEADING)]
    pub(super) no_config: bool,
    /// Set a limit, such as `sessions=8`; see `stillframe config`. [env: `STILLFRAME_LIMITS`]
    #[arg(long, global = true, value_name = "NAME=N", value_delimiter = ',', help_heading = HEADING)]
    limit: Vec<String>,
    /// Use only files and programs in this folder (repeatable). [env: `STILLFRAME_ALLOW_ROOT`]
    #[arg(long, global = true, value_name = "DIR", value_delimiter = PATHS, help_heading = HEADING)]
    allow_root: Vec<OsString>,
    /// Do not change debugged programs. [env: `STILLFRAME_READ_ONLY`]
    #[arg(long, global = true, help_heading = HEADING)]
    read_only: bool,
    /// Allow starting this program under --read-only (repeatable). [env: `STILLFRAME_ALLOW_PROGRAM`]
    #[arg(long, global = true, value_name = "PATH", value_delimiter = PATHS, help_heading = HEADING)]
    allow_program: Vec<OsString>,
    /// Allow only this language (repeatable). [env: `STILLFRAME_ALLOW_LANGUAGE`]
    #[arg(long, global = true, value_name = "NAME", value_delimiter = ',', help_heading = HEADING)]
    allow_language: Vec<String>,
    /// Allow attaching to other machines. [env: `STILLFRAME_ALLOW_REMOTE_ATTACH`]
    #[arg(long, global = true, help_heading = HEADING)]
    allow_remote_attach: bool,
}

/// Options of the server: what its client must allow.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ServerSafetyArgs {
    /// Ask the user, by MCP elicitation, before a call attaches to a program, ends an attached one, assigns, sends
    /// a trigger, or evaluates anything that may have side effects. [env: `STILLFRAME_CONFIRM`]
    #[arg(long, help_heading = HEADING)]
    confirm: bool,
    /// Use only files and programs in the folders that the MCP client lists as its roots, within --allow-root.
    /// [env: `STILLFRAME_ALLOW_CLIENT_ROOTS`]
    #[arg(long, help_heading = HEADING)]
    allow_client_roots: bool,
}

const HEADING: &str = "Configuration";
/// What separates paths, as in the variables.
const PATHS: char = super::environment::PATHS;

/// The settings there.
pub(super) fn given(args: &ConfigArgs, matches: &ArgMatches) -> anyhow::Result<Vec<SettingValue>> {
    let mut given = Vec::new();
    for limit in &args.limit {
        let origin = SettingSource::Option("--limit");
        let (name, value) = table::read_limit(limit).map_err(|problem| anyhow!("{origin}: {problem}"))?;
        given.push(SettingValue { name, value, origin });
    }
    for setting in table::all() {
        let Some(option) = setting.option else { continue };
        let Some(value) = value_of(&setting, option, matches)? else { continue };
        let origin = SettingSource::Option(option);
        let value = setting.checked(value, None).map_err(|problem| anyhow!("{origin}: {problem}"))?;
        given.push(SettingValue { name: setting.name, value, origin });
    }
    if matches.get_flag("no_redact") {
        let origin = SettingSource::Option("--no-redact");
        given.push(SettingValue { name: "safety.redact", value: Value::Flag(false), origin });
    }
    Ok(given)
}

/// What the option of a setting sets it to; none if it is not given. The toolset is read by each command that has it.
fn value_of(setting: &Setting, option: &str, matches: &ArgMatches) -> anyhow::Result<Option<Value>> {
    let id = option.trim_start_matches('-').replace('-', "_");
    let levels = [Some(matches), matches.subcommand_matches("serve")];
    let level = levels.into_iter().flatten().find(|level| level.try_contains_id(&id).unwrap_or_default());
    let Some(matches) = level.filter(|level| level.value_source(&id) == Some(ValueSource::CommandLine))
    else {
        return Ok(None);
    };
    let text =
        |value: &OsString| value.clone().into_string().map_err(|_| anyhow!("{option}: value is not UTF-8"));
    Ok(match setting.kind {
        Kind::Flag => matches.get_one(&id).copied().map(Value::Flag),
        Kind::File => matches.get_one(&id).map(text).transpose()?.map(Value::Text),
        Kind::Paths => {
            let paths = matches.get_many(&id).into_iter().flatten().map(text);
            Some(Value::List(paths.collect::<Result<_, _>>()?))
        }
        Kind::Languages => matches.get_many(&id).map(|names| Value::List(names.cloned().collect())),
        Kind::Bound | Kind::Toolset => None,
    })
}

/// The options that set the same for a command elsewhere, which has none of those of a server.
pub(super) fn as_options(all: &[SettingValue], path_there: impl Fn(&str) -> String) -> Vec<String> {
    let mut options = Vec::new();
    for given in all.iter().filter(|given| given.origin != SettingSource::Default) {
        let Some(setting) = table::named(given.name) else { continue };
        let option = setting.option.unwrap_or_default();
        match (setting.name, setting.kind, &given.value) {
            ("safety.confirm" | "safety.client_roots", ..) | ("safety.redact", _, Value::Flag(true)) => {}
            ("safety.redact", ..) => options.push("--no-redact".to_owned()),
            (_, Kind::Flag, Value::Flag(true)) => options.push(option.to_owned()),
            (_, Kind::Paths, Value::List(paths)) => {
                options.extend(paths.iter().map(|path| format!("{option}={}", path_there(path))));
            }
            (_, Kind::Languages, Value::List(names)) => {
                options.extend(names.iter().map(|name| format!("{option}={name}")));
            }
            (name, Kind::Bound, Value::Number(number)) => {
                let limit = name.strip_prefix("limits.").filter(|limit| !limit.starts_with("journal_"));
                options.extend(limit.map(|limit| format!("--limit={limit}={number}")));
            }
            _ => {}
        }
    }
    options
}
