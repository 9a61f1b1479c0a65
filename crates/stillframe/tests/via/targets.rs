//! Calls that name other machines by themselves, one or several.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{Fixture, ProtocolEra, Server, ServerOptions};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::STILLFRAME;
use crate::machine::{Machine, executable};

/// How a server of this machine is started that may reach others.
async fn options(machine: &Machine) -> ServerOptions {
    let mut options = STILLFRAME.options().await;
    options.args.push("--allow-remote-attach".to_owned());
    options.env.push(("PATH".to_owned(), machine.path()));
    options
}

async fn serve(machine: &Machine) -> Server {
    options(machine).await.start().await
}

#[tokio::test]
async fn a_session_lives_where_its_first_call_says() {
    let machine = Machine::start().await;
    let journal = machine.folder().join("journal.log");
    let mut options = options(&machine).await;
    options.env.push(("STILLFRAME_LOG_FILE".to_owned(), journal.display().to_string()));
    let server = options.start().await;
    let shop = Fixture::python("shop");
    let target = machine.address();
    let create = json!({ "language": "python", "target": target });
    let there = server.ok("create_debug_session", create).await["sessionId"].clone();
    let here = server.ok("create_debug_session", json!({ "language": "python" })).await["sessionId"].clone();
    for session in [&there, &here] {
        let set = json!({ "sessionId": session, "file": shop.path(), "line": shop.line("total") });
        server.ok("set_breakpoint", set).await;
        let stop =
            server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": shop.path() })).await;
        assert_eq!(stop["state"], "paused");
    }
    let copy = machine.copies().display().to_string();
    assert!(server.mark().processes().iter().any(|(_, command)| command.starts_with(&copy)));
    let list = server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(list["count"], 2);
    let targets: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().map(|one| &one["target"]).collect();
    assert_eq!(targets, [&Value::Null, &json!(target)]);
    server.ok("close_debug_session", json!({ "sessionId": there })).await;
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 1);

    let until = json!([{ "line": shop.line("total") }]);
    let call = json!({ "target": target, "program": shop.path(), "until": until, "expressions": ["amount"] });
    let stop = server.ok("run_until", call).await;
    assert_eq!(stop["values"][0]["value"], "11", "{stop:?}");
    let more = json!({ "sessionId": stop["sessionId"], "expression": "amount + 1" });
    assert_eq!(server.ok("evaluate_expression", more).await["result"], "12");
    server.finish().await;
    // The sessions of both machines are in one journal.
    let journal = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(journal.lines().filter(|line| line.contains("session:created")).count(), 3, "{journal}");
}

#[tokio::test]
async fn of_equal_copies_the_one_that_the_call_names_is_meant_and_the_others_are_named() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let [here, one, two] = ["here", "home/releases/1", "home/releases/2"].map(|name| {
        let folder = machine.folder().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(shop.path(), folder.join("main.py")).unwrap();
        folder.display().to_string()
    });
    let current = machine.folder().join("home/current").display().to_string();
    std::os::unix::fs::symlink("releases/2", &current).unwrap();
    let mut options = options(&machine).await;
    options.cwd = Some(here.clone().into());
    let server = options.start().await;
    let until = json!([{ "file": "main.py", "line": shop.line("total") }]);
    let target = machine.address();
    let call =
        |program: &str| json!({ "target": target, "program": program, "cwd": current, "until": until });
    let failed = server.call("run_until", call("missing.py")).await;
    assert!(failed.is_error && failed["notes"].to_string().contains(&two), "{}", failed.text);
    let stop = server.ok("run_until", call("main.py")).await;
    assert_eq!(stop.at("/location/file"), &json!(format!("{here}/main.py")), "{stop:?}");
    let notes = stop["notes"].to_string();
    let mapping = format!("paths of {target}: `{two}` there is `{here}` here (guessed from 1 file");
    assert!(notes.contains(&mapping) && notes.contains(&format!("`{one}`")), "{notes}");
    assert!(notes.contains("at least as well"), "{notes}");
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn over_http_each_client_has_its_own_and_all_end_with_the_server() {
    let machine = Machine::start().await;
    let options = STILLFRAME.http().await.args(&["--allow-remote-attach"]).env("PATH", &machine.path());
    let server = options.start().await;
    let shop = Fixture::python("shop");
    let until = json!([{ "line": shop.line("total") }]);
    let call = json!({ "target": machine.address(), "program": shop.path(), "until": until });
    // One with a handshake, and one whose requests have nothing in common but the token.
    for client in [server.client().await, server.stateless()] {
        let stop = client.ok("run_until", call.clone()).await;
        let more = json!({ "sessionId": stop["sessionId"], "expression": "amount" });
        assert_eq!(client.ok("evaluate_expression", more).await["result"], "11");
        assert_eq!(client.ok("list_debug_sessions", json!({})).await["count"], 1);
    }
    // Fails if anything is left.
    server.finish().await;
}

#[tokio::test]
async fn results_from_elsewhere_name_their_type_as_the_revision_of_the_client_has_it() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let until = json!([{ "line": shop.line("total") }]);
    let targets = [(machine.address(), false), ("ssh://127.0.0.1:1".to_owned(), true)];
    for (era, expected) in
        [(ProtocolEra::Handshake, None), (ProtocolEra::Stateless, Some(&json!("complete")))]
    {
        let server = ServerOptions { era, ..options(&machine).await }.start().await;
        for (target, is_error) in &targets {
            let arguments = json!({ "target": target, "program": shop.path(), "until": until });
            let call = json!({ "name": "run_until", "arguments": arguments });
            let result = server.request("tools/call", call).await.unwrap();
            assert_eq!(result.get("resultType"), expected, "{result}");
            assert_eq!(result.get("isError"), is_error.then_some(&json!(true)), "{result}");
        }
        server.finish().await;
    }
}

#[tokio::test]
async fn a_server_for_another_machine_refuses_calls_for_a_third() {
    let machine = Machine::start().await;
    let shop = Fixture::python("shop");
    let server = machine.serve(&["--allow-remote-attach", "--map", "none"]).await;
    let call = json!({ "target": "docker://no-such", "program": shop.path(), "until": [{ "line": 1 }] });
    let refused = server.fails("target_unusable", "run_until", call).await;
    let expected = format!(
        "`docker://no-such` is not the machine of this server: its calls are for `{}`",
        machine.address()
    );
    assert!(refused["error"].as_str().unwrap().starts_with(&expected), "{}", refused.text);
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}

#[tokio::test]
async fn a_target_is_refused_without_permission_and_with_mistakes() {
    let machine = Machine::start().await;
    let server = STILLFRAME.serve().await;
    let create = |target: &str| json!({ "language": "python", "target": target });
    let refused = server.fails("target_unusable", "create_debug_session", create("ssh://host")).await;
    assert!(refused.text.contains("--allow-remote-attach"), "{}", refused.text);
    server.finish().await;

    let server = serve(&machine).await;
    let table = [
        ("web", "unknown engine `web`"),
        ("ssh://127.0.0.1:1", "cannot connect to `ssh://127.0.0.1:1`"),
        ("kubectl://shop/deploy/-web", "is not an address"),
    ];
    for (target, expected) in table {
        let refused = server.fails("target_unusable", "create_debug_session", create(target)).await;
        assert!(refused.text.contains(expected), "{}", refused.text);
    }
    let attach = json!({ "target": machine.address(), "port": 1 });
    let refused = server.fails("target_unusable", "attach_to_process", attach).await;
    assert!(refused.text.contains("add `language`"), "{}", refused.text);
    // Wrong arguments are the same everywhere: no machine is reached for them.
    let nowhere =
        json!({ "target": "ssh://127.0.0.1:1,127.0.0.1:2", "points": 3, "language": "python", "port": 1 });
    let refused = server.call("trace_values", nowhere).await;
    assert!(refused.is_error && refused.text.contains("points"), "{}", refused.text);
    assert!(!refused.text.contains("cannot connect"), "{}", refused.text);
    server.finish().await;
}

/// A program in a network that only it and an sshd have. It waits for a debugger at a port, which is the same in each.
struct Replica(Child);

/// The port of each.
const PORT: u16 = 5678;

impl Replica {
    #[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
    async fn start(script: &Path, name: &str) -> Self {
        let mut command = tokio::process::Command::new("unshare");
        let start = "ip link set lo up && exec python3 \"$@\"";
        command.args(["--net", "sh", "-c", start, "sh"]).arg(script).args([name, &PORT.to_string()]);
        command.env("PYTHONPATH", STILLFRAME.debugpy().await).kill_on_drop(true);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));
        Self(process)
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn several_machines_are_debugged_at_once() {
    if !rustix::process::geteuid().is_root() {
        test_support::say("NOT TESTED: several machines, whose networks only root can make\n");
        return;
    }
    let mut machine = Machine::start().await;
    let script = machine.folder().join("replica.py");
    std::fs::write(&script, REPLICA).unwrap();
    let (mut replicas, mut addresses) = (Vec::new(), Vec::new());
    for name in ["a", "b", "c"] {
        let replica = Replica::start(&script, name).await;
        addresses.push(machine.sibling(replica.0.id().unwrap()).await);
        replicas.push(replica);
    }
    let server = serve(&machine).await;
    // A client that sends only what is listed can name machines.
    let listed = server.request("tools/list", json!({})).await.expect("tools are listed");
    let takes_target = |tool: &&Value| tool["inputSchema"]["properties"]["target"]["type"] == "string";
    assert_eq!(listed["tools"].as_array().unwrap().iter().filter(takes_target).count(), 6);
    let target = addresses.join(",").replace(",ssh://", ",");
    let attach = json!({ "target": target, "language": "python", "port": PORT, "stopOnEntry": false });
    let attached = server.ok("attach_to_process", attach).await;
    let names = |answer: &Value| -> Vec<String> {
        let each = answer.as_array().unwrap().iter();
        each.map(|one| one["target"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&attached["targets"]), addresses);
    let session = attached["sessionId"].clone();

    let line = |text: &str| REPLICA.lines().position(|line| line.contains(text)).unwrap() + 1;
    let point = json!([{ "file": script, "line": line("nap"), "expressions": ["name"] }]);
    let trace =
        json!({ "sessionId": session, "points": point, "maxHits": 7, "whenFull": "run", "timeout": 3000 });
    let traced = server.ok("trace_values", trace).await;
    // Two rows of each: seven are shared by three.
    assert_eq!(traced["rows"].as_array().unwrap().len(), 6, "{traced:?}");
    for (address, name) in addresses.iter().zip(["'a'", "'b'", "'c'"]) {
        let rows = traced["rows"].as_array().unwrap().iter().filter(|row| row["target"] == address.as_str());
        let values: Vec<&Value> = rows.map(|row| &row["values"][0]).collect();
        assert!(
            values.len() == 2 && values.iter().all(|value| value.to_string().contains(name)),
            "{traced:?}"
        );
    }

    let hang = json!({ "sessionId": session, "timeout": 1000 });
    let verdicts = server.ok("diagnose_hang", hang).await;
    assert_eq!(names(&verdicts["targets"]), addresses);
    assert!(
        verdicts["targets"].as_array().unwrap().iter().all(|one| one["verdict"].is_string()),
        "{verdicts:?}"
    );

    let until = json!([{ "file": script, "line": line("only b") }]);
    let call = json!({ "sessionId": session, "until": until, "expressions": ["name"], "timeout": 20_000 });
    let stop = server.ok("run_until", call).await;
    assert_eq!((&stop["state"], &stop["target"]), (&json!("paused"), &json!(addresses[1])), "{stop:?}");
    assert!(stop["values"].to_string().contains("'b'"));
    assert_eq!(names(&stop["others"]), [addresses[0].clone(), addresses[2].clone()]);
    assert!(stop["others"].as_array().unwrap().iter().all(|one| one["state"] == "running"), "{stop:?}");
    // The session of the one that stopped.
    let more = json!({ "sessionId": stop["sessionId"], "expression": "name" });
    assert_eq!(server.ok("evaluate_expression", more).await["result"], "'b'");

    server.ok("close_debug_session", json!({ "sessionId": session })).await;

    // In one call: what to attach to, and what to do there.
    let hang = json!({ "target": target, "language": "python", "port": PORT, "timeout": 1000 });
    let verdicts = server.ok("diagnose_hang", hang).await;
    assert!(
        verdicts["targets"].as_array().unwrap().iter().all(|one| one["verdict"].is_string()),
        "{verdicts:?}"
    );
    server.ok("close_debug_session", json!({ "sessionId": verdicts["sessionId"] })).await;
    // One of them alone.
    let attach = json!({ "target": addresses[0], "language": "python", "port": PORT });
    let attached = server.ok("attach_to_process", attach).await;
    let more = json!({ "sessionId": attached["sessionId"], "expression": "name" });
    assert_eq!(server.ok("evaluate_expression", more).await["result"], "'a'");
    server.ok("close_debug_session", json!({ "sessionId": attached["sessionId"] })).await;
    let attach = json!({ "target": addresses[0], "language": "python", "port": 1, "timeout": 1000 });
    assert!(server.call("attach_to_process", attach).await.is_error);
    let nothing = json!({ "target": target, "language": "python", "port": 1, "timeout": 1000 });
    let failed = server.fails("all_targets_failed", "diagnose_hang", nothing).await;
    assert_eq!(names(&failed["targets"]), addresses);
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
    // Attached programs keep running.
    assert!(replicas.iter_mut().all(|replica| replica.0.try_wait().unwrap().is_none()));
}

const REPLICA: &str = r#"
import sys, time, debugpy
name = sys.argv[1]
debugpy.listen(("127.0.0.1", int(sys.argv[2])))
print("ready", flush=True)
count = 0
while True:
    count += 1
    time.sleep(0.02)  # nap
    if name == "b" and count % 50 == 0:
        hits = count  # only b
"#;

#[tokio::test]
async fn a_workload_is_all_of_its_running_pods() {
    let machine = Machine::start().await;
    let folder = machine.folder();
    // A stand-in with what kubectl prints; the pods are this machine.
    let kubectl = format!(
        "#!/bin/sh\necho \"$*\" | head -n 1 | cut -c 1-110 >>{}\ncase $* in\n\
         'get deploy web --namespace shop --output json') \
         echo '{{\"spec\":{{\"selector\":{{\"matchLabels\":{{\"app\":\"web\"}}}}}}}}';;\n\
         'get pods --namespace shop --selector app=web --field-selector=status.phase=Running --output name') \
         echo pod/web-1; echo pod/web-2;;\n\
         exec*) export XDG_CACHE_HOME={}; until [ \"$1\" = -- ]; do shift; done; shift; exec \"$@\";;\n\
         *) echo \"unexpected: $*\" >&2; exit 1;;\nesac\n",
        folder.join("record").display(),
        folder.join("home").display(),
    );
    executable(&folder.join("bin/kubectl"), &kubectl);
    let server = serve(&machine).await;
    let shop = Fixture::python("shop");
    let until = json!([{ "line": shop.line("total") }]);
    let call = json!({ "target": "kubectl://shop/deploy/web", "program": shop.path(), "until": until });
    let stop = server.ok("run_until", call.clone()).await;
    assert_eq!(stop["state"], "paused");
    let target = stop["target"].as_str().unwrap();
    let other = stop["others"][0]["target"].as_str().unwrap();
    let mut both = [target, other];
    both.sort_unstable();
    assert_eq!(both, ["kubectl://shop/web-1", "kubectl://shop/web-2"]);
    let list = server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(list["count"], 1, "the slower one was closed: {list:?}");
    server.ok("close_debug_session", json!({ "sessionId": stop["sessionId"] })).await;
    // The first stop wins in a session that its call closes, too.
    let mut closing = call.clone();
    closing["close"] = json!(true);
    closing["expressions"] = json!(["amount"]);
    let stop = server.ok("run_until", closing).await;
    assert_eq!((&stop["stateBeforeClose"], &stop["values"][0]["value"]), (&json!("paused"), &json!("11")));
    assert!(both.contains(&stop["target"].as_str().unwrap()), "{stop:?}");
    assert_eq!(stop["others"].as_array().unwrap().len(), 1, "{stop:?}");
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    // A limit holds over all.
    let point = json!([{ "line": shop.line("total"), "expressions": ["amount"] }]);
    let trace = json!({ "target": call["target"], "program": shop.path(), "points": point, "maxHits": 1 });
    let traced = server.ok("trace_values", trace).await;
    assert_eq!(traced["rows"].as_array().unwrap().len(), 1, "{traced:?}");
    let record = std::fs::read_to_string(folder.join("record")).unwrap();
    assert!(record.contains("exec --stdin --namespace shop web-1 -- sh -c"), "{record}");
    let missing = json!({ "target": "kubectl://shop/deploy/none", "program": shop.path() });
    let failed = server.fails("target_unusable", "run_until", missing).await;
    assert!(failed.text.contains("kubectl: unexpected: get deploy none"), "{}", failed.text);
    server.finish().await;
}
