#![allow(clippy::all, clippy::pedantic, missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use engine::{adapter, model::{launch::*, limits::Limits, breakpoint::Rule}, session::{Outcome, placing::Wanted}, sessions::Sessions, snapshot::Snapshot};
use std::time::{Duration, Instant};
#[tokio::main]
async fn main() {
    let sessions = Sessions::new();
    for round in 0..3 {
        let t = Instant::now();
        let s = sessions.open(adapter::by_name("python").unwrap(), "x".into(), Some("/root/.pyenv/versions/3.11.7/bin/python".into()));
        let bp = s.set_breakpoint(Wanted { file: Some("/tmp/dbg/x/prog.py".into()), line: Some(3), ..Default::default() }).await;
        println!("{:?} {bp:?}", t.elapsed());
        let bp = s.set_breakpoint(Wanted { file: Some("/tmp/dbg/x/prog.py".into()), statement: Some("b = a".into()), rule: Rule{condition: Some("a == 20".into()), ..Default::default()}, ..Default::default() }).await;
        println!("{:?} {bp:?}", t.elapsed());
        s.start(Start::Launch(Launch { program: Program::Script("/tmp/dbg/x/prog.py".into()), args: vec![], cwd: None, env: Default::default(), stdin: Stdin::Empty, stop_on_entry: false, just_my_code: true })).await.unwrap();
        let o = s.wait(tokio::time::Instant::now() + Duration::from_secs(10)).await;
        println!("{:?} {o:?}", t.elapsed());
        if let Outcome::Stopped(stop) = o {
            let t = Instant::now();
            let snap = Snapshot::take(&s, stop, Limits::default()).await;
            println!("snapshot {:?} {snap:#?}", t.elapsed());
            s.resume().await.unwrap();
            let o = s.wait(tokio::time::Instant::now() + Duration::from_secs(10)).await;
            println!("{:?} {o:?} {:?}", t.elapsed(), s.breakpoints().await);
            for _ in 0..5 { let t = Instant::now(); s.step(None, engine::debugger::Step::Over).await.unwrap(); 
            let o = s.wait(tokio::time::Instant::now() + Duration::from_secs(10)).await;
            println!("step {:?} {}", t.elapsed(), s.execution().as_str()); if !matches!(o, Outcome::Stopped(_)) {break}}
        }
        s.resume().await;
        println!("{:?} {:?}", s.wait(tokio::time::Instant::now() + Duration::from_secs(10)).await, s.take_new_output(100));
        sessions.close(&s).await;
        println!("{:?}", t.elapsed());
    }
}
