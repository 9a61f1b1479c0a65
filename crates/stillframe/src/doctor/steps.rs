//! The report of what was tried step by step.

use serde_json::json;

use super::{CheckMark, detail, line};
use crate::terminal::{HEADING, styled};

/// What was tried, and what came of it.
pub(super) type Tried = (&'static str, Result<String, String>);

pub(super) fn to_text(title: &str, tried: &[Tried]) -> String {
    let mut text = format!("{}\n", styled(HEADING, title));
    for (what, outcome) in tried {
        match outcome {
            Ok(found) => {
                line(&mut text, CheckMark::Good, what);
                detail(&mut text, found);
            }
            Err(problem) => line(&mut text, CheckMark::Bad, &format!("{what}: {problem}")),
        }
    }
    text
}

/// `kind` is the key of the name.
pub(super) fn to_json(kind: &str, name: &str, tried: &[Tried]) -> anyhow::Result<String> {
    let works = tried.iter().all(|(_, outcome)| outcome.is_ok());
    let tried = tried.iter().map(|(what, outcome)| match outcome {
        Ok(found) => json!({ "tried": what, "works": true, "found": found }),
        Err(problem) => json!({ "tried": what, "works": false, "problem": problem }),
    });
    let report = json!({ kind: name, "ok": works, "tried": tried.collect::<Vec<_>>() });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}
