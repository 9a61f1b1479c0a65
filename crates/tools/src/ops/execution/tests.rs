use std::time::Duration;

use engine::adapter::{self, Machine};
use engine::debugger::Event;
use engine::debugger::fake::{self, FakeConnector, FakeProgram};
use engine::model::ids::RawId;
use engine::model::launch::{Launch, Program, Start};
use engine::model::limits::Limits;
use engine::model::stop::StopReason;
use engine::session::SessionOptions;
use engine::sessions::Sessions;
use journal::Journal;

use super::*;

/// A debugger that does not answer a step or a resume costs no more time than the call was given.
#[tokio::test(start_paused = true)]
async fn unresponsive_debugger_is_not_awaited_longer_than_the_program() {
    let (connector, programs) = FakeConnector::new();
    let session = Session::spawn(SessionOptions {
        id: engine::model::ids::SessionId::random(),
        name: "test".to_owned(),
        adapter: adapter::by_name("python").unwrap(),
        host: &Machine,
        executable: None,
        connector: std::sync::Arc::new(connector),
        journal: Journal::none(),
        policy: std::sync::Arc::default(),
    });
    let (program, arrivals) = FakeProgram::new();
    programs.send(program).unwrap();
    let (debugger, events, arrival) = fake::process();
    arrivals.send(arrival).await.unwrap();
    let launch = Launch::new(Program::Module("m".to_owned()));
    session.start(Start::Launch(launch)).await.unwrap();
    let context = Context::new(Sessions::new());
    let stop = async || {
        let (reason, breakpoints) = (StopReason::Breakpoint, Vec::new());
        events.send(Event::Stopped { thread: RawId(1), reason, text: None, breakpoints }).await.unwrap();
        let minute = Instant::now() + Duration::from_mins(1);
        let outcome = session.wait(minute).await;
        let Outcome::Stopped(stop) = outcome else { panic!("{outcome:?}") };
        session.mark_stop_reported(&stop);
    };
    for request in ["step", "resume"] {
        debugger.hold(request);
    }
    // A call that waits for nothing gives the debugger a moment all the same.
    for (asked, waited) in [(3000, 3000), (0, 1000)] {
        let wait = Wait::new(&Bounds::default(), Some(asked), Limits::default()).unwrap();
        stop().await;
        let began = Instant::now();
        let stepped = step(&session, None, Step::Over, wait, &context).await.unwrap();
        assert!(matches!(stepped, Settled::Running { .. }), "{stepped:?}");
        assert_eq!(began.elapsed(), Duration::from_millis(waited));
        stop().await;
        let began = Instant::now();
        let resumed = resume(&session, wait, &context).await.unwrap();
        assert!(matches!(resumed, Settled::Running { .. }), "{resumed:?}");
        assert_eq!(began.elapsed(), Duration::from_millis(waited));
    }
}
