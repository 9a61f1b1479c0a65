//! Programs whose processes are of several languages.

mod attaching;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::SelectAll;
use tokio::sync::mpsc;

use self::attaching::Attaching;
use super::{Arrival, Connector, Followed, Owned, Sinks, Started};
use crate::adapter::{self, Adapter};
use crate::error::Result;
use crate::model::launch::{Launch, Start};
use crate::output::Category;

/// Makes the connector of a language.
pub type Connect = fn(&'static dyn Adapter) -> Arc<dyn Connector>;

/// Starts a program of one language, and debugs its processes of others, if breakpoints are in their
/// sources ([`Launch::child_sources`]) or it is asked for ([`Launch::child_languages`], [`Launch::native_too`]).
pub struct MixedConnector {
    /// Starts the program.
    program: Arc<dyn Connector>,
    connect: Connect,
}

impl MixedConnector {
    /// `program` starts the program, `connect` gives what follows the children of another language.
    pub fn new(program: Arc<dyn Connector>, connect: Connect) -> Self {
        Self { program, connect }
    }

    async fn follow(
        &self,
        launch: &mut Launch,
        language: &'static dyn Adapter,
        sinks: &Sinks,
    ) -> Result<mpsc::Receiver<Arrival>> {
        let followed = (self.connect)(language).follow(launch, sinks.clone()).await?;
        let Followed { env, muted, arrivals } = followed;
        launch.env.extend(env);
        if !muted.is_empty() {
            launch.muted = muted;
        }
        Ok(arrivals)
    }
}

#[async_trait]
impl Connector for MixedConnector {
    /// A language whose processes cannot be followed does not prevent the start.
    async fn start(&self, start: Start, sinks: Sinks) -> Result<Started> {
        let mut launch = match start {
            Start::Launch(launch) if has_others(&launch) => launch,
            other => return self.program.start(other, sinks).await,
        };
        let attaching = Attaching::of(&launch, self.connect, &sinks);
        launch.env.extend(attaching.iter().map(Attaching::environment));
        let mut followed = Vec::new();
        for language in followed_languages(&launch) {
            match self.follow(&mut launch, language, &sinks).await {
                Ok(arrivals) => followed.push(arrivals),
                Err(error) if launch.child_languages.contains(&language.name()) => {
                    tracing::debug!(%error, "child processes in {} run without a debugger", language.name());
                }
                Err(error) => {
                    let about = language.about();
                    let text = format!("child processes in {about} run without a debugger: {error}\n");
                    sinks.output.append(Category::Console, &text);
                }
            }
        }
        let Started { process, arrivals } = self.program.start(Start::Launch(launch), sinks).await?;
        let (merged, received) = mpsc::channel(16);
        let pid = match &process {
            Some(Owned::Program(process)) => Some(process.pid()),
            _ => None,
        };
        tokio::spawn(merge(pid, arrivals, followed, attaching, merged));
        Ok(Started { process, arrivals: received })
    }
}

/// Whether processes of other languages are to be debugged.
fn has_others(launch: &Launch) -> bool {
    !launch.child_sources.is_empty() || !launch.child_languages.is_empty() || launch.native_too
}

/// The languages whose processes connect to us, each once.
fn followed_languages(launch: &Launch) -> Vec<&'static dyn Adapter> {
    let by_source = launch.child_sources.iter().filter_map(|source| adapter::by_extension(source));
    let by_name = launch.child_languages.iter().filter_map(|name| adapter::by_name(name));
    let mut owners: Vec<_> =
        by_source.chain(by_name).filter(|owner| owner.child_processes().is_some()).collect();
    owners.sort_by_key(|owner| owner.name());
    owners.dedup_by_key(|owner| owner.name());
    owners
}

/// The program itself arrives first, then its children in any order. `pid` is the program's, where it is known.
async fn merge(
    pid: Option<u32>,
    mut program: mpsc::Receiver<Arrival>,
    mut followed: Vec<mpsc::Receiver<Arrival>>,
    attaching: Option<Attaching>,
    merged: mpsc::Sender<Arrival>,
) {
    let Some(mut first) = program.recv().await else { return };
    let mut beside = None;
    if let Some(mut attaching) = attaching {
        if let Some(pid) = first.debugger.pid().or(pid) {
            beside = attaching.beside(&mut first, pid).await;
        }
        let (found, arrivals) = mpsc::channel(16);
        tokio::spawn(attaching.watch(found));
        followed.push(arrivals);
    }
    for arrival in [Some(first), beside].into_iter().flatten() {
        if merged.send(arrival).await.is_err() {
            return;
        }
    }
    let all = followed.into_iter().chain([program]);
    let mut arrivals: SelectAll<_> = all.map(|from| Box::pin(stream(from))).collect();
    loop {
        tokio::select! {
            Some(arrival) = arrivals.next() => {
                if merged.send(arrival).await.is_err() {
                    return;
                }
            }
            // What accepts children ends when this does.
            () = merged.closed() => return,
            else => return,
        }
    }
}

fn stream(from: mpsc::Receiver<Arrival>) -> impl futures_util::Stream<Item = Arrival> {
    futures_util::stream::unfold(from, async |mut from| {
        let arrival = from.recv().await?;
        Some((arrival, from))
    })
}
