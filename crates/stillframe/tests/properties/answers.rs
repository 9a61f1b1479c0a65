//! Property 20: what every tool answers to right and to wrong arguments.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use test_support::DynamicLanguage as Language;

use crate::harness::{Scene, each_language, holds};
use crate::host::Host;

each_language!(every_answer_matches_its_documentation);

/// A host, and the tools of the vocabulary.
struct Tools {
    host: Host,
    tools: Vec<Tool>,
}

/// A tool by its name, with its parameters and whether they are required.
struct Tool {
    name: String,
    parameters: Vec<(String, bool)>,
}

impl Scene for Tools {
    fn begin(language: Language) -> Self {
        let mut host = Host::begin(language);
        let idle = host.write("");
        host.choose(idle.path());
        let listed =
            host.world.wait(host.world.server().request("tools/list", json!({}))).expect("the tools");
        let tools = listed["tools"].as_array().unwrap().iter().map(Tool::new).collect();
        Self { host, tools }
    }

    fn end(self) {
        self.host.end();
    }
}

impl Tool {
    fn new(listed: &Value) -> Self {
        let required = listed["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let parameters = listed["inputSchema"]["properties"].as_object().unwrap().keys();
        let parameters = parameters.map(|name| (name.clone(), required.contains(&json!(name))));
        Self { name: listed["name"].as_str().unwrap().to_owned(), parameters: parameters.collect() }
    }
}

/// How an argument is chosen.
#[derive(Clone, Debug)]
enum Choice {
    Left,
    /// One of those that may do.
    Good(Index),
    Bad(Value),
}

fn choice() -> impl Strategy<Value = Choice> {
    let bad = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f32>().prop_filter("JSON has no other", |number| number.is_finite()).prop_map(Value::from),
        "[ -~é]{0,6}".prop_map(Value::from),
        vec(0..3, 0..3).prop_map(Value::from),
        Just(json!({ "a": 1 })),
    ];
    prop_oneof![2 => Just(Choice::Left), 5 => any::<Index>().prop_map(Choice::Good), 1 => bad.prop_map(Choice::Bad)]
}

/// Values of a parameter that are of its type, and may do.
fn good(host: &Host, tool: &str, name: &str) -> Vec<Value> {
    let language = host.language;
    match name {
        // The host continues.
        "sessionId" if tool == "debugger_stop_session" => vec![json!("nobody")],
        "sessionId" => vec![json!(host.session()), json!(host.session()), json!("nobody")],
        // Programs that end by themselves, at once.
        "command" => vec![json!("no-such-command"), json!(""), json!(language.pick("python", "node"))],
        // Without any, a language would wait for what is typed.
        "args" => vec![json!(["--version"]), json!(["no-such-file"])],
        "cwd" => vec![json!(host.world.folder()), json!("/no/such/folder")],
        "file" => vec![json!(host.path()), json!(language.file("host")), json!("missing.js")],
        "line" | "column" => vec![json!(1), json!(4), json!("5"), json!(0), json!(9999)],
        "expression" | "condition" => {
            vec![json!("1 + 1"), json!("program"), json!("missing"), json!("1 +"), json!("")]
        }
        "logMessage" => vec![json!("{program} is next"), json!("{missing}"), json!("{"), json!("")],
        // The first is the host's own breakpoint.
        "breakpointId" => vec![json!("bp-2"), json!("bp-9999"), json!("1"), json!("")],
        "watchId" => vec![json!("watch-1"), json!("watch-9999"), json!("1")],
        "objectId" => vec![json!("1"), json!("99999"), json!("object")],
        "functionName" => vec![json!("load"), json!("/^lo/"), json!("missing"), json!("/(/"), json!("")],
        "operator" => vec![json!("=="), json!("%"), json!("!=")],
        "timeout" | "sampleInterval" => vec![json!(0), json!(50), json!("200"), json!(1_000_000_000)],
        "exceptionFilter" => vec![json!("TypeError"), json!("Missing"), json!("")],
        _ => vec![json!(0), json!(1), json!(100), json!(true), json!(false), json!("text")],
    }
}

// Feature: mcp-debugger-tool, Property 20: For any debugging operation, the MCP Server should return a structured JSON
// response containing an operation status field and either a results object or an error object with code, message,
// and context.
fn every_answer_matches_its_documentation(language: Language) {
    let strategy = vec((any::<Index>(), vec(choice(), 12), any::<bool>()), 1..5);
    holds("20", language, file!(), 60, &strategy, |scene: &mut Tools, calls| {
        let Tools { host, tools } = scene;
        for (index, choices, has_more) in calls {
            let tool = &tools[index.index(tools.len())];
            let mut arguments = Map::new();
            for ((name, is_required), choice) in tool.parameters.iter().zip(choices) {
                let all = good(host, &tool.name, name);
                let value = match choice {
                    // Never the host.
                    Choice::Left if tool.name == "debugger_stop_session" => json!("nobody"),
                    Choice::Left if *is_required || name == "args" => all[0].clone(),
                    Choice::Left => continue,
                    Choice::Good(index) => all[index.index(all.len())].clone(),
                    Choice::Bad(_) if tool.name == "debugger_stop_session" => json!(7),
                    Choice::Bad(_) if name == "args" => json!("--version"),
                    Choice::Bad(value) => value,
                };
                arguments.insert(name.clone(), value);
            }
            if has_more && arguments.len() > 3 {
                arguments.insert("nobodysParameter".to_owned(), json!(1));
            }
            // The call itself checks the shape of the answer.
            let answer = host.world.call(&tool.name, Value::Object(arguments.clone()));
            if arguments.contains_key("nobodysParameter") && !answer.is_error {
                let warning = "ignored unknown argument `nobodysParameter`";
                assert!(answer.text.contains(warning), "{}: {}", tool.name, answer.text);
            }
            if !answer.is_error && tool.name == "debugger_start" {
                host.world.ok("debugger_stop_session", json!({ "sessionId": answer["sessionId"] }));
            }
        }
    });
}
