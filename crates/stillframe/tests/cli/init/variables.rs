//! `doctor --host`, where an entry has variables that the host expands, or the address of a server.

use serde_json::json;

use super::{Home, doctor};
use crate::STILLFRAME;

/// A host, its file, a command that no machine has, and what `doctor` says of it. `~` is the home folder, `.` the
/// project's.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("claude-code", "~/.claude.json", "${HOME}/sf", "there is no program `~/sf`"),
    ("claude-code", "./.mcp.json", "${NONE:-/opt}/sf", "there is no program `/opt/sf`"),
    (
        "claude-code",
        "~/.claude.json",
        "${NONE}/sf",
        "`${NONE}`: the variable NONE is not set here, so the server in",
    ),
    ("claude-code", "~/.claude.json", "$HOME/sf", "there is no program `$HOME/sf`"),
    ("gemini", "~/.gemini/settings.json", "$HOME/${NONE:-b}/sf", "there is no program `~/b/sf`"),
    ("cursor", "~/.cursor/mcp.json", "${env:HOME}${/}sf", "there is no program `~/sf`"),
    ("cursor", "./.cursor/mcp.json", "${workspaceFolder}/sf", "there is no program `./sf`"),
    (
        "cursor",
        "~/.cursor/mcp.json",
        "${workspaceFolder}/sf",
        "`${workspaceFolder}`: doctor cannot know its value",
    ),
    ("vscode", "./.vscode/mcp.json", "${userHome}/sf", "there is no program `~/sf`"),
    ("vscode", "./.vscode/mcp.json", "${input:where}/sf", "`${input:where}`: doctor cannot know its value"),
    ("windsurf", "~/.codeium/windsurf/mcp_config.json", "${env:HOME}/sf", "there is no program `~/sf`"),
    ("kiro", "~/.kiro/settings/mcp.json", "${HOME}/sf", "`${HOME}`: doctor cannot know its value"),
    ("opencode", "./opencode.json", "{env:HOME}/{env:NONE}sf", "there is no program `~/sf`"),
    ("zed", "~/.config/zed/settings.json", "${HOME}/sf", "Zed is not known to expand `${HOME}/sf`"),
];

fn section(host: &str) -> &str {
    match host {
        "vscode" => "servers",
        "opencode" => "mcp",
        "zed" => "context_servers",
        _ => "mcpServers",
    }
}

#[tokio::test]
async fn doctor_expands_what_the_host_does_and_says_what_it_cannot() {
    for (host, file, command, expected) in ROWS {
        let (home, project) = (Home::new(), Home::new());
        let here = project.folder.path().canonicalize().unwrap();
        let entry = json!({ section(host): { "stillframe": { "command": command } } }).to_string();
        match file.split_once('/').unwrap() {
            ("~", file) => home.write(file, &entry),
            (_, file) => project.write(file, &entry),
        }
        let report =
            home.run_in(&here, &["doctor", "--json", "--host", host]).await.ended_with(1).json().to_string();
        let expected = expected
            .replace("`~", &format!("`{}", home.folder.path().display()))
            .replace("`.", &format!("`{}", here.display()));
        assert!(report.contains(&expected), "{host}, {command}: {report}");
    }
}

#[tokio::test]
async fn doctor_starts_a_server_whose_command_and_environment_have_variables() {
    let home = Home::new();
    std::os::unix::fs::symlink(STILLFRAME.program, home.path("sf")).unwrap();
    let environment = json!({ "STILLFRAME_CACHE_DIR": "${STILLFRAME_CACHE_DIR}" });
    let entry = json!({ "type": "stdio", "command": "${HOME}/sf", "args": ["serve"], "env": environment });
    let here = std::env::current_dir().unwrap();
    let folders = json!({ here.to_str().unwrap(): { "mcpServers": { "stillframe": entry } } });
    home.write(".claude.json", &json!({ "projects": folders }).to_string());
    let report = doctor(&home, "claude-code").await.ended_with(0).json();
    assert_eq!(report["tried"][0]["found"].as_str().unwrap().rsplit(": ").next(), Some("${HOME}/sf serve"));
}

#[tokio::test]
async fn doctor_shakes_hands_with_a_server_on_this_machine() {
    let token = "t0ken-that-nobody-guesses-0123456789";
    let server = STILLFRAME.http().await.token(token).start().await;
    for (sent, step, expected) in [
        (token, "initialize", concat!("stillframe ", env!("CARGO_PKG_VERSION"))),
        ("another", "initialize", "it answers with the status 401"),
        ("${input:token}", "entry", "`${input:token}`: doctor cannot know its value"),
    ] {
        let home = Home::new();
        let headers = json!({ "Authorization": format!("Bearer {sent}") });
        let entry = json!({ "type": "http", "url": server.url(), "headers": headers });
        home.write(".config/Code/User/mcp.json", &json!({ "servers": { "stillframe": entry } }).to_string());
        let report = home.run(&["doctor", "--json", "--host", "vscode"]).await.json();
        let last = report["tried"].as_array().unwrap().last().unwrap();
        assert_eq!(last["tried"], step, "{report}");
        let said = last["found"].as_str().or(last["problem"].as_str()).unwrap();
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(report["ok"], sent == token, "{report}");
    }
    let entry = json!({ "url": "http://localhost:1/mcp" });
    let home = Home::new();
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "stillframe": entry } }).to_string());
    let ran = home.run(&["doctor", "--host", "cursor"]).await.ended_with(1);
    assert!(ran.out.contains("initialize: Connection refused"), "{}", ran.out);
}
