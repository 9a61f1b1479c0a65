//! Maps that are missing, wrong or old, sources that are gone, and breakpoints that come late.

use serde_json::json;
use test_support::Language;

use super::{bundled, compiled_by_tsc, run};
use crate::debugging::{Debugging, Report};
use crate::project::Project;

/// Runs a build with a breakpoint that cannot be bound, and returns the reason, which the report of the end contains
/// too.
async fn reason(project: &Project, source: &str, name: &str) -> String {
    let source = project.read(source);
    let session = Debugging::of(Language::Node).await;
    session.break_at(&source, name).await;
    let ended = session.ok("start_debugging", run(project, "dist/main.js")).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    let breakpoint = session.breakpoints().await.remove(0);
    assert_eq!(breakpoint["verified"], false, "{breakpoint}");
    session.finish().await;
    breakpoint["reason"].as_str().expect("a reason").to_owned()
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_missing_map_is_reported() {
    let project = compiled_by_tsc(&[]).await;
    std::fs::remove_file(project.path("dist/main.js.map")).unwrap();
    let reason = reason(&project, "src/main.ts", "top").await;
    assert!(reason.contains("no source map") && reason.contains("dist/main.js.map"), "{reason}");
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_corrupt_map_is_reported() {
    let project = compiled_by_tsc(&[]).await;
    std::fs::write(project.path("dist/main.js.map"), r#"{ "version": 3, "mappings": "#).unwrap();
    let reason = reason(&project, "src/main.ts", "top").await;
    assert!(reason.contains("the source map is corrupt"), "{reason}");
}

/// The bundle has the text that it was made of.
#[tokio::test]
async fn a_changed_source_is_reported() {
    let project = bundled(&["--sourcemap"]).await;
    let text = std::fs::read_to_string(project.path("src/main.ts")).unwrap();
    project.file("src/main.ts", &format!("{text}\nconsole.log(\"more\"); // @more\n"));
    let reason = reason(&project, "src/main.ts", "more").await;
    assert!(reason.contains("differs from the source of the source map: rebuild"), "{reason}");
}

/// A bundler omits unused functions.
#[tokio::test]
async fn a_line_without_generated_code_is_reported() {
    let project = Project::typescript(&[]).await;
    let text = std::fs::read_to_string(project.path("src/basket.ts")).unwrap();
    let unused = "\nexport function unused(): number {\n  return Math.random(); // @unused\n}\n";
    project.file("src/basket.ts", &(text + unused));
    let bundle = ["src/main.ts", "--bundle", "--platform=node", "--outfile=dist/main.js", "--sourcemap"];
    project.run("esbuild", &bundle).await;
    let reason = reason(&project, "src/basket.ts", "unused").await;
    assert!(reason.contains("no code was generated from line"), "{reason}");
}

#[tokio::test]
async fn a_source_embedded_in_the_map_is_shown() {
    let project = bundled(&["--sourcemap"]).await;
    let main = project.read("src/main.ts");
    std::fs::remove_dir_all(project.path("src")).unwrap();
    let session = Debugging::of(Language::Node).await;
    let bundle = json!({ "file": project.path("dist/main.js"), "statement": "var discount = 0.25" });
    session.ok("set_breakpoint", bundle).await;
    let stopped = session.ok("start_debugging", run(&project, "dist/main.js")).await;
    assert_eq!(stopped.place(), (main.path(), main.line("top")), "{}", stopped.text);
    assert!(stopped.text_of("source").contains("const discount: number = 0.25"), "{}", stopped.text);
    let arguments = json!({ "file": main.path(), "line": main.line("written"), "linesContext": 1 });
    let context = session.ok("get_source_context", arguments).await;
    assert_eq!(context["lineContent"], "  return `${basket.owner} pays ${total}`; // @written");
    session.finish_at_end().await;
}

/// Neither is a file, and both are in stacks.
#[tokio::test]
async fn evaluated_code_and_node_internals_are_shown() {
    let project = Project::with(&[]).await;
    let main = project.file(
        "main.js",
        "eval('debugger;\\nconst inside = 1;\\n');\n[1].forEach(print => print); // @after\n",
    );
    let session = Debugging::of(Language::Node).await;
    let stopped = session.start(&main).await;
    assert!(
        stopped.text_of("source").contains("> 1 | debugger;\n  2 | const inside = 1;"),
        "{}",
        stopped.text
    );
    let name = stopped.at("/location/file").clone();
    let context = session.ok("get_source_context", json!({ "file": name, "line": 2 })).await;
    assert_eq!((&context["lineContent"], &context["file"]), (&json!("const inside = 1;"), &name));
    let own = session.ok("get_source_context", json!({ "file": "node:fs", "line": 1 })).await;
    assert_eq!(own["file"], "node:fs", "{}", own.text);
    let gone = json!({ "file": "node:nothing", "line": 1 });
    session.fails("file_not_found", "get_source_context", gone).await;
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_breakpoint_set_while_the_program_runs_binds_at_once() {
    let project = Project::with(&[]).await;
    let text = "let rounds: number = 0;\nconsole.log(\"ready\");\nsetInterval((): void => {\n  rounds += 1; // @round\n}, 10);\n";
    let main = project.file("src/main.ts", text);
    let bundle = ["src/main.ts", "--bundle", "--platform=node", "--outfile=dist/main.js", "--sourcemap"];
    project.run("esbuild", &bundle).await;
    let session = Debugging::of(Language::Node).await;
    let mut start = run(&project, "dist/main.js");
    start["timeout"] = json!(0);
    session.ok("start_debugging", start).await;
    while session.written("stdout").await.is_empty() {
        session.ok("continue_execution", json!({ "timeout": 50 })).await;
    }
    let set = session.break_at(&main, "round").await;
    assert_eq!((&set["verified"], &set["line"]), (&json!(true), &json!(main.line("round"))), "{}", set.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (main.path(), main.line("round")), "{}", stopped.text);
    session.finish().await;
}

/// The same breakpoint is in what a compiler wrote, and in what a loader compiles.
#[tokio::test]
async fn one_session_runs_the_build_and_then_the_sources() {
    let project = Project::typescript(&["tsx"]).await;
    let bundle = ["src/main.ts", "--bundle", "--platform=node", "--outfile=dist/main.js", "--sourcemap"];
    project.run("esbuild", &bundle).await;
    let main = project.read("src/main.ts");
    let session = Debugging::of(Language::Node).await;
    session.break_at(&main, "written").await;
    for script in ["dist/main.js", "src/main.ts"] {
        let stopped = session.ok("start_debugging", run(&project, script)).await;
        assert_eq!(stopped.place(), (main.path(), main.line("written")), "{script}: {}", stopped.text);
        assert_eq!(stopped.variable("total"), "10.5", "{script}");
        session.run_to_the_end().await;
    }
    session.finish().await;
}
