//! Command lines as people write them.

use serde_json::json;
use test_support::run_tool;

use crate::{EXITED, MAIN, Scripting};

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn all_kinds_of_commands_run() {
    let args = "console.log(1); // @here\n";
    let package = "{ \"scripts\": { \"go\": \"node 'my main.js' from-npm\" } }";
    let files = [("main.js", args), ("my main.js", args), ("package.json", package), ("sub/main.js", args)];
    let scripting = Scripting::with_files(&files).await;
    let spaced = json!({ "breakpoint": { "file": "my main.js", "line": 1 } });
    let sub = json!({ "breakpoint": { "file": "sub/main.js", "line": 1 } });
    let argv = "process.argv.slice(2).join()";
    let table = [
        ("node main.js", argv, json!({}), json!("")),
        ("node --inspect-brk=9229 main.js a 'b c' \"d\"", argv, json!({}), json!("a,b c,d")),
        ("node --inspect-brk=0 main.js", argv, json!({}), json!("")),
        ("node --inspect=127.0.0.1:9333 main.js --inspect", argv, json!({}), json!("--inspect")),
        ("node --inspect-brk \"my main.js\" x", argv, spaced.clone(), json!("x")),
        ("A='1 2' B=3 node main.js", "process.env.A + process.env.B", json!({}), json!("1 23")),
        ("echo x | node main.js | cat", argv, json!({}), json!("")),
        ("cd sub && node main.js", argv, sub, json!("")),
        ("false || node main.js; true", argv, json!({}), json!("")),
        ("node main.js $((1 + 1)) > /dev/null 2>&1", argv, json!({}), json!("2")),
        ("npm run --silent go", argv, spaced, json!("from-npm")),
        (
            "NODE_OPTIONS='--inspect-brk=9229 --max-http-header-size=9999' node main.js",
            "require('http').maxHeaderSize",
            json!({}),
            json!(9999),
        ),
        (
            "sh -c 'NODE_OPTIONS=--max-http-header-size=9998 node --inspect-brk=9229 main.js'",
            "require('http').maxHeaderSize",
            json!({}),
            json!(9998),
        ),
    ];
    for (command, expression, more, expected) in table {
        assert_eq!(scripting.values(command, expression, more).await, [expected], "{command}");
    }
    scripting.finish().await;
}

#[tokio::test]
async fn a_forking_program_reports_the_values_of_all_processes() {
    let text = "\
const { fork } = require('node:child_process');
const who = process.argv[2] ?? 'parent';
console.log(who); // @here
if (who === 'parent') fork(__filename, ['child']);
";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    let values = scripting.values("node --inspect-brk=9229 main.js", "who", json!({})).await;
    assert_eq!(values, ["parent", "child"]);
    scripting.finish().await;
}

#[tokio::test]
async fn a_debugger_statement_elsewhere_is_resumed() {
    let text = "debugger;\nconsole.log(1); // @here\ntry {\n  throw new Error('caught');\n} catch {\n  debugger;\n}\nthrow new Error('out');\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    assert_eq!(scripting.values("node main.js", "1", json!({})).await, [1]);
    scripting.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_typescript_source_is_found_by_its_map() {
    let text = "\
interface Item {
  name: string;
}

function add(item: Item): string {
  const myLocalVariable = item.name;
  return myLocalVariable; // @here
}

add({ name: 'milk' });
";
    let scripting = Scripting::with_files(&[("src/test.ts", text)]).await;
    let args = ["src/test.ts", "--outDir", "dist", "--sourceMap", "--target", "es2022"];
    run_tool(scripting.folder(), "tsc", &args).await;
    let more = json!({ "breakpoint": { "file": "src/test.ts", "line": 0 } });
    let values = scripting.values("node --inspect-brk=9229 ./dist/test.js", "myLocalVariable", more).await;
    assert_eq!(values, ["milk"]);
    scripting.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn python_programs_run_too() {
    let text = "import os, sys\nfor i in range(2):\n    print(i)  # @here\n";
    let test = "def test_it():\n    x = 1\n    assert x  # @here\n";
    let scripting =
        Scripting::with_files(&[("app.py", text), ("runs/__main__.py", text), ("main.js", MAIN)]).await;
    std::fs::write(scripting.folder().join("test_it.py"), test).unwrap();
    let app = json!({ "breakpoint": { "file": "app.py", "line": 0 } });
    let table = [
        (
            "python3 app.py",
            "[i, {'a': None}]",
            app.clone(),
            [json!([0, { "a": null }]), json!([1, { "a": null }])],
        ),
        (
            "A='1 2' python3 -u app.py x 'y z'",
            "[os.environ['A'], *sys.argv[1:]]",
            app.clone(),
            [json!(["1 2", "x", "y z"]), json!(["1 2", "x", "y z"])],
        ),
        (
            "python3 -m runs",
            "i",
            json!({ "breakpoint": { "file": "runs/__main__.py", "line": 0 } }),
            [json!(0), json!(1)],
        ),
        ("python3 app.py", "{1: i}", app.clone(), [json!("{1: 0}"), json!("{1: 1}")]),
        (
            "python3 app.py",
            "10 ** 30 + i",
            app,
            [json!("1000000000000000000000000000000"), json!("1000000000000000000000000000001")],
        ),
    ];
    for (command, expression, more, expected) in table {
        assert_eq!(scripting.values(command, expression, more).await, expected, "{command} {expression}");
    }
    scripting.finish().await;
}

#[tokio::test]
async fn a_command_without_a_debuggable_program_has_exited() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    for command in ["false", "no-such-command main.js", "echo node main.js", "node no-such-file.js"] {
        let result = scripting.ask(command, "1", json!({})).await;
        let data = &result["structuredContent"];
        assert_eq!(
            (&data["error"], &result["isError"]),
            (&json!(EXITED), &json!(true)),
            "{command}: {result}"
        );
        assert!(data["notes"].is_array(), "{command}: {data}");
    }
    scripting.finish().await;
}
