//! Bytes that a debug adapter sends, as frames.

use dap::codec::{Decoder, Frame, encode};

/// Messages over this are skipped. Small, so that inputs reach it.
const LIMIT: usize = 1024;

/// The first byte says how the rest is cut.
///
/// Frames do not depend on how the bytes are cut; what is buffered is bounded; a message that is framed is read
/// as it was written, but for half surrogates, and reading it twice changes nothing more.
pub fn dap_frames(data: &[u8]) {
    let Some((&cut, stream)) = data.split_first() else { return };
    // What is longer may be no stream of frames at all, which is noticed sooner or later by how it is cut.
    if stream.len() > 32 * 1024 {
        return;
    }
    let whole = decode(LIMIT, stream, stream.len().max(1));
    assert_eq!(decode(LIMIT, stream, usize::from(cut) + 1), whole, "cut every {cut} bytes");

    let once = only(stream);
    assert_eq!(once.len(), stream.len(), "a repair keeps the length");
    assert_eq!(only(&once), once, "a repair is done once");
    if let Ok(text) = serde_json::from_slice::<serde_json::Value>(stream) {
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&once).expect("as before"), text);
    }
}

/// The message in the frame that is made of a text.
fn only(json: &[u8]) -> Vec<u8> {
    let framed = encode(json);
    match decode(json.len(), &framed, framed.len()).as_slice() {
        [Frame::Message(message)] => message.to_vec(),
        other => panic!("not one message: {other:?}"),
    }
}

fn decode(limit: usize, stream: &[u8], size: usize) -> Vec<Frame> {
    let mut decoder = Decoder::new(limit);
    let mut frames = Vec::new();
    for chunk in stream.chunks(size) {
        decoder.buffer().extend_from_slice(chunk);
        while let Some(frame) = decoder.next_frame().expect("too short to be given up") {
            frames.push(frame);
        }
        let room = decoder.buffer().capacity();
        // There is always room for some kilobytes more.
        assert!(room <= 4 * (limit + stream.len()) + 64 * 1024, "{room} bytes are buffered");
    }
    frames
}
