//! `diagnose_hang` of Java programs.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::written;

const SEARCHES: &str = "\
class Main {
    static int search(int[] sorted, int wanted) {
        int low = 0, high = sorted.length - 1;
        while (low <= high) { // @loop
            int middle = (low + high) / 2;
            if (sorted[middle] < wanted) low = middle;
            else high = middle - 1;
        } // @end
        return low;
    }

    public static void main(String[] arguments) {
        System.out.println(search(new int[] {1, 3, 5}, 4));
    }
}
";

#[tokio::test]
async fn a_loop_in_which_nothing_changes_is_busy() {
    let (_folder, program) = written("Main.java", SEARCHES);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": ["java", program.path()], "timeout": 5_000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert_eq!(found["verdict"], "busy_loop", "{}", found.text);
    let lines = [found.at("/loop/startLine"), found.at("/loop/endLine")];
    assert_eq!(lines, [&json!(program.line("loop")), &json!(program.line("end"))], "{}", found.text);
    server.finish().await;
}

const ITERATES: &str = "\
import java.util.*;

class Main {
    static class Pages implements Iterable<Integer> {
        public Iterator<Integer> iterator() {
            return new Iterator<>() {
                int at = 0;
                public boolean hasNext() { return at >= 0; }
                public Integer next() { return at = (at + 1) % 3; }
            };
        }
    }

    static long sum(Iterable<Integer> all) {
        long sum = 0;
        for (int one : all) { // @loop
            for (int part = 0; part < 1000; part++) sum += part % (one + 1);
        }
        return sum;
    }

    public static void main(String[] arguments) {
        List<Integer> list = new ArrayList<>();
        for (int one = 0; one < 2000000; one++) list.add(one);
        System.out.println(sum(arguments.length > 0 ? list : new Pages()));
    }
}
";

#[tokio::test]
async fn only_a_collection_is_known_to_come_to_its_end() {
    let (_folder, program) = written("Main.java", ITERATES);
    let server = STILLFRAME.serve().await;
    for (arguments, evidence) in [
        (vec![], "values change; cannot tell whether the loop progresses toward its end"),
        (vec!["list"], "the loop progresses toward its end"),
    ] {
        let command = [vec!["java", program.path()], arguments].concat();
        let asked = json!({ "command": command, "timeout": 5_000 });
        let found = server.ok("diagnose_hang", asked).await;
        assert_eq!(
            (&found["verdict"], found.at("/loop/startLine")),
            (&json!("slow"), &json!(program.line("loop"))),
            "{}",
            found.text
        );
        let told = found.at("/evidence").as_array().cloned().unwrap_or_default();
        assert!(told.contains(&json!(evidence)), "{}", found.text);
    }
    server.finish().await;
}

const SERVES: &str = "\
import java.util.concurrent.*;

class Main {
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        pool.invokeAll(java.util.Collections.nCopies(3, () -> { Thread.sleep(100); return 0; }));
        System.out.println(\"idle\");
    }
}
";

#[tokio::test]
async fn what_several_threads_wait_for_is_said_once() {
    let (_folder, program) = written("Main.java", SERVES);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": ["java", program.path()], "timeout": 5_000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert_eq!(found["verdict"], "waiting", "{}", found.text);
    let evidence = found.at("/evidence").as_array().cloned().unwrap_or_default();
    let idle = json!("it waits for a task of its thread pool, which was not shut down");
    assert_eq!(evidence.iter().filter(|sentence| **sentence == idle).count(), 1, "{}", found.text);
    server.finish().await;
}
