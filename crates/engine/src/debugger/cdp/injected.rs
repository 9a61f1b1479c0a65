//! Code that is sent into the program, as text.

use serde_json::json;

/// The function by which the program talks to us. No program has another use for its name.
pub(super) const BINDING: &str = "__stillframe";

/// The name of the script that is evaluated to bring an idle program to its pause.
pub(super) const POKE: &str = "stillframe:pause";

/// What the names of our scripts begin with.
const OURS: &str = "stillframe:";

/// Whether a script of this name was sent into the program by us.
pub(super) fn is_ours(url: &str) -> bool {
    url.starts_with(OURS)
}

/// One of our scripts, with a name that no script of the program has.
pub(super) fn named(mut source: String, name: &str) -> String {
    // V8 puts a parenthesis after some.
    source.extend(["\n//# sourceURL=", OURS, name, "\n"]);
    source
}

/// One of our sources without its indentation and comment lines.
pub(super) fn stripped(source: &str) -> String {
    let lines = source.lines().map(str::trim_start);
    lines.filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// What only some functions may contain, private names that no class around declares, regular expressions, names
/// that are declared twice.
const REFUSABLE: [&str; 7] = ["super", "new.target", "#", "/", "=>", "{", "__proto__"];

/// An expression as an arrow function, which sees `this` and `arguments` of the frame. The line end closes a comment.
pub(super) fn arrow_function(expression: &str) -> String {
    // What V8 may refuse although its grammar is right is compiled where the error is caught: V8 says nothing of a
    // condition that it cannot compile.
    if REFUSABLE.iter().any(|part| expression.contains(part)) {
        return format!("()=>eval({})", json!(format!("(\n{expression}\n)")));
    }
    format!("()=>(\n{expression}\n)")
}
