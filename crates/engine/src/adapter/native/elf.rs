//! What the header and the sections of an ELF file say about a program.

use std::path::Path;

use super::Host;

/// The largest table of sections, or of their names, that is read.
const LARGEST: u64 = 1 << 20;

/// An executable or library of Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::adapter) struct Elf {
    machine: u16,
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    name: String,
    /// Where it is in the file, and its size there.
    place: (u64, u64),
}

impl Elf {
    /// Reads the header and the names of the sections. None for a file of another format.
    pub(in crate::adapter) fn read(host: &dyn Host, path: &Path) -> Option<Self> {
        let header = host.part(path, 0, 64);
        // 64 bits, little-endian, as all the machines are that LLDB runs on.
        if !header.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let machine = number(&header, 18, 2)?;
        let (table, size, count, names) = (
            number(&header, 40, 8)?,
            number(&header, 58, 2)?,
            number(&header, 60, 2)?,
            number(&header, 62, 2)?,
        );
        let table = host.part(path, table, (size * count).min(LARGEST));
        let section = |index: u64| table.get(usize::try_from(index * size).ok()?..);
        let place = |section: &[u8]| Some((number(section, 24, 8)?, number(section, 32, 8)?));
        let names = section(names).and_then(place);
        let names = names.map(|(start, size)| host.part(path, start, size.min(LARGEST))).unwrap_or_default();
        let read = |index: u64| {
            let section = section(index)?;
            let at = usize::try_from(number(section, 0, 4)?).ok()?;
            let name = names.get(at..)?.split(|byte| *byte == 0).next()?;
            Some(Section { name: String::from_utf8_lossy(name).into_owned(), place: place(section)? })
        };
        Some(Self { machine: u16::try_from(machine).ok()?, sections: (0..count).filter_map(read).collect() })
    }

    /// It has variables and lines, here or in a file beside it.
    pub(in crate::adapter) fn has_debug_info(&self) -> bool {
        [".debug_info", ".zdebug_info", ".gnu_debuglink", ".debug_addr"].iter().any(|name| self.has(name))
    }

    pub(in crate::adapter) fn has_symbols(&self) -> bool {
        self.has(".symtab")
    }

    pub(in crate::adapter) fn has(&self, section: &str) -> bool {
        self.place(section).is_some()
    }

    /// Where a section is in the file, and its size there.
    pub(super) fn place(&self, section: &str) -> Option<(u64, u64)> {
        self.sections.iter().find(|each| each.name == section).map(|found| found.place)
    }

    /// The processor that it is built for, if it is not this machine's.
    pub(in crate::adapter) fn foreign_machine(&self) -> Option<&'static str> {
        const MACHINES: [(u16, &str); 7] = [
            (3, "x86"),
            (8, "mips"),
            (21, "powerpc64"),
            (40, "arm"),
            (62, "x86_64"),
            (183, "aarch64"),
            (243, "riscv64"),
        ];
        let known = MACHINES.iter().find(|(number, _)| *number == self.machine);
        let name = known.map_or("another processor", |(_, name)| name);
        (name != std::env::consts::ARCH).then_some(name)
    }
}

pub(super) fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let digits = bytes.get(at..at + length)?;
    Some(digits.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Machine;

    #[test]
    fn a_test_program_has_debug_information_and_runs_here() {
        let elf = Elf::read(&Machine, &std::env::current_exe().unwrap()).unwrap();
        assert!(elf.has(".text") && elf.has_symbols(), "{elf:?}");
        assert_eq!(elf.foreign_machine(), None);
    }

    #[test]
    fn other_files_are_not_elf() {
        assert_eq!(Elf::read(&Machine, Path::new(file!())), None);
        assert_eq!(Elf::read(&Machine, Path::new("/nowhere")), None);
    }
}
