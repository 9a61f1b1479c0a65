//! `init`, for each host in a home folder of its own, and `doctor --host`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper that fails is a test that fails")]

mod hosts;
mod launchers;
mod variables;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use self::hosts::{HOSTS, Row};
use crate::{CommandRun, STILLFRAME, folder};

/// Variables that name folders of hosts, or files.
const FOLDERS: [&str; 8] = [
    "XDG_CONFIG_HOME",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "CONTINUE_GLOBAL_DIR",
    "CLINE_DIR",
    "CLINE_DATA_DIR",
    "CLINE_MCP_SETTINGS_PATH",
    "COPILOT_HOME",
];

/// A user without any settings.
struct Home {
    folder: TempDir,
    cache: TempDir,
    env: Vec<(&'static str, PathBuf)>,
}

impl Home {
    fn new() -> Self {
        Self { folder: folder(), cache: folder(), env: Vec::new() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The files in the home folder, by their paths.
    fn files(&self) -> Vec<String> {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path.strip_prefix(self.folder.path()).unwrap().display().to_string());
                }
            }
        }
        files.sort();
        files
    }

    /// Whether there is nothing at all, not even an empty folder.
    fn is_empty(&self) -> bool {
        std::fs::read_dir(self.folder.path()).unwrap().next().is_none()
    }

    /// Runs the program for this user, in this folder. Other programs of the machine are not found.
    async fn run_in(&self, folder: &Path, arguments: &[&str]) -> CommandRun {
        let mut command = STILLFRAME.command();
        command.args(arguments).current_dir(folder).env("HOME", self.folder.path());
        command.env("PATH", self.path("no programs")).env("STILLFRAME_CACHE_DIR", self.cache.path());
        for name in FOLDERS {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (*name, value)));
        let Output { status, stdout, stderr } = command.output().await.unwrap();
        CommandRun {
            code: status.code().unwrap(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    async fn run(&self, arguments: &[&str]) -> CommandRun {
        self.run_in(self.folder.path(), arguments).await
    }

    /// Sets a host up with a command that is the same on every machine.
    async fn init(&self, host: &Row, more: &[&str]) -> CommandRun {
        self.run(&[&["init", host.name, "--command", "stillframe"], more].concat()).await
    }
}

async fn printed(home: &Home, host: &Row) -> String {
    home.run(&["init", "--print", host.name, "--command", "stillframe"]).await.ended_with(0).out
}

#[tokio::test]
async fn a_missing_file_is_written_and_removed() {
    for host in HOSTS {
        let home = Home::new();
        home.init(host, &["--yes"]).await.ended_with(0);
        assert_eq!(home.files(), sorted(&[host.file, host.skill]), "{}", host.name);
        assert_eq!(home.read(host.file), printed(&home, host).await);
        assert!(home.read(host.skill).starts_with("---\nname: stillframe\n"));

        let again = home.init(host, &["--yes"]).await.ended_with(0);
        assert_eq!(again.out.matches(": up to date").count(), 2, "{}", again.out);
        home.run(&["init", host.name, "--remove", "--yes"]).await.ended_with(0);
        assert!(home.is_empty(), "{}", host.name);
        let again = home.run(&["init", host.name, "--remove", "--yes"]).await.ended_with(0);
        assert_eq!(again.out.matches(": nothing to remove").count(), 2, "{}", again.out);
    }
}

#[tokio::test]
async fn an_empty_file_is_filled() {
    for host in HOSTS {
        let home = Home::new();
        home.write(host.file, "");
        home.init(host, &["--yes", "--no-skill"]).await.ended_with(0);
        assert_eq!(home.read(host.file), printed(&home, host).await);
        let backup = format!("{}.bak", host.file);
        assert_eq!(home.files(), sorted(&[host.file, &backup]), "{}", host.name);
        assert_eq!(home.read(&backup), "");
    }
}

#[tokio::test]
async fn other_content_stays_with_its_comments() {
    for host in HOSTS {
        let home = Home::new();
        let (before, after) = host.other();
        home.write(host.file, &before);
        home.init(host, &["--yes"]).await.ended_with(0);
        assert_eq!(home.read(host.file), after, "{}", host.name);
        assert_eq!(home.read(&format!("{}.bak", host.file)), before);

        home.run(&["init", host.name, "--remove", "--yes"]).await.ended_with(0);
        assert_eq!(home.read(host.file), before, "{}", host.name);
        assert_eq!(home.read(&format!("{}.bak1", host.file)), after);
    }
}

#[tokio::test]
async fn a_broken_file_is_reported_and_stays_as_it_is() {
    for host in HOSTS {
        let home = Home::new();
        home.write(host.file, host.broken);
        for arguments in [&["--yes"][..], &["--yes", "--remove"]] {
            let ran = home.run(&[&["init", host.name], arguments].concat()).await.ended_with(1);
            let answer = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
            let expected = format!("`{}`, line 2,", home.path(host.file).display());
            assert!(answer.replace(' ', "").contains(&expected.replace(' ', "")), "{expected}: {}", ran.out);
            assert!(answer.contains(&format!("`stillframe init --print {}`", host.name)), "{}", ran.out);
        }
        assert_eq!(home.read(host.file), host.broken);
        assert_eq!(home.files(), [host.file], "{}", host.name);
    }
}

#[tokio::test]
async fn a_project_gets_the_same_entry_in_its_own_file() {
    for host in HOSTS {
        let (home, project) = (Home::new(), Home::new());
        let ran = home.run_in(project.folder.path(), &["init", host.name, "--project", "--yes"]).await;
        let Some((file, skill)) = host.project else {
            let ran = ran.ended_with(1);
            assert!(ran.err.contains("reads no servers from a project"), "{}", ran.err);
            continue;
        };
        ran.ended_with(0);
        assert_eq!(project.files(), sorted(&[file, skill]), "{}", host.name);
        assert_eq!(project.read(file), printed(&home, host).await);
        assert_eq!(home.files(), [""; 0]);
        home.run_in(project.folder.path(), &["init", "--project", "--remove", "--yes"]).await.ended_with(0);
        assert!(project.is_empty(), "{}", host.name);
    }
}

#[tokio::test]
async fn init_finds_the_hosts_and_writes_nothing_without_yes() {
    let home = Home::new();
    let ran = home.run(&["init"]).await.ended_with(1);
    assert!(
        ran.err.contains("no host was found on this machine; name one: claude-code, codex,"),
        "{}",
        ran.err
    );

    for host in HOSTS {
        let home = Home::new();
        let state = format!("{}/state", host.sign);
        home.write(&state, "");
        let ran = home.run(&["init"]).await.ended_with(0);
        assert!(ran.out.contains(&format!("  ~/{}\n    + ", host.file)), "{}: {}", host.name, ran.out);
        assert!(ran.err.contains("nothing was written; add `--yes` to write this"), "{}", ran.err);
        assert_eq!(home.files(), [state]);
    }
}

#[tokio::test]
async fn what_init_wrote_is_no_sign_of_another_host() {
    let home = Home::new();
    std::fs::create_dir_all(home.path(".cursor/skills")).unwrap();
    // In a folder of Gemini CLI.
    home.run(&["init", "cline", "cursor", "antigravity", "--yes"]).await.ended_with(0);
    home.write(".gemini/antigravity-cli/settings.json", "{}");
    let ran = home.run(&["init"]).await.ended_with(0);
    let titles: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(titles, ["Cursor", "Antigravity", "Cline"]);
    std::fs::remove_dir_all(home.path(".gemini/antigravity-cli")).unwrap();
    home.run(&["init", "--remove", "--yes"]).await.ended_with(0);
    // It was there before, and nobody knows what for.
    assert!(home.path(".cursor/skills").is_dir() && !home.path(".config").exists());
    home.run(&["init", "--yes"]).await.ended_with(1);
}

#[tokio::test]
async fn the_file_of_cline_is_where_its_variables_say() {
    let table = [
        (&["CLINE_DIR"][..], "CLINE_DIR/data/settings/cline_mcp_settings.json"),
        (&["CLINE_DIR", "CLINE_DATA_DIR"], "CLINE_DATA_DIR/settings/cline_mcp_settings.json"),
        (&["CLINE_DATA_DIR", "CLINE_MCP_SETTINGS_PATH"], "CLINE_MCP_SETTINGS_PATH"),
    ];
    for (names, file) in table {
        let mut home = Home::new();
        home.env = names.iter().map(|name| (*name, home.path(name))).collect();
        home.run(&["init", "cline", "--yes", "--no-skill"]).await.ended_with(0);
        assert_eq!(home.files(), [file]);
    }
}

#[tokio::test]
async fn a_server_that_claude_code_has_for_one_folder_is_neither_doubled_nor_left() {
    let (home, project) = (Home::new(), Home::new());
    let here = project.folder.path().canonicalize().unwrap();
    let text = |servers: &str| {
        let of_folder = format!("\"allowedTools\": [],\n      \"mcpServers\": {servers}");
        format!(
            "{{\n  \"projects\": {{\n    \"{}\": {{\n      {of_folder}\n    }}\n  }}\n}}\n",
            here.display()
        )
    };
    let added = text(
        r#"{ "stillframe": { "type": "stdio", "command": "stillframe", "args": ["serve"], "env": {} } }"#,
    );
    home.write(".claude.json", &added);
    let ran = home.run_in(&here, &["init", "claude-code", "--yes", "--no-skill"]).await.ended_with(0);
    let out = ran.out.split_whitespace().collect::<String>();
    let expected = format!("alreadysetupforthefolder{}andwasleftasitis", here.display());
    assert!(out.contains(&expected.replace(' ', "")), "{}", ran.out);
    assert_eq!(home.read(".claude.json"), added);

    // In a folder of the repository as in its own.
    std::fs::create_dir_all(here.join(".git")).unwrap();
    std::fs::create_dir(here.join("src")).unwrap();
    let report = home.run_in(&here.join("src"), &["doctor", "--json", "--host", "claude-code"]).await.json();
    assert!(report["tried"][0]["found"].as_str().unwrap().ends_with(": stillframe serve"), "{report}");

    // Other folders have none, and get one for all.
    home.run(&["init", "claude-code", "--yes", "--no-skill"]).await.ended_with(0);
    home.run_in(&here, &["init", "claude-code", "--remove", "--yes"]).await.ended_with(0);
    assert_eq!(home.read(".claude.json"), text("{}"));
}

#[tokio::test]
async fn the_arguments_of_opencode_are_in_its_command() {
    let home = Home::new();
    let file = ".config/opencode/opencode.json";
    let entry = json!({ "type": "local", "command": ["/old/stillframe"], "args": ["serve", "--read-only"] });
    home.write(file, &json!({ "mcp": { "stillframe": entry } }).to_string());
    for _ in 0..2 {
        home.run(&["init", "opencode", "--yes", "--command", "/new"]).await.ended_with(0);
        let now: Value = serde_json::from_str(&home.read(file)).unwrap();
        let expected =
            json!({ "type": "local", "command": ["/new", "serve", "--read-only"], "enabled": true });
        assert_eq!(now["mcp"]["stillframe"], expected);
    }
}

#[tokio::test]
async fn of_two_files_of_opencode_those_with_the_entry_are_meant() {
    let home = Home::new();
    let (json, commented) = (".config/opencode/opencode.json", ".config/opencode/opencode.jsonc");
    let entry = r#"{"mcp": {"stillframe": {"type": "local", "command": ["/old/stillframe", "serve"]}}}"#;
    home.write(commented, entry);
    home.write(json, "{}\n");
    home.run(&["init", "opencode", "--yes", "--no-skill", "--command", "/new"]).await.ended_with(0);
    assert!(home.read(commented).contains("/new"), "{}", home.read(commented));
    assert_eq!(home.read(json), "{}\n");
    for file in [json, commented] {
        home.write(file, entry);
    }
    home.run(&["init", "opencode", "--yes", "--no-skill", "--command", "/newer"]).await.ended_with(0);
    for file in [json, commented] {
        assert!(home.read(file).contains("/newer"), "{}", home.read(file));
    }
    let updated = home.read(json);
    home.write(json, "{ broken");
    let ran = home.run(&["init", "opencode", "--remove", "--yes"]).await.ended_with(1);
    let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("the file was not changed"), "{out}");
    home.write(json, &updated);
    // As opencode 2 writes it.
    let inner = entry.replace(r#""mcp": {"#, r#""mcp": {"servers": {"#) + "}";
    home.write(commented, &inner);
    let ran =
        home.run(&["init", "opencode", "--yes", "--no-skill", "--command", "/newer"]).await.ended_with(0);
    let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("already set up in `mcp.servers`"), "{out}");
    assert_eq!(home.read(commented), inner);
    home.run(&["init", "opencode", "--remove", "--yes"]).await.ended_with(0);
    let left = home.files().into_iter().filter(|file| !file.contains(".bak"));
    assert!(left.map(|file| home.read(&file)).all(|text| !text.contains("stillframe")));
}

#[tokio::test]
async fn a_link_to_a_file_of_settings_stays_a_link_and_its_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("dotfiles/mcp.json", "{}\n");
    std::fs::set_permissions(home.path("dotfiles/mcp.json"), PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::create_dir(home.path(".cursor")).unwrap();
    std::os::unix::fs::symlink(home.path("dotfiles/mcp.json"), home.path(".cursor/mcp.json")).unwrap();
    home.run(&["init", "cursor", "--yes"]).await.ended_with(0);
    assert!(home.path(".cursor/mcp.json").is_symlink());
    assert!(home.read("dotfiles/mcp.json").contains("stillframe"));
    let mode = std::fs::metadata(home.path("dotfiles/mcp.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let before = home.read("dotfiles/mcp.json");
    std::fs::set_permissions(home.path("dotfiles/mcp.json"), PermissionsExt::from_mode(0o400)).unwrap();
    let ran = home.run(&["init", "cursor", "--remove", "--yes", "--no-skill"]).await.ended_with(1);
    assert!(ran.out.contains("is read-only;"), "{}", ran.out);
    assert_eq!(home.read("dotfiles/mcp.json"), before);
}

#[tokio::test]
async fn a_skill_that_another_host_reads_stays() {
    let (home, project) = (Home::new(), Home::new());
    let in_project = project.folder.path();
    home.run_in(in_project, &["init", "codex", "zed", "--project", "--yes"]).await.ended_with(0);
    home.run_in(in_project, &["init", "codex", "--project", "--remove", "--yes"]).await.ended_with(0);
    assert_eq!(project.files(), [".agents/skills/stillframe/SKILL.md", ".zed/settings.json"]);
    home.run_in(in_project, &["init", "zed", "--project", "--remove", "--yes"]).await.ended_with(0);
    assert_eq!(project.files(), [""; 0]);
}

#[tokio::test]
async fn yaml_that_lines_cannot_be_added_to_is_refused() {
    for text in [
        "{extensions: {a: {enabled: true}}}\n",
        "extensions: {a: {enabled: true}}\n",
        "- a\n",
        "a: 1\n---\nb: 2\n",
    ] {
        let home = Home::new();
        home.write(".config/goose/config.yaml", text);
        let ran = home.run(&["init", "goose", "--yes"]).await.ended_with(1);
        assert!(ran.out.contains("✗"), "{}", ran.out);
        assert_eq!(home.read(".config/goose/config.yaml"), text);
    }
}

#[tokio::test]
async fn yaml_without_a_value_gets_the_entry() {
    for nothing in ["", " null", " ~", " NULL # none yet"] {
        let home = Home::new();
        home.write(".config/goose/config.yaml", &format!("extensions:{nothing}\nA: 1\n"));
        home.run(&["init", "goose", "--yes", "--no-skill"]).await.ended_with(0);
        let text = home.read(".config/goose/config.yaml");
        assert!(text.contains("\n  stillframe:\n    name: ") && text.ends_with("\nA: 1\n"), "{text}");
    }
}

fn sorted(paths: &[&str]) -> Vec<String> {
    let mut paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    paths.sort();
    paths
}

/// A host, its file, and an entry that the host reaches over HTTP.
fn remote_entries() -> [(&'static str, &'static str, String); 6] {
    let json = |section: &str, entry: Value| json!({ section: { "stillframe": entry } }).to_string();
    let url = "http://debug.example/mcp";
    [
        ("vscode", ".config/Code/User/mcp.json", json("servers", json!({ "type": "http", "url": url }))),
        ("cursor", ".cursor/mcp.json", json("mcpServers", json!({ "url": url, "command": "old" }))),
        ("windsurf", ".codeium/windsurf/mcp_config.json", json("mcpServers", json!({ "serverUrl": url }))),
        ("gemini", ".gemini/settings.json", json("mcpServers", json!({ "httpUrl": url }))),
        ("codex", ".codex/config.toml", format!("[mcp_servers.stillframe]\nurl = \"{url}\"\n")),
        (
            "goose",
            ".config/goose/config.yaml",
            format!("extensions:\n  stillframe:\n    type: sse\n    uri: {url}\n"),
        ),
    ]
}

#[tokio::test]
async fn an_entry_that_is_an_http_server_is_left_and_not_checked() {
    for (host, file, text) in remote_entries() {
        let home = Home::new();
        home.write(file, &text);
        let ran = home.run(&["init", host, "--yes", "--no-skill"]).await.ended_with(0);
        let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = format!(
            "! `stillframe` in ~/{file} is an HTTP server (http://debug.example/mcp) and was left as it is; to replace \
             it, remove it first: stillframe init {host} --remove --yes"
        );
        assert!(
            out.replace(' ', "").contains(&expected.replace(' ', "")) && !out.contains('✓'),
            "{}",
            ran.out
        );
        assert_eq!((home.read(file), home.files()), (text.clone(), vec![file.to_owned()]), "{host}");

        let report = doctor(&home, host).await.ended_with(1).json();
        let problem = report["tried"][0]["problem"].as_str().unwrap();
        assert!(
            problem.contains("an HTTP server (http://debug.example/mcp), which was not checked"),
            "{problem}"
        );

        home.run(&["init", host, "--remove", "--yes"]).await.ended_with(0);
        assert_eq!(home.read(&format!("{file}.bak")), text, "{host}");
    }
}

#[tokio::test]
async fn removing_an_entry_with_additions_keeps_the_old_file() {
    for (entry, keeps) in [
        (json!({ "command": "/opt/sf", "args": ["serve"], "env": { "TOKEN": "1" } }), true),
        (json!({ "command": "/opt/sf", "args": ["serve", "--read-only"] }), true),
        (json!({ "command": "/opt/sf" }), true),
        (json!({ "command": "/opt/sf", "args": ["serve"] }), false),
    ] {
        let home = Home::new();
        home.run(&["init", "cursor", "--yes", "--no-skill", "--command", "/opt/sf"]).await.ended_with(0);
        if keeps {
            home.write(".cursor/mcp.json", &json!({ "mcpServers": { "stillframe": entry } }).to_string());
        }
        home.run(&["init", "cursor", "--remove", "--yes"]).await.ended_with(0);
        let expected: &[&str] = if keeps { &[".cursor/mcp.json.bak"] } else { &[] };
        assert_eq!(home.files(), expected, "{entry}");
    }
}

#[tokio::test]
async fn byte_order_marks_and_line_ends_stay() {
    for host in HOSTS {
        let (before, after) = host.other();
        for (mark, end) in [("\u{feff}", "\n"), ("", "\r\n"), ("\u{feff}", "\r\n")] {
            let with = |text: &str| format!("{mark}{}", text.replace('\n', end));
            let home = Home::new();
            home.write(host.file, &with(&before));
            home.init(host, &["--yes", "--no-skill"]).await.ended_with(0);
            assert_eq!(home.read(host.file), with(&after), "{}", host.name);
            home.run(&["init", host.name, "--remove", "--yes"]).await.ended_with(0);
            assert_eq!(home.read(host.file), with(&before), "{}", host.name);
        }
    }
}

#[tokio::test]
async fn a_section_that_was_there_stays_with_its_comments() {
    for (host, file, text) in [
        (
            "cursor",
            ".cursor/mcp.json",
            "{\n  // mine\n  \"mcpServers\": {\n    // none yet, ask Ann\n  },\n  \"x\": 1\n}\n",
        ),
        ("codex", ".codex/config.toml", "[mcp_servers]\n# none yet\n"),
        ("codex", ".codex/config.toml", "mcp_servers = {} # none yet\n"),
        ("goose", ".config/goose/config.yaml", "extensions: {}\n  # none yet\nA: 1\n"),
    ] {
        let home = Home::new();
        home.write(file, text);
        home.run(&["init", host, "--yes", "--no-skill"]).await.ended_with(0);
        home.run(&["init", host, "--remove", "--yes"]).await.ended_with(0);
        assert_eq!(home.read(file), text);
    }
}

#[tokio::test]
async fn goose_keeps_the_values_that_the_user_wrote() {
    let home = Home::new();
    let text = "extensions:\n  stillframe:\n    # keep me\n    name: stillframe\n    description: mine\n    type: stdio\n    cmd: /old/stillframe # moved\n    args: [serve, --read-only]\n    enabled: true   # mine\n    timeout: 12.5\n";
    home.write(".config/goose/config.yaml", text);
    home.run(&["init", "goose", "--yes", "--no-skill", "--command", "/new"]).await.ended_with(0);
    assert_eq!(home.read(".config/goose/config.yaml"), text.replace("/old/stillframe", "/new"));
}

#[tokio::test]
async fn a_link_to_a_file_that_does_not_exist_yet_is_followed() {
    let home = Home::new();
    std::fs::create_dir(home.path(".cursor")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/mcp.json", home.path(".cursor/mcp.json")).unwrap();
    home.run(&["init", "cursor", "--yes", "--no-skill"]).await.ended_with(0);
    assert!(home.path(".cursor/mcp.json").is_symlink());
    assert!(home.read("dotfiles/mcp.json").contains("stillframe"));
}

/// A host's file with an entry that starts this server with the tests' cache.
async fn configured(words: &[&str], more: &Value) -> Home {
    let home = Home::new();
    let cache = STILLFRAME.cache().await;
    let mut entry =
        json!({ "command": words[0], "args": words[1..], "env": { "STILLFRAME_CACHE_DIR": cache } });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "stillframe": entry } }).to_string());
    home
}

async fn doctor(home: &Home, host: &str) -> CommandRun {
    let home = home.folder.path().to_str().unwrap();
    let cache = STILLFRAME.cache().await;
    let environment = [("HOME", home), ("XDG_CONFIG_HOME", "")];
    crate::stillframe_with(["doctor", "--json", "--host", host], &cache, &environment).await
}

#[tokio::test]
async fn doctor_starts_the_server_as_the_host_does() {
    for toolset in ["standard", "quick"] {
        let home = configured(&[STILLFRAME.program, "serve", "--toolset", toolset], &json!({})).await;
        let report = doctor(&home, "cursor").await.ended_with(0).json();
        let tried: Vec<&str> =
            report["tried"].as_array().unwrap().iter().map(|one| one["tried"].as_str().unwrap()).collect();
        assert_eq!(tried, ["entry", "start", "tools/list", "probe"], "{report}");
        assert_eq!(report["ok"], true, "{report}");
    }
}

#[tokio::test]
async fn doctor_answers_a_server_that_asks_and_accepts_one_that_starts_nothing() {
    for (option, step) in [
        ("--confirm", "probe"),
        ("--allow-client-roots", "probe"),
        ("--read-only", "probe refused"),
        ("--allow-root=/usr", "probe refused"),
        ("--allow-language=ruby", "probe refused"),
    ] {
        let home = configured(&[STILLFRAME.program, "serve", option], &json!({})).await;
        let report = doctor(&home, "cursor").await.ended_with(0).json();
        let last = report["tried"].as_array().unwrap().last().unwrap();
        assert_eq!(last["tried"], step, "{report}");
        let found = last["found"].as_str().unwrap();
        let is_refused = found.starts_with("starting programs is not allowed, as configured: ");
        assert_eq!(is_refused, step == "probe refused", "{found}");
    }
}

#[tokio::test]
async fn doctor_says_what_keeps_a_host_from_the_server() {
    let problems: &[(&[&str], Value, &str)] = &[
        (&["no-such-program", "serve"], json!({}), "there is no program `no-such-program`"),
        (&[STILLFRAME.program, "serv"], json!({}), "unrecognized subcommand"),
        (&["echo", "hello"], json!({}), "not MCP on its standard output: `hello`"),
        (&[STILLFRAME.program, "serve"], json!({ "disabled": true }), "is disabled; enable it in Cursor"),
        (
            &[STILLFRAME.program, "serve"],
            json!({ "command": null, "args": [] }),
            "has neither a command nor a URL; to add the command: stillframe init cursor --yes",
        ),
    ];
    for (words, more, expected) in problems {
        let home = configured(words, more).await;
        let ran = doctor(&home, "cursor").await.ended_with(1);
        assert!(ran.out.contains(expected), "{expected}: {}", ran.out);
    }
    let ran = doctor(&Home::new(), "zed").await.ended_with(1);
    assert!(ran.out.contains("to add it: stillframe init zed --yes"), "{}", ran.out);
}
