//! The licences of everything that is compiled into the program, with their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::platforms::PLATFORMS;
use crate::repository::{self, Resolve};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
    manifest_path: PathBuf,
    source: Option<String>,
}

/// The page: each package, and each text once, with the packages that it belongs to.
pub(super) fn text() -> Result<String> {
    let mut packages = BTreeMap::new();
    for platform in PLATFORMS {
        let metadata: Metadata = serde_json::from_str(&repository::metadata_for(platform.target)?)?;
        let built_in = built_in(&metadata)?;
        let outside = metadata.packages.into_iter().filter(|package| package.source.is_some());
        for package in outside.filter(|package| built_in.contains(&package.id)) {
            packages.insert(format!("{} {}", package.name, package.version), package);
        }
    }
    let mut page = "# Licences of what stillframe is built from\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, package) in &packages {
        let license = package.license.as_deref().unwrap_or("see below");
        let place = package.repository.as_deref().unwrap_or_default();
        writeln!(page, "- {name}: {license} {place}")?;
        for text in texts_of(package.manifest_path.parent().context("a package has no folder")?)? {
            texts.entry(text).or_default().push(name);
        }
    }
    for (text, names) in texts {
        write!(page, "\n## {}\n\n```text\n{}\n```\n", names.join(", "), text.trim_end())?;
    }
    Ok(page)
}

/// What the program needs when it runs, and not only to be built.
fn built_in(metadata: &Metadata) -> Result<BTreeSet<String>> {
    let of_program = |package: &&Package| package.name == super::PROGRAM && package.source.is_none();
    let program = metadata.packages.iter().find(of_program).context("there is no package of the program")?;
    let nodes: BTreeMap<&str, _> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut reached = BTreeSet::from([program.id.clone()]);
    let mut waiting = vec![program.id.as_str()];
    while let Some(id) = waiting.pop() {
        let links = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        for link in links.filter(|link| link.is_normal()) {
            if reached.insert(link.pkg.clone()) {
                waiting.push(&link.pkg);
            }
        }
    }
    Ok(reached)
}

/// The texts in a package's folder, in one form of line ends.
fn texts_of(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        names.push(entry?.file_name());
    }
    names.sort();
    let is_license = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy().to_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|begin| name.starts_with(begin))
    };
    let texts = names.iter().filter(|name| is_license(name)).map(|name| folder.join(name));
    let texts = texts.filter(|path| path.is_file()).filter_map(|path| std::fs::read_to_string(path).ok());
    Ok(texts.map(|text| text.replace("\r\n", "\n")).collect())
}
