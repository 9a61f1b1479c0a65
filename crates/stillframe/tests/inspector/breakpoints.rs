//! Breakpoints of every kind.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage as Language, Fixture, dynamic};

use crate::client::{ADDS, ToolClient, at};

dynamic![
    a_breakpoint_is_listed_toggled_and_removed,
    a_condition_stops_only_if_it_is_true,
    each_hit_operator_stops_at_its_hits,
    a_logpoint_prints_and_does_not_stop,
    functions_are_found_by_name_and_by_pattern,
    exceptions_are_filtered_by_type,
    exceptions_are_filtered_by_pattern,
];

async fn a_breakpoint_is_listed_toggled_and_removed(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    let set = client.break_at(&program, "return").await;
    assert_eq!(
        (&set["enabled"], &set["verified"], &set["state"]),
        (&json!(true), &json!(true), &json!("bound"))
    );
    let id = json!({ "breakpointId": set["breakpointId"] });
    let listed = client.step("list_breakpoints").await;
    let same = |answer: &Value| ["breakpointId", "file", "line"].map(|field| answer[field].clone());
    assert_eq!(same(listed.at("/breakpoints/0")), same(&set.data));
    let off = client.ok("toggle_breakpoint", id.clone()).await;
    assert_eq!(same(&off.data), same(&set.data), "it keeps its id and place");
    assert_eq!(
        (&off["enabled"], &off["verified"], &off["state"]),
        (&json!(false), &json!(false), &json!("disabled"))
    );
    assert_eq!(off["reason"], "it is disabled");
    let on = client.ok("toggle_breakpoint", id.clone()).await;
    assert_eq!((&on["enabled"], &on["verified"]), (&json!(true), &json!(true)));
    assert_eq!(client.step("continue").await["breakpointIds"], json!([set["breakpointId"]]));
    assert_eq!(client.ok("remove_breakpoint", id).await["removed"], true);
    assert_eq!(client.step("list_breakpoints").await["breakpoints"], json!([]));
    let ended = client.step("continue").await;
    assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("terminated"), &json!(0)));
    assert_eq!(ended["output"], "done 25\n");
    client.finish().await;
}

async fn a_condition_stops_only_if_it_is_true(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    let mut location = at(&program, "return");
    location["condition"] = json!("number > 2");
    assert_eq!(client.ok("set_breakpoint", location).await["condition"], "number > 2");
    for expected in [3, 4] {
        client.step("continue").await;
        assert_eq!(client.value("number").await, expected);
    }
    assert_eq!(client.step("continue").await["state"], "terminated");
    client.finish().await;
}

async fn each_hit_operator_stops_at_its_hits(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, ADDS);
    let table: [(&str, u64, &[u64]); 6] = [
        ("==", 2, &[1]),
        (">", 3, &[3, 4]),
        (">=", 4, &[3, 4]),
        ("<", 3, &[0, 1]),
        ("<=", 1, &[0]),
        ("%", 2, &[1, 3]),
    ];
    for (operator, value, expected) in table {
        let session = client.start(&program).await["sessionId"].clone();
        let mut location = at(&program, "return");
        location["sessionId"] = session.clone();
        let id = client.ok("set_breakpoint", location).await["breakpointId"].clone();
        let condition =
            json!({ "sessionId": session, "breakpointId": id, "operator": operator, "value": value });
        let set = client.ok("set_hit_count_condition", condition).await;
        assert_eq!(set["hitCountCondition"], json!({ "operator": operator, "value": value }));
        assert_eq!(set["currentHitCount"], 0);
        let session = json!({ "sessionId": session });
        let mut numbers = Vec::new();
        while client.ok("continue", session.clone()).await["state"] == "paused" {
            let mut arguments = session.clone();
            arguments["expression"] = json!("number");
            numbers.push(client.ok("inspect", arguments).await["value"].as_u64().unwrap());
        }
        assert_eq!(numbers, expected, "{operator} {value}");
        let listed = client.ok("list_breakpoints", session.clone()).await;
        assert_eq!(listed.at("/breakpoints/0/hitCount"), expected.len());
        client.ok("stop_session", session).await;
    }
    client.finish().await;
}

async fn a_logpoint_prints_and_does_not_stop(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    let mut location = at(&program, "return");
    location["logMessage"] = json!("number is {number}");
    location["condition"] = json!("number >= 3");
    let set = client.ok("set_logpoint", location).await;
    assert_eq!((&set["logpointId"], &set["verified"]), (&set["breakpointId"], &json!(true)));
    let ended = client.step("continue").await;
    assert_eq!(ended["state"], "terminated");
    let output = ended.text_of("output");
    assert!(output.contains("[log] number is 3\n") && output.contains("number is 4\n"), "{output}");
    assert!(!output.contains("number is 2"), "{output}");
    client.finish().await;
}

const HANDLES: Dynamic = Dynamic {
    python: "\
def handle_get(path):
    return 'got ' + path  # @get
def handle_put(path):
    return 'put ' + path  # @put
def other(path):
    return path
other(handle_get('a') + handle_put('b'))
",
    node: "\
function handle_get(path) {
  return 'got ' + path; // @get
}
const handle_put = (path) => {
  return 'put ' + path; // @put
};
function other(path) {
  return path;
}
other(handle_get('a') + handle_put('b'));
",
};

async fn functions_are_found_by_name_and_by_pattern(language: Language) {
    let (client, program) = ToolClient::started(language, HANDLES).await;
    let set = client.ok("set_function_breakpoint", json!({ "functionName": "/^handle_/" })).await;
    assert_eq!((&set["functionName"], &set["verified"]), (&json!("/^handle_/"), &json!(true)));
    let lines: Vec<&Value> = set["breakpoints"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert_eq!(lines, [&json!(program.line("get")), &json!(program.line("put"))]);
    assert_eq!(set["functionBreakpointId"], *set.at("/breakpoints/0/breakpointId"));
    let named = client.ok("set_function_breakpoint", json!({ "functionName": "other" })).await;
    assert_eq!(named["breakpoints"].as_array().unwrap().len(), 1);
    for function in ["handle_get", "handle_put", "other"] {
        assert_eq!(client.step("continue").await.at("/location/function"), function);
    }
    let none = client.fails(
        "FUNCTION_BREAKPOINT_SET_FAILED",
        "set_function_breakpoint",
        json!({ "functionName": "^zz" }),
    );
    let none = none.await;
    assert_eq!(none.at("/context/functions"), &json!(["handle_get", "handle_put", "other"]));
    client.finish().await;
}

/// Its file is where the package manager puts commands.
#[tokio::test]
async fn functions_of_an_installed_command_are_found_in_the_working_directory() {
    let client = ToolClient::new().await;
    let shop = Fixture::write(client.folder(), "shop.py", "def owed():\n    return 7  # @owed\n");
    for folder in ["bin", "target"] {
        std::fs::create_dir(client.folder().join(folder)).unwrap();
    }
    let built = Fixture::write(client.folder(), "target/built.py", "def built():\n    return 1  # @built\n");
    let call = "import os, sys\nsys.path.insert(0, os.getcwd())\nimport shop\nshop.owed()\n";
    let command = Fixture::write(client.folder(), "bin/owed", call);
    client.ok("start", json!({ "command": "python3", "args": [command.path()] })).await;
    let set = client.ok("set_function_breakpoint", json!({ "functionName": "/^owed$/" })).await;
    assert_eq!(set.at("/breakpoints/0/file"), shop.path(), "{}", set.text);
    let set = client.ok("set_function_breakpoint", json!({ "functionName": "/^built$/" })).await;
    assert_eq!(set.at("/breakpoints/0/file"), built.path(), "{}", set.text);
    let stopped = client.step("continue").await;
    assert_eq!(stopped.at("/location/line"), shop.line("owed"), "{}", stopped.text);
    client.finish().await;
}

const THROWS: Dynamic = Dynamic {
    python: "\
class Lost(KeyError):
    pass
def attempt(kind):
    try:
        raise kind('no key left')  # @raise
    except Exception as error:
        return error
attempt(ValueError)
attempt(Lost)
print('done')
",
    node: "\
class Lost extends RangeError {}
function attempt(kind) {
  try {
    throw new kind('no key left'); // @raise
  } catch (error) {
    return error;
  }
}
attempt(TypeError);
attempt(Lost);
console.log('done');
",
};

async fn exceptions_are_filtered_by_type(language: Language) {
    let (client, program) = ToolClient::started(language, THROWS).await;
    let filter = language.pick("KeyError", "RangeError");
    let wanted = json!({ "breakOnCaught": true, "breakOnUncaught": true, "exceptionFilter": filter });
    let set = client.ok("set_exception_breakpoint", wanted).await;
    assert_eq!(
        (&set["exceptionFilter"], &set["mode"], &set["enabled"]),
        (&json!(filter), &json!("all"), &json!(true))
    );
    let stopped = client.step("continue").await;
    assert_eq!(
        (&stopped["reason"], stopped.at("/location/line")),
        (&json!("exception"), &json!(program.line("raise")))
    );
    let kind = language.pick("kind.__name__", "kind.name");
    assert_eq!(client.value(kind).await, "Lost", "the one derived from it, and not the other");
    assert_eq!(client.step("continue").await["state"], "terminated");
    client.finish().await;
}

async fn exceptions_are_filtered_by_pattern(language: Language) {
    let (client, _) = ToolClient::started(language, THROWS).await;
    let filter = json!({ "breakOnCaught": true, "exceptionFilter": "/^(Type|Value)Error: .*key/" });
    client.ok("set_exception_breakpoint", filter).await;
    let stopped = client.step("continue").await;
    assert_eq!(stopped.at("/exception/type"), language.pick("ValueError", "TypeError"));
    assert_eq!(client.step("continue").await["state"], "terminated");
    client.finish().await;
}
