//! The program that is attacked, and the ways to the moments.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture, Server};

use crate::STILLFRAME;
use crate::cells::{Moment, in_time};

/// The time limit of the calls that are under way when harm is done.
pub(crate) const LIMIT: Duration = Duration::from_secs(1);
/// The same, as an argument.
pub(crate) const LIMIT_MS: u64 = 1000;
/// How long a start is waited for: longer than a slow one takes.
pub(crate) const LAUNCHED_MS: u64 = 5000;
/// What only the program knows at a stop: the values of its variables are known.
pub(crate) const COMPUTED: &str = "count + 1";
/// How soon a session is closed whose program may not answer.
const CLOSED: Duration = Duration::from_secs(3);

/// A session, and a program of its own.
pub(crate) struct Attacked<'a> {
    pub(crate) server: &'a Server,
    pub(crate) language: Language,
    pub(crate) session: String,
    pub(crate) program: Fixture,
    folder: tempfile::TempDir,
}

impl<'a> Attacked<'a> {
    /// A session of this language, whose interpreter may be a script of the test.
    pub(crate) async fn session(server: &'a Server, language: Language, wrapper: Option<&str>) -> Self {
        let (folder, program) = copy(language);
        let mut create = json!({ "language": language.name() });
        if let Some(text) = wrapper {
            create["executablePath"] = json!(script(folder.path(), text));
        }
        let created = server.ok("create_debug_session", create).await;
        let session = created.text_of("sessionId").to_owned();
        Self { server, language, session, program, folder }
    }

    /// The same, with the program running.
    pub(crate) async fn running(server: &'a Server, language: Language, args: &[&str]) -> Self {
        let attacked = Self::session(server, language, None).await;
        let start = json!({ "scriptPath": attacked.program.path(), "args": args, "timeout": 0 });
        assert_eq!(attacked.ok("start_debugging", start).await["state"], "running");
        attacked.told("ready").await;
        attacked
    }

    /// The same, with the program paused where it works.
    pub(crate) async fn paused(server: &'a Server, language: Language, args: &[&str]) -> Self {
        let attacked = Self::session(server, language, None).await;
        attacked.break_at("work").await;
        let start = json!({ "scriptPath": attacked.program.path(), "args": args, "timeout": 60_000 });
        assert_eq!(attacked.ok("start_debugging", start).await["state"], "paused");
        attacked
    }

    /// A session at a moment. Its program has these arguments.
    pub(crate) async fn at(server: &'a Server, language: Language, moment: Moment, args: &[&str]) -> Self {
        match moment {
            Moment::Launching => {
                let attacked = Self::session(server, language, None).await;
                attacked.break_at("work").await;
                attacked
            }
            Moment::Running | Moment::Tracing => Self::running(server, language, args).await,
            Moment::Stepping => {
                let attacked = Self::paused(server, language, &[args, &["tires"]].concat()).await;
                attacked.ok("step_over", json!({})).await;
                attacked
            }
            Moment::Paused | Moment::Evaluating | Moment::Closing => {
                Self::paused(server, language, args).await
            }
        }
    }

    /// Makes the call of a moment, and does something while it runs, or before it if it is instantaneous. Fails
    /// when anything is left of a session that is closed.
    pub(crate) async fn during<T>(&self, moment: Moment, harm: impl Future<Output = T>) -> (Answer, T) {
        match moment {
            Moment::Launching => {
                let start = json!({ "sessionId": self.session, "scriptPath": self.program.path(), "timeout": LAUNCHED_MS });
                let limit = Duration::from_millis(LAUNCHED_MS);
                let (harmed, answer) =
                    tokio::join!(harm, in_time(self.server, "start_debugging", start, limit));
                (answer, harmed)
            }
            Moment::Running => tokio::join!(self.call("continue_execution", json!({})), harm),
            Moment::Paused => {
                let harmed = harm.await;
                (self.call("evaluate_expression", json!({ "expression": COMPUTED })).await, harmed)
            }
            Moment::Stepping => tokio::join!(self.call("step_over", json!({})), async {
                self.runs().await;
                harm.await
            }),
            Moment::Evaluating => {
                let arguments = json!({ "expression": Self::sleeps_after("evaluating", self.language) });
                tokio::join!(self.call("evaluate_expression", arguments), async {
                    self.told("evaluating").await;
                    harm.await
                })
            }
            Moment::Tracing => {
                let (file, line) = (self.program.path(), self.program.line("rest"));
                let expressions = json!(["label", Self::tells("tracing")]);
                let points = json!([{ "file": file, "line": line, "expressions": expressions }]);
                let arguments = json!({ "points": points, "maxHits": 100_000 });
                tokio::join!(self.call("trace_values", arguments), async {
                    self.told("tracing").await;
                    harm.await
                })
            }
            Moment::Closing => {
                let harmed = harm.await;
                let answer = self.ask("close_debug_session").await;
                self.is_gone().await;
                (answer, harmed)
            }
        }
    }

    /// Ends what a moment has left.
    pub(crate) async fn after(self, moment: Moment) {
        if moment != Moment::Closing {
            self.close().await;
        }
    }

    pub(crate) async fn break_at(&self, mark: &str) {
        let location = json!({ "file": self.program.path(), "line": self.program.line(mark) });
        self.ok("set_breakpoint", location).await;
    }

    pub(crate) fn with_session(&self, mut arguments: Value) -> Value {
        arguments["sessionId"] = json!(self.session);
        arguments
    }

    /// A call that succeeds.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.server.ok(tool, self.with_session(arguments)).await
    }

    /// A call with the usual time limit, which comes back in time.
    pub(crate) async fn call(&self, tool: &str, mut arguments: Value) -> Answer {
        arguments["timeout"] = json!(LIMIT_MS);
        in_time(self.server, tool, self.with_session(arguments), LIMIT).await
    }

    /// A call without a timeout parameter, which returns in time.
    pub(crate) async fn ask(&self, tool: &str) -> Answer {
        in_time(self.server, tool, self.with_session(json!({})), Duration::ZERO).await
    }

    /// The number of the program's process.
    pub(crate) async fn pid(&self) -> u32 {
        let threads = self.ok("list_threads", json!({})).await;
        let pid = threads.at("/threads/0/processId").as_u64().expect("a process number");
        u32::try_from(pid).expect("a process number")
    }

    /// An expression that announces `word`, and then never ends.
    pub(crate) fn sleeps_after(word: &str, language: Language) -> String {
        format!("[{}, {}]", Self::tells(word), language.words().sleep)
    }

    /// An expression that announces `word`, wherever it is evaluated. It does so by a file, because what is printed
    /// may be lost in a flood.
    pub(crate) fn tells(word: &str) -> String {
        format!("tell('{word}')")
    }

    /// Waits until the program has announced this.
    pub(crate) async fn told(&self, word: &str) {
        let file = self.folder().join(word);
        test_support::eventually(|| file.exists()).await;
    }

    /// Waits until the program runs.
    pub(crate) async fn runs(&self) {
        loop {
            let sessions = self.server.ok("list_debug_sessions", json!({})).await;
            let sessions = sessions["sessions"].as_array().unwrap();
            let own = sessions.iter().find(|known| known["id"] == self.session.as_str()).unwrap();
            if own["state"] != "paused" {
                return;
            }
            // sleep: it runs once the call has been taken.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The folder that is its own.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into that.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder().join(name), text).unwrap();
    }

    /// Closes the session, and fails unless that is done soon and nothing of the program is left.
    pub(crate) async fn close(self) {
        let closed = in_time(self.server, "close_debug_session", self.with_session(json!({})), CLOSED).await;
        assert!(!closed.is_error, "{}", closed.text);
        self.is_gone().await;
    }

    /// Fails unless nothing of the program is left.
    pub(crate) async fn is_gone(&self) {
        let folder = self.folder.path().to_str().unwrap();
        let left = || -> Vec<_> {
            let processes = self.server.mark().processes();
            processes.into_iter().filter(|(_, command)| command.contains(folder)).collect()
        };
        let until = std::time::Instant::now() + CLOSED;
        while !left().is_empty() {
            assert!(std::time::Instant::now() < until, "left behind: {:#?}", left());
            // sleep: the system takes a moment to end what was killed.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// A language for a cell, where one after the other has its turn.
pub(crate) const fn in_turn(number: usize) -> Language {
    if number.is_multiple_of(2) { Language::Python } else { Language::Node }
}

/// The program in a folder of its own.
pub(crate) fn copy(language: Language) -> (tempfile::TempDir, Fixture) {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let text = std::fs::read_to_string(Fixture::of(language, "attacked").path()).unwrap();
    let program = Fixture::write(folder.path(), &language.file("attacked"), &text);
    (folder, program)
}

/// A script that is run instead of an interpreter.
fn script(folder: &Path, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("interpreter");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}
