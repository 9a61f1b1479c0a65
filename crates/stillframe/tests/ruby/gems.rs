//! Gems, which `RubyGems` finds after a `LoadError` of its own.

use serde_json::json;
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::folder;

const PROGRAM: &str = "\
require 'rspec/expectations'

def version
  RSpec::Expectations::Version::STRING # @reached
end

begin
  require 'no_such_gem'
rescue LoadError
  version
end
require 'nor_this_one' # @missing
";

#[tokio::test]
async fn a_stop_at_a_missing_gem_is_for_one_that_nobody_expects() {
    let folder = folder();
    let program = Fixture::write(folder.path(), "gems.rb", PROGRAM);
    let server = STILLFRAME.serve().await;
    let until = json!({ "program": program.path(), "until": [{ "line": program.line("reached") }] });
    let stop = server.ok("run_until", until).await;
    assert_eq!(
        (&stop["reason"], &stop["location"]["line"]),
        (&json!("breakpoint"), &json!(program.line("reached"))),
        "{}",
        stop.text
    );
    let stop = server.ok("run_until", json!({ "program": program.path(), "until": [] })).await;
    assert_eq!(stop["exception"]["message"], "cannot load such file -- nor_this_one", "{}", stop.text);
    assert_eq!(
        (&stop["reason"], &stop["location"]["line"]),
        (&json!("exception"), &json!(program.line("missing"))),
        "{}",
        stop.text
    );
    server.finish().await;
}
