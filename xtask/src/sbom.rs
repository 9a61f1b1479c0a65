//! What the program is made of, as a bill of materials: `CycloneDX` 1.6, JSON.
//!
//! From `cargo metadata` and the lock file, and the same each time: no time, no random number, everything in order.
//! What is only for tests or for building the repository's own tools is not in it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::repository::{self, Node, Resolve};

/// The package that the program is built from.
const PROGRAM: &str = "stillframe";

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
    description: Option<String>,
    repository: Option<String>,
    /// None for a package of the workspace.
    source: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The text of the bill, for programs of this platform.
pub(crate) fn text(platform: &str) -> Result<String> {
    let metadata = serde_json::from_str(&repository::metadata_for(platform)?)?;
    let lock =
        std::fs::read_to_string(repository::root().join("Cargo.lock")).context("cannot read `Cargo.lock`")?;
    let bill = bill(&metadata, &toml::from_str(&lock).context("`Cargo.lock` has an unknown form")?)?;
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

fn bill(metadata: &Metadata, lock: &Lock) -> Result<Value> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let program =
        metadata.packages.iter().find(|package| package.name == PROGRAM && package.source.is_none());
    let program = program.context("there is no package of the program")?;

    let mut reached = BTreeSet::from([program.id.as_str()]);
    let mut waiting = vec![program.id.as_str()];
    let mut links: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else { continue };
        let into = links.entry(package.reference()).or_default();
        for link in node.deps.iter().filter(|link| link.is_built_in()) {
            into.extend(packages.get(link.pkg.as_str()).map(|package| package.reference()));
            if reached.insert(&link.pkg) {
                waiting.push(&link.pkg);
            }
        }
    }
    let mut components: Vec<Value> = reached
        .iter()
        .filter_map(|id| packages.get(id))
        .filter(|package| package.id != program.id)
        .map(|package| package.component("library", lock))
        .collect();
    components.extend(others()?);
    components.sort_by_key(|component| component["bom-ref"].as_str().map(str::to_owned));
    let about = program.component("application", lock);
    let dependencies: Vec<Value> =
        links.into_iter().map(|(of, on)| json!({ "ref": of, "dependsOn": on })).collect();
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": about },
        "components": components,
        "dependencies": dependencies,
    }))
}

impl Package {
    /// What names it: a package URL, which for those of the workspace says where they are only by their name.
    fn reference(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }

    fn component(&self, kind: &str, lock: &Lock) -> Value {
        let description = self.description.as_ref().map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            json!(words.join(" "))
        });
        // Cargo took a slash for an alternative once.
        let licenses =
            self.license.as_ref().map(|license| json!([{ "expression": license.replace('/', " OR ") }]));
        let references =
            self.repository.as_ref().map(|repository| json!([{ "type": "vcs", "url": repository }]));
        let locked = |locked: &&Locked| locked.name == self.name && locked.version == self.version;
        let checksum = lock.package.iter().find(locked).and_then(|locked| locked.checksum.as_ref());
        let hashes = checksum.filter(|_| self.source.is_some());
        let hashes = hashes.map(|checksum| json!([{ "alg": "SHA-256", "content": checksum }]));
        let always = [
            ("type", json!(kind)),
            ("bom-ref", json!(self.reference())),
            ("name", json!(self.name)),
            ("version", json!(self.version)),
            ("purl", json!(self.reference())),
            ("scope", json!("required")),
        ];
        let known = [
            ("description", description),
            ("licenses", licenses),
            ("externalReferences", references),
            ("hashes", hashes),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some((key, value?)));
        always.into_iter().chain(known).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// What is not Rust: code that is compiled into the program as text, and what it installs when it is needed.
fn others() -> Result<Vec<Value>> {
    let folder = "crates/engine/src/debuggee/";
    let mut all = Vec::new();
    for file in repository::files()?.into_iter().filter(|file| file.path.starts_with(folder)) {
        if file.has_extension("rs") {
            continue;
        }
        all.push(json!({
            "type": "file",
            "bom-ref": format!("file:{}", file.path),
            "name": file.path,
            "scope": "required",
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            "hashes": [{ "alg": "SHA-256", "content": super::dist::digest(file.text.as_bytes()) }],
        }));
    }
    let debugpy = engine::adapter::python::DEBUGPY;
    let purl = format!("pkg:pypi/debugpy@{debugpy}");
    all.push(json!({
        "type": "library",
        "bom-ref": purl,
        "name": "debugpy",
        "version": debugpy,
        "purl": purl,
        "scope": "optional",
        "description": "Not in the program: installed by pip into its cache, when a Python program is debugged first.",
        "licenses": [{ "expression": "MIT" }],
    }));
    Ok(all)
}
