//! Gradle: its script asks for Java's version first, and tests run in a JVM that another one starts.

use serde_json::json;
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::folder;

const BUILD: &str = "\
apply plugin: 'java'
repositories { mavenCentral() }
dependencies { testCompile 'junit:junit:4.13.2' }
";

const CART: &str = "\
package shop;

import java.util.ArrayList;
import java.util.List;

class Cart {
    private final List<Integer> prices = new ArrayList<>();

    void add(int price) {
        prices.add(price);
    }

    int total() {
        int sum = 0;
        for (int i = 1; i < prices.size(); i++) {
            sum += prices.get(i);
        }
        return sum;
    }
}
";

const TEST: &str = "\
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CartTest {
    @Test
    public void emptyIsFree() {
        assertEquals(0, new Cart().total());
    }

    @Test
    public void addsPrices() {
        Cart cart = new Cart();
        cart.add(3);
        cart.add(4);
        assertEquals(\"total\", 7, cart.total()); // @fails
    }
}
";

#[tokio::test]
#[ignore = "gradle is installed by `.ci/run --full`"]
async fn a_failing_test_has_the_values_at_the_throw() {
    let folder = folder();
    for package in ["src/main/java/shop", "src/test/java/shop"] {
        std::fs::create_dir_all(folder.path().join(package)).unwrap();
    }
    Fixture::write(folder.path(), "build.gradle", BUILD);
    Fixture::write(folder.path(), "src/main/java/shop/Cart.java", CART);
    let test = Fixture::write(folder.path(), "src/test/java/shop/CartTest.java", TEST);
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "command": "gradle test", "cwd": folder.path(), "timeout": 240_000,
        "env": { "GRADLE_USER_HOME": format!("{}/gradle", STILLFRAME.scratch) },
    });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(
        (&answer["verdict"], &answer["tests"]["failed"]),
        (&json!("failed"), &json!(1)),
        "{}",
        answer.text
    );
    let failure = &answer["failure"];
    assert_eq!(failure["test"], "shop.CartTest#addsPrices", "{}", answer.text);
    assert_eq!(failure["line"], json!(test.line("fails")), "{}", answer.text);
    assert!(answer.text.contains("Cart{prices=[3, 4]}"), "{}", answer.text);
    server.finish().await;
}
