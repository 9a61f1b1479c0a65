//! The flows that the vocabulary comes from, word for word.

use serde_json::json;
use test_support::{DynamicLanguage as Language, Fixture};

use crate::client::{ToolClient, folder};

/// Line 22 is where the flow stops.
const PYTHON: &str = "\
\"\"\"Greets.\"\"\"


def greet(who):
    return f'hello {who}'


def main():
    # Everything above the line of the flow
    # is only there
    # so that it is
    # on the line
    # that the flow
    # names.
    #
    #
    #
    #
    my_var = greet('world')
    total = len(my_var)

    print(my_var, total)  # @stop


main()
";

/// Line 10 is.
const NODE: &str = "\
'use strict';

function add(items) {
  let total = 0;
  for (let i = 0; i < items.length; i += 1) {
    const item = { price: items[i] };
    // Here is what
    // the flow asks for:
    // total, i and item.
    total += item.price; // @stop
  }
  return total;
}

console.log(add([250, 499]));
";

#[tokio::test]
async fn the_python_workflow() {
    let folder = folder();
    assert_eq!(Fixture::write(folder.path(), "app.py", PYTHON).line("stop"), 22);
    let client = ToolClient::within(folder.path()).await;
    let launched =
        client.succeeds("debug_launch", json!({ "program": "app.py", "language": "python" })).await;
    assert_eq!(launched, "Debugger started for app.py (python). Ready for breakpoints.");
    let set = client.succeeds("debug_breakpoint", json!({ "file": "app.py", "line": 22 })).await;
    assert_eq!(set, "Breakpoint at app.py:22 (verified)");
    let stopped = "\
Stopped (breakpoint) at app.py:22
    19 |     my_var = greet('world')
    20 |     total = len(my_var)
    21 |
>>> 22 |     print(my_var, total)  # @stop
    23 |
    24 |
    25 | main()";
    assert_eq!(client.step("debug_continue").await, stopped);
    let value = client.succeeds("debug_evaluate", json!({ "expression": "my_var" })).await;
    assert_eq!(value, "(str) hello world");
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    client.server.finish().await;
}

#[tokio::test]
async fn the_node_workflow() {
    let folder = folder();
    assert_eq!(Fixture::write(folder.path(), "app.js", NODE).line("stop"), 10);
    let client = ToolClient::within(folder.path()).await;
    let launched = client.succeeds("debug_launch", json!({ "program": "app.js", "language": "node" })).await;
    assert_eq!(launched, "Debugger started for app.js (node). Ready for breakpoints.");
    let set = client.succeeds("debug_breakpoint", json!({ "file": "app.js", "line": 10 })).await;
    assert_eq!(set, "Breakpoint at app.js:10 (verified)");
    let stopped = "\
Stopped (breakpoint) at app.js:10
     7 |     // Here is what
     8 |     // the flow asks for:
     9 |     // total, i and item.
>>> 10 |     total += item.price; // @stop
    11 |   }
    12 |   return total;
    13 | }";
    assert_eq!(client.step("debug_continue").await, stopped);
    // The flow has "Object" for the value, which says nothing.
    let value = client.succeeds("debug_evaluate", json!({ "expression": "item" })).await;
    assert_eq!(value, "(object) { price: 250 }");
    let variables = [
        "  items: Array = [ 250, 499 ]",
        "  total: number = 0",
        "  i: number = 0",
        "  item: object = { price: 250 }",
    ];
    assert_eq!(client.step("debug_variables").await, variables.join("\n"));
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    client.server.finish().await;
}

/// The names by which languages are known elsewhere do too.
#[tokio::test]
async fn the_language_follows_from_the_file_name() {
    let folder = folder();
    for (language, text) in [(Language::Python, PYTHON), (Language::Node, NODE)] {
        Fixture::write(folder.path(), &language.file("app"), text);
        let client = ToolClient::within(folder.path()).await;
        let launched = client.succeeds("debug_launch", json!({ "program": language.file("app") })).await;
        let expected = language.pick(
            "Debugger started for app.py (python). Ready for breakpoints.",
            "Debugger started for app.js (node). Ready for breakpoints.",
        );
        assert_eq!(launched, expected);
        client.server.finish().await;
    }
}
