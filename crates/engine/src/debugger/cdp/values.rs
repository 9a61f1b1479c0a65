//! Values of a suspended thread of JavaScript.
//!
//! They are read by code of ours in the program, `debuggee/node/values.js`, which lists, pages, cuts and
//! describes without running anything of the program's. A request is one call of it; JSON comes back. What has
//! children is known here by an object that the debugger holds and the steps that lead from there to it.
//!
//! Reading order: `frame` (which scopes count), `helper` (the code in the program), `rows` (what it answers),
//! `references`, then `scopes`, `children`, `evaluate`, `assign`, `exceptions`; `plain` is for programs that
//! the code cannot get into.

mod assign;
mod children;
mod evaluate;
mod exceptions;
mod frame;
mod helper;
mod names;
pub(super) use names::renamed;
mod plain;
mod references;
mod rows;
mod scopes;
mod text;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::deadlines;
use crate::error::{Error, Result};
use helper::Helpers;
use references::References;

pub(super) use frame::Frame;

/// The group of the objects that are held until the program runs.
const STOP: &str = "stillframe-stop";

/// Names a place in a script, from its id, line and column as the protocol counts them; `None` for a script
/// that is not known.
pub(super) type Places = Arc<dyn Fn(&str, i32, i32) -> Option<String> + Send + Sync>;

/// The values of one thread. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Values(Arc<Shared>);

struct Shared {
    client: ::cdp::Client,
    pid: Option<u32>,
    /// Nothing of the program's may run.
    careful: bool,
    helpers: Helpers,
    references: References,
    places: Option<Places>,
    /// Counts the times at which anything in the program may have changed.
    epoch: AtomicU64,
    /// The program's variables may have changed during this stop. V8's scopes are copies from its beginning.
    changed: AtomicBool,
    /// Objects are held.
    holds: AtomicBool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("references", &self.references).finish_non_exhaustive()
    }
}

impl Values {
    /// The values of the thread that a client speaks to, without places of functions.
    #[cfg(test)]
    pub(super) fn new(client: ::cdp::Client) -> Self {
        Self::build(client, None, None, false)
    }

    /// Those of a program of which nothing may run.
    #[cfg(test)]
    pub(super) fn careful(client: ::cdp::Client) -> Self {
        Self::build(client, None, None, true)
    }

    /// The values of the thread that a client speaks to, in a process of this machine, as far as that is known.
    /// Nothing is sent before it is needed. With `careful`, only what is shown to change nothing is run.
    pub(super) fn with_places(
        client: ::cdp::Client,
        places: Places,
        pid: Option<u32>,
        careful: bool,
    ) -> Self {
        Self::build(client, Some(places), pid, careful)
    }

    fn build(client: ::cdp::Client, places: Option<Places>, pid: Option<u32>, careful: bool) -> Self {
        Self(Arc::new(Shared {
            client,
            pid,
            careful,
            helpers: Helpers::default(),
            references: References::default(),
            places,
            epoch: AtomicU64::new(0),
            changed: AtomicBool::new(false),
            holds: AtomicBool::new(false),
        }))
    }

    /// The program runs again: all references are gone. The group of the objects behind them is to be released,
    /// when there is one.
    pub(super) fn forget(&self) -> Option<&'static str> {
        self.0.references.clear();
        self.0.epoch.fetch_add(1, Ordering::Relaxed);
        self.0.changed.store(false, Ordering::Relaxed);
        self.0.holds.swap(false, Ordering::Relaxed).then_some(STOP)
    }

    /// Something may have changed the program's variables and objects.
    fn has_changed(&self) {
        self.0.changed.store(true, Ordering::Relaxed);
        self.0.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends a command whose results may be held in the group of the stop.
    async fn request<C: ::cdp::Command>(&self, command: C) -> Result<C::Result> {
        self.0.client.request(command, deadlines::READ).await.map_err(failed)
    }

    /// The group for objects of this stop, which is to be released.
    fn group(&self) -> String {
        self.0.holds.store(true, Ordering::Relaxed);
        STOP.to_owned()
    }
}

/// What the wire client says, in the engine's words.
fn failed(error: ::cdp::Error) -> Error {
    match error {
        ::cdp::Error::Refused { message, .. } if is_gone(&message) => Error::Refused(
            "the value is gone, because the program has run or its context has ended".to_owned(),
        ),
        other => other.into(),
    }
}

/// V8's words for an object, a frame or a context that is no more.
fn is_gone(message: &str) -> bool {
    [
        "Could not find object with given id",
        "Cannot find context with specified id",
        "Invalid remote object id",
    ]
    .iter()
    .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests;
