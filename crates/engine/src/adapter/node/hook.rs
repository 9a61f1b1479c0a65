//! The scripts that each process of a program loads before its own code.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::LazyLock;

use super::super::Host;
use crate::error::{Error, Result};
use crate::parts::write_all;

/// What `NODE_OPTIONS` names.
const HOOK: &str = "hook.cjs";

/// Reports the test results of `node --test`.
pub(super) const NODE_REPORTER: &str = "node_reporter.cjs";

/// A script that changes files while Node loads them. Nothing happens before its functions are called.
pub const LOADING: (&str, &str) = ("loading.cjs", include_str!("../../debuggee/node/loading.cjs"));

/// Their names and texts. The last one loads the others.
const FILES: [(&str, &str); 8] = [
    ("blocking.cjs", include_str!("../../debuggee/node/blocking.cjs")),
    ("children.cjs", include_str!("../../debuggee/node/children.cjs")),
    LOADING,
    ("shell_scripts.cjs", include_str!("../../debuggee/node/shell_scripts.cjs")),
    ("tests.cjs", include_str!("../../debuggee/node/tests.cjs")),
    ("vitest_reporter.mjs", include_str!("../../debuggee/node/vitest_reporter.mjs")),
    (NODE_REPORTER, include_str!("../../debuggee/node/node_reporter.cjs")),
    (HOOK, include_str!("../../debuggee/node/hook.cjs")),
];

/// Where the hook is in our cache; it is written there when it is not, with what it loads. The folder changes with
/// the content, so that two versions of stillframe do not get in each other's way.
pub(super) fn provide(host: &dyn Host) -> Result<PathBuf> {
    static FOLDER: LazyLock<String> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        FILES.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    });
    let folder = host.cache_dir().join("node").join(&*FOLDER);
    let path = folder.join(HOOK);
    if host.is_file(&path) {
        return Ok(path);
    }
    write_all(&folder, FILES.iter().copied()).map_err(|error| Error::Environment {
        problem: format!("cannot write `{}`: {error}", folder.display()),
        remedy: "make it writable, or set STILLFRAME_CACHE_DIR to another folder".to_owned(),
    })?;
    Ok(path)
}

#[cfg(test)]
mod tests;
