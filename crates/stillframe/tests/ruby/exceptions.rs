//! Which exceptions are uncaught.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report, written};

/// A thread ends with what nothing in it catches, and the program goes on.
const PROGRAM: &str = "\
Thread.report_on_exception = false

def apart(&block)
  Thread.new(&block).join
rescue KeyError
  nil
end

def risky
  raise KeyError, 'no' # @risky
end

number = Integer('q') rescue 5
number = (Integer('q') rescue Integer('z')) rescue 6
begin
  risky
rescue *[IOError, KeyError]
  number = 7
end
begin
  begin
    risky
  ensure
    number = 8
  end
rescue IOError, KeyError
  number = 9
end
begin
  number += 1
  risky
rescue KeyError
  retry if number < 12
end
loop { raise StopIteration }
late = nil
begin
  late = -> { raise KeyError, 'late' } # @late
rescue KeyError
  number = 0
end
apart { Integer('q') rescue raise(KeyError, 'again') } # @modifier
apart(&late)
apart do
  risky
rescue IOError
  number = 0
end
begin
  late.call
rescue KeyError
  puts number # @end
end
";

#[tokio::test]
async fn only_exceptions_that_no_rescue_takes_are_uncaught() {
    let (_folder, program) = written("exceptions.rb", PROGRAM);
    let session = Debugging::of(Language::Ruby).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "uncaught" })).await;
    session.break_at(&program, "end").await;
    let mut stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    for marker in ["modifier", "late", "risky", "end"] {
        assert_eq!(stopped.place(), (program.path(), program.line(marker)), "{marker}: {}", stopped.text);
        if marker != "end" {
            assert_eq!(stopped["reason"], "exception", "{}", stopped.text);
            stopped = session.go_on().await;
        }
    }
    session.finish().await;
}

const HANDLERS: &str = "\
def load(text, deeper)
  load('7', false) if deeper # @begin
  begin
    Integer(text) # @raises
  ensure
    puts 'read' # @read
  end
rescue ArgumentError
  begin
    Integer('z') # @again
  rescue StandardError
    nil # @nothing
  end
ensure
  puts text # @ensure
end

load('q', true) # @call
puts 'end' # @end
";

/// What handles an exception has a frame of its own. That of the call in it is stepped over.
#[tokio::test]
async fn a_step_over_goes_through_what_handles_an_exception_of_the_function() {
    let (_folder, program) = written("handlers.rb", HANDLERS);
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    let mut stepped = session.step("step_into").await;
    for name in ["begin", "raises", "read", "again", "nothing", "ensure", "end"] {
        assert_eq!(stepped.place(), (program.path(), program.line(name)), "{name}: {}", stepped.text);
        stepped = session.step("step_over").await;
    }
    session.finish().await;
}

const FIBERS: &str = "\
def rows
  return enum_for(:rows) unless block_given?
  yield 1
  raise KeyError, 'row 2'
end

class Jobs
  Failed = Class.new(StandardError)

  def run(fiber)
    fiber.resume
  rescue Failed
    puts 'failed'
  end
end

each = rows
each.next
begin
  each.next
rescue KeyError
  puts 'rescued'
end
Jobs.new.run(Fiber.new { Fiber.new { raise Jobs::Failed }.resume })
Fiber.new { raise IOError, 'no' }.resume # @uncaught
";

#[tokio::test]
async fn what_resumes_a_fiber_may_rescue_its_exceptions() {
    let (_folder, program) = written("fibers.rb", FIBERS);
    let session = Debugging::of(Language::Ruby).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    let place = (program.path(), program.line("uncaught"));
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", place), "{}", stopped.text);
    assert_eq!(stopped.at("/exception/uncaught"), true, "{}", stopped.text);
    let ended = session.go_on().await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}

const CAUSES: &str = "\
def load(text)
  Integer(text) # @cause
rescue ArgumentError
  raise IOError, 'cannot load' # @raise
end

load('x')
";

#[tokio::test]
async fn the_stack_of_an_exception_has_its_causes() {
    let (_folder, program) = written("causes.rb", CAUSES);
    let session = Debugging::of(Language::Ruby).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("raise")), "{}", stopped.text);
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    let cause = "\nCaused by ArgumentError: invalid value for Integer(): \"x\"\n";
    let (own, cause) = stack.split_once(cause).expect("a cause");
    assert!(own.contains(&format!("causes.rb:{}:", program.line("raise"))), "{stack}");
    assert!(cause.contains(&format!("causes.rb:{}:", program.line("cause"))), "{stack}");
    let expression = r##"[$!.message, "#$!", '$!']"##;
    let raised = session.ok("evaluate_expression", json!({ "expression": expression })).await;
    assert_eq!(raised["result"], r#"["cannot load", "cannot load", "$!"]"#, "{}", raised.text);
    session.finish().await;
}

const LEAVES: &str = "\
def divide(number)
  1 / number # @raise
end

def ensured(number)
  divide(number) + 1
ensure
  puts 'ensured' # @ensure
end

def handled(number)
  ensured(number)
rescue ZeroDivisionError
  puts 'handled' # @handler
  number
end

def quiet
  raise 'no' # @quiet
rescue RuntimeError
  nil
end

handled(0) # @call
quiet # @last
";

#[tokio::test]
async fn a_step_out_of_a_function_that_an_exception_leaves_ends_where_it_is_handled() {
    let (_folder, program) = written("main.rb", LEAVES);
    let (session, _) = Debugging::stopped_at(&program, "raise").await;
    for place in ["ensure", "handler"] {
        let out = session.step("step_out").await;
        assert_eq!((out.outcome(), out.place().1), ("step", program.line(place)), "{}", out.text);
    }
    // What handles an exception is a part of its function.
    let out = session.step("step_out").await;
    assert_eq!(out.place().1, program.line("call"), "{}", out.text);
    assert_eq!(out.variable("(return) handled"), "0");
    session.break_at(&program, "quiet").await;
    session.go_on().await;
    let out = session.step("step_out").await;
    assert_eq!(out.place().1, program.line("last"), "{}", out.text);
    assert_eq!(out.variable("(return) quiet"), "nil");
    session.finish().await;
}
