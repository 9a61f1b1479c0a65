//! How debugging starts: a test for each row of a table of what eight adapters do, and for each way to fail.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::peer::{Peer, PeerOptions, Scene};
use crate::adapter::plan::{Quirks, StartRequest};
use crate::deadlines;
use crate::debugger::Debugger;
use crate::error::{Error, Result};
use crate::model::stop::ExceptionMode;

/// What an adapter does next.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// Expects this request.
    Take(&'static str),
    /// Answers a request that it has taken.
    Answer(&'static str),
    /// Takes and answers a request.
    Serve(&'static str),
    /// Refuses a request that it has taken.
    Refuse(&'static str, &'static str),
    /// Sends the event.
    Initialized,
    /// Prints something.
    Print(&'static str),
    /// Works.
    Wait(Duration),
    /// Hangs up.
    Die,
}

use Move::{Answer, Die, Initialized, Print, Refuse, Serve, Take, Wait};

/// Less than the longest launch, and more than any other deadline.
const MINUTES: Duration = Duration::from_mins(9);

const QUIRKS: Quirks = Quirks { exception_filters: |_| &["raised"], ..Quirks::NONE };

fn all() -> Json {
    let filters = json!([{ "filter": "raised", "label": "Raised" }]);
    json!({ "supportsConfigurationDoneRequest": true, "exceptionBreakpointFilters": filters })
}

/// delve has no filters.
fn without_filters() -> Json {
    json!({ "supportsConfigurationDoneRequest": true })
}

async fn play(mut peer: Peer, capabilities: Json, moves: &[Move]) -> Option<Peer> {
    let mut taken: HashMap<&str, Json> = HashMap::new();
    for next in moves {
        match *next {
            Take(command) => drop(taken.insert(command, peer.take(command).await)),
            Serve("initialize") => drop(peer.serve("initialize", capabilities.clone()).await),
            Serve(command) => drop(peer.serve(command, json!({})).await),
            Answer("initialize") => peer.answer(&taken["initialize"], capabilities.clone()).await,
            Answer(command) => peer.answer(&taken[command], json!({})).await,
            Refuse(command, message) => peer.refuse(&taken[command], message).await,
            Initialized => peer.event("initialized", json!({})).await,
            Print(text) => peer.event("output", json!({ "category": "stderr", "output": text })).await,
            // sleep: an adapter that takes its time, in paused time
            Wait(time) => tokio::time::sleep(time).await,
            Die => return None,
        }
    }
    Some(peer)
}

/// Starts, sets a breakpoint and the exceptions, and lets the program run.
async fn start(debugger: &impl Debugger) -> Result<()> {
    debugger.prepare().await?;
    debugger.set_breakpoints(Path::new("/w/main.c"), Vec::new()).await?;
    debugger.set_exception_mode(ExceptionMode::All).await?;
    debugger.run().await
}

/// How a start ends with an adapter that does this.
async fn started(given: PeerOptions, moves: &[Move]) -> Result<()> {
    let Scene { debugger, peer, .. } = Scene::new(&given);
    let (started, _open) = tokio::join!(start(&debugger), play(peer, given.capabilities, moves));
    started
}

fn launching(capabilities: Json) -> PeerOptions {
    PeerOptions { capabilities, quirks: &QUIRKS, ..PeerOptions::default() }
}

fn attaching(capabilities: Json) -> PeerOptions {
    PeerOptions { request: StartRequest::Attach, ..launching(capabilities) }
}

#[tokio::test(start_paused = true)]
async fn row_debugpy_adapter_and_js_debug_and_lldb_dap_22_initialized_comes_before_the_answer_to_launch() {
    let moves = [
        Serve("initialize"),
        Take("launch"),
        Initialized,
        Serve("setBreakpoints"),
        Serve("setExceptionBreakpoints"),
        Serve("configurationDone"),
        Answer("launch"),
    ];
    started(launching(all()), &moves).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn row_debuggee_of_debugpy_initialized_never_comes() {
    const DIRECT: Quirks = Quirks { sends_initialized: false, ..QUIRKS };
    let moves = [
        Serve("initialize"),
        Serve("launch"),
        Serve("setBreakpoints"),
        Serve("setExceptionBreakpoints"),
        Serve("configurationDone"),
    ];
    for (quirks, waits) in [(&DIRECT, Duration::ZERO), (&QUIRKS, deadlines::INITIALIZED)] {
        let begin = tokio::time::Instant::now();
        started(PeerOptions { quirks, ..launching(all()) }, &moves).await.unwrap();
        assert_eq!(
            begin.elapsed().as_secs(),
            waits.as_secs(),
            "an adapter that is silent for longer never sends it"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn row_lldb_dap_19_initialized_comes_after_the_answer_to_launch() {
    let moves = [
        Serve("initialize"),
        Serve("launch"),
        Wait(Duration::from_millis(500)),
        Initialized,
        Serve("setBreakpoints"),
        Serve("setExceptionBreakpoints"),
        Serve("configurationDone"),
    ];
    started(launching(all()), &moves).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn row_codelldb_launch_is_answered_once_configuration_done_is_sent() {
    let moves = [
        Serve("initialize"),
        Take("launch"),
        Initialized,
        Serve("setBreakpoints"),
        Serve("setExceptionBreakpoints"),
        Take("configurationDone"),
        Answer("launch"),
        Answer("configurationDone"),
    ];
    started(launching(all()), &moves).await.unwrap();
}

/// It builds the program first, which takes minutes.
#[tokio::test(start_paused = true)]
async fn row_delve_initialized_comes_just_before_the_answer_to_launch_and_there_are_no_filters() {
    let moves = [
        Serve("initialize"),
        Take("launch"),
        Wait(MINUTES),
        Initialized,
        Answer("launch"),
        Serve("setBreakpoints"),
        Serve("configurationDone"),
    ];
    started(launching(without_filters()), &moves).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn row_rdbg_initialized_comes_straight_after_the_answer_to_initialize() {
    let moves = [
        Serve("initialize"),
        Initialized,
        Serve("attach"),
        Serve("setBreakpoints"),
        Serve("setExceptionBreakpoints"),
        Serve("configurationDone"),
    ];
    started(attaching(all()), &moves).await.unwrap();
    let early = [Take("initialize"), Initialized, Answer("initialize")].iter().chain(&moves[2..]).copied();
    started(attaching(all()), &early.collect::<Vec<_>>()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn row_java_bridge_launch_is_answered_while_breakpoints_are_set() {
    let moves = [
        Serve("initialize"),
        Initialized,
        Take("launch"),
        Take("setBreakpoints"),
        Answer("launch"),
        Answer("setBreakpoints"),
        Serve("setExceptionBreakpoints"),
        Serve("configurationDone"),
    ];
    started(launching(all()), &moves).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_launch_may_take_minutes_after_the_configuration_too() {
    let moves = [
        Serve("initialize"),
        Take("launch"),
        Initialized,
        Serve("setBreakpoints"),
        Serve("configurationDone"),
        Wait(MINUTES),
        Answer("launch"),
    ];
    started(launching(without_filters()), &moves).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_launch_that_is_never_answered_meets_its_deadline() {
    let begin = tokio::time::Instant::now();
    let error = started(launching(all()), &[Serve("initialize"), Take("launch")]).await.unwrap_err();
    assert_eq!((error.code(), begin.elapsed()), ("deadline_exceeded", deadlines::LAUNCH));
}

#[tokio::test(start_paused = true)]
async fn configuration_done_is_sent_only_if_supported() {
    let moves = [Serve("initialize"), Initialized, Serve("launch"), Serve("setBreakpoints")];
    let mut scene = Scene::new(&launching(json!({})));
    let (started, peer) = tokio::join!(start(&scene.debugger), play(scene.peer, json!({}), &moves));
    started.unwrap();
    scene.peer = peer.unwrap();
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn the_first_requests_have_the_expected_arguments() {
    let mut scene = Scene::new(&PeerOptions::default());
    let served = async {
        let arguments = scene.peer.serve("initialize", json!({})).await;
        let expected = json!({
            "adapterID": "any", "clientName": "stillframe", "pathFormat": "path",
            "linesStartAt1": true, "columnsStartAt1": true,
            "supportsVariableType": true, "supportsVariablePaging": true, "supportsProgressReporting": true,
            "supportsRunInTerminalRequest": true, "supportsStartDebuggingRequest": false,
        });
        assert_eq!(arguments, expected);
        let arguments = scene.peer.serve("launch", json!({})).await;
        assert_eq!(arguments, json!({ "program": "main", "stopOnEntry": true }));
    };
    let (prepared, ()) = tokio::join!(scene.debugger.prepare(), served);
    prepared.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_attached_program_is_not_stopped_on_entry() {
    let mut scene = Scene::new(&attaching(json!({})));
    let served = async {
        scene.peer.serve("initialize", json!({})).await;
        assert_eq!(scene.peer.serve("attach", json!({})).await, json!({ "program": "main" }));
    };
    let (prepared, ()) = tokio::join!(scene.debugger.prepare(), served);
    prepared.unwrap();
}

/// Where a refusal of `launch` can come.
const REFUSALS: &[(&str, &[Move])] = &[
    (
        "before `initialized`",
        &[Serve("initialize"), Take("launch"), Print("main.c:1: bad\n"), Refuse("launch", "no")],
    ),
    (
        "after `initialized`",
        &[
            Serve("initialize"),
            Take("launch"),
            Initialized,
            Take("setBreakpoints"),
            Print("main.c:1: bad\n"),
            Refuse("launch", "no"),
            Answer("setBreakpoints"),
            Serve("configurationDone"),
        ],
    ),
    (
        "after `initialized`, and `configurationDone` is refused too",
        &[
            Serve("initialize"),
            Take("launch"),
            Initialized,
            Serve("setBreakpoints"),
            Print("main.c:1: bad\n"),
            Refuse("launch", "no"),
            Take("configurationDone"),
            Refuse("configurationDone", "there is nothing to configure"),
        ],
    ),
    (
        "after `configurationDone` was refused",
        &[
            Serve("initialize"),
            Take("launch"),
            Initialized,
            Serve("setBreakpoints"),
            Take("configurationDone"),
            Refuse("configurationDone", "there is nothing to configure"),
            Print("main.c:1: bad\n"),
            Refuse("launch", "no"),
        ],
    ),
    (
        "after `configurationDone`",
        &[
            Serve("initialize"),
            Take("launch"),
            Initialized,
            Serve("setBreakpoints"),
            Serve("configurationDone"),
            Print("main.c:1: bad\n"),
            Refuse("launch", "no"),
        ],
    ),
];

#[tokio::test(start_paused = true)]
async fn a_refused_launch_has_the_adapters_message_and_output() {
    for (when, moves) in REFUSALS {
        let error = started(launching(without_filters()), moves).await.unwrap_err();
        let expected = Error::StartFailed { problem: "no".to_owned(), output: "main.c:1: bad\n".to_owned() };
        assert_eq!(error, expected, "{when}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_launch_is_worded_by_its_language() {
    const PREFIXED: Quirks =
        Quirks { message: |text| text.trim_start_matches("error: ").to_owned(), ..QUIRKS };
    for request in [StartRequest::Launch, StartRequest::Attach] {
        let command = if request == StartRequest::Launch { "launch" } else { "attach" };
        let moves = [Serve("initialize"), Take(command), Refuse(command, "error: no such process")];
        let given = PeerOptions { request, quirks: &PREFIXED, ..launching(all()) };
        let error = started(given, &moves).await.unwrap_err();
        assert_eq!(error.to_string(), "no such process");
    }
}

#[tokio::test(start_paused = true)]
async fn adapter_crash_is_detected_at_each_moment() {
    let moves = [
        Take("initialize"),
        Answer("initialize"),
        Take("launch"),
        Initialized,
        Take("setBreakpoints"),
        Answer("setBreakpoints"),
        Take("configurationDone"),
        Answer("configurationDone"),
    ];
    for count in 0..=moves.len() {
        let begin = tokio::time::Instant::now();
        let until: Vec<_> = moves[..count].iter().copied().chain([Die]).collect();
        let error = started(launching(without_filters()), &until).await.unwrap_err();
        assert_eq!((error, begin.elapsed()), (Error::Lost, Duration::ZERO), "after {count} moves");
    }
    let moves = [Serve("initialize"), Serve("launch"), Die];
    assert_eq!(started(launching(all()), &moves).await, Err(Error::Lost), "before `initialized`");
}
