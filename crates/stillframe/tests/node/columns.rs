//! Breakpoints on one of several statements of a line.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

const LINE: &str = "let a = 0; a = add(a, 1); a = add(a, 10); if (a > 5) a = add(a, 100); // @line\n";

fn script() -> Script {
    Script::new(&format!("const add = (x, y) => x + y;\n{LINE}console.log(a); // @after\n"))
}

/// The column of a text on a line, 1-based.
fn column(line: &str, text: &str) -> usize {
    line.find(text).expect("the text is on the line") + 1
}

async fn set(session: &Debugging, script: &Script, column: usize) -> Answer {
    session.break_with(script, "line", json!({ "column": column })).await
}

/// V8 stops at the first code of the line.
#[tokio::test]
async fn a_line_with_an_arrow_function_says_how_to_stop_in_its_calls() {
    let script = Script::new(
        "const double = (x) => { const twice = x * 2; return twice; }; // @arrow\n\
         function half(x) { const part = x / 2; return part; } // @declared\nconsole.log(double(4), half(6));\n",
    );
    let session = Debugging::of(Language::Node).await;
    let set = session.break_at(&script, "arrow").await;
    let body = column("const double = (x) => { const twice = x * 2;", "x * 2");
    let note = format!("not at calls; the body begins at column {body}");
    assert!(set.text_of("message").contains(&note), "{}", set.text);
    let set = session.break_with(&script, "arrow", json!({ "column": body })).await;
    assert!(!set.text_of("message").contains("definition"), "{}", set.text);
    let set = session.break_at(&script, "declared").await;
    assert!(!set.text_of("message").contains("definition"), "{}", set.text);
    let stopped = session.start(&script).await;
    assert_eq!(stopped["breakpointIds"], json!(["bp-1"]), "{}", stopped.text);
    for (breakpoint, x) in [("bp-2", "4"), ("bp-3", "6")] {
        let stopped = session.go_on().await;
        assert_eq!((&stopped["breakpointIds"], stopped.variable("x")), (&json!([breakpoint]), x));
    }
    session.finish().await;
}

#[tokio::test]
async fn each_statement_of_a_line_can_have_a_breakpoint() {
    let script = script();
    let session = Debugging::of(Language::Node).await;
    let second = column(LINE, "a = add(a, 10)");
    let third = column(LINE, "a = add(a, 100)");
    let location = set(&session, &script, second).await;
    let shown = format!("Breakpoint set at {}:{}:{second}", script.path(), script.line("line"));
    assert_eq!((&location["column"], location.text_of("message")), (&json!(second), shown.as_str()));
    set(&session, &script, third).await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.place(), stopped.variable("a")), ((script.path(), script.line("line")), "1"));
    assert_eq!(stopped["breakpointIds"], json!(["bp-1"]));
    let listed = session.breakpoints().await;
    assert_eq!((&listed[0]["verified"], &listed[0]["column"]), (&json!(true), &json!(second)));
    let stopped = session.go_on().await;
    assert_eq!((&stopped["breakpointIds"], stopped.variable("a")), (&json!(["bp-2"]), "11"));
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_column_without_code_moves_to_the_nearest_one_with_code() {
    let script = script();
    let session = Debugging::of(Language::Node).await;
    let condition = column(LINE, "if");
    let end = LINE.find(" //").unwrap();
    let location = set(&session, &script, condition + 1).await;
    assert_eq!(
        (&location["column"], &location["requestedColumn"]),
        (&json!(condition), &json!(condition + 1))
    );
    let columns = location["columns"].as_array().expect("the columns").clone();
    assert!(columns.contains(&json!(condition)) && columns.len() > 5, "{}", location.text);
    let answer = format!(
        "moved from column {} to {condition}; statements on line 2 start at columns 9, 12, ",
        condition + 1
    );
    assert!(location.text_of("message").contains(&answer), "{}", location.text);

    // Past the last place V8 would go to the next line.
    let last = set(&session, &script, end).await;
    assert_eq!(last["column"], json!(column(LINE, "add(a, 100)")), "{}", last.text);
    let stopped = session.start(&script).await;
    assert_eq!((&stopped["breakpointIds"], stopped.variable("a")), (&json!(["bp-1"]), "11"));
    let stopped = session.go_on().await;
    assert_eq!((&stopped["breakpointIds"], stopped.place().1), (&json!(["bp-2"]), script.line("line")));
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_column_and_its_line_are_two_locations() {
    let script = script();
    let session = Debugging::of(Language::Node).await;
    session.break_at(&script, "line").await;
    set(&session, &script, column(LINE, "a = add(a, 10)")).await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped["breakpointIds"], json!(["bp-1"]), "{}", stopped.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped["breakpointIds"], json!(["bp-2"]), "{}", stopped.text);
    session.finish_at_end().await;
}

/// For sources that our parser cannot read, V8 is asked once they are loaded.
#[tokio::test]
async fn v8_reports_the_columns_of_a_loaded_script() {
    let script = script();
    let (session, _) = script.stopped_at("line").await;
    let arguments = column(LINE, "add(a, 10)") + 1;
    let location = set(&session, &script, arguments).await;
    assert_eq!(
        (&location["verified"], &location["column"]),
        (&json!(true), &json!(arguments - 1)),
        "{}",
        location.text
    );
    let stopped = session.go_on().await;
    assert_eq!((&stopped["breakpointIds"], stopped.variable("a")), (&json!(["bp-2"]), "1"));
    session.finish_at_end().await;
}

#[tokio::test]
async fn modules_have_columns() {
    let script = Script::module("let a = 1; a += 1; a += 2; // @line\nconsole.log(a);\nexport {};\n");
    let session = Debugging::of(Language::Node).await;
    session.break_with(&script, "line", json!({ "column": 20 })).await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.place().1, stopped.variable("a")), (1, "2"), "{}", stopped.text);
    session.finish_at_end().await;
}

const SOURCE: &str = "\
interface Order { id: number; price: number }
function charge(order: Order): number { const tax: number = order.price * 0.5; return order.price + tax; }
const orders: Order[] = [{ id: 1, price: 10 }, { id: 2, price: 20 }];
let total: number = 0;
for (const order of orders) { total += charge(order); console.log(order.id); }
console.log(total);
";

const GENERATED: &str = "\
function charge(order) { const tax = order.price * 0.5; return order.price + tax; }
const orders = [{ id: 1, price: 10 }, { id: 2, price: 20 }];
let total = 0;
for (const order of orders) {
    total += charge(order);
    console.log(order.id);
}
console.log(total);
//# sourceMappingURL=orders.js.map
";

const MAPPINGS: &str = "AACA,SAAS,MAAM,CAAC,KAAY,IAAY,MAAM,GAAG,GAAW,KAAK,CAAC,KAAK,GAAG,GAAG,CAAC,CAAC,OAAO,KAAK,CAAC,KAAK,GAAG,GAAG,CAAC,CAAC,CAAC;AAC1G,MAAM,MAAM,GAAY,CAAC,EAAE,EAAE,EAAE,CAAC,EAAE,KAAK,EAAE,EAAE,EAAE,EAAE,EAAE,EAAE,EAAE,CAAC,EAAE,KAAK,EAAE,EAAE,EAAE,CAAC,CAAC;AACrE,IAAI,KAAK,GAAW,CAAC,CAAC;AACtB,KAAK,MAAM,KAAK,IAAI,MAAM,EAAE,CAAC;IAAC,KAAK,IAAI,MAAM,CAAC,KAAK,CAAC,CAAC;IAAC,OAAO,CAAC,GAAG,CAAC,KAAK,CAAC,EAAE,CAAC,CAAC;AAAC,CAAC;AAC9E,OAAO,CAAC,GAAG,CAAC,KAAK,CAAC,CAAC";

/// A program in TypeScript as its compiler leaves it in `dist`.
fn compiled() -> (Script, Fixture) {
    let script = Script::new("require('./dist/orders.js');\n");
    let source = script.file("orders.ts", SOURCE);
    script.file("package.json", "{}");
    script.file("dist/orders.js", GENERATED);
    let map = json!({ "version": 3, "sources": ["../orders.ts"], "names": [], "mappings": MAPPINGS });
    script.file("dist/orders.js.map", &map.to_string());
    (script, source)
}

/// The columns are those of the source, whatever lines the compiler has made of it.
#[tokio::test]
async fn columns_refer_to_the_compiled_source() {
    let (script, source) = compiled();
    let session = Debugging::of(Language::Node).await;
    let body = SOURCE.lines().nth(4).unwrap();
    let second = column(body, "console.log");
    let location = json!({ "file": source.path(), "line": 5, "column": second });
    session.ok("set_breakpoint", location).await;
    let tax = column(SOURCE.lines().nth(1).unwrap(), "return order");
    session.ok("set_breakpoint", json!({ "file": source.path(), "line": 2, "column": tax })).await;

    let stopped = session.start(&script).await;
    assert_eq!(
        (stopped.place(), &stopped["breakpointIds"]),
        ((source.path(), 2), &json!(["bp-2"])),
        "{}",
        stopped.text
    );
    assert_eq!(stopped.variable("tax"), "5", "behind the first statement of the line");
    let stopped = session.go_on().await;
    assert_eq!(
        (stopped.place(), &stopped["breakpointIds"]),
        ((source.path(), 5), &json!(["bp-1"])),
        "{}",
        stopped.text
    );
    assert_eq!(session.evaluate("total").await, "15");

    // Now that the script is loaded, V8's own places are known, in the columns of the source.
    let arguments = json!({ "file": source.path(), "line": 5, "column": second + 2 });
    let moved = session.ok("set_breakpoint", arguments).await;
    assert_eq!(
        (&moved["column"], &moved["verified"]),
        (&json!(second), &Value::Bool(true)),
        "{}",
        moved.text
    );
    session.finish().await;
}

#[tokio::test]
async fn the_text_of_a_callback_means_the_callback() {
    let text = "\
let ticks = 0;
const all = [1, 2, 3].map((x) => { ticks++; return x * 2; }).map((y) => y + 1);
console.log(all, ticks);
";
    let script = Script::new(text);
    let session = Debugging::of(Language::Node).await;
    for (statement, expression, values) in [
        ("ticks++", "ticks", json!(["0", "1", "2"])),
        ("return x * 2", "x", json!(["1", "2", "3"])),
        ("y + 1", "y", json!(["2", "4", "6"])),
        ("const all = [1, 2, 3]", "ticks", json!(["0"])),
    ] {
        let point = json!({ "statement": statement, "expressions": [expression] });
        let traced =
            session.server.ok("trace_values", json!({ "program": script.path(), "points": [point] })).await;
        let rows = traced["rows"].as_array().into_iter().flatten();
        let recorded: Vec<&Value> = rows.map(|row| &row["values"][0]["value"]).collect();
        assert_eq!(json!(recorded), values, "{}", traced.text);
        let notes = traced["points"][0]["notes"].to_string();
        assert!(notes.contains("has a function and other code, at columns"), "{}", traced.text);
    }
    // A column says which code is meant.
    let line = text.lines().nth(1).unwrap();
    let asked = column(line, "ticks++") + 1;
    let wanted = json!({ "file": script.path(), "statement": "ticks++", "column": asked });
    let set = session.ok("set_breakpoint", wanted).await;
    let message = set.text_of("message");
    assert!(message.contains(&format!("moved from column {asked} to ")), "{message}");
    assert!(!message.contains("give `column`"), "{message}");
    session.finish().await;
}
