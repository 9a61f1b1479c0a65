//! ssh.

use serde_json::{Value, json};
use test_support::{Fixture, Server, Signal};

use crate::STILLFRAME;
use crate::machine::Machine;

async fn session(server: &Server) -> Value {
    server.ok("create_debug_session", json!({ "language": "python" })).await["sessionId"].clone()
}

/// A program that is paused at a line.
async fn paused(server: &Server, file: &str, line: u32) -> Value {
    let session = session(server).await;
    server.ok("set_breakpoint", json!({ "sessionId": session, "file": file, "line": line })).await;
    let stop = server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": file })).await;
    assert_eq!(stop["state"], "paused", "{stop:?}");
    session
}

#[tokio::test]
async fn programs_are_debugged_there_with_one_copy_that_clean_removes() {
    let machine = Machine::bare().await;
    let shop = Fixture::python("shop");
    for is_first in [true, false] {
        let server = machine.serve(&[]).await;
        let session = paused(&server, shop.path(), shop.line("total")).await;
        let value =
            server.ok("evaluate_expression", json!({ "sessionId": session, "expression": "amount" })).await;
        assert_eq!(value["result"], "11");
        let programs = server.mark().processes();
        let copy = machine.copies().display().to_string();
        assert!(programs.iter().any(|(_, command)| command.starts_with(&copy)), "{programs:#?}");
        // Everything ends with the client, there too.
        let (_, log) = server.finish().await;
        assert_eq!(log.contains("copying stillframe to ssh://127.0.0.1"), is_first, "{log}");
    }
    let cleaned = async || {
        let mut command = STILLFRAME.command();
        command.args(["serve", "--via", &machine.address(), "--clean"]).env("PATH", machine.path());
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let copies = machine.copies();
    assert_eq!(cleaned().await, format!("removed {} on {}\n", copies.display(), machine.address()));
    assert!(!copies.exists());
    assert_eq!(cleaned().await, format!("nothing to remove on {}\n", machine.address()));
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_lost_connection_ends_the_programs_fails_the_call_and_is_made_again() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let naps = Fixture::python("naps");
    let server = machine.serve(&[]).await;
    paused(&server, shop.path(), shop.line("total")).await;
    let running = session(&server).await;
    let call = json!({ "sessionId": running, "scriptPath": naps.path(), "timeout": 100_000 });
    let call = json!({ "name": "start_debugging", "arguments": call });
    let mut heard = server.notifications();
    let (_, response) = server.begin("tools/call", call).await;
    let _ = heard.try_recv();
    let is = |name: &'static str| move |(_, command): &&(u32, String)| command.contains(name);
    test_support::eventually(|| server.mark().processes().iter().any(|process| is("naps")(&process))).await;
    let engine =
        server.mark().processes().into_iter().find(|(_, command)| command.contains("ssh -F")).unwrap();
    server.mark().signal(engine.0, Signal::KILL);

    let failed = Server::reply("start_debugging", response).await.unwrap();
    assert_eq!(failed["isError"], true);
    let problem = failed["structuredContent"]["error"].as_str().unwrap();
    let begins = format!("lost the connection to `{}`: ended by signal 9", machine.address());
    assert!(problem.starts_with(&begins), "{problem}");
    assert!(problem.contains(") and programs end there"), "{problem}");
    let is_program = |(_, command): &(u32, String)| command.contains("shop") || command.contains("naps");
    test_support::eventually(|| !server.mark().processes().iter().any(is_program)).await;

    // The next call connects again, with the handshake of the client.
    let session = paused(&server, shop.path(), shop.line("pay")).await;

    // Lost while no call waits: the next one says so, once.
    let engine =
        server.mark().processes().into_iter().find(|(_, command)| command.contains("ssh -F")).unwrap();
    server.mark().signal(engine.0, Signal::KILL);
    test_support::eventually(|| !server.mark().processes().iter().any(is_program)).await;
    let call = json!({ "sessionId": session, "expression": "amount" });
    let failed = server.fails("connection_lost", "evaluate_expression", call.clone()).await;
    assert!(failed.text.contains(&format!("`{}`", session.as_str().unwrap())), "{}", failed.text);
    server.fails("session_not_found", "evaluate_expression", call).await;
    let session = paused(&server, shop.path(), shop.line("pay")).await;
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_killed_relay_takes_everything_with_it() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let server = machine.serve(&[]).await;
    paused(&server, shop.path(), shop.line("total")).await;
    server.kill().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn when_it_cannot_connect_again_the_call_says_why() {
    let mut machine = Machine::start().await;
    let server = machine.serve(&[]).await;
    machine.end().await;
    test_support::eventually(|| {
        server.mark().processes().iter().all(|(_, command)| !command.contains("ssh -F"))
    })
    .await;
    let create = async || {
        let failed =
            server.fails("connection_lost", "create_debug_session", json!({ "language": "python" })).await;
        failed["error"].as_str().unwrap().to_owned()
    };
    let mut problem = create().await;
    if problem.starts_with("lost") {
        // The end was not noticed yet.
        problem = create().await;
    }
    assert!(
        problem.contains("cannot connect to `ssh://127.0.0.1") && problem.contains("Connection refused"),
        "{problem}"
    );
    server.finish().await;
}

/// What a failed start prints.
async fn failure(machine: &Machine, args: &[&str]) -> String {
    let mut command = STILLFRAME.command();
    command.arg("serve").args(args).env("PATH", machine.path());
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn a_start_that_fails_says_why_in_the_words_of_the_engine() {
    let machine = Machine::bare().await;
    let stderr = failure(&machine, &["--via", "ssh://127.0.0.1:1"]).await;
    assert!(stderr.contains("cannot connect to `ssh://127.0.0.1:1`: "), "{stderr}");
    assert!(
        stderr.contains("Connection refused (exit code 255); check that `ssh -p 1 127.0.0.1 true`"),
        "{stderr}"
    );

    let other = machine.folder().join("other");
    let header = [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[3, 0, 0xb7, 0]].concat();
    std::fs::write(&other, header).unwrap();
    let stderr = failure(&machine, &["--via", &machine.address(), "--binary", other.to_str().unwrap()]).await;
    assert!(stderr.contains("is for Linux aarch64, but it is Linux x86_64 there; give a build"), "{stderr}");
    assert!(!machine.copies().join("stillframe").exists());

    // What cannot run there although its platform is right, and another program.
    let mut program = std::fs::read(STILLFRAME.program).unwrap();
    program.truncate(64);
    std::fs::write(&other, &program).unwrap();
    let (file, address) = (other.to_str().unwrap(), machine.address());
    for (file, expected) in [(file, "give a static build"), ("/bin/ls", "`/bin/ls` is not stillframe ")] {
        for map in [&[][..], &["--map", "none"]] {
            let args = [&["--via", address.as_str(), "--binary", file], map].concat();
            let stderr = failure(&machine, &args).await;
            assert!(stderr.contains(expected), "{stderr}");
            assert_eq!(std::fs::read_dir(machine.copies()).unwrap().count(), 0, "nothing of it is left");
        }
    }

    let stderr = failure(&machine, &["--via", "wsl://Debian"]).await;
    assert!(stderr.contains("`wsl://Debian` needs `wsl.exe`, which cannot be started"), "{stderr}");
}

#[tokio::test]
async fn a_mapping_that_is_wrong_is_reported() {
    let machine = Machine::start().await;
    let [here, there] = ["here", "there"].map(|name| machine.folder().join(name));
    std::fs::create_dir(&here).unwrap();
    std::fs::create_dir(&there).unwrap();
    let file = here.join("shop.py");
    // No other file has this content.
    std::fs::write(&file, format!("name = '{}'\n", here.display()).repeat(9)).unwrap();
    let none = format!("{}=none", there.display());
    let stderr = failure(&machine, &["--via", &machine.address(), "--map", &none]).await;
    assert!(stderr.contains("none` is not a folder here"), "{stderr}");

    let missing = |folder: &str| format!("{}={}", machine.folder().join(folder).display(), here.display());
    let address = machine.address();
    let by_map =
        |there: &str, here: &str| format!("there is no {there}` on {address} (`{here}` here, by `--map`)");
    let gone = machine.folder().join("gone").display().to_string();
    let table = [
        // The folder is there, and not the file.
        (
            vec!["--map".to_owned(), missing("there")],
            None,
            by_map(&format!("`{}/shop.py", there.display()), file.to_str().unwrap()),
        ),
        (
            vec!["--map".to_owned(), missing("gone")],
            Some(by_map(&format!("folder `{gone}"), here.to_str().unwrap())),
            by_map(&format!("`{gone}/shop.py"), file.to_str().unwrap()),
        ),
    ];
    for (args, at_start, expected) in table {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut options = machine.options(&args).await;
        options.era = test_support::ProtocolEra::Stateless;
        options.cwd = Some(here.clone());
        let server = options.start().await;
        let info = server.request("server/discover", json!({})).await.unwrap();
        let instructions = info["instructions"].as_str().unwrap();
        assert_eq!(at_start.as_ref().is_some_and(|said| instructions.contains(said)), at_start.is_some());
        let failed = server.call("run_until", json!({ "program": "shop.py", "until": ["shop.py:1"] })).await;
        assert!(failed.is_error && failed["error"].as_str().unwrap().contains(&expected), "{}", failed.text);
        let (_, log) = server.finish().await;
        assert!(at_start.as_ref().is_none_or(|said| log.contains(said)), "{log}");
        let mut probe = STILLFRAME.command();
        probe.args(["probe", "--via", &address]).args(&args).arg("shop.py:1").current_dir(&here);
        let output = probe.env("PATH", machine.path()).output().await.unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(&expected) && output.status.code() == Some(1), "{stderr}");
        assert!(at_start.as_ref().is_none_or(|said| stderr.contains(said)), "{stderr}");
    }
}

#[tokio::test]
async fn rules_of_this_machine_hold_there() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let server = machine.serve(&["--read-only"]).await;
    let session = session(&server).await;
    let call = json!({ "sessionId": session, "scriptPath": shop.path() });
    let refused = server.call("start_debugging", call).await;
    assert!(refused.is_error && refused.text.contains("read-only"), "{}", refused.text);
    server.finish().await;
}

#[tokio::test]
async fn paths_are_mapped_both_ways_and_the_journal_is_here() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let [here, there] = ["here", "there"].map(|name| machine.folder().join(name));
    std::fs::create_dir_all(here.join("src")).unwrap();
    std::fs::create_dir_all(there.join("app")).unwrap();
    std::fs::copy(shop.path(), there.join("app/shop.py")).unwrap();
    // Only its path is needed here.
    std::fs::write(here.join("src/shop.py"), "").unwrap();
    let file = here.join("src/shop.py").display().to_string();
    let journal = machine.folder().join("journal.log");
    let map = format!("{}=src", there.join("app").display());
    let mut options = machine.options(&["--map", &map]).await;
    options.cwd = Some(here.clone());
    options.env.push(("STILLFRAME_LOG_FILE".to_owned(), journal.display().to_string()));
    let server = options.start().await;
    let session = session(&server).await;
    let line = shop.line("total");
    let set = server
        .ok("set_breakpoint", json!({ "sessionId": session, "file": "src/shop.py", "line": line }))
        .await;
    assert_eq!(set["file"], file.as_str(), "{set:?}");
    let stop = server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": file })).await;
    assert_eq!(stop["location"]["file"], file.as_str(), "{stop:?}");
    // Values are the program's own.
    let value =
        server.ok("evaluate_expression", json!({ "sessionId": session, "expression": "__file__" })).await;
    assert_eq!(value["result"], format!("'{}'", there.join("app/shop.py").display()));
    // The resource has it, too, as soon as it has come from there.
    let uri = format!("debug://sessions/{}/journal", session.as_str().unwrap());
    loop {
        let read = server.request("resources/read", json!({ "uri": uri })).await.unwrap();
        if read["contents"][0]["text"].as_str().unwrap().contains("\"event\":\"paused\"") {
            break;
        }
    }
    let pid = server.pid();
    server.finish().await;

    let written = std::fs::read_to_string(&journal).unwrap();
    let entries: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entry = |message: &str| entries.iter().find(|entry| entry["message"] == message).unwrap();
    assert_eq!(entry("session:created")["server"], pid);
    let paused = entries.iter().find(|entry| entry["event"] == "paused").unwrap();
    assert_eq!(paused["location"]["file"], file.as_str());
    assert!(
        paused["source"]["lines"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line.as_str().unwrap().contains("@total"))
    );
    let report =
        STILLFRAME.command().arg("report").env("STILLFRAME_LOG_FILE", &journal).output().await.unwrap();
    assert!(String::from_utf8(report.stdout).unwrap().contains("start_debugging"));
    assert!(entries.iter().any(|entry| entry["message"] == "session:closed"));
}

/// A program whose source, values, output and exception have a path in them.
const SAYS: &str = r#"
data = "DATA"
print(data, flush=True)
size = len(data)
data += "/none"
raise ValueError(f"no {data}")
"#;

#[tokio::test]
async fn what_the_program_says_keeps_its_paths() {
    let machine = Machine::start().await;
    let [here, there] = ["here", "there"].map(|name| machine.folder().join(name));
    let data = there.join("app/data").display().to_string();
    let says = SAYS.replace("DATA", &data);
    for folder in [here.join("src"), there.join("app")] {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("says.py"), &says).unwrap();
    }
    let file = here.join("src/says.py").display().to_string();
    let map = format!("{}=src", there.join("app").display());
    let mut options = machine.options(&["--map", &map]).await;
    options.cwd = Some(here);
    let server = options.start().await;
    // Places here, whatever their form.
    let call = json!({ "program": "src/says.py", "until": ["src/says.py:3"], "expressions": ["data"] });
    let stop = server.ok("run_until", call).await;
    assert_eq!(stop["message"], format!("Paused at {file}:3 in <module> (breakpoint bp-1)"), "{stop:?}");
    assert_eq!(stop["values"][0]["value"], format!("'{data}'"));
    let session = stop["sessionId"].clone();
    let set = json!({ "sessionId": session, "file": file, "line": 2 });
    assert_eq!(server.ok("set_breakpoint", set).await["content"], format!("data = \"{data}\""));
    for line in [4, 6] {
        server.ok("set_breakpoint", json!({ "sessionId": session, "file": file, "line": line })).await;
    }
    let go = json!({ "sessionId": session });
    let stop = server.ok("continue_execution", go.clone()).await;
    assert_eq!(stop["output"], format!("{data}\n"), "{stop:?}");
    let stop = server.ok("continue_execution", go.clone()).await;
    let changed = json!([{ "name": "data", "old": format!("'{data}'"), "new": format!("'{data}/none'") }]);
    assert!(stop["changed"].to_string().contains(changed[0].to_string().as_str()), "{stop:?}");
    let stop = server.ok("continue_execution", go).await;
    let message = format!("no {data}/none");
    assert_eq!(stop["exception"]["message"], message);
    let paused = format!("Paused at {file}:6 in <module> (exception ValueError: {message})");
    assert!(stop["message"].as_str().unwrap().ends_with(&paused), "{stop:?}");
    assert!(stop["exception"]["stack"].as_str().unwrap().contains(&format!("File \"{file}\", line 6")));
    let uri = format!("debug://sessions/{}/source", session.as_str().unwrap());
    let source = server.request("resources/read", json!({ "uri": uri })).await.unwrap();
    assert_eq!(source["contents"][0]["text"], says);
    let command = json!({ "command": ["python3", "src/says.py"] });
    let ran = server.ok("diagnose_hang", command).await;
    assert!(ran["output"].as_str().unwrap().contains(&data), "{ran:?}");
    let failed = server.call("set_breakpoint", json!({ "file": "src/none.py", "line": 1 })).await;
    assert!(!failed.text.contains(&there.display().to_string()), "{}", failed.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_client_without_a_handshake_is_served() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let mut options = machine.options(&[]).await;
    options.era = test_support::ProtocolEra::Stateless;
    let server = options.start().await;
    paused(&server, shop.path(), shop.line("total")).await;
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_question_of_the_server_there_reaches_the_user_here() {
    let machine = Machine::start().await;
    let mut options = machine.options(&["--confirm"]).await;
    options.capabilities = json!({ "elicitation": { "form": {} } });
    let server = options.start().await;
    let session = session(&server).await;
    let mut requests = server.notifications();
    let params =
        json!({ "name": "evaluate_expression", "arguments": { "sessionId": session, "expression": "1" } });
    let (_, response) = server.begin("tools/call", params).await;
    let declined = json!({ "action": "decline" });
    let question = server.answer_request(&mut requests, "elicitation/create", declined).await;
    assert_eq!(question["message"], "Allow the debugger to evaluate `1`?");
    let result = Server::reply("evaluate_expression", response).await.unwrap();
    assert_eq!(result["structuredContent"]["code"], "not_confirmed", "{result}");
    server.finish().await;
    // The client's folders are those of this machine.
    let mut command = STILLFRAME.command();
    command.args(["serve", "--via", &machine.address(), "--allow-client-roots"]).env("PATH", machine.path());
    let output = command.output().await.unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(problem.contains("--allow-client-roots cannot be combined with --via"), "{problem}");
}
