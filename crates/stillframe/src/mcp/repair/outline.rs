//! A message that is too long to be kept: its members, without what is in them.

/// The longest outline that is kept.
const LONGEST: usize = 64 * 1024;

/// What has come of a message, with every list and object in it empty.
#[derive(Default)]
pub(super) struct Outline {
    kept: Vec<u8>,
    depth: usize,
    is_text: bool,
    is_escaped: bool,
}

impl Outline {
    /// Reads the next part.
    pub(super) fn take(&mut self, part: &[u8]) {
        for &byte in part {
            let before = self.depth;
            if self.is_text {
                self.is_text = self.is_escaped || byte != b'"';
                self.is_escaped = !self.is_escaped && byte == b'\\';
            } else {
                match byte {
                    b'"' => self.is_text = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
            // Both brackets of an omitted part stay.
            if before.min(self.depth) <= 1 && self.kept.len() < LONGEST {
                self.kept.push(byte);
            }
        }
    }

    /// The outline; no JSON when the message was none, or is long by its own members.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_member_names_remain() {
        let table = [
            (
                r#"{"id":1,"params":{"a":{"b":[1]},"c":[]},"method":"x"}"#,
                r#"{"id":1,"params":{},"method":"x"}"#,
            ),
            (r#"{"params":["}\"]","\\",{}],"id":"a]\"}"}"#, r#"{"params":[],"id":"a]\"}"}"#),
            (r#"{"text":"kept"}"#, r#"{"text":"kept"}"#),
            ("]]}", "]]}"),
        ];
        for (message, expected) in table {
            for size in [1, 3, message.len()] {
                let mut outline = Outline::default();
                message.as_bytes().chunks(size).for_each(|part| outline.take(part));
                assert_eq!(String::from_utf8(outline.into_bytes()).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_long_outline_is_truncated() {
        let mut outline = Outline::default();
        outline.take(&vec![b'1'; 2 * LONGEST]);
        assert_eq!(outline.into_bytes().len(), LONGEST);
    }
}
