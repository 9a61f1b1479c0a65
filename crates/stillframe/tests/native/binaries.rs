//! Binaries that are not as a debugger needs them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use test_support::{Answer, Fixture};

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated};

const TEXT: &str = "#include <stdio.h>\nint main(void) {\n    int answer = 42;\n    printf(\"%d\\n\", answer); // @print\n}\n";

/// Sets a breakpoint in a binary made by this command, and runs it.
async fn breakpoint(sources: &Sources, command: &str) -> Answer {
    let program = sources.file("main.c");
    let binary = sources.compiled(command, "main");
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": "c" })).await;
    let id = created["sessionId"].clone();
    let location = json!({ "sessionId": id, "file": program.path(), "line": program.line("print") });
    server.ok("set_breakpoint", location).await;
    server
        .ok(
            "start_debugging",
            json!({ "sessionId": id, "scriptPath": binary, "dapLaunchArgs": { "stopOnEntry": false } }),
        )
        .await;
    let listed = server.ok("list_breakpoints", json!({ "sessionId": id })).await;
    server.finish().await;
    listed
}

#[tokio::test]
async fn missing_debug_information_names_the_compiler_flags() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let listed = breakpoint(&sources, "gcc -o main main.c").await;
    assert!(listed.text.contains("has no debug information; build it with `-g -O0`"), "{}", listed.text);
    let listed = breakpoint(&sources, "gcc -s -o main main.c").await;
    assert!(
        listed.text.contains("is stripped: it has no debug information and no symbols"),
        "{}",
        listed.text
    );
}

#[tokio::test]
async fn a_crash_before_an_unbound_breakpoint_names_the_reason() {
    let crashes = TEXT.replace("int answer = 42;", "int answer = *(volatile int *)0;");
    let sources = Sources::new(&[("main.c", &crashes)]);
    let (source, binary) = (sources.file("main.c"), sources.compiled("gcc -o main main.c", "main"));
    let server = STILLFRAME.serve().await;
    let until = json!([{ "file": source.path(), "line": source.line("print") }]);
    let ran = server.ok("run_until", json!({ "program": binary, "until": until, "timeout": 60_000 })).await;
    assert!(ran.text.contains("SIGSEGV"), "{}", ran.text);
    for note in ["is not bound: `main` has no debug information", "\"`main` has no debug information"] {
        assert!(ran.text.contains(note), "{}", ran.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_breakpoint_warns_about_a_source_newer_than_the_binary() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let listed = breakpoint(&sources, "gcc -g -o main main.c").await;
    assert_eq!(listed.at("/breakpoints/0/outdated"), &json!(null), "{}", listed.text);
    let later = std::time::SystemTime::now() + std::time::Duration::from_hours(1);
    std::fs::File::options().append(true).open(sources.path("main.c")).unwrap().set_modified(later).unwrap();
    let listed = breakpoint(&sources, "gcc -g -o main main.c").await;
    let warning = listed.at("/breakpoints/0/outdated").as_str().unwrap_or_default();
    assert!(warning.contains("changed since the program was built"), "{}", listed.text);
}

#[tokio::test]
async fn a_binary_that_may_not_be_executed_is_refused() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let binary = sources.compiled("gcc -g -o main main.c", "main");
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o644)).unwrap();
    let server = STILLFRAME.serve().await;
    let failed =
        server.fails("file_unusable", "run_until", json!({ "program": binary, "language": "c" })).await;
    assert!(failed.text.contains("may not be executed; run `chmod +x` on it"), "{}", failed.text);
    server.finish().await;
}

#[tokio::test]
async fn a_binary_of_another_architecture_or_system_is_refused() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let binary = sources.compiled("gcc -g -o main main.c", "main");
    let mut bytes = std::fs::read(&binary).unwrap();
    // The number of the machine in the header, for one that no test runs on.
    bytes[18..20].copy_from_slice(&8_u16.to_le_bytes());
    let programs = [
        (bytes, "is built for mips"),
        (vec![0xcf, 0xfa, 0xed, 0xfe, 12, 0, 0, 1], "is a program for macOS; build it for this machine"),
        (b"MZ\x90\0".to_vec(), "is a program for Windows; build it for this machine"),
    ];
    let server = STILLFRAME.serve().await;
    for (bytes, expected) in programs {
        std::fs::write(&binary, bytes).unwrap();
        for language in ["c", "rust", "go"] {
            let failed = server.call("run_until", json!({ "program": binary, "language": language })).await;
            assert!(failed.text.contains(expected), "{language}: {}", failed.text);
        }
    }
    server.finish().await;
}

/// LLDB leaves callers out of its stacks.
#[tokio::test]
async fn an_optimized_binary_starts_with_a_caution() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let binary = sources.compiled("gcc -g -O2 -o main main.c", "main");
    let server = STILLFRAME.serve().await;
    let ran = server.ok("run_until", json!({ "program": binary, "timeout": 60_000 })).await;
    let caution = "parts of `main` are compiled with -O2: LLDB may leave out callers";
    assert!(ran.text_of("output").contains(caution), "{}", ran.text);
    server.finish().await;
}

/// Debug information of libraries, such as libc's, has many names, and LLDB takes them for the program's.
#[tokio::test]
async fn a_variable_inside_another_library_is_not_one_of_the_program() {
    let sources = Sources::new(&[
        ("parts.c", "int shown = 5;\nstatic int hidden = 7;\nint part(void) { return shown + hidden; }\n"),
        ("more.c", "int shared = 3;\n"),
        (
            "main.c",
            "int part(void);\nint main(void) {\n    int own = part();\n    char text[] = \"x\";\n    return own - 12 + \
             text[1]; // @here\n}\n",
        ),
    ]);
    sources.compiled("gcc -g -shared -fPIC -o libparts.so parts.c", "libparts.so");
    let link = format!("gcc -g -o main main.c more.c libparts.so -Wl,-rpath,{}", sources.folder().display());
    let binary = sources.compiled(&link, "main");
    let source = sources.file("main.c");
    let expected = [
        ("own", "12"),
        ("shown + own", "17"),
        ("shared == 3 && strcmp(text, \"x\") == 0", "true"),
        ("isalpha(text[0]) && strchr( text, 'x')[0] == 'x' && !strstr(\"strlen(x)\", text + 1) == 0", "true"),
        ("hidden", "use of undeclared identifier 'hidden'"),
        ("own + hidden", "use of undeclared identifier 'hidden'"),
    ];
    assert_at_here(&binary, &source, &expected).await;
}

/// LLDB takes any data of that name, and the number there for an address.
#[tokio::test]
async fn data_of_a_library_without_debug_information_is_not_of_the_program() {
    let sources = Sources::new(&[
        ("parts.c", "int shown = 5, other = 6, low = 7;\nint part(void) { return shown + other + low; }\n"),
        (
            "main.c",
            "int part(void);\nextern int shown;\nenum level { low, high };\nint main(void) {\n    enum level level = low;\n    \
             return part() - shown - 13 + level; // @here\n}\n",
        ),
    ]);
    sources.compiled("gcc -shared -fPIC -o libparts.so parts.c", "libparts.so");
    let link = format!("gcc -g -o main main.c libparts.so -Wl,-rpath,{}", sources.folder().display());
    let binary = sources.compiled(&link, "main");
    let source = sources.file("main.c");
    let expected = [
        ("*(int *)&shown", "5"),
        ("stdout != 0", "true"),
        ("level == low", "true"),
        ("other", "use of undeclared identifier 'other'"),
        ("other == 6", "use of undeclared identifier 'other'"),
        ("optarg", "use of undeclared identifier 'optarg'"),
    ];
    assert_at_here(&binary, &source, &expected).await;
}

#[tokio::test]
async fn a_type_with_the_name_of_a_variable_inside_another_library_is_known() {
    let sources = Sources::new(&[
        ("parts.c", "static int box = 2;\nint part(void) { return box; }\n"),
        (
            "main.cpp",
            "extern \"C\" int part(void);\nstruct box { int width; };\ntemplate <class T> struct of { T value; };\nint \
             main() {\n    of<box> item{{part()}};\n    void *raw = &item;\n    return item.value.width - 2 + (raw == \
             nullptr); // @here\n}\n",
        ),
    ]);
    sources.compiled("gcc -g -shared -fPIC -o libparts.so parts.c", "libparts.so");
    let link = format!("g++ -g -o main main.cpp libparts.so -Wl,-rpath,{}", sources.folder().display());
    let binary = sources.compiled(&link, "main");
    let source = sources.file("main.cpp");
    let expected = [
        ("((const box *)raw)->width", "2"),
        ("((struct box *)raw)->width", "2"),
        ("box + 1", "use of undeclared identifier 'box'"),
    ];
    assert_at_here(&binary, &source, &expected).await;
}

#[tokio::test]
async fn a_function_with_the_name_of_a_variable_inside_another_library_is_called() {
    let sources = Sources::new(&[
        ("parts.c", "static int twice = 2;\nint part(void) { return twice; }\n"),
        (
            "main.cpp",
            "extern \"C\" int part(void);\nnamespace shop {\nint twice(int number) { return 2 * number; }\nint total(int \
             own) {\n    return twice(own); // @here\n}\n}\nint main() {\n    return shop::total(part()) - 4;\n}\n",
        ),
    ]);
    sources.compiled("gcc -g -shared -fPIC -o libparts.so parts.c", "libparts.so");
    let link = format!("g++ -g -o main main.cpp libparts.so -Wl,-rpath,{}", sources.folder().display());
    let binary = sources.compiled(&link, "main");
    let source = sources.file("main.cpp");
    let expected = [("twice(own)", "4"), ("twice", "use of undeclared identifier 'twice'")];
    assert_at_here(&binary, &source, &expected).await;
}

/// Runs a program to `@here`, and compares what expressions come to there.
async fn assert_at_here(binary: &Path, source: &Fixture, expected: &[(&str, &str)]) {
    let server = STILLFRAME.serve().await;
    let expressions: Vec<&str> = expected.iter().map(|(expression, _)| *expression).collect();
    let arguments = json!({
        "program": binary, "until": [{ "file": source.path(), "line": source.line("here") }], "timeout": 60_000,
        "expressions": expressions,
    });
    let ran = server.ok("run_until", arguments).await;
    assert_evaluated(&ran, expected);
    server.finish().await;
}
