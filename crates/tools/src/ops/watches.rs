//! Watched expressions, one by one.

use engine::session::Session;
use engine::session::watches::{Watch, WatchValue};

use super::inspect;
use crate::ToolError;

/// A watch, and its value in the selected frame.
#[derive(Clone, Debug)]
pub struct Watched {
    /// With what it was at the stops.
    pub watch: Watch,
    /// Its value; nothing while the program runs, or if it is unknown.
    pub seen: Option<WatchValue>,
}

/// Adds a watch. It is evaluated when the program is suspended.
pub async fn add(session: &Session, expression: &str) -> Result<Watched, ToolError> {
    let expression = expression.trim();
    if expression.is_empty() {
        return Err(ToolError::argument("expression", "is empty"));
    }
    session.check_expression(expression).await?;
    let id = session.watch_later(expression)?;
    let watched = look(session).await?.into_iter().find(|watched| watched.watch.id == id);
    watched.ok_or_else(|| ToolError::no_watch(&id.to_string(), &session.watches().list()))
}

/// Removes the watch of that name.
pub fn remove(session: &Session, id: &str) -> Result<Watch, ToolError> {
    let removed = session.watches().remove_id(id);
    removed.ok_or_else(|| ToolError::no_watch(id, &session.watches().list()))
}

/// Evaluates all of them. In the frame of the stop, the values are stored; in another selected frame they are only
/// reported, because the two are not comparable.
pub async fn look(session: &Session) -> Result<Vec<Watched>, ToolError> {
    if session.execution().stop().is_none() {
        let list = session.watches().list();
        return Ok(list.into_iter().map(|watch| Watched { watch, seen: None }).collect());
    }
    let top = inspect::stack(session, None, 0, 1, false).await?.frames.first().map(|frame| frame.id);
    match session.selected_frame().filter(|chosen| Some(*chosen) != top).or(top) {
        Some(frame) if Some(frame) == top => {
            session.changed_watches(frame).await;
            let list = session.watches().list();
            Ok(list.into_iter().map(|watch| Watched { seen: watch.now.clone(), watch }).collect())
        }
        Some(frame) => {
            let mut watched = Vec::new();
            for watch in session.watches().list() {
                let seen = session.evaluate_untracked(frame, &watch.expression).await;
                watched.push(Watched { watch, seen });
            }
            Ok(watched)
        }
        None => Ok(Vec::new()),
    }
}
