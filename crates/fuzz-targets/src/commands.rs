//! Commands as they are typed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter::{BoxFuture, Host};
use engine::process::{HelperOutput, ProcessSpec};
use tools::ToolError;
use tools::ops::command::Command;

/// A machine with every program and nothing else. Nothing can be run on it.
#[derive(Debug)]
struct Nowhere;

impl Host for Nowhere {
    fn run<'a>(
        &'a self,
        spec: &'a ProcessSpec,
        _deadline: Duration,
    ) -> BoxFuture<'a, engine::error::Result<HelperOutput>> {
        panic!("a command is read and not run: {spec:?}")
    }

    fn which(&self, name: &str) -> Option<PathBuf> {
        Some(Path::new("/nowhere/bin").join(name))
    }

    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn is_file(&self, path: &Path) -> bool {
        path.starts_with("/nowhere/bin")
    }

    fn read(&self, path: &Path) -> Option<String> {
        path.to_str().filter(|path| path.contains("py")).map(|_| "#!/usr/bin/env python3\n".to_owned())
    }

    fn head(&self, _path: &Path) -> Vec<u8> {
        Vec::new()
    }

    fn names_in(&self, _folder: &Path) -> Vec<String> {
        Vec::new()
    }

    fn program_of(&self, _pid: u32) -> Option<PathBuf> {
        None
    }

    fn cache_dir(&self) -> PathBuf {
        PathBuf::from("/nowhere/cache")
    }

    fn forbids_tracing(&self) -> bool {
        false
    }
}

/// A command, or its words as lines.
///
/// It is read without running anything, and words in quotes are the words.
pub fn commands(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let folder = || Some(PathBuf::from("/nowhere/project"));
    let complaint = |error: ToolError| {
        assert!(
            !error.message.is_empty() && error.message.len() < text.len() * 4 + 1024,
            "{}",
            error.message
        );
        error.code
    };
    let _ = Command::read(&Nowhere, &text.into(), None, folder()).map_err(complaint);

    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    let of_words = Command::of_words(&Nowhere, words, folder()).map_err(complaint);
    let of_text =
        Command::read(&Nowhere, &quoted.join(" ").as_str().into(), None, folder()).map_err(complaint);
    match (of_words, of_text) {
        (Ok(one), Ok(other)) => {
            let of = |command: &Command| (command.adapter.name(), command.executable.clone());
            assert_eq!((of(&one), &one.launch), (of(&other), &other.launch));
        }
        (Err(one), Err(other)) => assert_eq!(one, other),
        (one, other) => panic!("{one:?} as words, {other:?} as text"),
    }
}
