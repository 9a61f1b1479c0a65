//! Where code can be put into a script so that it runs just when a breakpoint on a line would be hit.
//!
//! It goes right after the last token before a statement, which must be on an earlier line: no token of the
//! script gets another line or column. An answer is given only where the pass of the code and that of the
//! breakpoint are the same; the test beside this module compares them in programs that run.

mod liveness;
mod portable;
mod statements;

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionExpression, Class, ForStatement, Function, IfStatement, Program, Statement, WhileStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, SourceType};
use oxc_syntax::scope::ScopeFlags;

use super::LineStarts;

pub(crate) use portable::is_portable;

/// Where code can be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// In UTF-16 units from the beginning of the text, a byte order mark not counted. A hashbang counts.
    pub offset: u32,
    /// Where the statement begins on its line, 0-based, in UTF-16 units.
    pub column: u32,
}

/// Where a text such as `;{ f() }` can be inserted into the script of this path, so that it runs exactly when V8
/// would stop at a breakpoint on the line (1-based). It is between two statements of one list.
///
/// None if there is no such position: the line does not begin with a statement of a list, V8's position is not before
/// the statement or may not exist, or Node does not run the script unchanged.
pub fn insertion(source: &str, path: &Path, line: u32) -> Option<Insertion> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if has_other_line_ends(source) {
        return None;
    }
    super::parsing(source, || common_insertion(source, kinds(path)?, line))?
}

/// V8 counts more line ends than we do.
fn has_other_line_ends(source: &str) -> bool {
    let is_alone = |(at, _): (usize, &str)| source.as_bytes().get(at + 1) != Some(&b'\n');
    source.contains(['\u{2028}', '\u{2029}']) || source.match_indices('\r').any(is_alone)
}

/// What Node may take a file for. What is in a `.js` depends on the package around it.
fn kinds(path: &Path) -> Option<&'static [fn() -> SourceType]> {
    match path.extension()?.to_str()? {
        "mjs" => Some(&[SourceType::mjs]),
        "cjs" => Some(&[SourceType::cjs]),
        "js" => Some(&[SourceType::mjs, SourceType::cjs]),
        // Where Node runs it unchanged, types become blanks.
        "ts" | "mts" | "cts" => Some(&[SourceType::ts]),
        _ => None,
    }
}

/// The place that it is in all ways in which the text can be read.
fn common_insertion(source: &str, kinds: &[fn() -> SourceType], line: u32) -> Option<Insertion> {
    let mut places = kinds.iter().filter_map(|kind| find(source, kind(), line).ok());
    let place = places.next()?;
    places.all(|other| other == place).then_some(place)?
}

/// The text is not of the kind that it was taken for.
struct ParseFailure;

/// The place in a text of this kind.
fn find(source: &str, kind: SourceType, line: u32) -> Result<Option<Insertion>, ParseFailure> {
    let allocator = Allocator::default();
    let parsed = super::parse(&allocator, source, kind);
    if !super::is_valid(&parsed) {
        return Err(ParseFailure);
    }
    let starts = LineStarts::of(source);
    let mut wanted = StatementFinder { source, starts: &starts, line, is_live: true, found: None };
    wanted.visit_program(&parsed.program);
    Ok(wanted.found.and_then(|start| behind_token_before(&parsed.program, &starts, start)))
}

/// After the last token before a statement, when that is on an earlier line.
fn behind_token_before(program: &Program<'_>, starts: &LineStarts, statement: u32) -> Option<Insertion> {
    let source = program.source_text;
    let mut end = end_of_text(source, statement)?;
    for comment in program.comments.iter().rev().filter(|comment| comment.span.end <= statement) {
        if comment.span.end == end {
            end = end_of_text(source, comment.span.start)?;
        }
    }
    // A hashbang is not a token, and extends to the end of its line.
    if program.hashbang.as_ref().is_some_and(|hashbang| end <= hashbang.span.end) {
        end = program.hashbang.as_ref()?.span.end + 1;
    }
    if starts.line(end) >= starts.line(statement) {
        return None;
    }
    let before = source.get(..usize::try_from(end).ok()?)?;
    let (_, column) = starts.position(statement, source);
    Some(Insertion { offset: u32::try_from(before.encode_utf16().count()).ok()?, column })
}

/// Where the text before a place ends, without the blanks.
fn end_of_text(source: &str, place: u32) -> Option<u32> {
    let before = source.get(..usize::try_from(place).ok()?)?;
    let is_blank = |character: char| character.is_whitespace() || character == '\u{feff}';
    u32::try_from(before.trim_end_matches(is_blank).len()).ok()
}

/// Searches for the statement on a line.
struct StatementFinder<'t> {
    source: &'t str,
    starts: &'t LineStarts,
    line: u32,
    /// V8 generates code for what is evaluated, but not for unreachable code.
    is_live: bool,
    /// Where the statement begins.
    found: Option<u32>,
}

impl StatementFinder<'_> {
    fn check_statement(&mut self, statement: &Statement<'_>) {
        let start = statement.span().start;
        if self.is_live
            && self.starts.line(start) == self.line
            && statements::is_passed_before(statement, self.source, self.starts)
        {
            self.found.get_or_insert(start);
        }
    }

    fn inside(&mut self, is_live: bool, visit: impl FnOnce(&mut Self)) {
        let enclosing = std::mem::replace(&mut self.is_live, is_live);
        visit(self);
        self.is_live = enclosing;
    }
}

impl<'a> VisitJs<'a> for StatementFinder<'_> {
    fn visit_statements(&mut self, it: &oxc_allocator::Vec<'a, Statement<'a>>) {
        self.inside(self.is_live, |wanted| {
            for statement in it {
                wanted.check_statement(statement);
                wanted.visit_statement(statement);
                wanted.is_live &= liveness::is_left_for_the_next(statement);
            }
        });
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        let is_live = self.is_live && !liveness::is_certain(&it.test);
        self.inside(is_live, |wanted| walk_js::walk_if_statement(wanted, it));
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        let is_live = self.is_live && liveness::is_entered(&it.test);
        self.inside(is_live, |wanted| walk_js::walk_while_statement(wanted, it));
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        let is_live = self.is_live && it.test.as_ref().is_none_or(liveness::is_entered);
        self.inside(is_live, |wanted| walk_js::walk_for_statement(wanted, it));
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.inside(true, |wanted| walk_js::walk_function(wanted, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.inside(true, |wanted| walk_js::walk_arrow_function_expression(wanted, it));
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.inside(true, |wanted| walk_js::walk_class(wanted, it));
    }
}

#[cfg(test)]
mod tests;
