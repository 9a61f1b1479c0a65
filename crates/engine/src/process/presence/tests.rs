#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// A program of some server.
#[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
fn program(mark: &str) -> Child {
    let mut command = Command::new("sleep");
    command.arg("1000").env(marked::MARK, mark).stdin(Stdio::null()).spawn().unwrap()
}

fn lives(program: &mut Child) -> bool {
    program.try_wait().unwrap().is_none()
}

/// Sweeps until a program was killed. Another test may be starting a process, which has a copy of each file, with its
/// lock, until it runs its own program.
fn sweep_until_killed(folder: &Path, program: &mut Child) {
    let until = Instant::now() + Duration::from_secs(20);
    while lives(program) && Instant::now() < until {
        sweep(folder);
    }
    assert!(program.try_wait().unwrap().is_some_and(|status| !status.success()), "it was not killed");
}

fn id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[test]
fn only_leftovers_of_dead_servers_are_ended() {
    let folder = tempfile::tempdir().unwrap();
    let [gone, alive, unknown] = [id(), id(), id()];
    drop(locked_file(&folder.path().join(&gone)).unwrap());
    let held = locked_file(&folder.path().join(&alive)).unwrap();
    let others = ["", "x", "../etc", &alive.to_uppercase()];
    let mut left = program(&format!("{gone}/session/1/"));
    let mut kept: Vec<Child> = [&alive, &unknown].map(|id| program(&format!("{id}/session/1/"))).into();
    kept.extend(others.iter().map(|id| program(&format!("{id}/session/1/"))));
    for name in ["x", &alive.to_uppercase(), &format!("{gone}.new")] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }

    sweep_until_killed(folder.path(), &mut left);
    assert!(kept.iter_mut().all(lives));
    let here = |name: &str| folder.path().join(name).exists();
    assert_eq!([here(&gone), here(&alive), here("x")], [false, true, true]);

    drop(held);
    sweep_until_killed(folder.path(), &mut kept[0]);
    assert!(kept[1..].iter_mut().all(lives));
    assert!(!here(&alive));
    for mut program in kept.drain(1..) {
        program.kill().unwrap();
        program.wait().unwrap();
    }
}

/// A debugger that detaches from a program has the time for it.
#[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
#[test]
fn leftovers_of_a_dead_server_are_those_of_its_guardian_while_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let gone = id();
    let held = locked_file(&folder.path().join(&gone)).unwrap();
    let mut guardian = Command::new("sleep").arg("1000").stdout(held.try_clone().unwrap()).spawn().unwrap();
    let mut left = program(&format!("{gone}/session/1/"));
    drop(held);
    sweep(folder.path());
    assert!(lives(&mut left));
    guardian.kill().unwrap();
    guardian.wait().unwrap();
    sweep_until_killed(folder.path(), &mut left);
}

#[test]
fn pipes_of_dead_servers_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let [gone, alive] = [id(), id()];
    std::fs::write(folder.path().join(&gone), temporary.path().to_str().unwrap()).unwrap();
    let pipe = |id: &str| temporary.path().join(format!("stillframe-{id}-1"));
    for id in [&gone, &alive] {
        std::fs::write(pipe(id), "").unwrap();
    }
    sweep(folder.path());
    assert_eq!([pipe(&gone).exists(), pipe(&alive).exists()], [false, true]);
}
