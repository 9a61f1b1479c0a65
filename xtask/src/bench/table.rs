//! The figures, and how they are printed.

use std::time::Duration;

/// Begins a table.
pub(super) fn heading(title: &str) {
    println!("\n{title}\n{:<36}{:>9}{:>9}{:>8}  goal", "", "bare", "ours", "ratio");
}

/// One line. What costs the bare client nothing has no ratio.
pub(super) fn row(what: &str, bare: Duration, ours: Duration, goal: &str) {
    let (bare, ours) = (milliseconds(bare), milliseconds(ours));
    let ratio = if bare < 0.01 { "-".to_owned() } else { format!("{:.2}", ours / bare) };
    println!("{what:<36}{bare:>9.2}{ours:>9.2}{ratio:>8}  {goal}");
}

/// One line about how often something is done in a second, where more is better.
pub(super) fn rate(what: &str, bare: f64, ours: f64, goal: &str) {
    println!("{what:<36}{bare:>9.0}{ours:>9.0}{:>8.2}  {goal}", ours / bare);
}

/// A time, formatted.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The one in the middle.
pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        let times = |all: &[u64]| all.iter().map(|time| Duration::from_millis(*time)).collect::<Vec<_>>();
        assert_eq!(median(times(&[9, 1, 5])), Duration::from_millis(5));
        assert_eq!(median(times(&[4])), Duration::from_millis(4));
        assert_eq!(median(times(&[])), Duration::ZERO);
    }
}
