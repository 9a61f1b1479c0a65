//! Where the time and the memory of a program go.

use std::time::Duration;

use engine::model::performance::HeapUsage;
use engine::session::Session;
use engine::session::state::Execution;

use super::settle::with_progress;
use crate::{Context, ToolError};

/// How often the memory is measured.
const LOOKS: usize = 10;
/// How far apart.
const APART: Duration = Duration::from_millis(500);
/// In how many of ten steps the memory after a collection must have grown.
const GROWN: usize = 8;
/// Growth below this, in bytes, is what runtimes do by themselves.
const LEAST: u64 = 100_000;

/// How the memory of a program grows, garbage left out.
#[derive(Clone, Debug)]
pub struct Growth {
    /// The memory used at each measurement, oldest first, in bytes.
    pub used: Vec<u64>,
    /// Bytes per second, from the first measurement to the last.
    pub rate: f64,
    /// It grew at nearly every measurement, by more than runtimes do by themselves.
    pub is_leaking: bool,
    /// The program was suspended: then nothing grows.
    pub was_paused: bool,
}

/// Watches the memory of a running program for a few seconds. Of a suspended one there is nothing to see.
pub async fn growth(session: &Session, context: &Context) -> Result<Growth, ToolError> {
    if matches!(session.execution(), Execution::Stopped(_)) {
        // No garbage is collected while V8 waits for its debugger.
        let HeapUsage { used, .. } = session.heap_usage(false).await?;
        return Ok(Growth { used: vec![used], rate: 0.0, is_leaking: false, was_paused: true });
    }
    let used = with_progress(session, context, looks(session)).await?;
    let rate = rate(&used);
    Ok(Growth { is_leaking: is_leaking(&used), used, rate, was_paused: false })
}

async fn looks(session: &Session) -> Result<Vec<u64>, ToolError> {
    let mut used = Vec::new();
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(APART).await;
        }
        used.push(session.heap_usage(true).await?.used);
    }
    Ok(used)
}

fn is_leaking(used: &[u64]) -> bool {
    let steps = used.len().saturating_sub(1);
    let grown = used.windows(2).filter(|pair| pair.first() < pair.last()).count();
    let by = used.last().unwrap_or(&0).saturating_sub(*used.first().unwrap_or(&0));
    steps > 0 && grown * 10 >= steps * GROWN && by > LEAST
}

#[expect(clippy::cast_precision_loss, reason = "bytes of memory are far below what a double counts")]
fn rate(used: &[u64]) -> f64 {
    let (Some(first), Some(last)) = (used.first(), used.last()) else { return 0.0 };
    let seconds = APART.as_secs_f64() * used.len().saturating_sub(1).max(1) as f64;
    (*last as f64 - *first as f64) / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steady_growth_is_a_leak() {
        let mb = |list: &[u64]| list.iter().map(|size| size * 1_000_000).collect::<Vec<_>>();
        let table = [
            (mb(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19]), true),
            (mb(&[10, 11, 12, 13, 12, 15, 16, 17, 18, 19]), true),
            (mb(&[10, 11, 10, 11, 10, 11, 10, 11, 10, 11]), false),
            (mb(&[10, 10, 10, 10, 10, 10, 10, 10, 10, 30]), false),
            (vec![100, 101, 102, 103], false),
            (Vec::new(), false),
        ];
        for (used, expected) in table {
            assert_eq!(is_leaking(&used), expected, "{used:?}");
        }
    }
}
