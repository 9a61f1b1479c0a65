//! `stillframe tools`: the tools offered to agents.

use std::fmt::Write;
use std::process::ExitCode;

use serde_json::json;
use tools::{Entry, Toolset};

use crate::terminal::{self, FAINT, HEADING, NAME, styled};

/// Lists the tools of some toolsets.
pub(crate) fn run(toolsets: &[&'static Toolset], as_json: bool) -> anyhow::Result<ExitCode> {
    let text = if as_json { to_json(toolsets)? } else { to_text(toolsets) };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_text(toolsets: &[&'static Toolset]) -> String {
    let mut text = String::new();
    for toolset in toolsets {
        let _ = writeln!(text, "{}", styled(HEADING, format_args!("toolset {}", toolset.name)));
        text.push_str(&terminal::wrapped(toolset.about, ""));
        for entry in toolset.tools {
            let _ = writeln!(text, "\n  {}", styled(NAME, entry.name));
            text.push_str(&terminal::wrapped(entry.description, "    "));
            let parameters = terminal::wrapped(&parameters(entry), "    ");
            let _ = write!(text, "{}", styled(FAINT, parameters));
        }
    }
    text
}

fn parameters(entry: &Entry) -> String {
    let schema = (entry.input)();
    let names = schema.get("properties").and_then(serde_json::Value::as_object);
    names.map(|names| names.keys().cloned().collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

fn to_json(toolsets: &[&'static Toolset]) -> anyhow::Result<String> {
    let tool = |entry: &Entry| {
        json!({
            "name": entry.name,
            "title": entry.title,
            "description": entry.description,
            "readOnly": entry.effects.read_only,
            "destructive": entry.effects.destructive,
            "idempotent": entry.effects.idempotent,
            "inputSchema": (entry.input)(),
            "outputSchema": (entry.output)(),
        })
    };
    let toolset = |toolset: &&'static Toolset| {
        let tools: Vec<_> = toolset.tools.iter().map(tool).collect();
        json!({ "name": toolset.name, "about": toolset.about, "tools": tools })
    };
    let all: Vec<_> = toolsets.iter().map(toolset).collect();
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
