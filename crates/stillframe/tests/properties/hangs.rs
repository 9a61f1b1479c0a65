//! Properties 11 and 12: programs that do not end.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture};

use crate::harness::{each_language, holds_at_once};
use crate::world::World;

each_language!(long_runs_are_hangs, endless_loops_are_found);

/// Watches a program for so long, and leaves it paused where it hangs.
fn watch(world: &World, program: &Fixture, times: Times) -> Answer {
    let command = program.language().dynamic().pick("python", "node");
    let arguments = json!({
        "command": command, "args": [program.path()], "keepSession": true,
        "timeout": times.timeout, "sampleInterval": times.interval,
    });
    world.ok("debugger_detect_hang", arguments)
}

/// Ends a program that was left paused: it is where the diagnosis says it is.
fn end_paused(world: &World, program: &Fixture, diagnosis: &Answer) -> Value {
    let session = json!({ "sessionId": diagnosis["sessionId"] });
    let mut stack = world.call("debugger_get_stack", session.clone());
    assert_eq!(stack["stack"][0]["file"], program.path(), "{} after {}", stack.text, diagnosis.text);
    world.ok("debugger_stop_session", session);
    stack.data["stack"].take()
}

/// How long a program is watched and how far samples are apart, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    timeout: u32,
    interval: u32,
}

fn times() -> impl Strategy<Value = Times> {
    (500..1500_u32, 10..100_u32).prop_map(|(timeout, interval)| Times { timeout, interval })
}

/// A function that calls itself so often, and then does something.
fn deep(language: Language, depth: u8, body: &str) -> String {
    match language {
        Language::Python => {
            format!(
                "def deep(depth):\n    if depth:\n        return deep(depth - 1)\n{body}\n\ndeep({depth})\n"
            )
        }
        Language::Node => {
            format!(
                "function deep(depth) {{\n    if (depth) {{\n        return deep(depth - 1);\n    }}\n{body}}}\ndeep({depth});\n"
            )
        }
    }
}

/// What a program does.
#[derive(Clone, Debug)]
enum Work {
    /// It computes for longer than anybody waits.
    Computes {
        depth: u8,
        step: u8,
        times: Times,
    },
    Ends {
        code: u8,
        output: String,
    },
    /// It waits for time to pass.
    Waits,
}

fn work() -> impl Strategy<Value = Work> {
    prop_oneof![
        4 => (0..4_u8, 1..9_u8, times()).prop_map(|(depth, step, times)| Work::Computes { depth, step, times }),
        1 => (0..100_u8, "[a-z]{1,8}").prop_map(|(code, output)| Work::Ends { code, output }),
        1 => Just(Work::Waits),
    ]
}

impl Work {
    fn text(&self, language: Language) -> String {
        match (self, language) {
            (Self::Computes { depth, step, .. }, Language::Python) => {
                let body =
                    format!("    total = 0\n    while total < 10 ** 15:\n        total += {step}  # @busy\n");
                deep(language, *depth, &body)
            }
            (Self::Computes { depth, step, .. }, Language::Node) => {
                let body = format!(
                    "    let total = 0;\n    while (total < 1e15) {{\n        total += {step}; // @busy\n    }}\n"
                );
                deep(language, *depth, &body)
            }
            (Self::Ends { code, output }, Language::Python) => {
                format!("import sys\nprint('{output}')\nsys.exit({code})\n")
            }
            (Self::Ends { code, output }, Language::Node) => {
                format!("console.log('{output}');\nprocess.exitCode = {code};\n")
            }
            (Self::Waits, Language::Python) => "import time\ntime.sleep(1000)\n".to_owned(),
            (Self::Waits, Language::Node) => "setTimeout(() => 0, 1000000);\n".to_owned(),
        }
    }

    fn times(&self) -> Times {
        match self {
            Self::Computes { times, .. } => *times,
            // It is given the time to end in.
            Self::Ends { .. } => Times { timeout: 60_000, interval: 50 },
            // What it computes while it starts is over.
            Self::Waits => Times { timeout: 2500, interval: 50 },
        }
    }

    fn check(&self, world: &World, program: &Fixture, answer: &Answer) {
        match self {
            Self::Computes { depth, .. } => {
                assert_eq!(
                    (&answer["hung"], &answer["completed"]),
                    (&json!(true), &json!(false)),
                    "{}",
                    answer.text
                );
                let stack = answer["stack"].as_array().expect("the stack");
                let own = stack.iter().filter(|frame| frame["function"] == "deep");
                assert_eq!(own.count(), usize::from(*depth) + 1, "{}", answer.text);
                assert!(stack.iter().all(|frame| frame["file"] == program.path()), "{}", answer.text);
                assert!(near(program.line("busy"), &stack[0]["line"]), "{}", answer.text);
                let paused = end_paused(world, program, answer);
                assert!(near(program.line("busy"), &paused[0]["line"]), "{paused}");
            }
            Self::Ends { code, output } => {
                assert_eq!(
                    (&answer["hung"], &answer["completed"]),
                    (&json!(false), &json!(true)),
                    "{}",
                    answer.text
                );
                assert_eq!(answer["exitCode"], *code, "{}", answer.text);
                assert_eq!(answer["output"], format!("{output}\n"), "{}", answer.text);
            }
            Self::Waits => {
                assert_eq!(
                    (&answer["hung"], &answer["completed"]),
                    (&json!(false), &json!(false)),
                    "{}",
                    answer.text
                );
                assert_eq!(answer["verdict"], "waiting", "{}", answer.text);
                world.ok("debugger_stop_session", json!({ "sessionId": answer["sessionId"] }));
            }
        }
    }
}

/// A line of a loop: the one in it, or its head above that.
fn near(line: u32, shown: &Value) -> bool {
    *shown == line || *shown == line - 1
}

// Feature: mcp-debugger-tool, Property 11: For any Target Process and specified timeout duration, if the process
// executes for longer than the timeout without completing, then the MCP Server should pause the process and report a
// hang condition with the current call stack.
fn long_runs_are_hangs(language: Language) {
    holds_at_once("11", language, file!(), 50, work, |world: &mut World, work| {
        let program = world.program(language, &work.text(language));
        let answer = watch(world, &program, work.times());
        work.check(world, &program, &answer);
    });
}

/// A loop that nothing ends.
#[derive(Clone, Debug)]
struct Endless {
    depth: u8,
    /// What its condition is.
    condition: &'static str,
    /// The statements in it.
    body: Vec<&'static str>,
    times: Times,
}

fn endless(language: Language) -> impl Strategy<Value = Endless> {
    let condition = match language {
        Language::Python => prop_oneof![Just("True"), Just("flag"), Just("a < b"), Just("not done")],
        Language::Node => prop_oneof![Just("true"), Just("flag"), Just("a < b"), Just("!done")],
    };
    let statement = match language {
        Language::Python => {
            prop_oneof![Just("a = 1"), Just("check(a)"), Just("[a, b]"), Just("a = min(a, b)")]
        }
        Language::Node => {
            prop_oneof![Just("a = 1;"), Just("check(a);"), Just("[a, b];"), Just("a = Math.min(a, b);")]
        }
    };
    (0..4_u8, condition, vec(statement, 1..5), times()).prop_map(|(depth, condition, body, times)| Endless {
        depth,
        condition,
        body,
        times,
    })
}

impl Endless {
    fn text(&self, language: Language) -> String {
        let body = format!("        {}\n", self.body.join("\n        "));
        match language {
            Language::Python => {
                let body = format!(
                    "    a, b, flag, done = 1, 2, True, False\n    while {}:  # @head\n{body}    return a  # @after\n",
                    self.condition
                );
                format!(
                    "def check(value):\n    return value  # @called\n\n\n{}",
                    deep(language, self.depth, &body)
                )
            }
            Language::Node => {
                let body = format!(
                    "    let a = 1, b = 2, flag = true, done = false;\n    while ({}) {{ // @head\n{body}    }}\n    return a; // @after\n",
                    self.condition
                );
                format!(
                    "function check(value) {{\n    return value; // @called\n}}\n{}",
                    deep(language, self.depth, &body)
                )
            }
        }
    }
}

// Feature: mcp-debugger-tool, Property 12: For any Target Process being monitored with a sample interval, if the
// execution location remains unchanged across consecutive samples for the specified duration, then the MCP Server
// should report an infinite loop condition with the loop location.
fn endless_loops_are_found(language: Language) {
    let strategy = || endless(language);
    holds_at_once("12", language, file!(), 50, strategy, |world: &mut World, endless| {
        let program = world.program(language, &endless.text(language));
        let answer = watch(world, &program, endless.times);
        assert_eq!(answer["hung"], true, "{}", answer.text);
        assert_eq!(answer["verdict"], "busy_loop", "{}", answer.text);
        // It may be seen in what the loop calls.
        let target_location = answer.text_of("location").rsplit_once(':');
        assert_eq!(target_location.map(|(file, _)| file), Some(program.path()), "{}", answer.text);
        let found = &answer["loop"];
        assert_eq!(found["file"], program.path(), "{}", answer.text);
        assert_eq!(found["function"], "deep", "{}", answer.text);
        assert_eq!(found["startLine"], program.line("head"), "{}", answer.text);
        assert_eq!(found["endLine"], program.line("after") - 1, "{}", answer.text);
        end_paused(world, &program, &answer);
    });
}
