//! Debugging on another machine or in a container: the server runs there, and this process relays messages to it.
//!
//! In the order of reading: `engines.rs` has the command lines of ssh, docker, podman, kubectl and WSL; `scripts.rs`
//! what they run there; `program.rs` is what is copied; `connection.rs` connects, copies and starts; `relay.rs` passes
//! messages on, with `messages.rs` for what is in them and `paths.rs` for the paths in them, by mappings (`mapping.rs`)
//! that are given, or guessed from the content of files (`guess.rs`); `diagnostics.rs` reads standard error, on which
//! the journal comes back; `silence.rs` ends a silent connection.
//!
//! `one_shot.rs` runs another command than `serve` there. Calls with a `target` use the same: `remote.rs` is a client of a server elsewhere, `remotes.rs` knows which session
//! is where, `replicas.rs` the machines of an address, and `fan_out.rs` makes one answer of several.

mod connection;
mod diagnostics;
mod engines;
mod fan_out;
mod guess;
mod mapping;
mod messages;
mod one_shot;
mod paths;
mod program;
mod relay;
mod remote;
mod remotes;
mod replicas;
mod scripts;
mod silence;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use anyhow::{bail, ensure};
use journal::Journal;
use tokio::sync::Mutex as AsyncMutex;
use tools::Toolset;

use self::connection::Connector;
use self::diagnostics::Diagnostics;
pub(crate) use self::diagnostics::MarkedLines;
use self::engines::Target;
use self::guess::Advice;
pub(crate) use self::guess::match_sources;
use self::mapping::{Mapping, Origin};
pub(crate) use self::one_shot::{relay_gone, run as run_command};
use self::paths::{Direction, Paths};
use self::program::Program;
use self::relay::Relay;
pub(crate) use self::remotes::{RemoteSetup, Remotes};
pub(crate) use self::silence::UntilSilence;
use crate::config::Settings;
use crate::one_shot::RunContext;
use crate::signals::Shutdown;
use crate::terminal;

/// Options for another machine.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// Debug on another machine or in a container: `ssh://[USER@]HOST`, `docker://CONTAINER`, `podman://CONTAINER`,
    /// `kubectl://NAMESPACE/POD[/CONTAINER]`, `wsl://DISTRIBUTION`. stillframe is copied there once.
    #[arg(long, value_name = "ADDRESS", help_heading = HEADING)]
    via: Option<Target>,
    /// Source folder there and the same folder here, such as `/app=./src` (repeatable), or `none` [default: guessed by
    /// comparing files]
    #[arg(long, value_name = "THERE=HERE", requires = "via", help_heading = HEADING)]
    map: Vec<MapArg>,
    /// Build of stillframe to copy there, if that machine's platform differs from this one's.
    #[arg(long, value_name = "FILE", requires = "via", help_heading = HEADING)]
    binary: Option<PathBuf>,
}

const HEADING: &str = "Other machines";
/// The hidden first argument of what a relay starts: the journal goes to standard error, and the end of standard input,
/// or silence, ends it.
pub(crate) const RELAYED: &str = "__relayed";

/// Options of `serve` for another machine.
#[derive(Debug, clap::Args)]
pub(crate) struct ViaArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Remove the copies of stillframe there, and exit.
    #[arg(long, requires = "via", help_heading = HEADING)]
    clean: bool,
}

/// A value of `--map`.
#[derive(Clone, Debug)]
enum MapArg {
    /// Nothing is guessed.
    None,
    Folders(Mapping),
}

impl FromStr for MapArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" { Ok(Self::None) } else { text.parse().map(Self::Folders) }
    }
}

impl ViaArgs {
    /// Where it is done.
    pub(crate) fn place(&self) -> &PlaceArgs {
        &self.place
    }
}

impl PlaceArgs {
    /// Whether it is another machine.
    pub(crate) fn is_given(&self) -> bool {
        self.via.is_some()
    }

    fn connector(&self) -> anyhow::Result<Connector> {
        let Some(target) = self.via.clone() else { bail!("--via is missing") };
        let program = Program::read(self.binary.as_deref())?;
        Ok(Connector { target, program, diagnostics: Diagnostics::default() })
    }
}

/// Relays until the client goes away, a signal comes, or the first connection fails.
pub(crate) async fn serve(
    args: ViaArgs,
    toolsets: &[&'static Toolset],
    settings: &Settings,
    run_context: RunContext,
) -> anyhow::Result<ExitCode> {
    if args.clean {
        return clean(&args.place.connector()?).await;
    }
    ensure!(
        !settings.uses_client_roots(),
        "--allow-client-roots cannot be combined with --via: the client's roots are folders of this machine"
    );
    let shutdown = Shutdown::watch();
    let (connector, paths, remark) = tokio::select! {
        prepared = prepare(args.place, run_context.journal) => prepared?,
        () = shutdown.token.cancelled() => return Ok(ExitCode::SUCCESS),
    };
    let names: Vec<&str> = toolsets.iter().map(|toolset| toolset.name).collect();
    let args = server_args(&names.join(","), settings, &paths, connector.diagnostics.keeps_journal());
    let first = tokio::select! {
        first = connector.start(&paths, &args) => first?,
        () = shutdown.token.cancelled() => return Ok(ExitCode::SUCCESS),
    };
    let missing = paths.missing_folders(&first.missing);
    for problem in &missing {
        terminal::hint(problem);
    }
    let notice = notice(&connector.target, &paths, &remark, &missing);
    let relay = Relay {
        connector,
        paths,
        args,
        notice,
        output: AsyncMutex::new(tokio::io::stdout()),
        initialize: Mutex::default(),
        lost: Mutex::default(),
    };
    Arc::new(relay).run(tokio::io::stdin(), first, &shutdown.token).await;
    Ok(ExitCode::SUCCESS)
}

async fn clean(connector: &Connector) -> anyhow::Result<ExitCode> {
    let removed = connector.clean().await?;
    let target = &connector.target;
    terminal::print(&if removed.is_empty() {
        format!("nothing to remove on {target}\n")
    } else {
        let lines = removed.iter().map(|folder| format!("removed {folder} on {target}"));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    })?;
    Ok(ExitCode::SUCCESS)
}

/// How to connect, with the paths of both sides, and notes on how they were guessed.
async fn prepare(place: PlaceArgs, journal: Journal) -> anyhow::Result<(Connector, Arc<Paths>, String)> {
    let mut connector = place.connector()?;
    let (paths, remark) = paths(&connector, place.map).await?;
    let paths = Arc::new(paths);
    connector.diagnostics = Diagnostics::new(journal, Arc::clone(&paths));
    Ok((connector, paths, remark))
}

/// The arguments of the server there.
fn server_args(toolsets: &str, settings: &Settings, paths: &Paths, keeps_journal: bool) -> Vec<String> {
    let mut args: Vec<String> = [RELAYED, "serve", "--toolset", toolsets].map(str::to_owned).to_vec();
    args.extend(settings_there(settings, paths, keeps_journal));
    if settings.confirms() {
        args.push("--confirm".to_owned());
    }
    args
}

/// What is set here is set there too.
fn settings_there(settings: &Settings, paths: &Paths, keeps_journal: bool) -> Vec<String> {
    let mut args = settings.as_options(|path| paths.text(path, Direction::There).into_owned());
    if !keeps_journal {
        args.extend(["--log-file", "off"].map(str::to_owned));
    }
    args
}

/// The given mappings, or those that the content of files suggests; and notes on how they were guessed.
async fn paths(connector: &Connector, given: Vec<MapArg>) -> anyhow::Result<(Paths, String)> {
    let folder = std::env::current_dir()?;
    let target = &connector.target;
    if !given.is_empty() {
        let folders = |map| match map {
            MapArg::Folders(mapping) => Some(mapping),
            MapArg::None => None,
        };
        let given: Vec<Mapping> = given.into_iter().filter_map(folders).collect();
        if let Some(mapping) = given.iter().find(|mapping| !Path::new(&mapping.here).is_dir()) {
            bail!("--map {mapping}: `{}` is not a folder here", mapping.here);
        }
        return Ok((Paths::new(given, folder).on(target, Origin::Given), String::new()));
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let named = guess::program_paths(words.iter().map(String::as_str));
    let (paths, remark) = guess::paths(connector, folder, &named, &ADVICE).await?;
    match (paths.is_empty(), remark.is_empty()) {
        (true, true) => {}
        (true, false) => terminal::hint(&remark),
        (false, _) => terminal::hint(&format!("{} ({remark})", paths.describe())),
    }
    Ok((paths, remark))
}

const ADVICE: Advice = Advice {
    none: "give --map THERE=HERE, or --map none if none has",
    other: "--map THERE=HERE or --map none overrides it",
};

/// What the client's model should know.
fn notice(target: &Target, paths: &Paths, remark: &str, missing: &[String]) -> String {
    let mut sentences =
        vec![format!("Programs run on {target}: files, processes and ports are those of that machine.")];
    if !paths.is_empty() {
        let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
        sentences.push(format!("In calls and answers, paths are those here: {}{remark}.", paths.describe()));
    } else if !remark.is_empty() {
        sentences.push(format!("Paths are those there: {remark}."));
    }
    sentences.extend(missing.iter().map(|problem| format!("But {problem}.")));
    sentences.join(" ")
}

/// The journal of a server that a relay has started: lines on standard error.
pub(crate) fn journal(run_rules: &engine::policy::Policy) -> Journal {
    Journal::stream(MarkedLines(std::io::stderr()), run_rules.source_reader())
}
