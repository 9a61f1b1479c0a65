//! The listing of tools, and bad arguments.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use test_support::{Fixture, Server, rows_to_try};

use crate::STILLFRAME;
use crate::scenes::paused_at;

async fn tools(server: &Server) -> Vec<Value> {
    let list = server.request("tools/list", json!({})).await.expect("the tools are listed");
    list["tools"].as_array().expect("a list of tools").clone()
}

/// Whether a schema speaks of `null` anywhere: as a type or among the values of an enum.
fn allows_null(schema: &Value) -> bool {
    match schema {
        Value::Null => true,
        Value::String(text) => text == "null",
        Value::Array(items) => items.iter().any(allows_null),
        Value::Object(fields) => fields.values().any(allows_null),
        _ => false,
    }
}

#[tokio::test]
async fn every_tool_is_fully_described() {
    let server = STILLFRAME.serve().await;
    let tools = tools(&server).await;
    assert_eq!(tools.len(), 35);
    let mut names = BTreeSet::new();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(names.insert(name), "{name} is listed twice");
        for field in ["title", "description"] {
            assert!(tool[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert!(hints.iter().all(|hint| tool["annotations"][hint].is_boolean()), "{tool}");
        for field in ["inputSchema", "outputSchema"] {
            let schema = &tool[field];
            // Clients refuse the whole list if a single root is not an object.
            assert_eq!(schema["type"], "object", "{field} of {name}");
            assert!(jsonschema::meta::is_valid(schema), "{field} of {name}");
            jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{field} of {name}: {error}"));
            assert!(!allows_null(schema), "{field} of {name}: {schema}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn bad_arguments_are_answered_by_name() {
    let server = STILLFRAME.serve().await;
    let table = [
        ("create_debug_session", json!({}), "language"),
        ("create_debug_session", json!({ "language": ["python"] }), "language"),
        ("create_debug_session", json!({ "language": "python", "port": "many" }), "port"),
        ("create_debug_session", json!({ "language": "python", "port": 65536 }), "port"),
        ("set_breakpoint", json!({ "sessionId": "x", "line": [] }), "line"),
        ("set_exception_breakpoints", json!({ "mode": "some" }), "mode"),
        ("get_output", json!({ "since": -1 }), "since"),
        ("get_output", json!({ "since": 1.5 }), "since"),
        ("run_until", json!({ "program": "x.py", "until": [{ "line": "many" }] }), "until[0].line"),
        (
            "start_debugging",
            json!({ "dapLaunchArgs": { "stopOnEntry": "perhaps" } }),
            "dapLaunchArgs.stopOnEntry",
        ),
    ];
    for (tool, arguments, named) in table {
        let failed = server.fails("invalid_arguments", tool, arguments.clone()).await;
        assert_eq!(failed.at("/context/argument"), named, "{tool} {arguments}: {}", failed.text);
        assert!(failed.text_of("message").contains(&format!("`{named}`")), "{}", failed.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn arguments_can_be_omitted_or_null_if_none_is_required() {
    let server = STILLFRAME.serve().await;
    for params in [
        json!({ "name": "list_debug_sessions" }),
        json!({ "name": "list_debug_sessions", "arguments": null }),
        json!({ "name": "list_debug_sessions", "arguments": {} }),
    ] {
        let result = server.request("tools/call", params.clone()).await.unwrap();
        assert_eq!(result["structuredContent"]["count"], 0, "{params}");
    }
    let created = json!({ "language": "python", "name": null, "port": null });
    assert_eq!(server.ok("create_debug_session", created).await["state"], "created");
    server.finish().await;
}

/// Arguments that are good as far as they are no numbers.
fn arguments(tool: &Value, session: &str, program: &Fixture) -> Map<String, Value> {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let given = properties.into_iter().filter_map(|(name, property)| {
        let value = match name.as_str() {
            "sessionId" => json!(session),
            "file" => json!(program.path()),
            "line" => json!(program.line("call")),
            "language" => json!("python"),
            "expression" | "value" => json!("1"),
            "name" if required.contains(&json!(name)) => json!("prices"),
            "mode" => json!("uncaught"),
            "variablesReference" => json!(1),
            _ if required.contains(&json!(name)) && property["type"] == "integer" => json!(1),
            _ => return None,
        };
        Some((name, value))
    });
    given.collect()
}

/// Numbers of a size that has a largest value are answered up to that one, and refused above.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_largest_integers_are_answered() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("shop");
    let session = paused_at(&server, &program, "call").await;
    for tool in tools(&server).await {
        let name = tool["name"].as_str().unwrap();
        let properties = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        // Do not attach to a process that happens to have this ID.
        let numbers = properties
            .iter()
            .filter(|(name, property)| property["type"] == "integer" && name.as_str() != "processId");
        for (argument, _) in numbers {
            let numbers = [0, 1, u64::from(u32::MAX), i64::MAX.unsigned_abs(), u64::MAX];
            for number in rows_to_try(numbers, 4) {
                let sessions = server.ok("list_debug_sessions", json!({})).await;
                if sessions.at("/sessions/0/state") != "paused" {
                    let again = json!({ "sessionId": session, "timeout": 60_000 });
                    assert_eq!(server.ok("restart_debugging", again).await["state"], "paused");
                }
                let mut arguments = arguments(&tool, &session, &program);
                arguments.insert(argument.clone(), json!(number));
                let answer = server.call(name, Value::Object(arguments)).await;
                let request = format!("{name} {argument}={number}: {}", answer.text);
                assert!(answer.data.is_object() && answer["success"] == !answer.is_error, "{request}");
                let is_size =
                    argument == "maxLength" || (name, argument.as_str()) == ("get_variables", "count");
                if is_size && number > 1 {
                    assert_eq!(answer["code"], "limit_reached", "{request}");
                }
            }
        }
    }
    let largest = [
        ("frames", 1_000),
        ("variables", 1_000),
        ("value", 100_000),
        ("source", 1_000),
        ("output", 1_048_576),
    ];
    let limits: Map<String, Value> =
        largest.map(|(name, most)| (name.to_owned(), json!(most))).into_iter().collect();
    let restarted = server.ok("restart_debugging", json!({ "sessionId": session, "limits": limits })).await;
    assert_eq!(restarted["state"], "paused");
    let with_limits = tools(&server).await.into_iter().filter_map(|tool| {
        let sizes = tool["inputSchema"]["properties"]["limits"]["properties"].as_object().cloned()?;
        Some((tool, sizes))
    });
    for (tool, sizes) in with_limits {
        for (size, _) in largest {
            assert!(sizes.contains_key(size), "{}", tool["name"]);
            let mut arguments = arguments(&tool, &session, &program);
            arguments.insert("limits".to_owned(), json!({ size: u32::MAX }));
            match tool["name"].as_str().unwrap() {
                "trace_values" => {
                    let point = json!([{ "line": 1, "expressions": ["1"] }]);
                    arguments.insert("points".to_owned(), point);
                }
                "debug_test" => drop(arguments.insert("command".to_owned(), json!("pytest"))),
                "attach_to_process" => drop(arguments.insert("port".to_owned(), json!(1))),
                _ => {}
            }
            let name = tool["name"].as_str().unwrap();
            let refused = server.fails("limit_reached", name, Value::Object(arguments)).await;
            let printed = format!("`limits.{size}` is {}: the limit `", u32::MAX);
            assert!(refused.text_of("message").starts_with(&printed), "{name}: {}", refused.text);
            assert!(!refused.text_of("message").contains("raises"), "{name}: {}", refused.text);
        }
    }
    let (_, log) = server.finish().await;
    assert!(!log.contains("panicked"), "{log}");
}
