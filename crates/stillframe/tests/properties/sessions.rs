//! Properties 17, 18 and 19: programs that crash, requests that are wrong, sessions side by side.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Fixture};

use crate::harness::{Scene, each_language, holds};
use crate::host::Host;
use crate::world::World;

each_language!(crashes_are_noticed, invalid_requests_do_no_harm);

/// A way to end unexpectedly.
#[derive(Clone, Debug)]
enum Crash {
    Throw(String),
    Exit(u8),
    /// The program sends itself a signal.
    Signal(&'static str),
    Abort,
    /// It is killed from outside while it is paused.
    Killed,
}

fn crash() -> impl Strategy<Value = Crash> {
    let signals = Just(["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM"].to_vec());
    prop_oneof![
        3 => "[a-z][ -&*-~]{0,10}[a-z]".prop_map(Crash::Throw),
        2 => any::<u8>().prop_map(Crash::Exit),
        2 => (signals, any::<Index>()).prop_map(|(all, index)| Crash::Signal(all[index.index(all.len())])),
        1 => Just(Crash::Abort),
        1 => Just(Crash::Killed),
    ]
}

impl Crash {
    /// The statement that does it.
    fn statement(&self, language: Language) -> String {
        match (self, language) {
            (Self::Throw(message), Language::Python) => format!("raise ValueError({})", json!(message)),
            (Self::Throw(message), Language::Node) => format!("throw new RangeError({});", json!(message)),
            (Self::Exit(code), Language::Python) => format!("__import__('os')._exit({code})"),
            (Self::Exit(code), Language::Node) => format!("process.exit({code});"),
            (Self::Signal(name), Language::Python) => {
                format!("import os, signal; os.kill(os.getpid(), signal.{name})")
            }
            (Self::Signal(name), Language::Node) => format!("process.kill(process.pid, '{name}');"),
            (Self::Abort, Language::Python) => "__import__('os').abort()".to_owned(),
            (Self::Abort, Language::Node) => "process.abort();".to_owned(),
            (Self::Killed, _) => language.pick("pass", "void 0;").to_owned(),
        }
    }

    /// The exit code or signal that must be reported.
    fn end(&self) -> (Value, Value) {
        match self {
            Self::Throw(_) => (json!(1), Value::Null),
            Self::Exit(code) => (json!(code), Value::Null),
            Self::Signal(name) => (Value::Null, json!(name)),
            Self::Abort => (Value::Null, json!("SIGABRT")),
            Self::Killed => (Value::Null, json!("SIGKILL")),
        }
    }
}

/// A program that crashes in a function so deep, after so many rounds; in Node.js in a later turn, if wanted.
fn crashing(
    world: &World,
    language: Language,
    crash: &Crash,
    rounds: u8,
    depth: u8,
    is_later: bool,
) -> Fixture {
    let statement = crash.statement(language);
    let text = match language {
        Language::Python => format!(
            "def deep(depth):\n    if depth:\n        return deep(depth - 1)\n    print('now', flush=True)\n    {statement}  # @crash\n\n\nfor i in range({rounds}):\n    print(i, flush=True)\ndeep({depth})\nimport time\ntime.sleep(100)\n"
        ),
        Language::Node => {
            let call =
                if is_later { format!("setTimeout(deep, 1, {depth});") } else { format!("deep({depth});") };
            format!(
                "function deep(depth) {{\n    if (depth) {{\n        return deep(depth - 1);\n    }}\n    console.log('now');\n    {statement} // @crash\n}}\nfor (let i = 0; i < {rounds}; i += 1) {{\n    console.log(i);\n}}\n{call}\nsetTimeout(() => 0, 100000);\n"
            )
        }
    };
    Fixture::write(world.folder(), &language.file("crashing"), &text)
}

// Feature: mcp-debugger-tool, Property 17: For any Debug Session, if the Target Process crashes or terminates
// unexpectedly, then the MCP Server should detect the termination, clean up all debugging resources, and report the
// error without leaving orphaned resources.
fn crashes_are_noticed(language: Language) {
    let strategy = (crash(), 0..20_u8, 0..5_u8, any::<bool>());
    holds("17", language, file!(), 50, &strategy, |world: &mut World, (crash, rounds, depth, is_later)| {
        let program = crashing(world, language, &crash, rounds, depth, is_later);
        let session = world.start(language, program.path());
        let named = json!({ "sessionId": session });
        let mut output = String::new();
        let mut end = None;
        if let Crash::Killed = crash {
            let mine = world.server().pid();
            let started = world.server().mark().processes();
            let program = started.iter().find(|(pid, line)| *pid != mine && line.contains("crashing"));
            world.server().kill_started(program.expect("the program runs").0);
            // The news of it may be later than the question.
            let arguments = world.call("debugger_continue", named.clone());
            assert!(
                arguments["state"] == "terminated" || arguments["code"] == "NOT_PAUSED",
                "{}",
                arguments.text
            );
        } else {
            let mut stop = world.ok("debugger_continue", named.clone());
            output += stop.text_of("output");
            if let Crash::Throw(message) = &crash {
                assert_eq!(
                    (&stop["state"], &stop["reason"]),
                    (&json!("paused"), &json!("exception")),
                    "{}",
                    stop.text
                );
                assert_eq!(stop["location"]["line"], program.line("crash"), "{}", stop.text);
                assert_eq!(stop["exception"]["message"], message.as_str(), "{}", stop.text);
                assert_eq!(stop["exception"]["uncaught"], true, "{}", stop.text);
                stop = world.ok("debugger_continue", named.clone());
                output += stop.text_of("output");
                assert!(output.contains(message.as_str()), "{output}");
            }
            assert_eq!(stop["state"], "terminated", "{}", stop.text);
            end = Some((stop["exitCode"].clone(), stop["signal"].clone()));
            // All that it wrote before, whatever its runtime says between the lines.
            let expected: Vec<String> =
                (0..rounds).map(|round| round.to_string()).chain(["now".to_owned()]).collect();
            let written: Vec<&str> =
                output.lines().filter(|line| expected.iter().any(|own| own == line)).collect();
            assert_eq!(written, expected, "{output:?}");
        }
        let (code, signal) = crash.end();
        if let Some(end) = end {
            assert_eq!(end, (code, signal.clone()), "{crash:?}");
        }
        // Nothing can be asked of it, and nothing of it is left.
        world.fails("NOT_PAUSED", "debugger_inspect", json!({ "sessionId": session, "expression": "1" }));
        world.ok("debugger_list_breakpoints", named.clone());
        let stopped = world.ok("debugger_stop_session", named.clone());
        if let Some(signal) = signal.as_str() {
            assert!(stopped.text_of("message").contains(signal), "{}", stopped.text);
        }
        // The server has a process of its own that watches over its end.
        let mut left = world.server().mark().processes();
        left.retain(|(pid, line)| *pid != world.server().pid() && !line.contains(" __guard "));
        assert_eq!(left, []);
        world.fails("SESSION_NOT_FOUND", "debugger_continue", named);
    });
}

/// A request that cannot be met: the tool, its arguments, and the code of the error.
type Wrong = (&'static str, Value, &'static str);

fn wrong(language: Language) -> impl Strategy<Value = Wrong> {
    let file = "[a-z]{1,8}".prop_map(move |name| {
        let file = language.file(&format!("missing/{name}"));
        ("set_breakpoint", json!({ "file": file, "line": 1 }), "BREAKPOINT_SET_FAILED")
    });
    let line = prop_oneof![Just(0), 500..u32::MAX].prop_map(move |line| {
        let file = language.file("host");
        ("set_breakpoint", json!({ "file": file, "line": line }), "BREAKPOINT_SET_FAILED")
    });
    let broken = prop_oneof![
        "[a-c] [<+*=] ",
        r"\([a-c]{1,3}",
        "[a-c]{1,2}\\)",
        "'[a-z ]{0,5}",
        Just("1 +* 2".to_owned()),
        Just("if if".to_owned()),
    ];
    let condition = broken.clone().prop_map(move |condition| {
        let arguments = json!({ "file": language.file("host"), "line": 4, "condition": condition });
        ("set_breakpoint", arguments, "BREAKPOINT_SET_FAILED")
    });
    let raising: &'static [&'static str] = match language {
        Language::Python => &[
            "1 / 0",
            "missing.name",
            "[][3]",
            "__import__('sys').exit(3)",
            "exit()",
            "(lambda f: f(f))(lambda f: f(f))",
            "int('x')",
            "open('/missing/file')",
            "raise KeyboardInterrupt",
            "__import__('nowhere')",
        ],
        Language::Node => &[
            "null.x",
            "missing.name",
            "(() => { throw new Error('no'); })()",
            "(() => { throw null; })()",
            "(function f() { return f(); })()",
            "BigInt(1.5)",
            "require('nowhere')",
            "new Array(-1)",
            "program()",
            "JSON.parse('{')",
        ],
    };
    let expression = prop_oneof![broken, (0..raising.len()).prop_map(|index| raising[index].to_owned())];
    let inspect =
        expression.prop_map(|expression| ("inspect", json!({ "expression": expression }), "INSPECT_FAILED"));
    let forever = (1..60_u64).prop_map(move |timeout| {
        let arguments = json!({ "expression": language.words().spin, "timeout": timeout });
        ("inspect", arguments, "INSPECT_FAILED")
    });
    let id = "[a-z]{0,4}-?[0-9]{4,6}";
    let object = id.prop_map(|id| ("inspect_object", json!({ "objectId": id }), "OBJECT_NOT_FOUND"));
    let tools = prop_oneof![Just("remove_breakpoint"), Just("toggle_breakpoint")];
    let breakpoint =
        (tools, id).prop_map(|(tool, id)| (tool, json!({ "breakpointId": id }), "BREAKPOINT_NOT_FOUND"));
    let watch = id.prop_map(|id| ("remove_watch", json!({ "watchId": id }), "WATCH_NOT_FOUND"));
    let frame = (50..9999_u32)
        .prop_map(|index| ("switch_stack_frame", json!({ "frameIndex": index }), "SWITCH_FRAME_FAILED"));
    // An unknown argument is harmless; the missing one is the error.
    let unknown = "x[a-z]{1,5}".prop_map(|name| ("inspect", json!({ name: 1 }), "INVALID_ARGUMENTS"));
    prop_oneof![
        2 => file, 2 => line, 3 => condition, 4 => inspect, 1 => forever,
        1 => object, 1 => breakpoint, 1 => watch, 1 => frame, 1 => unknown,
    ]
}

// Feature: mcp-debugger-tool, Property 18: For any invalid operation (invalid breakpoint location, invalid expression
// evaluation), the MCP Server should return a clear error message without causing the Target Process to crash or
// become unresponsive.
fn invalid_requests_do_no_harm(language: Language) {
    let strategy = vec(wrong(language), 1..4);
    holds("18", language, file!(), 60, &strategy, |host: &mut Host, requests| {
        let program = host.write(language.pick("done = 1\n", "void 1;\n"));
        let known = host.ok("list_breakpoints", json!({}));
        for (tool, arguments, code) in requests {
            let answer = host.call(tool, arguments.clone());
            assert!(answer.is_error, "{tool} {arguments}: {}", answer.text);
            assert_eq!(answer["code"], code, "{tool} {arguments}: {}", answer.text);
            assert!(answer.text_of("message").chars().count() > 8, "{}", answer.text);
            // The program is where it was, and does what it is asked for.
            assert_eq!(host.value("1 + 1"), 2);
            assert_eq!(host.ok("list_breakpoints", json!({})).data, known.data);
        }
        host.choose(program.path());
        host.run_out();
    });
}

/// Two programs that run in circles, in one server.
struct Pair {
    world: World,
    runs: [Run; 2],
}

/// One of them, and what is to be known of it.
struct Run {
    session: String,
    program: Fixture,
    /// The sum of what its lines have added.
    x: i64,
    /// The value that was assigned. V8 reads the operand of a sum before it stops there, so `x` would be too early.
    y: i64,
    /// The index of the line before which it is paused. Nothing before the first one.
    at: Option<usize>,
    /// The breakpoints: from their ids to the indexes of their lines.
    breakpoints: BTreeMap<String, usize>,
}

/// A permanent breakpoint, without which the program would run forever.
const FIRST: &str = "bp-1";
/// The lines of the circle.
const CIRCLE: [&str; 4] = ["one", "ten", "hundred", "thousand"];

impl Run {
    fn new(world: &World, language: Language, name: &str) -> Self {
        let (head, end, comment, close) = language.pick(
            ("x = y = 0\nwhile True:\n", "", "#", ""),
            ("let x = 0, y = 0;\nfor (;;) {\n", ";", "//", "}\n"),
        );
        let mut text = head.to_owned();
        for (index, name) in (0..).zip(CIRCLE) {
            text += &format!("    x = x + {}{end} {comment} @{name}\n", 10_i64.pow(index));
        }
        let program = Fixture::write(world.folder(), &language.file(name), &(text + close));
        let session = world.start(language, program.path());
        let mut run = Self { session, program, x: 0, y: 0, at: None, breakpoints: BTreeMap::new() };
        // One that stays.
        run.step(world, &Action::Set(0));
        run
    }

    fn arguments(&self, mut arguments: Value) -> Value {
        arguments["sessionId"] = json!(self.session);
        arguments
    }

    fn line(&self, index: usize) -> u32 {
        self.program.line(CIRCLE[index])
    }

    fn step(&mut self, world: &World, action: &Action) {
        match action {
            Action::Set(index) => {
                let arguments = json!({ "file": self.program.path(), "line": self.line(*index) });
                let set = world.ok("debugger_set_breakpoint", self.arguments(arguments));
                self.breakpoints.insert(set.text_of("breakpointId").to_owned(), *index);
            }
            Action::Remove(index) => {
                let ids: Vec<_> = self.breakpoints.keys().filter(|id| *id != FIRST).cloned().collect();
                if ids.is_empty() {
                    return;
                }
                let id = index.get(&ids);
                world.ok("debugger_remove_breakpoint", self.arguments(json!({ "breakpointId": id })));
                self.breakpoints.remove(id);
            }
            Action::Continue => {
                let stop = world.ok("debugger_continue", self.arguments(json!({})));
                assert_eq!(stop["reason"], "breakpoint", "{}", stop.text);
                let value = |index: usize| 10_i64.pow(u32::try_from(index).unwrap());
                let after = |index: usize| (index + 1) % CIRCLE.len();
                // The line before which it was paused runs, and those up to the next breakpoint.
                let mut next = self.at.map_or(0, after);
                self.x += self.at.map_or(0, value);
                while !self.breakpoints.values().any(|index| *index == next) {
                    self.x += value(next);
                    next = after(next);
                }
                self.at = Some(next);
            }
            // Before its first line it has no variable.
            Action::Assign(_) if self.at.is_none() => {}
            Action::Assign(value) => {
                let arguments = json!({ "expression": format!("y = {value}") });
                world.ok("debugger_inspect", self.arguments(arguments));
                self.y = *value;
            }
        }
    }

    /// It is as it must be.
    fn check(&self, world: &World) {
        let listed = world.ok("debugger_list_breakpoints", self.arguments(json!({})));
        let listed = listed["breakpoints"].as_array().unwrap().iter();
        let listed: BTreeMap<_, _> = listed
            .map(|shown| {
                assert_eq!(shown["file"], self.program.path());
                (shown["breakpointId"].as_str().unwrap().to_owned(), shown["line"].clone())
            })
            .collect();
        let expected = self.breakpoints.iter().map(|(id, index)| (id.clone(), json!(self.line(*index))));
        assert_eq!(listed, expected.collect());
        let stack = world.ok("debugger_get_stack", self.arguments(json!({})));
        assert_eq!(stack["stack"][0]["file"], self.program.path());
        if let Some(at) = self.at {
            assert_eq!(stack["stack"][0]["line"], self.line(at), "{}", stack.text);
            for (name, value) in [("x", self.x), ("y", self.y)] {
                let shown = world.ok("debugger_inspect", self.arguments(json!({ "expression": name })));
                assert_eq!(shown["value"], value, "{}", shown.text);
            }
        }
    }
}

impl Scene for Pair {
    /// The first is of that language, the other of Node.js.
    fn begin(language: Language) -> Self {
        let world = World::begin(language);
        let runs = [Run::new(&world, language, "first"), Run::new(&world, Language::Node, "second")];
        Self { world, runs }
    }

    fn end(self) {
        self.world.end();
    }
}

/// Something that is done with one of them.
#[derive(Clone, Debug)]
enum Action {
    Set(usize),
    Remove(Index),
    Continue,
    Assign(i64),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        2 => (0..CIRCLE.len()).prop_map(Action::Set),
        1 => any::<Index>().prop_map(Action::Remove),
        3 => Just(Action::Continue),
        1 => (-99..99_i64).prop_map(Action::Assign),
    ]
}

each_language!(sessions_are_independent);

// Feature: mcp-debugger-tool, Property 19: For any two concurrent Debug Sessions, operations performed on one session
// should not affect the state, breakpoints, or execution of the other session.
fn sessions_are_independent(language: Language) {
    let strategy = vec((any::<bool>(), action()), 1..8);
    holds("19", language, file!(), 50, &strategy, |pair: &mut Pair, actions| {
        for (first, action) in actions {
            pair.runs[usize::from(!first)].step(&pair.world, &action);
            for run in &pair.runs {
                run.check(&pair.world);
            }
        }
    });
}
