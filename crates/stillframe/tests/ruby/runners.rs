//! `RSpec` and minitest: the first failure with its values.

use std::path::Path;

use serde_json::{Value, json};
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::folder;

const CART: &str = "\
class Cart
  attr_reader :items

  def initialize
    @items = []
  end

  def add(name, price)
    @items << [name, price]
    self
  end

  def total
    @items.sum { |_, price| price.to_i }
  end
end
";
const SPEC: &str = "\
require_relative 'cart'

describe Cart do
  it 'is empty at first' do
    expect(Cart.new.items).to be_empty
  end

  it 'adds' do
    cart = Cart.new.add('pen', 1.5).add('ink', 2.5)
    expect(cart.total).to eq(4.0) # @fails
  end
end
";
const TEST: &str = "\
require 'minitest/autorun'
require_relative 'cart'

class CartTest < Minitest::Test
  def test_is_empty_at_first
    assert_empty Cart.new.items
  end

  def test_adds
    cart = Cart.new.add('pen', 1.5).add('ink', 2.5)
    assert_equal 4.0, cart.total # @fails
  end
end
";

/// Runs a command that fails in a file, and checks the sides and the locals of the failure.
async fn fails(folder: &Path, tests: &Fixture, command: Value, name: &str) {
    let server = STILLFRAME.serve().await;
    let tested =
        server.ok("debug_test", json!({ "command": command, "cwd": folder, "timeout": 60_000 })).await;
    assert_eq!(tested["verdict"], "failed", "{}", tested.text);
    let failure = &tested["failure"];
    assert!(failure["test"].as_str().unwrap().contains(name), "{}", tested.text);
    assert_eq!(
        (&failure["file"], &failure["line"]),
        (&json!(tests.path()), &json!(tests.line("fails"))),
        "{}",
        tested.text
    );
    let sides = [&failure["assertion"]["left"], &failure["assertion"]["right"]].map(Value::to_string);
    assert!(sides[0].contains('3') && sides[1].contains("4.0"), "{}", tested.text);
    let locals = failure["frames"][0]["locals"].to_string();
    assert!(locals.contains("[\\\"pen\\\", 1.5]"), "{}", tested.text);
    server.finish().await;
}

fn cart() -> tempfile::TempDir {
    let folder = folder();
    Fixture::write(folder.path(), "cart.rb", CART);
    folder
}

#[tokio::test]
async fn a_failing_rspec_example_is_reported() {
    let folder = cart();
    let tests = Fixture::write(folder.path(), "cart_spec.rb", SPEC);
    fails(folder.path(), &tests, json!("rspec cart_spec.rb"), "cart_spec.rb[1:2] Cart adds").await;
}

#[tokio::test]
async fn a_failing_minitest_test_is_reported() {
    let folder = cart();
    let tests = Fixture::write(folder.path(), "cart_test.rb", TEST);
    fails(folder.path(), &tests, json!("ruby cart_test.rb"), "test_adds").await;
}

/// Bundler keeps gems that are not in the bundle off the load path.
#[tokio::test]
async fn a_bundle_needs_no_debugger() {
    let folder = cart();
    Fixture::write(folder.path(), "Gemfile", "source 'https://rubygems.org'\ngem 'minitest'\n");
    let tests = Fixture::write(folder.path(), "cart_test.rb", TEST);
    fails(folder.path(), &tests, json!("bundle exec ruby cart_test.rb"), "test_adds").await;
}

/// A failed assertion of test-unit is not an exception of its results.
#[tokio::test]
async fn a_failing_test_of_test_unit_is_reported() {
    let folder = cart();
    let test = TEST
        .replace("minitest/autorun", "test/unit")
        .replace("Minitest::Test", "Test::Unit::TestCase")
        .replace("  def test_adds", "  def test_later\n    omit 'not yet'\n  end\n\n  def test_adds");
    let tests = Fixture::write(folder.path(), "cart_test.rb", &test);
    fails(folder.path(), &tests, json!("ruby cart_test.rb"), "CartTest#test_adds").await;
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "ruby cart_test.rb", "cwd": folder.path(), "timeout": 60_000 });
    let tested = server.ok("debug_test", asked).await;
    let counts = ["passed", "failed", "skipped"].map(|outcome| tested["tests"][outcome].clone());
    assert_eq!(counts, [json!(1), json!(1), json!(1)], "{}", tested.text);
    server.finish().await;
}

#[tokio::test]
async fn what_an_assertion_compares_is_shown_between_its_sides() {
    const MINITEST: [&str; 2] = ["minitest/autorun", "Minitest::Test"];
    const TEST_UNIT: [&str; 2] = ["test/unit", "Test::Unit::TestCase"];
    for ([library, parent], assertion, sides) in [
        (MINITEST, "assert_operator 3, :<, 2", ["3", "<", "2"]),
        (MINITEST, "assert_raises(KeyError) { 1 + 1 }", ["nil", "raises", "KeyError"]),
        (MINITEST, "assert_raises(KeyError) { fail 'x' }", ["#<RuntimeError: x>", "raises", "KeyError"]),
        (TEST_UNIT, "assert_raise(KeyError) { fail 'x' }", ["#<RuntimeError: x>", "raises", "KeyError"]),
    ] {
        let folder = folder();
        let test = format!(
            "require '{library}'\n\nclass CartTest < {parent}\n  def test_order\n    {assertion}\n  end\nend\n"
        );
        Fixture::write(folder.path(), "cart_test.rb", &test);
        let server = STILLFRAME.serve().await;
        let asked = json!({ "command": "ruby cart_test.rb", "cwd": folder.path(), "timeout": 60_000 });
        let tested = server.ok("debug_test", asked).await;
        let parts = ["/left/value", "/operator", "/right/value"]
            .map(|part| tested.at(&format!("/failure/assertion{part}")).clone());
        assert_eq!(parts, sides.map(|side| json!(side)), "{assertion}: {}", tested.text);
        server.finish().await;
    }
}

#[tokio::test]
async fn tests_in_a_rake_child_process_are_reported() {
    let folder = cart();
    let tests = Fixture::write(folder.path(), "cart_test.rb", TEST);
    Fixture::write(folder.path(), "Rakefile", "task(:test) { ruby 'cart_test.rb' }\n");
    fails(folder.path(), &tests, json!("rake test"), "test_adds").await;
}

#[tokio::test]
async fn passing_examples_are_reported() {
    let folder = cart();
    Fixture::write(folder.path(), "cart_spec.rb", SPEC);
    let server = STILLFRAME.serve().await;
    let arguments =
        json!({ "command": "rspec cart_spec.rb -e empty", "cwd": folder.path(), "timeout": 60_000 });
    let tested = server.ok("debug_test", arguments).await;
    assert_eq!(tested["verdict"], "passed", "{}", tested.text);
    server.finish().await;
}

/// `RSpec` collects the failures of such an example, and throws none of them.
#[tokio::test]
async fn failures_that_rspec_aggregates_are_reported_with_their_line() {
    let folder = cart();
    let spec = "require_relative 'cart'\n\ndescribe Cart do\n  it 'adds', :aggregate_failures do\n    \
                expect(Cart.new.total).to eq(1) # @first\n    expect(Cart.new.items).to eq([2])\n  end\nend\n";
    let spec = Fixture::write(folder.path(), "cart_spec.rb", spec);
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "command": "rspec cart_spec.rb", "cwd": folder.path(), "timeout": 60_000 });
    let tested = server.ok("debug_test", arguments).await;
    let failure = &tested["failure"];
    let place = (&failure["file"], &failure["line"]);
    assert_eq!(place, (&json!(spec.path()), &json!(spec.line("first"))), "{}", tested.text);
    let message = failure["message"].as_str().expect("a message");
    assert!(message.starts_with("2 failures:\n"), "{message}");
    assert!(message.contains("expected: 1") && message.contains("expected: [2]"), "{message}");
    server.finish().await;
}

/// A matcher of a block compares what the block has done.
#[tokio::test]
async fn a_block_is_not_a_side_of_an_expectation_nor_is_a_missing_operand() {
    let folder = cart();
    let head =
        "require_relative 'cart'\n\ndescribe Cart do\n  let(:cart) { Cart.new }\n\n  it 'adds' do\n    ";
    for (expectation, sides) in [
        ("expect { cart.add(1, 2) }.to change(cart, :total).by(3)", [json!("2"), json!("3")]),
        ("expect { cart.add(1, 2) }.to change { cart.total }.from(1).to(3)", [json!("0"), json!("1")]),
        ("expect { cart.add(1, 2) }.to raise_error(KeyError)", [json!("nil"), json!("KeyError")]),
        (
            "expect { Integer('x') }.to raise_error(ArgumentError, /empty/)",
            [json!("#<ArgumentError: invalid value for Integer(): \"x\">"), json!("/empty/")],
        ),
        ("expect(cart.items.first).to be_truthy", [json!("nil"), Value::Null]),
        ("expect(cart.total).to eq(nil)", [json!("0"), json!("nil")]),
        ("expect(cart.total).to be_between(1, 2).and be_even", [json!("0"), Value::Null]),
    ] {
        Fixture::write(folder.path(), "cart_spec.rb", &format!("{head}{expectation}\n  end\nend\n"));
        let server = STILLFRAME.serve().await;
        let arguments = json!({ "command": "rspec cart_spec.rb", "cwd": folder.path(), "timeout": 60_000 });
        let tested = server.ok("debug_test", arguments).await;
        assert_eq!(tested["verdict"], "failed", "{}", tested.text);
        let assertion = &tested["failure"]["assertion"];
        assert_eq!(
            [&assertion["left"]["value"], &assertion["right"]["value"]],
            [&sides[0], &sides[1]],
            "{}",
            tested.text
        );
        server.finish().await;
    }
}
