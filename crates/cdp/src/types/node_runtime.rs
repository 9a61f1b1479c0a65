//! Domain `NodeRuntime`: how a program of Node begins and ends.

use serde::Serialize;

plain_commands! {
    /// Announces [`crate::Event::WaitingForDebugger`]. Node 20 and later.
    Enable = "NodeRuntime.enable";
    /// Takes [`Enable`] back. Node 20 and later.
    Disable = "NodeRuntime.disable";
}

/// Announces the end with [`crate::Event::WaitingForDisconnect`], in place of
/// [`crate::Event::ExecutionContextDestroyed`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NotifyWhenWaitingForDisconnect {
    /// On or off.
    pub enabled: bool,
}

commands! {
    NotifyWhenWaitingForDisconnect = "NodeRuntime.notifyWhenWaitingForDisconnect" => super::Empty;
}
