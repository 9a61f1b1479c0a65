//! JSON as V8 reads and writes it.
//!
//! We write only ASCII: Node 20 garbles any other message to a worker, and answers `Message must be a valid JSON`. V8
//! writes ASCII too, with strings as in JavaScript, which may contain half of a surrogate pair: `'\ud800'` arrives as
//! the escape `\ud800`, in values, property names and messages of workers alike (Node 20 and 22). That is legal JSON
//! text but not a Unicode string.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::{Formatter, Serializer};

/// What half a surrogate pair becomes.
const REPLACEMENT: &str = "\\ufffd";

/// The length of an escape like the one above.
const ESCAPE: usize = REPLACEMENT.len();

/// Writes a value as JSON in ASCII.
pub(crate) fn to_ascii<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let mut json = Vec::with_capacity(128);
    value.serialize(&mut Serializer::with_formatter(&mut json, Ascii))?;
    String::from_utf8(json).map_err(serde::ser::Error::custom)
}

/// Reads JSON that was sent as the text of a string.
pub fn parse<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(&without_lone_surrogates(json))
}

struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.is_ascii() {
            return writer.write_all(fragment.as_bytes());
        }
        for unit in fragment.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => writer.write_all(&[byte])?,
                _ => write!(writer, "\\u{unit:04x}")?,
            }
        }
        Ok(())
    }
}

/// Turns escapes of half a surrogate pair into U+FFFD. A text without any, the ordinary case, is not copied.
pub(crate) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let mut copied = 0;
    let mut at = 0;
    let bytes = json.as_bytes();
    while let Some(offset) = bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'\\')) {
        at += offset;
        match escaped(bytes, at) {
            Some(0xD800..0xDC00) if matches!(escaped(bytes, at + ESCAPE), Some(0xDC00..0xE000)) => {
                at += 2 * ESCAPE;
            }
            Some(0xD800..0xE000) => {
                whole.push_str(json.get(copied..at).unwrap_or_default());
                whole.push_str(REPLACEMENT);
                at += ESCAPE;
                copied = at;
            }
            Some(_) => at += ESCAPE,
            None => at += 2,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    whole.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The code unit of a `\uXXXX` escape that starts at `at`.
fn escaped(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Which command a reply is for that is too long to be parsed: the session of a worker, if it is one of its,
/// and the id. V8 writes the id of a long reply first.
pub(crate) fn addressee(json: &str) -> Option<(Option<&str>, i64)> {
    const WORKER: &str = r#"{"method":"NodeWorker.receivedMessageFromWorker","params":{"sessionId":""#;
    if let Some(id) = leading_number(json, r#"{"id":"#) {
        return Some((None, id));
    }
    let (session_id, message) = json.strip_prefix(WORKER)?.split_once(r#"","message":""#)?;
    Some((Some(session_id), leading_number(message, r#"{\"id\":"#)?))
}

fn leading_number(text: &str, opening: &str) -> Option<i64> {
    text.strip_prefix(opening)?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let table = [
            (r#""\udcff""#, "\u{fffd}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""a\ud83d\udc""#, ""),
            (r#""\\udcff""#, "\\udcff"),
            (r#""\\\udcff""#, "\\\u{fffd}"),
            (r#""ä\ud800ä\udc00ä""#, "ä\u{fffd}ä\u{fffd}ä"),
            (r#""\u00e4\n""#, "ä\n"),
            (r#""\ud83d\\ude00""#, "\u{fffd}\\ude00"),
        ];
        for (json, expected) in table {
            let read = serde_json::from_str::<String>(&without_lone_surrogates(json));
            assert_eq!(read.unwrap_or_default(), expected, "{json}");
        }
    }

    #[test]
    fn sent_text_is_ascii() {
        let table = [("a\"\n", r#""a\"\n""#), ("ä😀", r#""\u00e4\ud83d\ude00""#), ("\u{7f}", "\"\u{7f}\"")];
        for (text, expected) in table {
            assert_eq!(to_ascii(&text).unwrap(), expected);
        }
    }

    #[test]
    fn command_id_of_a_long_reply_is_found_at_its_start() {
        let worker = |message| {
            let params = format!(r#"{{"sessionId":"7","message":"{message}"#);
            format!(r#"{{"method":"NodeWorker.receivedMessageFromWorker","params":{params}"#)
        };
        let table = [
            (r#"{"id":12,"result":{"#.to_owned(), Some((None, 12))),
            (r#"{"id":x"#.to_owned(), None),
            (r#"{"method":"Debugger.paused","params":{"#.to_owned(), None),
            (worker(r#"{\"id\":3,\"result"#), Some((Some("7"), 3))),
            (worker(r#"{\"method\":\"Debugger.paused"#), None),
            (String::new(), None),
        ];
        for (json, expected) in table {
            assert_eq!(addressee(&json), expected, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_string_round_trips(text: String) {
            let json = to_ascii(&text).unwrap();
            proptest::prop_assert!(json.is_ascii());
            let json = without_lone_surrogates(&json);
            proptest::prop_assert!(matches!(json, Cow::Borrowed(_)));
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn any_text_is_repaired_without_panic(text in r"(\\u[dD][89a-fA-F][0-9]{2}|\\|u|d8|ä|.){0,40}") {
            let repaired = without_lone_surrogates(&text).into_owned();
            proptest::prop_assert_eq!(&*without_lone_surrogates(&repaired), &*repaired);
            let _ = addressee(&text);
        }
    }
}
