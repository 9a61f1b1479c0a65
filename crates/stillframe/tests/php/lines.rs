//! Where breakpoints on lines bind: arrow functions, templates, labels.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, written};

const ARROWS: &str = "\
<?php
$users = [['name' => 'ann', 'age' => 30], ['name' => 'bob', 'age' => 17]];
$names = array_map(
    fn (array $user): string => strtoupper($user['name']), // @maps
    $users,
);
usort(
    $users, // @sorted
    fn (array $one, array $other): int // @head
        => $one['age'] <=> $other['age'], // @sorts
);
$handlers = [
    'add' => function (int $n) { // @closure
        return $n + 1; // @adds
    },
    'double' => fn (int $n) => $n * 2, // @doubles
];
$sum = $handlers['add'](1) + $handlers['double'](1);
$word = $sum > 3 ? 'many'
    : 'few';
goto end;
echo 'skipped';
end:
echo $word, count($names), \"\\n\"; // @end
";

#[tokio::test]
async fn an_arrow_function_on_its_own_line_stops_where_it_is_called() {
    let (_folder, program) = written("main.php", ARROWS);
    let session = Debugging::of(Language::Php).await;
    for name in ["maps", "sorts", "doubles"] {
        let set = session.break_at(&program, name).await;
        assert_eq!(set["line"], program.line(name), "{}", set.text);
    }
    let mut stopped = session.start(&program).await;
    for (name, variable, value) in [
        ("maps", "user", "[\"name\" => \"ann\", \"age\" => 30]"),
        ("maps", "user", "[\"name\" => \"bob\", \"age\" => 17]"),
        ("sorts", "one", "[\"name\" => \"ann\", \"age\" => 30]"),
        ("doubles", "n", "1"),
    ] {
        assert_eq!(stopped.place(), (program.path(), program.line(name)), "{name}: {}", stopped.text);
        assert_eq!(stopped.variable(variable), value, "{}", stopped.text);
        stopped = session.go_on().await;
    }
    assert_eq!(stopped.outcome(), "ended", "{}", stopped.text);
    session.finish().await;
}

#[tokio::test]
async fn a_line_without_code_stays_in_its_function() {
    let (_folder, program) = written("main.php", ARROWS);
    let session = Debugging::of(Language::Php).await;
    // An argument before a closure leads to it, as what is before any function.
    for (asked, expected) in [("sorted", "sorts"), ("head", "sorts"), ("closure", "adds"), ("end", "end")] {
        let set = session.break_at(&program, asked).await;
        assert_eq!(set["line"], program.line(expected), "{asked}: {}", set.text);
    }
    session.finish().await;
}

const LIST: &str = "\
<ul>
<?php foreach ($rows as $name => $count): ?>
  <li><?= $name // @item ?>: <?= $count ?></li>
<?php endforeach ?>
</ul>
<p><?= count($rows) // @total ?></p>
<?php if ($count > 3): ?>
  <b>many</b> // @html
<?php endif; ?>
";

#[tokio::test]
async fn lines_of_a_template_that_print_have_code() {
    let (folder, list) = written("list.phtml", LIST);
    let main = "<?php\n$rows = ['pen' => 2, 'ink' => 5];\ninclude __DIR__ . '/list.phtml';\n";
    let program = Fixture::write(folder.path(), "main.php", main);
    for name in ["item", "total", "html"] {
        let session = Debugging::of(Language::Php).await;
        session.break_at(&list, name).await;
        let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
        assert_eq!(stopped.place(), (list.path(), list.line(name)), "{name}: {}", stopped.text);
        session.finish().await;
    }
}
