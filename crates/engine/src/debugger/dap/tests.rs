//! Any server of the protocol, without code of ours inside the program.

use serde_json::{Value as Json, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};

use super::*;
use crate::adapter::python::Python;
use crate::debugger::RuleFor;
use crate::model::breakpoint::Rule;
use crate::model::ids::BreakpointId;
use crate::model::stop::StopReason;
use crate::output::Category;
use crate::policy::SharedPolicy;
use crate::recording::{Cells, Record, Recorder};

/// The server's side, driven by hand.
struct Peer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Peer {
    async fn receive(&mut self) -> Json {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.reader.read_line(&mut line).await.unwrap(), 0, "the client is there");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    async fn send(&mut self, message: &Json) {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.writer.write_all(framed.as_bytes()).await.unwrap();
    }

    async fn event(&mut self, name: &str, body: Json) {
        self.send(&json!({ "type": "event", "seq": 1, "event": name, "body": body })).await;
    }

    async fn respond(&mut self, request: &Json, fields: Json) {
        let mut response = json!({
            "type": "response", "seq": 1, "request_seq": request["seq"], "command": request["command"], "success": true,
        });
        response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.send(&response).await;
    }

    /// Expects a request, answers it, and gives what it carried.
    async fn serve(&mut self, command: &str, body: Json) -> Json {
        let request = self.receive().await;
        assert_eq!(request["command"], command);
        self.respond(&request, json!({ "body": body })).await;
        request["arguments"].clone()
    }
}

struct Scene {
    debugger: DapDebugger,
    events: mpsc::Receiver<Event>,
    output: Output,
    peer: Peer,
}

impl Scene {
    fn new(launch: bool) -> Self {
        Self::of(launch, None)
    }

    /// `children` is there for an adapter that somebody else started.
    fn of(launch: bool, children: Option<mpsc::Sender<Map<String, Json>>>) -> Self {
        let (ours, theirs) = duplex(1 << 20);
        let output = Output::new();
        let arguments = json!({ "program": "main", "stopOnEntry": true });
        let setup = DapSetup {
            adapter_id: "any",
            launch,
            arguments: arguments.as_object().unwrap().clone(),
            inspector: None,
            is_local: false,
        };
        let (debugger, events) = DapDebugger::connect(
            split(ours),
            &Python,
            setup,
            true,
            children,
            output.clone(),
            SharedPolicy::default(),
        );
        let (reader, writer) = split(theirs);
        Self { debugger, events, output, peer: Peer { reader: BufReader::new(reader), writer } }
    }

    /// Past the start, with a server that offers this.
    async fn ready(capabilities: Json) -> Self {
        let mut scene = Self::new(true);
        let served = async {
            scene.peer.serve("initialize", capabilities).await;
            scene.peer.serve("launch", json!({})).await;
        };
        let (prepared, ()) = tokio::join!(scene.debugger.prepare(), served);
        prepared.unwrap();
        scene
    }
}

fn at(line: u32, id: u32, rule: Rule) -> SourceBreakpoint {
    SourceBreakpoint { line, column: None, rules: vec![RuleFor { id: BreakpointId(id), rule }] }
}

/// Its adapter takes nobody any more when somebody comes before that.
#[tokio::test(start_paused = true)]
async fn who_comes_after_us_comes_when_debugpys_adapter_has_let_go_of_us() {
    let (children, _announced) = mpsc::channel(1);
    let Scene { debugger, events: _events, mut peer, .. } = Scene::of(false, Some(children));
    let mut leaving = tokio::spawn(async move { debugger.detach().await });
    assert_eq!(peer.serve("disconnect", json!({})).await, json!({ "terminateDebuggee": false }));
    let early = tokio::time::timeout(deadlines::GOODBYE / 2, &mut leaving).await;
    assert!(early.is_err(), "the connection is still open");
    let closed = tokio::time::Instant::now();
    drop(peer);
    leaving.await.unwrap().unwrap();
    assert!(closed.elapsed() >= deadlines::FORGET);
}

#[tokio::test(start_paused = true)]
async fn an_adapter_that_takes_connections_and_does_not_answer_is_told_of() {
    let (children, _announced) = mpsc::channel(1);
    let scene = Scene::of(false, Some(children));
    let problem = scene.debugger.prepare().await.unwrap_err();
    assert_eq!(problem.code(), "environment");
    let asked = "a debugger takes connections there, but did not answer `initialize` within 5000 ms";
    assert_eq!(problem.to_string(), asked);
}

#[tokio::test]
async fn a_start_is_open_when_either_the_event_or_the_answer_comes() {
    for by_event in [true, false] {
        let mut scene = Scene::new(true);
        let served = async {
            let asked = scene.peer.serve("initialize", json!({})).await;
            assert_eq!((&asked["adapterID"], &asked["linesStartAt1"]), (&json!("any"), &json!(true)));
            let launch = scene.peer.receive().await;
            assert_eq!(
                (&launch["command"], &launch["arguments"]["stopOnEntry"]),
                (&json!("launch"), &json!(true))
            );
            if by_event {
                scene.peer.event("initialized", json!({})).await;
            } else {
                scene.peer.respond(&launch, json!({})).await;
            }
        };
        let (prepared, ()) = tokio::join!(scene.debugger.prepare(), served);
        prepared.unwrap();
    }
}

#[tokio::test]
async fn one_that_is_attached_to_is_not_stopped_on_entry() {
    let mut scene = Scene::new(false);
    let served = async {
        scene.peer.serve("initialize", json!({})).await;
        let asked = scene.peer.serve("attach", json!({})).await;
        assert_eq!(asked, json!({ "program": "main" }));
    };
    let (prepared, ()) = tokio::join!(scene.debugger.prepare(), served);
    prepared.unwrap();
}

#[tokio::test]
async fn a_refused_start_has_the_servers_words() {
    let mut scene = Scene::new(true);
    let served = async {
        scene.peer.serve("initialize", json!({})).await;
        let launch = scene.peer.receive().await;
        scene.peer.respond(&launch, json!({ "success": false, "message": "no such program" })).await;
    };
    let (prepared, ()) = tokio::join!(scene.debugger.prepare(), served);
    assert_eq!(prepared.unwrap_err(), Error::Refused("no such program".to_owned()));
}

/// debugpy's adapter does not answer what it does not offer, and answers nothing more after it.
#[tokio::test]
async fn nothing_is_asked_for_that_was_not_offered() {
    let mut scene = Scene::ready(json!({})).await;
    let debugger = &scene.debugger;
    debugger.run().await.unwrap();
    debugger.set_exception_mode(ExceptionMode::All).await.unwrap();
    debugger.set_function_breakpoints(Vec::new()).await.unwrap();
    let function = FunctionBreakpoint { name: "f".to_owned(), rules: Vec::new() };
    let refused = [
        debugger.set_function_breakpoints(vec![function]).await.unwrap_err(),
        debugger.set_variable(RawId(1), "x", "2", 10).await.unwrap_err(),
        debugger.exception(RawId(1)).await.unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.code() == "unsupported"), "{refused:?}");
    let (threads, asked) =
        tokio::join!(debugger.threads(), scene.peer.serve("threads", json!({ "threads": [] })));
    assert_eq!((threads.unwrap(), asked), (Vec::new(), json!({})), "the first request since the start");
}

#[tokio::test]
async fn only_offered_exception_filters_are_chosen() {
    let filters = json!({ "exceptionBreakpointFilters": [{ "filter": "uncaught", "label": "" }] });
    let mut scene = Scene::ready(filters).await;
    let chosen = scene.peer.serve("setExceptionBreakpoints", json!({}));
    let (set, asked) = tokio::join!(scene.debugger.set_exception_mode(ExceptionMode::All), chosen);
    set.unwrap();
    assert_eq!(asked, json!({ "filters": ["uncaught"] }));
}

#[tokio::test]
async fn breakpoints_carry_their_rule_and_are_what_the_server_says_of_them() {
    let mut scene = Scene::ready(json!({})).await;
    let rule = Rule {
        condition: Some("x > 1".to_owned()),
        hit_condition: Some("% 2".parse().unwrap()),
        ..Rule::default()
    };
    let wanted = vec![at(3, 1, rule), at(9, 2, Rule::default()), at(12, 3, Rule::default())];
    let answer = json!({ "breakpoints": [
        { "id": 7, "verified": true, "line": 4 },
        { "id": 8, "verified": false, "message": "not yet" },
    ] });
    let served = scene.peer.serve("setBreakpoints", answer);
    let (planted, asked) = tokio::join!(scene.debugger.set_breakpoints(Path::new("/w/main"), wanted), served);
    assert_eq!(asked["source"]["path"], "/w/main");
    assert_eq!(asked["breakpoints"][0], json!({ "line": 3, "condition": "x > 1", "hitCondition": "% 2" }));
    let expected = [
        Planted::on(Some(4)),
        Planted::NotLoaded("not yet".to_owned()),
        Planted::Refused("the debugger did not answer for it".to_owned()),
    ];
    assert_eq!(planted.unwrap(), expected);

    scene
        .peer
        .event("stopped", json!({ "reason": "breakpoint", "threadId": 5, "hitBreakpointIds": [7] }))
        .await;
    let stopped = Event::Stopped {
        thread: RawId(5),
        reason: StopReason::Breakpoint,
        text: None,
        breakpoints: vec![BreakpointId(1)],
    };
    assert_eq!(scene.events.recv().await, Some(stopped));
    scene
        .peer
        .event(
            "breakpoint",
            json!({ "reason": "changed", "breakpoint": { "id": 8, "verified": true, "line": 10 } }),
        )
        .await;
    let bound = Event::Planted { id: BreakpointId(2), planted: Planted::on(Some(10)) };
    assert_eq!(scene.events.recv().await, Some(bound));
}

#[tokio::test]
async fn two_rules_on_one_line_are_more_than_a_server_takes() {
    let scene = Scene::ready(json!({})).await;
    let rule = |id: u32| RuleFor {
        id: BreakpointId(id),
        rule: Rule { condition: Some("x".to_owned()), ..Rule::default() },
    };
    let wanted = vec![SourceBreakpoint { line: 3, column: None, rules: vec![rule(1), rule(2)] }];
    let error = scene.debugger.set_breakpoints(Path::new("/w/main"), wanted).await.unwrap_err();
    assert_eq!(error.code(), "unsupported");
}

#[tokio::test]
async fn values_are_not_recorded_without_code_of_ours_in_the_program() {
    let scene = Scene::ready(json!({})).await;
    let record = Record {
        expressions: vec!["x".to_owned()],
        sample_every: 1,
        only_when_changed: false,
        max_rows: 1,
        cells: Cells::Text(10),
        recorder: Recorder::new(1).unwrap(),
    };
    let rule = RuleFor { id: BreakpointId(1), rule: Rule { record: Some(record), ..Rule::default() } };
    let wanted = vec![SourceBreakpoint { line: 3, column: None, rules: vec![rule] }];
    let error = scene.debugger.set_breakpoints(Path::new("/w/main"), wanted).await.unwrap_err();
    assert_eq!(error.code(), "unsupported");
}

/// debugpy 1.8.22 ignores `start` and `count`, so pages are cut here.
#[tokio::test]
async fn lists_are_cut_into_pages_and_texts_to_a_length() {
    let mut scene = Scene::ready(json!({})).await;
    let all: Vec<Json> = ["__doc__", "a", "b", "c"]
        .iter()
        .map(|name| json!({ "name": name, "value": "éxyz", "type": "str", "variablesReference": 0 }))
        .collect();
    let page = Page { start: 1, count: 1, special: false, internals: false };
    let served = scene.peer.serve("variables", json!({ "variables": all }));
    let (children, _) = tokio::join!(scene.debugger.variables(RawId(9), page, 2), served);
    let children = children.unwrap();
    assert_eq!((children.total, children.start, children.hidden), (3, 1, 1));
    let shown: Vec<_> =
        children.variables.iter().map(|shown| (shown.name.as_str(), shown.value.text.as_str())).collect();
    assert_eq!(shown, [("b", "éx...")]);
    let value = &children.variables[0].value;
    assert_eq!((value.cut, value.length, value.reference), (true, Some(4), None));
}

#[tokio::test]
async fn locals_are_the_scope_that_is_called_so() {
    let mut scene = Scene::ready(json!({})).await;
    let scopes = json!({ "scopes": [
        { "name": "Registers", "variablesReference": 1, "expensive": true },
        { "name": "Local", "variablesReference": 2, "expensive": false },
    ] });
    let served = async {
        assert_eq!(scene.peer.serve("scopes", scopes).await, json!({ "frameId": 4 }));
        assert_eq!(scene.peer.serve("variables", json!({ "variables": [] })).await["variablesReference"], 2);
    };
    let page = Page { start: 0, count: 10, special: false, internals: false };
    let (locals, ()) = tokio::join!(scene.debugger.locals(RawId(4), page, 10), served);
    assert_eq!(locals.unwrap().0, "Local");
}

#[tokio::test]
async fn an_expression_that_the_server_refuses_has_raised() {
    let mut scene = Scene::ready(json!({})).await;
    let request = Evaluate {
        expression: "x".to_owned(),
        frame: RawId(4),
        deadline: Duration::from_secs(1),
        text: 10,
        pure: false,
    };
    let served = async {
        let asked = scene.peer.receive().await;
        assert_eq!(asked["arguments"], json!({ "expression": "x", "frameId": 4, "context": "watch" }));
        scene.peer.respond(&asked, json!({ "success": false, "message": "no x here" })).await;
    };
    let (value, ()) = tokio::join!(scene.debugger.evaluate(request), served);
    let error = value.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("evaluation_failed", "no x here"));
}

#[tokio::test]
async fn an_expression_that_may_change_nothing_is_not_even_sent() {
    let scene = Scene::ready(json!({})).await;
    let deadline = Duration::from_secs(3);
    let request = Evaluate { expression: "x".to_owned(), frame: RawId(4), deadline, text: 10, pure: true };
    let error = scene.debugger.evaluate(request).await.unwrap_err();
    assert_eq!(error.code(), "unsupported");
    assert!(error.to_string().contains("`sideEffects`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_expression_that_is_never_answered_meets_its_deadline() {
    let mut scene = Scene::ready(json!({})).await;
    let deadline = Duration::from_secs(3);
    let request = Evaluate { expression: "x".to_owned(), frame: RawId(4), deadline, text: 10, pure: false };
    let (value, _) = tokio::join!(scene.debugger.evaluate(request), scene.peer.receive());
    assert_eq!(value.unwrap_err().code(), "deadline_exceeded");
}

/// debugpy 1.8.22 appends where it paused to the name of an exception, and marks a frame in its stack.
#[tokio::test]
async fn what_debugpy_adds_to_an_exception_is_taken_away() {
    let mut scene = Scene::ready(json!({ "supportsExceptionInfoRequest": true })).await;
    let note = "(note: full exception trace is shown but execution is paused at: f)";
    let info = json!({
        "exceptionId": format!("ValueError\n\n{note}"),
        "description": format!("bad {note}"),
        "breakMode": "unhandled",
        "details": { "stackTrace": "  File \"m.py\", line 2, in f (Current frame)\n    raise\n" },
    });
    let (exception, _) =
        tokio::join!(scene.debugger.exception(RawId(1)), scene.peer.serve("exceptionInfo", info));
    let expected = Exception {
        type_name: "ValueError".to_owned(),
        message: "bad".to_owned(),
        stack: "  File \"m.py\", line 2, in f\n    raise\n".to_owned(),
        uncaught: true,
    };
    assert_eq!(exception.unwrap(), expected);
}

#[tokio::test]
async fn frames_that_are_not_the_programs_are_left_out() {
    let mut scene = Scene::ready(json!({})).await;
    let frame = |id: u32, name: &str, path: &str| json!({ "id": id, "name": name, "line": 3, "column": 1, "source": { "path": path } });
    let frames = json!({ "totalFrames": 9, "stackFrames": [
        frame(1, "work (Current frame)", "/w/main.py"),
        frame(2, "[Chained Exc: boom] low", "/w/main.py"),
        frame(3, "decode", "/usr/lib/python3.11/json/decoder.py"),
        frame(4, "<module>", "<string>"),
        frame(5, "more", "/w/main.py"),
    ] });
    let served = scene.peer.serve("stackTrace", frames);
    let (stack, asked) = tokio::join!(scene.debugger.stack_trace(RawId(1), 0, 4), served);
    assert_eq!(asked, json!({ "threadId": 1, "startFrame": 0, "levels": 4 }));
    let stack = stack.unwrap();
    let names: Vec<_> = stack.frames.iter().map(|frame| (frame.name.as_str(), frame.is_internal())).collect();
    assert_eq!(
        (stack.total, names.as_slice()),
        (8, [("work", false), ("decode", true), ("<module>", false), ("more", false)].as_slice())
    );
    let generated = &stack.frames[2].location.as_ref().unwrap().source;
    assert_eq!((&generated.path, generated.name.as_str()), (&None, "<string>"), "code that is in no file");
}

#[tokio::test]
async fn output_is_sorted_by_its_category() {
    let mut scene = Scene::ready(json!({})).await;
    for (category, text) in [("stdout", "a"), ("stderr", "b"), ("important", "c"), ("telemetry", "d")] {
        scene.peer.event("output", json!({ "category": category, "output": text })).await;
    }
    scene.peer.event("continued", json!({ "threadId": 1 })).await;
    assert_eq!(scene.events.recv().await, Some(Event::Continued));
    let pieces = scene.output.tail(0, 100).pieces;
    let seen: Vec<_> = pieces.iter().map(|piece| (piece.category, piece.text.as_str())).collect();
    assert_eq!(seen, [(Category::Stdout, "a"), (Category::Stderr, "b"), (Category::Console, "c")]);
}

/// The adapter behind a port of `debugpy.listen` stays when the program has ended, with the connection open.
#[tokio::test]
async fn the_end_of_the_program_ends_the_events_even_when_the_connection_stays() {
    let mut scene = Scene::ready(json!({})).await;
    scene.peer.event("exited", json!({ "exitCode": 0 })).await;
    scene.peer.event("terminated", json!({})).await;
    assert_eq!(scene.events.recv().await, Some(Event::Left));
    assert_eq!(scene.events.recv().await, None);
}

#[tokio::test]
async fn a_closed_connection_ends_the_events_and_fails_what_waits() {
    let Scene { debugger, mut events, peer, .. } = Scene::ready(json!({})).await;
    let (threads, ()) = tokio::join!(debugger.threads(), async { drop(peer) });
    assert_eq!(threads.unwrap_err(), Error::Lost);
    assert_eq!(events.recv().await, Some(Event::Left));
}

#[tokio::test]
async fn what_a_server_asks_of_us_is_declined() {
    let mut scene = Scene::ready(json!({})).await;
    scene
        .peer
        .send(&json!({ "type": "request", "seq": 3, "command": "runInTerminal", "arguments": {} }))
        .await;
    let declined = scene.peer.receive().await;
    assert_eq!((&declined["request_seq"], &declined["success"]), (&json!(3), &json!(false)));
    assert_eq!(declined["message"], "`runInTerminal` is not served");
}
