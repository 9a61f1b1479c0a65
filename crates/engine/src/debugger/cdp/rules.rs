//! Rules of breakpoints, as a condition that V8 evaluates in the program; see `debuggee/node/rules.js`.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::json;

use super::injected::{BINDING, arrow_function, stripped};
use super::recording;
use crate::debugger::RuleFor;
use crate::javascript::{Part, log_parts};
use crate::model::breakpoint::HitCondition;
use crate::model::ids::BreakpointId;

/// What decides in the program.
static RULES: LazyLock<String> = LazyLock::new(|| stripped(include_str!("../../debuggee/node/rules.js")));

/// Brings the rules into the global object before the program replaces what they need.
pub(super) fn installation() -> String {
    format!("{BINDING}.rules ??= {}", *RULES)
}

/// An expression that makes the next condition stop the program, or no longer.
pub(super) fn pausing(is_asked: bool) -> String {
    format!("{BINDING}.pauses={is_asked}")
}

/// What the program reports by way of the binding.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum RuleEvent {
    /// The stop that follows belongs to these.
    Hit { ids: Vec<u32> },
    /// A logpoint spoke.
    Logged { id: u32, text: String },
    /// A line of what is recorded that is too long for the pipe.
    Recorded { id: u32, line: String },
    /// A statement in the source records here, so its breakpoint is no longer needed.
    Inlined { id: u32 },
    /// A condition or message failed this many times since the last such message.
    Failed { id: u32, message: String, times: u64 },
}

/// Whether it stops at each hit, so that V8 needs no condition.
pub(super) fn are_plain(rules: &[RuleFor]) -> bool {
    rules.iter().any(|rule| rule.rule.is_plain()) && rules.iter().all(|rule| rule.rule.is_plain())
}

/// The condition of a place.
///
/// It is true in a global object that cannot decide yet, and for a pause that was requested, before it decides; see
/// [`ProgramBinding::enter`](super::binding::ProgramBinding::enter).
pub(super) fn condition(rules: &[RuleFor], thread: &str) -> Result<String, String> {
    let pauses = format!("{BINDING}.pauses&&!({BINDING}.pauses=false)");
    Ok(format!("typeof {BINDING}=='undefined'||{pauses}||{}", decision(rules, thread)?))
}

/// What decides in a global object that can. Hits are counted per breakpoint and rule: other breakpoints at the
/// location do not change the count, and a changed rule restarts it. The texts have been checked to be expressions, so
/// none of them can end the surrounding function.
pub(super) fn decision(rules: &[RuleFor], thread: &str) -> Result<String, String> {
    if recording::only_records(rules) {
        return Ok(recording::condition(rules, thread));
    }
    let rules: Vec<String> = rules.iter().map(|rule| translate(rule, thread)).collect::<Result<_, _>>()?;
    Ok(format!("!{BINDING}.rules||{BINDING}.rules([{}])", rules.join(",")))
}

fn translate(rule: &RuleFor, thread: &str) -> Result<String, String> {
    let BreakpointId(id) = rule.id;
    if let Some(record) = &rule.rule.record {
        return Ok(format!("{{id:{id},record:()=>{}}}", recording::pass(rule, record, thread)));
    }
    let mut fields = format!("id:{id}");
    if let Some(condition) = &rule.rule.condition {
        fields.extend([",condition:", &arrow_function(condition)]);
    }
    if let Some(hit) = rule.rule.hit_condition {
        let count = json!(format!("{id} {:?}", rule.rule)).to_string();
        fields.extend([",pass:", &hit_expression(hit), ",count:", &count]);
    }
    if let Some(message) = &rule.rule.log_message {
        let parts = log_parts(message)?;
        let parts: Vec<String> = parts.iter().map(part).collect();
        fields.extend([",message:[", &parts.join(","), "]"]);
    }
    Ok(format!("{{{fields}}}"))
}

fn hit_expression(hit: HitCondition) -> String {
    use crate::model::breakpoint::HitOperator::Multiple;
    match hit.operator {
        Multiple => format!("n=>n%{}===0", hit.count),
        operator => format!("n=>n{}{}", operator.as_str(), hit.count),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => json!(text).to_string(),
        Part::Expression(expression) => arrow_function(expression),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::breakpoint::Rule;

    fn rule(condition: Option<&str>, hit: Option<&str>, message: Option<&str>) -> RuleFor {
        let rule = Rule {
            condition: condition.map(str::to_owned),
            hit_condition: hit.map(|hit| hit.parse().unwrap()),
            log_message: message.map(str::to_owned),
            ..Rule::default()
        };
        RuleFor { id: BreakpointId(7), rule, function: None }
    }

    #[test]
    fn rules_compile_to_javascript() {
        let table = [
            (rule(Some("a > 1"), None, None), "{id:7,condition:()=>(\na > 1\n)}"),
            (rule(Some("a > 1 // why"), None, None), "{id:7,condition:()=>eval(\"(\\na > 1 // why\\n)\")}"),
            (rule(None, Some("% 5"), None), "{id:7,pass:n=>n%5===0,count:"),
            (rule(None, Some("3"), None), "{id:7,pass:n=>n==3,count:"),
            (rule(None, None, Some("x is {x}\n")), "{id:7,message:[\"x is \",()=>(\nx\n),\"\\n\"]}"),
            (rule(None, None, None), "{id:7}"),
        ];
        for (rule, expected) in table {
            let translated = translate(&rule, "main").unwrap();
            assert!(translated.starts_with(expected), "{translated}");
        }
    }

    #[test]
    fn only_breakpoints_without_conditions_are_plain() {
        let (plain, other) = (rule(None, None, None), rule(Some("x"), None, None));
        assert!(are_plain(std::slice::from_ref(&plain)));
        assert!(!are_plain(&[plain, other]));
    }
}
