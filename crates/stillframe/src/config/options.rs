//! What is set on the command line and in the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, builder::BoolishValueParser};
use engine::sources;

use super::{Given, Origin, Value, table};

/// The options that every command has.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Read this configuration file and no other; `off` for none.
    #[arg(long, global = true, env = "STILLFRAME_CONFIG", value_name = "PATH", help_heading = HEADING)]
    pub(super) config: Option<PathBuf>,
    /// Read no configuration file.
    #[arg(long, global = true, help_heading = HEADING)]
    pub(super) no_config: bool,
    /// Set a limit, as in `sessions=8`; `stillframe config` lists them.
    #[arg(long, global = true, env = "STILLFRAME_LIMITS", value_name = "NAME=N", value_delimiter = ',', help_heading = HEADING)]
    limit: Vec<String>,
    /// Use no file and no program outside of this folder.
    #[arg(long, global = true, env = "STILLFRAME_ALLOW_ROOT", value_name = "DIR", value_delimiter = PATHS, help_heading = HEADING)]
    allow_root: Vec<PathBuf>,
    /// Change nothing in what is debugged.
    #[arg(long, global = true, env = "STILLFRAME_READ_ONLY", value_parser = BoolishValueParser::new(), help_heading = HEADING)]
    read_only: bool,
    /// Start this program although nothing may be changed.
    #[arg(long, global = true, env = "STILLFRAME_ALLOW_PROGRAM", value_name = "PATH", value_delimiter = PATHS, help_heading = HEADING)]
    allow_program: Vec<PathBuf>,
    /// Use no other language than this.
    #[arg(long, global = true, env = "STILLFRAME_ALLOW_LANGUAGE", value_name = "NAME", value_delimiter = ',', help_heading = HEADING)]
    allow_language: Vec<String>,
    /// Attach to programs of other machines too.
    #[arg(long, global = true, env = "STILLFRAME_ALLOW_REMOTE_ATTACH", value_parser = BoolishValueParser::new(), help_heading = HEADING)]
    allow_remote_attach: bool,
}

const HEADING: &str = "Configuration";
/// What separates paths in a variable of the environment.
const PATHS: char = if cfg!(windows) { ';' } else { ':' };

/// What is set there. The log file and whether credentials are shown have options of their own, by these names.
pub(super) fn given(args: &ConfigArgs, matches: &ArgMatches) -> anyhow::Result<Vec<Given>> {
    let mut given = Vec::new();
    let origin = |id: &str, variable, option| match matches.value_source(id) {
        Some(ValueSource::CommandLine) => Some(Origin::Option(option)),
        Some(ValueSource::EnvVariable) => Some(Origin::Environment(variable)),
        _ => None,
    };
    let mut add = |name, value, from: Option<Origin>| {
        if let Some(origin) = from {
            given.push(Given { name, value, origin });
        }
    };
    for limit in &args.limit {
        let from = origin("limit", "STILLFRAME_LIMITS", "--limit");
        let (name, value) = read_limit(limit)?;
        add(name, value, from);
    }
    let paths = |paths: &[PathBuf]| {
        Value::List(paths.iter().map(|path| sources::absolute(path).display().to_string()).collect())
    };
    let root = origin("allow_root", "STILLFRAME_ALLOW_ROOT", "--allow-root");
    add("safety.roots", paths(&args.allow_root), root);
    let program = origin("allow_program", "STILLFRAME_ALLOW_PROGRAM", "--allow-program");
    add("safety.programs", paths(&args.allow_program), program);
    let language = origin("allow_language", "STILLFRAME_ALLOW_LANGUAGE", "--allow-language");
    add("safety.languages", Value::List(args.allow_language.clone()), language);
    let read_only = origin("read_only", "STILLFRAME_READ_ONLY", "--read-only");
    add("safety.read_only", Value::Flag(args.read_only), read_only);
    let remote = origin("allow_remote_attach", "STILLFRAME_ALLOW_REMOTE_ATTACH", "--allow-remote-attach");
    add("safety.remote_attach", Value::Flag(args.allow_remote_attach), remote);

    if let Ok(toolset) = std::env::var("STILLFRAME_TOOLSET") {
        add("serve.toolset", Value::Text(toolset), Some(Origin::Environment("STILLFRAME_TOOLSET")));
    }
    let log_file = matches.get_one::<OsString>("log_file").map(|file| file.to_string_lossy().into_owned());
    let from = origin("log_file", "STILLFRAME_LOG_FILE", "--log-file");
    add("journal.file", Value::Text(log_file.unwrap_or_default()), from);
    let redact = matches.get_one::<bool>("redact").copied().unwrap_or(true);
    let from = origin("redact", "STILLFRAME_REDACT", "--redact");
    add("safety.redact", Value::Flag(redact), from);
    if matches.get_flag("no_redact") {
        add("safety.redact", Value::Flag(false), Some(Origin::Option("--no-redact")));
    }
    for Given { name, value, origin } in &given {
        if let Some(setting) = table::named(name) {
            setting.check(value).map_err(|problem| anyhow!("{origin}: {problem}"))?;
        }
    }
    Ok(given)
}

fn read_limit(text: &str) -> anyhow::Result<(&'static str, Value)> {
    let Some((name, number)) = text.split_once('=') else {
        bail!("`--limit {text}` has no value; it takes NAME=N, as in `sessions=8`");
    };
    let Some(setting) = table::named(&format!("limits.{}", name.trim())) else {
        bail!("there is no limit `{name}`; `stillframe config` lists them");
    };
    let value = number.trim().parse().map(Value::Number);
    let value =
        value.map_err(|_| anyhow!("--limit: `{name}` takes {}, and got `{number}`", setting.takes()))?;
    Ok((setting.name, value))
}
