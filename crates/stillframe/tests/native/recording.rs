//! LLDB records values while the program runs: the rows are those of a program that stops at each hit.

use serde_json::{Value, json};
use test_support::{Fixture, Server, rows_to_try};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, stopping_server, written};

const CPP: &str = r#"
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Point { int x; double y; };
enum class Kind { Odd, Even };
static int calls = 0;
int next(int by) { calls += by; return calls; }
int work(const Point &point, int index) {
    std::string name = "n\xc3\xa9" + std::to_string(index / 2) + std::string(300, '"');
    std::vector<std::vector<int>> rows(index, std::vector<int>{index, 2});
    std::map<std::string, Point> points{{"a", point}};
    auto shared = std::make_shared<Point>(point);
    Kind kind = index % 2 ? Kind::Odd : Kind::Even;
    const char *text = index == 3 ? nullptr : "back`tick\\";
    const Point *pointer = &point;
    bool is_odd = index % 2;
    char letter = 'a' + index;
    return rows.size() + points.size() + (text ? 1 : 0) + pointer->x + is_odd + letter + (int)kind + shared->x; // @here
}
int main() {
    int total = 0;
    for (int index = 0; index < 9; index++) {
        Point point{index / 3, 0.5};
        total += work(point, index);
    }
    return total == 0;
}
"#;

const RUST: &str = r#"
#[derive(Debug, Clone)]
struct Item { name: String, price: u32 }
#[allow(unused_variables)]
fn work(item: &Item, index: u32) -> usize {
    let name = format!("né{}", index / 2);
    let items = vec![item.clone(); index as usize];
    let some = (index > 2).then(|| item.clone());
    let boxed = Box::new(index / 4);
    let slice = &items[..];
    let real = index as f64;
    let letter = 'é';
    let pair = (index, "two");
    items.len() + name.len() // @here
}
fn main() {
    let mut total = 0;
    for index in 0..9 {
        let item = Item { name: "pen \"x\"".into(), price: index / 3 };
        total += work(&item, index);
    }
    println!("{total}");
}
"#;

/// The way, and what was recorded, without times, processes and addresses.
pub(crate) async fn traced(server: &Server, program: &Fixture, mut asked: Value) -> (Value, Vec<Value>) {
    asked["program"] = json!(program.path());
    asked["timeout"] = json!(120_000);
    let mut traced = server.ok("trace_values", asked).await;
    let mut all = ["message", "totals", "points"].map(|field| traced[field].clone()).to_vec();
    for row in traced.data["rows"].as_array_mut().expect("rows") {
        let row = row.as_object_mut().expect("a row");
        row.remove("time");
        row.remove("pid");
        for cell in row["values"].as_array_mut().expect("values") {
            if let Some(address) = cell["value"].as_str().filter(|text| text.starts_with("0x")) {
                cell["value"] = json!(address.split_once(' ').map_or("0x", |(_, rest)| rest));
            }
        }
        all.push(Value::Object(std::mem::take(row)));
    }
    (traced["recordedBy"].clone(), all)
}

async fn both_ways_record_the_same(program: &Fixture, expressions: &[&str], steady: &[&str]) {
    let (recording, stopping) = (STILLFRAME.serve().await, stopping_server().await);
    let point = |expressions: &[&str]| json!({ "line": program.line("here"), "expressions": expressions });
    let mut chosen = point(&expressions[..2]);
    chosen["condition"] = json!("index > 2");
    let mut failing = point(&["index"]);
    failing["condition"] = json!("unknown > 1");
    let table = [
        json!({ "points": [point(expressions)] }),
        json!({ "points": [point(expressions)], "onlyWhenChanged": true, "limits": { "value": 20 } }),
        json!({ "points": [point(steady)], "onlyWhenChanged": true }),
        json!({ "points": [chosen], "sampleEvery": 2 }),
        json!({ "points": [point(&["index"])], "maxHits": 3, "whenFull": "run" }),
        json!({ "points": [failing] }),
    ];
    for asked in rows_to_try(table, 3) {
        let (way, recorded) = traced(&recording, program, asked.clone()).await;
        assert_eq!(way, "debugger", "{asked}");
        let (way, stopped) = traced(&stopping, program, asked).await;
        assert_eq!(way, "stops");
        for (recorded, stopped) in recorded.iter().zip(&stopped) {
            assert_eq!(recorded, stopped);
        }
        assert_eq!(recorded.len(), stopped.len());
    }
    recording.finish().await;
    stopping.finish().await;
}

#[tokio::test]
async fn cpp_is_recorded_as_by_stops() {
    let (_folder, program) = written("recorded.cpp", CPP);
    let expressions = [
        "index",
        "name",
        "rows",
        "points",
        "kind",
        "text",
        "point",
        "*pointer",
        "pointer->x",
        "is_odd",
        "letter",
        "index + 1",
        "rows.size()",
        "points[\"a\"].x",
        "unknown",
        "*(int *)8",
    ];
    both_ways_record_the_same(&program, &expressions, &["point", "*pointer", "unknown"]).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn rust_is_recorded_as_by_stops() {
    let (_folder, program) = written("recorded.rs", RUST);
    let expressions = [
        "index",
        "name",
        "items",
        "some",
        "boxed",
        "slice",
        "real",
        "letter",
        "pair",
        "item",
        "item.price",
        "index + 1",
        "unknown",
    ];
    both_ways_record_the_same(&program, &expressions, &["item", "boxed", "unknown"]).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn expressions_that_lldb_does_not_evaluate_in_a_callback_are_recorded_by_stops() {
    let (_folder, program) = written("recorded.cpp", CPP);
    let server = STILLFRAME.serve().await;
    let point = json!({ "line": program.line("here"), "expressions": ["index", "next(2)", "0.5 * index", "rows.size()"] });
    let (way, recorded) = traced(&server, &program, json!({ "points": [point] })).await;
    assert_eq!((way, recorded.len()), (json!("stops"), 3 + 9), "{recorded:?}");
    for (index, row) in recorded[3..].iter().enumerate() {
        let values: Vec<&Value> =
            row["values"].as_array().expect("values").iter().map(|cell| &cell["value"]).collect();
        let half = if index % 2 == 0 { format!("{}", index / 2) } else { format!("{}.5", index / 2) };
        let number = json!(format!("{index}"));
        assert_eq!(values, [&number, &json!(format!("{}", 2 * index + 2)), &json!(half), &number]);
        assert_eq!(row["hit"], index + 1);
    }
    server.finish().await;
}

const SHAPES: &str = r"
#include <memory>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual int area() const = 0; };
struct Circle : Shape { double radius = 0.5; int area() const override { return 1; } };
struct Square : Shape { int side = 3; int area() const override { return side * side; } };
static int area(const std::shared_ptr<Shape> &given) {
    std::shared_ptr<Shape> shape = given;
    const Shape &known = *shape;
    return known.area(); // @here
}
int main() {
    std::vector<std::shared_ptr<Shape>> shapes{std::make_shared<Circle>(), std::make_shared<Square>()};
    int total = 0;
    for (auto &shape : shapes)
        total += area(shape);
    return total == 0;
}
";

/// LLDB keeps the variables of a frame that is called again at the same address.
#[tokio::test]
async fn an_object_has_the_fields_of_its_own_class_at_each_hit() {
    let (_folder, program) = written("shapes.cpp", SHAPES);
    let server = STILLFRAME.serve().await;
    let side = "dynamic_cast<Square*>(shape.get())->side";
    let point =
        json!({ "line": program.line("here"), "expressions": ["shape", "known", "shape->area()", side] });
    let (_, recorded) = traced(&server, &program, json!({ "points": [point] })).await;
    let expected = [["{radius = 0.5}", "{radius = 0.5}", "1", ""], ["{side = 3}", "{side = 3}", "9", "3"]];
    for (row, expected) in recorded[3..].iter().zip(expected) {
        let cells = row["values"].as_array().expect("values");
        let texts: Vec<&str> = cells.iter().map(|cell| cell["value"].as_str().unwrap_or_default()).collect();
        assert_eq!(texts, expected, "{row}");
    }
    let until = json!([{ "line": program.line("here"), "condition": "known.area() == 9" }]);
    let arguments =
        json!({ "program": program.path(), "until": until, "expressions": [side], "timeout": 60_000 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(
        (ran.variable("shape"), ran.at("/values/0/value")),
        ("{side = 3}", &json!("3")),
        "{}",
        ran.text
    );
    server.finish().await;
}

/// Comes to its place all the time.
pub(crate) const BUSY: &str = r"
#include <unistd.h>
int main(int argc, char **argv) {
    for (volatile int i = 0; argc; i++)
        usleep(200); // @here
}
";

#[tokio::test]
async fn a_program_is_paused_again_and_again_after_values_were_recorded() {
    let (_folder, program) = written("busy.c", BUSY);
    let session = Debugging::of(program.language()).await;
    is_recorded_and_paused(&session, &program, "argc + 1", 5).await;
    session.finish().await;
}

/// Starts a busy program, and lets it be recorded by its debugger, paused and continued so many times.
pub(crate) async fn is_recorded_and_paused(
    session: &Debugging,
    program: &Fixture,
    expression: &str,
    times: usize,
) {
    let started = session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 0 })).await;
    assert_eq!(started.outcome(), "running");
    let point =
        json!({ "file": program.path(), "line": program.line("here"), "expressions": ["i", expression] });
    for _ in 0..times {
        let trace = json!({ "points": [point], "maxHits": 5, "timeout": 60_000 });
        let traced = session.ok("trace_values", trace).await;
        assert_eq!(
            (&traced["recordedBy"], &traced["endedBy"], &traced["state"]),
            (&json!("debugger"), &json!("maxHits"), &json!("running")),
            "{}",
            traced.text
        );
        let paused = session.ok("pause_execution", json!({ "timeout": 30_000 })).await;
        assert_eq!(paused.outcome(), "pause", "{}", paused.text);
        session.ok("continue_execution", json!({ "timeout": 0 })).await;
    }
}
