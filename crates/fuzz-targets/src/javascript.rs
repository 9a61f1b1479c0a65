//! JavaScript: what models write as conditions and messages, and what programs consist of.

use std::path::Path;
use std::sync::Arc;

use engine::adapter::node::Node;
use engine::adapter::{AnalysisRequest, Machine, Runtime, SourceAnalysis};
use engine::javascript::{Part, ScriptOutline, asserted, insertion, is_expression, log_parts};

use crate::runtime::block_on;

/// A condition, and a log message.
///
/// An expression in parentheses is one expression; a message is what its parts say.
pub fn expressions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if is_expression(text).is_ok() && text.len() < 8 * 1024 {
        let within = format!("(\n{text}\n)");
        assert_eq!(is_expression(&within), Ok(()), "{text:?}");
    }
    let Ok(parts) = log_parts(text) else { return };
    let written: String = parts.iter().map(written).collect();
    assert_eq!(log_parts(&written), Ok(parts), "{text:?}, {written:?}");
}

/// A part of a message as it can be written. The lines of its own keep a brace or a comment of the expression from
/// being read with the braces around it.
fn written(part: &Part) -> String {
    match part {
        Part::Text(text) => text.replace('{', "{{").replace('}', "}}"),
        Part::Expression(expression) => format!("{{\n{expression}\n}}"),
    }
}

/// The text of a script.
///
/// The lines that hold code are lines of it, in order; functions around a place begin before they end; what is put
/// in is put between two characters of the text, on a line before.
pub fn scripts(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let outline = ScriptOutline::of(&Arc::from(text));
    for place in [(0, 0), (0, 5), (1, 0), (2, 3), (lines, 0), (u32::MAX, u32::MAX)] {
        asserted(text, Path::new("a.js"), place);
        if let Some(outline) = &outline {
            outline.fate(place, false);
            outline.exits_without_stop(place, true);
            for (start, end) in outline.functions_around(place) {
                assert!(start <= end, "{start:?} to {end:?}");
            }
        }
        if let Some(found) = insertion(text, Path::new("a.js"), place.0) {
            let length = text.trim_start_matches('\u{feff}').encode_utf16().count();
            assert!(found.offset as usize <= length, "{found:?} of {length}");
        }
    }
    analyze(text);
}

fn analyze(text: &str) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for name in ["a.js", "a.ts", "a.jsx"] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("the file can be written");
        let question = AnalysisRequest { file: Some(&file), ..AnalysisRequest::default() };
        let runtime = Runtime {
            executable: "/nowhere/node".into(),
            version: String::new(),
            tag: String::new(),
            origin: String::new(),
        };
        let code = block_on(Node.analyze(&Machine, &runtime, question));
        let Ok(code) = code else { continue };
        assert!(code.lines.is_sorted(), "{:?}", code.lines);
        assert!(code.lines.iter().all(|line| (1..=code.length).contains(line)), "{code:?}");
    }
}
