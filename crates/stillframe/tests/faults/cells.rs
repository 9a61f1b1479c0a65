//! Cells of a table: what is done at which moment, what is to come of it, and what the server holds afterwards.

use std::fmt::{Debug, Write as _};
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;
use test_support::{Answer, Server, quiet, rows_to_try, say, settled};
use tokio::sync::Semaphore;

/// One cell of so many is done on each push. It has no divisor in common with the number of moments, so that each
/// fault and each moment has its turn.
const ONE_OF: usize = 25;
/// How many cells of a group are under way at once.
const AT_ONCE: usize = 4;
/// How many of all groups.
static TURNS: Semaphore = Semaphore::const_new(5);
/// How much later than its own time limit a call may come back: the longest grace that the engine gives, which is for
/// requests to a debugger that does not answer, and what a busy machine needs.
pub(crate) const GRACE: Duration = Duration::from_secs(8);
/// How much more memory a server may hold after all attacks than after the largest, in KiB. The allocator keeps twice the
/// largest block that was given back, in each of its arenas (`M_TRIM_THRESHOLD`, mallopt(3)), and a line may have 16 MiB;
/// if the lines of 20 MB of one fault were kept, they would be 140.
const GROWTH: usize = 64 * 1024;

/// When harm is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Launching,
    Running,
    Paused,
    Stepping,
    Evaluating,
    Tracing,
    Closing,
}

impl Moment {
    pub(crate) const ALL: [Self; 7] = [
        Self::Launching,
        Self::Running,
        Self::Paused,
        Self::Stepping,
        Self::Evaluating,
        Self::Tracing,
        Self::Closing,
    ];
}

/// What came of a cell.
pub(crate) struct CellResult {
    pub(crate) fault: String,
    pub(crate) moment: Moment,
    /// What is to come of it; several that are as good are separated by `|`.
    pub(crate) expected: &'static str,
    /// What came of it.
    pub(crate) outcome: String,
}

impl CellResult {
    /// Does a cell, whose failure is one among others.
    pub(crate) async fn of(
        fault: String,
        moment: Moment,
        expected: &'static str,
        cell: impl Future<Output = Answer>,
    ) -> Self {
        let turn = TURNS.acquire().await.expect("it is never closed");
        let answer = AssertUnwindSafe(cell).catch_unwind().await;
        drop(turn);
        let outcome = answer.as_ref().map_or_else(|_| "FAILED".to_owned(), outcome);
        if let Ok(answer) = &answer
            && !is_among(expected, &outcome)
        {
            say(&format!("{fault} while {moment:?}: {}\n", answer.text));
        }
        Self { fault, moment, expected, outcome }
    }
}

fn is_among(expected: &str, outcome: &str) -> bool {
    expected.split('|').any(|expected| expected == outcome)
}

/// A call that must be back within its own time limit and the grace.
pub(crate) async fn in_time(server: &Server, tool: &str, arguments: Value, limit: Duration) -> Answer {
    with_grace(server, tool, arguments, limit, GRACE).await
}

/// The same within another grace.
pub(crate) async fn with_grace(
    server: &Server,
    tool: &str,
    arguments: Value,
    limit: Duration,
    grace: Duration,
) -> Answer {
    let began = Instant::now();
    let answer = server.call(tool, arguments.clone()).await;
    let took = began.elapsed();
    assert!(took < limit + grace, "{tool} {arguments} took {took:?}, and had {limit:?}: {}", answer.text);
    answer
}

/// What an answer says, in a word or two.
pub(crate) fn outcome(answer: &Answer) -> String {
    if answer.is_error {
        return answer.text_of("code").to_owned();
    }
    match answer.text_of("state") {
        "ended" => match (&answer["signal"], &answer["exitCode"]) {
            (Value::String(signal), _) => format!("ended {signal}"),
            (_, Value::Number(code)) => format!("ended {code}"),
            _ => "ended".to_owned(),
        },
        "" => "well".to_owned(),
        state => state.to_owned(),
    }
}

/// A cell for each fault at each moment, with what is to come of it. `cell` also gets its number.
pub(crate) fn cells<'a, F: Copy + Debug + 'a>(
    rows: &[(F, [&'static str; 7])],
    cell: impl Fn(usize, F, Moment) -> LocalBoxFuture<'a, Answer>,
) -> Vec<LocalBoxFuture<'a, CellResult>> {
    let of_row = |(fault, expected): &(F, [&'static str; 7])| {
        let fault = *fault;
        Moment::ALL.into_iter().zip(*expected).map(move |(moment, expected)| (fault, moment, expected))
    };
    let result = |(number, (fault, moment, expected)): (usize, (F, Moment, &'static str))| {
        let name = format!("{fault:?}").to_lowercase();
        CellResult::of(name, moment, expected, cell(number, fault, moment)).boxed_local()
    };
    rows.iter().flat_map(of_row).enumerate().map(result).collect()
}

/// Does the cells, a few at a time, and prints what came of them. Some are done before, so that what a server keeps for
/// good is there.
pub(crate) async fn table(
    name: &str,
    server: &Server,
    warm_up: Vec<LocalBoxFuture<'_, CellResult>>,
    cells: Vec<LocalBoxFuture<'_, CellResult>>,
) {
    futures_util::stream::iter(warm_up).buffer_unordered(AT_ONCE).collect::<Vec<_>>().await;
    let before = quiet(server.pid()).await;
    let began = Instant::now();
    let mut results: Vec<CellResult> =
        futures_util::stream::iter(rows_to_try(cells, ONE_OF)).buffered(AT_ONCE).collect().await;
    let took = began.elapsed();
    let after = settled(server.pid(), &before).await;

    let mut text = format!("\n{name}: {} cells in {:.0} s\n", results.len(), took.as_secs_f64());
    let mut faults: Vec<String> = results.iter().map(|cell| cell.fault.clone()).collect();
    faults.dedup();
    let _ = write!(text, "{:<14}", "");
    for moment in Moment::ALL {
        let _ = write!(text, "{:<20}", format!("{moment:?}").to_lowercase());
    }
    let mut wrong = Vec::new();
    for fault in faults {
        let _ = write!(text, "\n{fault:<14}");
        for moment in Moment::ALL {
            let cell = results.iter().position(|cell| cell.fault == fault && cell.moment == moment);
            let Some(cell) = cell.map(|at| results.remove(at)) else {
                let _ = write!(text, "{:<20}", "-");
                continue;
            };
            let is_right = is_among(cell.expected, &cell.outcome);
            let _ = write!(text, "{:<20}", format!("{}{}", if is_right { "" } else { "! " }, cell.outcome));
            if !is_right {
                wrong.push(format!("{fault} while {moment:?}: {}, and not {}", cell.outcome, cell.expected));
            }
        }
    }
    let growth = after.growth_since(&before);
    let _ = writeln!(text, "\nbefore: {before}; after: {after}; grown by {growth} KB");
    say(&text);
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    assert!(after.is_within(&before), "{name}: {before} before, {after} after");
    assert!(growth < GROWTH, "{name}: {before} before, {after} after");
}
