//! Recording in the program and stopping at each hit give the same rows.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Fixture, Server, dynamic, rows_to_try};

use super::{at, trace_in};
use crate::STILLFRAME;
use crate::debugging::stopping_server;

dynamic![
    // A C program always stops at each hit.
    all_methods_record_the_same_rows,
];

async fn all_methods_record_the_same_rows(language: DynamicLanguage) {
    let program = Fixture::of(language, "traced");
    let (writing, stopping) = (STILLFRAME.serve().await, stopping_server().await);
    let expressions = [
        "value",
        "numbers",
        "text",
        "nothing",
        "long",
        "nested",
        "thing",
        "unknown",
        "fails(value)",
        "value + 1",
    ];
    let mut odd = at(&program, "inner", &["value", "text"]);
    odd["condition"] = json!("value % 2 == 1");
    let points = json!([at(&program, "outer", &expressions), odd, at(&program, "recursive", &["depth"])]);
    let table = [
        json!({}),
        json!({ "sampleEvery": 3 }),
        json!({ "onlyWhenChanged": true }),
        json!({ "sampleEvery": 2, "onlyWhenChanged": true, "maxHits": 5, "whenFull": "run" }),
        json!({ "limits": { "value": 20 } }),
        json!({ "limits": { "value": 10_000 } }),
    ];
    for mut asked in rows_to_try(table, 3) {
        asked["points"] = points.clone();
        let written = comparable(&writing, &program, asked.clone()).await;
        let stopped = comparable(&stopping, &program, asked).await;
        assert!(written.len() > 4, "{written:?}");
        for (written, stopped) in written.iter().zip(&stopped) {
            assert_eq!(written, stopped);
        }
        assert_eq!(written.len(), stopped.len());
    }
    writing.finish().await;
    stopping.finish().await;
}

/// What was recorded, without times and numbers of processes: the message, the totals, the places, the rows.
async fn comparable(server: &Server, program: &Fixture, asked: Value) -> Vec<Value> {
    let mut traced = trace_in(server, program, asked).await;
    let mut all = ["output", "message", "totals", "points"].map(|field| traced[field].clone()).to_vec();
    for row in traced.data["rows"].as_array_mut().unwrap() {
        let row = row.as_object_mut().unwrap();
        row.remove("time");
        row.remove("pid");
        all.push(Value::Object(std::mem::take(row)));
    }
    all
}
