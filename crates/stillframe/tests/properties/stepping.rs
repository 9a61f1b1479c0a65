//! A model of programs that branch and call: which lines run, in which order and in which calls of functions.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use test_support::DynamicLanguage as Language;

/// How many functions a program has. Each calls only those after it, so that all come to their end.
const FUNCTIONS: usize = 3;

/// A statement of a generated program.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Assign,
    Call(usize),
    If(bool, Vec<Self>),
}

/// The bodies of the functions, and that of the file itself at the end.
pub(crate) type Program = Vec<Vec<Statement>>;

pub(crate) fn program() -> impl Strategy<Value = Program> {
    vec(body(), FUNCTIONS + 1)
}

fn body() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![
        1 => Just(Statement::Assign),
        2 => (0..FUNCTIONS).prop_map(Statement::Call),
    ];
    let statement = leaf.prop_recursive(2, 4, 2, |inner| {
        (any::<bool>(), vec(inner, 1..3)).prop_map(|(holds, body)| Statement::If(holds, body))
    });
    vec(statement, 1..4)
}

/// What the debugger may stop at: a line in a call of a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// 0 in the file itself.
    pub(crate) depth: usize,
    pub(crate) function: String,
    pub(crate) line: u32,
    /// What it called has come to its end. In Node.js there is no such place.
    pub(crate) is_back: bool,
}

/// A program as text, with the lines of its statements.
pub(crate) struct Emitted {
    language: Language,
    pub(crate) text: String,
    lines: u32,
    bodies: Vec<Vec<Placed>>,
}

/// A statement with its line.
enum Placed {
    Plain(u32),
    Call(u32, usize),
    If(u32, bool, Vec<Self>),
}

impl Emitted {
    pub(crate) fn new(language: Language, program: &[Vec<Statement>]) -> Self {
        let mut emitted = Self { language, text: String::new(), lines: 0, bodies: Vec::new() };
        emitted.line(0, language.pick("value = 0", "var value = 0;"));
        for (index, body) in program.iter().enumerate() {
            let is_function = index < FUNCTIONS;
            let indent = usize::from(is_function);
            if is_function {
                let (word, end) = language.pick(("def", ":"), ("function", " {"));
                emitted.line(0, &format!("{word} f{index}(value){end}"));
            }
            let mut placed = emitted.body(indent, index, body);
            if is_function {
                placed.push(Placed::Plain(
                    emitted.line(1, language.pick("return value + 1", "return value + 1;")),
                ));
                if language == Language::Node {
                    emitted.line(0, "}");
                }
            } else {
                placed.push(Placed::Plain(emitted.line(0, language.pick("value = 0", "value = 0;"))));
            }
            emitted.bodies.push(placed);
        }
        emitted
    }

    /// Writes a line, and returns its number.
    fn line(&mut self, indent: usize, text: &str) -> u32 {
        self.text += &format!("{}{text}\n", "    ".repeat(indent));
        self.lines += 1;
        self.lines
    }

    fn body(&mut self, indent: usize, owner: usize, body: &[Statement]) -> Vec<Placed> {
        body.iter().map(|statement| self.statement(indent, owner, statement)).collect()
    }

    fn statement(&mut self, indent: usize, owner: usize, statement: &Statement) -> Placed {
        let end = self.language.pick("", ";");
        match statement {
            Statement::Call(callee) if *callee > owner || owner == FUNCTIONS => {
                Placed::Call(self.line(indent, &format!("value = f{callee}(1){end}")), *callee)
            }
            Statement::Assign | Statement::Call(_) => {
                Placed::Plain(self.line(indent, &format!("value = 2{end}")))
            }
            Statement::If(holds, body) => {
                let sign = if *holds { ">" } else { "<" };
                let head = match self.language {
                    Language::Python => format!("if value {sign} -1:"),
                    Language::Node => format!("if (value {sign} -1) {{"),
                };
                let line = self.line(indent, &head);
                let body = self.body(indent + 1, owner, body);
                if self.language == Language::Node {
                    self.line(indent, "}");
                }
                Placed::If(line, *holds, body)
            }
        }
    }

    /// Every place that the program passes, from the first line of the file itself on.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.run(FUNCTIONS, 0, &self.bodies[FUNCTIONS], &mut events);
        events
    }

    fn run(&self, owner: usize, depth: usize, body: &[Placed], events: &mut Vec<Event>) {
        let function = if owner == FUNCTIONS { "<module>".to_owned() } else { format!("f{owner}") };
        let event = |line: u32, is_back| Event { depth, function: function.clone(), line, is_back };
        for statement in body {
            match statement {
                Placed::Plain(line) => events.push(event(*line, false)),
                Placed::Call(line, callee) => {
                    events.push(event(*line, false));
                    self.run(*callee, depth + 1, &self.bodies[*callee], events);
                    if self.language == Language::Python {
                        events.push(event(*line, true));
                    }
                }
                Placed::If(line, holds, body) => {
                    events.push(event(*line, false));
                    if *holds {
                        self.run(owner, depth, body, events);
                    }
                }
            }
        }
    }
}

/// A way to step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Over,
    Into,
    Out,
}

impl Step {
    pub(crate) fn tool(self) -> &'static str {
        match self {
            Self::Over => "step_over",
            Self::Into => "step_into",
            Self::Out => "step_out",
        }
    }

    /// Where it leads from the event of that index. Nothing when it leaves the file.
    pub(crate) fn from(self, events: &[Event], at: usize) -> Option<usize> {
        let here = &events[at];
        let mut later = (at + 1..).zip(events.iter().skip(at + 1));
        let found = match self {
            Self::Into => later.next(),
            // The line of a call is not left before all of it is done.
            Self::Over => later
                .find(|(_, event)| event.depth < here.depth || event.depth == here.depth && !event.is_back),
            Self::Out => later.find(|(_, event)| event.depth < here.depth),
        };
        found.map(|(index, _)| index)
    }
}
