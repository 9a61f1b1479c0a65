//! Processes that a program starts: they join the session.

mod pools;

use serde_json::{Value, json};
use test_support::{Answer, Fixture};

use crate::debugging::{Debugging, Report};
use crate::script::{Script, with_packages};

/// A program that starts `child.py` in some way, and the child, which stops at `inside` and exits with 5.
fn family(start: &str) -> (Script, Fixture) {
    let script = Script::new(&format!(
        "import os, subprocess, sys\nchild = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'child.py')\n{start}\n"
    ));
    let child = "import sys\nvalue = int(sys.argv[1]) * 2\nprint('child', value, flush=True)  # @inside\nsys.exit(5)\n";
    let child = script.file("child.py", child);
    (script, child)
}

/// Stops in the child, and returns the report.
async fn stopped_in(script: &Script, child: &Fixture) -> (Debugging, Answer) {
    let session = Debugging::new().await;
    session.break_at(child, "inside").await;
    let stopped = session.start(script).await;
    assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
    assert_eq!(stopped.place(), (child.path(), child.line("inside")));
    (session, stopped)
}

#[tokio::test]
async fn a_breakpoint_in_a_child_stops_and_its_exit_reaches_the_parent() {
    let (script, child) = family(
        "done = subprocess.run([sys.executable, child, '21'])\nprint('exit', done.returncode)  # @after",
    );
    let (session, stopped) = stopped_in(&script, &child).await;
    assert_eq!(stopped.variable("value"), "42");
    assert_eq!(stopped.at("/stackFrames/0/name"), "<module>");
    assert_eq!(stopped["stackFrames"].as_array().map(Vec::len), Some(1), "{}", stopped.text);
    assert_eq!(session.evaluate("value + 1").await, "43");
    assert_eq!(session.evaluate("sys.argv[1:]").await, "['21']");
    session.break_at(&script, "after").await;
    let after = session.go_on().await;
    assert_eq!(after.place(), (script.path(), script.line("after")));
    assert_eq!(
        (after.text_of("output"), session.evaluate("done.returncode").await),
        ("child 42\n", "5".to_owned())
    );
    assert_eq!(session.run_to_the_end().await["output"], "exit 5\n");
    session.finish().await;
}

#[tokio::test]
async fn parent_and_child_are_both_listed_as_threads() {
    let (script, child) = family("subprocess.run([sys.executable, child, '1'])");
    let (session, stopped) = stopped_in(&script, &child).await;
    let listed = session.ok("list_threads", json!({})).await;
    let threads = listed["threads"].as_array().unwrap();
    let mut states: Vec<_> = threads
        .iter()
        .map(|thread| (thread["state"].clone(), thread["id"] == *stopped.at("/location/threadId")))
        .collect();
    states.sort_by_key(|(_, current)| *current);
    assert_eq!(states, [(json!("running"), false), (json!("paused"), true)], "{}", listed.text);
    assert_ne!(threads[0]["processId"], threads[1]["processId"]);
    session.finish().await;
}

#[tokio::test]
async fn every_kind_of_python_child_joins_the_session() {
    let table = [
        "sys.exit(subprocess.run([sys.executable, child, '4']).returncode)",
        "sys.exit(subprocess.run([sys.executable, '-I', child, '4']).returncode)",
        "sys.exit(subprocess.run([sys.executable, '-X', 'utf8', '-u', child, '4']).returncode)",
        "sys.exit(subprocess.run([sys.executable, '-m', 'child', '4'], cwd=os.path.dirname(child)).returncode)",
        "sys.exit(subprocess.call([sys.executable, '-c', 'import sys, runpy; runpy.run_path(sys.argv[0])', '4']))",
        "sys.exit(subprocess.run(['python3', child, '4'], env={**os.environ, 'OWN': '1'}).returncode)",
        "sys.exit(subprocess.run([sys.executable, child, '4'], env={}).returncode)",
        "os.execv(sys.executable, [sys.executable, child, '4'])",
        "sys.exit(os.WEXITSTATUS(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, child, '4']) << 8))",
    ];
    for start in table {
        let start = start.replace("sys.argv[0])', '4'", "sys.argv[1], run_name=\"__main__\")', child, '4'");
        let start = if start.contains("runpy") {
            start
                .replace("import sys, runpy;", "import sys, runpy; del sys.argv[0];")
                .replace("sys.argv[1]", "sys.argv[0]")
        } else {
            start
        };
        let (script, child) = family(&start);
        let (session, stopped) = stopped_in(&script, &child).await;
        assert_eq!(stopped.variable("value"), "8", "{start}");
        let ended = session.go_on().await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(5)), "{start}: {}", ended.text);
        assert_eq!(session.written("stdout").await, "child 8\n", "{start}");
        assert_eq!(session.written("stderr").await, "", "{start}");
        session.finish().await;
    }
}

/// As the commands of packages are, such as `pytest`. pydevd 1.8.22 follows interpreters by their names.
#[tokio::test]
async fn a_script_that_is_started_by_its_name_or_by_a_shell_joins_too() {
    let table = [
        "sys.exit(subprocess.call([tool, '4']))",
        "os.execvp(tool, [tool, '4'])",
        "sys.exit(subprocess.call(f'OWN=1 {tool} 4', shell=True))",
        "sys.exit(os.WEXITSTATUS(os.system(f'{sys.executable} {child} 4')))",
    ];
    for start in table {
        let (script, child) = family(&format!(
            "tool = child[:-3]\nwith open(tool, 'w') as file:\n    file.write(f'#!{{sys.executable}} -u\\nimport \
             runpy\\nrunpy.run_path({{child!r}}, run_name=\"__main__\")\\n')\nos.chmod(tool, 0o755)\n{start}"
        ));
        let (session, stopped) = stopped_in(&script, &child).await;
        assert_eq!(stopped.variable("value"), "8", "{start}");
        let ended = session.go_on().await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(5)), "{start}: {}", ended.text);
        session.finish().await;
    }
}

/// What is started by a name runs as it does without a debugger, also where it is no script of Python's.
#[tokio::test]
async fn programs_that_are_started_by_name_run_as_usual() {
    let script = Script::new(
        "\
import os, subprocess, sys

os.chdir(os.path.dirname(os.path.abspath(__file__)))
os.mkdir('real')


def write(name, text):
    with open(name, 'w') as file:
        file.write(text)
    os.chmod(name, 0o755)


def run(args, **more):
    done = subprocess.run(args, capture_output=True, text=True, **more)
    return done.returncode, done.stdout


write('missing', '#!/usr/bin/env no-such-interpreter\\n')
write('apart', '#!/usr/bin/env -S OWN=1 python3\\nimport os; print(os.environ[\"OWN\"])\\n')
write('real/helper.py', 'NAME = \"here\"\\n')
write('real/tool', f'#!{sys.executable}\\nimport helper, sys; print(helper.NAME, sys.argv)\\n')
os.symlink('real/tool', 'tool')
print(run(['./missing'])[0], run(['./apart']), run(map(str, ['echo', 1])), run('test -f nowhere', shell=True)[0])
print(run(['./tool', 'a b']), os.spawnv(os.P_WAIT, 'real', ['real']))
",
    );
    let (session, ended) = script.start().await;
    let expected = "127 (0, '1\\n') (0, '1\\n') 1\n(0, \"here ['./tool', 'a b']\\n\") 127\n";
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", expected), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_grandchild_joins_too() {
    let (script, child) = family(
        "code = 'import subprocess, sys; subprocess.run([sys.executable, sys.argv[1], \"3\"])'\nsubprocess.run([sys.executable, '-c', code, child])",
    );
    let (session, stopped) = stopped_in(&script, &child).await;
    assert_eq!(stopped.variable("value"), "6");
    session.finish_at_end().await;
}

/// The intermediate process has exited, although its child has inherited its open files.
#[tokio::test]
async fn a_daemon_is_debugged_after_its_parent_exited() {
    let script = Script::new(
        r#"
import os, time

if os.fork() == 0:
    if os.fork():
        os._exit(0)
    rounds = 0
    while True:
        rounds += 1  # @round
        time.sleep(0.02)
os.wait()
print("alone", flush=True)
time.sleep(1000)
"#,
    );
    let session = Debugging::new().await;
    session.break_at(&script, "round").await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("round")), "{}", stopped.text);
    let processes = async || {
        let listed = session.ok("list_threads", json!({})).await;
        let threads = listed["threads"].as_array().unwrap();
        let pids = threads.iter().filter_map(|thread| thread["processId"].as_u64());
        pids.collect::<std::collections::BTreeSet<_>>().len()
    };
    let mut rounds = 0;
    while !session.written("stdout").await.contains("alone") || processes().await != 2 {
        assert!(rounds < 200, "the one between counts as alive");
        rounds += 1;
        let next = session.go_on().await;
        assert_eq!(next.place(), (script.path(), script.line("round")), "{}", next.text);
    }
    assert_eq!(session.evaluate("rounds").await, rounds.to_string());
    session.finish().await;
}

/// pydevd follows what Python starts, and this is started by the shell.
#[tokio::test]
async fn a_child_of_a_script_for_a_shell_runs_undebugged() {
    let (script, child) = family(
        "done = subprocess.run(f'{sys.executable} {child} 4; echo $?', shell=True, capture_output=True, text=True)\nprint(repr(done.stdout), repr(done.stderr))",
    );
    let session = Debugging::new().await;
    session.break_at(&child, "inside").await;
    let ended = session.start(&script).await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "'child 8\\n5\\n' ''\n"));
    session.finish().await;
}

#[tokio::test]
async fn output_to_a_pipe_of_the_parent_is_not_the_sessions() {
    let (script, _) = family(
        "done = subprocess.run([sys.executable, child, '4'], capture_output=True, text=True)\nprint(repr(done.stdout), repr(done.stderr))",
    );
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "'child 8\\n' ''\n"));
    session.finish().await;
}

#[tokio::test]
async fn a_child_outlives_its_parent_and_still_stops() {
    let script = Script::new(
        r#"
import os, subprocess, sys

read, write = os.pipe()
child = os.path.join(os.path.dirname(__file__), "late.py")
subprocess.Popen([sys.executable, child, str(write)], pass_fds=[write])
os.read(read, 1)
print("parent ends", flush=True)
"#,
    );
    let late = "import os, sys, time\nparent = os.getppid()\nos.write(int(sys.argv[1]), b'.')\nwhile os.getppid() == parent:\n    time.sleep(0.01)\nprint('child goes on', flush=True)  # @late\n";
    let late = script.file("late.py", late);
    let session = Debugging::new().await;
    session.break_at(&late, "late").await;
    let stopped = session.start(&script).await;
    assert_eq!(
        (stopped.outcome(), stopped.text_of("output")),
        ("breakpoint", "parent ends\n"),
        "{}",
        stopped.text
    );
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "child goes on\n");
    session.finish().await;
}

/// Otherwise they would wait for a debugger forever.
#[tokio::test]
async fn closing_the_session_ends_all_children() {
    let (script, child) = family(
        "waiting = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'], start_new_session=True)\nsubprocess.run([sys.executable, child, '1'])",
    );
    let (session, _) = stopped_in(&script, &child).await;
    let mark = session.server.mark().clone();
    assert!(mark.processes().len() >= 4, "{:?}", mark.processes());
    session.ok("close_debug_session", json!({})).await;
    let left: Vec<Value> = mark
        .processes()
        .iter()
        .map(|(_, line)| json!(line))
        .filter(|line| line.as_str().unwrap().contains("child.py"))
        .collect();
    assert_eq!(left, Vec::<Value>::new());
    session.finish().await;
}

/// The program has exited before its child connects, and nothing else reports the child.
#[tokio::test]
async fn a_child_joins_although_its_parent_exits_at_once() {
    let child = Script::new("answer = 6 * 7\nprint(answer)  # @child\n");
    let parent = child.file(
        "parent.py",
        r"
import subprocess, sys

subprocess.Popen([sys.executable, sys.argv[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
",
    );
    let session = Debugging::new().await;
    session.break_at(&child, "child").await;
    let arguments = json!({ "scriptPath": parent.path(), "args": [child.path()] });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!(stopped.place(), (child.path(), child.line("child")), "{}", stopped.text);
    session.finish_at_end().await;
}

/// joblib sends its workers the code of functions of the main module, and cloudpickle leaves the file out.
#[tokio::test]
async fn a_function_that_is_sent_to_a_worker_stops_there() {
    let script = Script::new(
        "\
from joblib import Parallel, delayed


def square(n):
    value = n * n
    return value  # @square


if __name__ == '__main__':
    print(Parallel(n_jobs=2)(delayed(square)(n) for n in range(4)))
",
    );
    let session = with_packages().await;
    session.break_with(&script, "square", json!({ "condition": "n == 3" })).await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("square")), "{}", stopped.text);
    assert_eq!(stopped.variable("value"), "9");
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "[0, 1, 4, 9]\n");
    session.finish().await;
}
