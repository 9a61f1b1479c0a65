//! What an index needs of a line, without parsing all of it.
//!
//! A line of a journal is an object. Its members are scanned from the front and skipped by their quotes and brackets,
//! and the scan ends after the last needed member: writers put long ones at the end. So a line that is malformed
//! there is only detected when it is read.

use memchr::memchr2;

use super::Kind;

/// What was found in a line. Texts are as they are written, with their escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scan<'a> {
    /// In milliseconds since 1970.
    pub(super) timestamp: Option<i64>,
    pub(super) message: &'a [u8],
    pub(super) session_id: Option<&'a [u8]>,
    pub(super) session_name: Option<&'a [u8]>,
    pub(super) call_id: Option<&'a [u8]>,
    pub(super) tool: Option<&'a [u8]>,
    pub(super) language: Option<&'a [u8]>,
    pub(super) server: Option<u32>,
    pub(super) program: Option<&'a [u8]>,
    pub(super) event: Option<&'a [u8]>,
    pub(super) reason: Option<&'a [u8]>,
    pub(super) success: Option<bool>,
}

/// The first and the last moment that can be: 1970 and the year 9999, in milliseconds.
const TIMES: std::ops::RangeInclusive<i64> = 1..=253_402_207_200_000;

/// Scans a line. None if it is not an object with a `message`.
pub(super) fn scan(line: &[u8]) -> Option<Scan<'_>> {
    let line = line.trim_ascii();
    if line.last() != Some(&b'}') {
        return None;
    }
    let mut rest = line.strip_prefix(b"{")?;
    let mut found = Scan::default();
    loop {
        rest = rest.trim_ascii_start();
        let Some((key, behind)) = string(rest) else { break };
        let value = behind.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let length = value_length(value)?;
        found.take(key, value.get(..length)?);
        if found.is_enough() {
            break;
        }
        rest = value.get(length..)?.trim_ascii_start();
        match rest.strip_prefix(b",") {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    (!found.message.is_empty()).then_some(found)
}

impl<'a> Scan<'a> {
    fn take(&mut self, key: &[u8], value: &'a [u8]) {
        let text = || string(value).map(|(text, _)| text);
        match key {
            b"message" => self.message = text().unwrap_or_default(),
            b"timestamp" | b"time" => self.timestamp = self.timestamp.or_else(|| time(value)),
            b"sessionId" => self.session_id = text().filter(|id| !id.is_empty()),
            b"sessionName" => self.session_name = text(),
            b"callId" => self.call_id = text().filter(|id| !id.is_empty()),
            b"tool" => self.tool = text(),
            b"language" => self.language = text(),
            b"server" => {
                let number = str::from_utf8(value).ok().and_then(|text| text.trim_ascii_end().parse().ok());
                self.server = number;
            }
            b"program" => self.program = text(),
            b"event" => self.event = text(),
            b"reason" => self.reason = text(),
            b"success" => self.success = Some(value != b"false"),
            _ => {}
        }
    }

    fn is_enough(&self) -> bool {
        if self.timestamp.is_none() || self.session_id.is_none() || self.session_name.is_none() {
            return false;
        }
        match self.kind() {
            Kind::Call | Kind::Failure => self.call_id.is_some(),
            Kind::Response => self.call_id.is_some() && self.success.is_some(),
            Kind::State => self.event.is_some() && self.reason.is_some(),
            Kind::Breakpoint => self.event.is_some(),
            Kind::Created => self.language.is_some() && self.server.is_some(),
            Kind::Variables | Kind::Closed | Kind::Exposure | Kind::Output | Kind::Dropped => true,
            Kind::Other => !self.message.is_empty(),
        }
    }

    /// What the line is about.
    pub(super) fn kind(&self) -> Kind {
        match self.message {
            b"tool:call" => Kind::Call,
            b"tool:response" => Kind::Response,
            b"tool:error" => Kind::Failure,
            b"debug:state" => Kind::State,
            b"debug:breakpoint" => Kind::Breakpoint,
            b"debug:variables" => Kind::Variables,
            b"session:created" => Kind::Created,
            b"session:closed" => Kind::Closed,
            b"session:exposure" => Kind::Exposure,
            b"debug:output" => Kind::Output,
            b"journal:dropped" => Kind::Dropped,
            _ => Kind::Other,
        }
    }
}

/// A string's raw text, and the rest.
fn string(from: &[u8]) -> Option<(&[u8], &[u8])> {
    let inside = from.strip_prefix(b"\"")?;
    let end = string_end(inside)?;
    Some((inside.get(..end)?, inside.get(end + 1..)?))
}

/// Where the quote is that ends a string.
fn string_end(inside: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', inside.get(at..)?)?;
        if inside.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// How many bytes a value has.
fn value_length(value: &[u8]) -> Option<usize> {
    match value.first()? {
        b'"' => Some(string_end(value.get(1..)?)? + 2),
        b'{' | b'[' => nested_length(value),
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}' | b']')),
    }
}

fn nested_length(value: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match value.get(at)? {
            b'"' => at += string_end(value.get(at + 1..)?)? + 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// A moment that is a number of milliseconds or a text of ISO 8601.
fn time(value: &[u8]) -> Option<i64> {
    let text = str::from_utf8(value).ok()?;
    let time = match text.strip_prefix('"') {
        Some(iso) => iso.strip_suffix('"')?.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
        None => number(text.trim_ascii_end())?,
    };
    TIMES.contains(&time).then_some(time)
}

fn number(text: &str) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is not needed")]
    text.parse().ok().or_else(|| text.parse().ok().map(|number: f64| number as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a line is about, when, and of which session.
    type ScannedLine = (Kind, Option<i64>, Option<&'static str>);

    #[test]
    fn fields_are_found_at_any_position() {
        let cases: [(&str, Option<ScannedLine>); 14] = [
            (
                r#"{"timestamp":5,"message":"tool:call","sessionId":"a"}"#,
                Some((Kind::Call, Some(5), Some("a"))),
            ),
            (
                r#" { "x" : {"message":"no","y":["}",{"\"":1}]} , "message" : "debug:output" , "timestamp" : 7 } "#,
                Some((Kind::Output, Some(7), None)),
            ),
            (
                r#"{"timestamp":"2025-01-06T16:15:00.123Z","message":"tool:error","timestamp":1736180100123}"#,
                Some((Kind::Failure, Some(1_736_180_100_123), None)),
            ),
            (r#"{"message":"new:kind","time":9}"#, Some((Kind::Other, Some(9), None))),
            (r#"{"message":"new:kind","timestamp":null}"#, Some((Kind::Other, None, None))),
            (r#"{"message":"new:kind","timestamp":1e300}"#, Some((Kind::Other, None, None))),
            (r#"{"message":"new:kind","timestamp":-4,"time":8.5}"#, Some((Kind::Other, Some(8), None))),
            (r#"{"message":"new:kind","timestamp":99999999999999999999}"#, Some((Kind::Other, None, None))),
            (r#"{"message":1}"#, None),
            (r#"{"level":"info"}"#, None),
            ("{}", None),
            ("[1]", None),
            ("", None),
            (r#"{"message":"tool:call","x":"#, None),
        ];
        for (line, expected) in cases {
            let found = scan(line.as_bytes());
            let found = found.map(|found| {
                (found.kind(), found.timestamp, found.session_id.map(|id| str::from_utf8(id).unwrap()))
            });
            assert_eq!(found, expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn garbage_is_skipped(bytes: Vec<u8>, text in r#"\{("(message|time|sessionId)":["\[\]{},:\\a0]{0,9},?){0,5}\}"#) {
            let _ = scan(&bytes);
            let _ = scan(text.as_bytes());
        }
    }
}
