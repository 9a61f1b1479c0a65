//! Panics and fatal errors: where they stop, and what they say.

use serde_json::json;
use test_support::Language;

use crate::Module;
use crate::debugging::{Debugging, Report};

#[tokio::test]
async fn a_panic_stops_in_the_user_frame_with_its_message() {
    let table = [
        ("panic(\"no stock\")", "no stock"),
        ("panic(fmt.Errorf(\"no %s\", \"stock\"))", "no stock"),
        ("var prices map[string]int; prices[\"a\"] = 1", "assignment to entry in nil map"),
        ("prices := []int{1}; fmt.Println(prices[len(prices)])", "index out of range [1] with length 1"),
        ("var none *Item; fmt.Println(none.Name)", "invalid memory address or nil pointer dereference"),
    ];
    for (code, message) in table {
        let text = format!(
            "package main\n\nimport \"fmt\"\n\ntype Item struct{{ Name string }}\n\nfunc sell(name string) {{\n\t{code} // @panics\n}}\n\nfunc main() {{\n\tsell(\"lamp\")\n\tfmt.Println()\n}}\n"
        );
        let module = Module::new(&[("main.go", &text)]);
        let program = module.file("main.go");
        let session = Debugging::of(Language::Go).await;
        let stopped = session.start(&program).await;
        assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
        assert_eq!(stopped.place(), (program.path(), program.line("panics")), "{}", stopped.text);
        assert!(stopped.at("/exception/message").as_str().unwrap().contains(message), "{}", stopped.text);
        assert_eq!(stopped.variable("name"), "\"lamp\"");
        let ended = session.go_on().await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(2)), "{}", ended.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_deadlock_found_by_the_runtime_stops_with_its_message() {
    let text = "package main\n\nfunc main() {\n\tanswers := make(chan int)\n\t<-answers // @waits\n}\n";
    let module = Module::new(&[("main.go", text)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    assert_eq!(stopped.at("/exception/message"), "all goroutines are asleep - deadlock!");
    assert_eq!(stopped.place(), (program.path(), program.line("waits")), "{}", stopped.text);
    session.finish().await;
}
