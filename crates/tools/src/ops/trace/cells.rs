//! Values as a recorder writes them, read at a stop.

use engine::error::Error;
use engine::model::ids::Reference;
use engine::model::variable::{Page, Value};
use engine::recording::{Cell, CellFormat};
use engine::session::Session;

/// Messages of errors are not cut below this, for their end says as much as their beginning. The recorders
/// have the same limit.
const MESSAGE: usize = 1000;

/// Evaluates an expression in a frame.
pub(super) async fn read(session: &Session, frame: Reference, expression: &str, cells: CellFormat) -> Cell {
    let (CellFormat::Text(limit) | CellFormat::Json(limit)) = cells;
    let read = match cells {
        CellFormat::Text(_) => as_text(session, frame, expression, limit).await,
        CellFormat::Json(_) => as_json(session, frame, expression, session.policy().bounds.text(limit)).await,
    };
    read.unwrap_or_else(|error| shortened(Cell::Error(error.to_string()), limit))
}

/// The same with a message of at most `limit` characters, or as many as messages always have. A value is not changed.
pub(super) fn shortened(mut cell: Cell, limit: usize) -> Cell {
    if let Cell::Error(message) = &mut cell
        && let Some((end, _)) = message.char_indices().nth(limit.max(MESSAGE))
    {
        message.truncate(end);
        message.push_str("...");
    }
    cell
}

async fn as_text(session: &Session, frame: Reference, expression: &str, limit: usize) -> Result<Cell, Error> {
    let value = session
        .evaluate(frame, expression.to_owned(), session.policy().bounds.default_evaluate(), limit, false)
        .await?;
    Ok(text_cell(value.type_name.clone(), &value))
}

fn text_cell(type_name: String, value: &Value<Reference>) -> Cell {
    Cell::Value { type_name, text: value.text.clone(), cut: value.cut, json: false }
}

/// The expression is evaluated once, whatever comes of it. A language that cannot say JSON gives the text.
async fn as_json(session: &Session, frame: Reference, expression: &str, limit: usize) -> Result<Cell, Error> {
    let Some(expressions) = session.language_of_frame(frame).await.value_expressions() else {
        return as_text(session, frame, expression, limit).await;
    };
    let asked = expressions.as_json(expression, limit);
    let list = session.evaluate(frame, asked, session.policy().bounds.default_evaluate(), 0, false).await?;
    let missing = || Error::Refused("the value cannot be read".to_owned());
    let list = list.reference.ok_or_else(missing)?;
    let page = |start, count| Page { start, count, special: false, internals: false };
    // Each character may have become six.
    let head = session.variables(list, page(0, 2), limit.saturating_mul(6).saturating_add(100)).await?;
    let [type_name, json] = head.variables.as_slice() else { return Err(missing()) };
    let type_name = unquoted(&type_name.value.text).unwrap_or_default().to_owned();
    if let Some(text) = unquoted(&json.value.text) {
        // Written anew, so that it says letters where it can.
        let text = text.replace('~', "\\");
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|_| missing())?;
        let text = if holds_large_number(&text) { text } else { value.to_string() };
        return Ok(Cell::Value { type_name, text, cut: false, json: true });
    }
    let itself = session.variables(list, page(2, 1), limit).await?;
    itself.variables.first().map(|itself| text_cell(type_name, &itself.value)).ok_or_else(missing)
}

/// A number that would not survive being read.
fn holds_large_number(text: &str) -> bool {
    text.as_bytes()
        .chunk_by(|one, other| one.is_ascii_digit() && other.is_ascii_digit())
        .any(|run| run.len() > 18)
}

/// A text as languages show it, without its quotes. Nothing in it is escaped.
fn unquoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    text.strip_prefix(quote)?.strip_suffix(quote)
}
