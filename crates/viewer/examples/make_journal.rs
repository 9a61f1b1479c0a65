//! Writes a big journal of plausible sessions: `make_journal FILE --entries N`, or `--bytes N`.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use jiff::Timestamp;
use journal::Entry;
use journal::entry::{
    BreakpointChange, BreakpointEvent, Call, Closed, Created, Event, Location, OutputWritten, Response,
    SourceWindow, State, StateEvent, Variable, Variables,
};
use serde_json::{Map, Value, json};

/// How many sessions are open at the same time.
const BESIDE: u64 = 3;
/// How many stops a session has.
const STOPS: u64 = 40;

struct Maker {
    file: BufWriter<File>,
    /// In milliseconds since 1970.
    time: i64,
    calls: u64,
    entries: u64,
    bytes: u64,
}

impl Maker {
    fn write(&mut self, session: u64, event: Event) -> io::Result<()> {
        self.time += 7;
        let time = Timestamp::from_millisecond(self.time).unwrap_or_default();
        let id = format!("{session:08x}-0000-4000-8000-{session:012x}");
        let name = if session.is_multiple_of(2) { "checkout total" } else { "import of orders" };
        let line = serde_json::to_vec(&Entry::at(time, Some((id, name.to_owned())), event))?;
        self.entries += 1;
        self.bytes += line.len() as u64 + 1;
        self.file.write_all(&line)?;
        self.file.write_all(b"\n")
    }

    fn call(&mut self, session: u64, tool: &str, request: Value, response: Value) -> io::Result<()> {
        self.calls += 1;
        let (tool, call_id) = (tool.to_owned(), format!("{:08x}-{}", session, self.calls));
        let (request, response) = (object(request), object(response));
        self.write(session, Event::Call(Call { tool: tool.clone(), call_id: call_id.clone(), request }))?;
        self.write(session, Event::Response(Response { tool, call_id, success: true, response }))
    }

    fn open(&mut self, session: u64) -> io::Result<()> {
        let language = if session.is_multiple_of(2) { "python" } else { "javascript" };
        self.write(
            session,
            Event::Created(Created {
                language: language.to_owned(),
                executable_path: None,
                server: Some(4711),
            }),
        )?;
        let request = json!({"file": "~/shop/cart.py", "line": 14, "condition": "total > 100"});
        self.call(session, "set_breakpoint", request, json!({"breakpointId": "bp-1", "verified": false}))?;
        for (event, verified) in [(BreakpointEvent::Set, false), (BreakpointEvent::Verified, true)] {
            self.write(session, Event::Breakpoint(breakpoint(event, verified)))?;
        }
        Ok(())
    }

    fn stop(&mut self, session: u64, stop: u64) -> io::Result<()> {
        self.write(session, Event::State(State::of(StateEvent::Running)))?;
        let output = format!("item {stop} of session {session}\n");
        self.write(
            session,
            Event::Output(OutputWritten { category: "stdout".to_owned(), output, omitted: 0 }),
        )?;
        self.write(session, Event::Breakpoint(breakpoint(BreakpointEvent::Hit, true)))?;
        let frame = stop * 10;
        let place = |line, function: &str, frame| Location {
            file: "~/shop/cart.py".to_owned(),
            line,
            function: function.to_owned(),
            frame_id: Some(frame),
        };
        let source = SourceWindow {
            first_line: 4,
            lines: (4..25).map(|line| format!("    total = total + prices[{line}]")).collect(),
        };
        let state = State {
            reason: Some("breakpoint".to_owned()),
            location: Some(place(14, "total_of", frame)),
            thread_id: Some(1),
            stack: vec![place(14, "total_of", frame), place(30, "main", frame + 1)],
            source: Some(source),
            ..State::of(StateEvent::Paused)
        };
        self.write(session, Event::State(state))?;
        let variables: Vec<Variable> = (0..6)
            .map(|number| Variable {
                name: format!("value_{number}"),
                type_name: "int".to_owned(),
                value: (stop * number).to_string(),
                variables_reference: None,
            })
            .collect();
        let read = Variables {
            frame_id: Some(frame),
            scope: Some("Locals".to_owned()),
            variables_reference: None,
            variable_count: 6,
            variables,
        };
        self.write(session, Event::Variables(read))?;
        let result = json!({"result": (stop * 3).to_string(), "type": "int"});
        self.call(session, "evaluate_expression", json!({"expression": "sum(prices)"}), result)?;
        let at = json!({"file": "~/shop/cart.py", "line": 14, "function": "total_of"});
        let report = json!({"success": true, "state": "paused", "reason": "breakpoint", "location": at});
        self.call(session, "continue_execution", json!({"sessionId": "the session"}), report)
    }

    fn close(&mut self, session: u64) -> io::Result<()> {
        let reason = Some("exited with code 0".to_owned());
        self.write(session, Event::State(State { reason, ..State::of(StateEvent::Stopped) }))?;
        self.write(session, Event::Closed(Closed { duration: 4000 }))
    }
}

fn breakpoint(event: BreakpointEvent, verified: bool) -> BreakpointChange {
    BreakpointChange {
        event,
        breakpoint_id: "bp-1".to_owned(),
        file: "~/shop/cart.py".to_owned(),
        line: 14,
        verified,
        function: None,
        condition: Some("total > 100".to_owned()),
        log_message: None,
    }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, unit, count] = arguments.as_slice() else {
        return Err(io::Error::other("make_journal FILE (--entries N | --bytes N)"));
    };
    let count: u64 = count.parse().map_err(io::Error::other)?;
    let (most_entries, most_bytes) = if unit == "--bytes" { (u64::MAX, count) } else { (count, u64::MAX) };
    let file = BufWriter::new(File::create(path)?);
    let mut maker = Maker { file, time: 1_736_180_000_000, calls: 0, entries: 0, bytes: 0 };
    for round in 0.. {
        let sessions = || (0..BESIDE).map(|beside| round * BESIDE + beside);
        sessions().try_for_each(|session| maker.open(session))?;
        for stop in 0..STOPS {
            sessions().try_for_each(|session| maker.stop(session, stop))?;
            if maker.entries >= most_entries || maker.bytes >= most_bytes {
                return maker.file.flush();
            }
        }
        sessions().try_for_each(|session| maker.close(session))?;
    }
    Ok(())
}
