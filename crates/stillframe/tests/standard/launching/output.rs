//! What the program writes.

use serde_json::{Value, json};
use test_support::{Fixture, Language, PerLanguage, Texts, each};

use crate::debugging::{Debugging, Report, folder, written_in};

each![
    output_is_read_from_a_cursor,
    both_streams_are_distinguished_in_order,
    a_flood_of_three_megabytes_is_limited_and_its_loss_counted,
    invalid_utf_8_and_split_characters_are_replaced_or_joined,
    report_limits_are_respected,
];

async fn output_is_read_from_a_cursor(language: Language) {
    let folder = folder();
    let texts = Texts {
        name: "output_lines",
        python: "print('one')\nx = 1  # @stop\nprint('two')\nprint('three')\n",
        node: "console.log('one');\nconst x = 1; // @stop\nconsole.log('two');\nconsole.log('three');\n",
        c: "\
#include <stdio.h>
int main(void) {
    puts(\"one\");
    int x = 1; // @stop
    puts(\"two\");
    return puts(\"three\") < x;
}
",
    };
    let program = Fixture::write_in(language, folder.path(), "prints", texts);
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

/// Writes to both streams in turn. A pause between them: they are two pipes, which know no common order.
const TWO_STREAMS: Texts = Texts {
    name: "output_two_streams",
    python: "\
import sys, time
for number in range(3):
    print('out', number)
    time.sleep(0.2)
    print('err', number, file=sys.stderr)
    time.sleep(0.2)
",
    node: "\
const timers = require('node:timers/promises');
(async () => {
  for (let number = 0; number < 3; number += 1) {
    console.log('out', number);
    await timers.setTimeout(200);
    console.error('err', number);
    await timers.setTimeout(200);
  }
})();
",
    c: "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
    for (int number = 0; number < 3; number++) {
        printf(\"out %d\\n\", number), fflush(stdout);
        usleep(200 * 1000);
        fprintf(stderr, \"err %d\\n\", number);
        usleep(200 * 1000);
    }
}
",
};

async fn both_streams_are_distinguished_in_order(language: Language) {
    let (_folder, program) = written_in(language, "both", TWO_STREAMS);
    let session = Debugging::of(language).await;
    let ended = session.start(&program).await;
    let lines = "out 0\n[stderr] err 0\nout 1\n[stderr] err 1\nout 2\n[stderr] err 2\n";
    assert_eq!(ended["output"], lines);
    let pieces = session.output().await;
    let kinds: Vec<&str> = pieces.iter().map(|(category, _)| category.as_str()).collect();
    assert_eq!(kinds, ["stdout", "stderr", "stdout", "stderr", "stdout", "stderr"]);
    session.finish().await;
}

async fn a_flood_of_three_megabytes_is_limited_and_its_loss_counted(language: Language) {
    let folder = folder();
    let texts = Texts {
        name: "output_flood",
        python: "\
for number in range(30_000):
    print(str(number).rjust(99, '.'))
print('after the flood')
",
        node: "\
for (let number = 0; number < 30_000; number += 1) {
  process.stdout.write(String(number).padStart(99, '.') + '\\n');
}
process.stdout.write('after the flood\\n');
",
        c: "\
#include <stdio.h>
#include <string.h>
int main(void) {
    for (int number = 0; number < 30000; number++) {
        char line[100];
        memset(line, '.', sizeof line);
        char digits[12];
        int length = sprintf(digits, \"%d\", number);
        memcpy(line + 99 - length, digits, length);
        fwrite(line, 1, 99, stdout), putchar('\\n');
    }
    puts(\"after the flood\");
}
",
    };
    let program = Fixture::write_in(language, folder.path(), "floods", texts);
    let session = Debugging::of(language).await;
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

async fn invalid_utf_8_and_split_characters_are_replaced_or_joined(language: Language) {
    let folder = folder();
    let texts = Texts {
        name: "output_bytes",
        python: "\
import sys, time
raw = sys.stdout.buffer
for part in (b'caf\\xc3', b'\\xa9 ', b'\\xff', b' end\\n'):
    raw.write(part)
    raw.flush()
    time.sleep(0.1)
",
        node: "\
const { writeSync } = require('node:fs');
const parts = ['caf\\xc3', '\\xa9 ', '\\xff', ' end\\n'].map((part) => Buffer.from(part, 'latin1'));
parts.forEach((part, index) => setTimeout(() => writeSync(1, part), 100 * index));
",
        c: "\
#include <string.h>
#include <unistd.h>
int main(void) {
    const char *parts[] = {\"caf\\xc3\", \"\\xa9 \", \"\\xff\", \" end\\n\"};
    for (int at = 0; at < 4; at++) {
        write(1, parts[at], strlen(parts[at]));
        usleep(100 * 1000);
    }
}
",
    };
    let program = Fixture::write_in(language, folder.path(), "bytes", texts);
    let session = Debugging::of(language).await;
    assert_eq!(session.start(&program).await["output"], "café \u{fffd} end\n");
    session.finish().await;
}

async fn report_limits_are_respected(language: Language) {
    let folder = folder();
    let texts = Texts {
        name: "output_limits",
        python: "\
def deep(level, a=1, b=2, c='x' * 500):
    if level == 0:
        return level  # @bottom
    return deep(level - 1)


print('p' * 1000)
deep(20)
",
        node: "\
function deep(level, a = 1, b = 2, c = 'x'.repeat(500)) {
  if (level === 0)
    return level; // @bottom
  return deep(level - 1);
}

console.log('p'.repeat(1000));
deep(20);
",
        c: "\
#include <stdio.h>
#include <string.h>
static int deep(int level, int a, int b, const char *c) {
    if (level == 0)
        return level + a + b + c[0]; // @bottom
    return deep(level - 1, a, b, c);
}

int main(void) {
    char p[1001] = \"\", c[501] = \"\";
    memset(p, 'p', 1000), memset(c, 'x', 500);
    puts(p);
    deep(20, 1, 2, c);
}
",
    };
    let program = Fixture::write_in(language, folder.path(), "deep", texts);
    let session = Debugging::of(language).await;
    session.break_at(&program, "bottom").await;
    let limits = json!({ "frames": 2, "variables": 4, "value": 10, "source": 1, "output": 100 });
    let stopped =
        session.ok("start_debugging", json!({ "scriptPath": program.path(), "limits": limits })).await;
    assert_eq!(stopped["stackFrames"].as_array().unwrap().len(), 2);
    assert_eq!(stopped["moreFrames"], 20);
    assert_eq!(stopped["locals"].as_array().unwrap().len(), 4);
    // In C, the address before the text takes all the room.
    let long = PerLanguage {
        name: "output: long",
        python: "'xxxxxxxxxx'...",
        node: "'xxxxxxxxxx'...",
        c: "0x00007",
    };
    let shown = stopped.variable("c");
    assert!(shown.starts_with(long.of(language)) && shown.ends_with("..."), "{shown}");
    assert_eq!(stopped.text_of("source").lines().count(), 3);
    assert_eq!(stopped.text_of("output").len(), 100);
    assert_eq!((&stopped["outputSkipped"], &stopped["outputSince"]), (&json!(901), &json!(0)));
    session.finish().await;
}
