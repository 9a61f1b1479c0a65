//! Conditions and log messages in the names of the script, where a compiler has changed those of the source.
//!
//! V8 evaluates them in the program, before anybody could look at its frames. So what variables are called
//! around a place is read from the map and the text of the script.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::imported;
use super::places::ScriptSpot;
use super::sources::Sources;
use super::values::renamed;
use crate::debugger::RuleFor;
use crate::javascript::{Part, ScriptOutline, is_expression, log_parts};
use crate::source_map::{Position, SourceMap};

/// The rules of a place as a script is to have them.
pub(super) async fn of_rules(
    sources: &Sources,
    rules: &[RuleFor],
    spot: &ScriptSpot,
    map: Option<Arc<SourceMap>>,
) -> Vec<RuleFor> {
    let is_needed = spot.is_mapped && rules.iter().any(|rule| !rule.rule.is_plain());
    let Some(map) = map.filter(|_| is_needed) else { return rules.to_vec() };
    let Some(text) = text(sources, &spot.path).await else { return rules.to_vec() };
    let (sources, place) = (sources.clone(), (spot.line, spot.column));
    let written = format!("{rules:?}");
    let read = move || {
        let names = if map.has_names() { names(&map, &text, place) } else { HashMap::new() };
        let is_wanted = |name: &str| written.contains(name) && !names.contains_key(name);
        let imports = imported::names(&sources, &map, &text, place, |place| place, is_wanted);
        ScriptNames { names, imports }
    };
    let names = tokio::task::spawn_blocking(read).await.unwrap_or_default();
    rules.iter().map(|rule| with_names(rule, &names)).collect()
}

/// What a script has for the names of its source.
#[derive(Default)]
struct ScriptNames {
    names: HashMap<String, String>,
    /// Members of modules.
    imports: HashMap<String, String>,
}

impl ScriptNames {
    fn put_into(&self, expression: &str) -> String {
        let expression = renamed(expression, |name| self.names.get(name).map(String::as_str));
        self.imports.iter().fold(expression, |before, (name, value)| {
            // The function may have a variable of that name.
            let guarded = format!("(typeof {name}==='undefined'?{value}:{name})");
            let after = renamed(&before, |other| (other == name).then_some(guarded.as_str()));
            // In `list.some(item => item.isNew)`, the name is that of a parameter, which cannot be replaced.
            if is_expression(&after).is_ok() { after } else { before }
        })
    }
}

/// The text of a script that is loaded, or will be.
async fn text(sources: &Sources, path: &Path) -> Option<Arc<str>> {
    if let Some(script) = sources.scripts.newest(|script| script.path.as_deref() == Some(path)) {
        return script.text().await;
    }
    let (path, policy) = (path.to_owned(), Arc::clone(&sources.program.policy));
    let read = tokio::task::spawn_blocking(move || policy.safety.read_text(&path)).await;
    read.ok()?.ok().map(Arc::from)
}

/// What the variables of the source are called at a place, those of inner functions first.
fn names(map: &SourceMap, text: &Arc<str>, place: Position) -> HashMap<String, String> {
    let mut names: HashMap<String, String> = HashMap::new();
    let outline = ScriptOutline::of(text);
    let mut functions = outline.map(|outline| outline.functions_around(place)).unwrap_or_default();
    functions.push(((0, 0), (u32::MAX, u32::MAX)));
    for (start, end) in functions {
        let found = map.names(text, start, end);
        // A name that an inner function uses for something else refers to that here.
        let is_free = |mangled: &String| !names.values().any(|known| known == mangled);
        let outer: Vec<(String, String)> =
            found.into_iter().filter(|(mangled, _)| is_free(mangled)).collect();
        for (mangled, original) in outer {
            names.entry(original).or_insert(mangled);
        }
    }
    names
}

fn with_names(rule: &RuleFor, names: &ScriptNames) -> RuleFor {
    let other = |expression: &str| names.put_into(expression);
    let mut rule = rule.clone();
    rule.rule.condition = rule.rule.condition.as_deref().map(other);
    if let Some(record) = &mut rule.rule.record {
        record.expressions = record.expressions.iter().map(|expression| other(expression)).collect();
    }
    rule.rule.log_message = rule.rule.log_message.map(|message| match log_parts(&message) {
        Ok(parts) => parts.into_iter().map(|part| written(part, other)).collect(),
        Err(_) => message,
    });
    rule
}

/// A part of a log message, as written.
fn written(part: Part, other: impl Fn(&str) -> String) -> String {
    match part {
        Part::Text(text) => text.replace('{', "{{").replace('}', "}}"),
        Part::Expression(expression) => format!("{{{}}}", other(&expression)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_replaced_except_where_an_expression_has_a_variable_of_their_name() {
        let map = |name: &str, value: &str| HashMap::from([(name.to_owned(), value.to_owned())]);
        let names = ScriptNames { names: map("order", "e"), imports: map("item", "m.item") };
        for (expression, expected) in [
            ("order.has(item)", "e.has((typeof item==='undefined'?m.item:item))"),
            ("order.item", "e.item"),
            ("({ item })", "({ item: (typeof item==='undefined'?m.item:item) })"),
            ("order.some(item => item.new)", "e.some(item => item.new)"),
            ("order.some(({ item }) => item)", "e.some(({ item }) => item)"),
            ("order.some(function (item) { return item })", "e.some(function (item) { return item })"),
            ("item = order", "item = e"),
        ] {
            assert_eq!(names.put_into(expression), expected, "{expression}");
        }
    }
}
