use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::super::super::Machine;
use super::*;
use crate::host::FakeMachine;

/// Asks V8 itself.
const POSSIBLE: &str = include_str!("samples/possible.cjs");

const SAMPLES: [(&str, &str); 3] = [
    ("statements.js", include_str!("samples/statements.js")),
    ("functions.js", include_str!("samples/functions.js")),
    ("module.mjs", include_str!("samples/module.mjs")),
];

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn found(name: &str, text: &str) -> Code {
    let folder = tempfile::tempdir().unwrap();
    read(&write(folder.path(), name, text)).unwrap()
}

fn node() -> Runtime {
    let executable = Machine.which("node").expect("these tests need Node.js");
    Runtime { executable, version: "20.0.0".to_owned(), tag: "node-20".to_owned(), origin: String::new() }
}

#[tokio::test]
async fn v8_can_stop_at_each_reported_location() {
    let folder = tempfile::tempdir().unwrap();
    let paths = SAMPLES.map(|(name, text)| write(folder.path(), name, text));
    let mut args = vec!["--experimental-vm-modules".into()];
    args.push(write(folder.path(), "possible.cjs", POSSIBLE).into());
    args.extend(paths.iter().map(Into::into));
    let spec = ProcessSpec { program: node().executable, args, ..ProcessSpec::default() };
    let finished = Machine.run(&spec, deadlines::HELPER).await.unwrap();
    let locations: BTreeMap<PathBuf, BTreeSet<(u32, u32)>> =
        serde_json::from_str(&finished.stdout).expect(&finished.stderr);
    let (mut claimed, mut passed_over) = (0, 0);
    let (mut exact, mut before, mut off) = (0, 0, Vec::new());
    for (path, (name, text)) in paths.iter().zip(SAMPLES) {
        let code = read(path).unwrap();
        let ours: BTreeSet<u32> = code.lines.into_iter().collect();
        let all: BTreeSet<u32> = locations[path].iter().map(|(line, _)| *line).collect();
        let lines: Vec<&str> = text.lines().collect();
        let wrong: Vec<&str> = ours.difference(&all).map(|line| lines[*line as usize - 1]).collect();
        assert!(wrong.is_empty(), "V8 cannot stop here in {name}: {wrong:#?}");
        claimed += ours.len();
        passed_over += all.difference(&ours).count();
        for (line, column) in code.places {
            match locations[path].range((line, column)..(line + 1, 0)).next() {
                Some((_, found)) if *found == column => exact += 1,
                Some(_) => before += 1,
                None => off.push(format!("{column} of {}", lines[line as usize - 1])),
            }
        }
    }
    assert!(off.is_empty(), "V8 cannot stop on the line from this column on: {off:#?}");
    assert!(exact > 200 && before * 40 < exact, "{exact} columns are right, {before} a little before");
    assert!(claimed > 200 && passed_over * 7 < claimed, "{claimed} lines claimed, {passed_over} passed over");
}

#[test]
fn types_and_headers_have_no_code() {
    let text = "\
import type { A } from './a';
import { b } from './b';
interface Point {
  x: number;
}
type Id = string;
declare const global: number;
declare function f(): void;
enum Color { Red }
abstract class Base {
  declare kept: string;
  readonly size: number = 1;
  constructor(private name: string) {}
  abstract area(): number;
  get first(): string {
    return this.name as string;
  }
}
function over(a: string): void;
function over(a: number): void;
function over(a: unknown): void {
  const x: Id = b(
    a!,
  ) as Id;
}
export {};
";
    let lines = found("types.ts", text).lines;
    assert_eq!(lines, [12, 13, 16, 22, 25]);
}

#[test]
fn columns_count_utf_16_units_and_separate_statements_of_a_line() {
    let code = found("columns.js", "const é = '𝄞'; f(é); g();\nreturn h(1) + k(2);\n");
    assert_eq!(code.columns(1), [11, 17, 23]);
    assert_eq!(code.columns(2), [1, 8, 15, 20]);
    assert_eq!(code.columns(3), [0; 0]);
}

#[test]
fn function_names_include_enclosing_scopes() {
    let text = "\
export default function () { return 1 }
export class Account {
  static #made = 0;
  total = () => this.sum;
  @logged
  deposit(
    amount,
  ) {

    this.sum += amount;
  }
  get balance() { return this.sum }
  #secret() {}
}
function outer() {
  function inner() {
    return 1;
  }
  const arrow = async (x) => x;
  return inner;
}
const api = {
  get() {},
  'a b': function () {},
  v1: { list: () => [] },
};
exports.handler = async () => {};
Account.prototype.close = function close2() {};
items.map((item) => item.id);
let later;
later = () => {};
const Hidden = class { run() {} };
";
    let code = found("names.jsx", text);
    let all: Vec<(&str, [u32; 4])> =
        code.functions.iter().map(|it| (it.name.as_str(), [it.start, it.header, it.body, it.end])).collect();
    let expected = [
        ("default", [1, 1, 1, 1]),
        ("Account.total", [4, 4, 4, 4]),
        ("Account.deposit", [5, 6, 10, 11]),
        ("Account.balance", [12, 12, 12, 12]),
        ("Account.#secret", [13, 13, 13, 13]),
        ("outer", [15, 15, 19, 21]),
        ("outer.inner", [16, 16, 17, 18]),
        ("outer.arrow", [19, 19, 19, 19]),
        ("api.get", [23, 23, 23, 23]),
        ("api.a b", [24, 24, 24, 24]),
        ("api.v1.list", [25, 25, 25, 25]),
        ("exports.handler", [27, 27, 27, 27]),
        ("Account.prototype.close", [28, 28, 28, 28]),
        ("later", [31, 31, 31, 31]),
        ("Hidden.run", [32, 32, 32, 32]),
    ];
    assert_eq!(all, expected);
}

#[test]
fn every_dialect_of_node_projects_is_parsed() {
    let table = [
        ("a.js", "import a from 'a';\nawait a;\n"),
        ("a.js", "return 1;\n"),
        ("a.js", "with (a) b;\nvar c = 010;\n"),
        ("a.js", "const a = <b>{c}</b>;\n"),
        ("a.js", "#!/usr/bin/env node\n1;\n"),
        ("a.js", "\u{feff}f();\n"),
        ("a.cjs", "return require('a');\n"),
        ("a.mjs", "await import('a');\nexport {};\n"),
        ("a.ts", "import a = require('a');\nconst b = <number>a;\nexport = b;\n"),
        ("a.mts", "await f<string>();\n"),
        ("a.cts", "module.exports = 1 as number;\nreturn;\n"),
        ("a.tsx", "const a = <T,>(b: T) => <c>{b}</c>;\n"),
        ("a.jsx", "const a = <b/>;\n"),
        ("bin", "#!/usr/bin/env node\nf();\n"),
    ];
    for (name, text) in table {
        assert_eq!(found(name, text).problem, None, "{name}: {text}");
    }
}

#[tokio::test]
async fn unparsable_file_has_code_on_each_line_with_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "broken.ts", "const a = 1;\n\n// why\nif (a {\n");
    let question = AnalysisRequest { file: Some(&path), ..AnalysisRequest::default() };
    let code = analyze(question).await.unwrap();
    assert_eq!((code.lines, code.length), (vec![1, 4], 4));
    let error = check(&FakeMachine::default(), &node(), &path).await.unwrap_err().to_string();
    assert!(error.contains("broken.ts` cannot be compiled: SyntaxError: "), "{error}");
    assert!(error.ends_with("at line 4, `if (a {`"), "{error}");

    let json = write(folder.path(), "data.json", "{}");
    let error =
        analyze(AnalysisRequest { file: Some(&json), ..AnalysisRequest::default() }).await.unwrap_err();
    assert_eq!(error.code(), "file_unusable");
}

#[test]
fn huge_or_deeply_nested_files_are_not_parsed() {
    let huge = "f();\n".repeat(LONGEST / 5 + 1);
    let code = found("huge.js", &huge);
    assert_eq!(code.lines.len(), code.length as usize);
    assert!(code.unread.unwrap().ends_with("the limit is 10485760"));
    let deep = format!("f({}1{});\n", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(found("deep.js", &deep).lines, [1]);
    let long = format!("f({}1);\n", "1 + ".repeat(100_000));
    assert_eq!(found("long.js", &long).lines, [1]);
}

#[tokio::test]
async fn changed_file_is_analyzed_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "edited.js", "f();\n");
    let question = AnalysisRequest { file: Some(&path), ..AnalysisRequest::default() };
    assert_eq!(analyze(question).await.unwrap().lines, [1]);
    write(folder.path(), "edited.js", "\nf();\n");
    assert_eq!(analyze(question).await.unwrap().lines, [2]);
}

#[tokio::test]
async fn node_overrides_our_parser_for_plain_javascript() {
    let folder = tempfile::tempdir().unwrap();
    let broken = write(folder.path(), "broken.js", "const a = 1;\nif (a {\n}\n");
    let error = check(&Machine, &node(), &broken).await.unwrap_err().to_string();
    let problem = "cannot be compiled: SyntaxError: Unexpected token '{' at line 2, `if (a {`";
    assert!(error.ends_with(problem), "{error}");
    let fine = write(folder.path(), "fine.js", "return 1;\n");
    check(&Machine, &node(), &fine).await.unwrap();
}

#[tokio::test]
async fn conditions_and_log_messages_are_validated() {
    let ask = |expressions: &'static [&str], log_message| {
        analyze(AnalysisRequest { file: None, expressions, log_message })
    };
    assert_eq!(ask(&["a > 1"], Some("a={a} {{}}")).await.unwrap(), Code::default());
    let error = ask(&["a b"], None).await.unwrap_err();
    assert!(error.to_string().starts_with("`a b` is not a valid expression: SyntaxError: "), "{error}");
    assert_eq!(error.code(), "bad_expression");
    assert_eq!(ask(&[], Some("{a b}")).await.unwrap_err().code(), "bad_expression");
}
