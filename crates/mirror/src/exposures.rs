//! Which sessions are exposed.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::error::{Error, Result};
use engine::model::ids::SessionId;
use engine::session::Session;
use journal::{Journal, Secret};

use crate::endpoint::Endpoint;

/// How to expose a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Editors may step, set breakpoints and change values; none to leave that unchanged (off by default).
    pub control: Option<bool>,
    /// Editors are shown likely credentials.
    pub shows_credentials: bool,
}

/// Where an editor can attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// The address and the port.
    pub address: SocketAddr,
    /// Editors may step, set breakpoints and change values.
    pub control: bool,
}

/// Where an editor can attach, and what lets it in.
#[derive(Clone, Debug)]
pub struct EditorAccess {
    /// Where.
    pub exposure: Exposure,
    /// What the editor has to show.
    pub token: Secret,
}

/// The sessions of a client that are exposed. Clones are the same collection.
#[derive(Clone, Debug, Default)]
pub struct Exposures(Arc<Mutex<HashMap<SessionId, Endpoint>>>);

impl Exposures {
    /// Exposes a session until its program ends. An exposed session is unchanged, unless its editors are to be
    /// allowed something else: then it gets a new port and a new token.
    pub async fn expose(
        &self,
        session: &Session,
        options: Options,
        journal: &Journal,
    ) -> Result<EditorAccess> {
        let execution = session.execution();
        if !execution.is_live() {
            return Err(Error::NotLive { state: execution.as_str() });
        }
        if options.control == Some(true) && session.policy().safety.read_only {
            return Err(Error::Forbidden {
                problem: "with --read-only, no editor may control a program".to_owned(),
                rule: "debugged programs must not be changed; leave out `control`".to_owned(),
            });
        }
        let is_other =
            |exposure: &Exposure| options.control.is_some_and(|control| control != exposure.control);
        if self.of(session.id()).is_some_and(|exposure| is_other(&exposure)) {
            self.unexpose(session.id()).await;
        }
        let mut endpoints = self.lock();
        endpoints.retain(|_, endpoint| endpoint.is_open());
        if let Some(open) = endpoints.get(session.id()) {
            return Ok(open.grant().clone());
        }
        let opened = Endpoint::open(session, options, journal).map_err(|error| Error::Environment {
            problem: format!("cannot open a port for editors: {error}"),
            remedy: "fix what the system reports, and try again".to_owned(),
        })?;
        let grant = opened.grant().clone();
        endpoints.insert(session.id().clone(), opened);
        Ok(grant)
    }

    /// Closes the port of a session, and how many editors were attached to it; none when it was not exposed.
    pub async fn unexpose(&self, session: &SessionId) -> Option<usize> {
        let endpoint = self.lock().remove(session).filter(Endpoint::is_open)?;
        Some(endpoint.close().await)
    }

    /// Where an editor can attach to a session; none when it is not exposed.
    pub fn of(&self, session: &SessionId) -> Option<Exposure> {
        let endpoints = self.lock();
        endpoints.get(session).filter(|endpoint| endpoint.is_open()).map(|endpoint| endpoint.grant().exposure)
    }

    /// Nothing panics while the lock is held, so a poisoned one is as good.
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Endpoint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
