//! Times and durations, for display.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Displays times in the local time zone.
#[derive(Clone, Debug)]
pub(crate) struct Clock(TimeZone);

impl Clock {
    /// As this machine has it.
    pub(crate) fn local() -> Self {
        Self(TimeZone::system())
    }

    /// As tests have it.
    #[cfg(test)]
    pub(crate) fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// `12:04:33` of milliseconds since 1970.
    pub(crate) fn time(&self, milliseconds: i64) -> String {
        self.format(milliseconds, "%H:%M:%S")
    }

    /// `2026-01-06 12:04:33.120`.
    pub(crate) fn moment(&self, milliseconds: i64) -> String {
        self.format(milliseconds, "%Y-%m-%d %H:%M:%S.%3f")
    }

    fn format(&self, milliseconds: i64, format: &str) -> String {
        let Ok(time) = Timestamp::from_millisecond(milliseconds) else { return "?".to_owned() };
        time.to_zoned(self.0.clone()).strftime(format).to_string()
    }
}

/// The current time, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// `3ms`, `1.2s`, `45s`, `2m03s`, `1h02m`, `3d`: six columns at most. A clock that was set back gives `0ms`.
pub(crate) fn duration(milliseconds: i64) -> String {
    let milliseconds = milliseconds.max(0);
    let seconds = milliseconds / 1000;
    match seconds {
        0 => format!("{milliseconds}ms"),
        1..10 => format!("{seconds}.{}s", milliseconds % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86400 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d", seconds / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(Clock::utc().time(1_736_180_100_123), "16:15:00");
        assert_eq!(Clock::utc().moment(1_736_180_100_123), "2025-01-06 16:15:00.123");
        assert_eq!(Clock::utc().time(i64::MAX), "?");
        let table = [
            (-5, "0ms"),
            (999, "999ms"),
            (1_250, "1.2s"),
            (59_999, "59s"),
            (123_000, "2m03s"),
            (3_720_000, "1h02m"),
            (259_200_000, "3d"),
        ];
        for (milliseconds, text) in table {
            assert_eq!(duration(milliseconds), text);
        }
    }
}
