//! Which exceptions are uncaught, and errors of the compiler in expressions.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder, written};

const PROGRAM: &str = "\
<?php
function twice($number) { return 2 * $number; }
$number = 5;
try {
    throw new LogicException('first');
} catch (LogicException $error) { throw new RuntimeException('second'); // @second
}
";

/// An error of the compiler ends a PHP program, whoever evaluates.
const IMPOSSIBLE: [&str; 8] = [
    "break",
    "function twice($number) {}",
    "$this = 3",
    "twice(1) = 3",
    "[1, , 2]",
    "isset($number + 1)",
    "enum Suit { case A; case A; }",
    "new class extends Exception { abstract function f(); }",
];

#[tokio::test]
async fn an_exception_of_a_catch_on_the_line_of_the_brace_is_uncaught_and_no_expression_ends_the_program() {
    let (_folder, program) = written("main.php", PROGRAM);
    let session = Debugging::of(Language::Php).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "uncaught" })).await;
    let refused =
        json!({ "file": program.path(), "line": program.line("second"), "condition": "twice(1) = 3" });
    let refused = session.call("set_breakpoint", refused).await;
    assert!(refused.text.contains("return value"), "{}", refused.text);
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("second")), "{}", stopped.text);
    for expression in IMPOSSIBLE {
        let failed = session.call("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!(failed["success"], false, "{expression}: {}", failed.text);
        assert_eq!(session.evaluate("twice($number)").await, "10", "after {expression}: {}", failed.text);
    }
    session
        .ok("evaluate_expression", json!({ "expression": "function thrice($n) { return 3 * $n; }" }))
        .await;
    assert_eq!(session.evaluate("array_map(fn ($n) => thrice($n), [1, $number])").await, "[3, 15]");
    session.finish().await;
}

#[tokio::test]
async fn a_file_that_does_not_compile_is_named_with_its_line() {
    let folder = folder();
    let broken = Fixture::write(
        folder.path(),
        "order.php",
        "<?php\nfunction total() {\n    return 1 +; // @broken\n}\n",
    );
    let loads =
        "<?php\nfunction load($file) {\n    require $file; // @loads\n}\nload(__DIR__ . '/order.php');\n";
    let program = Fixture::write(folder.path(), "main.php", loads);
    let session = Debugging::of(Language::Php).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("loads")), "{}", stopped.text);
    let place = format!("in {} on line {}", broken.path(), broken.line("broken"));
    assert!(stopped.at("/exception/message").as_str().unwrap().ends_with(&place), "{}", stopped.text);
    session.finish().await;
}

const READS: &str = "\
<?php
namespace Shop;

final class Settings
{
    private string $zone = 'UTC';

    public function read(string $text): array
    {
        $depth = 3;
        return json_decode($text, true, $depth, JSON_THROW_ON_ERROR); // @throws
    }

    public function since(string $text): \\DateTimeImmutable
    {
        $tries = 1;
        return new \\DateTimeImmutable($text); // @constructs
    }
}

echo \\count((new Settings())->read('{\"port\": 80}')), \"\\n\";
if (isset($argv[1])) { (new Settings())->since($argv[1]); }
echo \\count((new Settings())->read('{port')), \"\\n\";
";

/// A function of PHP's own has neither variables nor a place of its own.
#[tokio::test]
async fn an_exception_that_a_function_of_php_throws_stops_in_the_function_that_calls_it() {
    let (_folder, program) = written("main.php", READS);
    let session = Debugging::of(Language::Php).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(
        (stopped.outcome(), stopped.place()),
        ("exception", (program.path(), program.line("throws"))),
        "{}",
        stopped.text
    );
    assert_eq!(stopped["location"]["function"], "Shop\\Settings->read", "{}", stopped.text);
    assert_eq!((stopped.variable("text"), stopped.variable("depth")), ("\"{port\"", "3"), "{}", stopped.text);
    assert_eq!(session.evaluate("strlen($text) + $depth").await, "8");
    session.finish().await;
    // A method of PHP's own has an object of its own.
    let session = Debugging::of(Language::Php).await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["some day"] });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!(stopped.place(), (program.path(), program.line("constructs")), "{}", stopped.text);
    assert_eq!(stopped.variable("this"), "Shop\\Settings {zone: \"UTC\"}", "{}", stopped.text);
    assert_eq!(session.evaluate("$this->zone . self::class . $tries").await, "\"UTCShop\\\\Settings1\"");
    assert_eq!(session.evaluate("$tries = 7").await, "7");
    assert_eq!(session.evaluate("$tries + 1").await, "8");
    session.finish().await;
}

const CALLS: &str = "\
<?php
namespace Shop;

final class Cart
{
    public function total(array $prices): int
    {
        $factor = 2;
        return array_sum(array_map(function (int $price) use ($factor) {
            return $price * $factor; // @closure
        }, $prices));
    }
}

function outer(string $name): int
{
    $all = [4, 5];
    usort($all, fn ($one, $other) => (new Cart())->total([$one]) <=> $other);
    return count($all);
}

function through(callable $what): int
{
    $given = 'n';
    return array_map('call_user_func', [$what], [$given])[0];
}

$top = 'main';
echo through('Shop\\outer'), \"\\n\";
";

/// Between the frames of the program are those of `array_map`, `usort` and `call_user_func`.
#[tokio::test]
async fn a_frame_that_waits_for_a_function_of_php_shows_its_own_variables() {
    let (_folder, program) = written("main.php", CALLS);
    let session = Debugging::of(Language::Php).await;
    session.break_at(&program, "closure").await;
    session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let frames = stack["stackFrames"].as_array().expect("a list");
    let mut seen = Vec::new();
    for frame in frames {
        let asked =
            json!({ "frameId": frame["id"], "expression": "implode(',', array_keys(get_defined_vars()))" });
        seen.push(session.ok("evaluate_expression", asked).await.text_of("result").to_owned());
    }
    let [closure, total, arrow, outer, through, main] = seen.as_slice() else { panic!("{}", stack.text) };
    assert_eq!(
        [closure, total, arrow, outer, through],
        ["\"price,factor\"", "\"prices,factor\"", "\"one,other\"", "\"name,all\"", "\"what,given\""],
        "{}",
        stack.text
    );
    assert!(main.contains("top"), "{main}");
    session.finish().await;
}

const CAUGHT: &str = "\
<?php
class Db {
    public function transaction(callable $work): mixed {
        $result = $work($this);
        return $result;
    }
}
function walk(array $all): void {
    try {
        array_walk($all, function ($one) { if ($one > 1) throw new OutOfRangeException(\"at $one\"); });
    } catch (OutOfRangeException) {
        echo \"walked\\n\";
    }
    try {
        array_map(fn ($one) => throw new DomainException(\"at $one\"), $all);
    } catch (DomainException) {
        echo \"mapped\\n\";
    }
}
try {
    (new Db())->transaction(function (Db $db): void {
        throw new RuntimeException('deadlock');
    });
} catch (RuntimeException $error) {
    echo \"rolled back\\n\";
}
walk([1, 2]);
$fiber = new Fiber(function (): void {
    Fiber::suspend(1);
    throw new RangeException('fiber');
});
$fiber->start();
try {
    $fiber->resume();
} catch (RangeException $error) {
    echo \"resumed\\n\";
}
function fails() { throw new LogicException('first'); }
try { fails(); } catch (LogicException $error) { throw new LogicException('again'); } // @again
";

/// A closure that begins where it is passed on is around that line, too; a fiber has only its own frames.
#[tokio::test]
async fn what_catches_an_exception_is_known_for_closures_fibers_and_blocks_on_one_line() {
    let (_folder, program) = written("main.php", CAUGHT);
    let session = Debugging::of(Language::Php).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "uncaught" })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("again")), "{}", stopped.text);
    assert!(stopped.text.contains("again"), "{}", stopped.text);
    let written = session.written("stdout").await;
    assert_eq!(written, "rolled back\nwalked\nmapped\nresumed\n", "{}", stopped.text);
    session.finish().await;
}

const GIVEN: &str = "\
<?php
final class Pages
{
    public static function all(): Generator
    {
        try {
            yield 1;
        } catch (LengthException $error) {
            echo \"caught\n\";
            yield 2;
        }
        throw new RangeException('ended');
    }
}
$pages = Pages::all();
$pages->current();
$pages->throw(new LengthException('given'));
try {
    $pages->throw(new RuntimeException('passed on'));
} catch (RuntimeException $error) {
    echo \"passed on\n\";
}
$pages = Pages::all();
$pages->current();
$pages->throw(new DomainException('uncaught')); // @uncaught
";

#[tokio::test]
async fn a_generator_catches_what_it_is_given_to_throw() {
    let (_folder, program) = written("main.php", GIVEN);
    let session = Debugging::of(Language::Php).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "uncaught" })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("uncaught")), "{}", stopped.text);
    assert_eq!(session.written("stdout").await, "caught\npassed on\n", "{}", stopped.text);
    session.finish().await;
}

const LEFT: &str = "\
<?php
function rows(): void {
    Fiber::suspend(1);
    throw new RangeException('rows'); // @throws
}
$fiber = new Fiber('rows');
try {
    $fiber->start();
} catch (RangeException $error) {
}
$fiber->resume();
";

#[tokio::test]
async fn what_has_started_a_fiber_does_not_catch_its_later_exceptions() {
    let (_folder, program) = written("main.php", LEFT);
    let session = Debugging::of(Language::Php).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    assert_eq!(stopped.place(), (program.path(), program.line("throws")), "{}", stopped.text);
    session.finish().await;
}

const DIVIDES: &str = "\
<?php
function divide(int $by): int {
    return 5 % $by;
}
function all(array $numbers): array {
    return array_map(fn ($number) => divide($number), $numbers); // @map
}
all([0]); // @call
";

/// In PHP's notation, a line has a function and the place where it was called.
#[tokio::test]
async fn the_stack_of_an_exception_says_where_each_function_was_called() {
    let (_folder, program) = written("main.php", DIVIDES);
    let session = Debugging::of(Language::Php).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    let calls = [("map", "divide"), ("map", "{closure}"), ("map", "array_map"), ("call", "all")];
    let lines = calls.iter().enumerate().map(|(at, (called, function))| {
        format!("#{at} {}({}): {function}()", program.path(), program.line(called))
    });
    let stack: Vec<_> = lines.chain(["#4 {main}".to_owned()]).collect();
    assert_eq!(stopped.at("/exception/stack"), &json!(stack.join("\n")));
    session.finish().await;
}
