//! The variables that are there outside of all functions.

use engine::model::ids::Reference;
use engine::model::stack::{Scope, ScopeKind, StackFrame};
use engine::model::variable::{Page, Variable};
use engine::session::Session;

use super::inspect;
use crate::ToolError;

/// What Node's debugger calls the scopes of a module and of the top level of scripts.
const OUTSIDE: [&str; 2] = [MODULE, "Script"];
const MODULE: &str = "Module";
/// How many frames are searched for that of the module.
const SEARCHED: usize = 200;

/// A page of global variables.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// Each with the name of its scope.
    pub variables: Vec<(String, Variable<Reference>)>,
    /// How many there are, those on other pages included.
    pub total: u64,
    /// How many special ones were left out.
    pub hidden: u64,
}

/// Global variables as a frame sees them: those of its module, then those of the program. They are one list in
/// pages.
pub async fn globals(
    session: &Session,
    frame: Reference,
    page: Page,
    text: usize,
) -> Result<Globals, ToolError> {
    let is_global =
        |scope: &Scope<Reference>| scope.kind == ScopeKind::Globals || OUTSIDE.contains(&scope.name.as_str());
    let mut globals = Globals::default();
    let mut scopes: Vec<_> = session.scopes(frame).await?.into_iter().filter(is_global).collect();
    if let Some(module) = module(session, frame).await {
        scopes.retain(|scope| scope.name != MODULE);
        scopes.insert(0, module);
    }
    for scope in scopes {
        let left = page.count.saturating_sub(globals.variables.len() as u64);
        let here = Page { start: page.start.saturating_sub(globals.total), count: left, ..page };
        let children = session.variables(scope.reference, here, text).await?;
        globals.total += children.total;
        globals.hidden += children.hidden;
        let named = children.variables.into_iter().map(|variable| (scope.name.clone(), variable));
        globals.variables.extend(named);
    }
    Ok(globals)
}

/// The scope of a frame's module with all of its variables, if the module is still running: Node keeps for a function
/// only those that functions use.
async fn module(session: &Session, frame: Reference) -> Option<Scope<Reference>> {
    let frames = inspect::stack(session, None, 0, SEARCHED, true).await.ok()?.frames;
    let source = |frame: &StackFrame<Reference>| Some(frame.location.as_ref()?.source.clone());
    let wanted = source(frames.iter().find(|other| other.id == frame)?)?;
    let is_it =
        |other: &&StackFrame<Reference>| other.name == "<module>" && source(other).as_ref() == Some(&wanted);
    let scopes = session.scopes(frames.iter().rfind(is_it)?.id).await.ok()?;
    scopes.into_iter().find(|scope| scope.kind == ScopeKind::Locals && scope.name == MODULE)
}
