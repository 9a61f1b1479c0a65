//! `PHPUnit`: the first failure with its values.

use serde_json::{Value, json};
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::folder;

const CART: &str = "\
<?php
class Cart
{
    private array $items = [];

    public function add($name, $price)
    {
        $this->items[] = [$name, $price];
        return $this;
    }

    public function items()
    {
        return $this->items;
    }

    public function total()
    {
        $total = 0;
        foreach ($this->items as [$name, $price]) {
            $total += (int) $price;
        }
        return $total;
    }
}
";
const TEST: &str = "\
<?php
use PHPUnit\\Framework\\TestCase;

require_once __DIR__ . '/Cart.php';

class CartTest extends TestCase
{
    private $owner = 'Ann';

    public function testIsEmptyAtFirst()
    {
        $this->assertEmpty((new Cart())->items());
    }

    public function testIsMade()
    {
        new Cart();
    }

    public function testAdds()
    {
        $cart = (new Cart())->add('pen', 1.5)->add('ink', 2.5);
        $this->assertEquals(4.0, $cart->total()); // @fails
    }
}
";

fn cart() -> (tempfile::TempDir, Fixture) {
    let folder = folder();
    Fixture::write(folder.path(), "Cart.php", CART);
    let tests = Fixture::write(folder.path(), "CartTest.php", TEST);
    (folder, tests)
}

#[tokio::test]
async fn a_failed_assertion_is_shown_with_its_sides_and_locals() {
    let (folder, tests) = cart();
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "phpunit CartTest.php", "cwd": folder.path(), "timeout": 60_000 });
    let tested = server.ok("debug_test", asked).await;
    assert_eq!(
        (&tested["verdict"], &tested["runner"]),
        (&json!("failed"), &json!("phpunit")),
        "{}",
        tested.text
    );
    let failure = &tested["failure"];
    assert_eq!(failure["test"], "CartTest::testAdds", "{}", tested.text);
    assert_eq!((&failure["file"], &failure["line"]), (&json!(tests.path()), &json!(tests.line("fails"))));
    let sides = [&failure["assertion"]["left"], &failure["assertion"]["right"]].map(Value::to_string);
    assert!(sides[0].contains('3') && sides[1].contains("4.0"), "{}", tested.text);
    let locals = failure["frames"][0]["locals"].to_string();
    assert!(locals.contains("[\\\"pen\\\", 1.5]"), "{}", tested.text);
    assert!(locals.contains("CartTest {owner: "), "what the test itself declares comes first: {locals}");
    server.finish().await;
}

#[tokio::test]
async fn assertions_have_their_sides_and_operators_and_what_fails_after_a_test_its_line() {
    let folder = folder();
    let test = "<?php\nuse PHPUnit\\Framework\\TestCase;\n\nclass SidesTest extends TestCase\n{\n    \
                public function testContains() { $this->assertContains(4, [1, 2]); }\n    \
                public function testGreater() { $this->assertGreaterThan(5, 3); }\n    \
                public function testEquals() { $this->assertEquals([1], [2]); }\n    \
                public function testSame() { $this->assertSame([new Error()], [new Error()]); }\n    \
                public function testThrows() // @throws\n    {\n        $this->expectException(Error::class);\n    }\n    \
                public function testCalls() // @calls\n    {\n        $mock = $this->createMock(Countable::class);\n        \
                $mock->expects($this->once())->method('count');\n    }\n    \
                public function testCallsTwice()\n    {\n        $mock = $this->createMock(Countable::class);\n        \
                $mock->expects($this->once())->method('count');\n        $mock->count();\n        \
                $mock->count(); // @twice\n    }\n}\n";
    let sides = Fixture::write(folder.path(), "SidesTest.php", test);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "phpunit SidesTest.php", "cwd": folder.path(), "failures": 4 });
    let tested = server.ok("debug_test", asked).await;
    let failures = std::iter::once(&tested["failure"]).chain(tested["moreFailures"].as_array().unwrap());
    let assertions: Vec<[&str; 3]> = failures
        .map(|failure| {
            ["/left/value", "/operator", "/right/value"]
                .map(|part| failure["assertion"].pointer(part).and_then(Value::as_str).unwrap_or_default())
        })
        .collect();
    let same = assertions.get(3).copied().unwrap_or_default();
    let expected = [["[1, 2]", "contains", "4"], ["3", ">", "5"], ["[2]", "==", "[1]"], same];
    assert_eq!(assertions, expected, "{}", tested.text);
    assert_eq!((same[1], same[0]), ("===", same[2]), "{}", tested.text);
    assert!(tested.text.contains("both sides look the same"), "{}", tested.text);
    let others: Vec<&Value> =
        tested["otherFailures"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert_eq!(
        others,
        ["throws", "calls", "twice"].map(|marker| json!(sides.line(marker))).each_ref(),
        "{}",
        tested.text
    );
    server.finish().await;
}

#[tokio::test]
async fn tests_that_pass_are_counted() {
    let (folder, _) = cart();
    let server = STILLFRAME.serve().await;
    let command = "phpunit --filter Is CartTest.php";
    let asked = json!({ "command": command, "cwd": folder.path(), "timeout": 60_000 });
    let tested = server.ok("debug_test", asked).await;
    // One of them is risky: it asserts nothing.
    assert_eq!(
        (&tested["verdict"], tested.at("/tests/passed")),
        (&json!("passed"), &json!(2)),
        "{}",
        tested.text
    );
    server.finish().await;
}
