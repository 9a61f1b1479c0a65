//! The program writes its rows itself, or is stopped at each pass: the rows are the same.

use serde_json::{Value, json};
use test_support::{Fixture, Language, Server, both};

use super::{at, stopping_server, trace_in};
use crate::STILLFRAME;

both![all_ways_give_the_same_rows];

async fn all_ways_give_the_same_rows(language: Language) {
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
    for mut asked in table {
        asked["points"] = points.clone();
        let rows = comparable(&writing, &program, asked.clone()).await;
        assert!(rows["rows"].as_array().unwrap().len() > 4, "{rows}");
        assert_eq!(rows, comparable(&stopping, &program, asked).await);
    }
    writing.finish().await;
    stopping.finish().await;
}

/// What was recorded, without times and numbers of processes.
async fn comparable(server: &Server, program: &Fixture, asked: Value) -> Value {
    let traced = trace_in(server, program, asked).await;
    let mut rows = traced["rows"].clone();
    for row in rows.as_array_mut().unwrap() {
        let row = row.as_object_mut().unwrap();
        row.remove("time");
        row.remove("pid");
    }
    json!({ "rows": rows, "points": traced["points"], "totals": traced["totals"], "message": traced["message"] })
}
