//! Source maps that compilers write.

use std::path::Path;

use data_encoding::BASE64;
use engine::source_map::{MapLocation, SourceMap, may_mention, place, read};

/// The text of a map, and of a `data:` URL.
///
/// What is inline is read as it was written. Of a map that can be decoded: places are among the generated
/// positions, lines that are offered have code, and a map says that it may mention what it mentions.
pub fn source_maps(data: &[u8]) {
    let script = Path::new("/nowhere/out/main.js");
    if let Ok(text) = std::str::from_utf8(data)
        && let MapLocation::Inline(url) = place(text, script)
    {
        let _ = read(&MapLocation::Inline(url));
    }
    let url = format!("data:application/json;charset=utf-8;base64,{}", BASE64.encode(data));
    assert_eq!(read(&place(&url, script)).expect("it was just written"), data);

    let Ok(map) = SourceMap::decode(data, Path::new("/nowhere/out")) else { return };
    for (id, source) in map.identified() {
        assert_eq!(map.source(id), Some(source));
        if let Some(path) = &source.path {
            assert!(path.is_absolute(), "{}", path.display());
            // A name that the map writes with escapes is that of no file that anybody asks for.
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            if !name.is_empty() && name.bytes().all(is_plain) && !has_escapes(data) {
                assert!(may_mention(data, name), "{name} is not mentioned");
            }
        }
        for line in 0..8 {
            lines(&map, id, line);
        }
    }
    for line in 0..8 {
        for column in [0, 1, 7, u32::MAX] {
            if let Some(original) = map.original(line, column) {
                assert!(map.source(original.source).is_some());
            }
        }
    }
}

fn lines(map: &SourceMap, id: engine::source_map::SourceId, line: u32) {
    let generated = map.generated(id, line, None);
    let near = map.nearest_lines(id, line);
    for other in [near.before, near.after].into_iter().flatten() {
        assert!(!map.generated(id, other, None).is_empty(), "line {other} has no code");
    }
    match map.places(id, line, None) {
        Ok(places) => {
            assert!(!places.is_empty());
            assert!(places.iter().all(|place| generated.contains(place)), "{places:?} of {generated:?}");
        }
        Err(_) => assert!(generated.is_empty(), "{generated:?}"),
    }
}

/// Of JSON, or of a URL.
fn has_escapes(data: &[u8]) -> bool {
    data.contains(&b'\\') || data.contains(&b'%')
}
