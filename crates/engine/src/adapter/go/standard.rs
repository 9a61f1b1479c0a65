//! Types of the standard library that are one value for a reader, whatever fields they have.

/// The bits of `wall` that count nanoseconds.
const NANOSECONDS: u64 = (1 << 30) - 1;

/// A structure of a type as the value that it represents, by the texts of its fields. None for other types, and if
/// Delve has not read what is needed.
pub(super) fn value(kind: &str, fields: &[(&str, String)]) -> Option<String> {
    let field = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str());
    match kind {
        "sync/atomic.Int32"
        | "sync/atomic.Int64"
        | "sync/atomic.Uint32"
        | "sync/atomic.Uint64"
        | "sync/atomic.Uintptr"
        | "sync/atomic.Value" => field("v").map(str::to_owned),
        "sync/atomic.Bool" => field("v").map(|value| (value != "0").to_string()),
        "sync.Mutex" | "internal/sync.Mutex" => match field("mu") {
            Some(inner) => matches!(inner, "locked" | "unlocked").then(|| inner.to_owned()),
            None => Some(locked(field("state")?.parse::<i32>().ok()? & 1 != 0)),
        },
        "sync.RWMutex" => {
            // A writer makes it negative, to keep others out.
            Some(match field("readerCount")?.parse::<i32>().ok()? {
                0 => locked(false),
                count if count < 0 => locked(true),
                count => format!("locked by {count} to read"),
            })
        }
        "sync.WaitGroup" => {
            let state = field("state")?.parse::<u64>().ok()?;
            Some(format!("sync.WaitGroup{{counter: {}, waiters: {}}}", state >> 32, state & 0x7fff_ffff))
        }
        "strings.Builder" => text(field("buf")?, 0),
        "bytes.Buffer" => text(field("buf")?, field("off")?.parse().ok()?),
        "math/big.Int" => {
            let sign = if field("neg")? == "true" { "-" } else { "" };
            Some(format!("{sign}{}", decimal(&numbers(field("abs")?)?)?))
        }
        _ => None,
    }
}

fn locked(is_locked: bool) -> String {
    if is_locked { "locked" } else { "unlocked" }.to_owned()
}

/// A time as Delve writes it, without the reading of the monotonic clock, and with the fraction of its second, which
/// Delve leaves out.
pub(super) fn time(text: &str, fields: &str) -> String {
    let text = text.split(", ").next().unwrap_or(text);
    let wall = fields.strip_prefix("{wall: ").and_then(|rest| rest.split(',').next()?.parse::<u64>().ok());
    let nanoseconds = wall.map(|wall| wall & NANOSECONDS).filter(|nanoseconds| *nanoseconds > 0);
    // `2024-01-02T03:04:05` and the zone.
    match (nanoseconds, text.split_at_checked(19)) {
        (Some(nanoseconds), Some((second, zone))) => {
            let fraction = format!("{nanoseconds:09}");
            format!("{second}.{}{zone}", fraction.trim_end_matches('0'))
        }
        _ => text.to_owned(),
    }
}

/// `1.5s` for a number of nanoseconds, or for a constant such as `Second (1000000000)`.
pub(super) fn duration(text: &str) -> Option<String> {
    let number = text.split_once('(').map_or(text, |(_, number)| number.trim_end_matches(')'));
    number.parse().ok().map(in_units)
}

fn in_units(nanoseconds: i64) -> String {
    const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (minutes, rest) = (all / 60_000_000_000, all % 60_000_000_000);
    let (unit, name) = if minutes > 0 {
        (1_000_000_000, "s")
    } else {
        UNITS.into_iter().find(|(unit, _)| rest >= *unit).unwrap_or((1_000_000_000, "s"))
    };
    let width = unit.ilog10() as usize;
    let fraction = format!("{:0width$}", rest % unit);
    let fraction = if width == 0 { "" } else { fraction.trim_end_matches('0') };
    let point = if fraction.is_empty() { "" } else { "." };
    let seconds = format!("{}{point}{fraction}{name}", rest / unit);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}"),
    }
}

/// The text in a slice of bytes, from an index. Delve reads only the first ones of a long slice.
fn text(bytes: &str, from: usize) -> Option<String> {
    let (read, more) = match bytes.split_once(", ...+") {
        Some((read, more)) => (format!("{read}}}"), format!("...+{}", more.trim_end_matches('}'))),
        None => (bytes.to_owned(), String::new()),
    };
    let bytes: Vec<u8> = numbers(&read)?.into_iter().filter_map(|number| u8::try_from(number).ok()).collect();
    let text = String::from_utf8_lossy(bytes.get(from..)?).into_owned();
    // The last letter may be cut.
    let text = if more.is_empty() { &text } else { text.trim_end_matches(char::REPLACEMENT_CHARACTER) };
    Some(serde_json::to_string(text).ok()? + &more)
}

/// The items of `[]uint8{1, 2}`.
fn numbers(slice: &str) -> Option<Vec<u64>> {
    if slice == "nil" {
        return Some(Vec::new());
    }
    let items = slice.split_once('{')?.1.strip_suffix('}')?;
    items.split(", ").filter(|item| !item.is_empty()).map(|item| item.parse().ok()).collect()
}

/// The number whose digits to the base of 2^64 these are, the lowest first.
fn decimal(words: &[u64]) -> Option<String> {
    const BASE: u128 = 10_000_000_000_000_000_000;
    let mut words = words.to_vec();
    let mut text = String::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0_u128;
        for word in words.iter_mut().rev() {
            let all = (rest << 64) | u128::from(*word);
            *word = u64::try_from(all / BASE).ok()?;
            rest = all % BASE;
        }
        text = format!("{rest:019}{text}");
    }
    let digits = text.trim_start_matches('0');
    Some(if digits.is_empty() { "0" } else { digits }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::values::{in_go, of_type};

    #[test]
    fn durations_are_shown_as_they_print_themselves() {
        let table = [
            ("time.Duration", "1500000000", "1.5s"),
            ("time.Duration", "0", "0s"),
            ("time.Duration", "-20000000", "-20ms"),
            ("time.Duration", "1050", "1.05µs"),
            ("time.Duration", "7", "7ns"),
            ("time.Duration", "3723000000001", "1h2m3.000000001s"),
            ("time.Duration", "Second (1000000000)", "1s"),
            ("int64", "1500000000", "1500000000"),
        ];
        for (kind, text, expected) in table {
            assert_eq!(of_type(kind, text), expected, "{kind} {text}");
        }
    }

    #[test]
    fn types_with_one_value_are_shown_as_that() {
        let table = [
            (
                "time.Time(2024-01-02T03:04:05Z){wall: 0, ext: 63839761445, loc: *time.Location nil}",
                "2024-01-02T03:04:05Z",
            ),
            (
                "time.Time(2024-01-02T03:04:05+02:00, +124384){wall: 9223372036977775808, ext: 1, loc: *(*time.Location)(0xc0)}",
                "2024-01-02T03:04:05.123+02:00",
            ),
            ("*time.Time(2024-01-02T03:04:05Z){wall: 0}", "2024-01-02T03:04:05Z"),
            ("interface {}(time.Time) time.Time(2024-01-02T03:04:05Z){wall: 0}", "2024-01-02T03:04:05Z"),
            (
                "map[string]time.Time [\"a\": time.Time(2024-01-02T03:04:05Z){wall: 0, ext: 1}, ]",
                "map[string]time.Time{\"a\": 2024-01-02T03:04:05Z}",
            ),
            ("[]time.Duration len: 2, cap: 2, [Second (1000000000),1500000]", "[]time.Duration{1s, 1.5ms}"),
            (
                "main.T {n: sync/atomic.Int64 {_: sync/atomic.noCopy {}, v: 5}, b: sync/atomic.Bool {v: 1}}",
                "main.T{n: 5, b: true}",
            ),
            ("main.T {n: (*\"sync/atomic.Int64\")(0xc0)}", "main.T{n: sync/atomic.Int64{...}}"),
            ("sync.Mutex {_: sync.noCopy {}, mu: internal/sync.Mutex {state: 1, sema: 0}}", "locked"),
            ("main.T {mu: sync.Mutex {state: 0, sema: 0}, n: 1}", "main.T{mu: unlocked, n: 1}"),
            (
                "sync.RWMutex {w: sync.Mutex {state: 1, sema: 0}, readerCount: sync/atomic.Int32 {v: -1073741824}}",
                "locked",
            ),
            (
                "sync.RWMutex {w: sync.Mutex {state: 0, sema: 0}, readerCount: sync/atomic.Int32 {v: 2}}",
                "locked by 2 to read",
            ),
            (
                "sync.WaitGroup {noCopy: sync.noCopy {}, state: sync/atomic.Uint64 {_: sync/atomic.noCopy {}, v: 8589934593}, sema: 0}",
                "sync.WaitGroup{counter: 2, waiters: 1}",
            ),
            ("sync/atomic.Value {v: interface {}(string) \"held\"}", "\"held\""),
            (
                "strings.Builder {addr: *(*strings.Builder)(0xc0), buf: []uint8 len: 2, cap: 8, [195,169]}",
                "\"é\"",
            ),
            ("strings.Builder {addr: *strings.Builder nil, buf: []uint8 len: 0, cap: 0, nil}", "\"\""),
            (
                "bytes.Buffer {buf: []uint8 len: 9, cap: 64, [97,98,10,195,...+5 more], off: 1}",
                "\"b\\n\"...+5 more",
            ),
            ("*math/big.Int {neg: true, abs: math/big.nat len: 1, cap: 5, [5]}", "-5"),
            ("math/big.Int {neg: false, abs: math/big.nat len: 0, cap: 0, nil}", "0"),
            (
                "*math/big.Int {neg: false, abs: math/big.nat len: 2, cap: 6, [0,68719476736]}",
                "1267650600228229401496703205376",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(in_go(text), expected, "{text}");
        }
    }
}
