//! Against the `node` on the search path.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod harness;

use cdp::{Client, Error, Event, Incoming, Message, debugger, node_runtime, node_worker, runtime};
use harness::{Node, SOON};

/// The next event that `wanted` takes.
async fn next<T>(incoming: &mut Incoming, mut wanted: impl FnMut(Message) -> Option<T>) -> T {
    let found = async {
        loop {
            let message = incoming.recv().await.expect("the connection is open");
            if let Some(found) = wanted(message) {
                return found;
            }
        }
    };
    tokio::time::timeout(SOON, found).await.expect("it happens")
}

async fn paused(incoming: &mut Incoming) -> debugger::Paused {
    let wanted =
        |message| if let Message::Event(Event::Paused(paused)) = message { Some(*paused) } else { None };
    next(incoming, wanted).await
}

async fn worker(incoming: &mut Incoming) -> cdp::Worker {
    next(incoming, |message| if let Message::Worker(worker) = message { Some(*worker) } else { None }).await
}

/// Runs to the program's first statement.
async fn start(client: &Client, incoming: &mut Incoming) -> debugger::Paused {
    client.request(runtime::Enable {}, SOON).await.unwrap();
    client.request(debugger::Enable::default(), SOON).await.unwrap();
    client.request(runtime::RunIfWaitingForDebugger {}, SOON).await.unwrap();
    let paused = paused(incoming).await;
    assert_eq!(paused.reason, "Break on start");
    paused
}

async fn resume(client: &Client) {
    client.request(debugger::Resume::default(), SOON).await.unwrap();
}

fn evaluate(expression: &str) -> runtime::Evaluate {
    runtime::Evaluate { expression: expression.to_owned(), ..Default::default() }
}

fn in_frame(paused: &debugger::Paused, expression: &str) -> debugger::EvaluateOnCallFrame {
    debugger::EvaluateOnCallFrame {
        call_frame_id: paused.call_frames[0].call_frame_id.clone(),
        expression: expression.to_owned(),
        ..Default::default()
    }
}

#[tokio::test]
async fn breakpoint_set_before_its_script_loads_is_hit() {
    let mut node =
        Node::start("function double(x) {\n  return x * 2;\n}\ndouble(21);\nprocess.exitCode = 5;\n").await;
    let (client, mut incoming) = node.connect().await;
    client.request(node_runtime::NotifyWhenWaitingForDisconnect { enabled: true }, SOON).await.unwrap();
    client.request(debugger::Enable::default(), SOON).await.unwrap();
    let url = node.script_url();
    let wanted =
        debugger::SetBreakpointByUrl { line_number: 1, url: Some(url.clone()), ..Default::default() };
    let breakpoint = client.request(wanted.clone(), SOON).await.unwrap();
    assert_eq!(breakpoint.locations, []);
    let again = client.request(wanted, SOON).await.unwrap_err();
    let Error::Refused { command: "Debugger.setBreakpointByUrl", code: -32000, message } = again else {
        panic!("{again}")
    };
    assert_eq!(message, "Breakpoint at specified location already exists.");

    client.request(runtime::RunIfWaitingForDebugger {}, SOON).await.unwrap();
    let script = next(&mut incoming, |message| match message {
        Message::Event(Event::ScriptParsed(script)) if script.url == url => Some(script),
        _ => None,
    });
    let script = script.await;
    let resolved = next(&mut incoming, |message| match message {
        Message::Event(Event::BreakpointResolved(resolved)) => Some(resolved),
        _ => None,
    });
    let resolved = resolved.await;
    assert_eq!(
        (resolved.breakpoint_id, resolved.location.line_number),
        (breakpoint.breakpoint_id.clone(), 1)
    );
    assert_eq!(paused(&mut incoming).await.reason, "Break on start");
    resume(&client).await;
    let stop = paused(&mut incoming).await;
    assert_eq!(stop.hit_breakpoints, [breakpoint.breakpoint_id]);
    let frame = &stop.call_frames[0];
    assert_eq!((frame.function_name.as_str(), &frame.location.script_id), ("double", &script.script_id));
    assert_eq!(frame.scope_chain[0].kind, "local");

    let answer = client.request(in_frame(&stop, "x + 1"), SOON).await.unwrap();
    assert_eq!(answer.result.value, Some(22.into()));
    let scope = frame.scope_chain[0].object.object_id.clone().unwrap();
    let listed = client
        .request(runtime::GetProperties { object_id: scope, ..Default::default() }, SOON)
        .await
        .unwrap();
    assert_eq!(listed.result.iter().map(|property| property.name.as_str()).collect::<Vec<_>>(), ["x"]);
    let source = debugger::GetScriptSource { script_id: script.script_id.clone() };
    assert!(client.request(source, SOON).await.unwrap().script_source.starts_with("function double"));

    resume(&client).await;
    next(&mut incoming, |message| {
        matches!(message, Message::Event(Event::WaitingForDisconnect)).then_some(())
    })
    .await;
    let late = client.request(debugger::StepOver {}, SOON).await.unwrap_err();
    assert!(matches!(late, Error::Refused { code: -32000, .. }), "{late}");
    drop(client);
    assert_eq!(node.end().await.code(), Some(5), "the program is held until its debugger is gone");
    assert!(incoming.recv().await.is_none());
}

#[tokio::test]
async fn endless_evaluation_is_terminated_and_session_continues() {
    let mut node = Node::start("const answer = 42;\nanswer;\n").await;
    let (client, mut incoming) = node.connect().await;
    let stop = start(&client, &mut incoming).await;
    let endless = debugger::EvaluateOnCallFrame { timeout: Some(50), ..in_frame(&stop, "for (;;);") };
    let refused = client.request(endless, SOON).await.unwrap_err();
    let expected = Error::Refused {
        command: "Debugger.evaluateOnCallFrame",
        code: -32000,
        message: refused.to_string(),
    };
    assert_eq!(refused, expected);
    assert_eq!(refused.to_string(), "Execution was terminated");
    client.request(debugger::StepOver {}, SOON).await.unwrap();
    let stop = paused(&mut incoming).await;
    let answer = client.request(in_frame(&stop, "answer"), SOON).await.unwrap();
    assert_eq!(answer.result.value, Some(42.into()));
    let impure =
        debugger::EvaluateOnCallFrame { throw_on_side_effect: true, ..in_frame(&stop, "globalThis.x = 1") };
    let details = client.request(impure, SOON).await.unwrap().exception_details.unwrap();
    let exception = details.exception.unwrap().description.unwrap();
    assert!(exception.starts_with("EvalError: Possible side-effect"), "{exception}");
    drop(client);
    assert!(node.end().await.success(), "it runs on when its debugger goes");
}

#[tokio::test]
async fn reply_of_any_length_arrives_or_fails_alone() {
    let node = Node::start("0;\n").await;
    let (client, mut incoming) = node.connect().await;
    start(&client, &mut incoming).await;
    let long = client.request(evaluate("'x'.repeat(20e6)"), SOON).await.unwrap().result.value.unwrap();
    assert_eq!(long.as_str().unwrap().len(), 20_000_000);
    let refused = client.request(evaluate("'x'.repeat(100e6)"), SOON).await.unwrap_err();
    assert!(refused.to_string().ends_with("above the limit of 67108864"), "{refused}");
    let answer = client.request(evaluate("6 * 7"), SOON).await.unwrap();
    assert_eq!(answer.result.value, Some(42.into()));
}

#[tokio::test]
async fn any_text_round_trips() {
    let node = Node::start("0;\n").await;
    let (client, mut incoming) = node.connect().await;
    start(&client, &mut incoming).await;
    let table = [
        ("'ä😀\u{2028}'", "ä😀\u{2028}"),
        ("'\\ud800 x'", "\u{fffd} x"),
        ("'\\ud83d\\ude00'", "😀"),
        ("'\\\\ud800\\0'", "\\ud800\0"),
    ];
    for (expression, expected) in table {
        let answer = client.request(evaluate(expression), SOON).await.unwrap();
        assert_eq!(answer.result.value, Some(expected.into()), "{expression}");
    }
}

#[tokio::test]
async fn calls_of_bindings_and_of_the_console_are_events() {
    let mut node = Node::start("tell('ä');\nconsole.log('out', 1);\nthrow new TypeError('bad');\n").await;
    let (client, mut incoming) = node.connect().await;
    start(&client, &mut incoming).await;
    let binding = runtime::AddBinding { name: "tell".to_owned(), ..Default::default() };
    client.request(binding, SOON).await.unwrap();
    let uncaught = debugger::SetPauseOnExceptions { state: debugger::PauseOnExceptions::Uncaught };
    client.request(uncaught, SOON).await.unwrap();
    resume(&client).await;
    let mut observed = Vec::new();
    let stop = next(&mut incoming, |message| {
        match message {
            Message::Event(Event::BindingCalled(called)) => observed.push(called.payload),
            Message::Event(Event::ConsoleApiCalled(called)) => {
                observed.push(format!("{} {}", called.kind, called.args.len()));
            }
            Message::Event(Event::Paused(paused)) => return Some(paused),
            _ => {}
        }
        None
    })
    .await;
    assert_eq!(observed, ["ä", "log 2"]);
    assert_eq!(stop.reason, "exception");
    assert_eq!(stop.data.unwrap()["className"], "TypeError");
    drop(client);
    assert_eq!(node.end().await.code(), Some(1));
}

#[tokio::test]
async fn workers_are_separate_targets() {
    let script = "const { Worker, isMainThread, workerData: depth } = require('worker_threads');\n\
        const start = (depth) => new Worker(__filename, { workerData: depth });\n\
        let busy = true;\n\
        const spin = () => { while (busy) Math.random(depth); };\n\
        if (isMainThread) start(1), process.exitCode = 3;\n\
        else if (depth === 1) start(2);\n\
        else spin();\n";
    let mut node = Node::start(script).await;
    let (client, mut incoming) = node.connect().await;
    client.request(node_worker::Enable { wait_for_debugger_on_start: true }, SOON).await.unwrap();
    start(&client, &mut incoming).await;
    resume(&client).await;

    let mut first = worker(&mut incoming).await;
    assert_eq!(first.attached.worker_info.url, node.script_url());
    let stop = start(&first.client, &mut first.incoming).await;
    // Node 20 can only take this as ASCII.
    let answer = first.client.request(in_frame(&stop, "'ä😀\\ud800'"), SOON).await.unwrap();
    assert_eq!(answer.result.value, Some("ä😀\u{fffd}".into()));
    let answer = client.request(evaluate("process.pid > 0"), SOON).await.unwrap();
    assert_eq!(answer.result.value, Some(true.into()), "the main thread runs");
    resume(&first.client).await;

    let mut second = worker(&mut incoming).await;
    assert_ne!(second.attached.session_id, first.attached.session_id, "the main thread tells of all workers");
    start(&second.client, &mut second.incoming).await;
    let entered = debugger::SetBreakpointByUrl {
        line_number: 3,
        column_number: Some(35),
        url: Some(node.script_url()),
        ..Default::default()
    };
    let entered = second.client.request(entered, SOON).await.unwrap();
    resume(&second.client).await;
    assert_eq!(paused(&mut second.incoming).await.hit_breakpoints.len(), 1);
    let removed = debugger::RemoveBreakpoint { breakpoint_id: entered.breakpoint_id };
    second.client.request(removed, SOON).await.unwrap();
    resume(&second.client).await;
    // Before that, a pause is acknowledged and lost.
    next(&mut second.incoming, |message| matches!(message, Message::Event(Event::Resumed)).then_some(()))
        .await;
    second.client.request(debugger::Pause {}, SOON).await.unwrap();
    let stop = paused(&mut second.incoming).await;
    let answer = second.client.request(in_frame(&stop, "busy = depth < 2, depth"), SOON).await.unwrap();
    assert_eq!(answer.result.value, Some(2.into()));

    resume(&second.client).await;
    let ended = async { while second.incoming.recv().await.is_some() {} };
    tokio::time::timeout(SOON, ended).await.expect("the worker ends");
    assert_eq!(second.client.request(debugger::StepOut {}, SOON).await.unwrap_err(), Error::Closed);
    drop(client);
    assert_eq!(node.end().await.code(), Some(3));
}

#[tokio::test]
async fn program_exit_closes_the_connection() {
    let mut node = Node::start("0;\n").await;
    let (client, mut incoming) = node.connect().await;
    start(&client, &mut incoming).await;
    let answer = client.request(evaluate("process.kill(process.pid, 'SIGKILL')"), SOON).await;
    assert_eq!(answer.unwrap_err(), Error::Closed);
    let ended = async { while incoming.recv().await.is_some() {} };
    tokio::time::timeout(SOON, ended).await.expect("nothing more can come");
    assert!(!node.end().await.success());
}

#[tokio::test]
async fn port_lists_its_targets() {
    let node = Node::start("0;\n").await;
    for host in ["127.0.0.1", "localhost"] {
        let targets = cdp::discovery::targets(host, node.address.port, SOON).await.unwrap();
        let [target] = &targets[..] else { panic!("{targets:?}") };
        assert_eq!((target.address.host.as_str(), &target.address.id), (host, &node.address.id));
        assert_eq!(target.url, node.script_url());
        let (client, _incoming, driver) = cdp::connect(&target.address, SOON).await.unwrap();
        tokio::spawn(driver);
        client.request(runtime::Enable {}, SOON).await.unwrap();
    }
    let stale =
        cdp::Address { id: "00000000-0000-0000-0000-000000000000".to_owned(), ..node.address.clone() };
    let Err(error) = cdp::connect(&stale, SOON).await else { panic!("no such debuggee") };
    assert!(matches!(error, cdp::ConnectError::NotAnInspector { .. }), "{error}");
}
