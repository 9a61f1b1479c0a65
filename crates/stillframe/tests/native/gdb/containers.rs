//! Containers of Rust under GDB.

use serde_json::json;

use super::GdbOnly;
use crate::containers::TABLES;
use crate::debugging::written;

const GUARDS: &str = r#"use std::cell::RefCell;
use std::rc::Rc;

fn main() {
    let shared = Rc::new(RefCell::new(vec![1, 2]));
    let total: i32 = shared.borrow().iter().sum();
    let mut more = shared.borrow_mut();
    more.push(total);
    println!("{more:?}"); // @here
}
"#;

#[tokio::test]
async fn a_guard_does_not_hide_the_other_variables() {
    let (_folder, program) = written("guards.rs", GUARDS);
    let (session, _path) = GdbOnly::stopped_at(&program, "rust", "here").await;
    let locals = session.ok("get_local_variables", json!({})).await;
    assert_eq!(locals.variable("total"), "3");
    assert!(locals.variable("more").contains("{1, 2, 3}"), "{}", locals.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn hash_tables_of_any_size_are_read_and_those_of_nothing_are_not() {
    let (_folder, program) = written("tables.rs", TABLES);
    let (session, _path) = GdbOnly::stopped_at(&program, "rust", "here").await;
    let locals = session.ok("get_local_variables", json!({})).await;
    for (name, shown) in [
        ("many", "HashMap(size=200000) = {"),
        ("odd", "HashSet(size=400000) = {"),
        ("few", "HashMap(size=1) = {[\"pen\"] = 3}"),
        ("empty", "HashMap(size=0)"),
        ("lost", "<error reading variable: not initialized, or moved>"),
    ] {
        assert!(locals.variable(name).starts_with(shown), "{name}: {}", locals.variable(name));
    }
    session.finish().await;
}
