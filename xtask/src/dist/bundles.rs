//! Packages for hosts: an MCPB bundle, an extension of Gemini CLI, a plugin of Claude Code, and the entry in the
//! registry of MCP servers.

use anyhow::Result;
use serde_json::{Value, json};

use super::archive::{self, Entry};
use super::platforms::Platform;
use super::release::Release;

const SKILL: &str = "skills/stillframe/SKILL.md";

/// The file name and bytes of an MCPB bundle, which Claude Desktop installs with a click.
pub(super) fn mcpb(release: &Release, platform: &Platform, program: &[u8]) -> Result<(String, Vec<u8>)> {
    let manifest = json!({
        "manifest_version": "0.3",
        "name": "stillframe",
        "display_name": "stillframe",
        "version": release.version,
        "description": release.description,
        "author": { "name": "The stillframe developers", "url": release.repository },
        "repository": { "type": "git", "url": format!("{}.git", release.repository) },
        "license": release.license,
        "keywords": ["debugger"],
        "server": {
            "type": "binary",
            "entry_point": "server/stillframe",
            "mcp_config": { "command": "${__dirname}/server/stillframe", "args": ["serve"], "env": {} },
        },
        "tools_generated": true,
        "compatibility": { "platforms": [platform.node.0] },
    });
    let mut entries =
        vec![Entry::file("manifest.json", pretty(&manifest)?), Entry::program("server/stillframe", program)];
    entries.extend(release.licenses.iter().cloned());
    Ok((mcpb_name(release, platform), archive::zip(&entries)?))
}

fn mcpb_name(release: &Release, platform: &Platform) -> String {
    format!("stillframe-{}-{}.mcpb", release.version, platform.short())
}

/// The same for an extension of Gemini CLI, which finds the archive of a platform by its name.
pub(super) fn gemini(release: &Release, platform: &Platform, program: &[u8]) -> Result<(String, Vec<u8>)> {
    let manifest = json!({
        "name": "stillframe",
        "version": release.version,
        "description": release.description,
        "mcpServers": {
            "stillframe": { "command": "${extensionPath}${/}stillframe", "args": ["serve"] },
        },
    });
    let mut entries = vec![
        Entry::file("gemini-extension.json", pretty(&manifest)?),
        Entry::program("stillframe", program),
        Entry::file(SKILL, release.skill.as_str()),
    ];
    entries.extend(release.licenses.iter().cloned());
    let name = format!("{}.{}.stillframe.tar.gz", platform.node.0, platform.node.1);
    Ok((name, archive::tar_gz(&entries, false)?))
}

/// The same for a plugin of Claude Code, which is its own marketplace. It gets the program from npm.
pub(super) fn claude_code(release: &Release) -> Result<(String, Vec<u8>)> {
    let owner = json!({ "name": "The stillframe developers", "url": release.repository });
    let plugin = json!({
        "name": "stillframe",
        "version": release.version,
        "description": release.description,
        "author": owner,
        "repository": release.repository,
        "license": release.license,
    });
    let marketplace = json!({
        "name": "stillframe",
        "description": release.description,
        "owner": owner,
        "plugins": [{ "name": "stillframe", "source": "./", "description": release.description }],
    });
    let package = format!("stillframe@{}", release.version);
    let servers = json!({
        "mcpServers": { "stillframe": { "command": "npx", "args": ["-y", package, "serve"] } },
    });
    let mut entries = vec![
        Entry::file(".claude-plugin/plugin.json", pretty(&plugin)?),
        Entry::file(".claude-plugin/marketplace.json", pretty(&marketplace)?),
        Entry::file(".mcp.json", pretty(&servers)?),
        Entry::file(SKILL, release.skill.as_str()),
    ];
    entries.extend(release.licenses.iter().filter(|license| license.path.starts_with("LICENSE")).cloned());
    Ok((format!("stillframe-{}-claude-code.zip", release.version), archive::zip(&entries)?))
}

/// The entry in the registry of MCP servers, with the digests of the bundles.
pub(super) fn server_json(release: &Release, bundles: &[(&Platform, String)]) -> Result<Vec<u8>> {
    let serve = json!([{ "type": "positional", "value": "serve" }]);
    let stdio = json!({ "type": "stdio" });
    let package = |kind: &str, hint: &str| {
        json!({
            "registryType": kind,
            "identifier": "stillframe",
            "version": release.version,
            "runtimeHint": hint,
            "transport": stdio,
            "packageArguments": serve,
        })
    };
    let mut packages = vec![package("npm", "npx"), package("pypi", "uvx")];
    for (platform, digest) in bundles {
        packages.push(json!({
            "registryType": "mcpb",
            "identifier": release.download(&mcpb_name(release, platform)),
            "version": release.version,
            "fileSha256": digest,
            "transport": stdio,
        }));
    }
    let server = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": release.registry_name()?,
        "title": "stillframe",
        "description": release.description,
        "version": release.version,
        "repository": { "url": release.repository, "source": "github" },
        "packages": packages,
    });
    Ok(pretty(&server)?.into_bytes())
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::super::platforms::PLATFORMS;
    use super::*;

    /// What the registry's schema asks for.
    #[test]
    fn the_registry_accepts_the_entry() {
        let release = super::super::tests::release();
        let bundles: Vec<_> = PLATFORMS.iter().map(|platform| (platform, "0".repeat(64))).collect();
        let server: Value = serde_json::from_slice(&server_json(&release, &bundles).unwrap()).unwrap();
        let description = server["description"].as_str().unwrap();
        assert!((1..=100).contains(&description.chars().count()), "{description}");
        let packages = server["packages"].as_array().unwrap();
        assert_eq!(packages.len(), 2 + PLATFORMS.len());
        for package in packages {
            assert_eq!(package["transport"]["type"], "stdio");
            assert_eq!(package["version"], server["version"]);
            let is_bundle = package["registryType"] == "mcpb";
            assert_eq!(package["fileSha256"].is_string(), is_bundle, "{package}");
            let identifier = package["identifier"].as_str().unwrap();
            assert_eq!(identifier == "stillframe", !is_bundle, "{identifier}");
        }
    }
}
