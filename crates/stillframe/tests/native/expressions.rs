//! Expressions whose methods, operators and functions are not in the program.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated, run_until};

const CLOSURES: &str = r#"
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::{Rc, Weak};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

#[derive(PartialEq, PartialOrd, Clone, Copy)]
enum Level { Low, Mid, High }
struct Item { name: String, count: u32, price: f64, level: Level, tags: Vec<&'static str> }
enum Event { Sold { name: &'static str, count: u32 }, Closed }
struct Key(u32);
impl Key { fn unwrap(&self) -> u32 { self.0 + 1 } }
mod config { pub static LIMIT: u32 = 7; }
mod other { pub static LIMIT: u32 = 9; }
static LIMIT: u32 = 1;

fn item(name: &str, count: u32, price: f64, level: Level, tags: &[&'static str]) -> Item {
    Item { name: name.to_string(), count, price, level, tags: tags.to_vec() }
}

fn main() {
    let items = vec![item("pen", 3, 1.5, Level::Low, &["a"]), item("ink", 0, 7.25, Level::High, &["a", "b"])];
    let stock: HashMap<String, u32> = items.iter().map(|item| (item.name.clone(), item.count)).collect();
    let cells: BTreeMap<(i32, i32), char> = [((0, 1), 'x'), ((1, 1), 'o')].into();
    let events = VecDeque::from([Event::Sold { name: "pen", count: 9 }, Event::Closed]);
    let (memo, found): (Option<&str>, Result<u32, String>) = (None, "17".parse().map_err(|_| String::new()));
    let shared = Mutex::new(vec![4, 8, 15]);
    let (sender, receiver) = std::sync::mpsc::channel::<u8>();
    let owner = Rc::new(5);
    let (weak, gone): (Weak<i32>, Weak<i32>) = (Rc::downgrade(&owner), Weak::new());
    let (wait, time) = (Duration::from_micros(20_500), SystemTime::UNIX_EPOCH + Duration::from_nanos(7));
    let (byte, low, letter, part, key, word) = (200_u8, i8::MIN, 'q', 0.1_f32, Key(4), "inf");
    let (order, range, flag) = (byte.cmp(&250), 3..8, std::sync::atomic::AtomicBool::new(false));
    println!("{low}{letter}{part}{word}{order:?}{range:?}{flag:?}{}{}", key.unwrap(), config::LIMIT + other::LIMIT + LIMIT);
    for word in ["one", "three", "five"] {
        println!("{word}"); // @word
    }
    println!("{}{}{memo:?}{found:?}{shared:?}{weak:?}{gone:?}{sender:?}{receiver:?}", stock.len(), cells.len()); // @here
    println!("{wait:?}{time:?}");
    for event in &events {
        if let Event::Sold { name, count } = event { println!("{name}{count}"); }
    }
    println!("{}", items.iter().map(|item| item.tags.len() as f64 + item.price).sum::<f64>());
    println!("{}", Level::Mid < items[0].level);
}
"#;

#[tokio::test]
async fn closures_and_iterators_are_evaluated() {
    let sources = Sources::new(&[("main.rs", CLOSURES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let expressions = [
        ("items.iter().any(|item| item.count == 0 && item.price > 7.0)", "true"),
        ("items.iter().all(|item| item.level > Level::Low)", "false"),
        ("items.iter().map(|item| item.price * item.count as f64).sum::<f64>()", "4.5"),
        ("items.iter().filter(|item| item.tags.contains(&\"b\")).count()", "1"),
        ("items.iter().position(|item| item.name == \"ink\")", "Some(1)"),
        ("items.iter().max_by(|a, b| a.price.total_cmp(&b.price)).unwrap().name", "\"ink\""),
        (
            "items.iter().flat_map(|item| item.tags.iter()).enumerate().skip(1).map(|(at, _)| at).last()",
            "Some(2)",
        ),
        ("items.iter().map(|item| item.name.to_uppercase()).collect::<Vec<_>>().join(\"+\")", "\"PEN+INK\""),
        ("items.iter().map(|item| item.count).filter(|count| *count > 99).collect::<Vec<_>>()", "[]"),
        (
            "items.iter().map(|item| item.count).collect::<HashSet<_>>().len()",
            "`collect` makes a `Vec` or a `String` here, not a `HashSet`",
        ),
        ("items.windows(2).any(|pair| pair[0].price < pair[1].price)", "true"),
        ("items[1].tags[1..] == [\"b\"]", "true"),
        ("stock.iter().find(|(_, count)| **count > 2).unwrap().0", "\"pen\""),
        ("stock.values().copied().max().unwrap_or_default()", "3"),
        ("stock.get(\"nib\").is_some_and(|count| *count > 2)", "false"),
        ("cells.get(&(1, 1)) == Some('o')", "true"),
        (
            "events.iter().any(|event| matches!(event, Event::Sold { name, count } if *count > 8 && *name == \"pen\"))",
            "true",
        ),
        ("matches!(events[0], Event::Sold { ref name, .. } if name == \"pen\")", "true"),
        ("events[0] == events[0] && items[0].tags != items[1].tags", "true"),
        ("memo.map_or(0, |memo| memo.len())", "0"),
        ("found.as_ref().is_ok_and(|number| (1..=20).contains(number))", "true"),
        ("shared.lock().unwrap().iter().rev().take(2).map(|n| n * 2).collect::<Vec<_>>()", "[30, 16]"),
        ("\"a-b\".split('-').map(|part| part.len()).sum::<usize>() as u32 == u32::MAX", "false"),
        ("weak.upgrade().is_some_and(|n| *n == 5)", "true"),
        ("gone.upgrade().is_none()", "true"),
        ("Rc::strong_count(&owner) + Rc::weak_count(&owner)", "2"),
        ("wait > Duration::from_millis(20)", "true"),
        ("wait", "20.5ms"),
        ("time", "SystemTime { tv_sec: 0, tv_nsec: 7 }"),
        ("sender", "Sender { .. }"),
        ("\"300\".parse::<u8>().is_err() && found.unwrap_or(0) == 17", "true"),
        ("items.iter()", "an iterator has no value of its own here"),
        ("items.iter().any(|item| item.price())", "LLDB cannot call `price` of `Item`"),
        ("shared.lock().is_some()", "the value is `Ok`, which has no `is_some`"),
        (
            "(0..=255u8).contains(&byte) && ('a'..='q').contains(&letter) && (0.0..=0.1).contains(&part)",
            "true",
        ),
        ("!byte == 55 && byte & !8 == 192 && low == -128i8 && byte.abs_diff(210) + 1u8 == 11", "true"),
        ("range.is_empty() | (byte == 200) & !false", "true"),
        ("true & true", "true"),
        ("range.contains(&8) || range.len() != 5 || flag.load(Ordering::SeqCst)", "false"),
        ("16777217 as f32 as i32", "16777216"),
        ("byte as f32 / 3.0", "66.666664"),
        ("0.1f32 as f64 == 0.1 || 0.1f32 != part", "false"),
        (
            "items[0].price.partial_cmp(&f64::NAN) == None && part.partial_cmp(&1.0).is_some_and(|order| order.is_lt())",
            "true",
        ),
        ("f64::NAN.partial_cmp(&1.0) == Some(Ordering::Equal)", "false"),
        ("byte.checked_add(100)", "None"),
        ("low.unwrap()", "`i8` is neither an option nor a result"),
        ("word.parse::<f64>().is_ok_and(|number| number > f64::MAX)", "true"),
        ("byte.cmp(&3) == Ordering::Greater && order.is_lt() && order == 1.cmp(&2)", "true"),
        ("byte.cmp(&3)", "it is `Greater`; compare it"),
        ("key.unwrap()", "`Key` is neither an option nor a result"),
        ("other::LIMIT + LIMIT * 10", "19"),
        ("items.retain(|item| item.count > 0)", "`retain` with a closure cannot be evaluated here"),
    ];
    let ran = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &expressions);
    let until = json!([{
        "file": program.path(), "line": program.line("word"), "condition": "word.chars().filter(|c| *c == 'e').count() > 1",
    }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.variable("word"), "\"three\"", "{}", ran.text);
    server.finish().await;
}

const GETTERS: &str = r#"
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

enum Level { LOW = 1, HIGH = 5 };
enum { READ = 1, WRITE = 2, RUN = 4 };
class User {
    std::string name_;
    int age_;
    std::vector<int> scores_;

public:
    User(std::string name, int age) : name_(std::move(name)), age_(age), scores_{age, age + 1} {}
    virtual ~User() = default;
    const std::string &name() const { return name_; }
    std::string copy() const { return name_ + "!"; }
    std::string_view view() const { return name_; }
    const std::vector<int> &scores() const { return scores_; }
    int age() const { return age_; }
};
struct Admin : User { using User::User; };
int twice(int number) { return number * 2; }

int main() {
    std::vector<std::unique_ptr<User>> users;
    users.push_back(std::make_unique<User>("ann", 30));
    users.push_back(std::make_unique<Admin>("bob", 12));
    std::map<std::string, int> stock{{"pen", 3}};
    std::unordered_map<int, int> table{{1, 2}};
    auto found = stock.find("pen"), missing = stock.find("ink");
    std::set<int> numbers{7};
    std::variant<int, std::string, std::vector<int>> any = std::vector<int>{4, 5};
    std::atomic<std::shared_ptr<int>> shared{std::make_shared<int>(42)};
    std::chrono::milliseconds wait(1500);
    Level level = HIGH;
    unsigned mode = READ | RUN;
    std::unique_ptr<User> empty;
    int sum = 0;
    for (const auto &held : users) {
        const User &user = *held;
        char text[8];
        std::strcpy(text, user.name().c_str());
        sum += twice(user.age()) + user.scores()[0] + int(user.copy().size() + user.view().size()); // @here
    }
    return empty || sum + mode + level + found->second + table[1] + *shared.load() + int(missing == stock.end()) > 0 ? 0 : 1;
}
"#;

#[tokio::test]
async fn results_of_methods_iterators_and_functions_of_the_library_are_compared() {
    let sources = Sources::new(&[("main.cpp", GETTERS)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let expressions = [
        ("user.name() == \"ann\"", "true"),
        ("user.copy() == \"ann!\" && user.view() < \"b\"", "true"),
        ("users.size() == 2 && user.age() == 30 && user.scores().back() == 31", "true"),
        ("twice(user.age()) > 50 && users[1]->name() == \"bob\"", "true"),
        (
            "dynamic_cast<Admin*>(users[1].get()) != nullptr && dynamic_cast<Admin*>(users[0].get()) == nullptr",
            "true",
        ),
        ("strcmp(text, \"ann\") == 0 && std::strlen(text) == 3", "true"),
        ("text == \"ann\"", "this compares addresses, not texts"),
        ("stock.find(\"pen\") != stock.end() && stock.find(\"ink\") == stock.end()", "true"),
        ("found != stock.end() && found->second > 2", "true"),
        ("table.find(1) != table.end() && numbers.find(7) == numbers.end()", "false"),
        ("missing->second", "the iterator is at the end"),
        ("std::holds_alternative<std::string>(any)", "false"),
        ("std::get<std::vector<int>>(any).size()", "2"),
        ("std::get<int>(any)", "the variant holds `std::vector<int>`, not `int`"),
        ("std::get_if<int>(&any) == nullptr", "true"),
        ("static_cast<double>(stock[\"pen\"]) / 2 + std::max(1, (int)stock[\"pen\"])", "4.5"),
        ("wait > std::chrono::seconds(1)", "true"),
        ("level > LOW", "true"),
        ("RUN", "4"),
        ("mode & WRITE || mode == (READ | RUN)", "true"),
        ("*numbers.begin() == 7 ? stock.begin()->first : text", "\"pen\""),
        ("empty.get() == nullptr && empty->age() > 1", "the pointer is null"),
    ];
    let ran = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &expressions);
    for (name, value) in [("found", "{\"pen\", 3}"), ("missing", "end"), ("shared", "42")] {
        assert_eq!(ran.variable(name), value, "{}", ran.text);
    }
    let until = json!([{ "file": program.path(), "line": program.line("here"), "condition": "user.name() == \"bob\"" }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.variable("text"), "\"bob\"", "{}", ran.text);
    server.finish().await;
}

const NAMES: &str = r#"
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <unordered_map>

struct Counted { static int counter; static constexpr double rate = 0.25; };
enum Status { OPEN, PAID = 3, SENT };
int Counted::counter = 3;
namespace shop { int total = 7; }
namespace east { int side = 1, gate = 3; }
namespace west { int side = 2, gate = 4; }
int counter = 50, total = 100;
struct Animal { int x = 1; virtual ~Animal() = default; };
struct Middle : Animal { int x = 5; };
struct Last : Middle { int x = 9; };
struct Dog : Animal {};
namespace zoo {
struct Dog : Animal {};
struct Keeper {
    int total = 5;
    bool is_own(const std::string &text, Animal *animal, Dog *dog) {
        using namespace east;
        return dog && animal && text.size() + total; // @keeper
    }
};
}

int main() {
    using namespace west;
    std::map<std::string, std::map<int, int>, std::greater<std::string>> nested{{"a", {}}, {"b", {{1, 2}}}, {"c", {}}};
    std::map<uint32_t, int> numbers{{4294967295u, 7}, {1, 2}, {5, 6}};
    struct Shorter {
        bool operator()(const std::string &one, const std::string &other) const { return one.size() < other.size(); }
    };
    std::map<std::string, int, Shorter> sized{{"ab", 1}};
    std::list<std::pair<int, int>> recent{{3, 4}};
    std::unordered_map<int, std::list<std::pair<int, int>>::iterator> index{{3, recent.begin()}};
    std::string text = "\xff";
    char row[] = "\xff";
    Last last;
    Animal *animal = &last;
    Dog dog;
    zoo::Dog own;
    Status status = PAID;
    int found = zoo::Keeper().is_own(text, &dog, &own) + status;
    return found + row[0] + animal->x + shop::total + sized.size() + index.size() + nested.count("a") + numbers.count(-1) + counter + total + Counted::counter; // @main
}
"#;

#[tokio::test]
async fn names_and_keys_are_found_as_cpp_finds_them() {
    let sources = Sources::new(&[("main.cpp", NAMES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let at_main = [
        ("nested.count(\"a\") == 1 && nested[\"b\"][1] == 2", "true"),
        ("numbers.count(-1) == 1 && numbers[4294967301] == 6", "true"),
        ("sized.count(\"ab\")", "1"),
        ("sized.count(\"xy\")", "keys are compared by a function of the program"),
        ("index.at(3)->second + index[3]->first", "7"),
        ("counter == 50 && text == \"\\xff\"", "true"),
        ("total", "100"),
        ("side", "2"),
        ("side == 1 || gate != 4", "false"),
        ("shop::total + Counted::counter", "10"),
        ("Counted::rate", "the program has no variable `Counted::rate`"),
        ("SENT > PAID && text != \"\"", "true"),
        ("text == \"\\xfe\" || text == \"\\u00ff\" || strcmp(row, \"\\xfe\") == 0", "false"),
        ("dynamic_cast<Middle*>(animal)->x", "5"),
        ("animal->x == 1 && dynamic_cast<Last*>(animal)->x == 9 && text != \"\"", "true"),
        ("static_cast<long int>(5000000000)", "5000000000"),
    ];
    let ran = run_until(&server, &program, "main", &at_main.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &at_main);
    for (name, value) in [("text", r#""\xff""#), ("row", r#""\xff""#)] {
        assert_eq!(ran.variable(name), value, "{}", ran.text);
    }
    let at_keeper = [
        ("total == 5 && text == \"\\xff\"", "true"),
        ("total", "5"),
        ("::total", "100"),
        ("side", "1"),
        ("dynamic_cast<Dog*>(animal) == nullptr", "true"),
        ("dynamic_cast<::Dog*>(animal) == nullptr", "false"),
    ];
    let ran = run_until(&server, &program, "keeper", &at_keeper.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &at_keeper);
    let point = json!({ "file": program.path(), "line": program.line("keeper"), "expressions": ["total"] });
    let recorded = server.ok("trace_values", json!({ "program": program.path(), "points": [point] })).await;
    assert_eq!(
        (&recorded["recordedBy"], recorded.at("/rows/0/values/0/value")),
        (&json!("debugger"), &json!("5")),
        "{}",
        recorded.text
    );
    server.finish().await;
}

// GCC writes the size of structures that are equally large into the table of abbreviations of DWARF 5.
const BITS: &str = "\
#include <stdlib.h>
struct value { int kind; union { long number; char text[16]; } as; unsigned char flags : 3; };
struct node { char key[16]; struct value *value; struct node *next; };
int main(void) {
    struct node *node = calloc(1, sizeof *node);
    node->value = calloc(1, sizeof *node->value);
    node->value->flags = 5;
    return node->value->flags == 5 ? 0 : node->key[0]; // @here
}
";

#[tokio::test]
async fn bit_fields_are_found() {
    let sources = Sources::new(&[("main.c", BITS)]);
    let server = STILLFRAME.serve().await;
    let expressions = [
        ("node->value->flags == 5", "true"),
        ("node->next->value", "the pointer is null"),
        ("abs(-2.5) == 2 && fabs(-3) / 2 == 1.5", "true"),
    ];
    let ran = run_until(&server, &sources.file("main.c"), "here", &expressions.map(|(one, _)| one)).await;
    assert_evaluated(&ran, &expressions);
    server.finish().await;
}

// LLDB cannot evaluate expressions of a class that has an `std::optional`.
const FIELDS: &str = "\
#include <optional>
#include <string>
#include <vector>
enum class Kind : unsigned char { red = 1, green };
struct Item {
    std::optional<std::string> note;
    unsigned ready : 1, level : 3, rest : 12;
    int low : 4;
    bool is_on : 1;
    Kind kind : 3;
    long long wide : 40;
};
int main() {
    Item item{\"note\", 1, 5, 100, -3, true, Kind::green, -70000000000};
    std::vector<Item> items{item};
    return (int)items.size(); // @here
}
";

#[tokio::test]
async fn bit_fields_have_only_their_own_bits() {
    let sources = Sources::new(&[("main.cpp", FIELDS)]);
    let server = STILLFRAME.serve().await;
    let expressions = [
        ("item.level", "5"),
        ("items[0].rest", "100"),
        ("items[0].low", "-3"),
        ("items[0].is_on", "true"),
        ("item.kind", "green"),
        ("items[0].wide", "-70000000000"),
        ("item.level + items[0].ready", "6"),
    ];
    let ran = run_until(&server, &sources.file("main.cpp"), "here", &expressions.map(|(one, _)| one)).await;
    assert_evaluated(&ran, &expressions);
    server.finish().await;
}

const CALLS: &str = "\
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
enum class Level : unsigned char { low = 1, high = 9 };
struct Item {
    std::optional<Level> level;
    std::optional<double> price;
};
struct Store {
    std::vector<std::shared_ptr<Item>> items;
    const std::shared_ptr<Item> &at(std::size_t index) const { return items.at(index); }
    std::size_t count(std::span<const int> row, const std::string &name) const { return row.size() + name.size(); }
    std::optional<int> size(const std::string &name) const { return (int)(items.size() + name.size()); }
    static int letters(std::string_view text) { return (int)text.size(); }
    static std::optional<int> twice(int number) { return 2 * number; }
};
static std::optional<double> half(int number) { if (number) return number / 2.0; return std::nullopt; }
static std::size_t length(std::string_view text, int more) { return text.size() + more; }
int main() {
    Store store;
    int numbers[] = {1, 2, 3};
    std::span<const int> row(numbers);
    std::string name = \"pen\";
    std::string_view word = \"seven\";
    store.items.push_back(std::make_shared<Item>(Item{Level::high, 2.5}));
    bool is_known = store.size(name) && Store::letters(word) && Store::twice(1);
    return is_known && store.at(0)->price > 3 && store.count(row, name) && length(word, 1) && half(1); // @here
}
";

#[tokio::test]
async fn calls_take_views_and_give_optionals() {
    let sources = Sources::new(&[("main.cpp", CALLS)]);
    let server = STILLFRAME.serve().await;
    let expressions = [
        ("store.at(0)->level.value()", "high"),
        ("*store.at(0)->price", "2.5"),
        ("store.at(0)->price.value_or(1)", "2.5"),
        ("store.at(0)->level.value() == Level::high", "true"),
        ("store.count(row, name) + 1", "7"),
        ("store.size(name)", "4"),
        ("store.letters(word)", "5"),
        ("store.twice(3)", "6"),
        ("length(word, 2)", "7"),
        ("half(5)", "2.5"),
        ("half(0)", "nullopt"),
        ("half(3).value() > 1", "true"),
    ];
    let ran = run_until(&server, &sources.file("main.cpp"), "here", &expressions.map(|(one, _)| one)).await;
    assert_evaluated(&ran, &expressions);
    server.finish().await;
}

const ROWS: &str = "\
int total(int count, const int *items) {
    int copy[count], fixed[5] = {1};
    long grid[2][count], wide[count][8];
    for (int at = 0; at < count; at++) copy[at] = grid[0][at] = grid[1][at] = wide[1][at] = items[at];
    return copy[0] + fixed[0] + (int)grid[1][0] + (int)wide[1][0]; // @here
}
int main(void) {
    return total(3, (int[]){10, 20, 30});
}
";

#[tokio::test]
async fn a_variable_length_array_has_no_length() {
    let sources = Sources::new(&[("main.c", ROWS)]);
    let server = STILLFRAME.serve().await;
    let expressions = [
        ("copy", "{...}"),
        ("copy[1]", "20"),
        ("sizeof(copy)", "`copy` has a variable length, which LLDB does not know"),
        ("sizeof(copy[0])", "4"),
        ("copy[1] * sizeof(int)", "80"),
        ("wide[1][2]", "30"),
        ("grid[1][0]", "`grid` has a variable length, which LLDB does not know"),
        ("fixed", "{1, 0, 0, 0, 0}"),
        ("sizeof(fixed)", "20"),
    ];
    let ran = run_until(&server, &sources.file("main.c"), "here", &expressions.map(|(one, _)| one)).await;
    assert_evaluated(&ran, &expressions);
    server.finish().await;
}
