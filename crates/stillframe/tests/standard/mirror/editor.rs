//! An editor as a test has it: the product's own client of DAP.

use std::time::Duration;

use dap::{
    Attach, Capabilities, Client, ConfigurationDone, Empty, Error, Event, Incoming, Initialize,
    InitializeArguments, Message, OutputEvent, Request, Scopes, ScopesArguments, StackFrame, StackTrace,
    StackTraceArguments, StoppedEvent, Threads, Variable, Variables, VariablesArguments,
};
use serde_json::{Value, json};
use test_support::Answer;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::debugging::Debugging;

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// An editor that is connected to a session.
pub(super) struct Editor {
    client: Client,
    incoming: Incoming,
    /// What the program wrote, with the category of each piece.
    pub(super) output: Vec<(String, String)>,
}

/// Exposes a session, and returns what the agent hands to the person.
pub(super) async fn expose(session: &Debugging, options: Value) -> Answer {
    session.ok("expose_session", options).await
}

pub(super) fn port(exposed: &Answer) -> u16 {
    exposed["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("a port")
}

impl Editor {
    /// Connects, and says nothing yet.
    pub(super) async fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("the port is open");
        let (reader, writer) = stream.into_split();
        let (client, incoming, driver) = dap::connect(reader, writer);
        tokio::spawn(driver);
        Self { client, incoming, output: Vec::new() }
    }

    /// Attaches to a session that is exposed anew.
    pub(super) async fn on(session: &Debugging, options: Value) -> Self {
        Self::attached(&expose(session, options).await).await
    }

    /// Attaches as editors do.
    pub(super) async fn attached(exposed: &Answer) -> Self {
        let editor = Self::connect(port(exposed)).await;
        editor.hello().await;
        editor.attach(exposed.text_of("token")).await.expect("the token is right");
        editor.ask::<ConfigurationDone>(Empty {}).await;
        editor
    }

    pub(super) async fn hello(&self) -> Capabilities {
        let arguments = InitializeArguments {
            adapter_id: "stillframe".to_owned(),
            lines_start_at1: true,
            columns_start_at1: true,
            path_format: "path".to_owned(),
            ..InitializeArguments::default()
        };
        self.ask::<Initialize>(arguments).await
    }

    pub(super) async fn attach(&self, token: &str) -> Result<Empty, Error> {
        self.attach_with(json!({ "mirrorToken": token })).await
    }

    pub(super) async fn attach_with(&self, arguments: Value) -> Result<Empty, Error> {
        let arguments = arguments.as_object().expect("an object").clone();
        self.client.request::<Attach>(arguments, PATIENCE).await
    }

    /// Asks for something that is to succeed.
    pub(super) async fn ask<R: Request>(&self, arguments: R::Arguments) -> R::Response {
        let answer = self.client.request::<R>(arguments, PATIENCE).await;
        answer.unwrap_or_else(|error| panic!("{}: {error}", R::COMMAND))
    }

    /// Asks for something that is to be refused, and returns the words.
    pub(super) async fn refused<R: Request>(&self, arguments: R::Arguments) -> String {
        match self.client.request::<R>(arguments, PATIENCE).await {
            Err(Error::Refused { message, .. }) => message,
            Err(error) => panic!("{}: {error}", R::COMMAND),
            Ok(_) => panic!("{} was not refused", R::COMMAND),
        }
    }

    /// The next message except output; None when the connection has ended.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            let reported = timeout(PATIENCE, self.incoming.recv()).await.expect("something comes")?;
            match reported {
                Message::Event(Event::Output(OutputEvent { category, output, .. })) => {
                    self.output.push((category.unwrap_or_default(), output));
                }
                // Breakpoint events arrive in between.
                Message::Event(Event::Initialized | Event::Breakpoint(_)) => {}
                Message::Event(event) => return Some(event),
                Message::Request(request) => panic!("an editor is asked for {}", request.command),
            }
        }
    }

    /// It may send its breakpoints.
    pub(super) async fn invited(&mut self) {
        let reported = timeout(PATIENCE, self.incoming.recv()).await.expect("something comes");
        assert!(matches!(reported, Some(Message::Event(Event::Initialized))), "{reported:?}");
    }

    /// The next breakpoint event, skipping anything else.
    pub(super) async fn breakpoint(&mut self) -> dap::BreakpointEvent {
        loop {
            let reported = timeout(PATIENCE, self.incoming.recv()).await.expect("something comes");
            if let Message::Event(Event::Breakpoint(event)) = reported.expect("the connection is open") {
                return event;
            }
        }
    }

    /// The next event is a stop.
    pub(super) async fn stopped(&mut self) -> StoppedEvent {
        match self.next().await {
            Some(Event::Stopped(stop)) => stop,
            other => panic!("no stop, but {other:?}"),
        }
    }

    /// The next event is that the program runs.
    pub(super) async fn continued(&mut self) {
        let reported = self.next().await;
        assert!(matches!(reported, Some(Event::Continued(_))), "{reported:?}");
    }

    /// No further stop arrives before the connection ends.
    pub(super) async fn gone(&mut self) {
        while let Some(event) = self.next().await {
            assert!(!matches!(event, Event::Stopped(_)), "{event:?}");
        }
    }

    /// The output of a stream that it has received.
    pub(super) fn written(&self, category: &str) -> String {
        self.output.iter().filter(|(kind, _)| kind == category).map(|(_, text)| text.as_str()).collect()
    }

    /// The frames of the thread that stopped.
    pub(super) async fn frames(&self, stop: &StoppedEvent) -> Vec<StackFrame> {
        let thread_id = stop.thread_id.expect("a stop has a thread");
        let threads = self.ask::<Threads>(Empty {}).await.threads;
        assert!(threads.iter().any(|thread| thread.id == thread_id), "{threads:?}");
        self.ask::<StackTrace>(StackTraceArguments { thread_id, ..Default::default() }).await.stack_frames
    }

    /// The variables of a frame's first scope.
    pub(super) async fn locals(&self, frame: &StackFrame) -> Vec<Variable> {
        let scopes = self.ask::<Scopes>(ScopesArguments { frame_id: frame.id }).await.scopes;
        let variables_reference = scopes[0].variables_reference;
        self.children(variables_reference).await
    }

    pub(super) async fn children(&self, variables_reference: i64) -> Vec<Variable> {
        let arguments = VariablesArguments { variables_reference, ..Default::default() };
        self.ask::<Variables>(arguments).await.variables
    }
}

/// Where a frame is.
pub(super) fn place(frame: &StackFrame) -> (&str, i64) {
    let path = frame.source.as_ref().and_then(|source| source.path.as_deref());
    (path.unwrap_or_default(), frame.line)
}
