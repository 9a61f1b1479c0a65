//! What programs print.

use engine::output::{Category, Output, Utf8Stream};
use viewer::plain;

/// The first byte says how the rest is cut.
///
/// Text does not depend on how its bytes arrive; sanitized text has nothing in it that moves a cursor, and is
/// unchanged by another pass; output that is read in pieces is the same output.
pub fn texts(data: &[u8]) {
    let Some((&cut, bytes)) = data.split_first() else { return };
    let size = usize::from(cut) + 1;
    let mut stream = Utf8Stream::default();
    let pieces: Vec<String> = bytes.chunks(size).map(|chunk| stream.decode(chunk)).collect();
    let text = pieces.concat() + &stream.finish();
    assert_eq!(text, String::from_utf8_lossy(bytes), "cut every {size} bytes");

    let harmless = plain::text(&text);
    assert!(harmless.chars().all(|one| one == '\n' || one == '\t' || !one.is_control()), "{harmless:?}");
    assert_eq!(plain::text(&harmless), harmless);
    assert!(!plain::line(&text).chars().any(char::is_control));

    let output = Output::new();
    for piece in &pieces {
        output.append(Category::Stdout, piece);
    }
    let (mut read, mut at) = (String::new(), 0);
    loop {
        let excerpt = output.read(at, size);
        read.push_str(&excerpt.text());
        if excerpt.next == at {
            break;
        }
        at = excerpt.next;
    }
    assert_eq!(at, output.end());
    assert_eq!(read, pieces.concat());
}
