//! Where messages begin and end, as far as a debugger's side of a connection goes.

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireProtocol {
    /// The Debug Adapter Protocol.
    Dap,
    /// The inspector protocol, in a WebSocket (RFC 6455, section 5).
    Inspector,
}

/// Splits a stream into messages with their headers. Anything else is forwarded unchanged.
pub(super) struct Splitter {
    speech: WireProtocol,
    buffer: Vec<u8>,
    now: NextAction,
}

/// What comes now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextAction {
    /// An answer of HTTP, with which a WebSocket begins.
    Answer,
    /// The body of another answer, until the end.
    Body,
    Messages,
}

impl Splitter {
    pub(super) fn new(speech: WireProtocol) -> Self {
        let now = if speech == WireProtocol::Dap { NextAction::Messages } else { NextAction::Answer };
        Self { speech, buffer: Vec::new(), now }
    }

    /// What is complete with these bytes, and whether it is a message.
    pub(super) fn split(&mut self, bytes: &[u8]) -> Vec<(bool, Vec<u8>)> {
        self.buffer.extend_from_slice(bytes);
        let mut parts = Vec::new();
        loop {
            let is_message = self.now == NextAction::Messages;
            let Some(length) = self.next_length().filter(|length| *length <= self.buffer.len()) else {
                break;
            };
            let rest = self.buffer.split_off(length);
            parts.push((is_message, std::mem::replace(&mut self.buffer, rest)));
        }
        parts
    }

    /// The length of what comes next, as far as that is known.
    fn next_length(&mut self) -> Option<usize> {
        if self.buffer.is_empty() {
            return None;
        }
        match self.now {
            NextAction::Messages => {}
            NextAction::Body => return Some(self.buffer.len()),
            NextAction::Answer => {
                let head = self.buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
                let is_open = self.buffer.starts_with(b"HTTP/1.1 101");
                self.now = if is_open { NextAction::Messages } else { NextAction::Body };
                return Some(if is_open { head } else { self.buffer.len() });
            }
        }
        match self.speech {
            WireProtocol::Dap => {
                let head = self.buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
                let text = std::str::from_utf8(self.buffer.get(..head)?).expect("a header is text");
                let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                Some(head + length.expect("a length").trim().parse::<usize>().expect("a number"))
            }
            WireProtocol::Inspector => {
                let number = |range| {
                    let bytes: &[u8] = self.buffer.get::<std::ops::Range<usize>>(range)?;
                    Some(bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
                };
                // Servers mask nothing.
                match *self.buffer.get(1)? & 0x7F {
                    126 => Some(4 + number(2..4)?),
                    127 => Some(10 + number(2..10)?),
                    short => Some(2 + usize::from(short)),
                }
            }
        }
    }
}

impl WireProtocol {
    /// A message with its header.
    pub(super) fn framed(self, message: &[u8]) -> Vec<u8> {
        let mut frame = match self {
            Self::Dap => format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes(),
            Self::Inspector => header(message.len()),
        };
        frame.extend_from_slice(message);
        frame
    }

    /// The header of a message of this length.
    pub(super) fn claim(self, length: usize) -> Vec<u8> {
        match self {
            Self::Dap => format!("Content-Length: {length}\r\n\r\n").into_bytes(),
            Self::Inspector => header(length),
        }
    }

    /// An unsolicited message that is allowed at any time.
    pub(super) fn unasked(self) -> String {
        match self {
            Self::Dap => {
                r#"{"seq":0,"type":"event","event":"output","body":{"category":"telemetry","output":"word"}}"#
            }
            Self::Inspector => {
                r#"{"method":"Runtime.inspectRequested","params":{"object":{"type":"undefined"},"hints":{}}}"#
            }
        }
        .to_owned()
    }

    /// The same, of a length.
    pub(super) fn padded(self, length: usize) -> String {
        let message = self.unasked();
        let (last, rest) = (message.len() - 1, length - message.len());
        format!("{}{}}}", message.get(..last).expect("all but the last"), " ".repeat(rest))
    }

    /// Messages that mean nothing.
    pub(super) fn nonsense() -> Vec<Vec<u8>> {
        let both: [&[u8]; 8] = [
            b"",
            b"{",
            b"[]",
            b"null",
            b"{\"id\":999999,\"result\":{}}",
            b"{\"type\":\"response\",\"request_seq\":999999,\"success\":true,\"command\":\"x\"}",
            b"{\"type\":\"event\",\"event\":\"stopped\",\"body\":[]}",
            b"{\"method\":\"Debugger.paused\",\"params\":7}",
        ];
        both.map(<[u8]>::to_vec).into()
    }
}

/// A whole message of text, and its length (RFC 6455, section 5.2).
fn header(length: usize) -> Vec<u8> {
    let mut header = vec![0x81];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ 0..126), _) => header.push(short),
        (_, Ok(middle)) => {
            header.push(126);
            header.extend(middle.to_be_bytes());
        }
        _ => {
            header.push(127);
            header.extend((length as u64).to_be_bytes());
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_at_any_chunk_boundaries() {
        for speech in [WireProtocol::Dap, WireProtocol::Inspector] {
            let opening: &[u8] = match speech {
                WireProtocol::Dap => b"",
                WireProtocol::Inspector => b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
            };
            let messages = [7, 125, 126, 70_000].map(|length| speech.framed(&vec![b'x'; length]));
            let stream = [opening, &messages.concat()].concat();
            for size in [1, 3, 1000, stream.len()] {
                let mut splitter = Splitter::new(speech);
                let parts = stream.chunks(size).flat_map(|part| splitter.split(part));
                let found: Vec<Vec<u8>> =
                    parts.filter(|(is_message, _)| *is_message).map(|(_, message)| message).collect();
                assert_eq!(found, messages, "{speech:?} in parts of {size}");
            }
        }
    }

    #[test]
    fn http_replies_are_forwarded_as_they_arrive() {
        let mut splitter = Splitter::new(WireProtocol::Inspector);
        let parts: [&[u8]; 2] = [b"HTTP/1.0 200 OK\r\n\r\n[{}", b"]"];
        assert_eq!(parts.map(|part| splitter.split(part)), parts.map(|part| vec![(false, part.to_vec())]));
    }
}
