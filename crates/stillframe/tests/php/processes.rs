//! Forked processes, warnings of the program's own functions, and functions of enumerations.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, written};

const LEVEL: &str = "\
<?php
enum Level: int
{
    case Low = 1;

    public function label(): string
    {
        return 'low'; // @label
    }
}
";
const PROGRAM: &str = "\
<?php
require __DIR__ . '/level.php';
function total(array $names): int
{
    $sum = 0;
    foreach ($names as $name) {
        $sum += ['pen' => 3][$name];
    }
    return $sum;
}
$pid = pcntl_fork();
if ($pid === 0) {
    exit(3);
}
pcntl_waitpid($pid, $status);
$code = pcntl_wifexited($status) ? pcntl_wexitstatus($status) : -1;
echo Level::Low->label(), \"\\n\"; // @says
";

#[tokio::test]
async fn a_forked_process_ends_as_it_would() {
    let (folder, level) = written("level.php", LEVEL);
    let program = Fixture::write(folder.path(), "main.php", PROGRAM);
    let session = Debugging::of(Language::Php).await;
    session.ok("set_breakpoint", json!({ "function": "label" })).await;
    session.break_at(&program, "says").await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("says")), "{}", stopped.text);
    assert_eq!(stopped.variable("code"), "3", "{}", stopped.text);
    // A function that only warns has a value, and a name that is not there has none.
    assert_eq!(session.evaluate("total(['pen', 'ink'])").await, "3");
    let missing = session.call("evaluate_expression", json!({ "expression": "$nope + 1" })).await;
    assert_ne!(missing["success"], true, "{}", missing.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (level.path(), level.line("label")), "{}", stopped.text);
    session.finish().await;
}
