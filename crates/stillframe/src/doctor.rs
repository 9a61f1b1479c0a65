//! `stillframe doctor`: what works on this machine, by trying it.

mod adapter;
mod address;
mod client;
mod host;
mod steps;

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use engine::adapter::{Adapter, Driver, Host, Machine, Runtime};
use engine::model::launch::{Launch, Program};
use engine::policy::SharedPolicy;
use engine::safety::Safety;
use engine::session::placing::PlaceRequest;
use engine::sessions::Sessions;
use serde_json::{Value, json};
use tools::ops::languages::{Language, languages};
use tools::ops::lifecycle;
use tools::ops::run_until::{Frames, RunUntil, run_until};
use tools::ops::settle::{Settled, Wait};
use tools::{Context, LocationArg};

use crate::terminal::{self, BAD, FAINT, GOOD, HEADING, WARN, styled};

/// Tries one language or configured adapter.
pub(crate) async fn try_adapter(
    name: &str,
    (place, program): (Option<LocationArg>, Option<PathBuf>),
    as_json: bool,
    policy: SharedPolicy,
) -> anyhow::Result<ExitCode> {
    let known = lifecycle::language_of(name).map_err(crate::setup::cli_error)?;
    let sample =
        (place.is_none() && known.facts().sample.line > 0).then(|| SampleFile::write(known)).transpose()?;
    let of_sample = sample.as_ref().map(|sample| LocationArg {
        file: sample.path.clone(),
        line: Some(known.facts().sample.line),
        column: None,
        function: None,
    });
    adapter::run(known, (place.or(of_sample), program), as_json, policy).await
}

/// Starts the server as a host would, and tries it.
pub(crate) async fn try_host(name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    host::run(name, as_json).await
}

/// Checks every language and prints the results. Installs nothing.
pub(crate) async fn run(as_json: bool, safety: &Safety) -> anyhow::Result<ExitCode> {
    let mut checked = Vec::new();
    for language in languages(&Machine, safety).await {
        let tried = match (&language.runtime, language.provided) {
            _ if language.forbidden.is_some() => None,
            // A configured adapter has no sample; `--adapter` tries it with a program of the user's.
            (Ok(_), true) if language.adapter.facts().sample.line == 0 => None,
            (Ok(_), true) => {
                Some(try_debugging(language.adapter).await.map_err(|error| format!("{error:#}")))
            }
            _ => None,
        };
        checked.push(LanguageCheck { language, tried });
    }
    let text = if as_json { to_json(&checked)? } else { to_text(&checked) };
    terminal::print(&text)?;
    let well = checked.iter().all(LanguageCheck::is_well);
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct LanguageCheck {
    language: Language,
    /// How long a whole session took, or why it failed; nothing when there was nothing to try with.
    tried: Option<Result<Duration, String>>,
}

impl LanguageCheck {
    /// A debugger that is not installed yet is well: it is installed on first use.
    fn is_well(&self) -> bool {
        self.language.forbidden.is_some()
            || self.is_left_out()
            || self.language.runtime.is_ok() && !matches!(self.tried, Some(Err(_)))
    }

    /// A debugger that comes with neither us nor the language is there for those who want it.
    fn is_left_out(&self) -> bool {
        self.language.adapter.facts().driver == Driver::Dap && self.language.runtime.is_err()
    }

    /// Whether what runs or debugs the language is there, rather than where it will be installed.
    fn has_runtime(&self) -> bool {
        let is_there = |runtime: &Runtime| self.language.provided || runtime.executable.is_file();
        self.language.runtime.as_ref().is_ok_and(is_there)
    }

    fn setup(&self) -> String {
        format!("stillframe setup {}", self.language.adapter.name())
    }
}

/// Debugs the smallest program of a language: starts it, stops it, and asks it for a value.
async fn try_debugging(adapter: &'static dyn Adapter) -> anyhow::Result<Duration> {
    let sample = SampleFile::write(adapter)?;
    let sessions = Sessions::new();
    let context = Context::new(sessions.clone());
    let began = Instant::now();
    let session = lifecycle::open(&context, adapter.name(), Some("doctor".to_owned()), None)
        .map_err(crate::setup::cli_error)?;
    let request = RunUntil {
        launch: Some(Launch::new(Program::Script(sample.path.clone()))),
        places: vec![PlaceRequest {
            file: Some(sample.path.clone()),
            line: Some(adapter.facts().sample.line),
            ..PlaceRequest::default()
        }],
        exceptions: None,
        frames: Frames::Top,
        trigger: None,
        expressions: vec!["answer".to_owned()],
        wait: Wait::usual(context.bounds()),
    };
    let ran = run_until(&session, request, &context).await;
    sessions.close_all().await;
    let ran = ran.map_err(crate::setup::cli_error)?;
    anyhow::ensure!(
        matches!(ran.settled, Settled::Stopped(_)),
        "a small program did not stop at its breakpoint"
    );
    match ran.values.first() {
        Some((_, Ok(value))) if value.text == "42" => Ok(began.elapsed()),
        Some((_, Err(error))) => Err(anyhow::anyhow!(error.message.clone())),
        other => Err(anyhow::anyhow!("a value was read incorrectly: {other:?}")),
    }
}

/// A file that is gone when this is.
struct SampleFile {
    path: PathBuf,
}

impl SampleFile {
    fn folder() -> PathBuf {
        Machine.cache_dir().join("doctor")
    }

    fn write(adapter: &dyn Adapter) -> anyhow::Result<Self> {
        let extension = adapter.facts().extensions.first().unwrap_or(&"txt");
        let folder = Self::folder();
        let path = folder.join(format!("sample-{}.{extension}", std::process::id()));
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, adapter.facts().sample.source));
        written.with_context(|| {
            format!(
                "cannot write `{}`; set STILLFRAME_CACHE_DIR to a folder that can be written",
                path.display()
            )
        })?;
        Ok(Self { path })
    }
}

impl Drop for SampleFile {
    fn drop(&mut self) {
        // A file that stays is small, and in our own cache.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn to_text(checked: &[LanguageCheck]) -> String {
    let mut text = String::new();
    for one in checked {
        let language = &one.language;
        let _ = writeln!(text, "{}", styled(HEADING, language.adapter.name()));
        if !language.adapter.about().eq_ignore_ascii_case(language.adapter.name()) {
            detail(&mut text, language.adapter.about());
        }
        if let Some(reason) = &language.forbidden {
            line(&mut text, CheckMark::Warn, reason);
            continue;
        }
        match &language.runtime {
            // The file that will be installed.
            Ok(_) if !one.has_runtime() => {}
            Ok(runtime) => {
                line(&mut text, CheckMark::Good, &format!("version {}, {}", runtime.version, runtime.origin));
                detail(&mut text, &runtime.executable.display().to_string());
            }
            Err(problem) if one.is_left_out() => line(&mut text, CheckMark::Warn, problem),
            Err(problem) => line(&mut text, CheckMark::Bad, problem),
        }
        match &one.tried {
            Some(Ok(took)) => {
                line(&mut text, CheckMark::Good, "launch works");
                detail(
                    &mut text,
                    &format!("started a program, stopped it and read a value in {} ms", took.as_millis()),
                );
            }
            Some(Err(problem)) => line(&mut text, CheckMark::Bad, &format!("launch fails: {problem}")),
            None if language.adapter.facts().sample.line == 0 => {
                detail(
                    &mut text,
                    &format!("to check it: stillframe doctor --adapter {}", language.adapter.name()),
                );
            }
            None if language.runtime.is_ok() => {
                line(
                    &mut text,
                    CheckMark::Warn,
                    "the debugger is not installed yet; the first session installs it",
                );
                detail(&mut text, &format!("to install it now: {}", one.setup()));
            }
            None => {}
        }
        let ways = "attach by host and port, and by process ID";
        match &language.attach_obstacle {
            // Nothing can attach.
            _ if language.runtime.is_err() => {}
            Some(obstacle) => line(&mut text, CheckMark::Warn, obstacle),
            None if language.provided => line(&mut text, CheckMark::Good, ways),
            None => line(&mut text, CheckMark::Warn, &format!("{ways}, once it is installed")),
        }
    }
    let _ = writeln!(text, "{}", styled(FAINT, format_args!("cache: {}", Machine.cache_dir().display())));
    text
}

#[derive(Clone, Copy)]
enum CheckMark {
    Good,
    Warn,
    Bad,
}

fn line(text: &mut String, mark: CheckMark, what: &str) {
    let mark = match mark {
        CheckMark::Good => styled(GOOD, "✓"),
        CheckMark::Warn => styled(WARN, "!"),
        CheckMark::Bad => styled(BAD, "✗"),
    };
    let wrapped = terminal::wrapped(what, "    ");
    let _ = writeln!(text, "  {mark} {}", wrapped.trim());
}

fn detail(text: &mut String, what: &str) {
    let _ = write!(text, "{}", styled(FAINT, terminal::wrapped(what, "    ")));
}

fn to_json(checked: &[LanguageCheck]) -> anyhow::Result<String> {
    let languages: Vec<Value> = checked.iter().map(described).collect();
    let cache = Machine.cache_dir().display().to_string();
    let well = checked.iter().all(LanguageCheck::is_well);
    let report = json!({ "ok": well, "cacheDir": cache, "languages": languages });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn described(one: &LanguageCheck) -> Value {
    let language = &one.language;
    let runtime = language.runtime.as_ref();
    let found = runtime.ok().filter(|_| one.has_runtime());
    let attach_obstacle = runtime.err().or(language.attach_obstacle.as_ref());
    json!({
        "language": language.adapter.name(),
        "about": language.adapter.about(),
        "interpreter": found.map(|runtime| runtime.executable.display().to_string()),
        "version": found.map(|runtime| &runtime.version),
        "origin": found.map(|runtime| &runtime.origin),
        "problem": runtime.err(),
        "debuggerInstalled": language.provided,
        "setup": one.setup(),
        "launch": match &one.tried {
            Some(Ok(took)) => json!({ "works": true, "milliseconds": took.as_millis() }),
            Some(Err(problem)) => json!({ "works": false, "problem": problem }),
            None => Value::Null,
        },
        "attachByPid": match attach_obstacle {
            Some(obstacle) => json!({ "works": false, "problem": obstacle }),
            None => json!({ "works": true }),
        },
    })
}
