//! Functions on one line, statements without braces, and classes without a name.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder, written};

const CART: &str = "\
<?php
namespace Shop;

trait Named
{
    public function title() { return 'cart'; } // @title
}

class Cart
{
    use Named;

    private $items = [1, 2];

    public function count(): int { return count($this->items); } // @count
}

function counter() {
    return new class {
        public function __invoke() {
            return 1; // @invoke
        }
    };
}

function double(int $n): int { return 2 * $n; } // @double
";
const PROGRAM: &str = "\
<?php
require __DIR__ . '/cart.php';
$pair = new class(5) {
    public function __construct(private int $one) {}
};
$named = new ArrayIterator(['x' => 1]);
$weak = new WeakMap();
$weak[$pair] = 5;
$steps = (function () { yield 1; })(); // @steps
$link = WeakReference::create($pair);
$zone = new DateTimeZone('Europe/Paris');
echo Shop\\double((new Shop\\Cart())->count()), \"\\n\";
echo (new Shop\\Cart())->title(), Shop\\counter()(), \"\\n\";
";

#[tokio::test]
async fn a_declaration_without_a_body_is_no_place() {
    let text = "\
<?php
interface Shape { public function area(): int; }
abstract class Named implements Shape { abstract protected function name(): string; }
class Square extends Named
{
    protected function name(): string { return 'square'; }
    public function area(): int
    {
        return 4; // @area
    }
}
echo (new Square())->area();
";
    let (_folder, program) = written("main.php", text);
    let session = Debugging::of(Language::Php).await;
    session.ok("set_breakpoint", json!({ "file": program.path(), "function": "area" })).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("area")), "{}", stopped.text);
    session.finish().await;
}

/// Its file is loaded when the program runs already, and has a namespace.
#[tokio::test]
async fn a_function_on_one_line_stops_where_it_is_called() {
    let (folder, cart) = written("cart.php", CART);
    let program = Fixture::write(folder.path(), "main.php", PROGRAM);
    let session = Debugging::of(Language::Php).await;
    let until = json!([
        // As a stack names it.
        { "file": cart.path(), "function": "Shop\\Cart->count" },
        { "file": cart.path(), "function": "double" },
    ]);
    let stopped = session.server.ok("run_until", json!({ "program": program.path(), "until": until })).await;
    assert_eq!(stopped.place(), (cart.path(), cart.line("count")), "{}", stopped.text);
    let arguments = json!({ "sessionId": stopped["sessionId"], "until": [{ "file": cart.path(), "function": "double" }] });
    let stopped = session.server.ok("run_until", arguments).await;
    assert_eq!(stopped.place(), (cart.path(), cart.line("double")), "{}", stopped.text);
    assert_eq!(stopped.variable("n"), "2");
    session.finish().await;
}

const BASKET: &str = "\
<?php
class Basket
{
    public array $items = [];

    public function add(string $name): int
    {
        $this->items[] = $name;
        return count($this->items); // @counts
    }
}
echo (new Basket())->add('pen'), \"\\n\"; // @outside
";

#[tokio::test]
async fn an_expression_may_name_the_object_without_its_sign() {
    let (_folder, program) = written("main.php", BASKET);
    let (session, _) = Debugging::stopped_at(&program, "counts").await;
    for (expression, expected) in [("this->items[0] . name", "\"penpen\""), ("count(this->items)", "1")] {
        assert_eq!(session.evaluate(expression).await, expected, "{expression}");
    }
    let pure = json!({ "expression": "this->items", "sideEffects": false });
    assert_eq!(session.ok("evaluate_expression", pure).await.text_of("result"), "[\"pen\"]");
    session.finish().await;
}

const BRACELESS: &str = "\
<?php
function price($count, $kind)
{
    foreach ([1, 2] as $one)
        $count += $one; // @foreach
    while ($count < 6)
        $count++; // @while
    if ($kind === null)
        throw new Exception('no kind');
    elseif ($count > 5)
        $kind .= '!'; // @elseif
    switch ($kind) {
        case Kind::PEN:
            return $count; // @case
    }
}
class Kind { const PEN = 'pen!'; }
echo price(2, 'pen');
";

#[tokio::test]
async fn a_statement_without_braces_stops_on_its_own_line() {
    let (_folder, program) = written("main.php", BRACELESS);
    let session = Debugging::of(Language::Php).await;
    let names = ["foreach", "foreach", "while", "elseif", "case"];
    for name in names.iter().skip(1) {
        session.break_at(&program, name).await;
    }
    let mut stopped = session.start(&program).await;
    for name in names {
        assert_eq!(stopped.place(), (program.path(), program.line(name)), "{name}: {}", stopped.text);
        stopped = session.go_on().await;
    }
    session.finish().await;
}

/// The name of its class has the character that separates the names of a class and of its property.
#[tokio::test]
async fn properties_of_a_class_without_a_name_have_theirs() {
    let (folder, cart) = written("cart.php", CART);
    let program = Fixture::write(folder.path(), "main.php", PROGRAM);
    let session = Debugging::of(Language::Php).await;
    let until = json!([{ "file": cart.path(), "function": "count" }]);
    let stopped = session.server.ok("run_until", json!({ "program": program.path(), "until": until })).await;
    let out = json!({ "sessionId": stopped["sessionId"] });
    let stopped = session.server.ok("step_out", out).await;
    assert_eq!(stopped.variable("pair"), "class@anonymous {one: 5}", "{}", stopped.text);
    assert_eq!(stopped.variable("named"), "ArrayIterator [\"x\" => 1]", "{}", stopped.text);
    assert_eq!(
        stopped.variable("weak"),
        "WeakMap [[\"key\" => class@anonymous {one: 5}, \"value\" => 5]]",
        "{}",
        stopped.text
    );
    let steps = format!("Generator({{closure}} at main.php:{})", program.line("steps"));
    assert_eq!(stopped.variable("steps"), steps, "{}", stopped.text);
    assert_eq!(stopped.variable("link"), "WeakReference [class@anonymous {one: 5}]", "{}", stopped.text);
    assert_eq!(stopped.variable("zone"), "DateTimeZone(Europe/Paris)", "{}", stopped.text);
    session.finish().await;
}

/// The names that the program itself uses are those with the namespace.
#[tokio::test]
async fn a_function_in_a_namespace_that_is_loaded_later_is_found_by_its_short_name() {
    let (folder, cart) = written("cart.php", CART);
    let program = Fixture::write(folder.path(), "main.php", PROGRAM);
    for (name, line) in [
        ("double", "double"),
        ("Cart.count", "count"),
        ("count", "count"),
        ("Shop\\Cart::count", "count"),
        // Xdebug knows these by the class that uses the trait, and by an address.
        ("title", "title"),
        ("Named::title", "title"),
        ("Cart.title", "title"),
        ("__invoke", "invoke"),
    ] {
        let session = Debugging::of(Language::Php).await;
        session.ok("set_breakpoint", json!({ "function": name })).await;
        let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
        assert_eq!(stopped.place(), (cart.path(), cart.line(line)), "{name}: {}", stopped.text);
        assert_eq!(session.breakpoints().await[0]["hits"], 1, "{name}");
        session.finish().await;
    }
}

const STOCK: &str = "\
<?php
abstract class Base implements ArrayAccess
{
    protected array $items = [];
    abstract public function name(): string;
    public function put(string $key): void
    {
        $this->items[] = $key; // @put
    }
    public function offsetExists(mixed $key): bool { return isset($this->items[$key]); }
    public function offsetGet(mixed $key): mixed { return $this->items[$key]; } // @get
    public function offsetSet(mixed $key, mixed $value): void { if ($key === null) { $this->put($value); } } // @set
    public function offsetUnset(mixed $key): void { unset($this->items[$key]); }
    public function lengths(): array { return array_map(fn ($item) => strlen($item), $this->items); } // @lengths
    public function save(
        string $name,
        // Xdebug looks for code
        // only a few lines
        // after the one
        // that is asked for.
        string $end = '.',
    ): void {
        $this->put($name . $end); // @base
    }
}
class Cart extends Base
{
    public function name(): string { return 'cart'; } // @name
    public function save(string $name, string $end = '.'): void
    {
        parent::save(strtoupper($name)); // @cart
    }
}
spl_autoload_register(function (string $class): void { require __DIR__ . \"/$class.php\"; });
$cart = new Cart();
$cart->put($cart->name());
$cart->save('pen');
foreach (['ink', 'cap'] as $item) { $cart[] = $item; }
echo $cart[0], count($cart->lengths()), \"\\n\";
(new Page())->save('page');
";
const PAGE: &str = "\
<?php
class Page
{
    public function save(string $name): void
    {
        echo $name, \"\\n\"; // @page
    }
}
";

/// Xdebug knows a call by the class of the object.
#[tokio::test]
async fn a_method_stops_whatever_the_class_of_its_object() {
    let (folder, page) = written("Page.php", PAGE);
    let program = Fixture::write(folder.path(), "main.php", STOCK);
    for (name, places) in [
        ("Base::put", &["put"; 4] as &[_]),
        ("put", &["put"; 4]),
        // Several statements are on its line.
        ("offsetSet", &["set", "set"]),
        ("Cart::save", &["cart"]),
        ("Base.save", &["base"]),
        ("save", &["cart", "base", "page"]),
        ("name", &["name"]),
        ("offsetGet", &["get"]),
        // A closure begins on its line.
        ("lengths", &["lengths"]),
    ] {
        let session = Debugging::of(Language::Php).await;
        session.ok("set_breakpoint", json!({ "function": name })).await;
        let mut stopped = session.start(&program).await;
        for place in places {
            let fixture = if *place == "page" { &page } else { &program };
            assert_eq!(stopped.place(), (fixture.path(), fixture.line(place)), "{name}: {}", stopped.text);
            stopped = session.go_on().await;
        }
        assert_eq!(stopped.outcome(), "ended", "{name}: {}", stopped.text);
        assert_eq!(session.breakpoints().await[0]["hits"], places.len(), "{name}");
        session.finish().await;
    }
}

#[tokio::test]
async fn a_method_of_a_class_that_is_loaded_later_stops_beside_one_that_is_loaded() {
    let (folder, page) = written("Page.php", PAGE);
    let program = Fixture::write(folder.path(), "main.php", STOCK);
    let (session, _) = Debugging::stopped_at(&program, "name").await;
    session.ok("set_breakpoint", json!({ "function": "save" })).await;
    for (fixture, name) in [(&program, "cart"), (&program, "base"), (&page, "page")] {
        let stopped = session.go_on().await;
        assert_eq!(stopped.place(), (fixture.path(), fixture.line(name)), "{}", stopped.text);
    }
    session.finish().await;
}

/// Xdebug refuses a second breakpoint on a line, and on a function.
#[tokio::test]
async fn breakpoints_that_mean_the_same_function_are_all_hit() {
    let folder = folder();
    Fixture::write(folder.path(), "Page.php", PAGE);
    let program = Fixture::write(folder.path(), "main.php", STOCK);
    let session = Debugging::of(Language::Php).await;
    session.break_with(&program, "put", json!({ "condition": "$key === 'PEN.'" })).await;
    session.ok("set_breakpoint", json!({ "function": "put" })).await;
    session.ok("set_breakpoint", json!({ "function": "Base::put" })).await;
    session.ok("set_breakpoint", json!({ "function": "Base.put", "condition": "$key === 'PEN.'" })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("put")), "{}", stopped.text);
    assert_eq!(stopped.variable("key"), "\"cart\"", "{}", stopped.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped.variable("key"), "\"PEN.\"", "{}", stopped.text);
    let hits: Vec<_> = session.breakpoints().await.iter().map(|one| one["hits"].clone()).collect();
    assert_eq!(hits, [1, 2, 2, 1]);
    session.finish().await;
}
