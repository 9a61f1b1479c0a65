//! Domain `NodeWorker`: worker threads, reached through the main thread.

use serde::{Deserialize, Serialize};

use super::Empty;

/// Attaches to all workers, those that exist and those to come, workers of workers included.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    /// New workers wait for `Runtime.runIfWaitingForDebugger`.
    pub wait_for_debugger_on_start: bool,
}

/// Sends a message to a worker. [`crate::Worker::client`] does it.
///
/// The answer says only that the main thread took it, even if the worker is gone.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageToWorker {
    /// JSON text. Node 20 reads ASCII only.
    pub message: String,
    /// The session of the worker.
    pub session_id: String,
}

commands! {
    Enable = "NodeWorker.enable" => Empty;
    SendMessageToWorker = "NodeWorker.sendMessageToWorker" => Empty;
}

/// Parameters of [`crate::Event::AttachedToWorker`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachedToWorker {
    /// The session, by which the worker is addressed.
    pub session_id: String,
    /// Its properties.
    pub worker_info: WorkerInfo,
}

/// A worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerInfo {
    /// Its number in Node's own count.
    pub worker_id: String,
    /// `worker`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `[worker 1]`, with its name where it has one.
    pub title: String,
    /// Its script as a `file:` url.
    pub url: String,
}

/// Parameters of [`crate::Event::DetachedFromWorker`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DetachedFromWorker {
    /// The session that has ended.
    pub session_id: String,
}

/// Parameters of [`crate::Event::ReceivedMessageFromWorker`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceivedMessageFromWorker {
    /// The session of the worker.
    pub session_id: String,
    /// JSON text.
    pub message: String,
}
