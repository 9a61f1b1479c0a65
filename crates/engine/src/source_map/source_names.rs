//! Whether a map can matter, without decoding it.

use memchr::{memchr, memmem};
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::decode::json;

/// Whether a map, plain or indexed, may name a file of this name (the last part of a path). Never false if it does;
/// true without reason if the name only occurs in some source's text, or the map is corrupt.
///
/// A file that the map names by a link of another name is not recognised: only names are compared.
pub fn may_mention(raw: &[u8], file_name: &str) -> bool {
    if memmem::find(raw, file_name.as_bytes()).is_some() {
        return true;
    }
    // The name can be hidden by escapes only: of JSON or of URLs. Then the names must be read.
    let is_escaped_always = file_name.contains(|c: char| c == '"' || c == '\\' || c.is_ascii_control());
    if !is_escaped_always && memmem::find(raw, b"\\u").is_none() && memchr(b'%', raw).is_none() {
        return false;
    }
    serde_json::from_slice::<MapSources>(json(raw)).map_or(true, |named| named.mentions(file_name))
}

/// Of a map, what names its sources; the rest is skipped.
#[derive(Deserialize)]
struct MapSources {
    sources: Option<Vec<Option<String>>>,
    sections: Option<Vec<Section>>,
}

#[derive(Deserialize)]
struct Section {
    map: Option<MapSources>,
}

impl MapSources {
    fn mentions(&self, file_name: &str) -> bool {
        let named = |source: &String| {
            source.contains(file_name) || percent_decode_str(source).decode_utf8_lossy().contains(file_name)
        };
        self.sources.iter().flatten().flatten().any(named)
            || self
                .sections
                .iter()
                .flatten()
                .filter_map(|section| section.map.as_ref())
                .any(|map| map.mentions(file_name))
    }
}
