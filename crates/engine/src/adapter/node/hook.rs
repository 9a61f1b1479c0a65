//! The scripts that each process of a program loads before its own code.

use std::path::PathBuf;

use super::super::Host;
use crate::error::Result;
use crate::parts::folder_with;

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

/// The hook in our cache, with what it loads beside it.
pub(super) fn provide(host: &dyn Host) -> Result<PathBuf> {
    Ok(folder_with(&host.cache_dir().join("node"), &FILES)?.join(HOOK))
}

#[cfg(test)]
mod tests;
