//! The text and the type of values of every kind.

use serde_json::json;

use crate::script::{Script, owned};

/// Expressions, with what they are shown as and their types.
const KINDS: &[(&str, &str, &str)] = &[
    ("new Map([['a', 1]])", "Map(1) { 'a' => 1 }", "Map"),
    ("new Map()", "Map(0) {}", "Map"),
    ("new Set([1, 'x'])", "Set(2) { 1, 'x' }", "Set"),
    ("new WeakMap()", "WeakMap { <items unknown> }", "WeakMap"),
    ("new Date(0)", "1970-01-01T00:00:00.000Z", "Date"),
    ("new Date(NaN)", "Invalid Date", "Date"),
    ("/a+/gi", "/a+/gi", "RegExp"),
    ("new Uint8Array([1, 2, 3])", "Uint8Array(3) [ 1, 2, 3 ]", "Uint8Array"),
    ("new Float64Array(2)", "Float64Array(2) [ 0, 0 ]", "Float64Array"),
    ("new BigInt64Array([5n])", "BigInt64Array(1) [ 5n ]", "BigInt64Array"),
    ("Buffer.from('ab')", "<Buffer 61 62>", "Buffer"),
    ("new Point(1, 2)", "Point { x: 1, y: 2 }", "Point"),
    ("new Named(1, 2, 'p')", "Named { x: 1, y: 2, name: 'p' }", "Named"),
    ("Object.create(null)", "[Object: null prototype] {}", "Object"),
    ("Symbol('s')", "Symbol(s)", "symbol"),
    ("Symbol.iterator", "Symbol(Symbol.iterator)", "symbol"),
    ("10n ** 20n", "100000000000000000000n", "bigint"),
    ("-0", "-0", "number"),
    ("1e21", "1e+21", "number"),
    ("true", "true", "boolean"),
    ("undefined", "undefined", "undefined"),
    ("null", "null", "null"),
    ("double", "[Function: double]", "function"),
    ("(() => 1)", "[Function (anonymous)]", "function"),
    ("later", "[AsyncFunction: later]", "function"),
    ("counts", "[GeneratorFunction: counts]", "function"),
    ("Point", "[class Point]", "class"),
    ("Named", "[class Named extends Point]", "class"),
    ("Math.max", "[Function: max]", "function"),
    ("new Number(3)", "[Number: 3]", "Number"),
    ("new String('x')", "[String: 'x']", "String"),
    ("[, 2]", "[ <1 empty item>, 2 ]", "Array"),
    ("[]", "[]", "Array"),
    ("({})", "{}", "Object"),
    ("({ 'a b': 1, c: 2 })", "{ 'a b': 1, c: 2 }", "Object"),
    ("({ [Symbol('k')]: 1 })", "{ [Symbol(k)]: 1 }", "Object"),
    ("[[1, [2]], { a: { b: 3 } }]", "[ [ 1, [ 2 ] ], { a: { b: 3 } } ]", "Array"),
    ("'it\\'s'", "\"it's\"", "string"),
    ("'line\\nbreak'", "'line\\nbreak'", "string"),
    ("'\\u001b[31m'", "'\\x1B[31m'", "string"),
];

/// What the expressions use, in a function that has it all in its scope.
const PROGRAM: &str = r"
class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
}

class Named extends Point {
  constructor(x, y, name) {
    super(x, y);
    this.name = name;
  }
}

function main() {
  function double(number) {
    return number * 2;
  }
  async function later() {}
  function* counts() {}
  return [Point, Named, double, later, counts]; // @here
}

main();
";

#[tokio::test]
async fn every_kind_of_value_is_shown_as_node_shows_it() {
    let (session, _) = Script::new(PROGRAM).stopped_at("here").await;
    for (expression, result, kind) in KINDS {
        let value = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!((&value["result"], &value["type"]), (&json!(result), &json!(kind)), "{expression}");
    }
    session.finish().await;
}

#[tokio::test]
async fn indexed_items_precede_named_properties() {
    let (session, _) = Script::new(PROGRAM).stopped_at("here").await;
    let table: [(&str, &[(&str, &str)]); 4] = [
        ("new Set(['x', 2])", &[("0", "'x'"), ("1", "2")]),
        ("new Uint8Array([7, 8])", &[("0", "7"), ("1", "8")]),
        ("Object.assign([1], { extra: true })", &[("0", "1"), ("extra", "true")]),
        ("({ b: 1, a: 2, 1: 'one' })", &[("1", "'one'"), ("b", "1"), ("a", "2")]),
    ];
    for (expression, expected) in table {
        let children = session.children(expression).await;
        let expected = owned(expected);
        assert_eq!(children.get(..expected.len()), Some(&expected[..]), "{expression}: {children:?}");
    }
    session.finish().await;
}
