use super::*;

fn first(text: &str, family: Family) -> Loop {
    loops(text, family).into_iter().next().unwrap_or_else(|| panic!("no loop in {text}"))
}

#[test]
fn endless_loops_are_distinguished_from_those_with_exits() {
    use Family::{C, Go, Php, Rust};
    // The text, whether it is endless, and whether that is certain.
    let table = [
        (C, "while (1) {}", true, true),
        (C, "while (true);", true, true),
        (C, "for (;;) { i++; }", true, true),
        (C, "do { i++; } while (!0);", true, true),
        (C, "for (int i = 0; ; i++) { f(i); }", true, false),
        (C, "while (1) { p->n++; }", true, false),
        (C, "while (1) { if (a) break; }", false, false),
        (C, "while (1) { switch (a) { case 1: break; } }", true, true),
        (C, "while (1) { while (a) break; }", true, true),
        (C, "while (1) { for (;;) { if (a) break; } break; }", false, false),
        (C, "while (1) if (a) return 1; else b++;", false, false),
        (C, "for (;;) throw 1;", false, false),
        (C, "while (a) {}", false, false),
        (C, "while (true) { for (int i : all) { if (i > 1) continue; } }", true, false),
        (C, "while (true) { continue outer; }", false, false),
        (Php, "<?php while (true) { $i++; }", true, false),
        (Php, "<?php while (true) { foreach ($all as $one) { break 2; } }", false, false),
        (Php, "<?php while (true) { foreach ($all as $one) { break; } }", true, false),
        (Php, "<?php while (true) { exit; }", false, false),
        (Rust, "loop {}", true, true),
        (Rust, "loop { n += 1; }", true, false),
        (Rust, "loop { spin_loop(); }", true, false),
        (Rust, "loop { read()?; }", false, false),
        (Rust, "'a: loop { loop { break 'a; } }", false, false),
        (Rust, "loop { 'a: loop { break 'a; } }", true, true),
        (Rust, "loop { match n { 1 => break, _ => {} } }", false, false),
        (Rust, "while true { n = m; }", true, true),
        (Go, "for {\n}", true, true),
        (Go, "for {\n\tn++\n}", true, true),
        (Go, "for {\n\tselect {\n\tcase <-a:\n\t\tbreak\n\t}\n}", true, false),
        (Go, "outer:\nfor {\n\tfor {\n\t\tbreak outer\n\t}\n}", false, false),
        (Go, "for true {\n\treturn\n}", false, false),
        (Go, "for i := 0; ; i++ {\n\tf(i)\n}", true, false),
    ];
    for (family, text, is_endless, is_certain) in table {
        let found = first(text, family);
        assert_eq!((found.is_endless, found.is_certain), (is_endless, is_certain), "{text}");
    }
}

#[test]
fn conditions_are_read() {
    use Family::{C, Go, Php, Rust};
    let table = [
        (C, "while (i < n) i++;", "i < n", "i n", "i"),
        (C, "for (Map.Entry<String, Integer> entry : all) f(entry);", "", "entry", ""),
        (C, "for (Iterator<String> it = all.iterator(); it.hasNext();) {}", "", "all it", "it"),
        (C, "while (next != null) { next = next.next; }", "next != null", "next", "next"),
        (
            Php,
            "<?php while ($low < $high) { [$low, $x] = [1, 2]; $text .= 'a'; }",
            "$low < $high",
            "$high $low",
            "$text",
        ),
        (Php, "<?php # it's\nwhile ($b !== 0) { $b %= $a; }", "$b !== 0", "$b", "$b"),
        (Php, "it's a page <?php foreach ($all as $key => $one) { f($one); }", "", "$key $one", ""),
        (
            C,
            "for (size_t at = 0; at < list->length; at += 2) f(&sum);",
            "at < list->length",
            "at list",
            "at sum",
        ),
        (C, "while (!done && left) {}", "done == 0, left != 0", "done left", ""),
        (C, "while (next(it)) {}", "", "it", ""),
        (C, "while (a < b || c) {}", "", "a b c", ""),
        (C, "do { n = n * 3 + 1; } while (n != 1);", "n != 1", "n", "n"),
        (C, "for (const auto &item : items) f(item);", "", "item", ""),
        (Rust, "while low <= self.high { low += 1; }", "low <= self.high", "low", "low"),
        (Rust, "for (key, value) in &map { use_it(key); }", "", "key value", ""),
        (Rust, "while let Some(top) = stack.pop() { n = top; }", "", "stack top", "n"),
        (Rust, "for byte in data { f(byte); }", "", "byte", ""),
        (C, "while (byte != 0) { byte = byte >> 1; }", "byte != 0", "byte", "byte"),
        (C, "while (node != null and left) {}", "", "left node", ""),
        (Go, "for or := 0; or < final; or++ {\n}", "", "final or", "or"),
        (Go, "for i := 0; i < n; i++ {\n}", "i < n", "i n", "i"),
        (Go, "for a != b {\n\ta, b = b, a\n}", "a != b", "a b", "a b"),
        (Go, "for index, item := range items {\n\tf(item)\n}", "", "index item", ""),
    ];
    for (family, text, condition, variables, assigned) in table {
        let found = first(text, family);
        let tests =
            found.condition.iter().map(|test| format!("{} {} {}", test.left, test.operator, test.right));
        assert_eq!(tests.collect::<Vec<_>>().join(", "), condition, "{text}");
        assert_eq!(found.variables.join(" "), variables, "{text}");
        let expected: Vec<&str> = assigned.split_whitespace().collect();
        assert!(
            expected.iter().all(|name| found.assigned.iter().any(|found| found == name)),
            "{text}: {:?}",
            found.assigned
        );
    }
}

#[test]
fn loops_have_lines_and_outer_ones_come_first() {
    let text = "int main(void) {\n  // while (1)\n  const char *text = \"for (;;) {\";\n  for (int i = 0;\n       i < 3; i++) {\n    while (i) {\n      i--;\n    }\n  }\n  do\n    f();\n  while (0);\n}\n";
    let lines: Vec<_> = loops(text, Family::C).iter().map(|found| (found.start, found.end)).collect();
    assert_eq!(lines, [(4, 9), (6, 8), (10, 12)]);
    let text = "impl<T> Deref for Guard<T> {\n  fn f<F>(f: F) where F: for<'a> Fn(&'a str) { for _ in 0..3 { f(\"\"); } }\n}\n";
    assert_eq!(loops(text, Family::Rust), []);
    assert_eq!(loops("while (", Family::C), []);
    let text = "String text = \"\"\"\n  it's \"quoted\" { while (1)\n  \"\"\";\nwhile (i < 3) {\n  i++;\n}\n";
    assert_eq!(
        loops(text, Family::C).iter().map(|found| (found.start, found.end)).collect::<Vec<_>>(),
        [(4, 6)]
    );
    let text = "<?php\n$text = <<<END\n  it's { while (1)\n  END;\nwhile ($i < 3) {\n  $i++;\n}\n?>\nit's\n";
    assert_eq!(
        loops(text, Family::Php).iter().map(|found| (found.start, found.end)).collect::<Vec<_>>(),
        [(5, 7)]
    );
}
