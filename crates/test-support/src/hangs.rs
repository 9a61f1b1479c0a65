//! Tables of programs that do not come to their end, and what `diagnose_hang` is to report.

use std::fmt::Write;

use serde_json::json;

use crate::{Answer, Fixture, Server, repository, rows_to_try};

/// One of so many programs is diagnosed on each push.
const ONE_OF: usize = 16;

/// The programs of a folder.
#[derive(Clone, Copy, Debug)]
pub struct HangTable {
    /// The folder in `fixtures`.
    pub folder: &'static str,
    /// For the diagnosis of a program, in milliseconds.
    pub timeout: u32,
    /// A program, the verdict, a kind of thing that is waited for, and where it hangs: `@held` for the line of that
    /// name. The last two may be missing.
    pub rows: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

impl HangTable {
    /// A program of the folder.
    pub fn program(&self, name: &str) -> Fixture {
        Fixture::read(repository().join("fixtures").join(self.folder).join(name))
    }

    /// Diagnoses a program of the folder.
    pub async fn diagnose(&self, server: &Server, name: &str) -> Answer {
        let arguments = json!({ "command": self.program(name).path(), "timeout": self.timeout });
        server.ok("diagnose_hang", arguments).await
    }

    /// Diagnoses the programs that are to be tried.
    #[expect(clippy::print_stdout, reason = "a test shows what it printed when it is asked to")]
    pub async fn check(&self, server: &Server) {
        let mut wrong = String::new();
        for (name, verdict, kind, place) in rows_to_try(self.rows, ONE_OF) {
            let answer = self.diagnose(server, name).await;
            println!("{name}: {}, {}", answer.at("/verdict"), answer.text_of("message"));
            if answer.at("/verdict") != *verdict || !self.reports(name, kind, place, &answer) {
                let _ = writeln!(wrong, "{name}: not {verdict} with {kind} {place}, but {answer:#?}");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    /// Whether an answer reports everything besides the verdict.
    fn reports(&self, name: &str, kind: &str, place: &str, answer: &Answer) -> bool {
        let waits = answer.at("/waitsFor").as_array().cloned().unwrap_or_default();
        let has_kind = kind.is_empty() || waits.iter().any(|wait| wait["kind"] == kind);
        let Some(marker) = place.strip_prefix('@') else { return has_kind };
        let program = self.program(name);
        let line = program.line(marker);
        let is_there = answer.at("/hungAt/line") == line || answer.at("/loop/startLine") == line;
        has_kind && is_there && answer.at("/hungAt/file") == program.path()
    }

    /// Fails if the folder has a program that the table has not.
    pub fn check_complete(&self) {
        let mut names: Vec<String> = std::fs::read_dir(repository().join("fixtures").join(self.folder))
            .expect("the folder is there")
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("a plain name"))
            .collect();
        names.retain(|name| !self.rows.iter().any(|(listed, ..)| listed == name));
        assert_eq!(names, [""; 0]);
    }
}
