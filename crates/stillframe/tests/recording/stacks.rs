//! Stacks and headings of exceptions in JavaScript, while a program is recorded.

use serde_json::json;
use test_support::{Fixture, toolchains};

use crate::recorder::{Client, has, written};

const STACKS: &str = "\
class Shop {
  static open() { return new Shop(); }
  constructor() { this.stack = new Error('opened').stack; }
}
const caller = () => new Error().stack.split('\\n')[2];
console.log(Shop.open().stack.split('\\n').slice(0, 4).join('\\n'));
console.log(/file:\\/\\/\\/\\S+:\\d+:\\d+$/.test(caller()));
async function later() { await null; return new Error('late').stack; }
console.log(await later());
";

/// What a program prints of stacks is the same with the recorder and without.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it ends by itself")]
async fn stacks_are_those_of_a_plain_run() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let program = Fixture::write(folder.path(), "main.mjs", STACKS);
    let client = Client::new("node").await;
    for options in [&[][..], &["--enable-source-maps"]] {
        let mut node = tokio::process::Command::new("node");
        let plain = node.args(options).arg(program.path()).output().await.unwrap();
        let plain = String::from_utf8(plain.stdout).unwrap();
        has(
            &plain,
            &["at new Shop (file:///", "at Shop.open (file:///", "    at file:///", "\ntrue\n", "async"],
        );
        let args: Vec<&str> = options.iter().copied().chain([program.path()]).collect();
        let said = client.ask("record_run", json!({ "command": "node", "args": args })).await;
        has(&said, &["exited with code 0", &format!("output:\n{plain}")]);
    }
    let text = "const stack: string = new Error('typed').stack!;\nconsole.log(stack);\n";
    let typed = Fixture::write(folder.path(), "typed.ts", text);
    let arguments =
        json!({ "command": "node", "args": ["--import", "tsx", typed.path()], "cwd": folder.path() });
    let said = client.ask("record_run", arguments).await;
    has(&said, &["Error: typed\n", "typed.ts:1:23)"]);
    assert!(!said.contains("record_"), "{said}");
    client.server.finish().await;
}

/// Where an exception ends a program, Node shows the line and where in it that was.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it ends by itself")]
async fn the_line_of_an_uncaught_exception_is_shown_as_in_a_plain_run() {
    let client = Client::new("node").await;
    for text in [
        "function check(n) {\n  if (n > 2) throw new RangeError('too big');\n}\ncheck(3);\n",
        "async function load() { await null; throw new RangeError('too big'); }\nload();\n",
        "setTimeout(() => { Promise.reject(new RangeError('too big')); });\n",
        "async function load(date) { return date.toISOString(); }\nload(new Date(NaN));\n",
        "async function pay() { throw Object.assign(new RangeError('unpaid'), { code: 'ERR_ASSERTION' }); }\npay();\n",
    ] {
        let (_folder, program) = written("main.cjs", text);
        let mut node = tokio::process::Command::new("node");
        let plain = node.arg(program.path()).output().await.unwrap();
        let plain = String::from_utf8(plain.stderr).unwrap();
        let heading = plain.split("RangeError: ").next().unwrap_or_default();
        has(heading, &["main.cjs:", "^\n\n"]);
        let said = client.record(&program, &[]).await;
        has(&said, &[&format!("output:\n{heading}RangeError: ")]);
    }
    client.server.finish().await;
}

/// Where the program handles the exception, and where Node does not know the line.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it ends by itself")]
async fn no_line_is_shown_where_a_plain_run_shows_none() {
    let client = Client::new("node").await;
    for text in [
        "process.setUncaughtExceptionCaptureCallback(() => console.log('captured'));\n\
         Promise.reject(new Error('handled'));\n",
        "const { Worker, isMainThread } = require('worker_threads');\n\
         if (isMainThread) new Worker(__filename).on('error', () => console.log('captured'));\n\
         else Promise.reject(new Error('handled'));\n",
        "async function check() { require('assert').strictEqual(1, 2); }\ncheck();\n",
        "async function read() { return JSON.parse('{'); }\nread();\n",
    ] {
        let (_folder, program) = written("main.cjs", text);
        let mut node = tokio::process::Command::new("node");
        let plain = node.arg(program.path()).output().await.unwrap();
        let plain = String::from_utf8([plain.stdout, plain.stderr].concat()).unwrap();
        let first = plain.lines().next().unwrap();
        let said = client.record(&program, &[]).await;
        has(&said, &[&format!("output:\n{first}\n")]);
    }
    client.server.finish().await;
}
