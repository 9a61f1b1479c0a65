//! One process that runs a generated program after the other.
//! The host stops on one line again and again. A case sets, by evaluating an assignment, which file to load, and lets
//! it run: the debugger sees a script that it has not seen before, as it does when a program imports a module.

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture};

use crate::emitter::Emitter;
use crate::harness::Scene;
use crate::world::World;

const PYTHON: &str = r#"program = ""


def load(path):
    with open(path) as file:
        code = compile(file.read(), path, "exec")
    exec(code, {"__name__": "case", "__file__": path})


while True:
    load(program)  # @hold
"#;

const NODE: &str = r#"let program = "";

function load(path) {
    require(path);
}

for (;;) {
    load(program); // @hold
}
"#;

/// A host that is held.
pub(crate) struct Host {
    pub(crate) world: World,
    pub(crate) language: Language,
    session: String,
    hold: (String, u32),
    programs: u32,
}

impl Host {
    fn new(language: Language) -> Self {
        let world = World::begin(language);
        let text = language.pick(PYTHON, NODE);
        let host = Fixture::write(world.folder(), &language.file("host"), text);
        let session = world.start(language, host.path());
        let mut host =
            Self { world, language, session, hold: (host.path().to_owned(), host.line("hold")), programs: 0 };
        let (file, line) = host.hold.clone();
        host.set(&file, line, None);
        let stop = host.ok("continue", json!({}));
        host.assert_held(&stop);
        host
    }

    /// The file of the host itself.
    pub(crate) fn path(&self) -> &str {
        &self.hold.0
    }

    /// The session's id.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Calls a tool of the session, which is named without `debugger_`.
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.world.ok(&format!("debugger_{tool}"), self.with_session(arguments))
    }

    /// Calls one, whatever comes of it.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.world.call(&format!("debugger_{tool}"), self.with_session(arguments))
    }

    /// Calls one that is to fail.
    pub(crate) fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        self.world.fails(code, &format!("debugger_{tool}"), self.with_session(arguments))
    }

    fn with_session(&self, mut arguments: Value) -> Value {
        arguments["sessionId"] = json!(self.session);
        arguments
    }

    /// Writes the text of a program under a name that no other has.
    pub(crate) fn write(&mut self, text: &str) -> Fixture {
        self.programs += 1;
        let name = self.language.file(&format!("case{}", self.programs));
        Fixture::write(self.world.folder(), &name, text)
    }

    /// The same under a name in a folder.
    pub(crate) fn write_in(&mut self, folder: &str, name: &str, text: &str) -> Fixture {
        self.programs += 1;
        let file = self.language.file(&format!("{name}{}", self.programs));
        Fixture::read(self.world.write(&format!("{folder}{file}"), text))
    }

    /// Writes a source and what was compiled of it, in one folder or in two, and returns both paths.
    pub(crate) fn write_compiled(
        &mut self,
        source: &str,
        script: &Emitter,
        is_apart: bool,
    ) -> (String, String) {
        self.programs += 1;
        let number = self.programs;
        let (from, to, way) =
            if is_apart { ("project/src/", "project/dist/", "../src/") } else { ("alone/", "alone/", "") };
        // A compiler's other folder is found by way of what says how far the project reaches.
        self.world.write("project/package.json", "{}");
        let source = self.world.write(&format!("{from}case{number}.ts"), source);
        let map = script.map(&format!("{way}case{number}.ts"));
        self.world.write(&format!("{to}case{number}.js.map"), &map);
        let text = format!("{}\n//# sourceMappingURL=case{number}.js.map\n", script.text);
        (source, self.world.write(&format!("{to}case{number}.js"), &text))
    }

    /// The held host is to load this next.
    pub(crate) fn choose(&self, program: &str) {
        self.ok("inspect", json!({ "expression": format!("program = {}", json!(program)) }));
    }

    /// Sets a breakpoint, and returns its id.
    pub(crate) fn set(&mut self, file: &str, line: u32, condition: Option<&str>) -> String {
        let answer = self.ok("set_breakpoint", json!({ "file": file, "line": line, "condition": condition }));
        answer.text_of("breakpointId").to_owned()
    }

    /// Removes one.
    pub(crate) fn remove(&self, id: &str) {
        self.ok("remove_breakpoint", json!({ "breakpointId": id }));
    }

    /// Lets it run to the next stop.
    pub(crate) fn resume(&self) -> Answer {
        let stop = self.ok("continue", json!({}));
        assert_eq!(stop["state"], "paused", "{}", stop.text);
        stop
    }

    /// Whether it is held. A step may end on that line, too, on the way back from what was loaded.
    pub(crate) fn is_held(&self, stop: &Answer) -> bool {
        let (file, line) = &self.hold;
        let is_breakpoint = stop["breakpointIds"].is_array();
        is_breakpoint && stop["location"]["file"] == file.as_str() && stop["location"]["line"] == *line
    }

    pub(crate) fn assert_held(&self, stop: &Answer) {
        assert!(self.is_held(stop), "not held: {}", stop.text);
    }

    /// Runs the chosen program on to its end: the host is held again.
    pub(crate) fn run_out(&self) {
        let stop = self.resume();
        self.assert_held(&stop);
    }

    /// Evaluates an expression.
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.ok("inspect", json!({ "expression": expression }))["value"].clone()
    }
}

impl Scene for Host {
    fn begin(language: Language) -> Self {
        Self::new(language)
    }

    fn end(self) {
        self.world.end();
    }
}
