//! The script that each process of a program loads before its own code.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::LazyLock;

use super::super::Host;
use crate::error::{Error, Result};

const TEXT: &str = include_str!("../../debuggee/node/hook.cjs");
const NAME: &str = "hook.cjs";

/// Where it is in our cache; it is written there when it is not. The folder changes with the content, so that
/// two versions of stillframe do not get in each other's way.
pub(super) fn provide(host: &dyn Host) -> Result<PathBuf> {
    static FOLDER: LazyLock<String> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        TEXT.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    });
    let folder = host.cache_dir().join("node").join(&*FOLDER);
    let path = folder.join(NAME);
    if host.is_file(&path) {
        return Ok(path);
    }
    let write = || {
        std::fs::create_dir_all(&folder)?;
        // Another server may be doing the same at this moment, and a reader must never see half a file.
        let part = folder.join(format!("{NAME}.{}", std::process::id()));
        std::fs::write(&part, TEXT)?;
        std::fs::rename(&part, &path)
    };
    write().map_err(|error| Error::Environment {
        problem: format!("`{}` cannot be written: {error}", folder.display()),
        remedy: "make it writable, or name another folder in STILLFRAME_CACHE_DIR".to_owned(),
    })?;
    Ok(path)
}
