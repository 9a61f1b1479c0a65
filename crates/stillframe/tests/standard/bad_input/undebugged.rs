//! Programs that go on without their debugger.

use serde_json::json;
use test_support::{Dynamic, DynamicLanguage, dynamic};

use crate::debugging::{Debugging, Report, written_in};

dynamic![
    // A program of C is traced by its debugger, which it cannot shed.
    a_program_that_runs_undebugged_is_reported_consistently,
];

/// One becomes another program, or ends its debugger; one closes what it does not know.
const PROGRAMS: [Dynamic; 2] = [
    Dynamic {
        python: "import os\nos.execv('/bin/sleep', ['sleep', '1000'])\n",
        node: "setInterval(() => {}, 20);\nsetTimeout(() => require('inspector').close(), 20);\n",
    },
    Dynamic {
        python: "import os, time\nos.closerange(3, 100)\nwhile True:\n    time.sleep(0.02)\n",
        node: "setInterval(() => {}, 20);\nsetTimeout(() => process.kill(process.pid, 'SIGUSR1'), 20);\n",
    },
];

const TOLD: &str = "program runs without a debugger";

async fn a_program_that_runs_undebugged_is_reported_consistently(language: DynamicLanguage) {
    for texts in PROGRAMS {
        let (_folder, program) = written_in(language, "leaves", texts);
        let text = texts.of(language);
        let session = Debugging::of(language).await;
        let start = json!({ "scriptPath": program.path(), "timeout": 300 });
        assert_eq!(session.ok("start_debugging", start).await.outcome(), "running");
        let mut report = session.ok("continue_execution", json!({ "timeout": 300 })).await;
        for _ in 0..60 {
            if report.text_of("message").contains(TOLD) {
                break;
            }
            // A connection that is closed while it is read from is so for the other side when something comes.
            session.call("list_threads", json!({})).await;
            report = session.ok("continue_execution", json!({ "timeout": 300 })).await;
        }
        let message = report.text_of("message");
        assert!(message.contains(TOLD) && !message.contains("pause_execution"), "{text}: {}", report.text);

        let point = json!({ "file": program.path(), "line": 1, "expressions": ["1"] });
        for (tool, arguments) in [
            ("pause_execution", json!({})),
            ("step_over", json!({})),
            ("list_threads", json!({})),
            ("get_stack_trace", json!({})),
            ("evaluate_expression", json!({ "expression": "1" })),
            ("trace_values", json!({ "points": [point], "timeout": 300 })),
            ("diagnose_hang", json!({ "timeout": 300 })),
        ] {
            let failed = session.fails("connection_lost", tool, arguments).await;
            let message = failed.text_of("message");
            assert!(message.contains(TOLD), "{tool} of {text}: {}", failed.text);
            assert!(message.contains("call restart_debugging to start it again"), "{}", failed.text);
        }
        let set = session.ok("set_breakpoint", json!({ "file": program.path(), "line": 1 })).await;
        assert!(set["verified"] == false && set.text.contains(TOLD), "{text}: {}", set.text);

        let again = json!({ "timeout": 300 });
        session.ok("clear_breakpoints", json!({})).await;
        assert_eq!(session.ok("restart_debugging", again).await.outcome(), "running", "{text}");
        session.finish().await;
    }
}
