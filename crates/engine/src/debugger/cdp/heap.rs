//! Reading a heap snapshot while it arrives.
//!
//! A snapshot is JSON that may be larger than the program's memory, and arrives in pieces. Only counts are kept: the
//! number and size of objects per type. The names of the types are at the end, so until then a name is an index.

use std::collections::HashMap;

use serde::Deserialize;
use tokio::sync::oneshot;

use crate::model::performance::{HeapSnapshot, HeapType};

/// How many types are counted separately; the rest are summed.
const TYPES: usize = 100_000;
/// How many types are given.
const LARGEST: usize = 100;
/// The longest head of a snapshot, in bytes.
const HEAD: usize = 1 << 20;
/// What begins the list of objects, and that of texts.
const NODES: &str = "\"nodes\":[";
const STRINGS: &str = "\"strings\":[";

/// A snapshot that is being read.
#[derive(Debug)]
pub(super) struct SnapshotReader {
    part: SnapshotPart,
    /// What was read of the part so far, where a piece may end in the middle.
    text: String,
    fields: NodeLayout,
    /// The numbers of the object that is being read.
    node: Vec<u64>,
    sums: HashMap<Type, (u64, u64)>,
    snapshot: HeapSnapshot,
    /// The needed names, by their index in the list of strings.
    names: HashMap<u64, String>,
    done: Option<oneshot::Sender<HeapSnapshot>>,
}

/// Where in the snapshot the next letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SnapshotPart {
    Head,
    Nodes,
    /// References, places: everything between the objects and the texts.
    Between,
    /// In the list of texts, before this one.
    Strings(u64),
    /// In a text, maybe after a backslash.
    String(u64, bool),
    End,
}

/// What objects are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Type {
    /// The class has this number in the list of texts.
    Class(u64),
    /// One of V8's own types, by its index.
    Own(usize),
    Others,
}

/// The shape of an object in the list.
#[derive(Debug, Default)]
struct NodeLayout {
    /// How many numbers it has.
    count: usize,
    kind: usize,
    name: usize,
    size: usize,
    kinds: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct SnapshotHead {
    snapshot: SnapshotHeader,
}

#[derive(Debug, Deserialize)]
struct SnapshotHeader {
    meta: SnapshotMeta,
    node_count: u64,
    edge_count: u64,
}

#[derive(Debug, Deserialize)]
struct SnapshotMeta {
    node_fields: Vec<String>,
    node_types: Vec<serde_json::Value>,
}

impl SnapshotReader {
    /// And where the snapshot comes out.
    pub(super) fn new() -> (Self, oneshot::Receiver<HeapSnapshot>) {
        let (done, received) = oneshot::channel();
        let reading = Self {
            part: SnapshotPart::Head,
            text: String::new(),
            fields: NodeLayout::default(),
            node: Vec::new(),
            sums: HashMap::new(),
            snapshot: HeapSnapshot::default(),
            names: HashMap::new(),
            done: Some(done),
        };
        (reading, received)
    }

    /// Reads the next piece. A malformed snapshot ends without a result.
    pub(super) fn read(&mut self, piece: &str) {
        let mut rest = piece;
        while !rest.is_empty() && self.done.is_some() {
            rest = match self.part {
                SnapshotPart::Head => self.head(rest),
                SnapshotPart::Nodes => self.nodes(rest),
                SnapshotPart::Between => self.between(rest),
                SnapshotPart::Strings(number) => self.strings(rest, number),
                SnapshotPart::String(number, escaped) => self.string(rest, number, escaped),
                SnapshotPart::End => return self.finish(),
            };
        }
    }

    /// Reads on to the list of objects. Returns what follows.
    fn head<'a>(&mut self, rest: &'a str) -> &'a str {
        let Some(behind) = self.find(rest, NODES) else {
            if self.text.len() > HEAD {
                self.done = None;
            }
            return "";
        };
        let head = std::mem::take(&mut self.text);
        let head = format!("{}}}", head.trim_end_matches(NODES).trim_end().trim_end_matches(','));
        match serde_json::from_str(&head).ok().and_then(|head: SnapshotHead| self.begin(head.snapshot)) {
            Some(()) => self.part = SnapshotPart::Nodes,
            None => self.done = None,
        }
        behind
    }

    /// None where the objects have another shape than is known.
    fn begin(&mut self, summary: SnapshotHeader) -> Option<()> {
        let SnapshotMeta { node_fields, node_types } = summary.meta;
        let place = |name: &str| node_fields.iter().position(|field| field == name);
        let kind = place("type")?;
        let kinds = node_types.get(kind)?.as_array()?;
        let kinds = kinds.iter().map(|kind| kind.as_str().unwrap_or_default().to_owned()).collect();
        self.fields = NodeLayout {
            count: node_fields.len(),
            kind,
            name: place("name")?,
            size: place("self_size")?,
            kinds,
        };
        self.snapshot.nodes = summary.node_count;
        self.snapshot.edges = summary.edge_count;
        Some(())
    }

    fn nodes<'a>(&mut self, rest: &'a str) -> &'a str {
        for (at, byte) in rest.bytes().enumerate() {
            if byte.is_ascii_digit() {
                self.text.push(char::from(byte));
                continue;
            }
            if !self.text.is_empty() {
                self.node.push(self.text.parse().unwrap_or(0));
                self.text.clear();
                if self.node.len() == self.fields.count {
                    self.count();
                    self.node.clear();
                }
            }
            if byte == b']' {
                self.part = SnapshotPart::Between;
                return rest.get(at + 1..).unwrap_or_default();
            }
        }
        ""
    }

    /// An object is complete.
    fn count(&mut self) {
        let number = |place: usize| self.node.get(place).copied().unwrap_or(0);
        let (kind, size) = (usize::try_from(number(self.fields.kind)).unwrap_or(0), number(self.fields.size));
        let name = number(self.fields.name);
        let is_class = matches!(self.fields.kinds.get(kind).map(String::as_str), Some("object" | "native"));
        let counted = if is_class { Type::Class(name) } else { Type::Own(kind) };
        let is_room = self.sums.len() < TYPES || self.sums.contains_key(&counted);
        let (count, sum) = self.sums.entry(if is_room { counted } else { Type::Others }).or_default();
        *count += 1;
        *sum += size;
        self.snapshot.size += size;
    }

    fn between<'a>(&mut self, rest: &'a str) -> &'a str {
        let Some(behind) = self.find(rest, STRINGS) else {
            // Only what could be the beginning of the words is kept.
            let keep = self.text.len().saturating_sub(STRINGS.len());
            self.text = self.text.get(keep..).unwrap_or_default().to_owned();
            return "";
        };
        self.text.clear();
        self.part = SnapshotPart::Strings(0);
        self.names = self
            .largest()
            .filter_map(|(kind, _)| match kind {
                Type::Class(name) => Some((name, String::new())),
                _ => None,
            })
            .collect();
        behind
    }

    /// The types, the largest first.
    fn largest(&self) -> impl Iterator<Item = (Type, (u64, u64))> {
        let mut sums: Vec<(Type, (u64, u64))> = self.sums.iter().map(|(kind, sum)| (*kind, *sum)).collect();
        sums.sort_by_key(|(kind, (count, size))| (std::cmp::Reverse((*size, *count)), *kind));
        sums.into_iter().take(LARGEST)
    }

    fn strings<'a>(&mut self, rest: &'a str, number: u64) -> &'a str {
        let Some(at) = rest.find(['"', ']']) else { return "" };
        self.part = if rest.as_bytes().get(at) == Some(&b'"') {
            SnapshotPart::String(number, false)
        } else {
            SnapshotPart::End
        };
        self.text.clear();
        if self.part == SnapshotPart::End {
            self.finish();
        }
        rest.get(at + 1..).unwrap_or_default()
    }

    fn string<'a>(&mut self, rest: &'a str, number: u64, mut escaped: bool) -> &'a str {
        let end = rest.bytes().position(|byte| {
            let is_end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end
        });
        let is_wanted = self.names.contains_key(&number);
        if is_wanted {
            self.text.push_str(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        }
        let Some(end) = end else {
            self.part = SnapshotPart::String(number, escaped);
            return "";
        };
        if is_wanted {
            let name = serde_json::from_str(&format!("\"{}\"", self.text)).unwrap_or_default();
            self.names.insert(number, name);
        }
        self.part = SnapshotPart::Strings(number + 1);
        rest.get(end + 1..).unwrap_or_default()
    }

    fn finish(&mut self) {
        let types: Vec<HeapType> = self
            .largest()
            .map(|(kind, (count, size))| HeapType { name: self.name(kind), count, size })
            .collect();
        self.snapshot.types = types;
        if let Some(done) = self.done.take() {
            // The caller has given up.
            let _ = done.send(std::mem::take(&mut self.snapshot));
        }
    }

    fn name(&self, kind: Type) -> String {
        match kind {
            Type::Class(name) => self.names.get(&name).cloned().unwrap_or_default(),
            Type::Others => "(others)".to_owned(),
            Type::Own(kind) => match self.fields.kinds.get(kind).map_or("", String::as_str) {
                "closure" => "Function".to_owned(),
                "regexp" => "RegExp".to_owned(),
                "hidden" => "(system)".to_owned(),
                "code" => "(compiled code)".to_owned(),
                kind => format!("({kind})"),
            },
        }
    }

    /// Searches for words, also across the border of two pieces. Returns what follows them, which is not stored.
    fn find<'a>(&mut self, rest: &'a str, words: &str) -> Option<&'a str> {
        let before = self.text.len();
        self.text.push_str(rest);
        let mut from = before.saturating_sub(words.len());
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        let found = self.text.get(from..)?.find(words)? + from + words.len();
        self.text.truncate(found);
        rest.get(found - before..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size"],"node_types":[["hidden","object","string"],"string","number","number"]},"node_count":4,"edge_count":1},
"nodes":[1,1,1,100
,1,1,3,50,1,2,5,200
,2,0,7,8],
"edges":[0,1,2],
"strings":["so \"nodes\":[","Car","\u00fcber \"x\"","last"]}"#;

    fn read(pieces: impl Iterator<Item = String>) -> Option<HeapSnapshot> {
        let (mut reading, mut done) = SnapshotReader::new();
        pieces.for_each(|piece| reading.read(&piece));
        done.try_recv().ok()
    }

    #[test]
    fn snapshot_is_counted_at_any_chunk_boundaries() {
        let entry = |name: &str, count, size| HeapType { name: name.to_owned(), count, size };
        let expected = HeapSnapshot {
            nodes: 4,
            edges: 1,
            size: 358,
            types: vec![entry("über \"x\"", 1, 200), entry("Car", 2, 150), entry("(string)", 1, 8)],
        };
        for size in [1, 2, 3, 7, 64, 10_000] {
            let letters: Vec<char> = SNAPSHOT.chars().collect();
            let pieces = letters.chunks(size).map(|piece| piece.iter().collect());
            assert_eq!(read(pieces).as_ref(), Some(&expected), "in pieces of {size}");
        }
    }

    #[test]
    fn malformed_snapshot_has_no_summary() {
        for text in ["", "{}", r#"{"snapshot":{},"nodes":[1,2]"#, r#"{"nodes":[]"#] {
            assert_eq!(read(std::iter::once(text.to_owned())), None, "{text}");
        }
    }
}
