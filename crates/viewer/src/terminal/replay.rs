//! Time, as it goes again.

use std::time::{Duration, Instant};

/// How long nothing happens at most. What took longer is shortened to it.
const PAUSE: Duration = Duration::from_secs(1);
/// How many rows may pass at once.
const STEPS: usize = 100_000;
const SLOWEST: f64 = 0.25;
const FASTEST: f64 = 1024.0;

/// A replay in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replay {
    /// When the next row is due.
    due: Instant,
}

/// How fast, as a factor of the time that it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Speed(pub(super) f64);

impl Speed {
    /// Twice or half of it, within bounds.
    pub(super) fn changed(self, is_slower: bool) -> Self {
        let factor = if is_slower { 0.5 } else { 2.0 };
        Self((self.0 * factor).clamp(SLOWEST, FASTEST))
    }

    /// How long to wait for what came this many milliseconds later.
    fn wait(self, milliseconds: i64) -> Duration {
        let seconds = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)).as_secs_f64();
        Duration::try_from_secs_f64(seconds / self.0).unwrap_or(PAUSE).min(PAUSE)
    }
}

impl Replay {
    /// Begins at a row; `gap` is how many milliseconds later the next one came.
    pub(super) fn new(now: Instant, speed: Speed, gap: i64) -> Self {
        Self { due: now + speed.wait(gap) }
    }

    /// How long nothing has to be done.
    pub(super) fn idle(&self, now: Instant) -> Duration {
        self.due.saturating_duration_since(now)
    }

    /// How many rows have passed by now. `gap` returns, for a number of rows from here, how many milliseconds after
    /// that row the next one follows; none if there is no next.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        speed: Speed,
        mut gap: impl FnMut(usize) -> Option<i64>,
    ) -> usize {
        let mut steps = 0;
        while self.due <= now && steps < STEPS {
            steps += 1;
            let Some(gap) = gap(steps) else { break };
            self.due += speed.wait(gap);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_replay_in_real_time_with_long_pauses_shortened() {
        let began = Instant::now();
        // The gaps after the rows 0, 1, 2, 3: the last one has no next.
        let gaps = [400, 200, 3_600_000];
        let gap = |row: usize| gaps.get(row).copied();
        let at = |speed, milliseconds| {
            let mut replay = Replay::new(began, Speed(speed), 400);
            replay.advance(began + Duration::from_millis(milliseconds), Speed(speed), gap)
        };
        assert_eq!(at(1.0, 399), 0);
        assert_eq!(at(1.0, 400), 1);
        assert_eq!(at(1.0, 600), 2);
        assert_eq!(at(1.0, 1_599), 2);
        assert_eq!(at(1.0, 1_600), 3);
        assert_eq!(at(2.0, 200), 1);
        assert_eq!(at(0.25, 1_599), 1);
    }

    #[test]
    fn the_speed_is_bounded() {
        let fastest = (0..20).fold(Speed(1.0), |speed, _| speed.changed(false));
        assert_eq!(fastest, Speed(1024.0));
        let slowest = (0..20).fold(Speed(1.0), |speed, _| speed.changed(true));
        assert_eq!(slowest, Speed(0.25));
        // A clock that was set back.
        assert_eq!(Speed(1.0).wait(-5), Duration::ZERO);
    }
}
