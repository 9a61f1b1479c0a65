//! Where programs are looked for: `PATH`, without what uvx has put before it.
//!
//! The environment that uvx makes for stillframe has an interpreter, with nothing of the user's in it and no installer.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The search path, where it is not `PATH`.
pub(crate) fn users_path() -> Option<&'static OsStr> {
    static USERS_PATH: OnceLock<Option<OsString>> = OnceLock::new();
    let read = || without_tool(&std::env::var_os("PATH")?, &std::env::current_exe().ok()?);
    USERS_PATH.get_or_init(read).as_deref()
}

/// A search path without the folder of a program that uvx has installed; none if uvx has not installed it.
fn without_tool(path: &OsStr, program: &Path) -> Option<OsString> {
    let own = program.parent()?;
    let has = |part: &str| own.components().any(|component| component.as_os_str() == part);
    let is_of_uv = has("archive-v0") || has("uv") && has("tools");
    if !is_of_uv {
        return None;
    }
    let is_other = |folder: &PathBuf| folder.canonicalize().ok().as_deref() != Some(own);
    std::env::join_paths(std::env::split_paths(path).filter(is_other)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_uvx_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let table = [
            ("cache/uv/archive-v0/x1/bin", true),
            ("share/uv/tools/stillframe/bin", true),
            ("shop/.venv/bin", false),
            ("pipx/venvs/stillframe/bin", false),
        ];
        for (own, is_left_out) in table {
            let own = home.join(own);
            std::fs::create_dir_all(&own).unwrap();
            let path = std::env::join_paths([own.as_path(), Path::new("/usr/bin")]).unwrap();
            let expected = is_left_out.then(|| OsString::from("/usr/bin"));
            assert_eq!(without_tool(&path, &own.join("stillframe")), expected, "{}", own.display());
        }
    }
}
