//! Names that a file imports, in expressions and conditions.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder};

const MODEL: &str = "\
<?php
namespace Shop\\Model;

interface Priced {}

class Item implements Priced
{
    const MOST = 10;
    public static int $made = 0;
    public function __construct(public int $price) { self::$made++; }
}

enum Tier: string
{
    case Basic = 'basic';
    case Gold = 'gold';
}

function twice(int $n): int { return 2 * $n; }
";
const PROGRAM: &str = "\
<?php
namespace Shop;

require __DIR__ . '/model.php';

use Countable;
use Shop\\Model\\{Item, Priced};
use Shop\\Model\\Tier as Level;
use function Shop\\Model\\twice;

class Order implements Countable
{
    public function __construct(private array $items, private Level $level) {}
    public function count(): int { return \\count($this->items); }
    public function total(): int
    {
        $last = \\end($this->items);
        return \\array_sum(\\array_map(fn (Item $one) => $one->price, $this->items)); // @total
    }
}

foreach ([Level::Basic, Level::Gold] as $level) {
    echo (new Order([new Item(1), new Item(2)], $level))->total(), \"\\n\"; // @outside
}
";

#[tokio::test]
async fn names_mean_what_the_file_of_the_frame_imports() {
    let folder = folder();
    Fixture::write(folder.path(), "model.php", MODEL);
    let program = Fixture::write(folder.path(), "main.php", PROGRAM);
    let session = Debugging::of(Language::Php).await;
    let condition = "$last instanceof Priced && $this->level === Level::Gold";
    let asked = json!({ "file": program.path(), "line": program.line("total"), "condition": condition });
    session.ok("set_breakpoint", asked).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("total")), "{}", stopped.text);
    for (expression, expected) in [
        ("$this->level === Level::Gold", "true"),
        ("$last instanceof Item", "true"),
        ("$this instanceof Countable", "true"),
        ("Item::MOST + Item::$made", "14"),
        ("new Item(7)", "Shop\\Model\\Item {price: 7}"),
        ("twice(4)", "8"),
        ("array_map(fn (Item $one) => $one->price, $this->items)", "[1, 2]"),
        ("Order::class", "\"Shop\\\\Order\""),
        // As types are shown, without the first `\`.
        ("$last instanceof Shop\\Model\\Item && Shop\\Model\\twice(1) === 2", "true"),
    ] {
        assert_eq!(session.evaluate(expression).await, expected, "{expression}");
    }
    let pure = json!({ "expression": "'a' . (1 + 2)", "sideEffects": false });
    assert_eq!(session.ok("evaluate_expression", pure).await.text_of("result"), "\"a3\"");
    let ended = session.ok("continue_execution", json!({})).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}
