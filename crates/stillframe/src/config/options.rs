//! What is set on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::{SettingSource, SettingValue, Value, table};

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

/// The settings there. The log file and the redaction of credentials have separate options, with these names.
pub(super) fn given(args: &ConfigArgs, matches: &ArgMatches) -> anyhow::Result<Vec<SettingValue>> {
    let is_given = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
    let mut given = Vec::new();
    for limit in &args.limit {
        let origin = SettingSource::Option("--limit");
        let (name, value) = table::read_limit(limit).map_err(|problem| anyhow!("{origin}: {problem}"))?;
        given.push(SettingValue { name, value, origin });
    }
    let mut add = |name, option, value| {
        let Some(setting) = table::named(name) else { return Ok(()) };
        let origin = SettingSource::Option(option);
        let value = setting.checked(value, None).map_err(|problem| anyhow!("{origin}: {problem}"))?;
        given.push(SettingValue { name, value, origin });
        Ok::<(), anyhow::Error>(())
    };
    if is_given("allow_root") {
        add("safety.roots", "--allow-root", paths("--allow-root", &args.allow_root)?)?;
    }
    if is_given("allow_program") {
        add("safety.programs", "--allow-program", paths("--allow-program", &args.allow_program)?)?;
    }
    if is_given("allow_language") {
        add("safety.languages", "--allow-language", Value::List(args.allow_language.clone()))?;
    }
    let server = matches.subcommand_matches("serve");
    let is_set = |id| server.is_some_and(|server| server.get_flag(id));
    if is_set("confirm") {
        add("safety.confirm", "--confirm", Value::Flag(true))?;
    }
    if is_set("allow_client_roots") {
        add("safety.client_roots", "--allow-client-roots", Value::Flag(true))?;
    }
    if args.read_only {
        add("safety.read_only", "--read-only", Value::Flag(true))?;
    }
    if args.allow_remote_attach {
        add("safety.remote_attach", "--allow-remote-attach", Value::Flag(true))?;
    }
    if let Some(file) = matches.get_one::<OsString>("log_file") {
        add("journal.file", "--log-file", Value::Text(text("--log-file", file)?))?;
    }
    if is_given("redact") {
        let redact = matches.get_one("redact").copied().unwrap_or(true);
        add("safety.redact", "--redact", Value::Flag(redact))?;
    }
    if matches.get_flag("no_redact") {
        add("safety.redact", "--no-redact", Value::Flag(false))?;
    }
    Ok(given)
}

/// The options that set the same elsewhere.
pub(super) fn as_options(all: &[SettingValue], path_there: impl Fn(&str) -> String) -> Vec<String> {
    let mut options = Vec::new();
    for given in all.iter().filter(|given| given.origin != SettingSource::Default) {
        match (given.name, &given.value) {
            ("safety.roots", Value::List(paths)) => {
                options.extend(paths.iter().map(|path| format!("--allow-root={}", path_there(path))));
            }
            ("safety.programs", Value::List(paths)) => {
                options.extend(paths.iter().map(|path| format!("--allow-program={}", path_there(path))));
            }
            ("safety.languages", Value::List(names)) => {
                options.extend(names.iter().map(|name| format!("--allow-language={name}")));
            }
            ("safety.read_only", Value::Flag(true)) => options.push("--read-only".to_owned()),
            ("safety.remote_attach", Value::Flag(true)) => options.push("--allow-remote-attach".to_owned()),
            ("safety.redact", Value::Flag(false)) => options.push("--no-redact".to_owned()),
            (name, Value::Number(number)) => {
                let limit = name.strip_prefix("limits.").filter(|limit| !limit.starts_with("journal_"));
                options.extend(limit.map(|limit| format!("--limit={limit}={number}")));
            }
            _ => {}
        }
    }
    options
}

fn paths(option: &str, paths: &[OsString]) -> anyhow::Result<Value> {
    paths.iter().map(|path| text(option, path)).collect::<Result<_, _>>().map(Value::List)
}

fn text(option: &str, value: &OsString) -> anyhow::Result<String> {
    value.clone().into_string().map_err(|_| anyhow!("{option}: value is not UTF-8"))
}
