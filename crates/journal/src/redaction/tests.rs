//! Redaction of journal entries and of generated texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn rules() -> Redaction {
    Redaction::of(Some("/home/ann".into()), Some("/work/app".into()))
}

fn cleaned(mut value: Value) -> Value {
    rules().clean(&mut value);
    value
}

#[test]
fn values_of_credential_names_are_redacted() {
    let table = [
        (json!({"password": "x", "user": "ann"}), json!({"password": MARK, "user": "ann"})),
        (json!({"password": ""}), json!({"password": ""})),
        (
            json!({"token": null, "secret": true, "pwd": 12}),
            json!({"token": null, "secret": true, "pwd": 12}),
        ),
        (json!({"token": 123_456}), json!({"token": MARK})),
        (json!({"cookies": {"a": "b", "c": ["d"]}}), json!({"cookies": {"a": MARK, "c": [MARK]}})),
        (
            json!({"name": "api_key", "type": "str", "value": "'x'"}),
            json!({"name": "api_key", "type": "str", "value": MARK}),
        ),
        (json!({"name": "token", "value": "None"}), json!({"name": "token", "value": "None"})),
        (json!({"name": "tokens_used", "value": "12345"}), json!({"name": "tokens_used", "value": "12345"})),
        (
            json!({"expression": "config['password']", "result": "'x'", "type": "str"}),
            json!({"expression": "config['password']", "result": MARK, "type": "str"}),
        ),
        (json!({"expression": "1 + 1", "result": "2"}), json!({"expression": "1 + 1", "result": "2"})),
        (json!({"args": ["--token", "x", "--verbose"]}), json!({"args": ["--token", MARK, "--verbose"]})),
        (json!({"args": ["--token=x", "y"]}), json!({"args": [format!("--token={MARK}"), "y"]})),
        (json!({"args": ["--env", "A=b", "c"]}), json!({"args": ["--env", format!("A={MARK}"), "c"]})),
        (
            json!({"command": "a.py:3 --env A=b \"--env=B=c d\" -e x"}),
            json!({"command": format!("a.py:3 --env A={MARK} \"--env=B={MARK}\" -e x")}),
        ),
        (json!({"args": ["--token", "--verbose"]}), json!({"args": ["--token", "--verbose"]})),
        (
            json!({"lines": ["K = '''-----BEGIN PRIVATE KEY-----", "MIIEvQ", "AASC", "-----END PRIVATE KEY-----'''", "x = 1"]}),
            json!({"lines": ["K = '''-----BEGIN PRIVATE KEY-----", MARK, MARK, "-----END PRIVATE KEY-----'''", "x = 1"]}),
        ),
    ];
    for (value, expected) in table {
        assert_eq!(cleaned(value), expected);
    }
}

#[test]
fn environment_variables_keep_their_names() {
    let table = [
        (json!({"env": {"A": "1", "B": null}}), json!({"env": {"A": "1", "B": null}})),
        (json!({"env": {"A": "one", "PATH": "/bin"}}), json!({"env": {"A": MARK, "PATH": MARK}})),
        (json!({"environment": ["A=one", "B"]}), json!({"environment": [format!("A={MARK}"), MARK]})),
        (json!({"env": [{"name": "A", "value": "one"}]}), json!({"env": [{"name": "A", "value": MARK}]})),
        (json!({"env": {"A": "one", "...": "+3 more"}}), json!({"env": {"A": MARK, "...": "+3 more"}})),
        (
            json!({"name": "environ", "value": "environ({'A': 'b'})"}),
            json!({"name": "environ", "value": MARK}),
        ),
    ];
    for (value, expected) in table {
        assert_eq!(cleaned(value), expected);
    }
}

#[test]
fn interpreters_and_homes_are_shown_without_the_user() {
    let table = [
        (json!({"executablePath": "/usr/bin/python3"}), json!({"executablePath": "python3"})),
        (json!({"pythonPath": "/work/app/.venv/bin/python"}), json!({"pythonPath": ".venv/bin/python"})),
        (json!({"runtimeExecutable": "node"}), json!({"runtimeExecutable": "node"})),
        (json!({"file": "/home/ann/app.py", "line": 3}), json!({"file": "~/app.py", "line": 3})),
        (json!({"/home/ann/a.py": 1}), json!({"~/a.py": 1})),
        (json!({"error": "no file /home/ann/a.py"}), json!({"error": "no file ~/a.py"})),
    ];
    for (value, expected) in table {
        assert_eq!(cleaned(value), expected);
    }
}

#[test]
fn reply_to_a_credential_prompt_is_redacted() {
    let rules = rules();
    let mut call = json!({"callId": "a-1", "request": {"expression": "config.password"}});
    rules.clean(&mut call);
    assert_eq!(call["request"]["expression"], "config.password");
    let mut other = json!({"callId": "a-2", "response": {"result": "'x'"}});
    rules.clean(&mut other);
    assert_eq!(other["response"]["result"], "'x'");
    let mut answer = json!({"callId": "a-1", "response": {"success": true, "result": "'x'", "type": "str"}});
    rules.clean(&mut answer);
    assert_eq!(answer["response"], json!({"success": true, "result": MARK, "type": "str"}));
}

#[test]
fn redacted_shapes_are_counted() {
    let token = format!("ghp_{}", "a1".repeat(18));
    let mut value = json!({"a": [token, "x"], token.clone(): format!("{token} {token}")});
    assert_eq!(hide_shapes_in(&mut value), 4);
    assert_eq!(value, json!({"a": [MARK, "x"], MARK: format!("{MARK} {MARK}")}));
    let mut text = "nothing".to_owned();
    assert_eq!((hide_shapes(&mut text), text.as_str()), (0, "nothing"));
}

/// Long texts in which each place begins something that does not end.
#[test]
fn hostile_texts_are_scanned_in_linear_time() {
    for part in [
        "password",
        "token=abc1 ",
        "token:",
        "cookie: ",
        "key ",
        "token=",
        "a://",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----\n",
        "sk-",
        "\\",
        "'",
        "{'token': {",
        "=\"",
        "é",
    ] {
        let text = part.repeat(300_000 / part.len());
        let hidden = cleaned(Value::from(text));
        assert!(hidden.is_string());
    }
}

/// Pieces that rules are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "password", "token", "--token", "api_key", "Authorization", "Bearer ", "cookie", "key", "=", ": ", " = ", "'", "\"",
            "\\\"", "\\", "\\n", "\n", "{", "}", "[", "]", "(", ")", ", ", " ", "...", "… ", "://", "@", ":", "ghp_", "sk-",
            "eyJhbGciOiJI", ".", "/home/ann", "/", "~", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
            "value", "abc123", "None", "[redacted]", "b'", "\"\"\"", "é", "`", "%", "&", ";", "PASSWORD=", "$", "<", ">",
        ]).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9]{1,40}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn values() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        pieces(),
        prop::sample::select(vec![
            "env",
            "name",
            "value",
            "password",
            "executablePath",
            "callId",
            "response",
            "request"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf =
        prop_oneof![pieces().prop_map(Value::from), any::<i32>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Lists as long as before, objects with as many keys, and nothing else become of what was none.
fn is_like(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(before, after)| is_like(before, after))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before.values().zip(after.values()).all(|(before, after)| is_like(before, after))
        }
        (Value::Number(_), Value::String(after)) => after == MARK,
        (Value::String(_), Value::String(_)) => true,
        (before, after) => before == after,
    }
}

proptest! {
    #[test]
    fn redaction_keeps_the_shape_and_is_idempotent(value in values()) {
        let once = cleaned(value.clone());
        prop_assert!(is_like(&value, &once), "{value} {once}");
        prop_assert_eq!(cleaned(once.clone()), once);
    }

    #[test]
    fn texts_are_redacted_once(text in pieces()) {
        let once = shapes(&text).into_owned();
        prop_assert_eq!(shapes(&once), once.as_str());
        let once = rules().text(&text).into_owned();
        let twice = rules().text(&once).into_owned();
        prop_assert_eq!(twice, once);
    }
}
