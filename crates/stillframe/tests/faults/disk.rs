//! Attacks on the disk: on the sources of a program that is debugged, and on the folders that a server writes to.

use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use test_support::{Answer, DynamicLanguage as Language, Fixture, Server, ServerOptions};

use crate::STILLFRAME;
use crate::attacked::{Attacked, in_turn};
use crate::bystander::Bystanders;
use crate::cells::{Moment, cells, in_time, table};

/// What becomes of the program's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Deleted,
    Truncated,
    /// Another text, with other lines.
    Replaced,
    /// A folder of that name.
    Folder,
    /// A pipe without a writer.
    Pipe,
    /// A file without an end.
    Endless,
}

/// What comes of it. A program that has begun does not look at its file again.
const EXPECTED: [(Fault, &str); 6] = [
    (Fault::Deleted, "file_not_found"),
    (Fault::Truncated, "ended 0"),
    (Fault::Replaced, "ended 0"),
    (Fault::Folder, "file_unusable"),
    (Fault::Pipe, "file_unusable"),
    (Fault::Endless, "file_unusable"),
];
const BEGUN: [&str; 6] = ["running", "well", "running", "deadline_exceeded", "running", "well"];

impl Fault {
    fn strikes(self, source: &Path) {
        if self != Self::Truncated && self != Self::Replaced {
            std::fs::remove_file(source).unwrap();
        }
        match self {
            Self::Deleted => {}
            Self::Truncated => std::fs::write(source, "").unwrap(),
            Self::Replaced => std::fs::write(source, "\n\n\n").unwrap(),
            Self::Folder => std::fs::create_dir(source).unwrap(),
            Self::Pipe => pipe(source),
            Self::Endless => std::os::unix::fs::symlink("/dev/zero", source).unwrap(),
        }
    }
}

fn pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

struct Attack {
    server: Server,
    others: Bystanders,
}

impl Attack {
    async fn cell(&self, language: Language, fault: Fault, moment: Moment) -> Answer {
        let attacked = Attacked::at(&self.server, language, moment, &[]).await;
        let source = Path::new(attacked.program.path());
        let (answer, ()) = attacked.during(moment, async { fault.strikes(source) }).await;
        if !matches!(moment, Moment::Closing | Moment::Launching) {
            self.is_still_of_use(&attacked).await;
        }
        self.others.answer(&self.server).await;
        attacked.after(moment).await;
        answer
    }

    /// Calls that read the source answer in time, whatever they make of it.
    async fn is_still_of_use(&self, attacked: &Attacked<'_>) {
        let (file, line) = (attacked.program.path(), attacked.program.line("worked"));
        let location = json!({ "file": file, "line": line });
        for tool in ["set_breakpoint", "get_source_context"] {
            let arguments = attacked.with_session(location.clone());
            in_time(&self.server, tool, arguments, Duration::ZERO).await;
        }
        attacked.call("continue_execution", json!({})).await;
        attacked.ask("get_stack_trace").await;
        attacked.call("restart_debugging", json!({})).await;
    }
}

#[tokio::test]
async fn deleted_sources_are_survived() {
    let server = STILLFRAME.serve().await;
    let others = Bystanders::pause(&server).await;
    let attack = Attack { server, others };
    let cell = |number, fault, moment| attack.cell(in_turn(number), fault, moment).boxed_local();
    let rows = EXPECTED.map(|(fault, launching)| {
        let [running, paused, stepping, evaluating, tracing, closing] = BEGUN;
        (fault, [launching, running, paused, stepping, evaluating, tracing, closing])
    });
    table("the disk", &attack.server, cells(&rows[..1], cell), cells(&rows, cell)).await;
    attack.server.finish().await;
}

/// Starts both programs, and returns what came of it.
async fn starts(server: &Server) -> [Answer; 2] {
    let until = |language| {
        let program = Fixture::of(language, "swap_vars");
        json!({ "program": program.path(), "until": [{ "line": program.line("call") }], "close": true })
    };
    let run = async |language| in_time(server, "run_until", until(language), Duration::from_secs(20)).await;
    [run(Language::Python).await, run(Language::Node).await]
}

async fn with_environment(env: &[(&str, &str)]) -> Server {
    let options = STILLFRAME.options().await;
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    ServerOptions { env, ..options }.start().await
}

/// A journal that cannot be written, for any reason, affects no call.
#[tokio::test]
async fn a_full_or_missing_journal_disk_ends_no_session() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let in_pipe = folder.path().join("pipe.log");
    pipe(&in_pipe);
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("logs/journal.log");
    for journal in [Path::new("/dev/full"), &in_pipe, &below, folder.path(), Path::new("/proc/journal.log")] {
        let server = with_environment(&[("STILLFRAME_LOG_FILE", journal.to_str().unwrap())]).await;
        for answer in starts(&server).await {
            assert_eq!(answer["reason"], "breakpoint", "{}: {}", journal.display(), answer.text);
        }
        server.finish().await;
    }
}

/// A file may grow to so many blocks only, and who writes more gets a signal that ends him.
#[tokio::test]
async fn a_file_size_limit_ends_the_journal_and_not_the_server() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let journal = folder.path().join("journal.log");
    let serves = format!("ulimit -f 8; exec {} serve", STILLFRAME.program);
    let mut options = STILLFRAME.options().await;
    options.env.push(("STILLFRAME_LOG_FILE".to_owned(), journal.to_str().unwrap().to_owned()));
    let server =
        ServerOptions { program: "/bin/sh", args: vec!["-c".to_owned(), serves], ..options }.start().await;
    for _ in 0..3 {
        for answer in starts(&server).await {
            assert_eq!(answer["reason"], "breakpoint", "{}", answer.text);
        }
    }
    assert!(std::fs::metadata(&journal).unwrap().len() > 3000);
    server.finish().await;
}

/// A file that is required but not writable is reported.
#[tokio::test]
async fn an_unwritable_cache_is_reported() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for cache in [&file, &file.join("below"), Path::new("/proc/cache"), Path::new("/dev/full")] {
        let server = ServerOptions { cache: cache.to_owned(), ..STILLFRAME.options().await }.start().await;
        for answer in starts(&server).await {
            assert_eq!(answer["code"], "environment", "{}: {}", cache.display(), answer.text);
            assert!(answer.text.contains(cache.to_str().unwrap()), "{}", answer.text);
        }
        server.finish().await;
    }
}

#[tokio::test]
async fn a_missing_temporary_folder_is_reported() {
    let server = with_environment(&[("TMPDIR", "/no/such/folder")]).await;
    let [python, node] = starts(&server).await;
    assert_eq!(python["reason"], "breakpoint", "it needs none: {}", python.text);
    assert_eq!(node["code"], "environment", "{}", node.text);
    assert!(node.text.contains("/no/such/folder"), "{}", node.text);
    server.finish().await;
}

#[tokio::test]
async fn a_deleted_working_folder_is_reported_if_it_is_needed() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let gone = folder.path().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let server = ServerOptions { cwd: Some(gone.clone()), ..STILLFRAME.options().await }.start().await;
    std::fs::remove_dir(&gone).unwrap();
    let program = Fixture::of(Language::Python, "swap_vars");
    for language in [Language::Python, Language::Node] {
        let arguments =
            json!({ "program": Fixture::of(language, "swap_vars").path(), "cwd": gone, "close": true });
        server.fails("file_unusable", "run_until", arguments).await;
    }
    let relative = json!({ "program": "main.py", "close": true });
    server.fails("file_not_found", "run_until", relative).await;
    let elsewhere = json!({ "program": program.path(), "cwd": folder.path(), "close": true });
    assert_eq!(server.ok("run_until", elsewhere).await["state"], "ended");
    for answer in starts(&server).await {
        in_time(&server, "list_debug_sessions", json!({}), Duration::ZERO).await;
        assert!(!answer.text.is_empty());
    }
    server.finish().await;
}

/// A source map may be anything.
#[tokio::test]
async fn a_source_map_that_is_a_pipe_or_endless_is_skipped() {
    for kind in ["pipe", "endless", "folder"] {
        let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
        let text = "let x = 10; // @first\nconsole.log(x); // @print\n//# sourceMappingURL=main.js.map\n";
        let program = Fixture::write(folder.path(), "main.js", text);
        let map = folder.path().join("main.js.map");
        match kind {
            "pipe" => pipe(&map),
            "endless" => std::os::unix::fs::symlink("/dev/zero", &map).unwrap(),
            _ => std::fs::create_dir(&map).unwrap(),
        }
        let server = STILLFRAME.serve().await;
        let until =
            json!({ "program": program.path(), "until": [{ "line": program.line("print") }], "close": true });
        let stopped = in_time(&server, "run_until", until, Duration::from_secs(20)).await;
        assert_eq!(stopped["reason"], "breakpoint", "{kind}: {}", stopped.text);
        server.finish().await;
    }
}
