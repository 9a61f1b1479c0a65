use std::path::Path;

use super::super::parse_as_any;
use crate::model::source::Loop;

fn found(name: &str, text: &str) -> Vec<Loop> {
    let code = parse_as_any(Path::new(name), text, 0);
    assert_eq!(code.problem, None, "{text}");
    code.loops
}

/// Of the first loop: whether it is endless, and whether that is certain.
fn verdict(text: &str) -> (bool, bool) {
    let found = found("loop.ts", text);
    let first = found.first().expect(text);
    (first.is_endless, first.is_certain)
}

#[test]
fn loops_without_exit_are_endless() {
    let table = [
        "while (true) {}",
        "while (1);",
        "while (!0) {}",
        "while ('yes') {}",
        "while ((true)) { continue; }",
        "do {} while (true);",
        "for (;;) {}",
        "let i = 0; for (;;) { i++; }",
        "let i = 0; for (;;) i += 1;",
        "for (let i = 0; ; i++) {}",
        "for (let i = 0; true; i = i + 1) {}",
        "let i = 0, j; for (;;) { j = i * 2 - 1; if (j > i) i--; else continue; }",
        "outer: while (true) { continue outer; }",
        "while (true) { inner: for (let i = 0; i < 3; i++) { if (i === 2) break inner; } }",
        "while (true) { while (true) { break; } }",
        "const step = 2; let total = 0; while (true) { for (let i = 0; i < 10; i += step) total += i; }",
        "let on = null; while (true) { on = !on; }",
    ];
    for text in table {
        assert_eq!(verdict(text), (true, true), "{text}");
    }
}

#[test]
fn loops_with_unchanging_conditions_are_endless() {
    let table = [
        "let done = false; while (!done) {}",
        "function wait(done) { while (!done) {} }",
        "const wait = ({ done }) => { for (; !done; ) {} }",
        "let i = 0, j = 0; const most = 10; while (i < most) { j++; }",
        "let state = 'a'; while (state !== 'b' && typeof state === 'string') {}",
        "let i = 0; for (let j = 0; i < 10; j++) {}",
    ];
    for text in table {
        assert_eq!(verdict(text), (false, true), "{text}");
    }
}

#[test]
fn loops_that_other_code_can_end_are_not_certain() {
    let table = [
        "while (true) { process.exit(); }",
        "while (true) { f(); }",
        "for (;;) { new Thing(); }",
        "let i = 0; while (true) { total += items[i++].price; }",
        "while (true) { this.count; }",
        "let s = 'a'; while (true) { s += s; }",
        "let s = ''; while (true) { s += 1; }",
        "let n = 1n; while (true) { n += 1; }",
        "let n = 1n; while (true) { n = n / 0n; }",
        "let n = 1; n = read(); while (true) { n += 1; }",
        "function f(n) { while (true) { n++; } }",
        "let n = 1; ({ n } = read()); while (true) { n++; }",
        "let n = 1; for (n of all) { while (false) {} } while (true) { n += 1; }",
        "let n = 1; (n as any) = read(); while (true) { n += 1; }",
        "const n = 1; while (true) { n++; }",
        "while (true) { unknown; }",
        "{ let i = 0; } while (true) { i++; }",
        "while (true) { i++; let i = 0; }",
        "let n = 0; n = m; let m = 1; m = 'a'; while (true) { n += 1; }",
        "export let n = 0; while (true) { n++; }",
        "let n = 0; export { n }; while (true) { n++; }",
        "import { n } from 'n'; while (true) { n; }",
        "let n = 0; eval(code); while (true) { n++; }",
        "while (true) { `${value}`; }",
        "while (true) { const [a] = b; }",
        "while (true) { const all = []; }",
        "while (true) { a in b; }",
        "while (true) { debugger; }",
        "while (true) { for (const a of b) {} }",
        "while (true) { try { f(); } catch {} }",
        "while (true) { (() => { return 1; })(); }",
        "while (true) { function f() { return 1; } }",
        "for (let i = f(); ; i++) {}",
        "while (true) { switch (a) { case 1: break; } }",
        "while (true) { class A { *f() { yield 1; } async g() { await 1; } } }",
        "for (;;) { items.forEach((item) => { if (item) throw item; }); }",
    ];
    for text in table {
        let loops = found("loop.ts", text);
        let last = loops.iter().rfind(|it| it.is_endless).expect(text);
        assert!(!last.is_certain, "{text}");
    }
    let with = "let i = 0; with (a) { while (true) { i++; } }";
    assert!(found("loop.cjs", with).iter().all(|it| it.is_endless && !it.is_certain));
}

#[test]
fn loops_with_exits_can_end() {
    let table = [
        "while (a) {}",
        "while (false) {}",
        "do {} while (false);",
        "let done = true; do {} while (!done);",
        "while (true) { break; }",
        "while (true) { if (a) break; }",
        "while (true) { return; }",
        "while (true) { throw 1; }",
        "while (true) { try { throw 1; } catch {} }",
        "outer: while (true) { while (true) { break outer; } }",
        "outer: while (true) { switch (a) { case 1: break outer; } }",
        "async function f() { while (true) { await g(); } }",
        "async function f() { while (await g()) {} }",
        "async function f() { while (true) { for await (const a of b) {} } }",
        "function* f() { while (true) { yield 1; } }",
        "let done = false; while (!done) { done = true; }",
        "let done = false; while (!done) { f(); }",
        "while (x < items.length) { y++; }",
        "while (!this.done) {}",
        "while (!shared.done) {}",
        "export let done = false; while (!done) {}",
        "import { done } from 'done'; while (!done) {}",
        "let i = 0; while (i < 10) { i++; }",
        "for (let i = 0; i < 10; i++) {}",
        "for (const a of [1]) {}",
        "for (const a in b) {}",
        "for (const a of endless()) { }",
        "let i = 0; for (const n = i; i < n; i += 1) {}",
        "let i = 0; while (i++ < 10) {}",
    ];
    for text in table {
        assert_eq!(verdict(text), (false, false), "{text}");
    }
}

#[test]
fn labelled_continue_ends_the_inner_loop() {
    let loops = found("loop.js", "outer: while (true) {\n  while (true) {\n    continue outer;\n  }\n}");
    let all: Vec<_> = loops.iter().map(|it| (it.start, it.end, it.is_endless, it.is_certain)).collect();
    assert_eq!(all, [(1, 5, true, true), (2, 4, false, false)]);
}

#[test]
fn loop_conditions_are_reported() {
    let table = [
        ("while (true) {}", ""),
        ("for (;;) {}", ""),
        ("while (low <= high) {}", "low <= high"),
        ("while (queue.length) {}", "queue.length != 0"),
        ("while (!done) {}", "!done != 0"),
        ("while (i < items.length && !found) {}", "i < items.length, !found != 0"),
        ("while (i < n || j < m) {}", ""),
        ("while (i < n && next()) {}", "i < n"),
        ("while (i < count()) {}", ""),
        ("while (i++ < n) {}", ""),
        ("while ((line = read()) !== null) {}", ""),
        ("for (let i = 0; i * 2 < all[i + 1].size!; i++) {}", "i * 2 < all[i + 1].size"),
        ("while (a!.b < (c as number)) {}", ""),
        ("do {} while (this.size?.[0] > -1);", "this.size?.[0] > -1"),
        ("while (node instanceof Node) {}", ""),
        ("for (const a of b) {}", ""),
    ];
    for (text, expected) in table {
        let all = found("loop.ts", text)[0].condition.clone();
        let written = all.iter().map(|it| format!("{} {} {}", it.left, it.operator, it.right));
        assert_eq!(written.collect::<Vec<_>>().join(", "), expected, "{text}");
    }
}

#[test]
fn loop_reads_and_writes_are_reported() {
    let table = [
        ("for (let i = 0; i < n; i++) { total += i; }", "i n", "i total"),
        ("while (queue.length) { const next = queue.pop(); let a; }", "queue", "next"),
        ("while (more(a)) {}", "a", ""),
        ("for (const [key, value] of map.entries()) { sum[key] = value; }", "key value map", "key value sum"),
        ("for (key in all) { all.first.name ??= key; }", "key all", "key all"),
        ("while ((m = re.exec(text))) { ({ a, b: c = 1 } = m); [d] = m; }", "m re text", "m a c d"),
        ("do { items.forEach((item) => { count++; }); } while (count < undefined);", "count", "count"),
        ("while (a) { for (const b of c) {} try {} catch (error) {} this.x = 1; }", "a", "b"),
        ("while (a) { (a as any) = 1; (function g() { h = 1; })(); }", "a", "a h"),
    ];
    for (text, variables, assigned) in table {
        let first = &found("loop.ts", text)[0];
        assert_eq!(
            (first.variables.join(" "), first.assigned.join(" ")),
            (variables.into(), assigned.into()),
            "{text}"
        );
    }
}

#[test]
fn loops_are_sorted_by_line() {
    let text =
        "function f() {\n  for (const a of b) {\n    do {\n    } while (a);\n  }\n}\n\nwhile (f()) {\n}\n";
    let all: Vec<_> = found("loop.js", text).iter().map(|it| (it.start, it.end)).collect();
    assert_eq!(all, [(2, 5), (3, 4), (8, 9)]);
}

#[test]
fn what_a_loop_goes_through_may_have_a_known_end() {
    let table = [
        ("for (const x of [1, 2]) f(x);", Some(Loop::HAS_END)),
        ("for (const key in table) f(key);", Some(Loop::HAS_END)),
        ("for (const [key, x] of Object.entries(table)) f(x);", Some(Loop::HAS_END)),
        ("for (const x of this.rows) f(x);", Some("((this.rows).length ?? (this.rows).size) >= 0")),
        ("for (const x of rows) others.push(x);", Some("((rows).length ?? (rows).size) >= 0")),
        ("for (const x of this.rows) { if (x) this.rows.push(x); }", None),
        ("for (const x of rows.values()) rows.add(x + 1);", None),
        ("for (const x of rows.slice()) rows.push(x);", Some(Loop::HAS_END)),
        ("for (const x of numbers()) f(x);", None),
    ];
    for (text, expected) in table {
        assert_eq!(
            found("loop.js", text).first().and_then(|found| found.end_known.as_deref()),
            expected,
            "{text}"
        );
    }
}
