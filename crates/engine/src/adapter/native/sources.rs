//! Whether a file of machine code was compiled from a source, according to its debug information.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memchr::memmem;

use super::{Elf, Host};

/// A larger file is not searched.
const LARGEST: u64 = 1 << 30;

/// Whether debug information of a program or library names a source: by its whole path, or by its name and one of the
/// folders that it is in, as compilers do that are given a relative path.
pub(in crate::adapter) fn names_source(host: &dyn Host, binary: &Path, source: &Path) -> bool {
    let Some(elf) = Elf::read(host, binary) else { return false };
    if !elf.has_debug_info() && !elf.has(".gopclntab") {
        return false;
    }
    let content = host.part(binary, 0, LARGEST);
    let has = |text: &OsStr| memmem::find(&content, text.as_bytes()).is_some();
    if has(source.as_os_str()) {
        return true;
    }
    let is_named = |before: &[u8]| {
        let name = source.file_name().unwrap_or_default().as_bytes();
        memmem::find(&content, &[before, name, b"\0"].concat()).is_some()
    };
    let is_folder =
        |folder: &Path| memmem::find(&content, &[folder.as_os_str().as_bytes(), b"\0"].concat()).is_some();
    let folders = source.ancestors().skip(1).filter(|folder| folder.parent().is_some());
    (is_named(b"\0") || is_named(b"/")) && folders.into_iter().any(is_folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Machine;

    #[test]
    fn a_program_names_the_sources_that_it_was_compiled_from() {
        let own = std::env::current_exe().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).unwrap();
        let source = root.join(file!());
        let elsewhere = Path::new("/nowhere/at/all").join(source.file_name().unwrap());
        for (source, expected) in [(source, true), (elsewhere, false)] {
            assert_eq!(names_source(&Machine, &own, &source), expected, "{}", source.display());
        }
        assert!(!names_source(&Machine, Path::new(file!()), &own));
    }
}
