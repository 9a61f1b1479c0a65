use oxc_parser::config::TokensParserConfig;
use oxc_parser::{ParseOptions, Parser};

use super::*;
use crate::adapter::{Host, Machine};
use crate::deadlines;
use crate::process::ProcessSpec;

fn offset(source: &str, line: u32) -> Option<u32> {
    insertion(source, Path::new("/a/main.cjs"), line).map(|location| location.offset)
}

/// The source with a mark at the place for the line that holds `// @`, or for a line of another file.
fn marked(source: &str) -> String {
    let line = source.lines().position(|line| line.contains('@')).unwrap() + 1;
    let Some(place) = offset(source, u32::try_from(line).unwrap()) else { return String::new() };
    let mut units: Vec<u16> = source.encode_utf16().collect();
    units.insert(place as usize, u16::from(b'!'));
    String::from_utf16(&units).unwrap()
}

#[test]
fn insertion_follows_the_preceding_token() {
    for (source, expected) in [
        ("a()\nb()//@", "a()!\nb()//@"),
        ("a(); // é\n\n/* b */\nb()//@", "a();! // é\n\n/* b */\nb()//@"),
        ("'é𝄞'; f(1)\r\n\r\nb()//@", "'é𝄞'; f(1)!\r\n\r\nb()//@"),
        ("function f() {\n  return 1 //@\n}", "function f() {!\n  return 1 //@\n}"),
        ("switch (a) {\n  case 1:\n    b() //@\n}", "switch (a) {\n  case 1:!\n    b() //@\n}"),
        ("// first\na()//@", "!// first\na()//@"),
        ("#!/bin/node\n// first\na()//@", "#!/bin/node\n!// first\na()//@"),
        ("/* a\n */ a()//@", "!/* a\n */ a()//@"),
        ("'use strict'\na()//@", "'use strict'!\na()//@"),
        ("const t = `\n`\na()//@", "const t = `\n`!\na()//@"),
    ] {
        assert_eq!(marked(source), expected);
    }
    assert_eq!(offset("\u{feff}a()\nb()", 2), Some(3));
}

#[test]
fn no_insertion_where_it_would_be_inexact() {
    for source in [
        "a() //@",
        "#!/bin/node\na()//@",
        "a(); /*\n*/ b();\nc(\n1) //@",
        "const t = `\n`; b() //@",
        "if (a)\n  b() //@",
        "if (a) {\n} else b() //@",
        "f(\n  b() //@\n)",
        "a\n  .b() //@",
        "const a = b\n  + c() //@",
        "a()\nwhile (b()) {} //@",
        "a()\nfor (;;) b() //@",
        "a()\ndo { b() } while (c) //@",
        "a()\nfor (const b of c) d() //@",
        "a()\nfunction f() {} //@",
        "a()\nclass A {} //@",
        "a()\n{ b() } //@",
        "a()\ntry { b() } catch {} //@",
        "a()\nb: c() //@",
        "a()\n; //@",
        "a()\nvar b //@",
        "a()\nb //@",
        "a()\n'b' //@",
        "\n'use strict' //@",
        "a()\nb = c //@",
        "a()\nb = //@\n(0, c\n.d)()",
        "function f() {\n  return 1\n  a() //@\n}",
        "while (true) {}\na() //@",
        "if (false) {\n  a() //@\n}",
        "if (1 && b) {\n  a() //@\n}",
        "a()\nif (true) { b() } //@",
        "do { break } while (a)\nb() //@",
        "{\n  a()\n} b() //@",
        "a()\u{2028}\nb() //@",
        "a()\rb()\nc() //@",
        "a(\nb() //@",
    ] {
        assert_eq!(marked(source), "", "{source}");
    }
    assert_eq!(insertion("a()\nb()", Path::new("main.tsx"), 2), None);
    assert_eq!(insertion("a()\nb()", Path::new("main.js"), 3), None);
}

#[test]
fn type_annotations_are_skipped() {
    let source = "\
import type { A } from './a';
let total: number = f() as number;
declare const given: number;
interface B {
  a: A;
}
total = f<string>(total!);
type C = string
class D {
  private own: C = 'a';
  over(a: string): void;
  over(a: unknown): void {
    const b: C = a as C;
    if (b! as unknown) {
      this.own = b;
    }
  }
}
export const e: number = f();
";
    let ends = [(2, "'./a';"), (7, "}"), (13, " {"), (14, "as C;"), (15, ") {"), (19, "}")];
    for line in 1..=19 {
        let location = insertion(source, Path::new("main.ts"), line).map(|location| location.offset as usize);
        match ends.iter().find(|(number, _)| *number == line) {
            Some((_, end)) => assert!(source[..location.unwrap()].ends_with(end), "{line}"),
            None => assert_eq!(location, None, "{line}"),
        }
    }
}

/// Runs a program, and says what it did and which lines of it were passed.
const PASSES: &str = include_str!("samples/passes.cjs");

/// The environment variable that names another `node` to test with.
const NODE: &str = "STILLFRAME_TEST_NODE";

const SAMPLES: [(&str, &str); 3] = [
    ("script.cjs", include_str!("samples/script.cjs")),
    ("bare.cjs", include_str!("samples/bare.cjs")),
    ("module.mjs", include_str!("samples/module.mjs")),
];

/// Programs that others are tested with.
const FIXTURES: [&str; 4] = ["bank", "steps", "swap_vars", "values"];

/// What a program logged, the lines that were passed meanwhile, and the lines of V8's breakpoints.
type LoggedHits = (Vec<serde_json::Value>, Vec<u32>);

async fn run(folder: &Path, name: &str, lines: Option<&[u32]>) -> LoggedHits {
    let driver = folder.join("passes.cjs");
    std::fs::write(&driver, PASSES).unwrap();
    let mut args = vec![driver.into(), folder.join(name).into()];
    args.extend(lines.map(|lines| serde_json::to_string(lines).unwrap().into()));
    let program = std::env::var_os(NODE).map_or_else(|| Machine.which("node").unwrap(), Into::into);
    let spec = ProcessSpec { program, args, ..ProcessSpec::default() };
    let finished = Machine.run(&spec, deadlines::HELPER).await.unwrap();
    assert!(finished.success, "{name}: {}", finished.stderr);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{name}: {}", finished.stderr))
}

/// The lines of a script that code can be put in for, and the script with that code.
fn instrumented(source: &str, name: &str) -> (Vec<u32>, String) {
    let count = u32::try_from(source.lines().count()).unwrap();
    let location = |line| Some((insertion(source, Path::new(name), line)?.offset as usize, line));
    let mut locations: Vec<(usize, u32)> = (1..=count).filter_map(location).collect();
    locations.sort_unstable();
    let mark = source.starts_with('\u{feff}');
    let mut units: Vec<u16> = source.encode_utf16().collect();
    for (offset, line) in locations.iter().rev() {
        let at = offset + usize::from(mark);
        units.splice(at..at, format!(";{{ __pass({line}) }}").encode_utf16());
    }
    let mut lines: Vec<u32> = locations.into_iter().map(|(_, line)| line).collect();
    lines.sort_unstable();
    (lines, String::from_utf16(&units).unwrap())
}

/// The tokens of a script with their lines and columns, without those that were put in.
fn tokens(source: &str, name: &str) -> Vec<(u32, u32, String)> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let kind = if name == "module.mjs" { SourceType::mjs() } else { SourceType::cjs() };
    let parser = Parser::new(&allocator, source, kind).with_options(options);
    let parsed = parser.with_config(TokensParserConfig).parse();
    assert!(parsed.diagnostics.errors().next().is_none(), "{name}: {source}");
    let starts = LineStarts::of(source);
    let mut tokens = Vec::new();
    let mut all = parsed.tokens.iter().map(|token| {
        let text = &source[token.start() as usize..token.end() as usize];
        let line = starts.line(token.start());
        (line, starts.column(line, token.start(), source), text.to_owned())
    });
    while let Some(token) = all.next() {
        if token.2 == "__pass" {
            // `;{` before, and `(1) }` after.
            tokens.truncate(tokens.len() - 2);
            all.nth(3);
        } else {
            tokens.push(token);
        }
    }
    tokens
}

async fn compare(name: &str, source: &str) -> usize {
    let (lines, changed) = instrumented(source, name);
    assert_eq!(tokens(&changed, name), tokens(source, name), "{name}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), source).unwrap();
    let (expected, places) = run(folder.path(), name, Some(&lines)).await;
    assert_eq!(places, lines, "the lines of V8's breakpoints in {name}");
    std::fs::write(folder.path().join(name), &changed).unwrap();
    let (actual, _) = run(folder.path(), name, None).await;
    let first = (0..).zip(&expected).zip(&actual).find(|((_, one), other)| one != other);
    assert_eq!(actual, expected, "first {first:?} in {name}");
    lines.len()
}

#[tokio::test]
async fn inserted_code_runs_exactly_when_a_breakpoint_is_hit() {
    let mut found = 0;
    for (name, source) in SAMPLES {
        found += compare(name, source).await;
        let source = source.replace("#!", "//").replace('\n', "\r\n");
        found += compare(name, &format!("\u{feff}{source}")).await;
    }
    assert!(found > 400, "{found}");
}

#[tokio::test]
async fn inserted_code_runs_exactly_when_a_breakpoint_is_hit_in_all_kinds_of_programs() {
    for fixture in FIXTURES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(fixture).join("main.js");
        let source = std::fs::read_to_string(path).unwrap();
        compare("main.js", &source).await;
    }
}
