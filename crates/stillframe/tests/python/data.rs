//! What can be watched in Python, and who writes it. `tests/standard` covers attributes and variables.

use serde_json::json;
use test_support::{Answer, pythons};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};
use crate::script::Script;

const KINDS: &str = "\
class Slotted:
    __slots__ = ('size',)
    label = 'of the class'

    def __init__(self):
        self.size = 1

class Hidden:
    def __init__(self):
        self.__secret = 1

    @property
    def secret(self):
        return self.__secret

    def change(self):
        pass  # @in_method
        self.__secret = 2  # @private
        return self

def add(items):
    items.append('c')  # @appended
    return items

count = 0
def work(items, table, slotted, hidden):
    global count
    pass  # @ready
    items[1] = 'b'  # @item
    table['key'] = [2]  # @key
    slotted.size = 2  # @slot
    count += 1  # @global
    table['new'] = 1  # @new
    del table['new']  # @deleted
    add(items)
    hidden.change()
    return items

work(['a', 'a'], {'key': [1]}, Slotted(), Hidden())
";

#[track_caller]
fn written(script: &Script, stopped: &Answer, name: &str, old: &str, new: &str) {
    let change = &stopped["dataChanges"][0];
    let expected = (json!(old), json!(new), json!(script.line(name)));
    assert_eq!(
        (&change["old"], &change["new"], &change["by"]["line"]),
        (&expected.0, &expected.1, &expected.2),
        "{}",
        stopped.text
    );
    assert_eq!(stopped.outcome(), "data breakpoint");
}

#[tokio::test]
async fn items_slots_globals_and_private_attributes_are_watched() {
    let script = Script::new(KINDS);
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    for expression in ["items[1]", "table['key']", "slotted.size", "count", "table['new']"] {
        session.ok("set_breakpoint", json!({ "watch": expression })).await;
    }
    session.ok("set_breakpoint", json!({ "watch": "items", "condition": "table and len(items) == 3" })).await;
    for (name, old, new) in [
        ("item", "'a'", "'b'"),
        ("key", "[1]", "[2]"),
        ("slot", "1", "2"),
        ("global", "0", "1"),
        ("new", "<not set>", "1"),
        ("deleted", "1", "<not set>"),
        ("appended", "['a', 'b']", "['a', 'b', 'c']"),
    ] {
        written(&script, &session.go_on().await, name, old, new);
    }
    session.break_at(&script, "in_method").await;
    assert_eq!(session.go_on().await.place().1, script.line("in_method"));
    session.ok("set_breakpoint", json!({ "watch": "self.__secret" })).await;
    written(&script, &session.go_on().await, "private", "1", "2");
    session.finish_at_end().await;
}

#[tokio::test]
async fn the_line_that_was_about_to_run_is_named() {
    let script = Script::new(KINDS);
    let (session, _) = Debugging::stopped_at(&script, "private").await;
    session.ok("set_breakpoint", json!({ "watch": "self.__secret" })).await;
    written(&script, &session.go_on().await, "private", "1", "2");
    session.finish_at_end().await;
}

#[tokio::test]
async fn of_writes_by_calls_the_line_that_ran_last_is_named() {
    let script = Script::new(
        "\
import threading
class Counter:
    def __init__(self):
        self.n = 1
    def put(self, key, value):
        setattr(self, key, value)  # @put
def job():
    counts.update(a=1)  # @update
counter, counts = Counter(), {'a': 0}
print('ready')  # @ready
name = counter.put('n', 5)
print('between')
thread = threading.Thread(target=job)
thread.start(); thread.join()
print('end')
",
    );
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    for expression in ["counter.n", "counts['a']"] {
        session.ok("set_breakpoint", json!({ "watch": expression })).await;
    }
    written(&script, &session.go_on().await, "put", "1", "5");
    written(&script, &session.go_on().await, "update", "0", "1");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_line_of_another_thread_that_cannot_have_written_is_not_named() {
    let script = Script::new(
        "\
import threading, time
class Data: pass
data, is_done = Data(), False
data.x = 0
def busy():
    n = 0
    while not is_done:
        n += 1
        m = n
def write():
    a = 0
    setattr(data, 'x', (time.sleep(0.2), 1)[1])  # @calls
    a = 1
    return a
thread = threading.Thread(target=busy); thread.start()
print('ready')  # @ready
write()
is_done = True
",
    );
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    session.ok("set_breakpoint", json!({ "watch": "data.x" })).await;
    written(&script, &session.go_on().await, "calls", "0", "1");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_disabled_watch_does_not_keep_what_its_function_refers_to() {
    let script = Script::new(
        "\
import gc
class Resource:
    def __del__(self):
        print('closed')
def use():
    resource, n = Resource(), 1
    n += 1  # @ready
    return n
use()
print('returned')
gc.collect()
print('end')
",
    );
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    let set = session.ok("set_breakpoint", json!({ "watch": "n" })).await;
    session.ok("set_breakpoint", json!({ "breakpointId": set["breakpointId"], "enabled": false })).await;
    session.run_to_the_end().await;
    let written = session.written("stdout").await;
    assert!(written.contains("closed") && written.ends_with("end\n"), "{written}");
    session.finish().await;
}

#[tokio::test]
async fn what_has_no_storage_is_refused_without_running_it() {
    let script = Script::new(KINDS);
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    for (expression, why) in [
        ("hidden.secret", "watch the attribute that it reads"),
        ("hidden.change().secret", "side effects"),
        ("items[:]", "must be a number or a text"),
        ("items + items", "no storage"),
        ("(1, 2)[0]", "lists and dictionaries"),
        ("missing", "not defined"),
    ] {
        let refused = session.call("set_breakpoint", json!({ "watch": expression })).await;
        assert!(refused.is_error && refused.text.contains(why), "{expression}: {}", refused.text);
    }
    let read = json!({ "watch": "slotted.size", "access": "read" });
    let refused = session.call("set_breakpoint", read).await;
    assert!(refused.is_error && refused.text.contains("leave `access` out"), "{}", refused.text);
    session.finish().await;
}

/// From Python 3.12 on, a comprehension runs in the frame around it.
#[tokio::test]
async fn the_variable_of_a_comprehension_is_not_that_of_its_function() {
    let script = Script::new(
        "\
def squares(n):
    at = 7
    print('start', at)  # @ready
    found = [at * at for at in range(n)]
    more = {
        at: [  # @inside
            at
            for other in found
        ]
        for at in found
    }
    at = 8  # @written
    return found, more, at
print(len(squares(3)))
",
    );
    for python in pythons(&["3.12."]) {
        let server = STILLFRAME.serve().await;
        let arguments = json!({ "language": "python", "executablePath": python });
        let created = server.ok("create_debug_session", arguments).await;
        let session = Debugging { id: created.text_of("sessionId").to_owned(), server };
        session.break_at(&script, "ready").await;
        assert_eq!(session.start(&script).await.place().1, script.line("ready"));
        session.ok("set_breakpoint", json!({ "watch": "at" })).await;
        written(&script, &session.go_on().await, "written", "7", "8");
        session.finish_at_end().await;
    }
}

#[tokio::test]
async fn what_a_watch_does_not_see_is_noted() {
    let script = Script::new(KINDS);
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    for (expression, note) in [
        (
            "hidden.label",
            json!("`hidden.label` did not exist when this was set; the program stops when it is created"),
        ),
        (
            "work.label",
            json!("`work.label` did not exist when this was set; the program stops when it is created"),
        ),
        ("slotted.size", json!(null)),
        (
            "hidden.change",
            json!(
                "`hidden.change` was that of the class when this was set; only a write to `hidden.change` itself stops the program, so watch `Hidden.change`, too"
            ),
        ),
    ] {
        let set = session.ok("set_breakpoint", json!({ "watch": expression })).await;
        assert_eq!((&set["verified"], &set["note"]), (&json!(true), &note), "{}", set.text);
    }
    session.finish().await;
}

#[tokio::test]
async fn other_threads_and_modules_loaded_later_are_seen() {
    let script = Script::new(
        "\
import threading
class Cart:
    total = 0
cart = Cart()
cart.total = 1
def later():
    import afterwards
    afterwards.pay(cart)
def in_thread():
    cart.total = 2  # @thread
    return 'done'
print('ready')  # @ready
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
later()
",
    );
    let later =
        script.file("afterwards.py", "def pay(cart):\n    cart.total = 3  # @module\n    return cart\n");
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    session.ok("set_breakpoint", json!({ "watch": "cart.total" })).await;
    written(&script, &session.go_on().await, "thread", "1", "2");
    let stopped = session.go_on().await;
    let change = &stopped["dataChanges"][0];
    assert_eq!(
        (&change["new"], &change["by"]["line"]),
        (&json!("3"), &json!(later.line("module"))),
        "{}",
        stopped.text
    );
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_missing_key_is_watched_without_running_the_class_of_its_dictionary() {
    let script = Script::new(
        "\
from collections import defaultdict
class Config(dict):
    def __missing__(self, key):
        print('asked for', key)
        self[key] = 'default'
        return self[key]
class Open:
    def __init__(self):
        self.__dict__ = Config()
def main():
    counts, config, user = defaultdict(int), Config(), Open()
    print(dict(counts), dict(config), vars(user) == {})  # @ready
    counts['b'] = 7  # @count
    config['size'] = 'small'  # @size
    user.name = 'Ann'  # @name
    print('done')
main()
",
    );
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    for expression in ["counts['b']", "config['size']", "user.name"] {
        session.ok("set_breakpoint", json!({ "watch": expression })).await;
    }
    for (name, new) in [("count", "7"), ("size", "'small'"), ("name", "'Ann'")] {
        written(&script, &session.go_on().await, name, "<not set>", new);
    }
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "{} {} True\ndone\n");
    session.finish().await;
}

#[tokio::test]
async fn a_variable_that_nested_functions_keep_is_watched_until_they_are_gone() {
    let script = Script::new(
        "\
import gc
def counter():
    count = 0
    pass  # @around
    def up(by):
        nonlocal count
        count += by  # @inside
        return count
    return up
other, up = counter(), counter()
up(1)
other(5)
up(3)
print(up(0))
up = None
gc.collect()
print('forgotten')
print('done')  # @done
",
    );
    for name in ["around", "inside"] {
        let (session, _) = Debugging::stopped_at(&script, name).await;
        if name == "around" {
            // The other counter's variable is not watched.
            session.go_on().await;
        }
        session.ok("set_breakpoint", json!({ "watch": "count" })).await;
        let breakpoints = session.breakpoints().await;
        session.ok("remove_breakpoint", json!({ "breakpointId": breakpoints[0]["breakpointId"] })).await;
        session.break_at(&script, "done").await;
        for (old, new) in [("0", "1"), ("1", "4")] {
            written(&script, &session.go_on().await, "inside", old, new);
        }
        assert_eq!(session.go_on().await.place().1, script.line("done"));
        let listed = session.breakpoints().await;
        let reason = listed[0]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("no function refers to `count` any longer"), "{listed:?}");
        session.finish_at_end().await;
    }
}

#[tokio::test]
async fn a_key_of_a_defaultdict_is_watched_without_adding_one() {
    let script = Script::new(
        "\
from collections import defaultdict
counts = defaultdict(lambda: defaultdict(int))
counts['a']['b'] += 1
plain = defaultdict()
print('ready')  # @ready
counts['a']['b'] += 2  # @again
print(dict(counts['a']), len(counts))
",
    );
    let (session, _) = Debugging::stopped_at(&script, "ready").await;
    session.ok("set_breakpoint", json!({ "watch": "counts['a']['b']" })).await;
    let refused = session.call("set_breakpoint", json!({ "watch": "counts['c']['d']" })).await;
    assert!(refused.is_error && refused.text.contains("would add the key"), "{}", refused.text);
    let missing = session.call("set_breakpoint", json!({ "watch": "plain['c']['d']" })).await;
    assert!(missing.is_error && missing.text.contains("KeyError"), "{}", missing.text);
    written(&script, &session.go_on().await, "again", "1", "3");
    let ended = session.run_to_the_end().await;
    assert_eq!(ended.text_of("output"), "{'b': 3} 1\n", "{}", ended.text);
    session.finish().await;
}
