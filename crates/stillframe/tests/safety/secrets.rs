//! Secrets that only their names give away, in the answers of every toolset.

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Server};

use crate::{STILLFRAME, Scene, call, serve, stopped_at};

/// What no answer may hold: each is put together while the program runs, so that no source line has it.
const HIDDEN: [&str; 5] = ["swordfish", "nested-secret", "aws/Short1", "K7MDENG", "flag-secret"];
/// What every answer may.
const SHOWN: [&str; 3] = ["identifier", "ann-miller", "hashed"];

const PYTHON: &str = "\
def join(*parts):
    return ''.join(parts)


def hashed():
    return 1


def main():
    password = join('sword', 'fish')
    config = {'db': {'user': join('ann', '-miller'), 'password': join('nested', '-secret')}}
    aws_secret_access_key = join('aws/', 'Short1')
    bare = join('wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEX', 'AMPLEKEY')
    options = [join('--api-key=', 'flag', '-secret')]
    token = join('identi', 'fier')
    token_count = 12345
    db_password = None
    passwd = 12345678
    secret = hashed
    return password
";

const NODE: &str = "\
function join(...parts) {
  return parts.join('');
}

function hashed() {
  return 1;
}

function main() {
  const password = join('sword', 'fish');
  const config = { db: { user: join('ann', '-miller'), password: join('nested', '-secret') } };
  const aws_secret_access_key = join('aws/', 'Short1');
  const bare = join('wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEX', 'AMPLEKEY');
  const options = [join('--api-key=', 'flag', '-secret')];
  const token = join('identi', 'fier');
  const token_count = 12345;
  const db_password = null;
  const passwd = 12345678;
  const secret = hashed;
  return password;
}
";

/// The program, and the line at which everything is known.
fn written(scene: &Scene, language: Language) -> (String, u32) {
    let (text, call) = match language {
        Language::Python => (PYTHON, "\n\nmain()\n"),
        Language::Node => (NODE, "\nmain();\n"),
    };
    let line = text.lines().position(|line| line.trim().starts_with("return password")).unwrap() + 1;
    (scene.program(language, "secrets", &format!("{text}{call}")), u32::try_from(line).unwrap())
}

/// The names of all that is asked for, each with the tool that answers.
async fn answers(server: &Server, scene: &Scene, language: Language) -> Vec<(String, String)> {
    let (program, line) = written(scene, language);
    let member = "config['db']['password']";
    let calls = [
        (
            "run_until",
            json!({ "program": program, "until": [{ "line": line }], "expressions": ["password", member] }),
        ),
        (
            "trace_values",
            json!({ "program": program, "points": [{ "line": line, "expressions": ["token", "password", member, "config"] }] }),
        ),
        (
            "debug-script",
            json!({ "command": command(language, &program), "breakpoint": { "file": program, "line": line }, "expression": "config", "timeout": 60_000 }),
        ),
        (
            "debug-script",
            json!({ "command": command(language, &program), "breakpoint": { "file": program, "line": line }, "expression": member, "timeout": 60_000 }),
        ),
    ];
    let mut answer = Vec::new();
    for (tool, arguments) in &calls {
        answer.push((format!("{tool} {arguments}"), call(server, tool, arguments).await.text));
    }
    let session = stopped_at(server, language, &program, line).await;
    let stack = server.ok("get_stack_trace", json!({ "sessionId": session })).await;
    let scopes = server
        .ok("get_scopes", json!({ "sessionId": session, "frameId": stack.at("/stackFrames/0/id") }))
        .await;
    let reference = scopes.at("/scopes/0/variablesReference").clone();
    let calls = [
        ("get_local_variables", json!({ "sessionId": session })),
        ("get_variables", json!({ "sessionId": session, "scope": reference })),
        ("evaluate_expression", json!({ "sessionId": session, "expression": "password" })),
        ("evaluate_expression", json!({ "sessionId": session, "expression": member })),
        ("evaluate_expression", json!({ "sessionId": session, "expression": "join(password, '!')" })),
        ("evaluate_expression", json!({ "sessionId": session, "expression": "config" })),
        ("debugger_inspect", json!({ "sessionId": session, "expression": member })),
        ("debugger_get_local_variables", json!({ "sessionId": session })),
    ];
    for (tool, arguments) in &calls {
        answer.push((format!("{tool} {arguments}"), call(server, tool, arguments).await.text));
    }
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    answer
}

fn command(language: Language, program: &str) -> String {
    match language {
        Language::Python => format!("python3 {program}"),
        Language::Node => format!("node {program}"),
    }
}

async fn are_hidden(language: Language) {
    let scene = Scene::new();
    let server = serve(&[], &scene.inside).await;
    let answers = answers(&server, &scene, language).await;
    for (call, said) in &answers {
        for secret in HIDDEN {
            assert!(!said.contains(secret), "{call}: {secret}: {said}");
        }
        assert!(said.contains("[redacted]") && said.contains("--no-redact"), "{call}: {said}");
    }
    let (_, locals) = answers.iter().find(|(call, _)| call.starts_with("get_local_variables")).unwrap();
    for plain in SHOWN.iter().chain(&["12345", "12345678"]) {
        assert!(locals.contains(plain), "{plain}: {locals}");
    }
    server.finish().await;
}

#[tokio::test]
async fn secrets_by_name_are_redacted_in_python() {
    are_hidden(Language::Python).await;
}

#[tokio::test]
async fn secrets_by_name_are_redacted_in_node() {
    are_hidden(Language::Node).await;
}

#[tokio::test]
async fn secrets_by_name_are_shown_on_request() {
    let scene = Scene::new();
    let server = serve(&["--no-redact"], &scene.inside).await;
    let answers = answers(&server, &scene, Language::Python).await;
    let (_, locals) = answers.iter().find(|(call, _)| call.starts_with("get_local_variables")).unwrap();
    for secret in HIDDEN {
        assert!(locals.contains(secret), "{secret}: {locals}");
    }
    assert!(answers.iter().all(|(_, answer)| !answer.contains("redact")), "{answers:?}");
    server.finish().await;
}

/// The toolset that answers with text.
#[tokio::test]
async fn secrets_by_name_are_redacted_in_text_answers() {
    let scene = Scene::new();
    let (program, line) = written(&scene, Language::Python);
    let server = serve(&[], &scene.inside).await;
    let location = json!({ "file": program, "line": line });
    let mut all = Vec::new();
    for (tool, arguments) in [
        ("debug_breakpoint", location),
        ("debug_launch", json!({ "program": program })),
        ("debug_continue", json!({})),
        ("debug_variables", json!({})),
        ("debug_evaluate", json!({ "expression": "config['db']['password']" })),
        ("debug_evaluate", json!({ "expression": "password" })),
        ("debug_evaluate", json!({ "expression": "token" })),
        ("debug_stop", json!({})),
    ] {
        let answer = call(&server, tool, &arguments).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        all.push(answer.text);
    }
    let answer = all.concat();
    for secret in HIDDEN {
        assert!(!answer.contains(secret), "{secret}: {answer}");
    }
    assert!(all[4].starts_with("(str) [redacted]\n") && all[5].starts_with("(str) [redacted]\n"), "{answer}");
    assert!(all[6].starts_with("(str) identifier "), "{answer}");
    server.finish().await;
}

/// The command line.
#[tokio::test]
async fn secrets_by_name_are_redacted_in_viewers() {
    let scene = Scene::new();
    let (program, line) = written(&scene, Language::Python);
    let location = format!("{program}:{line}");
    for (words, more) in [
        (vec!["probe", &location, "-e", "config['db']['password']"], Value::Null),
        (vec!["trace", &location, "-e", "password", "-e", "token"], json!("identifier")),
    ] {
        let output = STILLFRAME.command().args(&words).output().await.expect("it runs");
        let answer = String::from_utf8_lossy(&output.stdout);
        for secret in HIDDEN {
            assert!(!answer.contains(secret), "{words:?}: {secret}: {answer}");
        }
        assert!(answer.contains("[redacted]") && answer.contains("--no-redact"), "{words:?}: {answer}");
        assert!(more.as_str().is_none_or(|more| answer.contains(more)), "{words:?}: {answer}");
    }
}
