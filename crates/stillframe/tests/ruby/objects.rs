//! Objects whose classes redefine what we read them by, expressions that would leave their frame, and steps onto lines
//! with conditional breakpoints.

use serde_json::json;
use test_support::Language;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, written};

const PROGRAM: &str = "\
Team = Struct.new(:name, :members)
class Loud < Array
  def size = raise('no size')
end
class Word < String
  def length = -1
end

def risky(n)
  raise KeyError, 'no' if n == 2 # @risky
  n
end

team = Team.new('core', ['ann'])
loud = Loud.new([1, 2])
word = Word.new('abc')
count = 3 # @count
count += 1 # @again
count += risky(0) # @call
begin
  risky(2) # @second
rescue KeyError
  count = 0 # @rescued
end
puts count # @end
";

#[tokio::test]
async fn values_are_read_whatever_their_classes_redefine() {
    let (_folder, program) = written("objects.rb", PROGRAM);
    let server = STILLFRAME.serve().await;
    let until = json!({ "program": program.path(), "until": [{ "line": program.line("again") }] });
    let stop = server.ok("run_until", until).await;
    assert_eq!(stop.variable("team"), "#<struct Team name=\"core\", members=[\"ann\"]>", "{}", stop.text);
    assert_eq!((stop.variable("loud"), stop.variable("word")), ("[1, 2]", "\"abc\""), "{}", stop.text);
    let id = stop["sessionId"].clone();
    for expression in ["return 5", "throw :halt, 7"] {
        let asked = json!({ "sessionId": id, "expression": expression });
        let answer = server.call("evaluate_expression", asked).await;
        assert_ne!(answer["success"], true, "{expression}: {}", answer.text);
    }
    let value = server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "count" })).await;
    assert_eq!(value["result"], "3", "the program has not moved: {}", value.text);
    server.finish().await;
}

const BRIEF: &str = "\
def twice(n) = n * 2 # @twice
def thrice(n); n * 3; end # @thrice
puts 1 # @before
puts twice(4)
puts thrice(5)
";

#[tokio::test]
async fn a_line_with_a_whole_method_stops_in_each_call() {
    let (_folder, program) = written("brief.rb", BRIEF);
    let (session, _) = Debugging::stopped_at(&program, "before").await;
    for (method, argument) in [("twice", "4"), ("thrice", "5")] {
        let set = session.break_at(&program, method).await;
        assert!(set.text.contains("has its body: it stops at the definition, too"), "{}", set.text);
        let stop = session.go_on().await;
        assert_eq!(stop.place(), (program.path(), program.line(method)), "{}", stop.text);
        assert_eq!(stop.variable("n"), argument, "{}", stop.text);
    }
    let ended = session.go_on().await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_step_stops_on_a_line_whose_breakpoint_does_not_hold() {
    let (_folder, program) = written("objects.rb", PROGRAM);
    let session = Debugging::of(Language::Ruby).await;
    session.break_at(&program, "count").await;
    let again = json!({ "file": program.path(), "line": program.line("again"), "condition": "count == 9" });
    session.ok("set_breakpoint", again).await;
    session.break_at(&program, "rescued").await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("count")), "{}", stopped.text);
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place(), (program.path(), program.line("again")), "{}", stepped.text);
    // A condition that raises stops nothing, and ends no step.
    let bad = json!({ "file": program.path(), "line": program.line("risky"), "condition": "nope == 1" });
    session.ok("set_breakpoint", bad).await;
    assert_eq!(session.step("step_over").await.place().1, program.line("call"));
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place(), (program.path(), program.line("second")), "{}", stepped.text);
    session.ok("set_breakpoint", json!({ "file": program.path(), "line": program.line("risky") })).await;
    let raising = session.go_on().await;
    assert_eq!(raising.place(), (program.path(), program.line("risky")), "{}", raising.text);
    // What an exception leaves has returned nothing.
    let out = session.step("step_out").await;
    assert!(!out.text.contains("(return)"), "{}", out.text);
    session.finish().await;
}
