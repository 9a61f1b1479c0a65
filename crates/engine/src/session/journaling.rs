//! What the journal is told of variables that were read, and of the end of a session.

use std::sync::PoisonError;

use jiff::Timestamp;

use super::Session;
use crate::journal::entry::{Closed, Event, Variable, Variables};
use crate::journal::truncation;
use crate::model::ids::Reference;
use crate::model::stack::Scope;
use crate::model::variable::Children;

/// How many variables are told.
const TOLD: usize = 100;
/// How many scopes are remembered.
const SCOPES: usize = 64;

/// What a scope's variables are asked for with, its frame and its name.
pub(super) type NamedScope = (Reference, Reference, String);

impl Session {
    /// The session is closed: nobody will use it again.
    pub(crate) fn journal_closing(&self) {
        let open = Timestamp::now().as_millisecond() - self.created().as_millisecond();
        self.fixed.journal.record(Event::Closed(Closed { duration: u64::try_from(open).unwrap_or(0) }));
    }

    /// These scopes were listed: their variables are told under their names.
    pub(super) fn remember_scopes(&self, frame: Reference, listed: &[Scope<Reference>]) {
        if !self.fixed.journal.is_kept() {
            return;
        }
        let mut scopes = self.fixed.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        scopes.extend(listed.iter().map(|scope| (scope.reference, frame, scope.name.clone())));
        let old = scopes.len().saturating_sub(SCOPES);
        scopes.drain(..old);
    }

    /// The frame and the name of a scope.
    pub(super) fn scope_of(&self, reference: Reference) -> Option<(Reference, String)> {
        let scopes = self.fixed.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = scopes.iter().rev().find(|(known, ..)| *known == reference);
        known.map(|(_, frame, name)| (*frame, name.clone()))
    }

    /// Variables were read, of a scope or of a value.
    pub(super) fn journal_variables(
        &self,
        scope: Option<(Reference, &str)>,
        reference: Reference,
        children: &Children<Reference>,
    ) {
        if !self.fixed.journal.is_kept() {
            return;
        }
        let told = children.variables.iter().take(TOLD).map(|variable| Variable {
            name: truncation::text(&variable.name),
            type_name: truncation::text(&variable.value.type_name),
            value: truncation::text(&variable.value.text),
        });
        self.fixed.journal.record(Event::Variables(Variables {
            frame_id: scope.map(|(frame, _)| frame.0),
            scope: scope.map(|(_, name)| name.to_owned()),
            variables_reference: reference.0,
            variable_count: children.total,
            variables: told.collect(),
        }));
    }
}
