//! Finds a JDK that can run the bridge: Java 11 or newer, with the debug interface and the compiler.

use std::path::{Path, PathBuf};

use crate::adapter::Host;
use crate::error::{Error, Result};

/// What the bridge and its compilation need.
const MODULES: [&str; 3] = ["jdk.jdi", "jdk.attach", "jdk.compiler"];
const OLDEST: u32 = 11;

/// A JDK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Jdk {
    home: PathBuf,
    /// Where it was found, links not followed.
    pub(super) found: PathBuf,
    pub(super) version: String,
    /// How it was found.
    pub(super) origin: String,
}

impl Jdk {
    /// The JDK of the user's `java`, or else that of `JAVA_HOME` or the `PATH`: a program may need an older Java than
    /// the bridge.
    pub(super) fn find(host: &dyn Host, executable: Option<&Path>) -> Result<Self> {
        let chosen = executable.filter(|path| path.file_stem().is_some_and(|stem| stem == "java"));
        let home = host.env("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
        let candidates = [
            (chosen.and_then(|path| host.which(&path.to_string_lossy())), "given as `executablePath`"),
            (home.filter(|java| host.is_file(java)), "by JAVA_HOME"),
            (host.which("java"), "on PATH"),
        ];
        let mut problem = None;
        for (java, origin) in candidates {
            let Some(java) = java else { continue };
            match Self::at(host, &java, origin) {
                Ok(jdk) => return Ok(jdk),
                Err(why) => problem = problem.or(Some(why)),
            }
        }
        Err(Error::Environment {
            problem: problem.unwrap_or_else(|| {
                "no JDK was found: no `java` is on PATH, and JAVA_HOME is not set".to_owned()
            }),
            remedy: "install a JDK 11 or newer (`apt-get install openjdk-17-jdk-headless`, `brew install openjdk`), \
                     or give the path of its `java` as `executablePath`"
                .to_owned(),
        })
    }

    /// The JDK that a `java` belongs to. Its file `release` has the version and the modules.
    fn at(host: &dyn Host, java: &Path, origin: &str) -> Result<Self, String> {
        let resolved = std::fs::canonicalize(java).unwrap_or_else(|_| java.to_owned());
        let home = resolved.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let release = host.read(&home.join("release")).ok_or_else(|| {
            format!("`{}` is not in a JDK: `{}` has no file `release`", java.display(), home.display())
        })?;
        let value = |name: &str| {
            let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            Some(line.trim().trim_matches('"').to_owned())
        };
        let version = value("JAVA_VERSION").unwrap_or_default();
        let is_new = major(&version).is_some_and(|major| major >= OLDEST);
        if !is_new {
            return Err(format!(
                "`{}` is Java {version}, but the debugger needs Java {OLDEST} or newer",
                java.display()
            ));
        }
        let modules = value("MODULES").unwrap_or_default();
        let has = |module: &&str| modules.split_whitespace().any(|known| known == *module);
        match MODULES.iter().find(|module| !has(module)) {
            Some(missing) => Err(format!(
                "`{}` (Java {version}) is a runtime without the module `{missing}`, which the debugger needs",
                java.display()
            )),
            None => {
                Ok(Self { home: home.to_owned(), found: java.to_owned(), version, origin: origin.to_owned() })
            }
        }
    }

    pub(super) fn java(&self) -> PathBuf {
        self.home.join("bin").join("java")
    }
}

/// 17 of `17.0.15`, and 8 of `1.8.0_402`.
pub(super) fn major(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_version_is_parsed_from_old_and_new_schemes() {
        for (version, expected) in
            [("17.0.15", Some(17)), ("1.8.0_402", Some(8)), ("24", Some(24)), ("21-ea", Some(21)), ("", None)]
        {
            assert_eq!(major(version), expected, "{version}");
        }
    }
}
