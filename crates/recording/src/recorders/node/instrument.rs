//! Puts calls of the recorder into a script.
//!
//! Nothing gets another line, and no value is computed twice (but see `keep_receiver`): what a call of the recorder gets
//! is the value of an expression, or a variable. The functions that are called, such as `__$l`, are described in
//! `debuggee/node/record_helpers.cjs`.

mod changed;
mod expressions;
mod fields;
mod functions;
mod shadows;
mod statements;
mod targets;

use std::path::{Path, PathBuf};

use engine::javascript::LineStarts;
use engine::source_map::{Part, Position};
use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, Program};
use oxc_ast_visit::VisitJs;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};
use serde::Serialize;

use super::chosen::Chosen;
use super::edits::{Applied, Edits, Piece};
use super::modules::ModuleNames;
use super::original::{Original, WHOLE};
use super::scopes::{Declared, Facts, OF_FILES, Scope};

/// The functions of the recorder, by the letter after `__$`.
const HELPERS: &str =
    "a b bo c cc d e f fb fd fl fs fw g h i im j k kk l m n o ov p q r rc rd re t tt u v w x y z";

/// A script with calls of the recorder in it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Instrumented {
    #[serde(flatten)]
    applied: Applied,
    /// Functions: their names and lines.
    codes: Vec<(String, u32)>,
    /// The source, by whose lines everything goes.
    file: PathBuf,
}

/// What kind of script a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Module,
    CommonJs,
    /// The body of an asynchronous function, such as a test runner makes of a module.
    Body,
}

/// What is known of a script.
#[derive(Debug)]
pub(super) struct Script<'t> {
    /// Its text, without a byte order mark.
    pub(super) text: &'t str,
    pub(super) path: &'t Path,
    pub(super) kind: Kind,
    /// A module from which the functions of the recorder are imported.
    pub(super) helpers: &'t str,
    /// What is to be recorded.
    pub(super) chosen: &'t Chosen,
}

/// Puts calls of the recorder in; none if it is neither JavaScript nor TypeScript, whose types Node removes afterwards, or
/// nothing in it is to be recorded.
pub(super) fn instrument(script: &Script<'_>) -> Option<Instrumented> {
    let allocator = Allocator::default();
    let kind = if script.kind == Kind::CommonJs { SourceType::cjs() } else { SourceType::mjs() };
    let program = [false, true]
        .into_iter()
        .find_map(|typed| parse(&allocator, script.text, kind.with_typescript(typed)))?;
    let without = |skipped| {
        let facts = Facts::of(&program);
        let is_module = script.kind == Kind::Module;
        let module = if is_module { ModuleNames::of(&program, &facts) } else { ModuleNames::default() };
        let mut instrumenter = Instrumenter { skipped, ..Instrumenter::new(script, facts, module) };
        instrumenter.visit_program(&program);
        instrumenter
    };
    let mut instrumenter = without(Vec::new());
    let skipped = script.chosen.skipped([script.path, &instrumenter.original.path], &instrumenter.named)?;
    if !skipped.is_empty() {
        instrumenter = without(skipped);
    }
    let Instrumenter { edits, codes, original, .. } = instrumenter;
    Some(Instrumented { applied: edits.apply(script.text, &original), codes, file: original.path })
}

fn parse<'a>(allocator: &'a Allocator, text: &'a str, kind: SourceType) -> Option<Program<'a>> {
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(allocator, text, kind).with_options(options).parse();
    (!parsed.panicked && parsed.diagnostics.errors().next().is_none()).then_some(parsed.program)
}

/// Goes through a script.
struct Instrumenter<'t> {
    script: &'t Script<'t>,
    original: Original,
    lines: LineStarts,
    edits: Edits,
    codes: Vec<(String, u32)>,
    /// The functions that were visited, by their names.
    named: Vec<(String, Span)>,
    /// Those that stay as they are.
    skipped: Vec<Span>,
    scopes: Vec<Scope>,
    /// The functions around, outermost first; the first is the module.
    functions: Vec<FunctionContext>,
    /// What the next function is called, if it has no name.
    hint: Option<String>,
    /// The class around.
    class: Option<String>,
    /// `this` is an object of the program, which may be read.
    has_this: bool,
    /// Values of parameters, which are computed before the call has a number: what they write is noted as the caller's.
    is_before_call: bool,
    facts: Facts,
    module: ModuleNames,
    /// Where the optional chain that is being visited begins, and how that is kept.
    chain_begin: Option<(Span, Kept)>,
    /// Variables that others of their function hid, in blocks that are being visited: the level of the function, and the
    /// name.
    hidden: Vec<(usize, String)>,
    /// The number that the next function has already.
    reserved: Option<u32>,
    /// The line of the statement around, whose event represents what follows on the same line.
    head_line: u32,
    /// The number of `with` statements around, whose objects may have a property of any name.
    withs: usize,
}

/// A function that is being visited.
#[derive(Debug)]
struct FunctionContext {
    code: u32,
    /// Where it is in the script.
    part: Part,
    /// How deep it is nested; also the number in the name of the variable that has the number of its call.
    level: usize,
    kind: functions::Kind,
    is_async: bool,
    uses_this: bool,
    /// Returns are noted by a `finally` around everything, because there may be others inside.
    ends_in_finally: bool,
    /// Variables for values that are needed twice.
    temporaries: usize,
}

/// Where something is kept whose value is needed again.
#[derive(Clone)]
enum Kept {
    /// It can be written again.
    Text(String),
    /// It must be assigned to a temporary variable first.
    Temporary(String),
}

impl Kept {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Temporary(text) => text,
        }
    }

    /// What clears a temporary after its last use: it would keep an object alive for as long as its function runs.
    fn cleared(&self) -> String {
        match self {
            Self::Text(_) => String::new(),
            Self::Temporary(name) => format!(",{name}=void 0"),
        }
    }

    /// What a function of the recorder gets after the value.
    fn list(all: &[Self]) -> String {
        let texts = all.iter().map(|kept| format!(",{}", kept.text()));
        texts.chain(all.iter().map(Self::cleared)).collect()
    }
}

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

impl<'t> Instrumenter<'t> {
    fn new(script: &'t Script<'t>, facts: Facts, module: ModuleNames) -> Self {
        Self {
            script,
            original: Original::of(script.text, script.path),
            lines: LineStarts::of(script.text),
            edits: Edits::default(),
            codes: Vec::new(),
            named: Vec::new(),
            skipped: Vec::new(),
            scopes: Vec::new(),
            functions: Vec::new(),
            hint: None,
            class: None,
            has_this: false,
            is_before_call: false,
            facts,
            module,
            chain_begin: None,
            hidden: Vec::new(),
            reserved: None,
            head_line: 0,
            withs: 0,
        }
    }

    /// The line of a place in the source, 1-based; 0 for what a compiler added.
    fn line(&self, offset: u32) -> u32 {
        if !self.original.is_compiled() {
            return self.lines.line(offset);
        }
        let (line, column) = self.position(offset);
        self.original.position(line, column).map_or(0, |(line, _)| line + 1)
    }

    /// The line and the column of a place in the script, both 0-based.
    fn position(&self, offset: u32) -> Position {
        let line = self.lines.line(offset);
        let column = self.lines.column(line, offset, self.script.text);
        (line.saturating_sub(1), column.saturating_sub(1))
    }

    /// Where a function is in the script, which is asked only for the names in its source.
    fn part(&self, function: Span) -> Part {
        if !self.original.is_compiled() {
            return WHOLE;
        }
        (self.position(function.start), self.position(function.end))
    }

    fn put(&mut self, at: u32, pieces: Vec<Piece>) -> usize {
        self.edits.put(at, pieces)
    }

    fn put_text(&mut self, at: u32, inserted: impl Into<String>) {
        self.put(at, vec![text(inserted)]);
    }

    fn level(&self) -> usize {
        self.functions.last().map_or(0, |function| function.level)
    }

    /// The variable that has the number of the call of the innermost function.
    fn call(&self) -> String {
        format!("__$s{}", self.level())
    }

    /// The level of the function whose variable a name is; none if it is not one of the script's.
    fn owner(&self, name: &str) -> Option<usize> {
        let scope = self.scopes.iter().rev().find(|scope| scope.get(name).is_some())?;
        scope.level
    }

    fn is_declared(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.get(name).is_some())
    }

    /// Whether a name means the same variable later, and reading it runs nothing: a property of the global object, or of
    /// that of a `with` statement, may be deleted meanwhile, or have a getter.
    fn is_lasting(&self, name: &str) -> bool {
        let is_of_file = self.script.kind == Kind::CommonJs && OF_FILES.contains(&name);
        let is_declared = || self.declared(name).is_some_and(|what| what != Declared::Global);
        self.withs == 0 && (is_of_file || is_declared())
    }

    fn is_code(&self, name: &str) -> bool {
        self.declared(name) == Some(Declared::Code)
    }

    fn is_foreign(&self, name: &str) -> bool {
        self.declared(name) == Some(Declared::Foreign)
    }

    fn declared(&self, name: &str) -> Option<Declared> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The name of a variable in the source, which a compiler may have renamed; that in the script if it hides another
    /// variable of its function that has the name in the source.
    fn variable(&self, name: &str) -> Piece {
        let declaring = self.scopes.iter().rposition(|scope| scope.get(name).is_some());
        let around = declaring.and_then(|at| self.scopes.get(..=at)).unwrap_or_default();
        let level = around.last().and_then(|scope| scope.level);
        let part = self.functions.get(level.unwrap_or(0)).map_or(WHOLE, |function| function.part);
        let of_source = |name: &'_ str| self.original.name(name, part).unwrap_or(name).to_owned();
        let source = of_source(name);
        let is_taken = source != name
            && around
                .iter()
                .filter(|scope| scope.level == level)
                .flat_map(Scope::names)
                .any(|other| other != name && of_source(other) == source);
        Piece::Name(if is_taken { name.to_owned() } else { source })
    }

    /// `__$l(__$s1,0x…);`, the event of a line.
    fn line_event(&self, line: u32) -> Vec<Piece> {
        let code = self.functions.last().map_or(0, |function| function.code);
        vec![text(format!("__$l({},", self.call())), Piece::Place(code, line), text(")")]
    }

    /// `__$v(__$s1,0x…,name)`, which writes a variable; nothing if it is not one of the script's.
    fn write_of(&self, name: &str) -> Option<Vec<Piece>> {
        let level = self.owner(name)?;
        Some(vec![text(format!("__$v(__$s{level},")), self.variable(name), text(format!(",{name})"))])
    }

    /// Writes of variables, as statements.
    fn writes_of(&self, names: &[String]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for name in names {
            pieces.extend(self.write_of(name).into_iter().flatten());
            pieces.push(text(";"));
        }
        pieces
    }

    fn temporary(&mut self) -> String {
        let Some(function) = self.functions.last_mut() else { return "__$t".to_owned() };
        function.temporaries += 1;
        format!("__$t{}_{}", function.level, function.temporaries)
    }

    /// How to have the value of an expression again.
    fn keep(&mut self, expression: &Expression<'_>) -> Kept {
        match expression {
            Expression::Identifier(it) if self.is_lasting(&it.name) => Kept::Text(it.name.to_string()),
            Expression::ThisExpression(_) => Kept::Text("this".to_owned()),
            Expression::NumericLiteral(_) | Expression::StringLiteral(_) => {
                let span = expression.span();
                let literal = self.source(span.start, span.end).to_owned();
                Kept::Text(literal)
            }
            _ => Kept::Temporary(self.temporary()),
        }
    }

    /// The same for an object whose method is called: what V8 says where there is no such method has the object's name.
    /// So a getter of the global object runs again.
    fn keep_receiver(&mut self, expression: &Expression<'_>) -> Kept {
        match expression {
            Expression::Identifier(it) if self.withs == 0 && !self.is_lasting(&it.name) => {
                let name = &it.name;
                Kept::Text(format!("(typeof {name}==='undefined'?void 0:{name})"))
            }
            other => self.keep(other),
        }
    }

    fn source(&self, from: u32, to: u32) -> &'t str {
        let number = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        self.script.text.get(number(from)..number(to)).unwrap_or_default()
    }

    /// Visits an expression; if its value is to be kept in a temporary, it is assigned there.
    fn visit_kept(&mut self, expression: &Expression<'_>, kept: &Kept) {
        match kept {
            Kept::Temporary(name) => self.visit_in(expression, format!("({name}=")),
            Kept::Text(_) => self.visit_expression(expression),
        }
    }

    /// Visits an expression that is put between a text and a parenthesis.
    fn visit_in(&mut self, expression: &Expression<'_>, before: String) {
        let span = expression.span();
        // The expressions of a sequence would be several arguments.
        let (begin, end) =
            if matches!(expression, Expression::SequenceExpression(_)) { ("(", "))") } else { ("", ")") };
        self.put_text(span.start, before + begin);
        self.visit_expression(expression);
        self.put_text(span.end, end);
    }

    /// Visits what follows on a line, by whose event it is represented.
    fn on_line(&mut self, line: u32, visit: impl FnOnce(&mut Self)) {
        let head = std::mem::replace(&mut self.head_line, line);
        visit(self);
        self.head_line = head;
    }

    fn in_scope(&mut self, scope: Scope, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        visit(self);
        self.scopes.pop();
    }

    /// The names of temporaries of the innermost function, declared.
    fn declared_temporaries(function: &FunctionContext) -> String {
        if function.temporaries == 0 {
            return String::new();
        }
        let level = function.level;
        let names: Vec<String> =
            (1..=function.temporaries).map(|number| format!("__$t{level}_{number}")).collect();
        // A module in a cycle calls functions of others before those have begun, and parameters are computed then, too.
        format!("var {};", names.join(","))
    }

    /// The whole script.
    fn program(&mut self, it: &Program<'_>) {
        self.codes.push(("<module>".to_owned(), 1));
        let mut scope = Scope::new(0);
        scope.lexical(&it.body);
        scope.hoisted(&it.body);
        if self.script.kind == Kind::CommonJs {
            scope.globals(self.facts.undeclared());
        }
        self.functions.push(FunctionContext {
            code: 0,
            part: WHOLE,
            level: 0,
            kind: functions::Kind::Plain,
            is_async: self.script.kind != Kind::CommonJs,
            uses_this: false,
            ends_in_finally: false,
            temporaries: 0,
        });
        let start = match (it.directives.last(), it.body.first()) {
            (Some(directive), _) => directive.span.end,
            (None, Some(first)) => first.span().start,
            (None, None) => return,
        };
        let handle = self.put(start, vec![text(";")]);
        self.in_scope(scope, |this| this.statements(&it.body));
        let variables = self.imported();
        let Some(function) = self.functions.pop() else { return };
        let temporaries = Self::declared_temporaries(&function);
        let end = it.body.last().map_or(it.span.end, |last| last.span().end);
        let names: Vec<String> = HELPERS.split(' ').map(str::to_owned).collect();
        if self.script.kind == Kind::Module {
            let imported = names.iter().map(String::as_str).chain(["N"]);
            let imported: Vec<String> = imported.map(|name| format!("{name} as __${name}")).collect();
            let imported = imported.join(",");
            let import =
                format!("import{{{imported}}}from{:?};{temporaries}var __$s0=__$e(", self.script.helpers);
            self.edits.extend(handle, vec![text(import), Piece::Code(0), text(",1);")]);
            self.edits.extend(handle, variables);
            self.put_text(end, ";__$r(__$s0,__$re());");
        } else {
            let wanted: Vec<String> = names.iter().map(|name| format!("{name}:__${name}")).collect();
            let wanted = wanted.join(",");
            let from = format!(
                "const{{{wanted}}}=globalThis.process['stillframe.record'];{temporaries}const __$s0=__$e("
            );
            self.edits.extend(handle, vec![text(from), Piece::Code(0), text(",1);try{")]);
            self.put_text(end, format!(";__$r(__$s0)}}catch(__$0){{throw __$u(__$s0,__$0)}}{NO_HEADING}"));
        }
    }

    /// The variables that a module imports from others of the program, each with its line.
    fn imported(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (name, at) in &self.module.imports {
            let line = self.line(*at);
            if line > 0 {
                pieces.extend(self.line_event(line));
                pieces.push(text(";__$im(__$s0,"));
                pieces.push(self.variable(name));
                pieces.push(text(format!(",()=>{name});")));
            }
        }
        pieces
    }
}

/// Node shows the line where an uncaught exception was thrown, which would be this one, unless the line has this text.
/// The recorder shows the right one.
const NO_HEADING: &str = "/*node-do-not-add-exception-line*/";

#[cfg(test)]
mod tests {
    use super::*;

    fn instrumented(text: &str, kind: Kind) -> Option<String> {
        let script = Script {
            text,
            path: Path::new("/main.ts"),
            kind,
            helpers: "/helpers.mjs",
            chosen: &Chosen::default(),
        };
        instrument(&script).map(|done| done.applied.text)
    }

    #[test]
    fn types_stay_and_words_stay_apart() {
        let typed = "import type { A } from './a.ts';\ninterface B { c: number }\ntype C = A | B;\n\
                     export class D<T extends C> { private e: T | null = null; constructor(public readonly f: string) {}\n\
                     get(this: D<T>, g?: number): T { return this.e!; } }\n\
                     function h(a: string): void;\nfunction h(a: unknown): void { const i = a as string; i satisfies string; }\n\
                     declare const j: number;\ndeclare let unseen: number;\ndeclare class Unseen {}\nenum K { L = 1 }\nexport const m = <T,>(n: T): T => n;\n";
        let text = instrumented(typed, Kind::Module).unwrap();
        for kept in ["interface B { c: number }", "a as string", "g?: number): T", "<T,>(n: T): T =>"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(!text.to_lowercase().contains(",unseen)"), "only declared: {text}");
        let dense =
            instrumented("function f(){return{a:1}}function*g(){yield[1];throw{b:2}}", Kind::CommonJs)
                .unwrap();
        assert!(dense.contains("return __$") && !dense.contains("return__$"), "{dense}");
        assert!(!dense.contains("throw__$") && !dense.contains("yield__$"), "{dense}");
        assert_eq!(instrumented("let = ;", Kind::Module), None);
    }

    #[test]
    fn chains_stay_whole_around_assertions_of_types() {
        let typed =
            "let cart: { all: Set<number> } | undefined;\ncart?.all!.add(1);\ndelete cart?.all!.size;\n";
        let text = instrumented(typed, Kind::Module).unwrap();
        for kept in ["cart?.all!.add(1)", "cart?.all!.size"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }

    #[test]
    fn what_node_finds_exports_by_stays() {
        let exporting = "module.exports = { a: 1 };\nexports.b = 2;\nregister(exports, 3);\n";
        let text = instrumented(exporting, Kind::CommonJs).unwrap();
        for kept in ["module.exports = { a: 1 }", "exports.b = 2", "register(exports, 3)"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }
}
