//! Programs that do not finish.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::written;

const SEARCHES: &str = "\
<?php
function find(array $sorted, int $wanted): int
{
    [$low, $high] = [0, count($sorted)];
    while ($low < $high) { // @loop
        $middle = intdiv($low + $high, 2);
        if ($sorted[$middle] < $wanted) { $low = $middle; } else { $high = $middle; }
    } // @end
    return $low;
}
echo find([1, 3, 5], 2), \"\\n\", find([1, 3, 5], 4), \"\\n\";
";

#[tokio::test]
async fn a_loop_that_does_not_end_is_found_with_its_function() {
    let (_folder, program) = written("main.php", SEARCHES);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "php", "args": [program.path()], "timeout": 5000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert_eq!(found.at("/location/function"), "find", "{}", found.text);
    assert_eq!(found["verdict"], "busy_loop", "{}", found.text);
    let lines = [found.at("/loop/startLine"), found.at("/loop/endLine")];
    assert_eq!(lines, [&json!(program.line("loop")), &json!(program.line("end"))], "{}", found.text);
    server.finish().await;
}

/// PHP polls the connection.
const NEVER_ANSWERS: &str = "\
<?php
$server = stream_socket_server('tcp://127.0.0.1:0');
$client = stream_socket_client('tcp://' . stream_socket_get_name($server, false));
$peer = stream_socket_accept($server);
echo fgets($client);
";

#[tokio::test]
async fn a_wait_for_data_on_a_connection_is_named() {
    let (_folder, program) = written("main.php", NEVER_ANSWERS);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "php", "args": [program.path()], "timeout": 4000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert_eq!(found["verdict"], "waiting", "{}", found.text);
    assert!(found.text_of("message").contains("data on a connection"), "{}", found.text);
    server.finish().await;
}

/// A signal, which pauses a PHP program, ends a `sleep`.
#[tokio::test]
async fn a_program_that_sleeps_is_not_woken() {
    let (_folder, program) = written("main.php", "<?php\nsleep(1000);\necho \"awake\\n\";\n");
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "php", "args": [program.path()], "timeout": 4000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert_eq!(found["verdict"], "waiting", "{}", found.text);
    assert!(found.text_of("message").contains("a sleep to end"), "{}", found.text);
    server.finish().await;
}

/// Its condition calls a function, and what it assigns has a sign before the name.
const COUNTS: &str = "\
<?php
function is_ready(array $found): bool { return count($found) > 3; }
function wait(array $found): void
{
    $tries = 0;
    while (!is_ready($found)) {
        $tries++;
    }
}
wait([]);
";

#[tokio::test]
async fn a_loop_whose_values_change_is_not_called_still() {
    let (_folder, program) = written("main.php", COUNTS);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "php", "args": [program.path()], "timeout": 5000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert!(!found.text.contains("no value in the loop changes"), "{}", found.text);
    assert!(found.text.contains("$tries"), "{}", found.text);
    server.finish().await;
}
