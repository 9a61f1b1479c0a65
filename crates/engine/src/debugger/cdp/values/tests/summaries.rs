//! How values read.

use super::PausedProgram;
use super::harness::named;

/// An expression, and its text.
const TABLE: &[(&str, &str)] = &[
    ("undefined", "undefined"),
    ("null", "null"),
    ("-0", "-0"),
    ("[-0, 1e21, 1e-7, NaN, -Infinity]", "[ -0, 1e+21, 1e-7, NaN, -Infinity ]"),
    ("1e21", "1e+21"),
    ("0.1 + 0.2", "0.30000000000000004"),
    ("10n", "10n"),
    ("2n ** 70n", "1180591620717411303424n"),
    ("2n ** 100000n", "<bigint above 4096 bits>"),
    ("true", "true"),
    ("Symbol('x')", "Symbol(x)"),
    ("'it\\'s'", "\"it's\""),
    ("'a\\nb\\u001b'", "'a\\nb\\x1B'"),
    ("'\\0' + '1'", "'\\x001'"),
    ("['\\0' + '1', '\\u0001\\u0010']", "[ '\\x001', '\\x01\\x10' ]"),
    ("['it\\'s', 'a\\nb\\u001b']", "[ \"it's\", 'a\\nb\\x1B' ]"),
    ("({ a: 1, b: [1, 2] })", "{ a: 1, b: [ 1, 2 ] }"),
    ("{ a: 1 }", "{ a: 1 }"),
    ("({})", "{}"),
    ("[]", "[]"),
    ("({ 'a-b': 1, [Symbol('s')]: 2 })", "{ 'a-b': 1, [Symbol(s)]: 2 }"),
    ("Object.create(null)", "[Object: null prototype] {}"),
    ("[1, 2, , , , 3]", "[ 1, 2, <3 empty items>, 3 ]"),
    ("new Array(1e6)", "[ <1000000 empty items> ]"),
    ("Object.assign([1], { extra: 2 })", "[ 1, extra: 2 ]"),
    ("new Map([['a', 1], [{ b: 2 }, 3]])", "Map(2) { 'a' => 1, { b: 2 } => 3 }"),
    ("new Set([1, 'x'])", "Set(2) { 1, 'x' }"),
    ("new Point(1)", "Point { x: 1 }"),
    ("class extends Point {}", "[class (anonymous) extends Point]"),
    ("Point3", "[class Point3 extends Point]"),
    ("function f() {}", "[Function: f]"),
    ("() => 1", "[Function (anonymous)]"),
    ("async function g() {}", "[AsyncFunction: g]"),
    ("function* h() {}", "[GeneratorFunction: h]"),
    ("async function* h() {}", "[AsyncGeneratorFunction: h]"),
    ("Object.assign(() => 1, { k: 1 })", "[Function (anonymous)] { k: 1 }"),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("new Date(NaN)", "Invalid Date"),
    ("/a\\/b/gi", "/a\\/b/gi"),
    ("new Uint8Array([1, 2, 3])", "Uint8Array(3) [ 1, 2, 3 ]"),
    ("Buffer.from('hi')", "<Buffer 68 69>"),
    ("new ArrayBuffer(2)", "ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 }"),
    ("new Promise(() => {})", "Promise { <pending> }"),
    ("Promise.resolve(42)", "Promise { 42 }"),
    ("Promise.resolve({ a: 1 })", "Promise { { a: 1 } }"),
    ("rejected", "Promise { <rejected> Error: no }"),
    ("[new Proxy({ t: 1 }, hostile)]", "[ Proxy { { t: 1 } } ]"),
    ("revoked", "<Revoked Proxy>"),
    ("new TypeError('bad')", "TypeError: bad"),
    ("new Error('a', { cause: new Error('b') })", "Error: a { [cause]: Error: b }"),
    ("Object.assign(new Error('q'), { code: 'E' })", "Error: q { code: 'E' }"),
    ("new class Custom extends Error {}('m')", "Custom: m"),
    ("new AggregateError([1], 'all')", "AggregateError: all { [errors]: [ 1 ] }"),
    ("new Number(3)", "[Number: 3]"),
    ("new String('abc')", "[String: 'abc']"),
    ("Object(1n)", "[BigInt: 1n]"),
    ("(function* () {})()", "Object [Generator] {}"),
    ("new WeakMap()", "WeakMap { <items unknown> }"),
    ("(function () { return arguments })(1, 2)", "[Arguments] [ 1, 2 ]"),
    ("circle", "<ref *1> { name: 'c', self: [Circular *1], list: [ [Circular *1] ] }"),
    ("accessors", "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"),
    ("new Tagged()", "Tagged {}"),
    ("new Lying()", "Lying { own: 1 }"),
    ("new Thenable()", "Thenable [Promise] { <unknown> }"),
    ("new Odd()", "Odd { own: 1 }"),
    ("new (class Stack extends Array {})(1, 2, 3)", "Stack(3) [ 1, 2, 3 ]"),
    ("new (class Cache extends Map {})([[1, 2]])", "Cache(1) [Map] { 1 => 2 }"),
];

/// Everything in it counts when it is run.
const PROGRAM: &str = r"
let runs = 0;
const ran = () => { runs++; throw new Error('must not run'); };
class Point { constructor(x) { this.x = x; } get computed() { return ran(); } }
class Point3 extends Point {}
const hostile = new Proxy({}, { get: ran });
const rejected = Promise.reject(new Error('no'));
rejected.catch(() => {});
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();
const circle = { name: 'c' };
circle.self = circle;
circle.list = [circle];
const accessors = { get a() { return ran(); }, set b(v) { ran(); }, get c() { return ran(); }, set c(v) { ran(); } };
class Tagged { get [Symbol.toStringTag]() { return ran(); } }
class Lying {
  constructor() { this.own = 1; }
  toString() { return ran(); }
  toJSON() { return ran(); }
  [Symbol.toPrimitive]() { return ran(); }
  [Symbol.for('nodejs.util.inspect.custom')]() { return ran(); }
  static [Symbol.hasInstance]() { return ran(); }
}
class Thenable extends Promise {
  constructor(run = () => {}) { super(run); }
  static [Symbol.hasInstance]() { return ran(); }
}
function Odd() { this.own = 1; }
Object.setPrototypeOf(Odd.prototype, new Proxy({}, { get: ran, getPrototypeOf: ran, getOwnPropertyDescriptor: ran }));
const patch = (object, names) => names.split(' ').map(name => { object[name] = ran; });
patch(Map.prototype, 'get set entries');
patch(Array.prototype, 'push join slice');
Map.prototype[Symbol.iterator] = Array.prototype[Symbol.iterator] = String.prototype.slice = ran;
Object.prototype.toJSON = JSON.stringify = ran;
Object.keys = Reflect.ownKeys = Reflect.getOwnPropertyDescriptor = ran;
debugger;
";

#[tokio::test]
async fn values_read_like_util_inspect_without_running_code() {
    // What the program replaces before is what it has: our code must have come first.
    let (before, after) = PROGRAM.split_once("const patch").unwrap();
    let scene = &mut PausedProgram::of(&format!("{before}debugger;\nconst patch{after}")).await;
    for (expression, text) in TABLE {
        assert_eq!(scene.text(expression).await, *text, "{expression}");
    }
    assert_eq!(scene.text("runs").await, "0");
    scene.resume().await;
    let is_simple =
        |expression: &str| !["new ", "Promise", "re"].iter().any(|word| expression.contains(word));
    for (expression, text) in TABLE.iter().filter(|(expression, _)| is_simple(expression)) {
        assert_eq!(scene.text(expression).await, *text, "after the program has changed: {expression}");
    }
    let locals = scene.locals().await;
    assert_eq!(named(&locals, "rejected").value.text, "Promise { <unknown> }");
    assert_eq!(named(&locals, "hostile").value.text, "Proxy { <unknown> }");
    assert_eq!(scene.text("runs").await, "0");
}

#[tokio::test]
async fn values_are_read_despite_replaced_builtins() {
    let patched = "Object.keys = Reflect.ownKeys = Reflect.getOwnPropertyDescriptor = ran;";
    assert!(PROGRAM.contains(patched));
    let scene = PausedProgram::of(&PROGRAM.replace(patched, "")).await;
    assert_eq!(
        scene.text("[[1, 2], { a: 'it' }, accessors]").await,
        format!("[ [ 1, 2 ], {{ a: 'it' }}, {ACCESSORS} ]")
    );
    assert_eq!(scene.text("runs").await, "0");
}

const ACCESSORS: &str = "{ a: [Getter], b: [Setter], c: [Getter/Setter] }";

#[tokio::test]
async fn long_texts_are_truncated_at_constant_cost() {
    let program = "const deep = []; let at = deep; for (let i = 0; i < 1e5; i++) { const next = []; at.push(next); at = next; }\n\
                   const long = 'x'.repeat(1e7), wide = new Array(1e6).fill('y'), keys = {};\n\
                   for (let i = 0; i < 1e5; i++) keys['k' + i] = i;\n\
                   const map = new Map(wide.map((v, i) => [i, v])), nested = { long, wide };\n\
                   const emoji = '😀'.repeat(100), huge = new Error('m'.repeat(1e6));\ndebugger;\n";
    let scene = PausedProgram::of(program).await;
    let locals = scene.locals_with(super::page(false), 40).await;
    for variable in &locals.variables {
        let text = &variable.value.text;
        assert!(text.chars().count() < 400, "{}: {text}", variable.name);
        assert!(variable.value.cut || matches!(variable.name.as_str(), "at" | "next"), "{variable:?}");
    }
    let find =
        |name: &str| locals.variables.iter().find(|variable| variable.name == name).unwrap().value.clone();
    let long = find("long");
    assert_eq!((long.text, long.length), (format!("'{}'...", "x".repeat(40)), Some(10_000_000)));
    assert_eq!((find("wide").children, find("map").children), (Some(1_000_000), Some(1_000_000)));
    assert_eq!(find("keys").children, Some(100_000));
    assert_eq!(find("emoji").text, format!("'{}'...", "😀".repeat(20)));
    assert_eq!(find("wide").text, "[ 'y', 'y', 'y', 'y', 'y', 'y', 'y', 'y', ... ]");
    let value = scene.evaluate_with("long", 10, false).await.unwrap();
    assert_eq!((value.text.as_str(), value.cut, value.length), ("'xxxxxxxxxx'...", true, Some(10_000_000)));
    let value = scene.evaluate_with("emoji", 3, false).await.unwrap();
    assert_eq!(value.text, "'😀'...");
}
