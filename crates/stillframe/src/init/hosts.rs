//! The hosts that can start stillframe: one row each.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use engine::adapter::{Host as _, Machine};
use etcetera::BaseStrategy;

use super::entry::{ServerCommand, Shape};
use super::format::Format;
use super::plan;
use super::variables::Variables;

/// What a host keeps its servers in, and where it looks for skills.
#[derive(Debug)]
pub(crate) struct McpHost {
    /// For the command line.
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// As its makers spell it.
    pub(crate) title: &'static str,
    /// The files that it reads for a user. A new entry belongs in the first that exists, or else in the first.
    user: &'static [HostPath],
    /// The same in a project; none if it reads none there.
    project: &'static [&'static str],
    pub(super) format: Format,
    /// The key that its servers are under.
    pub(super) section: &'static str,
    /// The key in the user's file that has more sections: one for each folder that has servers of its own.
    pub(super) folders: Option<&'static str>,
    pub(super) shape: Shape,
    /// What it expands in an entry.
    pub(crate) variables: Variables,
    /// The folders of skills, for a user and in a project.
    skills: (HostPath, &'static str),
    /// Folders that only it makes.
    signs: &'static [HostPath],
    program: &'static str,
}

/// A path from one of the folders that belong to a user.
#[derive(Clone, Copy, Debug)]
enum HostPath {
    /// In the home folder.
    Home(&'static str),
    /// In the folder for settings, which is the same on Linux and macOS.
    Settings(&'static str),
    /// In the folder where applications such as VS Code keep their data.
    Application(&'static str),
    /// In the folder that a variable names, or else in this one in the home folder.
    Variable(&'static str, &'static str, &'static str),
    /// In the folder that a variable names, or the file that it names, or else at another place.
    Or(&'static str, &'static str, &'static HostPath),
}

use HostPath::{Application, Home, Or, Settings, Variable};

/// What most hosts have in common.
const DEFAULTS: McpHost = McpHost {
    name: "",
    aliases: &[],
    title: "",
    user: &[],
    project: &[],
    format: Format::Json,
    section: "mcpServers",
    folders: None,
    shape: Shape::Plain,
    variables: Variables::None,
    skills: (Home(""), ""),
    signs: &[],
    program: "",
};

pub(crate) const HOSTS: &[McpHost] = &[
    McpHost {
        name: "claude-code",
        aliases: &["claude"],
        title: "Claude Code",
        user: &[Variable("CLAUDE_CONFIG_DIR", "", ".claude.json")],
        project: &[".mcp.json"],
        folders: Some("projects"),
        shape: Shape::Typed,
        variables: Variables::Shell { bare: false },
        skills: (Variable("CLAUDE_CONFIG_DIR", ".claude", "skills"), ".claude/skills"),
        signs: &[Variable("CLAUDE_CONFIG_DIR", ".claude", "")],
        program: "claude",
        ..DEFAULTS
    },
    McpHost {
        name: "codex",
        title: "Codex",
        user: &[Variable("CODEX_HOME", ".codex", "config.toml")],
        project: &[".codex/config.toml"],
        format: Format::Toml,
        section: "mcp_servers",
        skills: (Variable("CODEX_HOME", ".codex", "skills"), ".agents/skills"),
        signs: &[Variable("CODEX_HOME", ".codex", "")],
        program: "codex",
        ..DEFAULTS
    },
    McpHost {
        name: "cursor",
        title: "Cursor",
        user: &[Home(".cursor/mcp.json")],
        project: &[".cursor/mcp.json"],
        variables: Variables::Editor,
        skills: (Home(".cursor/skills"), ".cursor/skills"),
        signs: &[Home(".cursor")],
        program: "cursor",
        ..DEFAULTS
    },
    McpHost {
        name: "vscode",
        aliases: &["code", "copilot"],
        title: "VS Code",
        user: &[Application("Code/User/mcp.json")],
        project: &[".vscode/mcp.json"],
        section: "servers",
        shape: Shape::Typed,
        variables: Variables::Editor,
        skills: (Home(".copilot/skills"), ".github/skills"),
        signs: &[Application("Code/User")],
        program: "code",
        ..DEFAULTS
    },
    McpHost {
        name: "copilot-cli",
        title: "GitHub Copilot CLI",
        user: &[Variable("COPILOT_HOME", ".copilot", "mcp-config.json")],
        project: &[".github/mcp.json"],
        shape: Shape::Copilot,
        variables: Variables::Shell { bare: true },
        skills: (Variable("COPILOT_HOME", ".copilot", "skills"), ".github/skills"),
        signs: &[Variable("COPILOT_HOME", ".copilot", "")],
        program: "copilot",
        ..DEFAULTS
    },
    McpHost {
        name: "kiro",
        title: "Kiro",
        user: &[Home(".kiro/settings/mcp.json")],
        project: &[".kiro/settings/mcp.json"],
        variables: Variables::InEnvironment,
        skills: (Home(".kiro/skills"), ".kiro/skills"),
        signs: &[Home(".kiro")],
        program: "kiro",
        ..DEFAULTS
    },
    McpHost {
        name: "gemini",
        aliases: &["gemini-cli"],
        title: "Gemini CLI",
        user: &[Home(".gemini/settings.json")],
        project: &[".gemini/settings.json"],
        variables: Variables::Shell { bare: true },
        skills: (Home(".gemini/skills"), ".gemini/skills"),
        signs: &[Home(".gemini")],
        program: "gemini",
        ..DEFAULTS
    },
    McpHost {
        name: "antigravity",
        aliases: &["agy"],
        title: "Antigravity",
        // Its applications and its command line have one file.
        user: &[Home(".gemini/config/mcp_config.json")],
        project: &[".agents/mcp_config.json"],
        skills: (Home(".gemini/config/skills"), ".agents/skills"),
        signs: &[
            Home(".gemini/config"),
            Home(".gemini/antigravity"),
            Home(".gemini/antigravity-cli"),
            Home(".gemini/antigravity-ide"),
        ],
        program: "agy",
        ..DEFAULTS
    },
    McpHost {
        name: "devin",
        aliases: &["devin-desktop"],
        title: "Devin Desktop",
        user: &[Settings("devin/mcp_config.json")],
        project: &[".devin/mcp_config.json"],
        skills: (Settings("devin/skills"), ".devin/skills"),
        signs: &[Settings("devin")],
        program: "devin",
        ..DEFAULTS
    },
    // The older name of Devin Desktop, with folders of its own.
    McpHost {
        name: "windsurf",
        title: "Windsurf",
        user: &[Home(".codeium/windsurf/mcp_config.json")],
        variables: Variables::Prefixed,
        skills: (Home(".codeium/windsurf/skills"), ".windsurf/skills"),
        signs: &[Home(".codeium/windsurf")],
        program: "windsurf",
        ..DEFAULTS
    },
    McpHost {
        name: "zed",
        title: "Zed",
        user: &[Settings("zed/settings.json")],
        project: &[".zed/settings.json"],
        section: "context_servers",
        shape: Shape::Zed,
        skills: (Home(".agents/skills"), ".agents/skills"),
        signs: &[Settings("zed")],
        program: "zed",
        ..DEFAULTS
    },
    McpHost {
        name: "opencode",
        title: "opencode",
        user: &[Settings("opencode/opencode.json"), Settings("opencode/opencode.jsonc")],
        project: &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
        section: "mcp",
        shape: Shape::Opencode,
        variables: Variables::Braces,
        skills: (Settings("opencode/skills"), ".opencode/skills"),
        signs: &[Settings("opencode")],
        program: "opencode",
        ..DEFAULTS
    },
    McpHost {
        name: "continue",
        title: "Continue",
        // It reads every file of this folder, so that its own YAML file needs no change.
        user: &[Variable("CONTINUE_GLOBAL_DIR", ".continue", "mcpServers/stillframe.json")],
        project: &[".continue/mcpServers/stillframe.json"],
        variables: Variables::Secrets,
        skills: (Variable("CONTINUE_GLOBAL_DIR", ".continue", "skills"), ".continue/skills"),
        signs: &[Variable("CONTINUE_GLOBAL_DIR", ".continue", "")],
        program: "cn",
        ..DEFAULTS
    },
    McpHost {
        name: "cline",
        aliases: &["cline-cli"],
        title: "Cline",
        // Its extensions and its command line have one file.
        user: &[Or(
            "CLINE_MCP_SETTINGS_PATH",
            "",
            &Or(
                "CLINE_DATA_DIR",
                "settings/cline_mcp_settings.json",
                &Variable("CLINE_DIR", ".cline", "data/settings/cline_mcp_settings.json"),
            ),
        )],
        variables: Variables::Prefixed,
        skills: (Home(".cline/skills"), ".cline/skills"),
        signs: &[
            Application("Code/User/globalStorage/saoudrizwan.claude-dev"),
            Or("CLINE_DATA_DIR", "", &Variable("CLINE_DIR", ".cline", "data")),
        ],
        program: "cline",
        ..DEFAULTS
    },
    McpHost {
        name: "goose",
        title: "Goose",
        user: &[Settings("goose/config.yaml")],
        format: Format::Yaml,
        section: "extensions",
        shape: Shape::Goose,
        skills: (Settings("goose/skills"), ".goose/skills"),
        signs: &[Settings("goose")],
        program: "goose",
        ..DEFAULTS
    },
];

pub(crate) fn named(name: &str) -> Option<&'static McpHost> {
    HOSTS.iter().find(|host| host.name == name || host.aliases.contains(&name))
}

/// Whose files are meant: the user's, or those of the project in a folder.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    User,
    Project(PathBuf),
}

/// The folders of the user.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    pub(crate) home: PathBuf,
    /// The current one.
    pub(crate) here: PathBuf,
    settings: PathBuf,
    application: PathBuf,
}

impl Folders {
    pub(crate) fn of_user() -> anyhow::Result<Self> {
        let native =
            etcetera::base_strategy::choose_native_strategy().context("your account has no home folder")?;
        let base = etcetera::choose_base_strategy().context("your account has no home folder")?;
        // On macOS, a native application's settings and its data are in different folders.
        let application = if cfg!(target_os = "macos") { native.data_dir() } else { native.config_dir() };
        // A folder that is gone has no entries.
        let here = std::env::current_dir().unwrap_or_default();
        Ok(Self { home: base.home_dir().to_owned(), here, settings: base.config_dir(), application })
    }

    fn path(&self, place: HostPath) -> PathBuf {
        match place {
            Home(path) => self.home.join(path),
            Settings(path) => self.settings.join(path),
            Application(path) => self.application.join(path),
            Variable(name, or, path) => {
                let folder = Machine.env(name).map_or_else(|| self.home.join(or), PathBuf::from);
                // Joined with nothing, a path would end in a slash.
                if path.is_empty() { folder } else { folder.join(path) }
            }
            Or(name, path, or) => match Machine.env(name).map(PathBuf::from) {
                Some(named) if path.is_empty() => named,
                Some(folder) => folder.join(path),
                None => self.path(*or),
            },
        }
    }

    /// A path as people write it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }
}

impl McpHost {
    /// The file that the host reads our entry from; none in a project if it reads none there.
    pub(crate) fn file(&self, scope: &Scope, folders: &Folders) -> Option<PathBuf> {
        self.files(scope, folders).into_iter().next()
    }

    /// The files that have our entry, or cannot be read to find out, of those that the host reads; or else the one that
    /// it belongs in.
    pub(super) fn files(&self, scope: &Scope, folders: &Folders) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = match scope {
            Scope::User => self.user.iter().map(|place| folders.path(*place)).collect(),
            Scope::Project(folder) => self.project.iter().map(|path| folder.join(path)).collect(),
        };
        if files.len() > 1 {
            if files.iter().any(|file| self.has_entry(file)) {
                files.retain(|file| self.has_entry(file));
            } else {
                let existing = files.iter().position(|file| file.exists()).unwrap_or_default();
                files = vec![files.swap_remove(existing)];
            }
        }
        files
    }

    /// Whether a file has our entry, or cannot be read to find out.
    fn has_entry(&self, file: &Path) -> bool {
        !matches!(plan::existing(self, file), Ok(None))
    }

    /// What an entry of this host starts.
    pub(crate) fn command(&self, entry: &serde_json::Value) -> ServerCommand {
        self.shape.command(entry)
    }

    /// The file of the skill.
    pub(crate) fn skill(&self, scope: &Scope, folders: &Folders) -> PathBuf {
        let skills = match scope {
            Scope::User => folders.path(self.skills.0),
            Scope::Project(folder) => folder.join(self.skills.1),
        };
        skills.join("stillframe").join("SKILL.md")
    }

    /// Whether the host is on this machine.
    pub(crate) fn is_here(&self, folders: &Folders) -> bool {
        let is_other = |host: &&Self| host.name != self.name;
        let signs = || {
            HOSTS.iter().filter(is_other).flat_map(|host| host.signs.iter().map(|sign| folders.path(*sign)))
        };
        let own = || HOSTS.iter().flat_map(|host| host.own_files(folders)).chain(signs()).collect();
        let is_sign = |sign: PathBuf| sign.is_dir() && has_other_files(&sign, &own());
        self.signs.iter().any(|sign| is_sign(folders.path(*sign)))
            || self.user.iter().any(|place| folders.path(*place).is_file())
            || !self.program.is_empty() && Machine.which(self.program).is_some()
    }

    /// The files of a user that `init` writes.
    fn own_files(&self, folders: &Folders) -> Vec<PathBuf> {
        let files = self.user.iter().map(|place| folders.path(*place));
        files.chain([self.skill(&Scope::User, folders)]).collect()
    }
}

/// Whether a folder has a file besides these, and outside of those of them that are folders. An empty one may be left
/// from a host that is gone, or from `init`.
fn has_other_files(folder: &Path, own: &HashSet<PathBuf>) -> bool {
    // A folder that cannot be read is another program's.
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    entries.flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        !own.contains(&entry.path()) && (!is_folder || has_other_files(&entry.path(), own))
    })
}
