//! `probe`, `trace`, `test` and `hang` there.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use test_support::{Fixture, Mark};
use tokio::process::Command;

use crate::STILLFRAME;
use crate::machine::Machine;

/// A folder here, the same folder there, and a command between them.
struct Pair {
    machine: Machine,
    mark: Mark,
}

impl Pair {
    async fn start(fixture: &str) -> Self {
        let machine = Machine::start().await;
        let program = Fixture::python(fixture);
        for side in ["here", "there"] {
            let folder = machine.folder().join(side);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::copy(program.path(), folder.join("main.py")).unwrap();
        }
        Self { machine, mark: Mark::default() }
    }

    fn command(&self, args: &[&str]) -> Command {
        self.command_in("here", args)
    }

    fn command_in(&self, folder: &str, args: &[&str]) -> Command {
        let [here, there] =
            ["here", "there"].map(|side| self.machine.folder().join(side).display().to_string());
        let (name, mark) = self.mark.variable();
        let mut command = STILLFRAME.command();
        let (first, rest) = args.split_first().unwrap();
        command
            .arg(first)
            .args(["--via", &self.machine.address(), "--map", &format!("{there}={here}")])
            .args(rest);
        command
            .current_dir(self.machine.folder().join(folder))
            .env("PATH", self.machine.path())
            .env(name, mark);
        command
    }

    /// What it prints, and its exit code.
    async fn run(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let output = self.command(args).output().await.unwrap();
        self.mark.assert_gone_within(std::time::Duration::from_secs(5));
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (stdout, stderr, output.status.code())
    }
}

#[tokio::test]
async fn a_command_runs_there_with_its_output_exit_code_and_journal_here() {
    let pair = Pair::start("shop").await;
    let line = Fixture::python("shop").line("total");
    let here = pair.machine.folder().join("here/main.py").display().to_string();
    let place = format!("main.py:{line}");
    let (stdout, stderr, code) = pair.run(&["probe", &place, "-e", "__file__", "--json"]).await;
    assert_eq!(code, Some(0), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["location"]["file"], here.as_str());
    let there = format!("{}/main.py:", pair.machine.folder().join("there").display());
    let journal = pair.machine.folder().join("journal.log").display().to_string();
    let (stdout, stderr, code) =
        pair.run(&["trace", &format!("{there}{line}"), "-e", "amount", "--log-file", &journal]).await;
    assert!(stdout.contains("11") && code == Some(0), "{stdout}{stderr}");
    assert!(std::fs::read_to_string(&journal).unwrap().contains("session:created"));
    // Its own errors.
    let (_, stderr, code) = pair.run(&["probe", "none.py"]).await;
    assert!(stderr.contains("none.py") && code == Some(1), "{stderr}");
    let (_, stderr, code) = pair.run(&["probe", &place, "--condition", "amount == 0"]).await;
    assert_eq!(code, Some(3), "{stderr}");
}

/// A program whose values, output and exception have a path in them.
const SAYS: &str = r#"
data = "DATA"
print(data, flush=True)
raise ValueError(f"no {data}")
"#;

#[tokio::test]
async fn a_mapping_may_name_a_folder_there_by_a_link() {
    let pair = Pair::start("shop").await;
    let [here, there, link] =
        ["here", "there", "current"].map(|name| pair.machine.folder().join(name).display().to_string());
    std::os::unix::fs::symlink("there", &link).unwrap();
    for side in [&here, &there] {
        std::fs::write(Path::new(side).join("main.js"), "const total = 6 * 7;\nconsole.log(total);\n")
            .unwrap();
    }
    for spelled in [link, format!("{here}/../there")] {
        let (name, mark) = pair.mark.variable();
        let mut probe = STILLFRAME.command();
        probe.args(["probe", "--via", &pair.machine.address(), "--map", &format!("{spelled}={here}")]);
        probe.args(["main.js:2", "-e", "total", "--json"]).current_dir(&here);
        let output = probe.env("PATH", pair.machine.path()).env(name, mark).output().await.unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["location"]["file"], format!("{here}/main.js"), "{spelled}: {report:#}");
        assert!(!report.to_string().contains(&there), "{report:#}");
        pair.mark.assert_gone_within(std::time::Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_relative_path_is_understood_where_both_machines_share_a_folder() {
    let machine = Machine::start().await;
    let (program, mark) = (Fixture::python("shop"), Mark::default());
    let shared = machine.folder().join("shared");
    std::fs::create_dir_all(shared.join("src")).unwrap();
    std::fs::copy(program.path(), shared.join("src/main.py")).unwrap();
    let (name, mark_text) = mark.variable();
    let mut probe = STILLFRAME.command();
    let place = format!("src/main.py:{}", program.line("total"));
    probe.args(["probe", "--via", &machine.address(), &place, "-e", "amount"]).current_dir(&shared);
    let output = probe.env("PATH", machine.path()).env(name, mark_text).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("breakpoint at {place}")), "{text}{:?}", output.stderr);
    mark.assert_gone_within(std::time::Duration::from_secs(5));
}

#[tokio::test]
async fn reports_are_printed_here_with_the_values_of_the_program() {
    let pair = Pair::start("shop").await;
    let data = pair.machine.folder().join("there/x").display().to_string();
    for side in ["here", "there"] {
        let file = pair.machine.folder().join(side).join("says.py");
        std::fs::write(file, SAYS.replace("DATA", &data)).unwrap();
    }
    let (stdout, stderr, code) = pair.run(&["probe", "says.py:4", "-e", "data"]).await;
    assert!(stdout.starts_with("breakpoint at says.py:4 in <module>\n"), "{stdout}{stderr}");
    assert!(stdout.contains(&format!("output\n  {data}\n")) && code == Some(0), "{stdout}");
    // From the folder above, where a path is that of this side.
    let command = pair.command_in(".", &["trace", "here/says.py:3", "-e", "data", "--json"]).output();
    let traced: Value = serde_json::from_slice(&command.await.unwrap().stdout).unwrap();
    let here = pair.machine.folder().join("here/says.py").display().to_string();
    assert_eq!(traced["points"][0]["file"], here.as_str(), "{traced:#}");
    assert_eq!(traced["rows"][0]["values"][0]["value"], format!("'{data}'"));
    let output = traced["output"].as_str().unwrap();
    assert!(output.contains(&format!("{data}\n")) && !output.contains("/here/"), "{traced:#}");
    let output = pair.command_in(".", &["trace", "here/says.py:3", "-e", "data"]).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("here/says.py:3 "), "{text}");
    // Each of them can be read here.
    let ran = pair.run(&["hang", "--", "python3", "says.py"]).await;
    assert!(ran.0.contains(&data) && !ran.0.contains("\"answer\""), "{ran:?}");
    let tested = pair.run(&["test", "--", "python3", "-m", "unittest", "says"]).await;
    assert!(tested.0.contains(&format!("no {data}")) && !tested.0.contains("\"answer\""), "{tested:?}");
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_interrupted_command_and_a_lost_connection_end_the_program_there() {
    let pair = Pair::start("naps").await;
    let is_program = |(_, command): &(u32, String)| command.contains("main.py") && !command.contains("hang");
    for kills in [false, true] {
        let mut command = pair.command(&["hang", "--timeout", "100", "--", "python3", "main.py"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        test_support::eventually(|| pair.mark.processes().iter().any(is_program)).await;
        if kills {
            let processes = pair.mark.processes();
            let engine = processes.iter().find(|(_, command)| command.contains("ssh -F")).unwrap();
            pair.mark.kill(engine.0);
        } else {
            test_support::interrupt(child.id().unwrap());
        }
        let output = child.wait_with_output().await.unwrap();
        pair.mark.assert_gone_within(std::time::Duration::from_secs(5));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(if kills { 1 } else { 130 }), "{stderr}");
        assert_eq!(stderr.contains("lost the connection to `ssh://127.0.0.1"), kills, "{stderr}");
    }
}
