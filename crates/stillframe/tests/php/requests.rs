//! `php -S`: each request is debugged on a connection of its own.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::{Report, written};

const ROUTER: &str = "\
<?php
function greeting($name)
{
    return \"hello $name\"; // @greeting
}

echo greeting($_GET['name'] ?? 'nobody');
";

#[tokio::test]
async fn a_request_stops_in_its_handler_and_the_next_one_too() {
    let (folder, program) = written("router.php", ROUTER);
    let server = STILLFRAME.serve().await;
    let place = json!({ "file": program.path(), "line": program.line("greeting") });
    let asked = json!({
        "language": "php", "runtimeArgs": ["-S", "127.0.0.1:0", "router.php"], "cwd": folder.path(), "until": [place],
        "expressions": ["$name", "$_GET"], "trigger": { "http": { "url": "/?name=Ann" } },
    });
    let ran = server.ok("run_until", asked).await;
    assert_eq!(ran.outcome(), "breakpoint", "{}", ran.text);
    assert_eq!(ran.at("/values/0/value"), "\"Ann\"", "{}", ran.text);
    assert_eq!(ran.at("/values/1/value"), "[\"name\" => \"Ann\"]", "{}", ran.text);
    let again = json!({
        "sessionId": ran["sessionId"], "until": [place], "expressions": ["$name"],
        "trigger": { "http": { "url": "/?name=Bob" } },
    });
    let again = server.ok("run_until", again).await;
    assert_eq!(again.outcome(), "breakpoint", "{}", again.text);
    assert_eq!(again.at("/values/0/value"), "\"Bob\"", "{}", again.text);
    // The router may be named as the program, too.
    let asked = json!({
        "program": program.path(), "runtimeArgs": ["-S", "127.0.0.1:0"], "until": [place], "expressions": ["$name"],
        "trigger": { "http": { "url": "/?name=Eve" } },
    });
    let named = server.ok("run_until", asked).await;
    assert_eq!(named.at("/values/0/value"), "\"Eve\"", "{}", named.text);
    server.finish().await;
}
