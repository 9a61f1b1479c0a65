//! Rust: values as its programmers write them, panics, steps, async functions.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, assert_evaluated, assert_locals, exception, run_until};

const VALUES: &str = r#"
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone)]
enum Shape { Circle { r: f64 }, Square(u32), Empty }

#[derive(Debug, Clone)]
enum Label { Plain, Sized(u64), Text(String, Option<Box<Label>>) }

#[derive(Debug, Clone)]
struct Item { name: String, price: u32, tags: Vec<&'static str> }

fn main() {
    let item = Item { name: "pen \"x\"".into(), price: 3, tags: vec!["a"] };
    let items = vec![item.clone()];
    let slice = &items[..];
    let reference = &item;
    let boxed = Box::new(item.clone());
    let object: Box<dyn std::fmt::Debug> = Box::new(item.clone());
    let counted: Arc<dyn std::fmt::Debug> = Arc::new(Label::Sized(3));
    let shapes = [Shape::Circle { r: 2.0 }, Shape::Square(4), Shape::Empty];
    let some = Some(Some("deep".to_owned()));
    let none: Option<u8> = None;
    // The capacity of the string tells these variants apart.
    let labels = [Label::Plain, Label::Sized(5), Label::Text(String::new(), Some(Box::new(Label::Plain)))];
    let texts: [Option<String>; 2] = [None, Some(String::new())];
    let copied = std::borrow::Cow::Borrowed("cow");
    let failed: Result<(), String> = Err("no".into());
    let map = HashMap::from([("one".to_owned(), 1_u8)]);
    let set = HashSet::from([7_i64]);
    let sorted: BTreeMap<u32, char> = (0..30).map(|number| (number, 'x')).collect();
    let names = BTreeSet::from(["a", "b"]);
    let queue = VecDeque::from([1, 2]);
    let shared = Rc::new(RefCell::new(vec![1]));
    let locked = Arc::new(Mutex::new(5_u16));
    let cell = Cell::new(true);
    let tuple = (1, "two", 3.0);
    let mixed = ('c', 1_i8, ());
    let heap = std::collections::BinaryHeap::from([3, 9]);
    let (range, closed, rest) = (1..4, 'a'..='c', 2_u8..);
    let letter = 'é';
    let bytes = [1_u8, 200];
    let (grid, tenth) = ([[0_u8; 3]; 2], 0.1_f32);
    let mut left = bytes.iter();
    left.next();
    let any: Box<dyn std::any::Any> = Box::new(5_u16);
    let times: Box<dyn Fn(u8) -> u8> = Box::new(move |by| by * bytes[0]);
    let terminated = std::ffi::CString::new("cs").unwrap();
    println!("{grid:?}{tenth}{left:?}{terminated:?}{}{}", any.is::<u8>(), times(1));
    let many = vec![0_u32; 100_000];
    println!("{labels:?}{texts:?}{copied}{counted:?}");
    println!("{item:?}{slice:?}{reference:?}{boxed:?}{object:?}{shapes:?}{some:?}{none:?}{failed:?}{map:?}{set:?}"); // @here
    println!("{mixed:?}{heap:?}{range:?}{closed:?}{rest:?}");
    println!("{sorted:?}{names:?}{queue:?}{shared:?}{locked:?}{cell:?}{tuple:?}{letter}{bytes:?}{}", many.len());
}
"#;

/// Expressions of Rust, and their values or what is wrong with them.
const EXPRESSIONS: [(&str, &str); 41] = [
    ("items[0].price", "3"),
    ("tenth == 0.1 && *shared.borrow().get(0).unwrap() == 1", "true"),
    ("item.price == 3u32 && many[0] < 1_000", "true"),
    (r#"copied == "cow""#, "true"),
    ("item.price.to_string()", r#""3""#),
    ("locked.lock().unwrap().to_string() == \"5\"", "true"),
    // Its own implementation would be called.
    (
        "shapes[2].to_string()",
        "LLDB cannot call `to_string` of `Shape`; read its fields, or a method of the standard library such as `len`, `is_some`, `unwrap` or `contains`",
    ),
    ("item.price + 1", "4"),
    ("item.name.len()", "7"),
    (r#"item.tags[0] == "a""#, "true"),
    ("&item.name[0..3]", r#""pen""#),
    ("items[1]", "index 1 is out of range: the length is 1"),
    (r#"map["one"]"#, "1"),
    (r#"map["two"]"#, r#"no such key in the map; keys: "one""#),
    ("sorted[&29]", "'x'"),
    ("set.contains(&7)", "true"),
    (r#"some.unwrap() == Some("deep")"#, "true"),
    ("texts[0].is_none() && !texts[1].is_none()", "true"),
    ("matches[0]", "use of undeclared identifier 'matches'"),
    ("sum", "use of undeclared identifier 'sum'"),
    ("optarg", "use of undeclared identifier 'optarg'"),
    ("shapes[2] == Shape::Empty", "true"),
    ("shapes[2] == Shape::Emtpy", "no variant named `Emtpy` in `Shape`"),
    ("labels[0] == labels[1] || labels[1] != Label::Sized(5)", "false"),
    ("matches!(shapes[1], Shape::Square(3..=5) | Shape::Empty)", "true"),
    ("matches!(shapes[0], Shape::Circle { r: 1.0..2.5 }) && !matches!(some, Some(None))", "true"),
    (r#"matches!(map.get("one"), Some(2..)) || matches!(tuple, (1, "tow", _))"#, "false"),
    (r#"map.get("one") == Some(&1) && items.get(4).is_none()"#, "true"),
    ("items.first().unwrap().price.pow(2).max(4)", "9"),
    ("queue.back() == Some(&2) && texts[0].is_none()", "true"),
    ("none.unwrap_or(7) == 7 && letter.is_alphabetic()", "true"),
    ("mixed.1.min(-1)", "-1"),
    ("mixed.1.pow(0) == 1 && 2.pow(3) == 8", "true"),
    ("tenth.to_string()", "LLDB cannot call `to_string` of `f"),
    ("bytes[1].pow(2)", "attempt to multiply with overflow"),
    (r#"item.name.to_uppercase().trim().starts_with("PEN")"#, "true"),
    ("failed.unwrap()", r#"the value is `Err("no")`"#),
    ("shared.borrow()[0]", "1"),
    ("tuple.1", r#""two""#),
    ("item.size", "no field `size` on `Item`"),
    ("items.iter().count()", "1"),
];

#[tokio::test]
async fn values_are_formatted_as_in_rust() {
    let sources = Sources::new(&[("main.rs", VALUES)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.rs");
    let arguments = json!({
        "program": program.path(),
        "until": [{ "file": program.path(), "line": program.line("here") }],
        "expressions": EXPRESSIONS.map(|(expression, _)| expression).as_slice(),
        "limits": { "variables": 50, "value": 400 },
        "timeout": 60_000,
    });
    let ran = server.ok("run_until", arguments).await;
    let item = r#"Item { name: "pen \"x\"", price: 3, tags: ["a"] }"#;
    assert_locals(
        &ran,
        &[
            &format!("item: Item = {item}"),
            &format!("items: Vec<Item> = [{item}]"),
            &format!("slice: &[Item] = [{item}]"),
            &format!("reference: &Item = {item}"),
            &format!("boxed: &Item = {item}"),
            &format!("object: Box<dyn Debug> = {item}"),
            "counted: Arc<dyn Debug> = Sized(3)",
            "shapes: [Shape; 3] = [Circle { r: 2.0 }, Square(4), Empty]",
            r#"some: Option<Option<String>> = Some(Some("deep"))"#,
            "none: Option<u8> = None",
            r#"labels: [Label; 3] = [Plain, Sized(5), Text("", Some(Plain))]"#,
            r#"texts: [Option<String>; 2] = [None, Some("")]"#,
            r#"copied: Cow<str> = Borrowed("cow")"#,
            r#"failed: Result<(), String> = Err("no")"#,
            r#"map: HashMap<String, u8> = {"one": 1}"#,
            "set: HashSet<i64> = {7}",
            r#"names: BTreeSet<&str> = {"a", "b"}"#,
            "queue: VecDeque<i32> = [1, 2]",
            "shared: Rc<RefCell<Vec<i32>>> = RefCell { value: [1] }",
            "locked: Arc<Mutex<u16>> = Mutex { data: 5 }",
            "cell: Cell<bool> = Cell { value: true }",
            r#"tuple: (i32, &str, f64) = (1, "two", 3.0)"#,
            "mixed: (char, i8, ()) = ('c', 1, ())",
            "heap: BinaryHeap<i32> = [9, 3]",
            "range: Range<i32> = 1..4",
            "closed: RangeInclusive<char> = 'a'..='c'",
            "grid: [[u8; 3]; 2] = [[0, 0, 0], [0, 0, 0]]",
            "left: Iter<u8> = Iter([200])",
            "any: Box<dyn Any> = 5",
            r#"terminated: CString = "cs""#,
            "rest: RangeFrom<u8> = 2..",
            "letter: char = 'é'",
            "bytes: [u8; 2] = [1, 200]",
        ],
    );
    assert!(ran.variable("sorted").starts_with("{0: 'x', 1: 'x', "), "{}", ran.variable("sorted"));
    assert!(ran.variable("sorted").ends_with("29: 'x'}"), "all three levels of the tree are read");
    assert_evaluated(&ran, &EXPRESSIONS);
    let many = ran["locals"].as_array().unwrap().iter().find(|one| one["name"] == "many").unwrap();
    let page = json!({ "sessionId": ran["sessionId"], "variablesReference": many["variablesReference"], "start": 99_998 });
    let page = server.ok("get_variables", page).await;
    assert_eq!(page["variables"].as_array().unwrap().len(), 2, "{}", page.text);
    server.finish().await;
}

const NUMBERS: &str = r#"
use std::collections::{BTreeMap, LinkedList};
use std::ffi::OsString;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

fn main() {
    let items = vec![10, 20, 30];
    let (empty, i, neg): (Vec<i32>, usize, i32) = (Vec::new(), 1, -1);
    let memo = Some("lunch".to_string());
    let sorted: BTreeMap<u32, u32> = (0..12_000).map(|number| (number, number)).collect();
    let owned = PathBuf::from("/tmp/x");
    let path: &Path = owned.as_path();
    let os = OsString::from("os");
    let shared: Rc<str> = "text".into();
    let row: Arc<[i32]> = Arc::from([1, 2]);
    let weak = Rc::downgrade(&shared);
    let missing = std::fs::read_to_string("/no/such/file");
    let custom = Error::new(ErrorKind::NotFound, "gone");
    let flag = AtomicBool::new(true);
    let list = LinkedList::from([1, 2]);
    let (mutex, lock) = (Mutex::new(5_u16), RwLock::new(vec![1, 2]));
    let (guard, reader) = (mutex.lock().unwrap(), lock.read().unwrap());
    println!("{items:?}{empty:?}{i}{neg}{memo:?}{}{path:?}{os:?}{shared}{row:?}", sorted.len()); // @here
    println!("{weak:?}{missing:?}{custom:?}{}{list:?}{guard}{reader:?}", flag.load(Ordering::Relaxed));
    println!("{}", std::hint::black_box(2.0_f64).sin());
}
"#;

#[tokio::test]
async fn numbers_and_values_without_a_size_are_those_of_rust() {
    let sources = Sources::new(&[("main.rs", NUMBERS)]);
    let server = STILLFRAME.serve().await;
    let expressions = [
        ("items[0] + items[1] * 2", "50"),
        ("items.len() / 2", "1"),
        ("items.len() % 2 == 1", "true"),
        ("i - 2", "attempt to subtract with overflow"),
        ("items[0] / (items[0] - 10)", "attempt to divide by zero"),
        ("items[0] + i", "mismatched types `i32` and `usize`"),
        ("items[0] + i as i32", "11"),
        ("neg as u8", "255"),
        // The mathematical functions of libc have static variables of these names.
        ("i as u8", "1"),
        ("i as u32", "1"),
        ("items.len() as f64 / 2.0", "1.5"),
        ("empty.is_empty() || empty[0] > 8", "true"),
        ("memo == Some(\"lunch\".to_string())", "true"),
        ("items.len() + |x| x", "this expression cannot be evaluated here"),
        ("sorted.len()", "12000"),
        ("sorted[&11_000]", "11000"),
        ("sorted.contains_key(&12_000)", "false"),
        ("path == \"/tmp/x\" && os == \"os\"", "true"),
        ("shared.len() + row.len()", "6"),
        ("row[1]", "2"),
        ("reader[1]", "2"),
    ];
    let program = sources.file("main.rs");
    let ran = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &expressions);
    let values = [
        ("path", r#""/tmp/x""#),
        ("weak", "(Weak)"),
        ("missing", r#"Err(Os { code: 2, kind: NotFound, message: "No such file or directory" })"#),
        ("custom", r#"Custom { kind: NotFound, error: "gone" }"#),
        ("flag", "true"),
        ("list", "[1, 2]"),
        ("guard", "5"),
        ("reader", "[1, 2]"),
    ];
    for (name, value) in values {
        assert_eq!(ran.variable(name), value, "{}", ran.text);
    }
    assert_locals(&ran, &["shared: Rc<str> = \"text\"", "row: Arc<[i32]> = [1, 2]"]);
    server.finish().await;
}

const GUARDS: &str = r#"
use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

struct Node { key: u16, tags: Vec<&'static str> }

fn visit(node: &Rc<RefCell<Node>>) {
    let mut node = node.borrow_mut();
    node.tags.push("seen"); // @visit
}

fn main() {
    let (names, list) = (RefCell::new(vec!["a".to_string()]), RefCell::new([1, 2, 3]));
    let object: Box<RefCell<dyn std::fmt::Debug>> = Box::new(RefCell::new(Some(7)));
    let (all, shown) = (names.borrow(), object.borrow());
    let first: Ref<str> = Ref::map(names.borrow(), |names| names[0].as_str());
    let rest: RefMut<[i32]> = RefMut::map(list.borrow_mut(), |list| &mut list[1..]);
    println!("{all:?}{first}{shown:?}{rest:?}"); // @guards
    for key in [3, 5] {
        visit(&Rc::new(RefCell::new(Node { key, tags: vec![] })));
    }
}
"#;

#[tokio::test]
async fn a_guard_of_a_cell_is_what_it_leads_to() {
    let sources = Sources::new(&[("main.rs", GUARDS)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.rs");
    let expressions = [
        ("all", r#"["a"]"#),
        ("all[0] == \"a\" && all.len() == 1", "true"),
        ("all.iter().any(|name| *name == *first)", "true"),
        ("first", r#""a""#),
        ("first.len()", "1"),
        ("rest", "[2, 3]"),
        ("rest[1] + 1", "4"),
        ("shown", "Some(7)"),
    ];
    let ran = run_until(&server, &program, "guards", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &expressions);
    let until =
        json!([{ "file": program.path(), "line": program.line("visit"), "condition": "node.key == 5" }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.variable("node"), "Node { key: 5, tags: [] }", "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn a_panic_stops_in_the_panicking_function_with_its_message() {
    let text = "fn find(names: &[&str], wanted: &str) -> usize {\n    let found = names.iter().position(|name| *name == wanted);\n    \
                found.expect(\"a name that is there\") // @panic\n}\n\nfn number(text: &str) -> Result<u8, std::num::ParseIntError> {\n    \
                text.parse()\n}\n\nfn main() -> Result<(), Box<dyn std::error::Error>> {\n    let names = [\"a\", \"b\"];\n    \
                if std::env::args().count() > 1 {\n        let handled = number(\"y\").unwrap_or(7);\n        \
                println!(\"{}\", number(\"3\")? + handled + number(\"x\")?); // @leaves\n    }\n    \
                println!(\"{}\", find(&names, \"c\"));\n    Ok(())\n}\n";
    let sources = Sources::new(&[("main.rs", text)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.rs");
    let ran = server.ok("run_until", json!({ "program": program.path(), "timeout": 60_000 })).await;
    assert_eq!(
        (ran.outcome(), ran.place()),
        ("exception", (program.path(), program.line("panic"))),
        "{}",
        ran.text
    );
    assert_eq!(exception(&ran), ("panic", "a name that is there"));
    assert_eq!(ran.at("/location/function"), "main::find");
    assert_locals(&ran, &["found: Option<usize> = None", r#"wanted: &str = "c""#]);
    let ended = server.ok("continue_execution", json!({ "sessionId": ran["sessionId"] })).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(101)));
    // An error that `main` returns stops the program where it leaves `main`.
    let asked = json!({ "program": program.path(), "args": ["x"], "timeout": 60_000 });
    let ran = server.ok("run_until", asked).await;
    let place = (program.path(), program.line("leaves"));
    assert_eq!((ran.outcome(), ran.place()), ("exception", place), "{}", ran.text);
    assert_eq!(exception(&ran).0, "error");
    assert!(exception(&ran).1.contains("InvalidDigit"), "{}", ran.text);
    assert_locals(&ran, &["handled: u8 = 7"]);
    let ended = server.ok("continue_execution", json!({ "sessionId": ran["sessionId"] })).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    server.finish().await;
}

/// What `#[tokio::main]` makes of a function, with a runtime of a few lines.
const ASYNC_MAIN: &str = r#"
use std::pin::pin;
use std::task::{Context, Poll, Waker};

macro_rules! on_a_runtime {
    (async fn main() -> $result:ty $body:block) => {
        fn main() -> $result {
            let mut body = pin!(async $body);
            loop {
                if let Poll::Ready(result) = body.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    return result;
                }
            }
        }
    };
}

async fn number(text: &str) -> Result<u8, String> {
    let digits = text.parse::<u8>().map_err(|error| format!("{text}: {error}"))?;
    Ok(digits)
}

on_a_runtime! {
async fn main() -> Result<(), String> {
    let handled = number("y").await.unwrap_or(7);
    let shown = async { number("z").await?; Ok::<u8, String>(1) }.await;
    let first = number("3").await?;
    if std::env::args().count() > 1 {
        return Err(format!("{first} and {handled}")); // @makes
    }
    let sum = number("x").await? + first; // @converts
    println!("{sum} {shown:?}");
    Ok(())
}
}
"#;

#[tokio::test]
async fn an_error_that_an_asynchronous_main_returns_stops_there() {
    let sources = Sources::new(&[("main.rs", ASYNC_MAIN)]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    for (args, name, error) in [(json!([]), "converts", "x: invalid digit"), (json!(["x"]), "makes", "")] {
        let asked = json!({ "program": program.path(), "args": args, "timeout": 60_000 });
        let ran = server.ok("run_until", asked).await;
        assert_eq!(
            (ran.outcome(), ran.place()),
            ("exception", (program.path(), program.line(name))),
            "{}",
            ran.text
        );
        assert!(exception(&ran).0 == "error" && exception(&ran).1.contains(error), "{}", ran.text);
        assert_locals(&ran, &["handled: u8 = 7", "first: u8 = 3"]);
        let ended = server.ok("continue_execution", json!({ "sessionId": ran["sessionId"] })).await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn conditions_compare_strings_and_variants_and_call_methods() {
    let text = "#[derive(Clone, Copy)]\nenum Mode { Fast, Slow }\n\n\
                fn pick<T: Copy>(items: &[T]) -> T {\n    let at = items.len() / 2; // @pick\n    items[at]\n}\n\nfn main() {\n    let mut seen = Vec::new();\n    \
                for (name, mode) in [(\"a\", Mode::Slow), (\"b\", Mode::Slow), (\"c\", Mode::Fast)] {\n        \
                seen.push((name, mode as u8)); // @here\n    }\n    println!(\"{} {}\", seen.len(), pick(&[1, 2, 3]));\n}\n";
    let sources = Sources::new(&[("main.rs", text)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.rs");
    for (condition, name) in
        [("name == \"b\"", r#""b""#), ("mode == Mode::Fast", r#""c""#), ("seen.len() > 1", r#""c""#)]
    {
        let until = json!([{ "file": program.path(), "line": program.line("here"), "condition": condition }]);
        let ran = server
            .ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 }))
            .await;
        assert_eq!((ran.outcome(), ran.variable("name")), ("breakpoint", name), "{condition}: {}", ran.text);
        server.ok("close_debug_session", json!({ "sessionId": ran["sessionId"] })).await;
    }
    // LLDB knows it only as `pick<i32>`.
    let until = json!([{ "file": program.path(), "function": "pick" }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.place(), (program.path(), program.line("pick")), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn steps_stay_in_user_code_and_functions_are_found_by_path() {
    let text = "mod shop {\n    pub struct Cart { pub sum: u32 }\n    impl Cart {\n        pub fn add(&mut self, price: u32) {\n            \
                self.sum += price; // @add\n        }\n    }\n}\n\nfn main() {\n    let mut cart = shop::Cart { sum: 0 };\n    \
                let prices: Vec<u32> = (1..4).collect(); // @prices\n    for price in prices { // @loop\n        \
                cart.add(price); // @call\n    }\n    println!(\"{}\", cart.sum); // @print\n}\n";
    let sources = Sources::new(&[("main.rs", text)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.rs");
    let ran = run_until(&server, &program, "prices", &[]).await;
    let id = ran["sessionId"].clone();
    let step = async |tool: &str| server.ok(tool, json!({ "sessionId": id })).await;
    for (tool, line) in
        [("step_into", "loop"), ("step_into", "call"), ("step_into", "add"), ("step_out", "call")]
    {
        let stepped = step(tool).await;
        assert_eq!(stepped.place(), (program.path(), program.line(line)), "{tool}: {}", stepped.text);
    }
    let until = json!([{ "function": "shop::Cart::add", "condition": "price == 3" }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.place(), (program.path(), program.line("add")), "{}", ran.text);
    assert_eq!((ran.variable("price"), ran.variable("self")), ("3", "Cart { sum: 3 }"));
    server.finish().await;
}

/// Methods, generic functions and closures, of which the compiler makes different names in its two manglings.
const NAMED: &str = r#"
mod shop {
    pub struct Cart<T> { pub prices: Vec<T> }
    impl<T: Copy + Into<u64>> Cart<T> {
        pub fn add(&mut self, price: T) -> u64 {
            self.prices.push(price); // @add
            self.prices.iter().map(|price| (*price).into()).sum() // @sum
        }
    }
    pub trait Shown { fn show(&self) -> String; }
    impl<T> Shown for Cart<T> {
        fn show(&self) -> String {
            self.prices.len().to_string() // @show
        }
    }
    pub fn pick<T: Copy>(items: &[T], number: usize) -> T {
        items[number] // @pick
    }
}
use shop::Shown;
fn main() {
    let mut bytes = shop::Cart { prices: vec![1u8] };
    let mut words = shop::Cart { prices: vec![2u16] };
    let sums = (bytes.add(3), words.add(4));
    println!("{sums:?} {} {}", words.show(), shop::pick(&words.prices, 1));
}
"#;

#[tokio::test]
async fn functions_are_found_by_their_paths_in_both_manglings() {
    let server = STILLFRAME.serve().await;
    // The first is that of the stable compiler.
    for mangling in ["", " -C symbol-mangling-version=v0"] {
        let sources = Sources::new(&[("main.rs", NAMED)]);
        let command = format!("rustc -g{mangling} main.rs");
        let (binary, program) = (sources.compiled(&command, "main"), sources.file("main.rs"));
        for (function, condition, line, shown) in [
            ("Cart::add", "price == 4", "add", "main::shop::Cart<T>::add"),
            ("shop::Shown::show", "true", "show", "<main::shop::Cart<T> as main::shop::Shown>::show"),
            ("main::shop::pick", "number == 1", "pick", "main::shop::pick"),
            ("add", "price == 4", "add", "main::shop::Cart<T>::add"),
        ] {
            let until = json!([{ "function": function, "condition": condition }]);
            let arguments =
                json!({ "program": binary, "language": "rust", "until": until, "timeout": 60_000 });
            let ran = server.ok("run_until", arguments).await;
            assert_eq!(ran.place(), (program.path(), program.line(line)), "{mangling}: {}", ran.text);
            let name = ran.at("/location/function").as_str().unwrap().replace("Cart<u16>", "Cart<T>");
            assert_eq!(name, shown, "{mangling}");
        }
        let until = json!([{ "function": "Vec::push" }]);
        let arguments = json!({ "program": binary, "language": "rust", "until": until, "timeout": 60_000 });
        let ran = server.ok("run_until", arguments).await;
        assert!(ran.at("/location/function").to_string().contains("::push"), "{mangling}: {}", ran.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn variables_of_async_functions_are_shown() {
    let text = r#"
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

struct Later(bool);

impl Future for Later {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        if std::mem::replace(&mut self.0, true) { return Poll::Ready(7); }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn price(name: &str) -> u32 {
    let length = name.len() as u32;
    let later = Later(false).await;
    length + later // @after
}

fn main() {
    let mut future = pin!(price("pen"));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(price) = future.as_mut().poll(&mut context) {
            println!("{price}");
            break;
        }
    }
}
"#;
    let sources = Sources::new(&[("main.rs", text)]);
    let server = STILLFRAME.serve().await;
    let ran = run_until(&server, &sources.file("main.rs"), "after", &["length"]).await;
    assert_locals(&ran, &[r#"name: &str = "pen""#, "length: u32 = 3", "later: u32 = 7"]);
    server.finish().await;
}

#[tokio::test]
async fn a_compiler_error_is_the_answer() {
    let sources = Sources::new(&[("main.rs", "fn main() {\n    let count: u32 = \"three\";\n}\n")]);
    let server = STILLFRAME.serve().await;
    let program = sources.path("main.rs");
    let failed = server.call("run_until", json!({ "program": program, "timeout": 60_000 })).await;
    assert!(
        failed.text.contains("does not compile") && failed.text.contains("main.rs:2:22"),
        "{}",
        failed.text
    );
    assert!(failed.text.contains("mismatched types"), "{}", failed.text);
    server.finish().await;
}

#[tokio::test]
async fn a_field_is_watched_by_any_name() {
    let program = test_support::Fixture::read(test_support::repository().join("fixtures/watched/main.rs"));
    let server = STILLFRAME.serve().await;
    let ready = run_until(&server, &program, "ready", &[]).await;
    let id = &ready["sessionId"];
    server.ok("set_breakpoint", json!({ "sessionId": id, "watch": "cart.total" })).await;
    for (written, new) in
        [("written", "5"), ("written_by_alias", "7"), ("written_in_function", "10"), ("written_last", "20")]
    {
        let stopped = server.ok("continue_execution", json!({ "sessionId": id })).await;
        let change = &stopped["dataChanges"][0];
        let expected = (json!(new), json!(program.line(written)));
        assert_eq!((&change["new"], &change["by"]["line"]), (&expected.0, &expected.1), "{}", stopped.text);
    }
    let ended = server.ok("continue_execution", json!({ "sessionId": id })).await;
    assert_eq!(ended["exitCode"], 0, "{}", ended.text);
    server.finish().await;
}
