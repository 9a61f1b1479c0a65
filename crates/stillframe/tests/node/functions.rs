//! Functions that are meant by their names.

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::script::Script;
use test_support::Language;

/// No name tells them apart.
#[tokio::test]
async fn an_accessor_stops_in_both_of_its_functions() {
    let text = "\
class Account {
  get balance() { return this.cents; } // @get
  set balance(cents) {
    this.cents = cents; // @set
  }
}
const account = new Account();
account.balance = 3;
console.log(account.balance);
";
    let script = Script::new(text);
    let session = Debugging::of(Language::Node).await;
    let wanted = json!({ "file": script.path(), "function": "Account.balance" });
    let set = session.ok("set_breakpoint", wanted).await;
    let note = "stops in every function `Account.balance`, in any file; use a line to stop in one of them";
    assert!(set.text_of("message").contains(note), "{}", set.text);
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place().1, script.line("set"), "{}", stopped.text);
    assert_eq!(session.go_on().await.place().1, script.line("get"));
    session.finish().await;
}

/// The lines of a call before the body of its handler hold no code.
#[tokio::test]
async fn the_head_of_a_callback_leads_to_its_body() {
    let text = "\
const handlers = {};
const get = (path, handler) => { handlers[path] = handler; };
get(
  '/users', // @path
  async (request) => { // @head
    const id = request.id; // @body
    return id;
  },
);
function helper(value) {
  return value * 2;
}
handlers['/users']({ id: helper(2) });
";
    let script = Script::new(text);
    for line in ["path", "head"] {
        let session = Debugging::of(Language::Node).await;
        let set = session.break_at(&script, line).await;
        assert_eq!(set["line"], script.line("body"), "{}", set.text);
        let stopped = session.start(&script).await;
        assert_eq!(stopped.place().1, script.line("body"), "{}", stopped.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_qualified_name_does_not_match_a_method() {
    let text = "\
class Shop {
  open(day) { return day; }
}
function open(day) {
  return new Shop().open(day); // @open
}
open(1);
";
    let script = Script::new(text);
    let session = Debugging::of(Language::Node).await;
    session.ok("set_breakpoint", json!({ "file": script.path(), "function": "open" })).await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("open")), "{}", stopped.text);
    session.finish().await;
}
