//! Steps in functions that have breakpoints.

use serde_json::json;

use crate::debugging::{Debugging, Report, written};

const SUMS: &str = "\
class Shape
  SIDES = 3 # @sides
end

def sum(number) # @sum
  first = number + 1 # @first
  second = first + 1 # @second
  second + 1 # @third
end

30.times { |number| sum(number) } # @call
puts 'done'
";

/// Ruby uses hooks of a function that it has freed where the last one goes while a thread is stopped by one of all code.
#[tokio::test]
async fn a_breakpoint_is_removed_where_a_step_has_ended_in_its_function() {
    let (_folder, program) = written("main.rb", SUMS);
    let (session, _) = Debugging::stopped_at(&program, "sides").await;
    assert_eq!(session.step("step_out").await.place(), (program.path(), program.line("sum")));
    session.break_at(&program, "first").await;
    session.go_on().await;
    for _ in 0..6 {
        for (step, place) in [("step_into", "second"), ("step_over", "third"), ("step_into", "call")] {
            let stepped = session.step(step).await;
            assert_eq!(
                (stepped.outcome(), stepped.place().1),
                ("step", program.line(place)),
                "{}",
                stepped.text
            );
        }
        // To the breakpoint, and past it.
        session.step("step_into").await;
        session.step("step_into").await;
        session.ok("clear_breakpoints", json!({})).await;
        session.break_at(&program, "first").await;
        let stopped = session.go_on().await;
        assert_eq!(stopped.place().1, program.line("first"), "{}", stopped.text);
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "done\n");
    session.finish().await;
}

const LOOPS: &str = "\
def count
  number = 0
  while number < 3
    number += 1 # @body
  end
  number # @after
end

count # @call
[1, 2, 3].each { |item| item + 1 } # @items
puts 'done' # @end
";

/// Ruby handles the event at which a step into has ended by the hooks of its function, too, if that has some.
#[tokio::test]
async fn a_step_over_ends_in_each_round_of_a_loop_that_has_one_line() {
    let (_folder, program) = written("main.rb", LOOPS);
    for has_breakpoint in [false, true] {
        let (session, _) = Debugging::stopped_at(&program, "call").await;
        session.ok("clear_breakpoints", json!({})).await;
        if has_breakpoint {
            session.break_at(&program, "after").await;
        }
        session.step("step_into").await;
        session.step("step_into").await;
        for (step, place, variable, value) in [
            ("step_into", "body", "number", "0"),
            ("step_over", "body", "number", "1"),
            ("step_over", "body", "number", "2"),
            ("step_over", "after", "number", "3"),
            ("step_over", "items", "", ""),
            ("step_into", "items", "item", "1"),
            ("step_over", "items", "item", "2"),
            ("step_over", "items", "item", "3"),
            ("step_over", "end", "", ""),
        ] {
            let stepped = session.step(step).await;
            assert_eq!(stepped.place().1, program.line(place), "{step}: {}", stepped.text);
            if !variable.is_empty() {
                assert_eq!(stepped.variable(variable), value, "{step}: {}", stepped.text);
            }
        }
        session.finish_at_end().await;
    }
}
