//! Assignments.

use super::PausedProgram;
use super::harness::named;
use crate::error::Error;

const PROGRAM: &str = r"
let top = 1;
function outer() {
  let captured = { n: 1 };
  return function inner() {
    let local = 1;
    const fixed = 2, reads = () => fixed;
    let same = 'outside';
    { let same = 'inside'; let block = 3; debugger; captured.n; same; block; }
    return [local, captured, fixed, same, top];
  };
}
const list = [1, [2]], map = new Map([['k', 1]]), frozen = Object.freeze({ a: 1 });
let heard; const spy = { set to(v) { heard = v; }, get to() { return 'got'; } };
const made = outer()(list, map, frozen, spy, heard);
debugger;
";

#[tokio::test]
async fn variables_are_assigned_in_each_scope() {
    let scene = PausedProgram::of(PROGRAM).await;
    let scope = scene.own_scope();
    for (name, value, text) in [
        ("local", "local + 41", "42"),
        ("block", "[1]", "[ 1 ]"),
        ("same", "'changed'", "'changed'"),
        ("captured", "{ n: 2 }", "{ n: 2 }"),
    ] {
        let set = scene.values.set_variable(scope, name, value, 100).await.unwrap();
        assert_eq!(set.text, text, "{name}");
        assert_eq!(named(&scene.locals().await, name).value.text, text, "{name}");
    }
    let error = scene.values.set_variable(scope, "fixed", "3", 100).await.unwrap_err();
    assert!(
        matches!(&error, Error::Raised { message, .. } if message == "TypeError: Assignment to constant variable.")
    );
    let error = scene.values.set_variable(scope, "missing", "3", 100).await.unwrap_err();
    assert_eq!(error, Error::Refused("no variable `missing` here".to_owned()));
    let scopes = scene.values.scopes(&scene.frame(0));
    let closure = scopes.iter().find(|scope| scope.name == "Closure (outer)").unwrap().reference;
    let set = scene.values.set_variable(closure, "captured", "({ n: 3 })", 100).await.unwrap();
    assert_eq!((set.text.as_str(), scene.text("captured.n").await), ("{ n: 3 }", "3".to_owned()));
}

#[tokio::test]
async fn members_are_assigned_to() {
    let mut scene = PausedProgram::of(PROGRAM).await;
    scene.resume().await;
    for (parent, name, value, check, text) in [
        ("list", "0", "[9]", "list", "[ [ 9 ], [ 2 ] ]"),
        ("list[1]", "0", "'x'", "list", "[ [ 9 ], [ 'x' ] ]"),
        ("map", "'k'", "{ v: 1 }", "map", "Map(1) { 'k' => { v: 1 } }"),
        ("map", "0", "7", "map", "Map(1) { 'k' => 7 }"),
        ("spy", "to", "5", "heard", "5"),
    ] {
        let parent = scene.evaluate(parent).await.unwrap().reference.unwrap();
        scene.values.set_variable(parent, name, value, 100).await.unwrap();
        assert_eq!(scene.text(check).await, text, "{name}");
    }
    let refused = [
        ("frozen", "a", "`a` of this Object is read-only"),
        ("spy", "other", "no `other` in this Object"),
        ("map", "'z'", "no entry `'z'` in this Map"),
        ("new Set([1])", "0", "an item of a Set cannot be assigned"),
    ];
    for (parent, name, message) in refused {
        let parent = scene.evaluate(parent).await.unwrap().reference.unwrap();
        let error = scene.values.set_variable(parent, name, "1", 100).await.unwrap_err();
        assert_eq!(error, Error::Refused(message.to_owned()));
    }
}
