//! `budget`, which every tool accepts: an answer of at most about this many tokens.
//!
//! What is cut is what matters least for the next decision: what an answer has twice, then the outer frames, then old
//! output, then lists from their ends, and last the values that the call asked for. What is left of the budget is given to
//! what matters most. The answer names each cut, with how much of it is left.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::arguments::fit;
use crate::truncate::{cut, size_of};
use crate::{Reply, ToolError};

/// The argument.
const NAME: &str = "budget";
/// The fewest tokens that say anything.
const LEAST: u64 = 100;
/// How many bytes of JSON or code a token has, about.
const BYTES: usize = 3;
/// Room for the list of cuts, in bytes.
const ROOM: usize = 160;

/// The fewest bytes of a line of text that say anything, and what replaces the middle of one that is longer.
const NARROWEST: usize = 72;
const GAP: &str = " ... ";

/// The key under which an answer says what was cut.
const KEY: &str = "cut";

/// What it says of an answer that still has more: no field is taken away, because clients may need any.
const EXCEEDED: &str = "the fields that are left exceed `budget`";

/// Parts of answers that are cut before anything else, the least important first, and how many items are kept.
const EXPENDABLE: [(&str, usize); 11] = [
    ("samples", 3),
    ("stackFrames", 1),
    ("callers", 0),
    ("threads", 1),
    ("output", 200),
    ("source", 0),
    ("notes", 1),
    ("locals", 5),
    ("variables", 5),
    ("watches", 1),
    ("changed", 1),
];

/// The fields of values that are texts of any length.
const TEXTS: [&str; 4] = ["value", "old", "new", "error"];

/// Parts that the call asked for by its arguments: only cut when all others are.
const REQUESTED: [&str; 2] = ["values", "rows"];

/// The shortest that texts in those become, in bytes, before some are left out.
const SHORTEST: usize = 32;

/// Parts that answers have twice; each is optional.
const DUPLICATES: [&str; 1] = ["context"];

/// Parts that are never cut.
const ESSENTIAL: [&str; 7] = ["success", "state", "message", "reason", "location", "error", "code"];

/// How often the largest part is cut.
const CUTS: usize = 50;

/// Takes the argument out of a call's. Wrong ones are errors.
pub(crate) fn take(arguments: &mut Map<String, Value>) -> Result<Option<usize>, ToolError> {
    let Some(given) = arguments.shift_remove(NAME).filter(|given| !given.is_null()) else { return Ok(None) };
    let schema = json!({ "type": "integer", "minimum": LEAST });
    let tokens = fit(&schema, given, NAME, &mut Vec::new())?;
    Ok(tokens.as_u64().map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX)))
}

impl Reply {
    /// The reply with at most about this many tokens.
    #[must_use]
    pub(crate) fn within_budget(mut self, tokens: usize) -> Self {
        let most = tokens.saturating_mul(BYTES);
        let is_same = self.is_its_data();
        if let Some(Value::Object(data)) = &mut self.structured
            && (if is_same { self.text.len() } else { size(data) }) > most
        {
            let all = data.clone();
            shrink(data, most.saturating_sub(ROOM.min(most / 4)));
            let parts = cuts(&all, data);
            let left = |note: &str| most.saturating_sub(note.len() + KEY.len() + 8);
            // What was requested matters more than how much is left of what was cut.
            restore_requested(data, &all, left(&names_of(&parts)));
            let expendable = EXPENDABLE.iter().rev().map(|(name, _)| *name);
            let is_other = |name: &&str| EXPENDABLE.iter().all(|(other, _)| other != name);
            let others = all.keys().map(String::as_str).filter(is_other);
            refill(data, &all, others.chain(expendable), left(&parts.join(", ")));
            let cuts = cuts(&all, data);
            data.insert(KEY.to_owned(), cuts.join(", ").into());
            if size(data) > most {
                let names = names_of(&cuts);
                data.insert(KEY.to_owned(), names.clone().into());
                if size(data) > most {
                    let note =
                        if names.is_empty() { EXCEEDED.to_owned() } else { format!("{names}; {EXCEEDED}") };
                    data.insert(KEY.to_owned(), note.into());
                }
            }
            if is_same {
                self.text = self.structured.as_ref().map(Value::to_string).unwrap_or_default();
            }
        }
        if !is_same && self.text.len() > most {
            let all = self.text.len();
            self.text = lines_within(&self.text, most.saturating_sub(ROOM / 3));
            let note = format!("\n{KEY}: shown are {} of {all} bytes, by `{NAME}`", self.text.len());
            self.text.push_str(&note);
        }
        self
    }
}

/// The first lines of a text, as many as have room. Each may lose its middle to a later one: it begins with what it is about,
/// and ends with where that is.
fn lines_within(text: &str, most: usize) -> String {
    let size = |line: &str, width: usize| line.len().min(width) + 1;
    let mut room = most;
    let has_room = |line: &&str| {
        let is_within = size(line, NARROWEST) <= room;
        room = room.saturating_sub(size(line, NARROWEST));
        is_within
    };
    let lines: Vec<&str> = text.lines().take_while(has_room).collect();
    let (mut width, mut too_wide) = (NARROWEST, most.max(NARROWEST) + 1);
    while too_wide - width > 1 {
        let middle = usize::midpoint(width, too_wide);
        let is_within = lines.iter().map(|line| size(line, middle)).sum::<usize>() <= most;
        if is_within { width = middle } else { too_wide = middle }
    }
    lines.into_iter().map(|line| without_middle(line, width)).collect::<Vec<_>>().join("\n")
}

/// A line within this many bytes, with more of its end than of its beginning.
fn without_middle(line: &str, most: usize) -> Cow<'_, str> {
    if line.len() <= most {
        return Cow::Borrowed(line);
    }
    let begin = line.get(..line.floor_char_boundary((most - GAP.len()) * 2 / 5)).unwrap_or_default();
    let end =
        line.get(line.ceil_char_boundary(line.len() + begin.len() + GAP.len() - most)..).unwrap_or_default();
    Cow::Owned(format!("{begin}{GAP}{end}"))
}

fn size(data: &Map<String, Value>) -> usize {
    data.iter().map(|(name, value)| name.len() + 4 + size_of(value)).sum::<usize>() + 2
}

/// Cuts an answer to a size.
fn shrink(data: &mut Map<String, Value>, most: usize) {
    for name in DUPLICATES {
        if size(data) > most {
            data.shift_remove(name);
        }
    }
    let has_requested = REQUESTED.iter().any(|name| data.contains_key(*name));
    let rounds: &[bool] = if has_requested { &[false, true] } else { &[false] };
    for is_last in rounds {
        for (name, keep) in EXPENDABLE {
            let excess = size(data).saturating_sub(most);
            if excess == 0 {
                return;
            }
            if let Some(part) = data.get_mut(name) {
                shorten(part, if *is_last { 0 } else { keep }, excess);
            }
        }
    }
    for _ in 0..CUTS {
        let excess = size(data).saturating_sub(most);
        if excess == 0 || !cut_largest(data, excess) {
            break;
        }
    }
    restore_requested(data, &data.clone(), most);
}

/// What was cut, in the order in which it was.
fn cuts(all: &Map<String, Value>, data: &Map<String, Value>) -> Vec<String> {
    let order = |name: &str| EXPENDABLE.iter().position(|(part, _)| *part == name);
    let mut cuts: Vec<(Option<usize>, String)> = all
        .iter()
        .filter_map(|(name, before)| {
            let cut = match data.get(name) {
                Some(now) => format!("{name} ({})", Extent::of(now).left(Extent::of(before))?),
                None => name.clone(),
            };
            Some((if DUPLICATES.contains(&name.as_str()) { Some(0) } else { order(name) }, cut))
        })
        .collect();
    cuts.sort_by_key(|(order, _)| order.unwrap_or(usize::MAX));
    cuts.into_iter().map(|(_, cut)| cut).collect()
}

/// The same without how much of each is left.
fn names_of(cuts: &[String]) -> String {
    let names: Vec<&str> = cuts.iter().filter_map(|cut| cut.split(' ').next()).collect();
    names.join(", ")
}

/// Gives what was requested all the room that there is after all.
fn restore_requested(data: &mut Map<String, Value>, all: &Map<String, Value>, most: usize) {
    for name in REQUESTED {
        let Some(before) = all.get(name) else { continue };
        data.insert(name.to_owned(), before.clone());
        let excess = size(data).saturating_sub(most);
        if let Some(part) = data.get_mut(name) {
            squeeze(part, excess);
        }
    }
}

/// Gives parts back what has room after all, in their order. The last item of a list may be shortened.
fn refill<'a>(
    data: &mut Map<String, Value>,
    all: &Map<String, Value>,
    names: impl Iterator<Item = &'a str>,
    most: usize,
) {
    for name in names {
        if let Some(text @ Value::String(_)) = all.get(name) {
            lengthen(data, name, text, most);
        }
        let Some(Value::Array(before)) = all.get(name) else { continue };
        loop {
            let room = most.saturating_sub(size(data) + 1);
            let Some(Value::Array(items)) = data.get_mut(name) else { break };
            let Some(mut next) = before.get(items.len()).cloned() else { break };
            let excess = size_of(&next).saturating_sub(room);
            squeeze(&mut next, excess);
            if size_of(&next) > room {
                break;
            }
            items.push(next);
        }
    }
}

/// Gives an expendable text back what has room of it after all.
fn lengthen(data: &mut Map<String, Value>, name: &str, before: &Value, most: usize) {
    let Some((_, keep)) = EXPENDABLE.iter().find(|(part, _)| *part == name) else { return };
    let Some(now) = data.insert(name.to_owned(), before.clone()) else { return };
    let excess = size(data).saturating_sub(most);
    if let Some(part) = data.get_mut(name).filter(|_| excess > 0) {
        shorten(part, *keep, excess);
    }
    if size(data) > most || size_of(&now) > data.get(name).map_or(0, size_of) {
        data.insert(name.to_owned(), now);
    }
}

/// Takes at least this many bytes from the texts of values, as evenly as possible, and then from the end of a list.
fn squeeze(part: &mut Value, excess: usize) {
    let whole = size_of(part);
    let mut width = whole;
    while width > SHORTEST && size_of(part) + excess > whole {
        width = (width * 3 / 4).max(SHORTEST);
        limit(part, width);
    }
    if let Value::Array(items) = part {
        while items.iter().map(|item| size_of(item) + 1).sum::<usize>() + 2 + excess > whole
            && items.pop().is_some()
        {}
    }
}

/// Shortens the texts of values to this many bytes.
fn limit(part: &mut Value, width: usize) {
    match part {
        Value::Array(items) => items.iter_mut().for_each(|item| limit(item, width)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if TEXTS.contains(&name.as_str()) && text.len() > width => {
                        text.truncate(text.floor_char_boundary(width.saturating_sub(3)));
                        text.push_str("...");
                    }
                    Value::Array(_) => limit(field, width),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Takes about this many bytes from the largest part that can be cut. Whether there was one.
fn cut_largest(data: &mut Map<String, Value>, excess: usize) -> bool {
    let is_kept = |name: &str| ESSENTIAL.contains(&name) || REQUESTED.contains(&name);
    let parts = data.iter().filter(|(name, _)| !is_kept(name));
    let mut parts: Vec<(usize, String)> = parts.map(|(name, value)| (size_of(value), name.clone())).collect();
    parts.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    parts.iter().any(|(before, name)| {
        data.get_mut(name).is_some_and(|part| {
            cut(part, before.saturating_sub(excess));
            size_of(part) < *before
        })
    })
}

/// How much a value has.
#[derive(Clone, Copy)]
struct Extent {
    /// Of a list.
    items: Option<usize>,
    /// Of a text, or as JSON.
    bytes: usize,
}

impl Extent {
    fn of(value: &Value) -> Self {
        let items = value.as_array().map(Vec::len);
        Self { items, bytes: value.as_str().map_or_else(|| size_of(value), str::len) }
    }

    /// How much this is of what there was; none if it is all.
    fn left(self, before: Self) -> Option<String> {
        if let (Some(items), Some(all)) = (self.items, before.items)
            && items != all
        {
            return Some(format!("{items} of {all}"));
        }
        (self.bytes != before.bytes).then(|| format!("{} of {} bytes", self.bytes, before.bytes))
    }
}

/// Shortens a part by this many bytes, down to what is to be kept of it.
fn shorten(part: &mut Value, keep: usize, excess: usize) {
    match part {
        Value::Array(items) => {
            let mut left = excess;
            while left > 0
                && items.len() > keep
                && let Some(last) = items.pop()
            {
                left = left.saturating_sub(size_of(&last) + 1);
            }
        }
        Value::String(text) => {
            // Of output, the end says most; the source around a line says little without the line.
            let start = text.ceil_char_boundary(text.len().saturating_sub(keep).min(excess));
            *text = if keep == 0 { String::new() } else { text.get(start..).unwrap_or_default().to_owned() };
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| shorten(field, keep, excess)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(data: Value) -> Reply {
        Reply { text: data.to_string(), structured: Some(data), is_error: false }
    }

    fn report() -> Value {
        let frame = |id: u32| json!({ "id": id, "name": "a_function", "file": "/src/app.py", "line": id });
        let local = |id: u32| json!({ "name": format!("local{id}"), "value": "a value", "type": "str" });
        json!({
            "success": true, "state": "paused", "message": "Paused at /src/app.py:7 in f",
            "source": "> 7 | x = 1\n".repeat(7),
            "stackFrames": (1..=5).map(frame).collect::<Vec<_>>(),
            "locals": (1..=20).map(local).collect::<Vec<_>>(),
            "output": "a line\n".repeat(200),
        })
    }

    #[test]
    fn least_important_parts_go_first_and_are_named() {
        let all = reply(report());
        let tokens = all.text.len() / BYTES;
        assert_eq!(all.clone().within_budget(tokens + 1), all);
        let less = all.clone().within_budget(tokens - 100);
        let data = less.structured.unwrap();
        assert!(data["cut"].as_str().unwrap().starts_with("stackFrames (1 of 5)"), "{}", data["cut"]);
        assert_eq!(data["locals"], report()["locals"]);
        let least = all.within_budget(150);
        assert!(least.text.len() <= 150 * BYTES, "{}", least.text);
        let data = least.structured.unwrap();
        assert_eq!(data["message"], report()["message"]);
        let cut = data["cut"].as_str().unwrap();
        assert!(cut.starts_with("stackFrames (1 of 5), output ("), "{cut}");
        assert!(cut.contains(" of 1400 bytes), source (0 of 84 bytes), locals ("), "{cut}");
    }

    #[test]
    fn values_that_were_asked_for_are_kept_before_all_others() {
        let mut report = report();
        let value = |name: &str, text: &str| json!({ "expression": name, "value": text, "type": "list" });
        report["values"] = json!([value("total", "3"), value("rows", &"[1, 2]".repeat(100))]);
        let data = reply(report.clone()).within_budget(150).structured.unwrap();
        assert_eq!(data["values"][0], report["values"][0], "{data}");
        let rows = &data["values"][1];
        let text = rows["value"].as_str().unwrap();
        assert_eq!((&rows["expression"], text.starts_with("[1, 2]")), (&json!("rows"), true), "{data}");
        assert!(text.len() > 60 && text.ends_with("..."), "the budget is used: {data}");
        assert_eq!((&data["output"], &data["locals"]), (&json!(""), &json!([])), "{data}");
    }

    #[test]
    fn recorded_rows_are_kept_before_output() {
        let row = |hit: u32| json!({ "hit": hit, "values": [{ "value": "v".repeat(90) }] });
        let rows: Vec<Value> = (1..=4).map(row).collect();
        let report = json!({ "success": true, "rows": rows, "output": "line\n".repeat(400) });
        let data = reply(report).within_budget(150).structured.unwrap();
        assert_eq!((data["rows"].as_array().unwrap().len(), &data["output"]), (4, &json!("")), "{data}");
    }

    #[test]
    fn lists_are_filled_until_the_budget_is_used() {
        let local =
            |id: u32| json!({ "name": format!("local{id}"), "value": "v".repeat(300), "type": "str" });
        let locals: Vec<Value> = (1..=20).map(local).collect();
        let cut = reply(json!({ "success": true, "variables": locals, "count": 20 })).within_budget(120);
        let variables = cut.structured.unwrap()["variables"].as_array().unwrap().clone();
        assert!(!variables.is_empty() && variables.len() < 20, "{}", cut.text);
        assert!((300..=360).contains(&cut.text.len()), "{}", cut.text);
    }

    #[test]
    fn other_answers_are_cut_where_most_is() {
        let rows: Vec<Value> = (0..500).map(|row| json!({ "row": row, "text": "x".repeat(20) })).collect();
        let cut = reply(json!({ "success": true, "rows": rows, "name": "n" })).within_budget(300);
        assert!(cut.text.len() <= 300 * BYTES, "{}", cut.text.len());
        let data = cut.structured.unwrap();
        assert!(data["cut"].as_str().unwrap().ends_with("of 500)"), "{}", data["cut"]);
        let text = Reply { text: "line\n".repeat(500), structured: None, is_error: false }.within_budget(100);
        assert!(text.text.len() <= 320 && text.text.contains("of 2500 bytes, by `budget`"), "{}", text.text);
    }

    #[test]
    fn counts_are_those_of_what_is_left() {
        let least = reply(report()).within_budget(100);
        assert!(least.text.len() <= 100 * BYTES, "{}", least.text);
        let data = least.structured.unwrap();
        let frames = data["stackFrames"].as_array().unwrap().len();
        let cut = data["cut"].as_str().unwrap();
        assert!(
            cut == "stackFrames, output, source, locals"
                || cut.contains(&format!("stackFrames ({frames} of 5)")),
            "{data}"
        );
    }

    #[test]
    fn a_part_that_cannot_be_cut_does_not_save_the_others() {
        let fields: Map<String, Value> =
            (0..40).map(|number| (format!("field{number}"), json!(number))).collect();
        let notes: Vec<String> = (0..20).map(|number| format!("note {number}")).collect();
        let cut = reply(json!({ "success": true, "failure": fields, "evidence": notes })).within_budget(100);
        let data = cut.structured.unwrap();
        assert_eq!((&data["evidence"], &data["failure"]), (&json!([]), &json!(fields)));
        assert_eq!(data["cut"], format!("evidence; {EXCEEDED}"));
    }

    #[test]
    fn lines_of_a_text_lose_their_middles_before_the_last_ones_go() {
        let value = "é".repeat(200);
        let text = format!(
            "`rows` is [{value}] at event 9\nwritten, newest first:\nevent 7: rows = [{value}] by a.py:3\n"
        );
        let cut = Reply { text: text.repeat(2), structured: None, is_error: false }.within_budget(100).text;
        let lines: Vec<&str> = cut.lines().collect();
        let [about, header, newest, ..] = lines.as_slice() else { panic!("{cut}") };
        assert!(about.starts_with("`rows` is [é") && about.ends_with("é] at event 9"), "{cut}");
        assert_eq!(*header, "written, newest first:");
        assert!(newest.starts_with("event 7: rows = [é") && newest.ends_with("é] by a.py:3"), "{cut}");
        assert!(cut.len() <= 300, "{cut}");
        assert_eq!(lines_within("one\ntwo\n", 90), "one\ntwo");
    }

    #[test]
    fn budgets_are_numbers() {
        let taken = |given: Value| take(&mut Map::from_iter([("budget".to_owned(), given)]));
        for number in [json!(500), json!("500"), json!(500.0), json!(" 500.0")] {
            assert_eq!(taken(number), Ok(Some(500)));
        }
        assert_eq!(taken(Value::Null), Ok(None));
        for wrong in [json!(3), json!(-1), json!(500.5), json!("many"), json!([])] {
            assert!(taken(wrong).is_err());
        }
        assert_eq!(take(&mut Map::new()), Ok(None));
    }
}
