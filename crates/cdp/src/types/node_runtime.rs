//! Domain `NodeRuntime`: how a program of Node begins and ends.

use serde::Serialize;

plain_commands! {
    /// Announces [`crate::Event::WaitingForDebugger`]. Node 20 and later.
    Enable = "NodeRuntime.enable";
}

/// Announces the end with [`crate::Event::WaitingForDisconnect`], in place of `Runtime.executionContextDestroyed`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NotifyWhenWaitingForDisconnect {
    /// On or off.
    pub enabled: bool,
}

commands! {
    NotifyWhenWaitingForDisconnect = "NodeRuntime.notifyWhenWaitingForDisconnect" => super::Empty;
}
