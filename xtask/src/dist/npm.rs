//! npm: a package that starts the program, and one for each platform that has it. Nothing runs when they are installed.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::archive::{self, Entry};
use super::platforms::{PLATFORMS, Platform};
use super::release::Release;

const LAUNCHER: &str = include_str!("../../../packaging/npm/stillframe.js");

/// The file name and bytes of the package that users install.
pub(super) fn launcher(release: &Release) -> Result<(String, Vec<u8>)> {
    let mut entries = vec![
        Entry::file("package/package.json", pretty(&manifest(release)?)?),
        Entry::program("package/stillframe.js", LAUNCHER),
        Entry::file("package/README.md", release.readme.as_str()),
    ];
    entries.extend(own_licenses(release));
    Ok((format!("npm-stillframe-{}.tgz", release.version), archive::tar_gz(&entries, false)?))
}

/// The same for the package with a platform's program.
pub(super) fn program(release: &Release, platform: &Platform, program: &[u8]) -> Result<(String, Vec<u8>)> {
    let mut entries = vec![
        Entry::file("package/package.json", pretty(&platform_manifest(release, platform))?),
        Entry::program("package/stillframe", program),
        Entry::file(
            "package/README.md",
            format!("stillframe for {}. Install `stillframe`.\n", platform.short()),
        ),
    ];
    entries.extend(release.licenses.iter().map(|license| license.below("package")));
    let name = format!("npm-stillframe-{}-{}.tgz", platform.short(), release.version);
    Ok((name, archive::tar_gz(&entries, false)?))
}

fn own_licenses(release: &Release) -> impl Iterator<Item = Entry> {
    let ours = release.licenses.iter().filter(|license| license.path.starts_with("LICENSE"));
    ours.map(|license| license.below("package"))
}

fn manifest(release: &Release) -> Result<Value> {
    let programs: Map<String, Value> =
        PLATFORMS.iter().map(|platform| (platform.npm_package(), json!(release.version))).collect();
    Ok(json!({
        "name": "stillframe",
        "version": release.version,
        "description": release.description,
        "keywords": ["mcp", "debugger", "ai", "agent", "dap"],
        "license": release.license,
        "repository": { "type": "git", "url": format!("git+{}.git", release.repository) },
        "mcpName": release.registry_name()?,
        "bin": { "stillframe": "stillframe.js" },
        "engines": { "node": ">=18" },
        "optionalDependencies": programs,
    }))
}

fn platform_manifest(release: &Release, platform: &Platform) -> Value {
    json!({
        "name": platform.npm_package(),
        "version": release.version,
        "description": format!("The program of stillframe for {}.", platform.short()),
        "license": release.license,
        "repository": { "type": "git", "url": format!("git+{}.git", release.repository) },
        "os": [platform.node.0],
        "cpu": [platform.node.1],
        // Yarn would keep the program in an archive, where it cannot be run.
        "preferUnplugged": true,
    })
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_depends_on_each_platform_in_the_same_version_and_runs_nothing() {
        let release = super::super::tests::release();
        let manifest = manifest(&release).unwrap();
        assert_eq!(
            manifest["optionalDependencies"],
            json!({ "@stillframe/linux-x64": "1.2.3", "@stillframe/linux-arm64": "1.2.3" })
        );
        assert_eq!(manifest["mcpName"], "io.github.ann/stillframe");
        for platform in PLATFORMS {
            let of_platform = platform_manifest(&release, platform);
            assert_eq!(of_platform["version"], "1.2.3");
            assert_eq!(of_platform["scripts"], Value::Null);
        }
        assert_eq!(manifest["scripts"], Value::Null);
    }
}
