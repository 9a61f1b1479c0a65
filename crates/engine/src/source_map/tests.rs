use super::*;

mod hostile;
mod locating;
mod real;
mod round_trip;
mod sources;

/// A map of one source, whose entries are given in the mappings' own form.
fn map_of(mappings: &str, names: &[&str]) -> SourceMap {
    let json = serde_json::json!({ "version": 3, "sources": ["a.ts"], "names": names, "mappings": mappings });
    decoded(&json)
}

fn decoded(json: &serde_json::Value) -> SourceMap {
    SourceMap::decode(json.to_string().as_bytes(), Path::new("/nowhere/out")).unwrap()
}

fn only(map: &SourceMap) -> SourceId {
    let mut all = map.identified();
    let (id, _) = all.next().unwrap();
    assert!(all.next().is_none());
    id
}
