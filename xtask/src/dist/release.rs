//! What every package says about the program, from its `Cargo.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::archive::Entry;
use super::licenses;
use crate::repository;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    description: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    source: Option<String>,
}

/// A release.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub(super) version: String,
    pub(super) description: String,
    pub(super) license: String,
    pub(super) repository: String,
    pub(super) readme: String,
    pub(super) skill: String,
    /// Our licences and those of what is built in.
    pub(super) licenses: Vec<Entry>,
}

impl Release {
    pub(super) fn read() -> Result<Self> {
        let metadata: Metadata = serde_json::from_str(&repository::metadata()?)?;
        let of_program = |package: &Package| package.name == super::PROGRAM && package.source.is_none();
        let package =
            metadata.packages.into_iter().find(of_program).context("there is no package of the program")?;
        let text = |path: &str| {
            std::fs::read_to_string(repository::root().join(path))
                .with_context(|| format!("cannot read `{path}`"))
        };
        let mut licenses = vec![
            Entry::file("LICENSE-MIT", text("LICENSE-MIT")?),
            Entry::file("LICENSE-APACHE", text("LICENSE-APACHE")?),
        ];
        licenses.push(Entry::file("THIRD-PARTY.md", licenses::text()?));
        Ok(Self {
            version: package.version,
            description: package.description.context("the program has no description")?,
            license: package.license.context("the program has no license")?,
            repository: package.repository.context("the program has no repository")?,
            readme: text("README.md")?,
            skill: text("skills/stillframe/SKILL.md")?,
            licenses,
        })
    }

    /// The name in the registry of MCP servers.
    pub(super) fn registry_name(&self) -> Result<String> {
        let path =
            self.repository.strip_prefix("https://github.com/").context("the repository is not on GitHub")?;
        Ok(format!("io.github.{path}"))
    }

    /// Where a file of this release is downloaded.
    pub(super) fn download(&self, file: &str) -> String {
        format!("{}/releases/download/v{}/{file}", self.repository, self.version)
    }
}
