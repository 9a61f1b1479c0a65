//! What the program does at the places of breakpoints: the rules that the agent applies there.

use serde_json::{Value as Json, json};

use super::{AgentClient, FunctionLookup, MODULE, call_text};
use crate::adapter::python::AGENT;
use crate::debugger::RuleFor;
use crate::error::Result;
use crate::model::source::simple_name;
use crate::recording::{CellFormat, Record};

/// The name of the module that records.
const RECORDER: &str = "stillframe_recorder";

impl AgentClient {
    /// Gives the rules of a line to the program, and the condition that applies them.
    pub(in super::super) async fn define(&self, place: u64, rules: &[RuleFor]) -> Result<String> {
        self.define_groups(place, &[(None, rules)]).await
    }

    /// The same for functions of one name; each has its class, which is empty when any will do.
    pub(in super::super) async fn define_functions(
        &self,
        place: u64,
        rules: &[(&str, Vec<RuleFor>)],
    ) -> Result<String> {
        let groups: Vec<_> = rules.iter().map(|(class, rules)| (Some(*class), rules.as_slice())).collect();
        self.define_groups(place, &groups).await
    }

    /// Asks whether a function of that name is loaded.
    pub(in super::super) async fn find_function(
        &self,
        answer: u64,
        class: Option<&str>,
        name: &str,
    ) -> Result<FunctionLookup> {
        self.find(answer, "report_function", &json!([answer, class, name])).await
    }

    /// Asks whether the file of a location is loaded. If not, the program reports it once it is.
    pub(in super::super) async fn report_file(&self, answer: u64, place: u64) -> Result<FunctionLookup> {
        self.find(answer, "report_file", &json!([answer, place])).await
    }

    /// Returns the functions that have returned since a step began in them, while library code runs.
    pub(in super::super) async fn report_ended_steps(&self, answer: u64) -> Result<FunctionLookup> {
        self.find(answer, "report_ended_steps", &json!([answer])).await
    }

    async fn define_groups(&self, place: u64, groups: &[(Option<&str>, &[RuleFor])]) -> Result<String> {
        if groups.iter().flat_map(|(_, rules)| *rules).any(|rule| rule.rule.record.is_some()) {
            self.recorder.get_or_try_init(|| self.load(RECORDER, AGENT.recorder)).await?;
        }
        let group = |(class, rules): &(Option<&str>, &[RuleFor])| {
            json!([class, rules.iter().map(rule_spec).collect::<Vec<_>>()])
        };
        // Outside of a frame there is no answer to read: it only has to run without an exception.
        let groups: Vec<Json> = groups.iter().map(group).collect();
        let definition = call_text(MODULE, "define", &json!([place, groups]));
        if self.execute(definition.clone()).await.is_err() {
            // A child that came to its debugger in a way of its own has no agent yet.
            self.send_itself().await?;
            self.execute(definition).await?;
        }
        Ok(format!("__import__('sys').modules['{MODULE}'].hit({place})"))
    }
}

/// A rule as the agent reads it.
pub(super) fn rule_spec(RuleFor { id, rule, function }: &RuleFor) -> Json {
    let hit = rule.hit_condition.map(|hit| json!([hit.operator.as_str(), hit.count]));
    let record = rule.record.as_ref().map(record_spec);
    json!([id.0, rule.condition, hit, rule.log_message, record, function.as_deref().map(simple_name)])
}

/// A record as `stillframe_recorder.py` reads it.
fn record_spec(record: &Record) -> Json {
    let (form, limit) = match record.cells {
        CellFormat::Text(limit) => ("text", limit),
        CellFormat::Json(limit) => ("json", limit),
    };
    json!([
        record.recorder.pipe().to_string_lossy(),
        record.expressions,
        record.sample_every,
        record.only_when_changed,
        record.max_rows,
        form,
        limit,
    ])
}
