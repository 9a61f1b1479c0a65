//! `diagnose_hang` of Java programs.

use serde_json::json;
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::folder;

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
    let folder = folder();
    let program = Fixture::write(folder.path(), "Main.java", SEARCHES);
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": ["java", program.path()], "timeout": 5_000 });
    let found = server.ok("diagnose_hang", asked).await;
    assert_eq!(found["verdict"], "busy_loop", "{}", found.text);
    let lines = [found.at("/loop/startLine"), found.at("/loop/endLine")];
    assert_eq!(lines, [&json!(program.line("loop")), &json!(program.line("end"))], "{}", found.text);
    server.finish().await;
}
