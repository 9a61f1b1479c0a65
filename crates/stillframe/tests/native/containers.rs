//! Containers with many items and maps with keys of the user's own types.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated, run_until};

const KEYS: &str = r#"
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Id(u32);
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key { Name(String), Nothing }
#[derive(Debug, PartialEq)]
enum Shape { Line(f64, f64), Dot }

fn main() {
    let names: HashMap<Id, &str> = HashMap::from([(Id(1), "ann"), (Id(2), "bob")]);
    let seen = HashSet::from([Id(5)]);
    let counts = BTreeMap::from([(Key::Name("a".into()), 1), (Key::Nothing, 2)]);
    let ages = BTreeSet::from([30, 7, 12]);
    let queue = LinkedList::from([4, 5, 6]);
    let shapes = [Shape::Line(1.0, 3.0), Shape::Dot];
    for id in [Id(1), Id(2)] {
        println!("{:?}", names.get(&id)); // @here
    }
    println!("{seen:?}{counts:?}{ages:?}{queue:?}{shapes:?}");
}
"#;

#[tokio::test]
async fn keys_are_compared_with_all_that_is_in_them() {
    let sources = Sources::new(&[("main.rs", KEYS)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let expressions = [
        ("names[&Id(2)]", "\"bob\""),
        ("names.get(&id)", "Some(\"ann\")"),
        ("names.get(&Id(3))", "None"),
        ("names.contains_key(&Id(1))", "true"),
        ("seen.contains(&Id(5))", "true"),
        ("seen.contains(&id)", "false"),
        ("id == Id(1)", "true"),
        ("id != Id(1)", "false"),
        ("counts.get(&Key::Name(\"a\".to_string()))", "Some(1)"),
        ("counts.get(&Key::Name(\"b\".to_string()))", "None"),
        ("counts[&Key::Nothing]", "2"),
        ("shapes[0] == Shape::Line(1.0, 3.0)", "true"),
        ("shapes[0] == Shape::Line(1.0, 9.0)", "false"),
        ("shapes.contains(&Shape::Line(1.0, 9.0))", "false"),
        ("ages.first()", "Some(7)"),
        ("ages.last()", "Some(30)"),
        ("queue.front()", "Some(4)"),
        ("queue.back()", "Some(6)"),
        ("queue.contains(&5)", "true"),
    ];
    let report = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&report, &expressions);
    server.finish().await;

    let until = json!([{ "file": program.path(), "line": program.line("here"), "condition": "id == Id(2)" }]);
    let server = STILLFRAME.serve().await;
    let arguments =
        json!({ "program": program.path(), "until": until, "expressions": ["id"], "timeout": 60_000 });
    let report = server.ok("run_until", arguments).await;
    assert_evaluated(&report, &[("id", "Id(2)")]);
    server.finish().await;
}

pub(crate) const WRITTEN: &str = r#"
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

#[derive(Debug)]
struct Word(String);
impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}
impl Eq for Word {}
impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_lowercase().hash(state)
    }
}
#[derive(Debug, PartialEq)]
enum Length { Meters(u32) }

fn main() {
    let word = Word("Pen".into());
    let counts = HashMap::from([(Word("PEN".into()), 1)]);
    let length = Length::Meters(3);
    println!("{:?} {}", counts.get(&word), length == Length::Meters(3)); // @here
}
"#;

#[tokio::test]
async fn values_that_the_program_compares_by_a_function_are_not_compared_here() {
    let sources = Sources::new(&[("main.rs", WRITTEN)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let refused = "the program compares `Word` by a function that is not called here; compare its fields";
    let expressions = [
        ("word == Word(\"pen\".to_string())", refused),
        ("word == word", refused),
        ("counts.get(&word)", refused),
        ("counts.contains_key(&Word(\"pen\".to_string()))", refused),
        ("word.0 == \"Pen\"", "true"),
        ("counts.len()", "1"),
        ("length == Length::Meters(3)", "true"),
        ("length == Length::Meters(4)", "false"),
    ];
    let report = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&report, &expressions);
    server.finish().await;
}

pub(crate) const TABLES: &str = r#"
use std::collections::{HashMap, HashSet};
use std::mem::MaybeUninit;

fn main() {
    let many: HashMap<u64, u64> = (0..200_000).map(|number| (number, number * 2)).collect();
    let odd: HashSet<u32> = (0..400_000).map(|number| number * 2 + 1).collect();
    let few = HashMap::from([("pen", 3)]);
    let empty: HashMap<u8, u8> = HashMap::new();
    let mut made = MaybeUninit::<HashMap<u32, HashSet<u8>>>::uninit();
    unsafe { std::ptr::write_bytes(made.as_mut_ptr(), 0x5a, 1) };
    let lost = made.as_ptr();
    let text = "ab".repeat(1_000_000) + "c";
    println!("{}{}{}{}{}{lost:?}", text.len(), many.len(), odd.len(), few.len(), empty.len()); // @here
}
"#;

#[tokio::test]
async fn hash_tables_of_any_size_are_read_and_those_of_nothing_are_not() {
    let sources = Sources::new(&[("main.rs", TABLES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let expressions = [
        ("many.len()", "200000"),
        ("odd.len()", "400000"),
        ("few", "{\"pen\": 3}"),
        ("few[\"pen\"]", "3"),
        ("empty", "{}"),
        ("lost", "<not initialized, or moved>"),
        ("text.len()", "2000001"),
        ("text.ends_with(\"bc\")", "true"),
    ];
    let report = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&report, &expressions);
    server.finish().await;
}

const LISTS: &str = r#"
#include <forward_list>
#include <list>
#include <map>
#include <string>

std::map<int, int> squares(int count) {
    std::map<int, int> made;
    for (int number = 0; number < count; ++number) made[number] = number * number;
    return made;
}

int main() {
    std::map<int, double> sorted, *kept = &sorted;
    std::list<std::string> words{"one", "two"};
    std::list<int> empty, many, long_one;
    std::forward_list<double> halves{0.5, 1.5};
    for (int number = 0; number < 500000; ++number) {
        long_one.push_back(number);
        if (number < 20000) sorted[number] = number * 0.5;
        if (number < 1000) many.push_back(number);
    }
    return words.size() + empty.size() + squares(2).size() + halves.front() > 5 ? 0 : 1; // @here
}
"#;

#[tokio::test]
async fn lists_and_trees_of_any_length_are_read_to_their_ends() {
    let sources = Sources::new(&[("main.cpp", LISTS)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let expressions = [
        ("words", "{\"one\", \"two\"}"),
        ("words.back()", "\"two\""),
        ("empty", "{}"),
        ("empty.size()", "0"),
        ("halves", "{0.5, 1.5}"),
        ("many.size()", "1000"),
        ("many.back()", "999"),
        ("long_one.size()", "500000"),
        ("squares(3)", "{[0] = 0, [1] = 1, [2] = 4}"),
        ("long_one.front()", "0"),
        ("long_one.back()", "the last of 500,000 items cannot be read here: the first 10,000 can"),
    ];
    let report = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&report, &expressions);
    // LLDB does not count the children of what it evaluates.
    let id = run_until(&server, &program, "here", &[]).await["sessionId"].clone();
    for expression in ["sorted", "*kept"] {
        let evaluated = json!({ "sessionId": id, "expression": expression });
        let evaluated = server.ok("evaluate_expression", evaluated).await;
        let reference = &evaluated["variablesReference"];
        let page = json!({ "sessionId": id, "variablesReference": reference, "start": 19_998, "count": 3 });
        let page = server.ok("get_variables", page).await;
        assert_eq!(page.at("/variables/1/value"), "{19999, 9999.5}", "{}", page.text);
        assert_eq!((page.at("/count"), page.at("/total")), (&json!(2), &json!(20_000)), "{}", page.text);
        let entry = page.at("/variables/0/variablesReference");
        let set =
            |name| json!({ "sessionId": id, "variablesReference": entry, "name": name, "value": "0.5" });
        let key = server.call("set_variable", set("first")).await;
        assert!(key.text.contains("`first` is constant"), "{}", key.text);
        let half = server.ok("set_variable", set("second")).await;
        assert_eq!(half["value"], "0.5", "{}", half.text);
    }
    server.finish().await;
}

const ONCE: &str = r#"
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

static NAMES: LazyLock<HashMap<u8, &str>> = LazyLock::new(|| HashMap::from([(1, "one")]));
static LATER: LazyLock<Vec<String>> = LazyLock::new(|| vec!["x".into()]);
static SET: OnceLock<String> = OnceLock::new();
static UNSET: OnceLock<Vec<u8>> = OnceLock::new();

fn main() {
    SET.set("pen".to_string()).unwrap();
    println!("{}", NAMES[&1]);
    println!("{SET:?} {UNSET:?}"); // @here
    println!("{:?}", LATER.first());
}
"#;

#[tokio::test]
async fn what_is_set_once_is_shown_once_it_is_set() {
    let sources = Sources::new(&[("main.rs", ONCE)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let expressions = [
        ("NAMES", "LazyLock({1: \"one\"})"),
        ("NAMES[&1]", "\"one\""),
        ("LATER", "LazyLock(<uninit>)"),
        ("SET", "OnceLock(\"pen\")"),
        ("SET.get().unwrap().len()", "3"),
        ("UNSET", "OnceLock(<uninit>)"),
        ("UNSET.get()", "None"),
    ];
    let report = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&report, &expressions);
    server.finish().await;
}

const DEBUG_MODE: &str = r#"
#include <bitset>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
    std::vector<int> row{1, 2, 3};
    std::vector<bool> flags{true, false};
    std::list<std::string> words{"a", "b"};
    std::forward_list<int> ones{1};
    std::map<std::string, int> stock{{"pen", 1}};
    std::set<int> numbers{4, 5};
    std::unordered_map<int, std::string> names{{1, "one"}};
    std::deque<int> queue{6, 7};
    std::bitset<4> bits("1010");
    return row.size() + words.size() + stock.size() + numbers.size() + names.size() + queue.size() + bits.count() > 0 ? 0 : 1; // @here
}
"#;

#[tokio::test]
async fn containers_of_the_debug_mode_of_the_library_are_shown() {
    let sources = Sources::new(&[("mode.cpp", DEBUG_MODE)]);
    let binary = sources.compiled("g++ -g -D_GLIBCXX_DEBUG mode.cpp -o mode", "mode");
    let (server, program) = (STILLFRAME.serve().await, sources.file("mode.cpp"));
    let expressions = [
        ("row", "{1, 2, 3}"),
        ("row[1]", "2"),
        ("row.size()", "3"),
        ("flags", "{true, false}"),
        ("words", "{\"a\", \"b\"}"),
        ("words.back()", "\"b\""),
        ("ones", "{1}"),
        ("stock", "{[\"pen\"] = 1}"),
        ("numbers", "{4, 5}"),
        ("names", "{[1] = \"one\"}"),
        ("queue", "{6, 7}"),
        ("bits", "1010"),
    ];
    let until = json!([{ "file": program.path(), "line": program.line("here") }]);
    let expected = expressions.map(|(expression, _)| expression);
    let asked = json!({ "program": binary, "language": "c", "until": until, "expressions": expected, "timeout": 60_000 });
    let report = server.ok("run_until", asked).await;
    assert_evaluated(&report, &expressions);
    server.finish().await;
}
