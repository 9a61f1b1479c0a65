//! Functions that are meant by their names.

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::script::Script;
use test_support::Language;

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
