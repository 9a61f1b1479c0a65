//! How far a client may go.

use std::time::Duration;

/// Editors that are attached to a session at once.
pub(crate) const EDITORS: usize = 16;
/// Connections of a session, with those that have not shown a token yet.
pub(crate) const CONNECTIONS: usize = 64;
/// How long a client may take to show its token.
pub(crate) const ADMISSION: Duration = Duration::from_secs(10);
/// How long an editor may take from `initialize` to `attach` until it is invited to go on.
pub(crate) const INVITATION: Duration = Duration::from_millis(100);
/// The longest message of a client without a token, in bytes.
pub(crate) const MESSAGE_BEFORE: usize = 16 * 1024;
/// The longest message of an editor, in bytes.
pub(crate) const MESSAGE: usize = 1024 * 1024;
/// How many requests may come before the token; they are answered after it.
pub(crate) const HELD: usize = 32;
/// Requests of an editor that are answered side by side. The next one is read when one of them is done.
pub(crate) const IN_FLIGHT: usize = 32;
/// How long an editor may leave a message unread before it is disconnected.
pub(crate) const UNREAD: Duration = Duration::from_secs(10);
/// How long an editor may take from one step of its configuration to the next. Scripts do without the last one.
pub(crate) const CONFIGURATION: Duration = Duration::from_millis(200);
/// How long output is collected before it is sent.
pub(crate) const COLLECTION: Duration = Duration::from_millis(20);
/// The most output in one event, in bytes.
pub(crate) const OUTPUT: usize = 16 * 1024;
/// How long the last messages may take.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);

/// Frames where an editor does not say how many.
pub(crate) const FRAMES: usize = 1000;
/// Children of a value where an editor does not say how many. A value with more is read by pages.
pub(crate) const CHILDREN: u64 = 100;
/// Variables of a scope, and children that are read without pages.
pub(crate) const VARIABLES: u64 = 500;
/// Characters of a value among others.
pub(crate) const VALUE: usize = 1000;
/// Characters of a value that was requested by itself.
pub(crate) const WHOLE_VALUE: usize = 10_000;
