//! Where code is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A file, or code that is in no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Absolute path of the file; `None` for code that was made at run time.
    pub path: Option<PathBuf>,
    /// What to call it: the path, or the debugger's name for code without one.
    pub name: String,
    /// It belongs to the runtime, a library or the debugger, not to the user.
    pub internal: bool,
}

impl Source {
    /// A file of the user's.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.display().to_string(), path: Some(path), internal: false }
    }

    /// Whether it is this file.
    pub fn is_file(&self, path: &Path) -> bool {
        self.path.as_deref() == Some(path)
    }
}

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The source.
    pub source: Source,
    /// 1-based; 0 where the debugger does not know.
    pub line: u32,
    /// 1-based; 0 where the debugger does not know.
    pub column: u32,
    /// Where the code is that really runs, when it was made of this source by a compiler.
    pub generated: Option<Generated>,
}

/// A place in a script that a compiler made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The path of the script, or the debugger's name for it.
    pub script: String,
    /// 1-based.
    pub line: u32,
    /// 1-based.
    pub column: u32,
}

/// What is known about a file without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The lines that hold code, ascending.
    pub lines: Vec<u32>,
    /// Where on them, as far as that is known: lines with columns, both 1-based, columns in UTF-16 units;
    /// ascending.
    pub places: Vec<(u32, u32)>,
    /// The first position whose code runs when the file loads, rather than when a function is called; without a
    /// column if the line suffices. None if unknown.
    pub first: Option<(u32, Option<u32>)>,
    /// How many lines the file has.
    pub length: u32,
    /// The functions, in the order of their first lines.
    pub functions: Vec<Function>,
    /// The functions without a name: their first and last lines.
    pub nameless: Vec<(u32, u32)>,
    /// The loops, in the order of their first lines; an outer one before those in it.
    pub loops: Vec<Loop>,
    /// Why it was not read for functions, loops and the like. Any line with text may hold code then.
    pub unread: Option<String>,
    /// A problem that keeps the language from running the file unchanged, but may be intended: something may compile
    /// it first.
    pub problem: Option<String>,
}

/// A function in a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Function {
    /// Its name, with those of the classes and functions around it in front: `Account.deposit`.
    pub name: String,
    /// Its first line, decorators included.
    pub start: u32,
    /// The line with its name.
    pub header: u32,
    /// The line of its first statement.
    pub body: u32,
    /// The column of its first statement, 1-based, in UTF-16 units; 1 if the language does not report it.
    #[serde(default = "first_column")]
    pub body_column: u32,
    /// Last line.
    pub end: u32,
}

fn first_column() -> u32 {
    1
}

/// A name with dots for what languages write between its parts: `Account#deposit`, `Bank\Account->deposit`,
/// `bank.(*Account).Deposit`.
fn dotted(name: &str) -> String {
    let name =
        name.replace("(*", "").replace(')', "").replace("::", ".").replace("->", ".").replace('\\', ".");
    match name.split_once('#') {
        // Without a class, it is the name of a private method of JavaScript.
        Some((class, method)) if class.ends_with(char::is_alphanumeric) => format!("{class}.{method}"),
        _ => name,
    }
}

/// A name without those around it: `deposit` of `Account.deposit`.
pub(crate) fn simple_name(name: &str) -> String {
    let name = dotted(name);
    // Names of operators and of types with arguments have signs, but none is a dot before a name.
    name.rsplit('.').find(|part| !part.is_empty()).unwrap_or(&name).to_owned()
}

impl Function {
    /// Its name without those around it: `deposit`.
    pub fn simple_name(&self) -> String {
        simple_name(&self.name)
    }

    fn extent(&self) -> Extent {
        Extent { start: self.start, header: self.header, end: self.end }
    }
}

/// The lines of a function, with or without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// Its first line.
    start: u32,
    /// The line with its name, or else the first one.
    header: u32,
    /// Last line.
    end: u32,
}

impl Extent {
    /// Whether the line is one that it begins on, up to that with its name.
    fn heads(self, line: u32) -> bool {
        (self.start..=self.header).contains(&line)
    }

    /// Whether it lies between two lines as a whole.
    fn lies_between(self, from: u32, to: u32) -> bool {
        self.start > from && self.end < to
    }

    /// The lines that [`Code::innermost`] reports for its body.
    fn lines(self) -> (u32, u32) {
        (self.header, self.end)
    }
}

/// Where a breakpoint for a line goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On that line.
    Exact,
    /// On this line instead, because the requested one has no code.
    Moved(u32),
    /// Nowhere; these lines nearby would do.
    None(Vec<u32>),
}

/// A loop in a file: a statement, not a comprehension or a call such as `forEach`.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Loop {
    /// The line where it begins: `while`, `for`, `do`.
    pub start: u32,
    /// Last line.
    pub end: u32,
    /// It iterates over something, as `for … of` and `for … in` do, and ends with that.
    pub goes_through: bool,
    /// An expression that is true if what it iterates over has a known end, as a list has and a generator has not;
    /// [`Loop::HAS_END`] where the source says so.
    #[serde(default)]
    pub end_known: Option<String>,
    /// A statement of it leaves it: a `break` out of it, `return`, `raise` or `throw`, `yield`, `await`.
    pub has_exit: bool,
    /// Its condition is always true, or it iterates over something that has no end, and it is not left by a
    /// statement. What it calls may still raise or end the program.
    pub is_endless: bool,
    /// Once in it, a thread never leaves it, as long as no other thread interferes. It holds nothing that could
    /// raise, call, read from a changing object or end the program, and what its condition says cannot change:
    /// `while (true) {}`, `while not done: pass`, `for (;;) i++`.
    pub is_certain: bool,
    /// It calls nothing, never yields its thread and reads nothing from objects: what it does next depends on
    /// variables alone.
    pub is_closed: bool,
    /// The comparisons that decide whether it continues, if all of them are required for that; only those that can be
    /// evaluated without a call.
    pub condition: Vec<Comparison>,
    /// The names in its head: what it counts or iterates over, and what its condition reads.
    pub variables: Vec<String>,
    /// The names that its body assigns to, those in its head included.
    pub assigned: Vec<String>,
}

impl Loop {
    /// What it iterates over has an end, whatever its value is.
    pub const HAS_END: &str = "true";
}

/// Two expressions of the language, and how they are compared: `<`, `<=`, `>`, `>=`, `==`, `!=`, `===`, `!==`. A bare
/// expression, such as `queue.length`, is compared as `!=` with `0`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Comparison {
    /// Before the sign.
    pub left: String,
    /// The sign.
    pub operator: String,
    /// After it.
    pub right: String,
}

impl Code {
    /// The lines with code from one line to the end of a function, and the end: control may leave the function there.
    pub fn lines_with_end(&self, from: u32, end: u32) -> BTreeSet<u32> {
        let inside = self.lines.iter().copied().filter(|line| (from..end).contains(line));
        inside.chain([end]).collect()
    }

    /// Decides where a breakpoint for `line` goes.
    ///
    /// A line without code (blank, comment, docstring, closing bracket) gives way to the next line with
    /// code in the same function, or else to the last one before it there. The line with a function's name, or on
    /// which one without a name begins, belongs to its body if it has no code itself, and a line before a function
    /// goes there rather than after the function. A line past the end of the file goes nowhere: it is more likely a
    /// mistake than a wish for the last line.
    pub fn place(&self, line: u32) -> Placement {
        if self.lines.binary_search(&line).is_ok() {
            return Placement::Exact;
        }
        if line == 0 || line > self.length {
            return Placement::None(self.nearest(line));
        }
        let head =
            self.extents().filter(|function| function.heads(line)).max_by_key(|function| function.start);
        let around = head.map(Extent::lines).or_else(|| self.innermost(line));
        let same_function = |candidate: &&u32| self.innermost(**candidate) == around;
        let after = self.lines.iter().filter(|&&candidate| candidate > line).find(same_function).copied();
        let before =
            self.lines.iter().rev().filter(|&&candidate| candidate < line).find(same_function).copied();
        let is_passed = |function: &Extent| function.lies_between(line, after.unwrap_or(u32::MAX));
        let passed = self.extents().filter(is_passed);
        let next = passed.filter(|function| self.innermost(function.header) == around);
        if let Some(function) = next.min_by_key(|function| function.start)
            && head.is_none()
        {
            return match self.place(function.header) {
                Placement::Exact => Placement::Moved(function.header),
                other => other,
            };
        }
        // A function without a name is part of the statement around it, whose last line may be this one.
        let is_behind = |before| self.functions.iter().any(|named| named.extent().lies_between(before, line));
        let before = before.filter(|before| !is_behind(*before));
        after.or(before).map_or_else(|| Placement::None(self.nearest(line)), Placement::Moved)
    }

    /// All functions, except for those without a name that are on one line.
    fn extents(&self) -> impl Iterator<Item = Extent> {
        let nameless = self.nameless.iter().filter(|(first, last)| first < last);
        let nameless = nameless.map(|&(first, last)| Extent { start: first, header: first, end: last });
        self.functions.iter().map(Function::extent).chain(nameless)
    }

    /// The function whose name line is `line`: a breakpoint there stops where the function is defined,
    /// not where it is called.
    pub fn defined_at(&self, line: u32) -> Option<&Function> {
        self.functions.iter().find(|function| function.extent().heads(line))
    }

    /// The functions of that name. `deposit` finds `Account.deposit` too, and so does `bank::Account#deposit`, as a stack
    /// may show it.
    pub fn functions_named(&self, name: &str) -> impl Iterator<Item = &Function> {
        let name = dotted(name);
        self.functions.iter().filter(move |function| {
            let own = dotted(&function.name);
            let ends =
                |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
            own == name || ends(&own, &name) || own.contains('.') && ends(&name, &own)
        })
    }

    /// The columns of a line where code begins, ascending; none where they are not known.
    pub fn columns(&self, line: u32) -> Vec<u32> {
        let on_line = self.places.iter().filter(|(on, _)| *on == line);
        on_line.map(|(_, column)| *column).collect()
    }

    /// Up to four lines with code around `line`.
    fn nearest(&self, line: u32) -> Vec<u32> {
        let split = self.lines.partition_point(|&candidate| candidate < line);
        let from = split.saturating_sub(2);
        self.lines.iter().skip(from).take(4).copied().collect()
    }

    /// The first and last lines of the innermost function whose body holds the line. The line that it begins on
    /// belongs to what is around it.
    fn innermost(&self, line: u32) -> Option<(u32, u32)> {
        let named = self.functions.iter().map(|function| (function.header, function.end));
        let all = named.chain(self.nameless.iter().copied());
        all.filter(|(first, last)| line > *first && line <= *last).max_by_key(|(first, _)| *first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as Python would report it:
    ///
    /// ```text
    ///  1 import sys          8     b = 2
    ///  2                     9
    ///  3 # about f          10 # between
    ///  4 def f(a):          11 class C:
    ///  5     \"\"\"doc\"\"\"      12     def g(self):
    ///  6     # comment      13         return 1
    ///  7     a = 1          14
    /// ```
    fn code() -> Code {
        let function = |name: &str, start, header, body, end| Function {
            name: name.to_owned(),
            start,
            header,
            body,
            body_column: 1,
            end,
        };
        Code {
            lines: vec![1, 4, 7, 8, 11, 12, 13],
            places: Vec::new(),
            first: None,
            length: 14,
            functions: vec![function("f", 4, 4, 7, 8), function("C.g", 12, 12, 13, 13)],
            nameless: Vec::new(),
            loops: Vec::new(),
            unread: None,
            problem: None,
        }
    }

    #[test]
    fn lines_without_code_move_within_their_function() {
        let table = [
            (1, Placement::Exact),
            (2, Placement::Moved(4)),
            (3, Placement::Moved(4)),
            (5, Placement::Moved(7)),
            (6, Placement::Moved(7)),
            (7, Placement::Exact),
            (9, Placement::Moved(11)),
            (14, Placement::Moved(12)),
            (15, Placement::None(vec![12, 13])),
            (9999, Placement::None(vec![12, 13])),
            (0, Placement::None(vec![1, 4, 7, 8])),
        ];
        for (line, expected) in table {
            assert_eq!(code().place(line), expected, "line {line}");
        }
    }

    /// As in JavaScript, where a function is made before the first statement of what is around it.
    #[test]
    fn function_header_without_code_moves_to_the_body() {
        let code = Code { lines: vec![1, 7, 8, 11, 13], ..code() };
        assert_eq!(code.place(4), Placement::Moved(7));
        assert_eq!(code.place(12), Placement::Moved(13));
    }

    #[test]
    fn a_line_without_code_does_not_move_past_a_function() {
        let code = Code { lines: vec![1, 7, 8, 13], length: 16, nameless: vec![(9, 14)], ..code() };
        let table = [
            // To the body of `f`.
            (2, Placement::Moved(7)),
            // Both are in the function without a name, and `C.g` is between them.
            (10, Placement::Moved(13)),
            (14, Placement::None(vec![8, 13])),
            // Functions are between it and the code before it.
            (16, Placement::None(vec![8, 13])),
        ];
        for (line, expected) in table {
            assert_eq!(code.place(line), expected, "line {line}");
        }
    }

    /// As in JavaScript:
    ///
    /// ```text
    ///  1 get(                 6   },
    ///  2   '/users',          7 );
    ///  3   // the handler     8 function f() {
    ///  4   (request) => {     9   return 1;
    ///  5     answer();       10 }
    /// ```
    #[test]
    fn the_line_on_which_a_nameless_function_begins_belongs_to_it() {
        let f = Function { name: "f".to_owned(), start: 8, header: 8, body: 9, body_column: 3, end: 10 };
        let code = Code {
            lines: vec![1, 5, 6, 9, 10],
            length: 10,
            functions: vec![f],
            nameless: vec![(4, 6)],
            ..Code::default()
        };
        for line in 2..=4 {
            assert_eq!(code.place(line), Placement::Moved(5), "line {line}");
        }
        assert_eq!(code.place(6), Placement::Exact);
        assert_eq!(code.place(7), Placement::Moved(9));
        // Without another function, the last line belongs to the statement.
        let alone = Code { lines: vec![1, 5, 6], length: 7, functions: Vec::new(), ..code };
        assert_eq!(alone.place(7), Placement::Moved(1));
    }

    #[test]
    fn a_file_without_code_has_no_location() {
        let empty = Code { length: 3, ..Code::default() };
        assert_eq!(empty.place(2), Placement::None(vec![]));
    }

    #[test]
    fn functions_are_found_by_simple_and_qualified_names() {
        let names = |name: &str| code().functions_named(name).map(|found| found.body).collect::<Vec<_>>();
        assert_eq!(names("f"), [7]);
        assert_eq!(names("g"), [13]);
        assert_eq!(names("C.g"), [13]);
        assert_eq!(names("D.g"), [0; 0]);
        assert_eq!(names(".g"), [0; 0]);
        assert_eq!(code().defined_at(4).map(|found| found.body), Some(7));
        assert_eq!(code().defined_at(7), None);
    }

    #[test]
    fn a_function_is_found_by_the_name_that_a_stack_shows() {
        let function = |name: &str| Function { name: name.to_owned(), ..code().functions[0].clone() };
        let code = Code {
            functions: ["Shop.Cart.total", "Cart.#total", "Account.deposit", "total"].map(function).into(),
            ..Code::default()
        };
        let found = |name: &str| {
            code.functions_named(name).map(|function| function.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(found("Shop::Cart#total"), ["Shop.Cart.total"]);
        assert_eq!(found("Bank\\Account->deposit"), ["Account.deposit"]);
        assert_eq!(found("bank.(*Account).deposit"), ["Account.deposit"]);
        assert_eq!(found("#total"), ["Cart.#total"]);
        assert_eq!(found("total"), ["Shop.Cart.total", "total"]);
        assert_eq!(found("Other.total"), [""; 0]);
    }
}
