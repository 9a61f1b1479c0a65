//! What stops in optimized code get wrong, by the compiler's options in the debug information.

use std::path::Path;

use memchr::memmem;

use super::{Elf, Host};

/// The sections with the options of compilers.
const TEXTS: [&str; 2] = [".debug_str", ".debug_line_str"];
/// No more of one is searched.
const LARGEST: u64 = 1 << 28;

/// What to know about a program of which GCC has optimized a part: it moves what is rarely run, such as a `throw`, out of
/// functions.
pub(in crate::adapter) fn caution(host: &dyn Host, binary: &Path) -> Option<String> {
    let elf = Elf::read(host, binary)?;
    let level = TEXTS.iter().filter_map(|section| elf.place(section)).find_map(|(start, size)| {
        let texts = host.part(binary, start, size.min(LARGEST));
        memmem::find_iter(&texts, b"GNU C").find_map(|at| level(texts.get(at..)?))
    })?;
    let name = binary.file_name().unwrap_or_default().to_string_lossy();
    Some(format!(
        "parts of `{name}` are compiled with {level}: LLDB may leave out callers, or show wrong values in them and of variables; \
         compile them with -Og, or add -fno-reorder-blocks-and-partition"
    ))
}

/// A value. LLDB has a text for one that the caller's code does not have either, and for another one only its error.
pub(in crate::adapter) fn value(text: String) -> String {
    let is_lost = text.starts_with("<error: could not evaluate DW_OP_entry_value");
    if is_lost { "<variable not available>".to_owned() } else { text }
}

/// The optimization among the options of GCC, which end with a NUL.
fn level(options: &[u8]) -> Option<String> {
    let options = options.split(|byte| *byte == 0).next()?;
    let mut words = options.rsplit(|byte| *byte == b' ');
    let level = String::from_utf8_lossy(words.find(|word| word.starts_with(b"-O"))?).into_owned();
    (!["-O0", "-Og"].contains(&level.as_str())).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_optimization_counts() {
        for (options, expected) in [
            ("GNU C++17 12.2.0 -mtune=generic -g -O2 -fPIE\0-O3", Some("-O2")),
            ("GNU C17 12.2.0 -O2 -O0\0", None),
            ("GNU C17 12.2.0 -g -Og\0", None),
            ("GNU C17 12.2.0 -g\0GNU C17 -O2", None),
        ] {
            assert_eq!(level(options.as_bytes()).as_deref(), expected, "{options}");
        }
    }
}
