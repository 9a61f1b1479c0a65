//! What a program writes and names cannot reach a terminal or a model unseen.

use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

use crate::{STILLFRAME, Scene, serve, stopped_at};

const PYTHON: &str = "word = 'a\\x1b[31m\\u202e\\u200b\\U000e0041'\nclass Odd:\n    def __repr__(self):\n        return word\nodd = Odd()\nprint(word, end='\\r', flush=True)\nnames = {word: 1}\nother = 'مرحبا שלום 👩\\u200d👧 ❤\\ufe0f'\ndone = 1\n";
const NODE: &str = "const word = 'a\\x1b[31m\\u202e\\u200b\\u{e0041}';\nconst names = { [word]: 1 };\nconsole.log(word);\nconst error = new Error(word);\nconst other = 'مرحبا שלום 👩\\u200d👧 ❤\\ufe0f';\nconsole.log(2);\n";

/// The characters of a text that hide or move something.
fn hidden(text: &str) -> Vec<char> {
    let is_bad = |letter: &char| matches!(letter, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{200b}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
    text.chars().filter(is_bad).collect()
}

fn hidden_in(data: &Value) -> Vec<char> {
    match data {
        Value::String(text) => hidden(text),
        Value::Array(items) => items.iter().flat_map(hidden_in).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [hidden(name), hidden_in(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn every_answer_escapes_invisible_characters() {
    let scene = Scene::new();
    for (language, text) in [(Language::Python, PYTHON), (Language::Node, NODE)] {
        let program = scene.program(language, "odd", text);
        let server = serve(&[], &scene.inside).await;
        let last = u32::try_from(text.lines().count()).unwrap();
        let id = stopped_at(&server, language, &program, last).await;
        let calls = [
            ("get_output", json!({ "sessionId": id, "since": 0 })),
            ("get_local_variables", json!({ "sessionId": id })),
            ("evaluate_expression", json!({ "sessionId": id, "expression": "names" })),
            ("evaluate_expression", json!({ "sessionId": id, "expression": "word" })),
            ("evaluate_expression", json!({ "sessionId": id, "expression": "\u{202e}nothing" })),
            ("debugger_get_local_variables", json!({ "sessionId": id })),
            ("debugger_inspect", json!({ "sessionId": id, "expression": "word" })),
            ("debug_probe", json!({ "program": program, "line": last, "expressions": ["word"] })),
        ];
        for (tool, arguments) in calls {
            let answer = server.call(tool, arguments).await;
            let found = [hidden(&answer.text), hidden_in(&answer.data)].concat();
            assert!(found.is_empty(), "{tool}: {found:?} in {}", answer.text);
        }
        let word = server.ok("get_output", json!({ "sessionId": id, "since": 0 })).await;
        assert!(word.data.to_string().contains("a\\\\u{202e}\\\\u{200b}\\\\u{e0041}"), "{}", word.data);
        let other = server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "other" })).await;
        assert!(other.text_of("result").contains("مرحبا שלום 👩"), "{}", other.text);
        let uri = format!("stillframe://sessions/{id}/output");
        let read = server.request("resources/read", json!({ "uri": uri })).await.unwrap();
        assert!(hidden_in(&read).is_empty(), "{read}");
        server.finish().await;
        let mut command = STILLFRAME.command();
        command.args(["probe", &format!("{program}:{last}"), "-e", "word", "--limit", "frames=3"]);
        command.env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
        let output = command.output().await.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && hidden(&text).is_empty(), "{text:?}");
    }
}

/// A program's name is in lists, and what was requested is in errors.
#[cfg(unix)]
#[tokio::test]
async fn file_names_in_lists_are_escaped() {
    let scene = Scene::new();
    let program = scene.program(Language::Python, "n\x1b[31m\u{202e}", "word = 1\nother = 2\n");
    let server = serve(&[], &scene.inside).await;
    let until = json!([{ "line": 2 }]);
    server.ok("run_until", json!({ "program": program, "until": until })).await;
    for list in ["resources/list", "resources/templates/list", "tools/list", "prompts/list"] {
        let listed = server.request(list, json!({})).await.unwrap();
        assert!(hidden_in(&listed).is_empty(), "{list}: {listed}");
    }
    let listed = server.request("resources/list", json!({})).await.unwrap();
    assert!(listed.to_string().contains("n\\\\x1b[31m\\\\u{202e}.py"), "{listed}");
    let odd = "a\u{202e}\u{1b}";
    let wrong = [
        ("resources/read", json!({ "uri": format!("stillframe://sessions/{odd}/output") })),
        ("resources/subscribe", json!({ "uri": odd })),
        ("tools/call", json!({ "name": odd })),
        ("prompts/get", json!({ "name": odd })),
        (odd, json!({})),
    ];
    for (method, params) in wrong {
        let refused = server.request(method, params).await.unwrap_err().to_string();
        assert!(
            hidden(&refused).is_empty() && refused.contains("a\\\\u{202e}\\\\x1b"),
            "{method}: {refused}"
        );
    }
    server.finish().await;
}
