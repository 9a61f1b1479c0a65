//! `diagnose_hang` of Ruby programs.

use serde_json::json;
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::{folder, written};

const DEADLOCK: &str = "\
left = Mutex.new
right = Mutex.new
ready = Queue.new
first = Thread.new do
  left.synchronize do
    ready << true
    sleep 0.01 until right.locked?
    right.synchronize { puts 'never' } # @first
  end
end
second = Thread.new do
  right.synchronize do
    ready.pop
    left.synchronize { puts 'never' } # @second
  end
end
# Ruby itself notices a deadlock of all threads.
Thread.new { loop { sleep 1 } }
# It has the name of a method of Mutex.
def lock(threads)
  threads.each(&:join)
end
lock([first, second])
";
const UNSIGNALLED: &str = "\
mutex = Mutex.new
ready = ConditionVariable.new
consumer = Thread.new { mutex.synchronize { ready.wait(mutex) } } # @first
consumer.join # @second
";
const GCD: &str = "\
def gcd(a, b)
  until a == b # @loop
    if a > b then a -= b else b -= a end
  end # @end
  a
end
puts gcd(4, 0)
";
/// `read` and `value` have the names of functions of Ruby that wait.
const READS: &str = "\
class Parser
  def read
    tokens = []
    while true
      tokens << value if tokens.size < 10
    end
  end

  def value
    'a'.upcase
  end
end
Parser.new.read
";
const WAITS: &str = "\
child = spawn('sleep 60')
Process.wait(child) # @waits
";
const BUSY: &str = "\
number = 0
while true
  number += 1 # @busy
end
";

#[tokio::test]
async fn deadlocked_threads_are_reported() {
    let folder = folder();
    let server = STILLFRAME.serve().await;
    for (text, what) in [(DEADLOCK, "a Mutex"), (UNSIGNALLED, "a ConditionVariable")] {
        let program = Fixture::write(folder.path(), "deadlock.rb", text);
        let asked = json!({ "command": ["ruby", program.path()], "timeout": 20_000 });
        let found = server.ok("diagnose_hang", asked).await;
        assert_eq!(found["verdict"], "deadlocked", "{}", found.text);
        assert!(found.text.contains(what), "{}", found.text);
        let marked = found.text_of("source").lines().find(|line| line.starts_with('>')).unwrap_or_default();
        assert!(marked.contains(&format!(" {} | ", found.at("/hungAt/line"))), "{}", found.text);
        for name in ["first", "second"] {
            let location = format!("deadlock.rb:{}", program.line(name));
            assert!(
                found.text.contains(&location)
                    || found.text.contains(&format!("\"line\":{}", program.line(name))),
                "{}",
                found.text
            );
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn an_endless_loop_is_busy() {
    let (_folder, program) = written("busy.rb", BUSY);
    let server = STILLFRAME.serve().await;
    let found =
        server.ok("diagnose_hang", json!({ "command": ["ruby", program.path()], "timeout": 2_500 })).await;
    assert!(found.text.contains("busy.rb"), "{}", found.text);
    assert_eq!(found.at("/location/line"), program.line("busy"), "{}", found.text);
    assert_eq!(found["verdict"], "busy_loop", "{}", found.text);
    server.finish().await;
}

#[tokio::test]
async fn a_loop_whose_values_stay_is_busy_with_its_lines_and_values() {
    let (_folder, program) = written("gcd.rb", GCD);
    let server = STILLFRAME.serve().await;
    let found =
        server.ok("diagnose_hang", json!({ "command": ["ruby", program.path()], "timeout": 2_500 })).await;
    assert_eq!(found["verdict"], "busy_loop", "{}", found.text);
    let lines = [found.at("/loop/startLine"), found.at("/loop/endLine")];
    assert_eq!(lines, [&json!(program.line("loop")), &json!(program.line("end"))], "{}", found.text);
    assert!(found.text.contains("no value that the loop depends on changed"), "{}", found.text);
    // Samples of one call are counted together, whatever line each of them begins with.
    assert_eq!(found.text_of("calls").matches(" gcd gcd.rb:").count(), 1, "{}", found.text);
    server.finish().await;
}

#[tokio::test]
async fn a_function_of_the_program_with_the_name_of_one_that_waits_is_sampled() {
    let (_folder, program) = written("reads.rb", READS);
    let server = STILLFRAME.serve().await;
    let found =
        server.ok("diagnose_hang", json!({ "command": ["ruby", program.path()], "timeout": 2_500 })).await;
    assert_eq!(found["verdict"], "busy_loop", "{}", found.text);
    assert!(found.text_of("calls").contains(" read reads.rb:"), "{}", found.text);
    server.finish().await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_child_is_reported_so() {
    let (_folder, program) = written("waits.rb", WAITS);
    let server = STILLFRAME.serve().await;
    let found =
        server.ok("diagnose_hang", json!({ "command": ["ruby", program.path()], "timeout": 2_500 })).await;
    assert_eq!(found["verdict"], "waiting", "{}", found.text);
    let waits = format!("a child process at {}:{}", program.path(), program.line("waits"));
    assert!(found.text.contains(&waits), "{}", found.text);
    server.finish().await;
}
