//! What each host's file looks like, with the entry and without it.

/// A host, with paths from the home folder or the project.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// A folder that shows that the host is there.
    pub(super) sign: &'static str,
    pub(super) file: &'static str,
    pub(super) skill: &'static str,
    /// The file and the skill of a project.
    pub(super) project: Option<(&'static str, &'static str)>,
    /// A file with something else in it; what init adds is in «».
    other: &'static str,
    /// Not of its format on line 2.
    pub(super) broken: &'static str,
}

impl Row {
    /// The file before and after.
    pub(super) fn other(&self) -> (String, String) {
        let mut before = String::new();
        for (at, part) in self.other.split(['«', '»']).enumerate() {
            if at % 2 == 0 {
                before.push_str(part);
            }
        }
        (before, self.other.replace(['«', '»'], ""))
    }
}

const BROKEN_JSON: &str = "{\n  \"mcpServers\": {\n";

/// Two other servers, comments and a trailing comma.
const COMMENTED: &str = r#"// Mine
{
  "mcpServers": {
    // The first.
    "files": { "command": "npx", "args": ["-y", "files"] }, /* pinned */
    "notes": { "command": "notes", "env": { "A": "1" } },«
    "stillframe": {
      "command": "stillframe",
      "args": ["serve"],
    },»
  },
  "other": 1.50, // as it was
}
"#;

/// As programs write it, and indented by four.
const PLAIN: &str = r#"{
    "numbers": [1, 2.0, 1e3],
    "mcpServers": {
        "files": {
            "command": "npx"
        }«,
        "stillframe": {
            "command": "stillframe",
            "args": ["serve"]
        }»
    },
    "text": "é \u00e9 \/"
}
"#;

/// No servers yet, and no last line break.
const WITHOUT_SERVERS: &str = r#"{
  "theme": "dark"«,
  "mcpServers": {
    "stillframe": {
      "command": "stillframe",
      "args": ["serve"]
    }
  }»
}"#;

pub(super) const HOSTS: &[Row] = &[
    Row {
        name: "claude-code",
        sign: ".claude",
        file: ".claude.json",
        skill: ".claude/skills/stillframe/SKILL.md",
        project: Some((".mcp.json", ".claude/skills/stillframe/SKILL.md")),
        other: r#"{
  "numStartups": 12,
  "projects": { "/home/ann/shop": { "mcpServers": {} } },
  "mcpServers": {
    "files": { "type": "stdio", "command": "npx" }«,
    "stillframe": {
      "type": "stdio",
      "command": "stillframe",
      "args": ["serve"]
    }»
  }
}
"#,
        broken: BROKEN_JSON,
    },
    Row {
        name: "codex",
        sign: ".codex",
        file: ".codex/config.toml",
        skill: ".codex/skills/stillframe/SKILL.md",
        project: Some((".codex/config.toml", ".agents/skills/stillframe/SKILL.md")),
        other: r#"# Mine
model = "gpt-5"   # the newest

[mcp_servers.files]
command = "npx" # pinned
args = [
  "-y",
  "files", # trailing
]
«
[mcp_servers.stillframe]
command = "stillframe"
args = ["serve"]
»
[projects."/home/ann/shop"]
trust_level = "trusted"
"#,
        broken: "model = \"gpt-5\"\n[mcp_servers.files\n",
    },
    Row {
        name: "cursor",
        sign: ".cursor",
        file: ".cursor/mcp.json",
        skill: ".cursor/skills/stillframe/SKILL.md",
        project: Some((".cursor/mcp.json", ".cursor/skills/stillframe/SKILL.md")),
        other: COMMENTED,
        broken: BROKEN_JSON,
    },
    Row {
        name: "vscode",
        sign: ".config/Code/User",
        file: ".config/Code/User/mcp.json",
        skill: ".copilot/skills/stillframe/SKILL.md",
        project: Some((".vscode/mcp.json", ".github/skills/stillframe/SKILL.md")),
        other: "{
\t// Asked for once.
\t\"inputs\": [],
\t\"servers\": {
\t\t\"files\": { \"type\": \"stdio\", \"command\": \"files\" }«,
\t\t\"stillframe\": {
\t\t\t\"type\": \"stdio\",
\t\t\t\"command\": \"stillframe\",
\t\t\t\"args\": [\"serve\"]
\t\t}»
\t}
}
",
        broken: "{\n  'servers': {}\n}\n",
    },
    Row {
        name: "copilot-cli",
        sign: ".copilot",
        file: ".copilot/mcp-config.json",
        skill: ".copilot/skills/stillframe/SKILL.md",
        project: Some((".github/mcp.json", ".github/skills/stillframe/SKILL.md")),
        other: r#"{
  "mcpServers": {
    "files": { "type": "local", "command": "files", "args": [], "tools": ["read"] }«,
    "stillframe": {
      "type": "local",
      "tools": ["*"],
      "command": "stillframe",
      "args": ["serve"]
    }»
  }
}
"#,
        broken: BROKEN_JSON,
    },
    Row {
        name: "kiro",
        sign: ".kiro",
        file: ".kiro/settings/mcp.json",
        skill: ".kiro/skills/stillframe/SKILL.md",
        project: Some((".kiro/settings/mcp.json", ".kiro/skills/stillframe/SKILL.md")),
        other: PLAIN,
        broken: BROKEN_JSON,
    },
    Row {
        name: "gemini",
        sign: ".gemini",
        file: ".gemini/settings.json",
        skill: ".gemini/skills/stillframe/SKILL.md",
        project: Some((".gemini/settings.json", ".gemini/skills/stillframe/SKILL.md")),
        other: WITHOUT_SERVERS,
        broken: "{\n  \"a\": 1\n  \"b\": 2\n}\n",
    },
    Row {
        name: "antigravity",
        sign: ".gemini/antigravity-cli",
        file: ".gemini/config/mcp_config.json",
        skill: ".gemini/config/skills/stillframe/SKILL.md",
        project: Some((".agents/mcp_config.json", ".agents/skills/stillframe/SKILL.md")),
        other: COMMENTED,
        broken: BROKEN_JSON,
    },
    Row {
        name: "devin",
        sign: ".config/devin",
        file: ".config/devin/mcp_config.json",
        skill: ".config/devin/skills/stillframe/SKILL.md",
        project: Some((".devin/mcp_config.json", ".devin/skills/stillframe/SKILL.md")),
        other: COMMENTED,
        broken: BROKEN_JSON,
    },
    Row {
        name: "windsurf",
        sign: ".codeium/windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        skill: ".codeium/windsurf/skills/stillframe/SKILL.md",
        project: None,
        other: PLAIN,
        broken: BROKEN_JSON,
    },
    Row {
        name: "zed",
        sign: ".config/zed",
        file: ".config/zed/settings.json",
        skill: ".agents/skills/stillframe/SKILL.md",
        project: Some((".zed/settings.json", ".agents/skills/stillframe/SKILL.md")),
        other: r#"// Zed settings
//
// For information on how to configure Zed, see the documentation.
{
  "vim_mode": true, // of course
  "context_servers": {
    "files": { "source": "custom", "command": "files", "args": [] }, // mine«
    "stillframe": {
      "source": "custom",
      "command": "stillframe",
      "args": ["serve"],
    },»
  },
}
"#,
        broken: BROKEN_JSON,
    },
    Row {
        name: "opencode",
        sign: ".config/opencode",
        file: ".config/opencode/opencode.json",
        skill: ".config/opencode/skills/stillframe/SKILL.md",
        project: Some(("opencode.json", ".opencode/skills/stillframe/SKILL.md")),
        other: r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "files": { "type": "local", "command": ["files"] }«,
    "stillframe": {
      "type": "local",
      "enabled": true,
      "command": ["stillframe", "serve"]
    }»
  }
}
"#,
        broken: BROKEN_JSON,
    },
    Row {
        name: "continue",
        sign: ".continue",
        file: ".continue/mcpServers/stillframe.json",
        skill: ".continue/skills/stillframe/SKILL.md",
        project: Some((".continue/mcpServers/stillframe.json", ".continue/skills/stillframe/SKILL.md")),
        other: WITHOUT_SERVERS,
        broken: BROKEN_JSON,
    },
    Row {
        name: "cline",
        sign: ".config/Code/User/globalStorage/saoudrizwan.claude-dev",
        file: ".cline/data/settings/cline_mcp_settings.json",
        skill: ".cline/skills/stillframe/SKILL.md",
        project: None,
        other: PLAIN,
        broken: BROKEN_JSON,
    },
    Row {
        name: "goose",
        sign: ".config/goose",
        file: ".config/goose/config.yaml",
        skill: ".config/goose/skills/stillframe/SKILL.md",
        project: None,
        other: "# Mine
GOOSE_MODEL: gpt-5   # the newest
extensions: # servers
«  stillframe:
    name: stillframe
    description: Debug running programs
    type: stdio
    enabled: true
    timeout: 300
    cmd: stillframe
    args:
    - serve
»  # comes with Goose
  developer: &builtin
    enabled: true
    type: 'builtin'
    description: |
      several
      lines

  memory:
    <<: *builtin
    available: [a, b] # off
# the end
LANG: \"é\"
",
        broken: "GOOSE_MODEL: gpt-5\nextensions: developer: {}\n",
    },
];
