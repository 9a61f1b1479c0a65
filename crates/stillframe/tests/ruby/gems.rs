//! Gems, which `RubyGems` finds after a `LoadError` of its own.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder, written};

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
async fn a_stop_at_a_missing_gem_is_only_for_one_that_no_code_expects() {
    let (_folder, program) = written("gems.rb", PROGRAM);
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

const STATEMENTS: &str = "\
def twice(number)
  result = 2 * number
  debugger # @debugger
  result
end

puts twice(2)
binding.break # @break
";

/// A Rails application requires the prelude, which defines nothing where the native part of the gem is loaded.
#[tokio::test]
async fn the_statements_of_the_debug_gem_stop() {
    let folder = folder();
    for library in ["debug/prelude", "debug"] {
        let text = format!("require '{library}'\n{STATEMENTS}");
        let program = Fixture::write(folder.path(), "main.rb", &text);
        let session = Debugging::of(Language::Ruby).await;
        let stopped = session.start(&program).await;
        assert_eq!(
            (stopped.outcome(), stopped.place().1),
            ("debugger statement", program.line("debugger")),
            "{library}: {}",
            stopped.text
        );
        assert_eq!(stopped.variable("result"), "4");
        let stopped = session.go_on().await;
        assert_eq!(stopped.place().1, program.line("break"), "{library}: {}", stopped.text);
        session.run_to_the_end().await;
        assert_eq!(session.written("stdout").await, "4\n");
        session.finish().await;
    }
}

const PAGE: &str = "\
<ul>
<% names.each do |name| %>
  <li><%= name.upcase %></li> <%# @item %>
<% end %>
</ul>
";
const RENDERS: &str = "\
require 'erb'
page = ERB.new(File.read(ARGV[0]))
page.filename = ARGV[0]
names = %w[Ann Bob]
page.result(binding)
";

#[tokio::test]
async fn a_breakpoint_in_a_template_stops() {
    let (folder, page) = written("page.erb", PAGE);
    let program = Fixture::write(folder.path(), "renders.rb", RENDERS);
    let session = Debugging::of(Language::Ruby).await;
    session.break_with(&page, "item", json!({ "condition": "name == 'Bob'" })).await;
    let arguments = json!({ "scriptPath": program.path(), "args": [page.path()] });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!(stopped.place(), (page.path(), page.line("item")), "{}", stopped.text);
    assert_eq!(stopped.variable("name"), "\"Bob\"");
    session.finish_at_end().await;
}
