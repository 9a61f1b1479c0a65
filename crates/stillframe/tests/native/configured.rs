//! Debug adapters that a configuration file describes, tried with LLDB's own under another name.

use crate::STILLFRAME;
use crate::source::Sources;

const TEXT: &str =
    "int main(void) {\n    int sum = 40;\n    sum += 2; // @add\n    return sum - 42; // @end\n}\n";
const CONFIGURATION: &str = "[adapters.other]\ncommand = [\"lldb-dap-19\"]\nquirks = [\"scopes_of_one_frame\", \"mutes_console\"]\n\n\
                             [adapters.other.launch]\nprogram = \"${program}\"\nargs = \"${args}\"\ncwd = \"${cwd}\"\n";

/// Runs stillframe in the folder of the sources.
fn stillframe(sources: &Sources, words: &[&str]) -> (Option<i32>, String) {
    let done = STILLFRAME
        .command()
        .into_std()
        .args(words)
        .env("STILLFRAME_CACHE_DIR", format!("{}/configured", STILLFRAME.scratch))
        .env_remove("STILLFRAME_CONFIG")
        .current_dir(sources.folder())
        .output()
        .expect("it can be run");
    let text = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (done.status.code(), text)
}

#[test]
fn doctor_tries_a_configured_adapter_step_by_step() {
    let sources = Sources::new(&[("main.c", TEXT), ("adapters.toml", CONFIGURATION)]);
    sources.compiled("gcc -g -O0 -o main main.c", "main");
    let line = sources.file("main.c").line("add");
    let at = format!("main.c:{line}");
    let words =
        ["--config", "adapters.toml", "doctor", "--adapter", "other", "--at", &at, "--program", "main"];
    let (code, printed) = stillframe(&sources, &words);
    assert_eq!(code, Some(0), "{printed}");
    for part in [
        "conditional breakpoints",
        &format!("stopped at line {line}"),
        "sum = 40",
        &format!("stepped to line {}", line + 1),
    ] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
}

#[test]
fn configuration_errors_are_named_and_a_projects_adapters_ignored() {
    let wrong = CONFIGURATION.replace("command", "comand");
    let sources =
        Sources::new(&[("stillframe.toml", CONFIGURATION), ("wrong.toml", &wrong), ("main.c", TEXT)]);
    let (code, printed) = stillframe(&sources, &["--config", "wrong.toml", "config"]);
    assert!(code == Some(1) && printed.contains("`adapters.other.comand` is not a setting"), "{printed}");
    let (code, printed) = stillframe(&sources, &["doctor", "--adapter", "other"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("ignored the adapter `other`"), "{printed}");
    assert!(printed.contains("`other` is not supported"), "{printed}");
    let missing = CONFIGURATION.replace("lldb-dap-19", "no-such-adapter");
    std::fs::write(sources.path("missing.toml"), missing).expect("it can be written");
    let (code, printed) = stillframe(&sources, &["--config", "missing.toml", "doctor", "--adapter", "other"]);
    assert!(code == Some(1) && printed.contains("no `no-such-adapter`"), "{printed}");
}
