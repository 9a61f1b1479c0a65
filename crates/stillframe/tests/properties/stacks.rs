//! Properties 10 and 22: frames.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use serde_json::json;
use test_support::{Answer, DynamicLanguage as Language};

use crate::harness::{each_language, holds};
use crate::host::Host;

each_language!(frames_have_their_own_variables, frames_have_absolute_files);

/// A chain of calls whose functions have variables of the same names. Function `k` has the value `owns[k]` in
/// `own`; or it is one function that calls itself.
fn chain(language: Language, owns: &[i64], is_recursive: bool) -> String {
    let last = owns.len() - 1;
    let mut text = String::new();
    let (function, open, close, end) = language.pick(("def", ":", "", ""), ("function", " {", "}\n", ";"));
    let keyword = language.pick("", "const ");
    if is_recursive {
        let list = format!("{owns:?}");
        text += &format!("{keyword}owns = {list}{end}\n{function} f(value){open}\n");
        text += &format!(
            "    {keyword}own = owns[value - 1]{end}\n    {keyword}label = 'f' + {}{end}\n",
            language.pick("str(value)", "value")
        );
        let (test, open, inner) = language.pick(("if value > ", ":", ""), ("if (value > ", ") {", "    }\n"));
        text += &format!(
            "    {test}{last}{open}\n        return own{end}  {} @inner\n",
            language.pick("#", "//")
        );
        text += &format!("{inner}    return f(value + 1){end}\n{close}f(1){end}\n");
    } else {
        for (index, own) in owns.iter().enumerate().rev() {
            let value = index + 1;
            text += &format!("{function} f{index}(value){open}\n    {keyword}own = {own}{end}\n");
            text += &format!("    {keyword}label = 'f{value}'{end}\n");
            if index == last {
                text += &format!("    return own{end}  {} @inner\n", language.pick("#", "//"));
            } else {
                text += &format!("    return f{value}(value + 1){end}\n");
            }
            text += close;
        }
        text += &format!("f0(1){end}\n");
    }
    text
}

// Feature: mcp-debugger-tool, Property 10: For any valid stack frame index in a paused Target Process, when the
// context is switched to that frame, then subsequent variable inspections should return variables from that frame's
// scope, not from other frames.
fn frames_have_their_own_variables(language: Language) {
    let strategy = (vec(-99..99_i64, 1..8), any::<bool>(), vec(any::<Index>(), 1..6));
    holds("10", language, file!(), 60, &strategy, |host: &mut Host, (owns, is_recursive, chosen)| {
        let program = host.write(&chain(language, &owns, is_recursive));
        let id = host.set(program.path(), program.line("inner"), None);
        host.choose(program.path());
        let stop = host.resume();
        assert_eq!(stop["location"]["line"], program.line("inner"), "{}", stop.text);
        for index in chosen {
            let index = index.index(owns.len());
            let target_location = owns.len() - index;
            let expected = [
                ("value", json!(target_location)),
                ("own", json!(owns[target_location - 1])),
                ("label", json!(format!("f{target_location}"))),
            ];
            let switched = host.ok("switch_stack_frame", json!({ "frameIndex": index }));
            assert_eq!(switched["frame"]["index"], index, "{}", switched.text);
            let locals = host.ok("get_local_variables", json!({}));
            assert_eq!(locals["frame"]["index"], index, "{}", locals.text);
            for (name, value) in &expected {
                let named = locals["variables"].as_array().unwrap().iter();
                let shown: Vec<_> = named.filter(|shown| shown["name"] == *name).collect();
                assert_eq!(shown.len(), 1, "{name}: {}", locals.text);
                assert_eq!(&shown[0]["value"], value, "{name} of {index}: {}", locals.text);
                assert_eq!(host.value(name), *value, "{name} of {index}");
            }
        }
        host.remove(&id);
        host.run_out();
    });
}

/// Where a program stops: in a function that was called so.
fn calls() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        Just(("f(1)", "f(1);")),
        Just(("list(map(f, [1, 2]))", "[1, 2].map(f);")),
        Just(("sorted([2, 1], key=f)", "[2, 1].sort(f);")),
        Just(("__import__('functools').reduce(f, [1, 2])", "JSON.parse('[1]', f);")),
        Just(("(lambda x: f(x))(1)", "((x) => f(x))(1);")),
        Just(("__import__('re').sub('a', f, 'aa')", "'aa'.replace(/a/, f);")),
        Just((
            "__import__('contextlib').ExitStack().__class__.__name__ and f(1)",
            "require('node:events').prototype.emit.call({ _events: { a: f } }, 'a');",
        )),
    ]
}

// Feature: mcp-debugger-tool, Property 22: For any call stack returned by the MCP Server, every stack frame should
// include an absolute file path, not a relative path.
fn frames_have_absolute_files(language: Language) {
    let folder = prop_oneof![Just(""), Just("sub/"), Just("a b/é/")];
    let way = prop_oneof![Just(None), Just(Some(".")), Just(Some("./sub/.."))];
    let strategy = (folder, calls(), way, vec("[a-z]{1,6}", 1..3));
    holds("22", language, file!(), 50, &strategy, |host: &mut Host, (folder, call, way, names)| {
        let text = match language {
            Language::Python => format!("def f(*values):\n    return ''  # @inner\n\n\n{}\n", call.0),
            Language::Node => format!("function f() {{\n    return ''; // @inner\n}}\n{}\n", call.1),
        };
        let program = host.write_in(folder, &names.join("-"), &text);
        let id = host.set(program.path(), program.line("inner"), None);
        // The host runs in the folder of all programs.
        host.world.write("sub/other", "");
        let named = program.path().strip_prefix(host.world.folder().to_str().unwrap()).unwrap();
        host.choose(&way.map_or(program.path().to_owned(), |way| format!("{way}{named}")));
        let stop = host.resume();
        assert_eq!(stop["location"]["line"], program.line("inner"), "{}", stop.text);
        assert_absolute(&stop, false);
        let users = host.ok("get_stack", json!({}));
        assert_absolute(&users, false);
        assert_eq!(users["stack"][0]["file"], program.path(), "{}", users.text);
        let all = host.ok("get_stack", json!({ "includeInternals": true }));
        assert_absolute(&all, true);
        assert_eq!(
            all["stack"].as_array().map(Vec::len),
            all["totalFrames"].as_u64().map(|all| usize::try_from(all).unwrap())
        );
        host.remove(&id);
        while !host.is_held(&host.resume()) {}
    });
}

/// Every frame of a file has its absolute path. Those of the runtime itself, which has no files, are marked.
fn assert_absolute(answer: &Answer, internals: bool) {
    let stack = answer["stack"].as_array().unwrap();
    assert!(!stack.is_empty(), "{}", answer.text);
    for frame in stack {
        let file = Path::new(frame["file"].as_str().unwrap());
        let is_file = file.is_absolute() && file.is_file();
        let is_internal = frame["internal"] == true;
        assert!(is_file || internals && is_internal, "{frame}");
    }
}
