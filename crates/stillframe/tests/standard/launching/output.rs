//! What the program writes.

use serde_json::{Value, json};
use test_support::Fixture;

use crate::debugging::{Debugging, Report, folder};

#[tokio::test]
async fn output_is_read_on_from_a_cursor() {
    let folder = folder();
    let source = "print('one')\nx = 1  # @stop\nprint('two')\nprint('three')\n";
    let program = Fixture::write(folder.path(), "prints.py", source);
    let (session, _) = Debugging::stopped_at(&program, "stop").await;
    let first = session.ok("get_output", json!({})).await;
    assert_eq!(first["output"], json!([{ "category": "stdout", "text": "one\n" }]));
    assert_eq!(
        (&first["nextSince"], &first["hasMore"], &first["dropped"]),
        (&json!(4), &json!(false), &json!(0))
    );
    session.run_to_the_end().await;
    let rest = session.ok("get_output", json!({ "since": first["nextSince"] })).await;
    assert_eq!(rest["output"], json!([{ "category": "stdout", "text": "two\nthree\n" }]));
    let nothing = session.ok("get_output", json!({ "since": rest["nextSince"] })).await;
    assert_eq!((&nothing["output"], &nothing["nextSince"]), (&json!([]), &rest["nextSince"]));
    let again = session.ok("get_output", json!({ "limit": 6 })).await;
    assert_eq!((&again["nextSince"], &again["hasMore"]), (&json!(6), &json!(true)));
    session.finish().await;
}

#[tokio::test]
async fn both_streams_are_told_apart_and_keep_their_order() {
    let folder = folder();
    // A pause between them: the two streams are two pipes, which know no common order.
    let source = "\
import sys, time
for number in range(3):
    print('out', number)
    time.sleep(0.2)
    print('err', number, file=sys.stderr)
    time.sleep(0.2)
";
    let program = Fixture::write(folder.path(), "both.py", source);
    let session = Debugging::new().await;
    let ended = session.start(&program).await;
    let lines = "out 0\n[stderr] err 0\nout 1\n[stderr] err 1\nout 2\n[stderr] err 2\n";
    assert_eq!(ended["output"], lines);
    let pieces = session.output().await;
    let kinds: Vec<&str> = pieces.iter().map(|(category, _)| category.as_str()).collect();
    assert_eq!(kinds, ["stdout", "stderr", "stdout", "stderr", "stdout", "stderr"]);
    session.finish().await;
}

#[tokio::test]
async fn a_flood_of_three_megabytes_is_bounded_and_what_is_dropped_is_counted() {
    let folder = folder();
    let source = "\
for number in range(30_000):
    print(str(number).rjust(99, '.'))
print('after the flood')
";
    let program = Fixture::write(folder.path(), "floods.py", source);
    let session = Debugging::new().await;
    let ended = session.start(&program).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)));
    assert!(ended.text_of("output").ends_with("..29999\nafter the flood\n"), "the end is what counts");
    assert!(ended.text_of("output").len() <= 4000);
    let skipped = ended["outputSkipped"].as_u64().unwrap();
    assert_eq!(skipped + ended.text_of("output").len() as u64, 3_000_016);

    let (mut since, mut dropped, mut text) = (Value::from(0), 0, String::new());
    loop {
        let page = session.ok("get_output", json!({ "since": since, "limit": 200_000 })).await;
        dropped += page["dropped"].as_u64().unwrap();
        for piece in page["output"].as_array().unwrap() {
            text.push_str(piece["text"].as_str().unwrap());
        }
        since = page["nextSince"].clone();
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!((dropped + text.len() as u64, &since), (3_000_016, &json!(3_000_016)));
    assert!(text.len() >= 1_000_000, "about a megabyte is kept, and not {}", text.len());
    assert!(text.ends_with("after the flood\n"));
    session.finish().await;
}

#[tokio::test]
async fn bytes_that_are_no_text_and_characters_cut_in_two_do_no_harm() {
    let folder = folder();
    let source = "\
import sys, time
raw = sys.stdout.buffer
for part in (b'caf\\xc3', b'\\xa9 ', b'\\xff', b' end\\n'):
    raw.write(part)
    raw.flush()
    time.sleep(0.1)
";
    let program = Fixture::write(folder.path(), "bytes.py", source);
    let session = Debugging::new().await;
    assert_eq!(session.start(&program).await["output"], "café \u{fffd} end\n");
    session.finish().await;
}

#[tokio::test]
async fn the_report_is_as_long_as_its_limits_say() {
    let folder = folder();
    let source = "\
def deep(level, a=1, b=2, c='x' * 500):
    if level == 0:
        return level  # @bottom
    return deep(level - 1)


print('p' * 1000)
deep(20)
";
    let program = Fixture::write(folder.path(), "deep.py", source);
    let session = Debugging::new().await;
    session.break_at(&program, "bottom").await;
    let limits = json!({ "frames": 2, "variables": 4, "value": 10, "source": 1, "output": 100 });
    let stopped =
        session.ok("start_debugging", json!({ "scriptPath": program.path(), "limits": limits })).await;
    assert_eq!(stopped["stackFrames"].as_array().unwrap().len(), 2);
    assert_eq!(stopped["moreFrames"], 20);
    assert_eq!(stopped["locals"].as_array().unwrap().len(), 4);
    assert_eq!(stopped.variable("c"), "'xxxxxxxxxx'...");
    assert_eq!(stopped.text_of("source").lines().count(), 3);
    assert_eq!(stopped.text_of("output").len(), 100);
    assert_eq!((&stopped["outputSkipped"], &stopped["outputSince"]), (&json!(901), &json!(0)));
    session.finish().await;
}
