//! One command on another machine: it runs there, and its report comes here, where it is printed.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use engine::model::stop::End;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::time::{interval, timeout};

use super::connection::Connection;
use super::paths::Paths;
use super::silence::{BEAT, UntilSilence};
use super::{PlaceArgs, RELAYED, prepare, settings_there};
use crate::cli;
use crate::config::Settings;
use crate::one_shot::{INTERRUPTED, Presentation, RunContext};
use crate::terminal;

/// Options that say how to get there. They are not passed on, nor are those of every command: settings are passed on.
const TO_GET_THERE: [&str; 3] = ["--via", "--map", "--binary"];
/// Options whose values are code or text, whatever they look like.
const LITERAL: [&str; 5] = ["-e", "--expression", "--condition", "--statement", "--env"];
/// How long the end may take after Ctrl-C.
const LAST: Duration = Duration::from_secs(2);
/// What ssh exits with when the connection, and not the command, has failed.
const LOST: i32 = 255;

/// Runs the command there, and returns its exit code.
pub(crate) async fn run(
    place: PlaceArgs,
    presentation: Presentation,
    settings: &Settings,
    run_context: RunContext,
) -> anyhow::Result<ExitCode> {
    let shows_credentials = run_context.shows_credentials;
    let (connector, paths, _) = prepare(place, run_context.journal).await?;
    let mut words = words(std::env::args().skip(1), &paths).into_iter();
    let mut args: Vec<String> = std::iter::once(RELAYED.to_owned()).chain(words.next()).collect();
    args.extend(settings_there(settings, &paths, connector.diagnostics.keeps_journal()));
    args.extend(words);
    let connection = connector.start(&paths, &args).await?;
    for problem in paths.missing_folders(&connection.missing) {
        terminal::hint(&problem);
    }
    let Connection { mut stdin, mut stdout, mut ending, .. } = connection;
    // The end of its input ends the command there, as the end of the connection does.
    let beating = tokio::spawn(async move {
        let mut beat = interval(BEAT);
        loop {
            beat.tick().await;
            if stdin.write_all(b"\n").await.is_err() || stdin.flush().await.is_err() {
                return;
            }
        }
    });
    let mut line = Vec::new();
    let mut is_interrupted = false;
    loop {
        let read = async { stdout.read_until(b'\n', &mut line).await };
        let read = if is_interrupted {
            // What it prints at its end is not waited for any longer.
            timeout(LAST, read).await.unwrap_or(Ok(0))
        } else {
            tokio::select! {
                read = read => read,
                _ = tokio::signal::ctrl_c() => {
                    is_interrupted = true;
                    beating.abort();
                    continue;
                }
            }
        };
        if !matches!(read, Ok(1..)) {
            break;
        }
        let report = presentation.received(&line, shows_credentials, |answer| {
            paths.answer(answer);
        });
        terminal::print(&report.unwrap_or_else(|| String::from_utf8_lossy(&line).into_owned()))?;
        line.clear();
    }
    beating.abort();
    let end = ending.end().await;
    if is_interrupted {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    match end {
        Some(End::Exited(code)) if code != LOST => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        _ => Err(anyhow!("lost the connection to `{}`: {}", connector.target, ending.reason().await)),
    }
}

/// Returns at the end of standard input, or when nothing has come on it for a while: the relay is gone.
pub(crate) async fn relay_gone() {
    let mut input = UntilSilence::new(tokio::io::stdin());
    let mut buffer = [0; 64];
    while matches!(input.read(&mut buffer).await, Ok(1..)) {}
}

/// The command line for the other side: without the options that are for this one, and with the paths there.
fn words(given: impl Iterator<Item = String>, paths: &Paths) -> Vec<String> {
    let mut words = Vec::new();
    let mut given = given;
    let mut is_program = false;
    while let Some(word) = given.next() {
        if is_program {
            words.push(paths.word(&word));
            continue;
        }
        let (name, has_value) = word.split_once('=').map_or((word.as_str(), false), |(name, _)| (name, true));
        let stays_here = if TO_GET_THERE.contains(&name) {
            Some(if has_value { 1 } else { 2 })
        } else {
            cli::option_length(&word)
        };
        if let Some(length) = stays_here {
            for _ in 1..length {
                given.next();
            }
        } else if LITERAL.contains(&name) {
            let value = if has_value { None } else { given.next() };
            words.push(word);
            words.extend(value);
        } else {
            is_program = word == "--";
            words.push(paths.place(&word));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_this_machine_stay_here() {
        let paths = Paths::new(vec!["/app=/home/me/src".parse().unwrap()], "/home/me/src".into());
        let given = "--log-file x probe --via ssh://h --map=/app=/home/me/src --read-only --redact=false \
                     --limit rows=7 --no-config --binary=/home/me/src/stillframe --redact \
                     /home/me/src/a.py:3 -e '/home/me/src' --condition --via --timeout 5 -- --via /home/me/src/b";
        let words = words(given.split_whitespace().map(str::to_owned), &paths);
        let expected = "probe /app/a.py:3 -e '/home/me/src' --condition --via --timeout 5 -- --via /app/b";
        assert_eq!(words.join(" "), expected);
    }
}
