//! Framing: answers are `LENGTH NUL XML NUL`, commands end with NUL.

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use crate::Element;

/// A longer answer is not read: it ends the connection.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// The next answer; none at the end of the connection, or when it is not DBGp.
pub async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> Option<Element> {
    loop {
        let mut length = Vec::new();
        // A peer that does not speak DBGp must not fill the memory.
        let mut head = (&mut *stream).take(32);
        head.read_until(0, &mut length).await.ok()?;
        if length.pop() != Some(0) {
            return None;
        }
        let length: usize = std::str::from_utf8(&length).ok()?.parse().ok()?;
        if length > MAX_MESSAGE {
            return None;
        }
        let mut body = vec![0; length + 1];
        stream.read_exact(&mut body).await.ok()?;
        body.pop();
        if let Some(element) = Element::parse(&decode(&body)) {
            return Some(element);
        }
    }
}

/// Xdebug declares ISO 8859-1 and sends the bytes of the program, which mostly are UTF-8.
fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
