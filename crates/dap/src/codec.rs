//! The framing of the base protocol: a header with `Content-Length`, a blank line, then JSON.
//!
//! Source: Debug Adapter Protocol specification, section "Base protocol". No I/O happens here: bytes go in, frames
//! come out. This module also tolerates adapters' mistakes: text printed before a header, other header fields, huge
//! frames, and JSON strings that are not Unicode.

use bytes::{Buf, Bytes, BytesMut};

/// A header block longer than this is not a header: the peer speaks something else.
const MAX_HEADER: usize = 64 * 1024;

/// How much room there is made for what is not known yet, in bytes.
const READ: usize = 16 * 1024;
/// With less room than this, what comes would be read in many small pieces.
const LEAST: usize = 1024;

const CONTENT_LENGTH: &[u8] = b"content-length:";

/// One unit that the decoder found in the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// The JSON text of one message.
    Message(Bytes),
    /// A message of this many bytes was skipped, because it exceeds the limit.
    TooLarge(usize),
}

/// The stream can no longer be read as frames.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no `Content-Length` header in the first {0} bytes")]
pub struct NotFramed(usize);

/// Splits a byte stream into frames.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    state: State,
    limit: usize,
}

#[derive(Debug)]
enum State {
    /// Reading header lines; the length is known once its line was seen.
    Header { length: Option<usize>, seen: usize },
    /// Waiting for this many bytes of JSON.
    Body { length: usize },
    /// Dropping this many more bytes of a frame that exceeds the limit.
    Skip { left: usize, length: usize },
}

const START: State = State::Header { length: None, seen: 0 };

impl Decoder {
    /// A decoder that skips messages of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), state: START, limit }
    }

    /// From here on, messages of more than `limit` bytes are skipped.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The buffer to read into, with room for more than the next few bytes.
    pub fn buffer(&mut self) -> &mut BytesMut {
        let room = self.buffer.capacity() - self.buffer.len();
        // For a body there is room for all of it.
        if room < LEAST && !matches!(self.state, State::Body { .. }) {
            self.buffer.reserve(READ);
        }
        &mut self.buffer
    }

    /// The next frame, or `None` when more bytes are needed.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, NotFramed> {
        loop {
            match &mut self.state {
                State::Header { length, seen } => {
                    let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') else {
                        let unread = *seen + self.buffer.len();
                        return if unread > MAX_HEADER { Err(NotFramed(unread)) } else { Ok(None) };
                    };
                    let line = self.buffer.split_to(end + 1);
                    *seen += line.len();
                    let line = line.trim_ascii();
                    if let Some(found) = content_length(line) {
                        *length = Some(found);
                    } else if line.is_empty()
                        && let Some(length) = *length
                    {
                        self.state = if length > self.limit {
                            State::Skip { left: length, length }
                        } else {
                            State::Body { length }
                        };
                    } else if *seen > MAX_HEADER {
                        return Err(NotFramed(*seen));
                    }
                }
                State::Body { length } => {
                    let length = *length;
                    if self.buffer.len() < length {
                        self.buffer.reserve(length - self.buffer.len());
                        return Ok(None);
                    }
                    self.state = START;
                    let mut body = self.buffer.split_to(length);
                    replace_lone_surrogates(&mut body);
                    return Ok(Some(Frame::Message(body.freeze())));
                }
                State::Skip { left, length } => {
                    let dropped = (*left).min(self.buffer.len());
                    self.buffer.advance(dropped);
                    *left -= dropped;
                    if *left > 0 {
                        return Ok(None);
                    }
                    let length = *length;
                    self.state = START;
                    return Ok(Some(Frame::TooLarge(length)));
                }
            }
        }
    }
}

/// The number in a `Content-Length` line. The field may follow text that was printed without a line end.
fn content_length(line: &[u8]) -> Option<usize> {
    let at =
        line.windows(CONTENT_LENGTH.len()).position(|window| window.eq_ignore_ascii_case(CONTENT_LENGTH))?;
    let digits = line.get(at + CONTENT_LENGTH.len()..)?.trim_ascii();
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Frames one JSON text.
pub fn encode(json: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(json.len() + 32);
    frame.extend_from_slice(format!("Content-Length: {}\r\n\r\n", json.len()).as_bytes());
    frame.extend_from_slice(json);
    frame.freeze()
}

/// Turns escapes of half a surrogate pair into U+FFFD, in place.
///
/// Some adapters keep bytes that are not UTF-8 in strings as lone surrogates, and send them as `\udcff`. That is legal JSON text but no Unicode string, and a strict parser would refuse the message.
fn replace_lone_surrogates(json: &mut [u8]) {
    let mut at = 0;
    while let Some(offset) = json.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'\\')) {
        at += offset;
        match escape(json, at) {
            Some(0xD800..0xDC00) if matches!(escape(json, at + 6), Some(0xDC00..0xE000)) => at += 12,
            Some(0xD800..0xE000) => {
                if let Some(hex) = json.get_mut(at + 2..at + 6) {
                    hex.copy_from_slice(b"fffd");
                }
                at += 6;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
}

/// The code unit of a `\uXXXX` escape that starts at `at`.
fn escape(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(limit: usize, chunks: &[&[u8]]) -> Result<Vec<Frame>, NotFramed> {
        let mut decoder = Decoder::new(limit);
        let mut frames = Vec::new();
        for chunk in chunks {
            decoder.buffer().extend_from_slice(chunk);
            while let Some(frame) = decoder.next_frame()? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    fn message(json: &str) -> Frame {
        Frame::Message(Bytes::copy_from_slice(json.as_bytes()))
    }

    #[test]
    fn frames_are_found_at_any_chunk_boundaries() {
        let stream = [encode(b"{\"a\":1}"), encode(b"{}"), encode("\"ä\"".as_bytes())].concat();
        let expected = vec![message("{\"a\":1}"), message("{}"), message("\"ä\"")];
        for size in 1..=stream.len() {
            let chunks: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(decode(1024, &chunks).unwrap(), expected, "cut every {size} bytes");
        }
    }

    #[test]
    fn noise_around_headers_is_ignored() {
        let table: &[(&str, &[u8])] = &[
            ("a banner line", b"Welcome!\nContent-Length: 2\r\n\r\n{}"),
            ("no line end before the header", b"oopsContent-Length: 2\r\n\r\n{}"),
            ("another header field", b"Content-Type: x\r\nContent-Length: 2\r\n\r\n{}"),
            ("lower case, bare newlines", b"content-length:2\n\n{}"),
            ("blank lines first", b"\r\n\r\nContent-Length: 2\r\n\r\n{}"),
        ];
        for (name, stream) in table {
            assert_eq!(decode(1024, &[stream]).unwrap(), vec![message("{}")], "{name}");
        }
    }

    #[test]
    fn oversized_frame_is_skipped_and_the_next_one_read() {
        let stream = [encode(&[b' '; 100]), encode(b"{}")].concat();
        for size in [1, 7, stream.len()] {
            let chunks: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(decode(50, &chunks).unwrap(), vec![Frame::TooLarge(100), message("{}")]);
        }
    }

    #[test]
    fn a_stream_without_headers_is_refused() {
        let noise = vec![b'x'; MAX_HEADER + 1];
        assert!(decode(1024, &[&noise]).is_err());
        let lines = b"x\n".repeat(MAX_HEADER);
        assert!(decode(1024, &[&lines]).is_err());
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let table = [
            (r#""\udcff""#, "\u{fffd}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\\udcff""#, "\\udcff"),
            (r#""\\\udcff""#, "\\\u{fffd}"),
            (r#""\u00e4\n""#, "ä\n"),
            (r#""\ud83d\\ude00""#, "\u{fffd}\\ude00"),
        ];
        for (json, expected) in table {
            let mut bytes = json.as_bytes().to_vec();
            replace_lone_surrogates(&mut bytes);
            assert_eq!(serde_json::from_slice::<String>(&bytes).unwrap(), expected, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_decoded_without_panic(bytes: Vec<u8>, cut in 1usize..64) {
            let chunks: Vec<&[u8]> = bytes.chunks(cut).collect();
            let _ = decode(64, &chunks);
        }

        #[test]
        fn surrogate_repair_keeps_valid_json(text: String) {
            let json = serde_json::to_vec(&text).unwrap();
            let mut repaired = json.clone();
            replace_lone_surrogates(&mut repaired);
            proptest::prop_assert_eq!(repaired, json);
        }
    }
}
