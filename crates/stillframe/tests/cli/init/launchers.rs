//! Commands that start the server, in entries and in `--command`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::Home;
use crate::{STILLFRAME, folder};

#[tokio::test]
async fn options_that_the_user_added_survive_an_update() {
    let home = Home::new();
    let file = ".codex/config.toml";
    let text = "[mcp_servers.stillframe]\ncommand = \"/old/stillframe\" # moved\nargs = [\"--read-only\", \"serve\", \"--toolset\", \"quick\"]\nenv = { A = \"1\" }\n";
    home.write(file, text);
    home.run(&["init", "codex", "--yes", "--command", "npx -y stillframe"]).await.ended_with(0);
    let (before, after) = ("[\"--read-only\",", "[\"-y\", \"stillframe\", \"--read-only\",");
    assert_eq!(home.read(file), text.replace("/old/stillframe", "npx").replace(before, after));
}

#[tokio::test]
async fn an_entry_with_another_launcher_is_left() {
    let home = Home::new();
    let scripts = folder();
    let wrapper = scripts.path().join("wrapper");
    std::fs::write(&wrapper, "#!/bin/sh\nexec stillframe \"$@\"\n").unwrap();
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o700)).unwrap();
    let file = ".cursor/mcp.json";
    for words in [
        ["docker", "run", "-i", "--rm", "-v", "/x:/work", "stillframe"].as_slice(),
        &["sh", "-c", "exec stillframe --read-only serve"],
        &["ssh", "box", "stillframe", "serve"],
        &[wrapper.to_str().unwrap(), "serve", "--read-only"],
        &["/bin/cat", "serve"],
        &["no-such-server", "serve"],
    ] {
        let entry = json!({ "command": words[0], "args": words[1..] });
        let text = json!({ "mcpServers": { "stillframe": entry } }).to_string();
        home.write(file, &text);
        let ran = home.run(&["init", "cursor", "--yes", "--no-skill"]).await.ended_with(0);
        let out = ran.out.split_whitespace().collect::<String>();
        let expected =
            format!("isacommandthatdoesnotstarttheserveras`init`would(`{}`)andwasleftasitis", words.concat());
        assert!(out.contains(&expected.replace(' ', "")) && !out.contains('✓'), "{}", ran.out);
        assert_eq!((home.read(file), home.files()), (text.clone(), vec![file.to_owned()]));

        // The skill is written, but no server that could be checked.
        let ran = home.run(&["init", "cursor", "--yes"]).await.ended_with(0);
        assert!(ran.out.contains("wrote ") && !ran.err.contains("restart the host"), "{}", ran.err);
        assert_eq!(home.read(file), text);
        home.run(&["init", "cursor", "--remove", "--yes"]).await.ended_with(0);
        std::fs::remove_file(home.path(".cursor/mcp.json.bak")).unwrap();
    }
}

#[tokio::test]
async fn an_entry_that_init_wrote_is_replaced_by_any_other() {
    let home = Home::new();
    std::os::unix::fs::symlink(STILLFRAME.program, home.path("sf")).unwrap();
    let renamed = format!("{} --read-only", home.path("sf").display());
    let written = format!("{renamed} serve");
    let commands = [
        ("pipx run stillframe", "pipx run stillframe serve"),
        ("pipx run stillframe --read-only", "pipx run stillframe --read-only serve"),
        ("cmd /c npx -y stillframe", "cmd /c npx -y stillframe --read-only serve"),
        ("npm exec -- stillframe serve --toolset all", "npm exec -- stillframe serve --toolset all"),
        (renamed.as_str(), written.as_str()),
        ("uv tool run stillframe", "uv tool run stillframe --read-only serve"),
    ];
    for (command, expected) in commands {
        for _ in 0..2 {
            let ran = home
                .run(&["init", "cursor", "--yes", "--no-skill", "--command", command])
                .await
                .ended_with(0);
            let now: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
            let entry = &now["mcpServers"]["stillframe"];
            let mut words = vec![entry["command"].as_str().unwrap()];
            words.extend(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
            assert_eq!(words.join(" "), expected, "{}", ran.out);
        }
    }
}

#[tokio::test]
async fn a_given_command_is_split_as_a_shell_does() {
    let home = Home::new();
    for (command, words) in [
        (r#""/opt/my tools/stillframe""#, json!(["/opt/my tools/stillframe", "serve"])),
        ("npx -y stillframe serve", json!(["npx", "-y", "stillframe", "serve"])),
        (
            "npx -y stillframe serve --toolset all",
            json!(["npx", "-y", "stillframe", "serve", "--toolset", "all"]),
        ),
        ("'${workspaceFolder}/sf'", json!(["${workspaceFolder}/sf", "serve"])),
    ] {
        let ran = home.run(&["init", "--print", "opencode", "--command", command]).await.ended_with(0);
        assert_eq!(ran.json()["mcp"]["stillframe"]["command"], words, "{command}");
    }
    for command in [
        "",
        "'a",
        "$HOME/sf",
        "a | b",
        "stillframe doctor",
        "stillframe --config /x doctor",
        "npm exec stillframe",
    ] {
        let ran = home.run(&["init", "--print", "opencode", "--command", command]).await.ended_with(1);
        assert!(ran.err.contains("command` "), "{command}: {}", ran.err);
    }
}
