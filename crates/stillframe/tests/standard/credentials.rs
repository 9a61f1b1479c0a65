//! Credentials of a program: redacted in answers, shown on request, and never journaled.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language, Texts, each};

use crate::STILLFRAME;
use crate::debugging::Debugging;

each![
    likely_credentials_are_redacted_in_every_answer,
    credentials_are_shown_on_request,
    credentials_are_never_journaled,
];

/// A program that holds credentials and prints one.
pub(super) const PROGRAM: Texts = Texts {
    name: "credentials",
    python: "def main():\n    kept = 'gh' + 'p_' + 'A1b2C3' * 6\n    password = 'swordfish'\n    \
             print('using', kept, flush=True)\n    return password  # @stop\n\n\nmain()\n",
    node: "function main() {\n  const kept = 'gh' + 'p_' + 'A1b2C3'.repeat(6);\n  const password = 'swordfish';\n  \
           console.log('using', kept);\n  return password; // @stop\n}\n\nmain();\n",
    c: "\
#include <stdio.h>
#include <string.h>
int main(void) {
    char kept[60] = \"gh\";
    strcat(kept, \"p_\");
    for (int at = 0; at < 6; at++) strcat(kept, \"A1b2C3\");
    const char *password = \"swordfish\";
    printf(\"using %s\\n\", kept), fflush(stdout);
    return !password; // @stop
}
",
};
/// What no answer may hold.
pub(super) const SECRET: &str = "A1b2C3A1b2C3";

/// A program that holds a credential, stopped, and all that can be seen of it.
async fn seen(language: Language, args: &[&str], env: &[(&str, &str)]) -> Vec<Answer> {
    let folder = tempfile::tempdir().unwrap();
    let program = Fixture::write_in(language, folder.path(), "secret", PROGRAM);
    let mut options = STILLFRAME.options().await;
    options.args.extend(args.iter().map(|arg| (*arg).to_owned()));
    options.env.extend(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let session = Debugging::on(options.start().await, language).await;
    session.break_at(&program, "stop").await;
    let stopped = session.start(&program).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stopped.at("/stackFrames/0/id") })).await;
    let scope = scopes.at("/scopes/0/variablesReference").clone();
    let value = session.ok("evaluate_expression", json!({ "expression": "kept" })).await;
    let password = session.ok("evaluate_expression", json!({ "expression": "password" })).await;
    let is_shown = args.contains(&"--no-redact") || env.contains(&("STILLFRAME_REDACT", "0"));
    let expected = if is_shown { language.text("swordfish") } else { "[redacted]".to_owned() };
    assert_eq!(language.plain(password.text_of("result")), expected);
    let answers = vec![
        session.ok("get_variables", json!({ "scope": scope })).await,
        session.ok("get_output", json!({})).await,
        value,
    ];
    let uri = format!("stillframe://sessions/{}/output", session.id);
    let read = session.server.request("resources/read", json!({ "uri": uri })).await.unwrap();
    let text = read["contents"][0]["text"].as_str().unwrap().to_owned();
    let resource = Answer { data: Value::Null, text, is_error: false };
    session.finish().await;
    answers.into_iter().chain([resource]).collect()
}

async fn likely_credentials_are_redacted_in_every_answer(language: Language) {
    let answers = seen(language, &[], &[]).await;
    for answer in &answers {
        assert!(
            !answer.text.contains(SECRET) && !answer.data.to_string().contains(SECRET),
            "{}",
            answer.text
        );
        assert!(answer.text.contains("[redacted]"), "{}", answer.text);
        assert_eq!(answer.text.matches("--no-redact").count(), 1, "{}", answer.text);
    }
    let [.., value, resource] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!(value["result"], language.text("[redacted]"));
    let note = "1 value that looks like a credential (start with --no-redact to see it)";
    assert_eq!(value["hidden"], note);
    assert_eq!(resource.text, format!("using [redacted]\nhidden: {note}"));
}

async fn credentials_are_shown_on_request(language: Language) {
    for answer in seen(language, &["--no-redact"], &[]).await {
        assert!(answer.text.contains(SECRET) && !answer.text.contains("redact"), "{}", answer.text);
    }
}

async fn credentials_are_never_journaled(language: Language) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("debug.log");
    let env = [("STILLFRAME_LOG_FILE", log.to_str().unwrap()), ("STILLFRAME_REDACT", "0")];
    for answer in seen(language, &[], &env).await {
        assert!(answer.text.contains(SECRET), "{}", answer.text);
    }
    let written = std::fs::read_to_string(&log).unwrap();
    assert!(!written.contains(SECRET), "{written}");
    let entries: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls = entries.iter().filter(|entry| entry["request"]["expression"] == "password");
    let ids: Vec<&Value> = calls.map(|call| &call["callId"]).collect();
    let answer =
        entries.iter().find(|entry| entry["message"] == "tool:response" && ids.contains(&&entry["callId"]));
    assert_eq!(answer.unwrap()["response"]["result"], "[redacted]");
    // The program writes a line in pieces, which may come one by one.
    let output: String = entries.iter().filter_map(|entry| entry["output"].as_str()).collect();
    assert!(output.contains("using [redacted]\n"), "{written}");
}
