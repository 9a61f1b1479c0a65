//! Whether a file of machine code was compiled from a source, according to its debug information.

use std::ffi::OsStr;
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
    let has = |text: &OsStr| memmem::find(&content, text.as_encoded_bytes()).is_some();
    if has(source.as_os_str()) {
        return true;
    }
    let is_named = |before: &[u8]| {
        let name = source.file_name().unwrap_or_default().as_encoded_bytes();
        memmem::find(&content, &[before, name, b"\0"].concat()).is_some()
    };
    let is_folder = |folder: &Path| {
        memmem::find(&content, &[folder.as_os_str().as_encoded_bytes(), b"\0"].concat()).is_some()
    };
    let folders = source.ancestors().skip(1).filter(|folder| folder.parent().is_some());
    (is_named(b"\0") || is_named(b"/")) && folders.into_iter().any(is_folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Machine;

    /// An ELF file whose sections are named `.debug_info`, and that contains these texts, each with a NUL after it.
    fn binary(texts: &[&str]) -> Vec<u8> {
        const SECTIONS: u64 = 64;
        const NAMES: u64 = SECTIONS + 2 * 64;
        let names = b"\0.debug_info\0";
        let mut file = vec![0; usize::try_from(NAMES).unwrap()];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x02\x01");
        put(40, &SECTIONS.to_le_bytes());
        // The size of an entry, how many there are, and which has the names.
        put(58, &[64, 0, 2, 0, 1, 0]);
        for section in [64, 128] {
            put(section, &[1]);
            put(section + 24, &NAMES.to_le_bytes());
            put(section + 32, &u64::try_from(names.len()).unwrap().to_le_bytes());
        }
        file.extend(names);
        for text in texts {
            file.extend(text.as_bytes());
            file.push(0);
        }
        file
    }

    #[test]
    fn a_source_is_named_by_its_path_or_by_its_name_and_a_folder() {
        let source = Path::new("/project/src/main.c");
        let table: [(&[&str], bool); 6] = [
            (&["/project/src/main.c"], true),
            (&["/project/src", "main.c"], true),
            (&["/project", "src/main.c"], true),
            (&["/elsewhere", "main.c"], false),
            (&["/project/src", "domain.c"], false),
            (&["/project/src", "main.cpp"], false),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        for (texts, expected) in table {
            std::fs::write(&path, binary(texts)).unwrap();
            assert_eq!(names_source(&Machine, &path, source), expected, "{texts:?}");
        }
        std::fs::write(&path, "/project/src/main.c").unwrap();
        assert!(!names_source(&Machine, &path, source), "it is no ELF file");
    }
}
