//! Which crate may not depend on which: a crate exists only because it forbids a dependency.
//!
//! Only normal dependencies count; tests and build scripts may use what they like.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;

use super::Finding;
use crate::repository::{File, Node, Resolve};

const RULES: &[Rule] = &[
    Rule {
        of: "stillframe-dap",
        never: Reaches(&["stillframe-cdp", "stillframe-engine", "stillframe-journal"]),
        because: "a wire client has no opinion about debugging",
    },
    Rule {
        of: "stillframe-cdp",
        never: Reaches(&["stillframe-dap", "stillframe-engine", "stillframe-journal"]),
        because: "a wire client has no opinion about debugging",
    },
    Rule {
        of: "stillframe-dbgp",
        never: Reaches(&["stillframe-cdp", "stillframe-dap", "stillframe-engine", "stillframe-journal"]),
        because: "a wire client has no opinion about debugging",
    },
    Rule {
        of: "stillframe-journal",
        never: Reaches(&["stillframe-cdp", "stillframe-dap", "stillframe-engine", "tokio"]),
        because: "writing or reading a journal needs no debugger",
    },
    Rule {
        of: "stillframe-engine",
        never: Reaches(&["clap", "ratatui", "rmcp", "stillframe-tools"]),
        because: "the engine does not know who is asking",
    },
    Rule {
        of: "stillframe-mirror",
        never: Reaches(&["clap", "rmcp", "stillframe-tools", "stillframe-viewer"]),
        because: "an editor is one more client of a session",
    },
    Rule {
        of: "stillframe-mirror",
        never: Names(&["stillframe-cdp", "stillframe-dbgp"]),
        because: "an editor's requests go to the session, never to its debugger",
    },
    Rule {
        of: "stillframe-recording",
        never: Reaches(&["clap", "rmcp", "stillframe-tools", "stillframe-viewer"]),
        because: "a recording is made and read without knowing who asks",
    },
    Rule {
        of: "stillframe-recording",
        never: Names(&["stillframe-cdp", "stillframe-dbgp"]),
        because: "a recorder runs inside the program, without a debugger, and a recording is served over one protocol",
    },
    Rule {
        of: "stillframe-engine",
        never: Reaches(&["rusqlite", "stillframe-recording"]),
        because: "debugging needs no recordings",
    },
    Rule {
        of: "stillframe-tools",
        never: Reaches(&["clap", "rmcp"]),
        because: "a tool can be called from a test, the command line or MCP alike",
    },
    Rule {
        of: "stillframe-tools",
        never: Names(&["stillframe-cdp", "stillframe-dap", "stillframe-dbgp"]),
        because: "a toolset cannot touch the wire",
    },
    Rule {
        of: "stillframe-viewer",
        never: Reaches(&[
            "oxc_parser",
            "rmcp",
            "stillframe-cdp",
            "stillframe-dap",
            "stillframe-engine",
            "stillframe-tools",
            "tokio-tungstenite",
        ]),
        because: "what the viewer shows can be reproduced from the journal alone",
    },
    Rule {
        of: "stillframe",
        never: Names(&["stillframe-cdp", "stillframe-dap", "stillframe-dbgp"]),
        because: "the product speaks MCP and leaves the wire to the engine",
    },
    Rule {
        of: "stillframe",
        never: Reaches(&["stillframe-fuzz-targets", "stillframe-test-support"]),
        because: "what only tests need never reaches the product",
    },
    Rule {
        of: "stillframe-fuzz-targets",
        never: Reaches(&["rmcp"]),
        because: "what is compiled for coverage in CI is kept small",
    },
    Rule {
        of: "stillframe-test-support",
        never: Names(&[
            "stillframe",
            "stillframe-cdp",
            "stillframe-dap",
            "stillframe-engine",
            "stillframe-journal",
            "stillframe-recording",
            "stillframe-tools",
            "stillframe-viewer",
        ]),
        because: "every crate's own tests can use it",
    },
];

struct Rule {
    of: &'static str,
    never: ForbiddenPackages,
    because: &'static str,
}

/// Packages that are out of bounds.
enum ForbiddenPackages {
    /// As dependencies of its own.
    Names(&'static [&'static str]),
    /// Through other packages either.
    Reaches(&'static [&'static str]),
}
use ForbiddenPackages::{Names, Reaches};

/// What is read of `cargo metadata`.
#[derive(Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
    workspace_members: Vec<String>,
    workspace_root: String,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

/// A line of a manifest.
#[derive(Deserialize)]
struct Dependency {
    name: String,
    rename: Option<String>,
    /// None is a normal one.
    kind: Option<String>,
}

/// Dependencies that [`RULES`] forbid, and crates without a rule.
pub(super) fn check(metadata: &Metadata, files: &[File]) -> Vec<Finding> {
    let graph = Graph::new(metadata);
    let members = metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id));
    let mut findings = Vec::new();
    for package in members {
        let root = metadata.workspace_root.as_str();
        let path = package.manifest_path.strip_prefix(root).unwrap_or(&package.manifest_path);
        let path = path.replace('\\', "/");
        let path = path.trim_start_matches('/');
        let manifest = files.iter().find(|file| file.path == path);
        let mut rules = RULES.iter().filter(|rule| rule.of == package.name).peekable();
        if rules.peek().is_none() && path.starts_with("crates/") {
            findings.push(Finding::new(path, 1, "no rule of `cargo xtask tidy` says what it must not use"));
        }
        for rule in rules {
            for chain in broken(rule, package, &graph) {
                let next = chain.get(1).copied().unwrap_or_default();
                let line = manifest.map_or(1, |file| line_of(package, next, file));
                let chain = chain.join(" → ");
                findings.push(Finding::new(path, line, format!("forbidden: {chain}; {}", rule.because)));
            }
        }
    }
    findings
}

/// The shortest chains of package names from a package to what it must not use.
fn broken<'a>(rule: &Rule, package: &'a Package, graph: &Graph<'a>) -> Vec<Vec<&'a str>> {
    let direct = |name: &&str| {
        let dependency = package.normal().find(|dependency| dependency.name == **name)?;
        Some(vec![package.name.as_str(), dependency.name.as_str()])
    };
    match rule.never {
        Names(names) => names.iter().filter_map(direct).collect(),
        // Direct ones first: an optional dependency may be named without being reached.
        Reaches(names) => {
            names.iter().filter_map(|name| direct(name).or_else(|| graph.chain(package, name))).collect()
        }
    }
}

impl Package {
    fn normal(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| dependency.kind.is_none())
    }
}

struct Graph<'a> {
    packages: HashMap<&'a str, &'a Package>,
    nodes: HashMap<&'a str, &'a Node>,
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Metadata) -> Self {
        Self {
            packages: metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect(),
            nodes: metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect(),
        }
    }

    /// The names on the shortest way from a package to one of that name.
    fn chain(&self, from: &'a Package, to: &str) -> Option<Vec<&'a str>> {
        let mut before: HashMap<&str, &Package> = HashMap::new();
        let mut waiting = VecDeque::from([from]);
        while let Some(package) = waiting.pop_front() {
            if package.name == to {
                let steps =
                    std::iter::successors(Some(package), |step| before.get(step.id.as_str()).copied());
                let mut names: Vec<&str> = steps.map(|step| step.name.as_str()).collect();
                names.reverse();
                return Some(names);
            }
            let links = self.nodes.get(package.id.as_str()).map_or(&[][..], |node| &node.deps);
            for link in links.iter().filter(|link| link.is_normal()) {
                let Some(next) = self.packages.get(link.pkg.as_str()) else { continue };
                if next.id != from.id && !before.contains_key(next.id.as_str()) {
                    before.insert(&next.id, package);
                    waiting.push_back(next);
                }
            }
        }
        None
    }
}

/// Where a manifest names a dependency.
fn line_of(package: &Package, dependency: &str, manifest: &File) -> usize {
    let key = package.normal().find(|found| found.name == dependency);
    let key = key.map_or(dependency, |found| found.rename.as_deref().unwrap_or(&found.name));
    let mut counts = false;
    for (number, line) in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let mut words = header.trim_end_matches(']').rsplit('.');
            let last = words.next();
            if last == Some(key) && words.next() == Some("dependencies") {
                return number;
            }
            counts = last == Some("dependencies");
        } else if counts && line.split(['.', ' ', '=']).next() == Some(key) {
            return number;
        }
    }
    1
}

#[cfg(test)]
mod tests;
