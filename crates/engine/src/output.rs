//! What a program wrote, as much of it as is kept.
//!
//! One stream per session, in order of arrival, addressed by a cursor that counts bytes from the start. Only the
//! newest part is kept; a reader with an older cursor gets the number of bytes it missed.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::join_all;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};

use crate::bounds::Bounds;
use crate::deadlines;
use crate::lock::lock;
pub use journal::Category;
use journal::{Outputs, SessionJournal, whole_lines};

/// Neighbouring pieces of one category are joined up to this size, in bytes.
const JOINED: usize = 8 * 1024;

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it came from.
    pub category: Category,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// When the beginning of what it is joined from arrived.
    pub at: Timestamp,
}

/// A part of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, in pieces of one category each.
    pub pieces: Vec<Piece>,
    /// The cursor of the first byte.
    pub start: u64,
    /// The cursor after the last byte.
    pub next: u64,
    /// How many bytes between the asked cursor and `start` are not given.
    pub skipped: u64,
    /// How many of those are no longer kept either.
    pub dropped: u64,
    /// How many bytes there are after `next`.
    pub more: u64,
}

impl Excerpt {
    /// All pieces in one text.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// The text of one stream.
    pub fn text_of(&self, category: Category) -> String {
        let pieces = self.pieces.iter().filter(|piece| piece.category == category);
        pieces.map(|piece| piece.text.as_str()).collect()
    }

    /// The same text with each line in one piece, where its stream began it, whatever others wrote meanwhile.
    #[must_use]
    pub fn with_whole_lines(mut self) -> Self {
        self.pieces = pieces_of_whole_lines(&self.pieces);
        self
    }
}

/// The output of one session. Clones share it.
#[derive(Clone)]
pub struct Output(Arc<Shared>);

struct Shared {
    ring: Mutex<Ring>,
    /// How much is kept, in bytes.
    kept: usize,
    /// Who writes it down.
    outputs: Outputs,
    end: watch::Sender<u64>,
    /// Those that copy into it.
    sources: Mutex<Vec<mpsc::Sender<CaughtUp>>>,
}

/// Is sent a message when everything is copied that was written before.
pub(crate) type CaughtUp = oneshot::Sender<()>;

#[derive(Default)]
struct Ring {
    pieces: VecDeque<Piece>,
    /// Cursor of the first byte that is kept.
    start: u64,
    /// Cursor after the last byte.
    end: u64,
    /// Cursor of the first byte of the program that was started last.
    run: u64,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.end()).finish()
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Output {
    /// Nothing was written yet.
    pub fn new() -> Self {
        Self::journaled(SessionJournal::default(), Bounds::default().kept_output())
    }

    /// The same, for a journal.
    pub(crate) fn journaled(journal: SessionJournal, kept: usize) -> Self {
        let outputs = Outputs::new(journal);
        let (ring, end) = (Mutex::default(), watch::Sender::new(0));
        Self(Arc::new(Shared { ring, kept, outputs, end, sources: Mutex::default() }))
    }

    /// No more output will arrive.
    pub(crate) fn finish(&self) {
        self.0.outputs.finish();
    }

    /// A program is started: what comes from now on is its output.
    pub(crate) fn begin_run(&self) {
        let mut ring = self.lock();
        ring.run = ring.end;
    }

    /// The cursor of the first byte of the program that was started last.
    pub fn run_start(&self) -> u64 {
        self.lock().run
    }

    /// Adds text at the end.
    pub fn append(&self, category: Category, text: &str) {
        if text.is_empty() {
            return;
        }
        let end = {
            let mut ring = self.lock();
            ring.append(category, text, self.0.kept);
            ring.end
        };
        self.0.end.send_replace(end);
        self.0.outputs.wrote(category, text);
    }

    /// Registers one that copies into it, and is to answer what it gets.
    pub(crate) fn source(&self) -> mpsc::Receiver<CaughtUp> {
        let (asking, asked) = mpsc::channel(1);
        let mut sources = lock(&self.0.sources);
        sources.retain(|source| !source.is_closed());
        sources.push(asking);
        asked
    }

    /// Waits, for [`deadlines::DRAIN`] at most, until everything is here that programs have written by now.
    pub async fn caught_up(&self) {
        let sources = lock(&self.0.sources).clone();
        // rustc 1.95 crashes on an asynchronous closure here when it compiles incrementally.
        let all = sources.into_iter().map(|source| async move {
            let (reply, answer) = oneshot::channel();
            // One that has ended has copied everything.
            if source.send(reply).await.is_ok() {
                let _ = answer.await;
            }
        });
        let _ = tokio::time::timeout(deadlines::DRAIN, join_all(all)).await;
    }

    /// The cursor after the last byte.
    pub fn end(&self) -> u64 {
        *self.0.end.borrow()
    }

    /// Signals every change of the end.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.end.subscribe()
    }

    /// At most `limit` bytes from the cursor on; one character, where that is longer.
    pub fn read(&self, since: u64, limit: usize) -> Excerpt {
        self.lock().excerpt(since, since, limit)
    }

    /// The last bytes after the cursor, at most `limit`.
    pub fn tail(&self, since: u64, limit: usize) -> Excerpt {
        let ring = self.lock();
        let from = ring.end.saturating_sub(limit as u64).max(since);
        ring.excerpt(since, from, limit)
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        lock(&self.0.ring)
    }
}

impl Ring {
    fn append(&mut self, category: Category, mut text: &str, kept: usize) {
        // A piece goes as a whole when there is too much.
        while text.len() > JOINED {
            let (first, rest) = text.split_at(text.floor_char_boundary(JOINED));
            self.add(category, first, kept);
            text = rest;
        }
        self.add(category, text, kept);
    }

    fn add(&mut self, category: Category, text: &str, kept: usize) {
        self.end += text.len() as u64;
        match self.pieces.back_mut() {
            Some(last) if last.category == category && last.text.len() + text.len() <= JOINED => {
                last.text.push_str(text);
            }
            _ => self.pieces.push_back(Piece { category, text: text.to_owned(), at: Timestamp::now() }),
        }
        loop {
            let excess = (self.end - self.start).saturating_sub(kept as u64);
            let is_only = self.pieces.len() == 1;
            let Some(first) = self.pieces.front_mut().filter(|_| excess > 0) else { return };
            // A long piece loses its head; the others go as a whole, which is less work.
            let whole = first.text.len();
            let head = usize::try_from(excess).unwrap_or(usize::MAX);
            if (is_only || whole > JOINED) && head < whole {
                let head = first.text.ceil_char_boundary(head);
                first.text.drain(..head);
                self.start += head as u64;
            } else {
                self.pieces.pop_front();
                self.start += whole as u64;
            }
        }
    }

    /// Bytes from `from` on, for a reader that has everything before `since`. Cuts fall between characters.
    fn excerpt(&self, since: u64, from: u64, limit: usize) -> Excerpt {
        let since = since.min(self.end);
        let mut at = self.start;
        let (mut start, mut left) = (None, limit);
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in &self.pieces {
            let begin = at;
            at += piece.text.len() as u64;
            if at <= from || left == 0 {
                continue;
            }
            let skip = usize::try_from(from.saturating_sub(begin)).unwrap_or(usize::MAX);
            let skip = piece.text.ceil_char_boundary(skip);
            let mut stop = piece.text.floor_char_boundary(skip.saturating_add(left));
            if stop == skip && pieces.is_empty() {
                // Who reads on gets on, however little is asked for at once.
                stop = piece.text.ceil_char_boundary(skip.saturating_add(1));
            }
            let text = piece.text.get(skip..stop).unwrap_or_default();
            start.get_or_insert(begin + skip as u64);
            // A cut inside a piece ends the excerpt, also when the character there did not fit.
            left = if stop < piece.text.len() { 0 } else { left.saturating_sub(text.len()) };
            if text.is_empty() {
                continue;
            }
            match pieces.last_mut() {
                Some(last) if last.category == piece.category => last.text.push_str(text),
                _ => pieces.push(Piece { category: piece.category, text: text.to_owned(), at: piece.at }),
            }
        }
        let start = start.unwrap_or(self.end);
        let next = start + pieces.iter().map(|piece| piece.text.len() as u64).sum::<u64>();
        Excerpt {
            pieces,
            start,
            next,
            skipped: start.saturating_sub(since),
            dropped: self.start.saturating_sub(since),
            more: self.end - next,
        }
    }
}

/// Pieces whose lines are whole.
fn pieces_of_whole_lines(pieces: &[Piece]) -> Vec<Piece> {
    let streams: Vec<_> = pieces.iter().map(|piece| (piece.category, piece.text.as_str())).collect();
    let mut joined: Vec<Piece> = Vec::new();
    for (number, line) in whole_lines(&streams) {
        let Some(&Piece { category, at, .. }) = pieces.get(number) else { continue };
        match joined.last_mut() {
            Some(last) if last.category == category => last.text.push_str(&line),
            _ => joined.push(Piece { category, text: line, at }),
        }
    }
    joined
}

/// Turns a byte stream into text, whole characters at a time.
#[derive(Debug, Default)]
pub struct Utf8Stream {
    unfinished: Vec<u8>,
}

impl Utf8Stream {
    /// The text of these bytes and of those left over. Bytes that are not UTF-8 are replaced; an unfinished character
    /// at the end waits for the next call.
    pub fn decode(&mut self, bytes: &[u8]) -> String {
        self.unfinished.extend_from_slice(bytes);
        let complete = match self.unfinished.utf8_chunks().last() {
            Some(last) if is_unfinished(last.invalid()) => self.unfinished.len() - last.invalid().len(),
            _ => self.unfinished.len(),
        };
        let text = String::from_utf8_lossy(self.unfinished.get(..complete).unwrap_or_default()).into_owned();
        self.unfinished.drain(..complete);
        text
    }

    /// The text of the rest when the stream has ended.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.unfinished).into_owned()
    }
}

/// The bytes begin a character and more may follow.
fn is_unfinished(invalid: &[u8]) -> bool {
    std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_one_category_are_joined_and_addressed_by_a_cursor() {
        let output = Output::new();
        output.append(Category::Stdout, "one ");
        output.append(Category::Stdout, "two ");
        output.append(Category::Stderr, "three");
        let all = output.read(0, 100);
        assert_eq!(all.text(), "one two three");
        assert_eq!(all.pieces.len(), 2);
        assert_eq!((all.next, all.more, all.dropped), (13, 0, 0));
        let part = output.read(4, 6);
        assert_eq!(part.text(), "two th");
        assert_eq!((part.start, part.next, part.more), (4, 10, 3));
        assert_eq!(output.read(13, 100).text(), "");
        assert_eq!(output.read(99, 100).next, 13, "a cursor beyond the end is the end");
    }

    #[test]
    fn a_line_stays_whole_when_another_stream_writes() {
        let output = Output::new();
        for (category, text) in [
            (Category::Stdout, "one\nstart"),
            (Category::Stderr, "oops\nand"),
            (Category::Stdout, " 1 []\nend"),
            (Category::Stderr, " more\n"),
        ] {
            output.append(category, text);
        }
        let read = output.read(0, 100).with_whole_lines();
        let pieces: Vec<_> = read.pieces.iter().map(|piece| (piece.category, piece.text.as_str())).collect();
        assert_eq!(
            pieces,
            [
                (Category::Stdout, "one\nstart 1 []\n"),
                (Category::Stderr, "oops\nand more\n"),
                (Category::Stdout, "end")
            ]
        );
        assert_eq!((read.start, read.next), (0, output.end()));
    }

    #[test]
    fn the_tail_reports_what_it_omits() {
        let output = Output::new();
        output.append(Category::Stdout, "0123456789");
        let tail = output.tail(2, 3);
        assert_eq!((tail.text().as_str(), tail.start, tail.skipped), ("789", 7, 5));
        let whole = output.tail(2, 100);
        assert_eq!((whole.text().as_str(), whole.skipped), ("23456789", 0));
    }

    #[test]
    fn only_the_newest_part_is_kept() {
        let output = Output::new();
        for _ in 0..300 {
            output.append(Category::Stdout, &"x".repeat(JOINED));
        }
        let excerpt = output.read(0, 10);
        assert_eq!(output.end(), 300 * JOINED as u64);
        assert!(excerpt.dropped > 0 && excerpt.dropped == excerpt.start);
        assert!(output.end() - excerpt.start <= Bounds::default().output);
    }

    #[test]
    fn texts_are_cut_at_character_boundaries() {
        let output = Output::new();
        output.append(Category::Stdout, "äöü");
        assert_eq!(output.read(0, 3).text(), "ä");
        assert_eq!(output.read(1, 3).text(), "ö");
        assert_eq!(output.read(0, 1).text(), "ä", "who reads on gets on");
        assert_eq!(output.read(0, 0).text(), "");
        assert_eq!(output.tail(0, 3).text(), "ü");
    }

    #[test]
    fn split_characters_are_joined() {
        let mut stream = Utf8Stream::default();
        let bytes = "a😀é".as_bytes();
        let text: String = bytes.iter().map(|byte| stream.decode(&[*byte])).collect();
        assert_eq!(text, "a😀é");
        assert_eq!(stream.decode(b"\xff\xfeb"), "\u{fffd}\u{fffd}b");
        assert_eq!(stream.decode(b"\xf0\x9f"), "");
        assert_eq!(stream.finish(), "\u{fffd}");
    }

    proptest::proptest! {
        #[test]
        fn reading_page_by_page_returns_everything(texts: Vec<String>, limit in 1usize..40) {
            let output = Output::new();
            for text in &texts {
                output.append(Category::Stdout, text);
            }
            let (mut cursor, mut read) = (0, String::new());
            while cursor < output.end() {
                let excerpt = output.read(cursor, limit);
                proptest::prop_assert!(excerpt.next > cursor);
                read.push_str(&excerpt.text());
                cursor = excerpt.next;
            }
            proptest::prop_assert_eq!(read, texts.concat());
        }
    }
}
