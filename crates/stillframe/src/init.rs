//! `stillframe init`: the server's entry and the skill in the files of the hosts on this machine.
//!
//! [`hosts`] is the table, [`entry`] has the shapes of entries and [`start`] the words in them,
//! [`format`](mod@format) edits a file of one of three formats, [`plan`] works out what changes, and [`apply`] writes it.
//! [`variables`] is for `doctor`.

mod apply;
mod entry;
mod format;
mod hosts;
mod json;
mod launcher;
mod plan;
mod start;
mod toml;
mod variables;
mod yaml;

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::builder::PossibleValue;

pub(crate) use self::entry::{NAME, ServerCommand, address, remote};
use self::hosts::HOSTS;
pub(crate) use self::hosts::{Folders, McpHost, Scope, named};
use self::plan::{Change, Step};
pub(crate) use self::plan::{existing, existing_for};
pub(crate) use self::variables::TextPlace;
use crate::terminal::{self, BAD, FAINT, GOOD, HEADING, WARN, styled};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct InitArgs {
    /// Hosts to set up. Defaults to those on this machine.
    #[arg(value_name = "HOST", value_parser = names())]
    hosts: Vec<String>,
    /// Write the files. Without it, init shows what it would write.
    #[arg(long, short)]
    yes: bool,
    /// Set up the project in the current folder instead of your account.
    #[arg(long)]
    project: bool,
    /// Remove the entry and the skill.
    #[arg(long)]
    remove: bool,
    /// Leave the skill out.
    #[arg(long)]
    no_skill: bool,
    /// Command that starts stillframe, such as `npx -y stillframe`. Defaults to the path of this program.
    #[arg(long, value_name = "COMMAND", conflicts_with = "remove")]
    command: Option<String>,
    /// Print the entry of one host, to paste, and write nothing.
    #[arg(long, value_name = "HOST", value_parser = names(), conflicts_with_all = ["hosts", "yes", "remove"])]
    print: Option<String>,
}

/// The hosts, each under its other names too.
pub(crate) fn names() -> clap::builder::PossibleValuesParser {
    let value = |host: &McpHost| PossibleValue::new(host.name).aliases(host.aliases);
    HOSTS.iter().map(value).collect::<Vec<_>>().into()
}

/// Shows what changes, and with `--yes` writes it.
pub(crate) fn run(args: &InitArgs) -> anyhow::Result<ExitCode> {
    let folders = Folders::of_user()?;
    let scope = if args.project { Scope::Project(std::env::current_dir()?) } else { Scope::User };
    if let Some(host) = args.print.as_deref().and_then(named) {
        return print(host, args.command.as_deref(), &scope, &folders);
    }
    let launcher = launcher::words(args.command.as_deref(), &scope)?;
    let chosen = choose(args, &scope, &folders)?;
    let mut text = String::new();
    let (mut failed, mut pending, mut seen) = (false, false, HashSet::new());
    // The first host whose entry changes.
    let mut first = None;
    for host in &chosen {
        let _ = writeln!(text, "{}", styled(HEADING, host.title));
        for planned in planned(host, args, &launcher, (&chosen, &scope, &folders)) {
            let outcome = planned.and_then(|(path, step)| match step {
                Step::Change(change) if seen.insert(change.path.clone()) => {
                    text.push_str(&difference(&change, &folders));
                    pending = true;
                    if host.files(&scope, &folders).contains(&path) {
                        first.get_or_insert(host.name);
                    }
                    if args.yes { written(&change, &folders) } else { Ok(String::new()) }
                }
                Step::Change(_) => Ok(String::new()),
                Step::Nothing => Ok(line(&unchanged(args, &folders.shown(&path)))),
                Step::Leave(what) => Ok(left(&what, host, args, &folders.shown(&path))),
            });
            match outcome {
                Ok(said) => text.push_str(&said),
                Err(problem) => {
                    failed = true;
                    let problem = terminal::wrapped(&format!("{problem:#}"), "    ");
                    let _ = writeln!(text, "  {} {}", styled(BAD, "✗"), problem.trim());
                }
            }
        }
    }
    terminal::print(&text)?;
    if pending && !args.yes {
        terminal::hint("nothing was written; add `--yes` to write this");
    } else if let Some(host) = first
        && !args.remove
        && !failed
    {
        terminal::hint(&format!("restart the host, then check it: stillframe doctor --host {host}"));
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints the entry of one host as its file has it.
fn print(
    host: &McpHost,
    command: Option<&str>,
    scope: &Scope,
    folders: &Folders,
) -> anyhow::Result<ExitCode> {
    let file = host.file(scope, folders).with_context(|| no_project_file(host))?;
    let launcher = launcher::words(command, scope)?;
    let entry = host.shape.entry(&launcher, None);
    terminal::hint(&format!("in {}:", folders.shown(&file)));
    terminal::print(&host.format.alone(plan::place(host), &entry)?)?;
    Ok(ExitCode::SUCCESS)
}

fn no_project_file(host: &McpHost) -> String {
    format!("{} reads no servers from a project; leave out `--project`", host.title)
}

/// The hosts that were named, or else those on this machine.
fn choose(args: &InitArgs, scope: &Scope, folders: &Folders) -> anyhow::Result<Vec<&'static McpHost>> {
    if !args.hosts.is_empty() {
        let mut chosen: Vec<&McpHost> = args.hosts.iter().filter_map(|name| named(name)).collect();
        let mut seen = HashSet::new();
        chosen.retain(|host| seen.insert(host.name));
        for host in &chosen {
            host.file(scope, folders).with_context(|| no_project_file(host))?;
        }
        return Ok(chosen);
    }
    let has_file = |host: &&McpHost| host.file(scope, folders).is_some();
    // What is in a project may come from other machines.
    let is_meant =
        |host: &&McpHost| host.is_here(folders) || args.remove && plan::has_ours(host, scope, folders);
    let chosen: Vec<&McpHost> = HOSTS.iter().filter(has_file).filter(is_meant).collect();
    let known: Vec<&str> = HOSTS.iter().filter(has_file).map(|host| host.name).collect();
    let more = if args.remove { ", and there is nothing to remove" } else { "" };
    ensure!(!chosen.is_empty(), "no host was found on this machine{more}; name one: {}", known.join(", "));
    Ok(chosen)
}

type Planned = anyhow::Result<(PathBuf, Step)>;

/// What changes for one host: its files and the skill.
fn planned(
    host: &McpHost,
    args: &InitArgs,
    launcher: &[String],
    (chosen, scope, folders): (&[&McpHost], &Scope, &Folders),
) -> Vec<Planned> {
    let mut all = Vec::new();
    // A user's file may have an entry for a single folder, too.
    let here: Option<&Path> = matches!(scope, Scope::User).then_some(&folders.here);
    let files = host.files(scope, folders);
    for file in files {
        let change = if args.remove {
            plan::remove(host, file.clone(), here).map(Step::from)
        } else {
            plan::add(host, file.clone(), launcher, here)
        };
        all.push(change.map(|step| (file, step)));
    }
    if !args.no_skill && all.iter().all(Result::is_ok) {
        let file = host.skill(scope, folders);
        let change = if args.remove {
            plan::remove_skill(file.clone(), chosen, scope, folders)
        } else {
            plan::add_skill(file.clone())
        };
        all.push(change.map(|change| (file, change.into())));
    }
    all
}

fn unchanged(args: &InitArgs, file: &str) -> String {
    if args.remove { format!("{file}: nothing to remove") } else { format!("{file}: up to date") }
}

fn left(what: &str, host: &McpHost, args: &InitArgs, file: &str) -> String {
    let project = if args.project { " --project" } else { "" };
    let text = format!(
        "`{NAME}` in {file} is {what} and was left as it is; to replace it, remove it first: stillframe init {}{project} \
         --remove --yes",
        host.name
    );
    format!("  {} {}\n", styled(WARN, "!"), terminal::wrapped(&text, "    ").trim())
}

fn written(change: &Change, folders: &Folders) -> anyhow::Result<String> {
    let backup = apply::apply(change)?;
    let done = if change.after.is_some() { "wrote" } else { "removed" };
    let mut said = format!("{done} {}", folders.shown(&change.path));
    if let Some(backup) = backup {
        let _ = write!(said, "; the old file is {}", folders.shown(&backup));
    }
    Ok(line(&said))
}

fn line(what: &str) -> String {
    format!("  {} {}\n", styled(GOOD, "✓"), terminal::wrapped(what, "    ").trim())
}

/// The lines that change, with some around them.
fn difference(change: &Change, folders: &Folders) -> String {
    let path = folders.shown(&change.path);
    let mut text = format!("  {path}\n");
    let after = change.after.as_deref().unwrap_or_default();
    let before = change.before.as_deref().unwrap_or_default();
    if path.ends_with("SKILL.md") {
        let what = match (&change.before, &change.after) {
            (None, _) => format!("+ the skill, {} lines", after.lines().count()),
            (_, None) => format!("- the skill, {} lines", before.lines().count()),
            _ => "~ the skill, in this version".to_owned(),
        };
        let _ = writeln!(text, "    {}", styled(FAINT, what));
        return text;
    }
    let diff = similar::TextDiff::from_lines(before, after);
    for (number, group) in diff.grouped_ops(3).iter().enumerate() {
        if number > 0 {
            let _ = writeln!(text, "    {}", styled(FAINT, "…"));
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let (sign, style) = match change.tag() {
                similar::ChangeTag::Equal => (' ', FAINT),
                similar::ChangeTag::Insert => ('+', GOOD),
                similar::ChangeTag::Delete => ('-', BAD),
            };
            let shown = terminal::shown(change.value().trim_end_matches(['\r', '\n']));
            let _ = writeln!(text, "    {}", styled(style, format_args!("{sign} {shown}")));
        }
    }
    text
}
