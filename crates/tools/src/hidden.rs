//! Redacts credentials in answers before they leave: by their shapes, and by the names of their variables and fields.

use journal::redaction::{self, MARK, NamedValue};
use serde_json::{Map, Value};

use crate::Reply;

/// The key under which an answer with data says that something was hidden.
const KEY: &str = "hidden";

/// That this many values were hidden, and how to see them.
fn hidden_note(count: usize) -> String {
    match count {
        1 => "1 value that looks like a credential (start with --no-redact to see it)".to_owned(),
        _ => format!("{count} values that look like credentials (start with --no-redact to see them)"),
    }
}

/// Hides them in the data of an answer, which says so under `hidden`; how many there were.
pub fn hide_in_data(data: &mut Value) -> usize {
    hide_in_answer(data, None)
}

/// The same in the answer to a call that asked for what has this name.
fn hide_in_answer(data: &mut Value, asked: Option<NamedValue>) -> usize {
    let mut count = hide_in_rows(data);
    if let (Some(asked), Value::Object(object)) = (asked, &mut *data) {
        count += hide_asked(asked, object);
    }
    count += redaction::hide_in_answer(data);
    if count > 0
        && let Value::Object(object) = data
    {
        object.insert(KEY.to_owned(), hidden_note(count).into());
    }
    count
}

/// Hides them in a text for a person or a model, which says so in a line at its end; how many there were.
pub fn hide_in_text(text: &mut String) -> usize {
    let count = redaction::hide_in_text(text);
    if count > 0 {
        say_hidden(text, count);
    }
    count
}

/// The name that a call asks for, when that may be a credential's.
pub(crate) fn asked_by(arguments: &Map<String, Value>) -> Option<NamedValue> {
    ["expression", "name", "variable"].iter().find_map(|key| NamedValue::of(arguments.get(*key)?.as_str()?))
}

/// The requested value is the value of the answer, or the values of its `results`.
fn hide_asked(asked: NamedValue, answer: &mut Map<String, Value>) -> usize {
    let mut count = asked.hide_values(answer);
    if let Some(Value::Array(results)) = answer.get_mut("results") {
        count += results
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .map(|row| asked.hide_values(row))
            .sum::<usize>();
    }
    count
}

/// The rows of a trace have their values in the order of the expressions of their point.
fn hide_in_rows(data: &mut Value) -> usize {
    let Value::Object(report) = data else { return 0 };
    let points: Vec<Vec<Option<NamedValue>>> = list(report.get("points")).map(names).collect();
    let Some(Value::Array(rows)) = report.get_mut("rows") else { return 0 };
    let mut count = 0;
    for row in rows {
        let number = row.get("point").and_then(Value::as_u64).unwrap_or(1);
        let names = usize::try_from(number).ok().and_then(|number| points.get(number.checked_sub(1)?));
        let Some(Value::Array(values)) = row.get_mut("values") else { continue };
        for (name, value) in names.into_iter().flatten().zip(values) {
            count += name.zip(value.as_object_mut()).map_or(0, |(name, value)| name.hide_values(value));
        }
    }
    count
}

/// What the expressions of a point say.
fn names(point: &Value) -> Vec<Option<NamedValue>> {
    list(point.get("expressions")).map(|expression| NamedValue::of(expression.as_str()?)).collect()
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// Redacts the requested value in a text such as `(str) swordfish`.
fn hide_asked_in_text(asked: NamedValue, text: &mut String) -> usize {
    let Some((type_name, value)) = text.strip_prefix('(').and_then(|rest| rest.split_once(") ")) else {
        return 0;
    };
    if !asked.hides(Some(type_name), value) {
        return 0;
    }
    *text = format!("({type_name}) {MARK}");
    1
}

/// Puts a last line that says how many values were hidden.
pub fn say_hidden(text: &mut String, count: usize) {
    if !text.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    text.push_str(KEY);
    text.push_str(": ");
    text.push_str(&hidden_note(count));
}

impl Reply {
    /// The reply without credentials, to a call for the value of this name. A reply without credentials is unchanged,
    /// byte for byte. The values at the pointers in `revealed` stay.
    #[must_use]
    pub(crate) fn without_credentials(mut self, asked: Option<NamedValue>, revealed: &[&str]) -> Self {
        let Some(data) = &mut self.structured else {
            let count =
                asked.filter(|_| !self.is_error).map_or(0, |asked| hide_asked_in_text(asked, &mut self.text))
                    + redaction::hide_in_text(&mut self.text);
            if count > 0 {
                say_hidden(&mut self.text, count);
            }
            return self;
        };
        // Where the text is not the data as JSON, it is one of its own, such as an error.
        let is_same = self.text.starts_with('{');
        let kept: Vec<_> = revealed.iter().map(|at| data.pointer_mut(at).map(Value::take)).collect();
        let count = hide_in_answer(data, asked);
        for (at, value) in revealed.iter().zip(kept) {
            if let Some((place, value)) = data.pointer_mut(at).zip(value) {
                *place = value;
            }
        }
        if count > 0 && is_same {
            self.text = data.to_string();
        } else if !is_same {
            redaction::hide_in_text(&mut self.text);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token() -> String {
        format!("ghp_{}", "a1".repeat(18))
    }

    fn reply(text: &str, structured: Option<Value>) -> Reply {
        Reply { text: text.to_owned(), structured, is_error: false }
    }

    #[test]
    fn an_answer_reports_redaction_once() {
        let data = json!({ "success": true, "result": token(), "output": token() });
        let told = reply(&data.to_string(), Some(data)).without_credentials(None, &[]);
        let expected = json!({
            "success": true,
            "result": "[redacted]",
            "output": "[redacted]",
            "hidden": "2 values that look like credentials (start with --no-redact to see them)",
        });
        assert_eq!(told, reply(&expected.to_string(), Some(expected)));
        let told = reply(&format!("a = {}", token()), None).without_credentials(None, &[]);
        let line = "hidden: 1 value that looks like a credential (start with --no-redact to see it)";
        assert_eq!(told.text, format!("a = [redacted]\n{line}"));
    }

    #[test]
    fn an_answer_without_credentials_is_unchanged() {
        for plain in [
            reply("a = 1", None),
            reply("{ \"a\":  1 }", Some(json!({ "a": 1 }))),
            reply("", Some(json!({}))),
        ] {
            assert_eq!(plain.clone().without_credentials(None, &[]), plain);
        }
    }

    #[test]
    fn a_text_beside_data_is_redacted_separately() {
        let told = reply(&format!("failed: {}", token()), Some(json!({ "error": token() })))
            .without_credentials(None, &[]);
        assert_eq!(told.text, "failed: [redacted]");
        assert_eq!(told.structured.unwrap()["error"], "[redacted]");
    }

    #[test]
    fn evaluated_values_are_redacted_by_expression() {
        let asked = |expression: &str| asked_by(json!({ "expression": expression }).as_object().unwrap());
        let data = json!({ "success": true, "result": "'x'", "type": "str" });
        let said = reply(&data.to_string(), Some(data)).without_credentials(asked("S['password']"), &[]);
        assert_eq!(said.structured.unwrap()["result"], MARK);
        let data =
            json!({ "results": [{ "type": "string", "value": "x" }, { "type": "number", "value": 1 }] });
        let said = reply("", Some(data)).without_credentials(asked("password"), &[]).structured.unwrap();
        assert_eq!(
            said["results"],
            json!([{ "type": "string", "value": MARK }, { "type": "number", "value": 1 }])
        );
        let said = reply("(str) x\nnote: only the beginning is shown", None)
            .without_credentials(asked("password"), &[]);
        assert!(said.text.starts_with("(str) [redacted]\nhidden: 1"), "{}", said.text);
        for (expression, text) in [("password", "(int) 12345678"), ("token", "(str) if"), ("name", "(str) x")]
        {
            let said = reply(text, None);
            assert_eq!(said.clone().without_credentials(asked(expression), &[]), said);
        }
    }

    #[test]
    fn trace_cells_are_redacted_by_expression() {
        let cell = |value: &str| json!({ "type": "str", "value": value });
        let mut data = json!({
            "points": [{ "expressions": ["a", "password"] }, { "expressions": ["password"] }],
            "rows": [
                { "hit": 1, "values": [cell("'x'"), cell("'y'")] },
                { "point": 2, "hit": 1, "values": [cell("'y'")] },
                { "point": 2, "hit": 2, "values": [{ "error": "NameError" }] },
            ],
        });
        assert_eq!(hide_in_data(&mut data), 2);
        let values: Vec<&Value> = list(data.get("rows")).map(|row| &row["values"]).collect();
        let expected =
            [json!([cell("'x'"), cell(MARK)]), json!([cell(MARK)]), json!([{ "error": "NameError" }])];
        assert_eq!(values, expected.iter().collect::<Vec<_>>());
    }
}
