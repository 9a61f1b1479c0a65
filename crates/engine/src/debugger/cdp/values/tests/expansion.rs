//! What values are made of.

use std::sync::Arc;
use std::time::Duration;

use super::super::super::scripts::{Script, Scripts};
use super::super::super::v8::V8Client;
use super::super::ValueReader;
use ::cdp::debugger;

use super::harness::{named, texts};
use super::{PausedProgram, page};
use crate::debugger::Evaluate;
use crate::error::Error;
use crate::model::ids::RawId;
use crate::model::variable::Page;
use crate::policy::SharedPolicy;

const PROGRAM: &str = r"
let runs = 0;
class Account {
  #balance = { sum: 5 };
  #secret() {}
  constructor() { this.owner = 'ann'; }
  get doubled() { runs++; return { twice: this.#balance.sum * 2 }; }
  get broken() { runs++; throw new RangeError('no'); }
  get endless() { for (;;); }
}
const account = new Account();
const big = new Array(1e6).fill(0).map((_, i) => i);
const keys = {}; for (let i = 0; i < 20000; i++) keys['k' + i] = i;
const map = new Map([['a', { deep: [1] }], [{ key: 1 }, 2]]);
const set = new Set(['x', [1]]);
const bound = function f(a) {}.bind({ self: 1 }, 2);
const mixed = Object.defineProperty({ [Symbol('s')]: { in: 1 }, plain: 1 }, 'hidden', { value: 3 });
const proxy = new Proxy({ t: 1 }, { ownKeys() { runs++; return []; } });
const failure = new Error('outside', { cause: new TypeError('inside') });
debugger;
";

#[tokio::test]
async fn getters_run_only_when_expanded() {
    let scene = PausedProgram::of(PROGRAM).await;
    let members = scene.children("account").await;
    assert_eq!(named(&members, "owner").value.text, "'ann'");
    let doubled = &named(&members, "doubled").value;
    assert_eq!((doubled.text.as_str(), scene.text("runs").await), ("[Getter]", "0".to_owned()));
    let result = scene.open(doubled).await;
    assert_eq!(texts(&result), [("(value)", "{ twice: 10 }")]);
    assert_eq!(texts(&scene.open(&result[0].value).await)[0], ("twice", "10"));
    assert_eq!(scene.text("runs").await, "1");
    let broken = named(&members, "broken").value.reference.unwrap();
    let error = scene.values.variables(broken, page(true), 100).await.unwrap_err();
    assert!(matches!(&error, Error::Raised { message, .. } if message == "RangeError: no"), "{error:?}");
    assert_eq!(scene.text("typeof $_").await, "'undefined'");
}

#[tokio::test]
async fn private_members_are_listed_and_expanded() {
    let scene = PausedProgram::of(PROGRAM).await;
    let members = scene.children("account").await;
    let balance = named(&members, "#balance");
    assert_eq!((balance.value.text.as_str(), balance.special), ("{ sum: 5 }", false));
    assert_eq!(texts(&scene.open(&balance.value).await)[0], ("sum", "5"));
    let nested = scene.children("[account]").await;
    let members = scene.open(&nested[0].value).await;
    assert_eq!(named(&members, "#balance").value.text, "{ sum: 5 }");
}

#[tokio::test]
async fn large_values_are_paged() {
    let scene = PausedProgram::of(PROGRAM).await;
    let table = [("big", 1_000_000, "999990", "999990"), ("keys", 20_000, "k19990", "19990")];
    for (expression, count, name, text) in table {
        let value = scene.evaluate_with(expression, 100, false).await.unwrap();
        assert_eq!((value.children, value.cut), (Some(count), true));
        let page = Page { start: count - 10, count: 3, special: false, internals: false };
        let children = scene.values.variables(value.reference.unwrap(), page, 100).await.unwrap();
        assert_eq!((children.total, texts(&children.variables)[0]), (count, (name, text)));
        assert_eq!(children.variables.len(), 3);
    }
}

#[tokio::test]
async fn collections_have_their_items_as_children() {
    let scene = PausedProgram::of(PROGRAM).await;
    let entries = scene.children("map").await;
    assert_eq!(texts(&entries)[..2], [("0", "'a' => { deep: [ 1 ] }"), ("1", "{ key: 1 } => 2")]);
    let entry = scene.open(&entries[0].value).await;
    let deep = scene.open(&entry[1].value).await;
    assert_eq!(texts(&scene.open(&deep[0].value).await)[0], ("0", "1"));
    let items = scene.children("set").await;
    assert_eq!(texts(&items)[..2], [("0", "'x'"), ("1", "[ 1 ]")]);
    assert_eq!(texts(&scene.open(&items[1].value).await)[0], ("0", "1"));
}

#[tokio::test]
async fn internal_properties_are_special() {
    let scene = PausedProgram::of(PROGRAM).await;
    let mixed = scene.evaluate("mixed").await.unwrap();
    let plain = scene.values.variables(mixed.reference.unwrap(), page(false), 100).await.unwrap();
    assert_eq!(
        (texts(&plain.variables), plain.hidden),
        (vec![("plain", "1"), ("[Symbol(s)]", "{ in: 1 }")], 2)
    );
    assert_eq!(texts(&scene.open(&plain.variables[1].value).await)[0], ("in", "1"));
    let all = scene.open(&mixed).await;
    assert!(named(&all, "hidden").special && named(&all, "[[Prototype]]").special);
    let bound = scene.children("bound").await;
    assert_eq!(named(&bound, "[[BoundThis]]").value.text, "{ self: 1 }");
    assert_eq!(named(&bound, "[[TargetFunction]]").value.text, "[Function: f]");
    let proxy = scene.children("proxy").await;
    assert_eq!(texts(&scene.open(&named(&proxy, "[[Target]]").value).await)[0], ("t", "1"));
    let promise = scene.children("Promise.resolve({ a: 1 })").await;
    assert_eq!(
        texts(&promise)[..2],
        [("[[PromiseState]]", "'fulfilled'"), ("[[PromiseResult]]", "{ a: 1 }")]
    );
    assert_eq!(texts(&scene.open(&promise[1].value).await)[0], ("a", "1"));
    let failure = scene.children("failure").await;
    assert_eq!(named(&failure, "message").value.text, "'outside'");
    assert_eq!(named(&failure, "cause").value.text, "TypeError: inside");
    assert_eq!(scene.text("runs").await, "0");
}

#[tokio::test]
async fn functions_report_their_location() {
    let scene = PausedProgram::of(PROGRAM).await;
    let (v8, scripts) = (V8Client::new(scene.client.clone()), Arc::new(Scripts::default()));
    let parsed = debugger::Script {
        script_id: scene.paused.call_frames[0].location.script_id.clone(),
        url: "main.js".to_owned(),
        ..debugger::Script::default()
    };
    scripts.add(Script::new(parsed, None, SharedPolicy::default(), v8.clone()), false);
    let values = ValueReader::new(v8, scripts, None, false);
    let request = Evaluate {
        expression: "Account".to_owned(),
        frame: RawId(1),
        deadline: Duration::from_secs(5),
        text: 100,
        pure: false,
    };
    let value = values.evaluate(&scene.frame(0), &request).await.unwrap();
    let members = values.variables(value.reference.unwrap(), page(true), 100).await.unwrap().variables;
    let target_location = named(&members, "[[FunctionLocation]]");
    assert!(
        target_location.special && target_location.value.text.starts_with("main.js:"),
        "{target_location:?}"
    );
}

#[tokio::test]
async fn references_expire_on_resume() {
    let mut scene = PausedProgram::of("const a = [[1]];\ndebugger;\ndebugger;\n").await;
    let before = scene.evaluate("a").await.unwrap().reference.unwrap();
    scene.resume().await;
    let error = scene.values.variables(before, page(true), 100).await.unwrap_err();
    assert_eq!(error, Error::Refused("the value is gone".to_owned()));
    assert_ne!(scene.evaluate("a").await.unwrap().reference.unwrap(), before);
}
