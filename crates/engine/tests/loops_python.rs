//! The analysis of loops in Python sources, with every installed version of Python.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

#[path = "recording_python/machine.rs"]
#[expect(dead_code, reason = "shared with tests that record")]
mod machine;

use engine::adapter::python::Python;
use engine::adapter::{Adapter, AnalysisRequest, SourceAnalysis};
use engine::model::source::Loop;

use self::machine::{TestMachine, ways};

/// The loops of a source, for every interpreter.
async fn loops(source: &str) -> Vec<Vec<Loop>> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("main.py");
    std::fs::write(&file, source).unwrap();
    let mut found = Vec::new();
    for way in ways().await.into_iter().filter(|way| way.by_pydevd) {
        let runtime = Python.locate(&TestMachine, Some(&way.python), None).await.unwrap();
        let question = AnalysisRequest { file: Some(&file), ..AnalysisRequest::default() };
        found.push(Python.analyze(&TestMachine, &runtime, question).await.unwrap().loops);
    }
    found
}

/// Sources with one outer loop each: what ends in `certain` blocks a thread forever, what ends in `endless` is
/// left by no statement of its own, and what ends in `open` may be left.
const TABLE: &str = "\
while True: pass # certain
while 1: pass # certain
while not False: pass # certain
while not done: pass # certain
while a < b: i += 1 # certain
while a < b and not c: pass # open
while a and not a: pass # certain
while True: # certain
    i = 0
    i += 1
    if i == 3: continue
while True: # certain
    j = 0
    while j < 10: j += 1
while True: # certain
    i = 0
    for i in (1, 2): pass
while True: # certain
    i = 0
    for i in (1, 2): break
while True: # endless
    for i in (1, 2): pass
while True: # open
    if stop: break
while True: # open
    for x in y: pass
    else: break
while True: # endless
    for x in y: break
while True: # endless
    def f(): return 1
    g = lambda: (yield)
while True: # endless
    step()
while True: # open
    while True: raise ValueError
while True: # open
    assert ok
while True: # endless
    i += step
while True: # endless
    s += 'x'
while True: # endless
    self.count = 1
while True: # endless
    rows[0] = 1
while True: # endless
    i //= 0
while True: # endless
    i = other
while True: # endless
    import os
while True: # endless
    del i
while True: # endless
    if i > 10: j = unknown
while True: # endless
    i += 1
    if i == 1000000: k += 1
while True: # endless
    i += 1
    if i > 'x': pass
while True: # endless
    i = 0
    while i < 10: i += 1
    j += 1
    if j == 5: k = later
while True: # endless
    for i in rows: pass
while True: # endless
    x = [1 for _ in y]
while True: # endless
    if x in y: pass
while i < 10: i += 1 # open
while f(): pass # open
while a.b: pass # open
while a[0]: pass # open
while a + b: pass # open
while x < y < z: pass # open
while (x := 1): pass # open
while False: pass # open
for i in range(10): pass # open
";

#[tokio::test]
async fn a_loop_is_endless_only_if_nothing_can_end_it() {
    let entries: Vec<&str> = TABLE.split_inclusive('\n').collect();
    let starts = |line: &str| !line.starts_with(' ');
    let mut sources: Vec<String> = Vec::new();
    for line in entries {
        if starts(line) {
            sources.push(String::new());
        }
        sources.last_mut().unwrap().push_str(line);
    }
    // Each in a function of its own, so that `yield`, where there is one, is allowed; one file for all.
    let bodies = sources.iter().enumerate().map(|(index, source)| {
        let indented = source.replace('\n', "\n    ");
        format!("def f{index}():\n    {indented}\n")
    });
    let file: String = bodies.collect();
    let heads: Vec<(u32, &str)> = file
        .lines()
        .zip(1..)
        .filter_map(|(line, number)| Some((number, line.split_once(" # ")?.1)))
        .collect();
    for found in loops(&file).await {
        for (line, expected) in &heads {
            let Some(each) = found.iter().find(|each| each.start == *line) else { panic!("line {line}") };
            let reported = match (each.is_certain, each.is_endless) {
                (true, _) => "certain",
                (false, true) => "endless",
                (false, false) => "open",
            };
            assert_eq!(reported, *expected, "{}", file.lines().nth(*line as usize - 1).unwrap());
        }
    }
}

#[tokio::test]
async fn awaiting_and_yielding_loops_can_end() {
    let source = "\
async def f():
    while True:
        await g()
async def g():
    while True:
        async for x in y: pass
def h():
    while True:
        yield 1
async def i():
    while True:
        z = [x async for x in y]
";
    for found in loops(source).await {
        assert_eq!(found.iter().map(|each| each.is_endless).collect::<Vec<_>>(), [false; 5], "{found:?}");
    }
}

/// A handler of signals may change or raise anything.
#[tokio::test]
async fn no_loop_is_endless_if_signals_are_handled() {
    for found in loops("import signal\nwhile True:\n    pass\n").await {
        assert_eq!(
            found.iter().map(|each| (each.is_endless, each.is_certain)).collect::<Vec<_>>(),
            [(true, false)]
        );
    }
}

/// What decides whether a loop continues, as `left operator right`, with its names and those that it assigns to.
#[tokio::test]
async fn loop_conditions_are_split_into_evaluable_parts() {
    let table = [
        ("while low < high: low += 1", "low < high", "low high", "low"),
        ("while a < b and c > d + 1: a = 1", "a < b; c > d + 1", "a b c d", "a"),
        ("while a < b or c: pass", "", "a b c", ""),
        ("while 0 < a <= b.c[1]: pass", "0 < a; a <= b.c[1]", "a b", ""),
        ("while i < len(rows): i += 1", "i < len(rows)", "i rows", "i"),
        ("while i < size(rows) and j != 2: pass", "j != 2", "i rows j", ""),
        ("while n: n -= 1", "n != 0", "n", "n"),
        ("while not done: pass", "done == 0", "done", ""),
        ("while self.queue: pass", "self.queue != 0", "self", ""),
        ("while a is None: pass", "", "a", ""),
        ("while True: x, (y, *z) = 1, (2, 3); w: int = 4", "", "", "x y z w"),
        ("while (line := read()): pass", "", "line", "line"),
        ("while a < (b +\n    1): pass", "", "a b", ""),
        ("while text != 'ä' and n > 1: pass", "text != 'ä'; n > 1", "text n", ""),
        ("for i in range(len(rows)): pass", "i < len(rows)", "i rows", "i"),
        ("for i in range(2, n, 3): pass", "i < n", "i n", "i"),
        ("for i in range(n, 0, -1): pass", "", "i n", "i"),
        ("for i in range(n): n = 3", "", "i n", "i n"),
        ("for key, value in table.items(): total = value", "", "key value table", "key value total"),
        (
            "for x in rows:\n    import a.b, c as d\n    def f(): e = 1\n    with g as h: pass",
            "",
            "x rows",
            "x a d f h",
        ),
    ];
    for (source, condition, variables, assigned) in table {
        for found in loops(&format!("{source}\n")).await {
            let [each] = found.as_slice() else { panic!("{source}: {found:?}") };
            let comparisons: Vec<String> = each
                .condition
                .iter()
                .map(|part| format!("{} {} {}", part.left, part.operator, part.right))
                .collect();
            let reported = (comparisons.join("; "), each.variables.join(" "), each.assigned.join(" "));
            assert_eq!(
                reported,
                (condition.to_owned(), variables.to_owned(), assigned.to_owned()),
                "{source}"
            );
        }
    }
}

#[tokio::test]
async fn what_a_loop_goes_through_may_have_a_known_end() {
    let table = [
        ("for x in [1, 2]: pass", Some(Loop::HAS_END)),
        ("for x in range(n): pass", Some(Loop::HAS_END)),
        ("for x in rows[1:]: pass", Some(Loop::HAS_END)),
        ("for at, x in enumerate(table.items()): pass", Some(Loop::HAS_END)),
        ("for x in rows: pass", Some("len(rows) >= 0")),
        ("for x in map(f, self.rows): pass", Some("len(self.rows) >= 0")),
        ("for x in rows: other.append(x)", Some("len(rows) >= 0")),
        ("for x in rows: rows.append(x)", None),
        ("for x in enumerate(self.rows): self.rows += [x]", None),
        ("for x in list(rows): rows.append(x)", Some(Loop::HAS_END)),
        ("for x in numbers(): pass", None),
        ("for x in (y for y in rows): pass", None),
        ("while n: n -= 1", None),
    ];
    for (source, expected) in table {
        for found in loops(&format!("{source}\n")).await {
            let [each] = found.as_slice() else { panic!("{source}: {found:?}") };
            assert_eq!(each.end_known.as_deref(), expected, "{source}");
        }
    }
}

/// A name that only ever refers to new collections is reported by its length.
#[tokio::test]
async fn a_collection_as_condition_is_its_length() {
    let table = [
        ("todo = [1, 2]\nwhile todo: todo.pop()", "len(todo)"),
        (
            "from collections import deque\ntodo = deque()\ndef work():\n    while todo: todo.pop()",
            "len(todo)",
        ),
        ("def work(todo):\n    todo = [1]\n    while todo: todo.pop()", "todo"),
        ("todo = [1]\ndef work():\n    global todo\n    todo = 3\nwhile todo: pass", "todo"),
        ("def work():\n    for todo in rows:\n        while todo: todo.pop()", "todo"),
        ("while todo: todo.pop()", "todo"),
    ];
    for (source, left) in table {
        for found in loops(&format!("{source}\n")).await {
            assert_eq!(found.last().unwrap().condition.first().unwrap().left, left, "{source}");
        }
    }
}

#[tokio::test]
async fn loops_are_listed_from_the_outermost_with_their_last_lines() {
    let source = "for a in b:\n    while c:\n        pass\n\nelse:\n    for d in e: pass\nasync def f():\n    async for g in h:\n        pass\n";
    for found in loops(source).await {
        assert_eq!(
            found.iter().map(|each| (each.start, each.end)).collect::<Vec<_>>(),
            [(1, 3), (2, 3), (6, 6), (8, 9)]
        );
    }
}
