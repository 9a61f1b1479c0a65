//! Programs whose processes are of several languages.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::SelectAll;
use tokio::sync::mpsc;

use super::{Arrival, Connector, Followed, Sinks, Started};
use crate::adapter::{self, Adapter};
use crate::error::{Error, Result};
use crate::model::launch::Start;
use crate::output::Category;

/// Makes the connector of a language.
pub type Connect = fn(&'static dyn Adapter) -> Arc<dyn Connector>;

/// Starts a program of one language, and debugs its child processes of others ([`Launch::child_languages`]), too.
///
/// [`Launch::child_languages`]: crate::model::launch::Launch::child_languages
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
        start: &mut Start,
        language: &str,
        sinks: &Sinks,
    ) -> Result<mpsc::Receiver<Arrival>> {
        let Start::Launch(launch) = start else { return Err(Error::Closed) };
        let adapter = adapter::by_name(language).ok_or(Error::Closed)?;
        let Followed { env, arrivals } = (self.connect)(adapter).follow(launch, sinks.clone()).await?;
        launch.env.extend(env);
        Ok(arrivals)
    }
}

#[async_trait]
impl Connector for MixedConnector {
    /// A language whose processes cannot be followed does not prevent the start.
    async fn start(&self, mut start: Start, sinks: Sinks) -> Result<Started> {
        let languages = match &start {
            Start::Launch(launch) => launch.child_languages.clone(),
            Start::Attach(_) => Vec::new(),
        };
        let mut followed = Vec::new();
        for language in languages {
            match self.follow(&mut start, language, &sinks).await {
                Ok(arrivals) => followed.push(arrivals),
                Err(error) => {
                    let text = format!("{language} child processes run without a debugger: {error}\n");
                    sinks.output.append(Category::Console, &text);
                }
            }
        }
        let started = self.program.start(start, sinks).await?;
        if followed.is_empty() {
            return Ok(started);
        }
        let Started { process, arrivals } = started;
        Ok(Started { process, arrivals: merged(arrivals, followed) })
    }
}

/// The program itself arrives first, then its children in any order.
fn merged(
    mut program: mpsc::Receiver<Arrival>,
    others: Vec<mpsc::Receiver<Arrival>>,
) -> mpsc::Receiver<Arrival> {
    let (merged, received) = mpsc::channel(16);
    tokio::spawn(async move {
        let Some(first) = program.recv().await else { return };
        if merged.send(first).await.is_err() {
            return;
        }
        let mut arrivals: SelectAll<_> =
            others.into_iter().chain([program]).map(|from| Box::pin(stream(from))).collect();
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
    });
    received
}

fn stream(from: mpsc::Receiver<Arrival>) -> impl futures_util::Stream<Item = Arrival> {
    futures_util::stream::unfold(from, async |mut from| {
        let arrival = from.recv().await?;
        Some((arrival, from))
    })
}
