//! One call and what came of it, and the table of all of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Answer, Server};

use crate::wrong::Expected;

/// Longer than anything takes that finds no program to run.
const SOON: Duration = Duration::from_secs(15);

/// Tools that run or attach to something, or open sessions.
const STARTS: [&str; 14] = [
    "run_until",
    "trace_values",
    "diagnose_hang",
    "debug_test",
    "create_debug_session",
    "close_debug_session",
    "start_debugging",
    "attach_to_process",
    "debugger_start",
    "debugger_detect_hang",
    "debugger_run_test",
    "debug_probe",
    "debug_launch",
    "debug-script",
];

/// A tool, as it is listed.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) properties: Vec<(String, Value)>,
    pub(crate) required: Vec<String>,
    only_looks: bool,
}

impl Tool {
    pub(crate) fn of(listed: &Value) -> Self {
        let schema = &listed["inputSchema"];
        let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let properties = schema["properties"].as_object().into_iter().flatten();
        Self {
            name: listed["name"].as_str().expect("a name").to_owned(),
            properties: properties.map(|(name, schema)| (name.clone(), schema.clone())).collect(),
            required: names.map(str::to_owned).collect(),
            only_looks: listed["annotations"]["readOnlyHint"] == true,
        }
    }

    /// It says of itself that it changes nothing.
    pub(crate) fn looks_only(&self) -> bool {
        self.only_looks
    }

    pub(crate) fn starts_nothing(&self) -> bool {
        !STARTS.contains(&self.name.as_str())
    }
}

/// What was tried.
#[derive(Default)]
pub(crate) struct Tally {
    /// By tool: failures and successes.
    tools: BTreeMap<String, (usize, usize)>,
    /// By state: calls.
    states: Vec<(String, usize, usize)>,
    /// Of each tool, the last complaints.
    said: BTreeMap<String, String>,
    /// What must not be.
    problems: Vec<String>,
}

impl Tally {
    /// Calls a tool, and takes down whatever keeps a model from going on with the answer.
    pub(crate) async fn call(&mut self, server: &Server, tool: &Tool, arguments: Value, expected: &Expected) {
        let shown: String = format!("{} {arguments}", tool.name).chars().take(300).collect();
        let began = Instant::now();
        let params = json!({ "name": tool.name, "arguments": arguments });
        let result = server.request("tools/call", params).await;
        let took = began.elapsed();
        if took >= SOON {
            self.problems.push(format!("{shown}: it took {took:?}"));
        }
        match result {
            Ok(result) => self.judge(tool, &shown, &answer(&result), expected),
            Err(error) => self.problems.push(format!("{shown}: an error of the protocol: {error}")),
        }
    }

    fn judge(&mut self, tool: &Tool, shown: &str, answer: &Answer, expected: &Expected) {
        let message = message(answer);
        let counts = self.tools.entry(tool.name.clone()).or_default();
        if answer.is_error {
            counts.0 += 1;
        } else {
            counts.1 += 1;
        }
        let reported = answer.text.to_lowercase();
        let code = answer["code"].as_str().or_else(|| answer.at("/error/code").as_str());
        let mut wrong = Vec::new();
        if reported.contains("internal error") || reported.contains("panicked") {
            wrong.push("it went wrong inside".to_owned());
        }
        if let Expected::Says(parts) = expected {
            if !answer.is_error {
                wrong.push("it succeeded".to_owned());
            }
            wrong.extend(
                parts
                    .iter()
                    .filter(|part| !message.contains(*part))
                    .map(|part| format!("does not say {part}")),
            );
        }
        if matches!(expected, Expected::Warns) && !answer.text.contains("ignored unknown argument `") {
            wrong.push("it does not warn".to_owned());
        }
        if answer.is_error {
            if message.is_empty()
                || message.len() > 8 * 1024
                || message.contains(|one: char| one.is_control() && one != '\n')
            {
                wrong.push("it is nothing to read".to_owned());
            }
            // The failures of a script are text, as its reference has them.
            if code.is_none() && tool.name != "debug-script" && !answer.data.is_null() {
                wrong.push("it has no code".to_owned());
            }
            self.said.insert(
                format!("{} {}", tool.name, code.unwrap_or_default()),
                format!("{shown:.100} => {message:.200}"),
            );
        }
        self.problems
            .extend(wrong.into_iter().map(|wrong| format!("{shown}: {wrong}: {:.600}", answer.text)));
    }

    /// Takes up what was tried in one state.
    pub(crate) fn add(&mut self, state: &str, other: Self) {
        let (failed, went) = other.sums();
        self.states.push((state.to_owned(), failed, went));
        for (tool, (failed, went)) in other.tools {
            let counts = self.tools.entry(tool).or_default();
            *counts = (counts.0 + failed, counts.1 + went);
        }
        self.said.extend(other.said);
        self.problems.extend(other.problems);
    }

    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    fn sums(&self) -> (usize, usize) {
        self.tools.values().fold((0, 0), |sums, counts| (sums.0 + counts.0, sums.1 + counts.1))
    }

    pub(crate) fn calls(&self) -> usize {
        let (failed, went) = self.sums();
        failed + went
    }

    /// Prints the table, and a complaint of each kind and tool.
    pub(crate) fn print(&self) {
        for (call, said) in &self.said {
            println!("{call}: {said}");
        }
        println!("{:<24}{:>8}{:>8}{:>11}", "state", "calls", "errors", "successes");
        for (state, failed, went) in &self.states {
            println!("{state:<24}{:>8}{failed:>8}{went:>11}", failed + went);
        }
        let (failed, went) = self.sums();
        println!(
            "{:<24}{:>8}{failed:>8}{went:>11}",
            format!("all, {} tools", self.tools.len()),
            failed + went
        );
    }
}

/// What a failure says, in whichever form its toolset has.
fn message(answer: &Answer) -> String {
    let locations = [answer.at("/message"), answer.at("/error/message"), answer.at("/error")];
    let found = locations.into_iter().find_map(Value::as_str);
    found.map_or_else(|| answer.text.clone(), str::to_owned)
}

/// The answer in a result, whatever its toolset's form.
fn answer(result: &Value) -> Answer {
    Answer {
        data: result["structuredContent"].clone(),
        text: result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
        is_error: result["isError"] == true,
    }
}
