//! A server with a journal, and what it has written.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::Value;
use tempfile::TempDir;
use test_support::{Server, ServerOptions};

use crate::STILLFRAME;

/// A temporary folder for a journal.
pub(crate) struct JournalFolder {
    folder: TempDir,
}

impl JournalFolder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder") }
    }

    /// The file that the first server writes.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("logs/debug-mcp-server.log")
    }

    /// How to start a server that writes there.
    pub(crate) async fn options(&self, toolset: &str) -> ServerOptions {
        let mut options = STILLFRAME.options().await;
        options.args.extend(["--toolset".to_owned(), toolset.to_owned()]);
        options.env.push(("STILLFRAME_LOG_FILE".to_owned(), self.path().display().to_string()));
        options
    }

    pub(crate) async fn serve(&self, toolset: &str) -> Server {
        self.options(toolset).await.start().await
    }

    /// All lines of the first server.
    pub(crate) fn lines(&self) -> Vec<Value> {
        lines(&self.path())
    }
}

/// The lines of a file, each as the schema has it.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let schema = test_support::repository().join("docs/reference/journal.schema.json");
    let schema = std::fs::read_to_string(schema).expect("the schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let text = std::fs::read_to_string(path).expect("the journal is there");
    text.lines().map(|line| checked(line, &schema)).collect()
}

fn checked(line: &str, schema: &Validator) -> Value {
    let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let mistakes: Vec<String> = schema.iter_errors(&entry).map(|error| error.to_string()).collect();
    assert!(mistakes.is_empty(), "{mistakes:?} in {line}");
    entry
}

/// The entries of a kind.
pub(crate) fn of_kind<'a>(lines: &'a [Value], message: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["message"] == message).collect()
}

/// A field of each.
pub(crate) fn field<'a>(entries: &[&'a Value], name: &str) -> Vec<&'a str> {
    entries.iter().map(|entry| entry[name].as_str().unwrap_or_default()).collect()
}
