//! What only programs of Node.js have.

use serde_json::json;
use test_support::{Fixture, run_tool};

use crate::client::{ToolClient, named};

const APP: &str = "\
export function price(amount: number): number {
  const doubled = amount * 2; // @body
  return doubled;
}
console.log(price(2));
";

#[tokio::test]
async fn a_function_of_a_compiled_program_is_found_in_its_source() {
    let client = ToolClient::new().await;
    let source = Fixture::write(client.folder(), "app.ts", APP);
    run_tool(client.folder(), "esbuild", &["app.ts", "--sourcemap", "--format=cjs", "--outfile=dist/app.js"])
        .await;
    client.start(&Fixture::read(client.folder().join("dist/app.js"))).await;
    for pattern in ["price", "/^pri/"] {
        let set = client.ok("set_function_breakpoint", json!({ "functionName": pattern })).await;
        let only = &set["breakpoints"];
        assert_eq!(only.as_array().map(Vec::len), Some(1), "{}", set.text);
        assert_eq!(
            (&only[0]["file"], &only[0]["line"]),
            (&json!(source.path()), &json!(source.line("body"))),
            "{}",
            set.text
        );
    }
    let stopped = client.step("continue").await;
    assert_eq!(stopped.at("/location/line"), source.line("body"), "{}", stopped.text);
    client.finish().await;
}

#[tokio::test]
async fn a_variable_that_v8_optimized_out_is_inspected_by_name() {
    let client = ToolClient::new().await;
    let text = "const RATE = 2;\nfunction f(a) {\n  return a; // @here\n}\nf(1);\n";
    let program = Fixture::write(client.folder(), "app.js", text);
    client.start(&program).await;
    client.break_at(&program, "here").await;
    client.step("continue").await;
    let inspected = client.ok("inspect", json!({ "expression": "RATE" })).await;
    assert_eq!(inspected["value"], json!(2), "{}", inspected.text);
    assert!(
        inspected["note"].to_string().contains("this value is from the frame of `<module>`"),
        "{}",
        inspected.text
    );
    let globals = client.step("get_global_variables").await;
    let rate = named(&globals["variables"], "RATE");
    assert_eq!((&rate["value"], &rate["scope"]), (&json!(2), &json!("Module")), "{}", globals.text);
    client.finish().await;
}
