//! How deeply the text of a script is nested, estimated without parsing it.
//!
//! The parser, and what walks over its tree, call themselves for each level, and a stack that ends takes the whole
//! server with it. Levels are not only brackets: each operator of `a = b = c`, each `else if` and each call of
//! `a()()` is one. So what may be a level is counted, and what ends a chain of them forgets it. A text that is made
//! to be miscounted can be.

/// The depth from which a script is not parsed: this many levels, each with its own chain.
const DEEPEST: usize = 20_000;
/// How many levels a bracket counts for: those of an expression are some calls of the parser each.
const BRACKET: usize = 4;

/// Whether a text is nested so deeply that it is better not parsed.
pub(super) fn is_too_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut enclosing: Vec<usize> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' | b'[' | b'{' => {
                enclosing.push(depth);
                depth += BRACKET;
            }
            b')' | b']' | b'}' => depth = enclosing.pop().unwrap_or(0) + 1,
            b';' | b',' => depth = enclosing.last().map_or(0, |outer| outer + BRACKET),
            b'"' | b'\'' => at = end_of_string(bytes, at),
            // The data of a map is neither a chain nor short.
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = end_of_line(bytes, at),
            b'=' | b'!' | b'~' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'&' | b'|' | b'^'
            | b'?' | b':' | b'.' => depth += 1,
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
        at += 1;
    }
    false
}

/// Where the string ends that begins here; here, where it does not end on its line.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let quote = bytes.get(start);
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None | Some(b'\n') => return start,
            Some(b'\\') => at += 2,
            end if end == quote => return at,
            Some(_) => at += 1,
        }
    }
}

fn end_of_line(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_nesting_is_counted() {
        let many = 30_000;
        let deep = [
            format!("{}1{}", "[".repeat(many), "]".repeat(many)),
            format!("x = {}1", "!".repeat(many)),
            format!("{}1", "a=".repeat(many)),
            format!("{}b()", "if(a){}else ".repeat(many)),
            format!("a{}", "()".repeat(many)),
            format!("a{}", ".b".repeat(many)),
            format!("{};", "a:".repeat(many)),
            format!("{}1", "a?b:".repeat(many)),
            format!("{}1", "a=>".repeat(many)),
        ];
        for text in deep {
            assert!(is_too_deep(&text), "{text:.20}");
        }
    }

    #[test]
    fn long_flat_code_is_parsed() {
        let many = 100_000;
        let flat = [
            "f(a.b, c + d);\n".repeat(many),
            format!("x = [{}];", "-1, ".repeat(many)),
            format!("//# sourceMappingURL=data:application/json;base64,{}", "+/+/".repeat(many)),
            format!("x = \"{}\"", "=(\\\"".repeat(many)),
            format!("x = \"{}\"", "+/".repeat(many)),
        ];
        for text in flat {
            assert!(!is_too_deep(&text), "{text:.20}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_measured_without_panic(text: String) {
            is_too_deep(&text);
        }
    }
}
