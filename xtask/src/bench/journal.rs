//! What the journal costs a tool call.

use std::time::Instant;

use engine::policy::Policy;
use engine::sessions::Sessions;
use journal::Journal;
use serde_json::{Map, Value, json};
use tools::{Context, JournaledCall, Reply};

/// How many calls are recorded at once: as many as fit into the queue, so that none is dropped.
const CALLS: u32 = 2000;
/// How often.
const ROUNDS: usize = 20;

/// Measures what a call waits for: its arguments and its answer are cut and handed on.
pub(super) fn measure() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let journal = Journal::open(Policy::default().journal(folder.path().join("journal.log")));
    let context = Context::new(Sessions::journaled(journal.clone()));
    let arguments = json!({ "sessionId": "a8bc", "file": "/home/ann/shop/basket.py", "line": 22 });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let reply = Reply { text: String::new(), structured: Some(answer()), is_error: false };
    let mut costs = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..CALLS {
            JournaledCall::begin(&context, "step_over", &arguments).end(&reply);
        }
        costs.push(began.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
        journal.flush();
    }
    costs.sort_by(f64::total_cmp);
    let median = costs.get(ROUNDS / 2).copied().unwrap_or_default();
    println!("{:<36}{median:>9.1} µs    goal 20 µs", "the journal, for each tool call");
    Ok(())
}

/// A stop with 20 variables.
fn answer() -> Value {
    let variable =
        |number: usize| json!({ "name": format!("v{number}"), "type": "list", "value": "[1, 2, 3]" });
    let locals: Vec<Value> = (0..20).map(variable).collect();
    let source = "total = basket.total()\n".repeat(7);
    let mut answer = Map::new();
    answer.insert("state".to_owned(), "paused".into());
    answer.insert("source".to_owned(), source.into());
    answer.insert("locals".to_owned(), locals.into());
    Value::Object(answer)
}
