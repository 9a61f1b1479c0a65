//! Breakpoints on methods that are not defined by `def` under their name.

use serde_json::json;
use test_support::Language;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, written};

const HOST: &str = "\
module Timed
  def timed(name)
    original = instance_method(name)
    define_method(name) { |*all| original.bind_call(self, *all) }
  end
end

class Host
  extend Timed

  def run(count)
    count * 2 # @run
  end
  timed :run

  def old_name(count)
    count + 1 # @old_name
  end
  alias_method :new_name, :old_name

  define_method(:made) do |count|
    count - 1 # @made
  end
end

host = Host.new
host.run(1)
host.old_name(2)
host.new_name(3)
host.made(4)
";

#[tokio::test]
async fn a_method_is_found_however_it_was_defined() {
    let (_folder, program) = written("host.rb", HOST);
    for (function, line, count) in [
        ("run", "run", "1"),
        ("Host#run", "run", "1"),
        ("new_name", "old_name", "3"),
        ("Host#new_name", "old_name", "3"),
        ("made", "made", "4"),
        ("Host#made", "made", "4"),
    ] {
        let session = Debugging::of(Language::Ruby).await;
        session.ok("set_breakpoint", json!({ "function": function })).await;
        let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
        assert_eq!(stopped.place(), (program.path(), program.line(line)), "{function}: {}", stopped.text);
        assert_eq!(stopped.variable("count"), count, "{function}: {}", stopped.text);
        let ended = session.go_on().await;
        assert_eq!(ended.outcome(), "ended", "{function}: {}", ended.text);
        session.finish().await;
    }
}

const SHOPS: &str = "\
module Deep
  class Shop
    def total(count)
      count + 1 # @deep
    end

    def price(count)
      count * 3 # @deep_price
    end
  end
end

class Shop
  def total(count)
    count + 2 # @total
  end

  define_method(:price) do |count|
    count * 2 # @price
  end
end

Deep::Shop.new.total(1)
Deep::Shop.new.price(2)
Shop.new.total(3)
Shop.new.price(4)
";

#[tokio::test]
async fn a_class_is_not_another_one_whose_name_ends_alike() {
    stops_at("Shop#total", &["total"]).await;
    stops_at("Shop#price", &["price"]).await;
    stops_at("Deep::Shop#total", &["deep"]).await;
}

#[tokio::test]
async fn a_name_alone_finds_methods_of_each_kind_of_definition() {
    stops_at("price", &["deep_price", "price"]).await;
}

/// Where a breakpoint on a function stops, up to the end of the program.
async fn stops_at(function: &str, marks: &[&str]) {
    let (_folder, program) = written("shops.rb", SHOPS);
    let session = Debugging::of(Language::Ruby).await;
    session.ok("set_breakpoint", json!({ "function": function })).await;
    let mut report = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    for mark in marks {
        assert_eq!(report.place(), (program.path(), program.line(mark)), "{function}: {}", report.text);
        report = session.go_on().await;
    }
    assert_eq!(report.outcome(), "ended", "{function}: {}", report.text);
    session.finish().await;
}

#[tokio::test]
async fn a_method_of_a_file_is_found_however_it_is_defined() {
    let (_folder, program) = written("host.rb", HOST);
    let server = STILLFRAME.serve().await;
    for (function, line) in [("made", "made"), ("Host#new_name", "old_name")] {
        let until = json!([{ "file": program.path(), "function": function }]);
        let asked = json!({ "program": program.path(), "until": until, "close": true });
        let stopped = server.ok("run_until", asked).await;
        assert_eq!(stopped.at("/location/line"), program.line(line), "{function}: {}", stopped.text);
    }
    server.finish().await;
}
