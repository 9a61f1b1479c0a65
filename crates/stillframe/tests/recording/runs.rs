//! How runs are recorded, whatever the program does.

use serde_json::json;
use test_support::{Fixture, python_with_packages};

use crate::recorder::{Client, at, has, pythons, written};

#[tokio::test]
async fn two_runs_part_at_the_first_different_step_and_value() {
    let program = Fixture::python("recording_runs");
    for python in pythons() {
        Client::new(&python).await.compares_runs(&program).await;
    }
}

/// Python gives strings other hashes in each process, so that the members of a set come in another order.
#[tokio::test]
async fn the_order_of_a_set_is_not_where_two_runs_part() {
    let text = "import sys\n\n\ndef known(words):\n    names = set()\n    names.update(words)\n    limit = int(sys.argv[1])\n    \
                return len(names) > limit  # @decided\n\n\nprint(known('one two three four five six seven eight'.split()))\n";
    let (_folder, program) = written("main.py", text);
    let client = Client::new("python3").await;
    for limit in ["3", "3", "4"] {
        client.record(&program, &[limit]).await;
    }
    let same = client.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-2" })).await;
    has(&same, &["no recorded value differs", "both runs take the same steps"]);
    let limits = client.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-3" })).await;
    has(
        &limits,
        &["first different value:", "limit = 3 by ", "limit = 4 by ", "both runs take the same steps"],
    );
    client.server.finish().await;
}

/// Up to Python 3.11, coverage.py would trace in place of the recorder.
#[tokio::test]
async fn a_program_under_coverage_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    Fixture::write(folder.path(), "half.py", "def half(n):\n    return n / 2\n");
    let text =
        "import sys\nfrom half import half\n\nprint(half(3), sys.version_info < (3, 12))  # @printed\n";
    let program = Fixture::write(folder.path(), "main.py", text);
    let python = python_with_packages().await;
    let client = Client::new("coverage").await;
    let arguments =
        json!({ "command": python, "args": ["-m", "coverage", "run", "main.py"], "cwd": folder.path() });
    let said = client.ask("record_run", arguments).await;
    has(&said, &["exited with code 0", "1.5"]);
    let is_traced = said.contains("1.5 True");
    assert_eq!(said.contains("it would take the place of the recorder"), is_traced, "{said}");
    let first = client.ask("find_first", json!({ "condition": "n == 3" })).await;
    has(&first, &["half.py:1 in half", &at(&program, "printed")]);
    client.server.finish().await;
}

/// What the program has done until it is killed is there.
#[tokio::test]
async fn a_killed_program_is_recorded_to_its_last_line() {
    let text = "import os, signal\n\n\ndef spin():\n    count = 0\n    while True:\n        count += 1\n        \
                if count == 5000:\n            os.kill(os.getpid(), signal.SIGKILL)  # @killed\n\n\nspin()\n";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        has(&said, &["the program killed by signal 9"]);
        let state = client.ask("state_at", json!({ "at": "end" })).await;
        has(&state, &["before ", &at(&program, "killed"), "count = 5000"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn the_programs_own_code_is_not_run_by_the_recorder() {
    let text = "class Loud:\n    def __init__(self):\n        self.value = 1\n\n    def __repr__(self):\n        \
                print('repr')\n        return 'x'\n\n    def __eq__(self, other):\n        print('eq')\n        return \
                True\n\n    __hash__ = None\n\n    def __len__(self):\n        print('len')\n        return 1\n\n    \
                def __getattr__(self, name):\n        print('getattr')\n        raise AttributeError(name)\n\n\n\
                class Odd(dict):\n    def __iter__(self):\n        print('iter')\n        return iter(())\n\n    def \
                keys(self):\n        print('keys')\n        return ()\n\n\nclass Names(Odd):\n    def __getitem__(self, key):\n        print('getitem')\n\n    def \
                items(self):\n        print('items')\n        return ()\n\n    def __contains__(self, key):\n        \
                print('contains')\n\n\nclass Open:\n    def __init__(self):\n        self.__dict__ = Names()\n        \
                self.size = 1\n\n\ndef use(one, odd, box):\n    both = [one, Loud()]\n    both.append(odd)\n    \
                odd['a'] = one\n    one.value = 2\n    box.size = 3\n    both.pop(0)\n    return both  # @used\n\n\n\
                use(Loud(), Odd(), Open())\nprint('done')\n";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        assert!(said.ends_with("output:\ndone\n"), "{python}: {said}");
        let state = client.ask("state_at", json!({ "at": at(&program, "used") })).await;
        has(
            &state,
            &[
                "one = Loud(value=2)",
                "odd = Odd('a': Loud(value=2))",
                "box = Open(size=3)",
                "both = [Loud(value=1), Odd(",
            ],
        );
        client.server.finish().await;
    }
}

#[tokio::test]
async fn recordings_are_listed_and_removed() {
    let program = Fixture::python("recording_runs");
    let client = Client::new("python3").await;
    assert_eq!(client.ask("list_recordings", json!({})).await, "no recordings\n");
    client.record(&program, &["5"]).await;
    client.record(&program, &["6"]).await;
    let listed = client.ask("list_recordings", json!({})).await;
    has(&listed, &["rec-2: main.py 6; exited with code 0, ", " events, ", "rec-1: main.py 5; "]);
    assert_eq!(client.ask("remove_recordings", json!({ "recording": "rec-1" })).await, "removed: 1\n");
    assert!(!client.ask("list_recordings", json!({})).await.contains("rec-1"));
    assert_eq!(client.ask("remove_recordings", json!({ "recording": "all" })).await, "removed: 1\n");
    let folder = client.state.path().join("stillframe/recordings");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    client.server.finish().await;
}

#[tokio::test]
async fn other_languages_are_unsupported() {
    let (_folder, program) = written("main.rb", "puts 1\n");
    let client = Client::new("ruby").await;
    let said = client.fails("record_run", json!({ "command": "ruby", "args": [program.path()] })).await;
    assert!(said.contains("recording a run") && said.contains("trace_values"), "{said}");
    client.server.finish().await;
}

#[tokio::test]
async fn a_missing_interpreter_is_asked_for_as_the_command() {
    let (_folder, program) = written("main.py", "print(1)\n");
    let client = Client::new("missing").await;
    let command = json!({ "command": "/no/python3", "args": [program.path()] });
    let said = client.fails("record_run", command).await;
    assert!(said.contains("as `command`"), "{said}");
    client.server.finish().await;
}
