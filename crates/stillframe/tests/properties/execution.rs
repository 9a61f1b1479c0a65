//! Properties 5 and 6: starting and stepping.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use serde_json::json;
use test_support::DynamicLanguage as Language;

use crate::harness::{each_language, holds};
use crate::host::Host;
use crate::stepping::{Emitted, Event, Step, program};
use crate::world::World;

each_language!(programs_start_paused, steps_follow_the_program);

/// What may stand before the first statement of a program.
fn preamble() -> impl Strategy<Value = Vec<&'static str>> {
    vec(prop_oneof![Just(""), Just("COMMENT nothing"), Just("    ")], 0..4)
}

// Feature: mcp-debugger-tool, Property 5: For any valid Node.js command with arguments, when the MCP Server starts
// that command, then the resulting process should have the Inspector Protocol attached and be in a paused state.
fn programs_start_paused(language: Language) {
    let flags: &'static [&'static str] = match language {
        Language::Python => &["-B", "-u", "-q", "-Wignore"],
        Language::Node => &["--no-warnings", "--stack-trace-limit=20", "--enable-source-maps", "--expose-gc"],
    };
    let flags = proptest::sample::subsequence(flags, 0..=2);
    let strategy = (preamble(), flags, vec("[ -~é日]{0,8}", 0..4));
    holds("5", language, file!(), 50, &strategy, |world: &mut World, (preamble, flags, args)| {
        let line = preamble.len() + 1;
        let preamble = preamble.join("\n").replace("COMMENT", language.pick("#", "//"));
        let newline = if line == 1 { "" } else { "\n" };
        let first = language.pick("open('began', 'w')", "require('fs').writeFileSync('began', '');");
        let program = world.write(&language.file("main"), &format!("{preamble}{newline}{first}\n"));
        let mut all: Vec<String> = flags.iter().map(ToString::to_string).collect();
        all.push(program.clone());
        all.extend(args.iter().cloned());
        let command = language.pick("python", "node");
        let arguments = json!({ "command": command, "args": all, "cwd": world.folder() });
        let answer = world.ok("debugger_start", arguments);
        assert_eq!(
            (&answer["state"], &answer["reason"]),
            (&json!("paused"), &json!("entry")),
            "{}",
            answer.text
        );
        assert_eq!(answer["location"]["file"], program, "{}", answer.text);
        assert_eq!(answer["location"]["line"], line, "{}", answer.text);
        assert_eq!(answer.text_of("inspectorUrl").starts_with("ws://"), language == Language::Node);
        // Nothing of it has run, and it is debugged.
        assert!(!world.folder().join("began").exists());
        let pid = answer["pid"].as_u64().expect("its process");
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        let session = answer.text_of("sessionId");
        let observed = language.pick(
            "__import__('json').dumps([__import__('os').getpid(), __import__('sys').argv[1:]])",
            "JSON.stringify([process.pid, process.argv.slice(2)])",
        );
        let observed = world.ok("debugger_inspect", json!({ "sessionId": session, "expression": observed }));
        let observed: serde_json::Value = serde_json::from_str(observed.text_of("value")).expect("JSON");
        assert_eq!(observed, json!([pid, args]));
        world.ok("debugger_stop_session", json!({ "sessionId": session }));
        assert!(!world.folder().join("began").exists());
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    });
}

// Feature: mcp-debugger-tool, Property 6: For any paused Target Process, when a step operation (step over, step into,
// or step out) is executed, then the process should pause at a valid source location that is reachable from the
// previous location according to the step semantics.
fn steps_follow_the_program(language: Language) {
    let step = prop_oneof![3 => Just(Step::Into), 2 => Just(Step::Over), 1 => Just(Step::Out)];
    let strategy = (program(), vec(step, 4..14));
    holds("6", language, file!(), 50, &strategy, |host: &mut Host, (program, steps)| {
        let emitted = Emitted::new(language, &program);
        let events = emitted.events();
        let program = host.write(&emitted.text);
        let begin = host.set(program.path(), events[0].line, None);
        host.choose(program.path());
        let mut stop = host.resume();
        host.remove(&begin);
        let mut at = Some(0);
        for step in steps {
            let Some(mut index) = at else { break };
            // The rest of a line after a call that has come to its end is passed over where nothing is in it.
            let is_after = |event: &Event| stop["location"]["line"] != event.line;
            if events[index].is_back && is_after(&events[index]) {
                let Some(next) = Step::Into.from(&events, index) else { break };
                index = next;
            }
            let here = &events[index];
            assert_eq!(stop["location"]["file"], program.path(), "{here:?}: {}", stop.text);
            assert_eq!(stop["location"]["line"], here.line, "{here:?}: {}", stop.text);
            assert_eq!(stop["location"]["function"], here.function.as_str(), "{here:?}: {}", stop.text);
            let stack = stop["stack"].as_array().unwrap();
            let own = stack.iter().filter(|frame| frame["file"] == program.path());
            assert_eq!(own.count(), here.depth + 1, "{here:?}: {}", stop.text);
            stop = host.ok(step.tool(), json!({}));
            assert_eq!(stop["state"], "paused", "{}", stop.text);
            at = step.from(&events, index);
        }
        if at.is_none() {
            assert_eq!(stop["location"]["file"], host.path(), "{}", stop.text);
        }
        if !host.is_held(&stop) {
            host.run_out();
        }
    });
}
