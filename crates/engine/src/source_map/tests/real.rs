//! Maps as real tools write them, of one small program (`testdata/src`).

use super::*;

/// A script that a tool made, with its map.
struct Built {
    script: String,
    map: SourceMap,
    folder: PathBuf,
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source_map/testdata")
}

fn built(script: &str) -> Built {
    let path = testdata().join(script);
    let text = std::fs::read_to_string(&path).unwrap();
    let url = text.trim_end().rsplit("//# sourceMappingURL=").next().unwrap();
    let raw = read(&place(url, &path)).unwrap();
    assert!(may_mention(&raw, "prices.ts") || may_mention(&raw, "main.ts"));
    assert!(!may_mention(&raw, "other.ts"));
    let folder = path.parent().unwrap().to_owned();
    let map = SourceMap::decode(&raw, &folder).unwrap();
    Built { script: text, map, folder }
}

/// What a file of the program says, by its name.
fn written(name: &str) -> String {
    std::fs::read_to_string(testdata().join("src").join(name)).unwrap()
}

/// The text from a position on, to the end of the line.
fn text_at(text: &str, (line, column): Position) -> String {
    let line = text.lines().nth(usize::try_from(line).unwrap()).unwrap();
    let units: Vec<u16> = line.encode_utf16().skip(usize::try_from(column).unwrap()).collect();
    String::from_utf16_lossy(&units)
}

/// Where a text that is there once begins.
fn position_of(text: &str, wanted: &str) -> Position {
    assert_eq!(text.matches(wanted).count(), 1, "{wanted}");
    let (line, found) = (0..).zip(text.lines()).find(|(_, line)| line.contains(wanted)).unwrap();
    let column = found[..found.find(wanted).unwrap()].encode_utf16().count();
    (line, u32::try_from(column).unwrap())
}

impl Built {
    fn source(&self, name: &str) -> SourceId {
        self.map.find(&testdata().join("src").join(name)).unwrap()
    }

    /// What stands in the script where a line is to be stopped at. The line is named by a text on it.
    fn places(&self, name: &str, wanted: &str) -> Vec<String> {
        let (line, _) = position_of(&written(name), wanted);
        let locations = self.map.places(self.source(name), line, None).unwrap();
        locations
            .into_iter()
            .map(|location| text_at(&self.script, location).trim_start().to_owned())
            .collect()
    }
}

const SCRIPTS: [&str; 10] = [
    "tsc/prices.js",
    "tsc/main.js",
    "tsc-es5/prices.js",
    "tsc-es5/main.js",
    "esbuild/bundle.js",
    "esbuild-min/bundle.js",
    "swc/prices.js",
    "swc/main.js",
    "babel/prices.js",
    "babel/main.js",
];

/// Lines of `prices.ts`, and with what the code begins that each tool made of them. Where esbuild minifies,
/// it puts statements together.
const PRICES: [(&str, &str, &str, &str); 7] = [
    // The line, in modern JavaScript, in old JavaScript, minified.
    ("const gross", "const gross = item.price", "var gross = item.price", "e.price*e.count"),
    ("return gross", "return gross", "return gross", "return e.price*e.count"),
    ("this.items.push", "this.items.push(item)", "this.items.push(item)", "return this.items.push(t)"),
    ("let running", "let running = 0", "var running = 0", "let n=0"),
    ("for (const item", "for (const item of", "for (", "for(let c of this.items)"),
    ("running += subtotal", "running += subtotal(item)", "running += ", "n+=i(c)"),
    ("return running", "return running + tax", "return running + tax", "return n+o"),
];

/// The same for `main.ts`.
const MAIN: [(&str, &str, &str, &str); 5] = [
    ("const label", "const label", "var label", "\"\\xFC"),
    ("return line", "return line", "return line", "return\"\\xFC"),
    ("for (const piece", "for (const piece of fruit)", "for (var _i = 0, ", "for(let e of s)"),
    ("basket.add(piece)", "basket.add(piece)", "basket.add(piece)", "m.add(e)"),
    ("console.log(", "console.log(describe(", "console.log(describe(", "console.log(a("),
];

#[test]
fn lines_are_found_in_the_output_of_real_tools() {
    for script in SCRIPTS {
        let built = built(script);
        for (name, lines) in [("prices.ts", PRICES.as_slice()), ("main.ts", MAIN.as_slice())] {
            if !script.contains("bundle") && !script.contains(name.trim_end_matches(".ts")) {
                assert!(
                    built.map.find(&testdata().join("src").join(name)).is_err(),
                    "{script} is not of {name}"
                );
                continue;
            }
            for (line, modern, old, minified) in lines {
                let expected = match script.split('/').next().unwrap() {
                    "esbuild-min" => minified,
                    "babel" | "tsc-es5" => old,
                    _ => modern,
                };
                let locations = built.places(name, line);
                assert_eq!(locations.len(), 1, "{script} {line}: {locations:?}");
                assert!(locations[0].starts_with(expected), "{script} {line}: {locations:?}");
            }
        }
    }
}

#[test]
fn every_location_maps_back_to_its_line() {
    for script in SCRIPTS {
        let built = built(script);
        for (id, source) in built.map.identified() {
            let lines = std::fs::read_to_string(source.path.as_ref().unwrap()).unwrap().lines().count();
            let covered = (0..u32::try_from(lines).unwrap()).filter(|line| {
                let Ok(places) = built.map.places(id, *line, None) else { return false };
                for (to, column) in places {
                    let original = built.map.original(to, column).unwrap();
                    assert_eq!((original.source, original.line), (id, *line), "{script} {to}:{column}");
                }
                true
            });
            assert!(covered.count() > lines / 2, "{script} {}", source.name);
        }
    }
}

#[test]
fn columns_are_utf_16_units_on_both_sides() {
    let main = written("main.ts");
    // Each stands after a character of two units on the line that was written, and in some scripts too.
    for wanted in ["thing.name;", "const line =", "label + \": \""] {
        let (line, column) = position_of(&main, wanted);
        for script in ["tsc/main.js", "tsc-es5/main.js", "swc/main.js", "babel/main.js", "esbuild/bundle.js"]
        {
            let built = built(script);
            let source = built.source("main.ts");
            let locations = built.map.places(source, line, Some(column)).unwrap();
            let text = text_at(&built.script, locations[0]);
            let modern = wanted.replace("const line", "var line");
            assert!(
                text.trim_start().starts_with(wanted) || text.starts_with(&modern),
                "{script} {wanted}: {text}"
            );
            let original = built.map.original(locations[0].0, locations[0].1).unwrap();
            assert_eq!((original.line, original.column), (line, column), "{script} {wanted}");
        }
    }
}

#[test]
fn type_only_lines_have_neighbours() {
    let prices = written("prices.ts");
    let (line, _) = position_of(&prices, "price: number");
    let (next, _) = position_of(&prices, "export function subtotal");
    for script in
        ["tsc/prices.js", "esbuild/bundle.js", "esbuild-min/bundle.js", "babel/prices.js", "swc/prices.js"]
    {
        let built = built(script);
        let source = built.source("prices.ts");
        assert_eq!(built.map.nearest_lines(source, line).after, Some(next), "{script}");
        let problem = built.map.places(source, line, None).unwrap_err();
        let MapProblem::NoCode { name, line: told, after, .. } = problem else { panic!("{problem:?}") };
        assert!(name.ends_with("prices.ts"), "{name}");
        assert_eq!((told, after), (line + 1, Some(next + 1)), "lines for people");
    }
}

#[test]
fn helper_lines_map_to_nothing() {
    for (script, helper) in [
        ("tsc/prices.js", "Object.defineProperty(exports"),
        ("esbuild/bundle.js", "\"use strict\""),
        ("tsc/main.js", "//# sourceMappingURL"),
    ] {
        let built = built(script);
        let Some(line) = built.script.lines().position(|line| line.contains(helper)) else { continue };
        let line = u32::try_from(line).unwrap();
        assert_eq!(built.map.original(line, 0), None, "{script}");
        assert_eq!(built.map.original(line, 10), None, "{script}");
    }
}

#[test]
fn minified_variables_get_their_original_names() {
    let built = built("esbuild-min/bundle.js");
    let names = |function: &str, end: &str| {
        let start = position_of(&built.script, function);
        let length = u32::try_from(function.len()).unwrap();
        let end = text_at(&built.script, start).find(end).unwrap();
        let end = (start.0, start.1 + u32::try_from(end).unwrap() + 1);
        let start = (start.0, start.1 + length);
        let mut names: Vec<_> = built.map.names(&built.script, start, end).into_iter().collect();
        names.sort();
        names.into_iter().map(|(mangled, name)| format!("{mangled}={name}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("function i", "}"), "e=item");
    assert_eq!(names("total(t){", "}}"), "c=item i=subtotal n=running o=tax t=taxRate");
    assert_eq!(names("function a", "}"), "e=thing t=amount");
    assert_eq!(names("var u=", ";"), "e=entry s=fruit");
}

#[test]
fn unchanged_names_are_not_reported() {
    for script in SCRIPTS.iter().filter(|script| !script.contains("min")) {
        let built = built(script);
        let names = built.map.names(&built.script, (0, 0), (u32::MAX, 0));
        assert!(names.is_empty(), "{script}: {names:?}");
    }
}

#[test]
fn fresh_build_is_not_stale() {
    for script in SCRIPTS {
        let built = built(script);
        for source in built.map.sources().filter(|source| source.content.is_some()) {
            assert_eq!(staleness(source, &built.folder), None, "{script}");
            let changed = MapSource { content: Some("something else".into()), ..source.clone() };
            assert!(
                matches!(staleness(&changed, &built.folder), Some(MapProblem::Differs { .. })),
                "{script}"
            );
        }
    }
}
