//! TypeScript, and what else is compiled: breakpoints, stops and values are those of the sources.

mod broken;
mod imports;

use serde_json::{Value, json};
use test_support::{Answer, Language, run_node, toolchains};

use crate::debugging::{Debugging, Report};
use crate::project::Project;
use crate::script::frames;

/// Where the code that runs has the places of its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    /// Nowhere: the compiler has moved them.
    Moved,
    /// Everywhere.
    Kept,
}

/// A session with one compiled program, the same whatever compiled it.
async fn debug(project: &Project, start: Value, places: Places) {
    debug_with(Debugging::of(Language::Node).await, project, start, places).await;
}

async fn debug_with(session: Debugging, project: &Project, start: Value, places: Places) {
    let (main, basket) = (project.read("src/main.ts"), project.read("src/basket.ts"));
    session.break_at(&main, "top").await;
    session.break_with(&basket, "add", json!({ "logMessage": "adds {item.name}" })).await;
    session.break_with(&basket, "sum", json!({ "condition": "item.name === 'milk'" })).await;
    session.break_at(&main, "written").await;

    let top = session.ok("start_debugging", start).await;
    assert_eq!((top.outcome(), top.place()), ("breakpoint", (main.path(), main.line("top"))), "{}", top.text);
    // Some loaders put a function around a module.
    let function = top.at("/location/function");
    assert!(function == "<module>" || function == "<anonymous>", "{}", top.text);
    assert!(top.text_of("source").contains("const discount: number = 0.25"), "{}", top.text);
    generated_is_told(&top, places);
    let next = session.step("step_over").await;
    assert_eq!((next.outcome(), next.place()), ("step", (main.path(), main.line("basket"))), "{}", next.text);

    let inside = session.go_on().await;
    assert_eq!(
        (inside.outcome(), inside.place()),
        ("breakpoint", (basket.path(), basket.line("sum"))),
        "{}",
        inside.text
    );
    assert!(inside.text_of("output").contains("[log] adds bread\nadds milk\n"), "{}", inside.text);
    assert_eq!((inside.variable("price"), inside.variable("sum")), ("6", "8"), "{}", inside.text);
    assert!(
        frames(&inside)[..2].iter().zip(["total", "receipt"]).all(|(frame, name)| frame.ends_with(name)),
        "{}",
        inside.text
    );
    assert_eq!(session.evaluate("item.name + discount").await, "'milk0.25'");

    let written = session.go_on().await;
    assert_eq!(written.place(), (main.path(), main.line("written")), "{}", written.text);
    assert_eq!((written.variable("total"), written.variable("discount")), ("10.5", "0.25"));
    assert!(session.breakpoints().await.iter().all(|breakpoint| breakpoint["verified"] == true));
    assert_eq!(session.run_to_the_end().await["output"], "Ann pays 10.5\n");
    session.finish().await;
}

fn generated_is_told(stop: &Answer, places: Places) {
    let generated = stop.at("/location/generated");
    if places == Places::Kept {
        assert_eq!(generated, &Value::Null, "{}", stop.text);
        return;
    }
    let is_script = |file: &str| file.starts_with('/') || file.starts_with("webpack-internal:///");
    assert!(generated["file"].as_str().is_some_and(is_script), "{}", stop.text);
    assert!(generated["line"].as_u64() > Some(0) && generated["column"].as_u64() > Some(0), "{}", stop.text);
    assert_eq!(stop.at("/stackFrames/0/generated"), generated);
}

/// Starts a script of the project.
fn run(project: &Project, script: &str) -> Value {
    json!({ "scriptPath": project.path(script), "cwd": project.folder() })
}

const TSCONFIG: &str = r#"{
  "compilerOptions": {
    "target": "es2022", "module": "commonjs", "moduleResolution": "node10", "rootDir": "src", "outDir": "dist",
    "sourceMap": true, "rewriteRelativeImportExtensions": true, "noCheck": true, "types": []
  }
}"#;

async fn compiled_by_tsc(more: &[&str]) -> Project {
    let project = Project::typescript(&[]).await;
    project.file("tsconfig.json", TSCONFIG);
    project.run("tsc", &[&["-p", "."], more].concat()).await;
    project
}

#[tokio::test]
async fn tsc_to_commonjs() {
    let project = compiled_by_tsc(&[]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn tsc_to_modules() {
    let project = compiled_by_tsc(&["--module", "es2022", "--moduleResolution", "bundler"]).await;
    project.file("dist/package.json", r#"{ "type": "module" }"#);
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

async fn bundled(options: &[&str]) -> Project {
    let project = Project::typescript(&[]).await;
    let bundle = ["src/main.ts", "--bundle", "--platform=node", "--outfile=dist/main.js"];
    project.run("esbuild", &[&bundle, options].concat()).await;
    project
}

#[tokio::test]
async fn esbuild_bundled_and_minified() {
    let project = bundled(&["--minify", "--sourcemap"]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

#[tokio::test]
async fn esbuild_with_its_map_inside() {
    let project = bundled(&["--sourcemap=inline"]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

/// A map that the script does not name, for use with reports of errors alone.
#[tokio::test]
async fn a_map_beside_its_script() {
    let project = bundled(&["--minify", "--sourcemap=external"]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

const BRANCHES: &str = "\
function area(shape: { kind: string; radius?: number }) {
  switch (shape.kind) {
    case 'circle': {
      const { radius: n = 1 } = shape;
      return Math.PI * n ** 2; // @kept
    }
    default: {
      const never = shape;
      throw new TypeError(`${never.kind} ${String(never)}`); // @renamed
    }
  }
}
area({ kind: 'circle', radius: 2 });
area({ kind: 'line' });
";

/// A minifier calls `never` `n`, too, and keeps the name `n` without saying so in the map.
#[tokio::test]
async fn variables_of_two_blocks_that_are_namesakes_when_minified() {
    let project = Project::with(&[]).await;
    let source = project.file("area.ts", BRANCHES);
    project.run("esbuild", &["area.ts", "--minify", "--sourcemap", "--outfile=area.js"]).await;
    let script = std::fs::read_to_string(project.path("area.js")).expect("a script");
    assert!(script.contains("{radius:n=1}") && script.contains("const n=r;"), "{script}");
    let session = Debugging::of(Language::Node).await;
    session.break_at(&source, "kept").await;
    session.break_at(&source, "renamed").await;
    let kept = session.ok("start_debugging", run(&project, "area.js")).await;
    assert_eq!((kept.place().1, kept.variable("n")), (source.line("kept"), "2"), "{}", kept.text);
    assert!(!kept.text.contains("\"never\""), "{}", kept.text);
    assert_eq!(session.evaluate("n").await, "2");
    let renamed = session.go_on().await;
    assert_eq!(renamed.place().1, source.line("renamed"), "{}", renamed.text);
    assert_eq!(session.evaluate("never.kind").await, "'line'");
    assert_eq!(renamed.variable("never"), "{ kind: 'line' }", "{}", renamed.text);
    session.finish().await;
}

const WEBPACK: &str = r#"
const parser = { syntax: "typescript" };
const swc = { loader: "swc-loader", options: { jsc: { parser, target: "es2022" } } };
const configuration = {
  mode: "development", target: "node", entry: "./src/main.ts", devtool: process.argv[2],
  module: { rules: [{ test: /\.ts$/, use: swc }] },
};
require("webpack")(configuration, (error, built) => {
  if (error || built.hasErrors()) throw error ?? new Error(built.toString());
});
"#;

/// The bundle evaluates each module, as that of `next dev --webpack` does, and only the evaluated text has the map.
#[tokio::test]
async fn webpack_with_evaluated_modules() {
    let project = Project::typescript(&["webpack", "swc-loader", "@swc"]).await;
    project.file("build.js", WEBPACK);
    run_node(project.folder(), &["build.js", "eval-source-map"]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;

    run_node(project.folder(), &["build.js", "eval"]).await;
    let session = Debugging::of(Language::Node).await;
    session.break_at(&project.read("src/basket.ts"), "sum").await;
    let ended = session.ok("start_debugging", run(&project, "dist/main.js")).await;
    assert!(ended.text.contains("set webpack's `devtool` to `eval-source-map`"), "{}", ended.text);
    session.finish().await;
}

/// As concatenating tools write it: maps of parts, one after the other.
#[tokio::test]
async fn sectioned_map() {
    let project = bundled(&["--sourcemap"]).await;
    let map = std::fs::read_to_string(project.path("dist/main.js.map")).expect("a map");
    let sections =
        format!(r#"{{"version":3,"sections":[{{"offset":{{"line":0,"column":0}},"map":{map}}}]}}"#);
    project.file("dist/main.js.map", &sections.replace('\n', ""));
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

#[tokio::test]
async fn swc() {
    let project = Project::typescript(&[]).await;
    let settings = r#"{
        "jsc": { "parser": { "syntax": "typescript" }, "target": "es2022", "rewriteRelativeImportExtensions": true },
        "module": { "type": "commonjs" }, "sourceMaps": true
    }"#;
    project.file(".swcrc", settings);
    project.run("swc", &["src", "-d", "dist", "--strip-leading-paths"]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

#[tokio::test]
async fn babel() {
    let project = Project::typescript(&["@babel"]).await;
    let settings = r#"{
        "presets": [
            ["@babel/preset-env", { "targets": { "node": "20" } }],
            ["@babel/preset-typescript", { "rewriteImportExtensions": true }]
        ],
        "sourceMaps": true
    }"#;
    project.file("babel.config.json", settings);
    project.run("babel", &["src", "--extensions", ".ts", "-d", "dist"]).await;
    debug(&project, run(&project, "dist/main.js"), Places::Moved).await;
}

#[tokio::test]
async fn tsx() {
    let project = Project::typescript(&["tsx"]).await;
    debug(&project, run(&project, "src/main.ts"), Places::Moved).await;
}

// What a decorator returns is called by the compiler's functions, and the script is run by Node's loader of ES modules.
const DECORATED: &str = "\
import { sep } from 'node:path';

function logged(method: Function, context: ClassMethodDecoratorContext) {
  const name = String(context.name); // @decorates
  return function (this: unknown, ...args: unknown[]) {
    return method.apply(this, [...args, name]);
  };
}

class Till {
  #sum = 3;

  @logged
  pay(price: number, name: string): number { // @pay
    if (price > this.#sum) throw new RangeError(`no ${name}${sep}`); // @thrown
    return this.#sum - price;
  }
}

console.log(new Till().pay(1));
console.log(new Till().pay(5)); // @called
";

/// Nothing that a compiler adds is shown as a line of the source, or as a variable of it.
#[tokio::test]
async fn what_tsx_adds_is_not_of_the_source() {
    let project = Project::with(&["tsx"]).await;
    let program = project.file("till.ts", DECORATED);
    let session = Debugging::of(Language::Node).await;
    session.break_at(&program, "decorates").await;
    let decorates = session.ok("start_debugging", run(&project, "till.ts")).await;
    assert_eq!(decorates.place(), (program.path(), program.line("decorates")), "{}", decorates.text);
    assert_eq!(frames(&decorates), ["logged", "<anonymous>"], "{}", decorates.text);
    assert_eq!(decorates.at("/stackFrames/1/line"), program.line("pay"), "{}", decorates.text);
    assert!(!decorates.text.contains("\"__"), "{}", decorates.text);
    let thrown = session.go_on().await;
    assert_eq!(
        (thrown.outcome(), thrown.place()),
        ("exception", (program.path(), program.line("thrown"))),
        "{}",
        thrown.text
    );
    assert_eq!((thrown.variable("price"), thrown.variable("name")), ("5", "'pay'"), "{}", thrown.text);
    assert!(thrown.text.contains(&format!(":{}", program.line("called"))), "{}", thrown.text);
    session.finish().await;
}

/// tsx rewrites each `import()`, and its map leads only to the compiled file, whose own map leads on.
#[tokio::test]
async fn a_compiled_package_that_tsx_rewrites() {
    let project = Project::with(&["tsx"]).await;
    project.file("package.json", r#"{ "type": "module" }"#);
    let text = "\
// Compiled before.
export interface Row { cents: number }

export function sum(rows: Row[]): number {
  let total = 0;
  for (const row of rows) {
    total += row.cents; // @add
  }
  return total;
}
export const load = (name: string): Promise<unknown> => import(name);
";
    let source = project.file("lib/src/sum.ts", text);
    let main = "import { sum } from './lib/dist/sum.js';\nconst paid: number = sum([{ cents: 2 }, { cents: 5 }]);\nconsole.log(paid);\n";
    project.file("main.ts", main);
    project.run("esbuild", &["lib/src/sum.ts", "--sourcemap", "--outfile=lib/dist/sum.js"]).await;
    let session = Debugging::of(Language::Node).await;
    session.break_at(&source, "add").await;
    let stopped = session.ok("start_debugging", run(&project, "main.ts")).await;
    assert_eq!(stopped.place(), (source.path(), source.line("add")), "{}", stopped.text);
    assert_eq!(stopped.variable("total"), "0", "{}", stopped.text);
    let listed = session.breakpoints().await;
    assert_eq!(listed[0]["line"], source.line("add"), "{listed:#?}");
    session.finish().await;
    // The compiled file can have breakpoints, too.
    let compiled = project.read("lib/dist/sum.js");
    let session = Debugging::of(Language::Node).await;
    let statement = json!({ "file": compiled.path(), "statement": "total += row.cents" });
    let set = session.ok("set_breakpoint", statement).await;
    session.ok("start_debugging", run(&project, "main.ts")).await;
    let listed = session.breakpoints().await;
    assert_eq!((&listed[0]["verified"], &listed[0]["line"]), (&json!(true), &set["line"]), "{listed:#?}");
    session.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn tsx_with_modules() {
    let project = Project::typescript(&["tsx"]).await;
    project.file("package.json", r#"{ "type": "module" }"#);
    debug(&project, run(&project, "src/main.ts"), Places::Moved).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn tsx_command() {
    let project = Project::typescript(&["tsx", ".bin"]).await;
    let session = Debugging::with_executable(project.path("node_modules/.bin/tsx")).await;
    debug_with(session, &project, run(&project, "src/main.ts"), Places::Moved).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn ts_node() {
    let project = Project::typescript(&["ts-node", "typescript"]).await;
    let settings = r#"{
        "compilerOptions": { "target": "es2022", "module": "commonjs" },
        "ts-node": { "transpileOnly": true }
    }"#;
    project.file("tsconfig.json", settings);
    debug(&project, run(&project, "src/main.ts"), Places::Moved).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn swc_node() {
    let project = Project::typescript(&["@swc-node/register", "typescript"]).await;
    debug(&project, run(&project, "src/main.ts"), Places::Moved).await;
}

/// The types become blanks, so every place stays what it was.
#[tokio::test]
async fn node_strips_types() {
    let project = Project::typescript(&[]).await;
    let session = Debugging::with_executable(toolchains().await.join("node24/bin/node")).await;
    debug_with(session, &project, run(&project, "src/main.ts"), Places::Kept).await;
}
