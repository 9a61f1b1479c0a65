//! What holds in a server: how far things may go, and what may be touched.

use std::sync::Arc;

use crate::bounds::Bounds;
use crate::safety::Safety;

/// What holds in a server. It is made once, from the command line and the configuration, and handed on.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// How far things may go.
    pub bounds: Bounds,
    /// What may be touched.
    pub safety: Safety,
}

/// A policy that many share.
pub type SharedPolicy = Arc<Policy>;
