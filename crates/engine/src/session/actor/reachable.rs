//! What is reachable from a value, for comparing it with what was there before.

use tokio::time::Instant;

use super::super::Session;
use super::super::references::Kind;
use super::super::seen_values::{ACCESSOR, CHILDREN, path_of};
use crate::debugger::Debugger;
use crate::error::Result;
use crate::model::ids::{RawId, Reference};
use crate::model::variable::Page;

/// How far from a variable.
const DEPTH: usize = 2;

/// Values by their paths, and those whose children they are.
#[derive(Debug, Default)]
pub(in super::super) struct Reachable {
    pub(in super::super) texts: Vec<(String, String)>,
    pub(in super::super) expanded: Vec<String>,
}

impl Session {
    /// Reads what a value contains, and what that contains, with at most so many reads. Nothing of it gets a number or
    /// is written to the journal.
    pub(in super::super) async fn reachable(
        &self,
        reference: Reference,
        path: String,
        reads: usize,
        text: usize,
        until: Instant,
    ) -> Result<Reachable> {
        self.read(
            Kind::Value,
            reference,
            move |debugger, value| {
                Box::pin(async move { Ok(expand(debugger, (value, path), reads, text, until).await) })
            },
            |_, _, reached| Ok(reached),
        )
        .await
    }
}

async fn expand(
    debugger: &dyn Debugger,
    from: (RawId, String),
    reads: usize,
    text: usize,
    until: Instant,
) -> Reachable {
    let mut reached = Reachable::default();
    let page = Page { start: 0, count: CHILDREN, special: false, internals: false };
    let mut waiting = vec![from];
    for _ in 0..DEPTH {
        for (value, path) in std::mem::take(&mut waiting) {
            if reached.expanded.len() >= reads || Instant::now() >= until {
                return reached;
            }
            // One that cannot be read is not compared.
            let Ok(children) = debugger.variables(value, page, text).await else { continue };
            for child in children.variables {
                let path = path_of(&path, &child.name);
                // Reading what a getter returns runs it.
                let is_getter = child.value.children.is_none() && child.value.type_name == ACCESSOR;
                if let Some(reference) = child.value.reference.filter(|_| !is_getter) {
                    waiting.push((reference, path.clone()));
                }
                reached.texts.push((path, child.value.text));
            }
            reached.expanded.push(path);
        }
    }
    reached
}
