//! C++: containers and pointers of the standard library as values, exceptions with type and message.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, assert_evaluated, assert_locals, run_until};

const VALUES: &str = r#"
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <valarray>
#include <variant>
#include <vector>

struct Base { virtual ~Base() = default; virtual int twice() const { return 2 * id; } int id = 1; };
struct Item : Base { std::string name; std::vector<int> sizes; };
enum class Color { Red, Green };
struct Held { std::optional<int> count; };
struct Span { int from, to; };
struct User {
    int id;
    std::optional<std::string> email;
    Color color = Color::Green;
    std::optional<int> note;
    int twice() const { return 2 * id; } // @inside
};
// As in the header of that library, whose types inside it have its name in theirs.
namespace nlohmann {
template <class Number> struct basic_json {
    enum class value_t { null, object, array, string, number_integer };
    using object_t = std::map<std::string, basic_json>;
    using array_t = std::vector<basic_json>;
    union json_value { object_t *object; array_t *array; std::string *string; Number number_integer; };
    value_t m_type = value_t::null;
    json_value m_value = {};
};
using json = basic_json<long>;
}
static constexpr int LIMIT = 3;
std::string greeting = "hi"; // @global

static bool is_greeting(const std::string &text) { return text == greeting; }
static int show(const Item &item) {
    return item.id; // @reference
}

int main() {
    Item item;
    item.name = "pen \"x\"";
    item.sizes = {1, 2};
    std::vector<std::string> names{"a", "b"};
    std::map<std::string, int> map{{"one", 1}};
    std::unordered_map<int, std::string> hashed{{1, "x"}};
    std::set<int> set{3, 1};
    std::string_view view = item.name;
    auto shared = std::make_shared<Item>(item);
    std::unique_ptr<Item> unique(new Item(item)), empty;
    std::shared_ptr<int[]> row(new int[2]{8, 9});
    std::optional<int> some = 5, nothing;
    std::vector<Held> held{{3}};
    std::optional<std::string> word = "word", no_word;
    std::variant<int, std::string> variant = "text";
    std::variant<std::monostate, int> blank;
    std::filesystem::path path = "/usr/bin";
    std::chrono::milliseconds wait(1500);
    std::chrono::system_clock::time_point moment{std::chrono::seconds(1700000000)};
    std::priority_queue<int> queue;
    queue.push(1);
    queue.push(2);
    std::map<int, int> keyed{{5, 50}};
    std::atomic<int> counter{7};
    for (auto &one : held) counter += 0 * *one.count;
    std::tuple<int, std::string> tuple{1, "b"};
    using nlohmann::json;
    json number, text, list, document;
    number.m_type = json::value_t::number_integer, number.m_value.number_integer = 3;
    text.m_type = json::value_t::string, text.m_value.string = &item.name;
    json::array_t both{number, text};
    list.m_type = json::value_t::array, list.m_value.array = &both;
    json::object_t members{{"list", list}, {"none", {}}};
    document.m_type = json::value_t::object, document.m_value.object = &members;
    std::pair<int, double> pair{1, 2.5};
    std::array<int, 3> array{1, 2, 3};
    Color color = Color::Green;
    std::vector<int> many(100000, 7);
    std::valarray<double> reals{1.5, 2.5};
    std::vector<int> ten{10, 20}, none;
    std::map<char, int> letters{{'a', 1}};
    std::multimap<int, int> doubled{{1, 1}, {1, 2}};
    std::map<int, int> sorted;
    std::unordered_map<int, int> large;
    for (int at = 0; at < 20000; at++) sorted[at] = large[at] = 2 * at;
    std::atomic<Span> span{Span{1, 2}};
    std::optional<std::optional<int>> outer = std::optional<int>{};
    std::string wide = "na\u00efve" + std::string(70000, 'x');
    User user{3, "x"};
    return show(item) + (int)many.size() + user.twice() + span.load().to + is_greeting(wide); // @here
}
"#;

/// Expressions whose functions are not in the program, and their values or what is wrong with them. LLDB's compiler
/// crashes at those of `word`.
const EXPRESSIONS: [(&str, &str); 51] = [
    ("row[1]", "9"),
    ("*held.begin()", "{count = 3}"),
    ("item.name", r#""pen \"x\"""#),
    ("names[1]", r#""b""#),
    ("names.at(2)", "index 2 is out of range: the length is 2"),
    ("shared->id", "1"),
    ("unique->twice()", "2"),
    ("*unique", r#"{id = 1, name = "pen \"x\"", sizes = {1, 2}}"#),
    ("word->size()", "4"),
    ("*word", r#""word""#),
    (r#"word.has_value() && !no_word && word == "word""#, "true"),
    (r#"no_word.value_or("x")"#, r#""x""#),
    ("*no_word", "the optional is empty"),
    ("variant.index()", "1"),
    ("variant.other", "no member named 'other' in"),
    ("std::get<1>(variant)", r#""text""#),
    ("std::get<0>(variant)", "the variant has index 1, not 0"),
    ("std::get<1>(tuple)", r#""b""#),
    (r#"map["one"] + 1"#, "2"),
    (r#"map.at("two")"#, "no key 'two' in the map; keys: 'one'"),
    // LLDB takes it for the first entry.
    ("keyed[5]", "50"),
    ("hashed[1]", r#""x""#),
    ("map.empty()", "false"),
    ("view.substr(0, 3)", r#""pen""#),
    ("view[0] == 'p'", "true"),
    ("queue.top()", "2"),
    ("counter + 1", "8"),
    (r#"path == "/usr/bin""#, "true"),
    ("reals[1]", "2.5"),
    ("array[1] + LIMIT", "5"),
    ("greeting + names[0]", r#""hia""#),
    ("set.count(3)", "1"),
    ("set.count(item)", "no viable conversion"),
    ("wait.count()", "1500"),
    ("ten[0] + ten[1] * 2 - 7 / ten[0]", "50"),
    ("ten[0] % (ten[0] - 10)", "division by zero"),
    ("none.empty() || none[0] > 8", "true"),
    ("none.size() - 1 > 0 && -1 >= ten.size()", "true"),
    ("ten.size() - 3", "18446744073709551615"),
    ("wide.size() + wide.find(\"ve\")", "70010"),
    ("wide[70005]", "'x'"),
    ("letters['a'] + doubled.count(1)", "3"),
    ("sorted[15000] + sorted.count(20000) + large.count(3)", "30001"),
    ("user.email == \"x\" && user.id + 1 == 4", "true"),
    ("user.twice()", "LLDB ends at this expression"),
    ("User{}.id", "LLDB ends at this expression"),
    ("sizeof(User) - sizeof(user.email)", "24"),
    (r#"is_greeting("hi")"#, "true"),
    (r#"is_greeting("a text that takes memory of its own")"#, "false"),
    ("map.begin()->second", "1"),
    ("map.max_size() > 1", "the program has no function `std::map<"),
];

#[tokio::test]
async fn standard_library_values_are_summarized() {
    let sources = Sources::new(&[("main.cpp", VALUES)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.cpp");
    let arguments = json!({
        "program": program.path(),
        "until": [{ "file": program.path(), "line": program.line("here") }],
        "expressions": EXPRESSIONS.map(|(expression, _)| expression).to_vec(),
        "limits": { "variables": 50 },
        "timeout": 60_000,
    });
    let ran = server.ok("run_until", arguments).await;
    let item = r#"{id = 1, name = "pen \"x\"", sizes = {1, 2}}"#;
    assert_locals(
        &ran,
        &[
            &format!("item: Item = {item}"),
            r#"names: std::vector<std::string> = {"a", "b"}"#,
            r#"map: std::map<std::string, int> = {["one"] = 1}"#,
            r#"hashed: std::unordered_map<int, std::string> = {[1] = "x"}"#,
            "set: std::set<int> = {1, 3}",
            r#"view: std::string_view = "pen \"x\"""#,
            &format!("shared: std::shared_ptr<Item> = {item}"),
            &format!("unique: std::unique_ptr<Item> = {item}"),
            "empty: std::unique_ptr<Item> = nullptr",
            "some: std::optional<int> = 5",
            "nothing: std::optional<int> = nullopt",
            r#"variant: std::variant<int, std::string> = "text""#,
            "blank: std::variant<std::monostate, int> = monostate",
            r#"path: std::filesystem::path = "/usr/bin""#,
            "queue: std::priority_queue<int> = {2, 1}",
            "pair: std::pair<int, double> = {1, 2.5}",
            "array: std::array<int, 3> = {1, 2, 3}",
            "color: Color = Green",
            "reals: std::valarray<double> = {1.5, 2.5}",
            r#"tuple: std::tuple<…> = {1, "b"}"#,
        ],
    );
    assert!(ran.variable("row").starts_with("0x"), "{}", ran.text);
    assert_eq!(ran.variable("document"), r#"{["list"] = {3, "pen \"x\""}, ["none"] = null}"#);
    assert_eq!((ran.variable("wait"), ran.variable("moment")), ("1500ms", "2023-11-14T22:13:20+00:00"));
    assert_evaluated(&ran, &EXPRESSIONS);
    assert_eq!((ran.variable("span"), ran.variable("outer")), ("{from = 1, to = 2}", "{nullopt}"));
    let evaluate = async |expression: &str| {
        let arguments =
            json!({ "sessionId": ran["sessionId"], "expression": expression, "sideEffects": false });
        server.call("evaluate_expression", arguments).await
    };
    assert_eq!(evaluate("names.size() == 2").await.at("/result"), "true");
    assert_eq!(evaluate("-item.id * 2 + sizeof(int)").await.at("/result"), "2");
    let changes = ["item.id++ + 1", "item.id = 4", "item.id + (twice)(1)", "item + 1"];
    for changes in changes.iter().chain(&["1>item", "*&item + 1", "(&item)->name + 1", "color + 1"]) {
        let refused = evaluate(changes).await;
        assert!(refused.text.contains("only these can be read without side effects"), "{}", refused.text);
    }
    let refused = evaluate("unique->twice()").await;
    assert!(refused.text.contains("this expression runs the program's code"), "{}", refused.text);
    let many = ran["locals"].as_array().unwrap().iter().find(|one| one["name"] == "many").unwrap();
    assert!(many["value"].as_str().unwrap().starts_with("{7, 7, "), "{many}");
    let page = json!({ "sessionId": ran["sessionId"], "variablesReference": many["variablesReference"], "start": 99_998 });
    let page = server.ok("get_variables", page).await;
    assert_eq!(page["variables"].as_array().unwrap().len(), 2, "{}", page.text);
    let ran = run_until(&server, &program, "reference", &[]).await;
    assert_eq!((ran.variable("item"), ran.at("/location/function")), (item, &json!("show")));
    // LLDB's compiler crashes at anything where the class of `this` has such a member.
    let inside = [
        ("id * 2", "6"),
        ("color == Color::Green && note != 3", "true"),
        ("*email + \"y\"", "\"xy\""),
        ("(int)6", "6"),
        ("sizeof(id)", "4"),
        ("alignof(id)", "LLDB ends at this expression"),
    ];
    let line = program.line("inside");
    let arguments = json!({
        "program": program.path(), "timeout": 60_000, "expressions": inside.map(|(expression, _)| expression),
        "until": [{ "file": program.path(), "line": line, "condition": "id == 3" }],
    });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.place(), (program.path(), line), "{}", ran.text);
    assert_evaluated(&ran, &inside);
    server.finish().await;
}

const SPANS: &str = "
#include <array>
#include <iostream>
#include <set>
#include <span>
std::string greeting = \"hi\";
int main() {
    std::array<int, 3> array{1, 2, 3};
    std::span<int> window(array.data(), 2);
    std::span<int, 3> whole(array);
    std::set<std::string> names{\"a\"};
    std::cout << greeting << std::endl; // @here
} // @last
";

/// LLDB takes an index for that of a field.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn spans_are_what_they_refer_to() {
    let sources = Sources::new(&[("main.cpp", SPANS)]);
    let binary = sources.compiled("g++ -g -O0 -std=c++20 -o main main.cpp", "main");
    let source = sources.file("main.cpp");
    let expressions = [
        ("window[1]", "2"),
        ("whole[2] + window.size()", "5"),
        ("window[2]", "index 2 is out of range: the length is 2"),
        ("names.contains(\"a\")", "true"),
    ];
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "program": binary, "until": [{ "file": source.path(), "line": source.line("here") }], "timeout": 60_000,
        "expressions": expressions.map(|(expression, _)| expression),
    });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!((ran.variable("window"), ran.variable("whole")), ("{1, 2}", "{1, 2, 3}"), "{}", ran.text);
    assert_evaluated(&ran, &expressions);
    server.finish().await;
}

/// GCC gives it to the function that initializes `greeting`, too.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_last_line_of_a_source_stops_where_the_user_has_written_it() {
    let sources = Sources::new(&[("main.cpp", SPANS)]);
    let binary = sources.compiled("g++ -g -O0 -std=c++20 -o main main.cpp", "main");
    let source = sources.file("main.cpp");
    let server = STILLFRAME.serve().await;
    let until = json!([{ "file": source.path(), "line": source.line("last") }]);
    let ran = server.ok("run_until", json!({ "program": binary, "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.at("/location/function"), "main", "{}", ran.text);
    assert_eq!(ran.variable("window"), "{1, 2}", "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_source_in_a_newer_version_than_the_default_compiles() {
    let text = r"
#include <concepts>
#include <ranges>
#include <vector>

template <std::integral T> T twice(T value) { return 2 * value; }

int main() {
    int sum = 0;
    for (int even : std::vector{1, 2, 3, 4} | std::views::filter([](int one) { return one % 2 == 0; }))
        sum += twice(even);
    return sum - 12; // @here
}
";
    let sources =
        Sources::new(&[("main.cpp", text), ("main.c", "int main(void) {\n    return nothing;\n}\n")]);
    let server = STILLFRAME.serve().await;
    let ran = run_until(&server, &sources.file("main.cpp"), "here", &["sum"]).await;
    assert_evaluated(&ran, &[("sum", "12")]);
    let failed =
        server.call("run_until", json!({ "program": sources.path("main.c"), "timeout": 60_000 })).await;
    assert!(failed.text.contains("nothing") && failed.text.contains("main.c:2:12"), "{}", failed.text);
    server.finish().await;
}

#[tokio::test]
async fn a_variable_that_an_inner_one_hides_is_shown_with_its_line() {
    let text = "int main(void) {\n    int n = 1;\n    {\n        int n = 2;\n        n += 1; // @here\n    }\n    return n;\n}\n";
    let sources = Sources::new(&[("main.c", text)]);
    let server = STILLFRAME.serve().await;
    let ran = run_until(&server, &sources.file("main.c"), "here", &["n"]).await;
    assert_evaluated(&ran, &[("n", "2")]);
    assert_locals(&ran, &["n @ main.c:2: int = 1", "n: int = 2"]);
    let set = |name: &str| json!({ "sessionId": ran["sessionId"], "name": name, "value": "7" });
    let hidden = server.ok("set_variable", set("n @ main.c:2")).await;
    assert_eq!(hidden["value"], "7", "{}", hidden.text);
    let shown = json!({ "sessionId": ran["sessionId"], "expression": "n" });
    assert_eq!(server.ok("evaluate_expression", shown).await["result"], "2");
    let inner = server.ok("set_variable", set("n")).await;
    assert_eq!(inner["value"], "7", "{}", inner.text);
    server.finish().await;
}

const CAPTURES: &str = r#"
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct Shape { virtual ~Shape() = default; virtual int area() const = 0; };
namespace {
struct Named { virtual ~Named() = default; std::string name = "a"; };
struct Square : Named, Shape { int side = 3; int area() const override { return side * side; } };
}

int main() {
    std::unique_ptr<Shape> shape = std::make_unique<Square>();
    Shape *plain = shape.get();
    int rate = 7;
    std::string word = "x";
    auto scaled = [rate, &word, plain](int by) {
        int rate = by + 1;
        return rate * by * (int)word.size() * plain->area(); // @inside
    };
    std::function<int(int)> held = scaled;
    int total = held(1); // @calls
    std::vector<int> sides{3, 4};
    for (int side : sides) // @each
        total += side; // @adds
    return scaled(4) + total; // @outside
}
"#;

#[tokio::test]
async fn what_a_lambda_has_captured_is_listed() {
    let sources = Sources::new(&[("main.cpp", CAPTURES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let ran = run_until(&server, &program, "inside", &["rate", "word", "by"]).await;
    assert_evaluated(&ran, &[("rate", "2"), ("word", "\"x\""), ("by", "1")]);
    assert_locals(&ran, &["by: int = 1", "rate: int = 2", "word: std::string = \"x\""]);
    server.finish().await;
}

/// LLDB does not find their types.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_object_of_a_class_in_an_anonymous_namespace_is_shown_with_its_own_fields() {
    let sources = Sources::new(&[("main.cpp", CAPTURES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let ran = run_until(&server, &program, "outside", &[]).await;
    let square = r#"{name = "a", side = 3}"#;
    assert_locals(&ran, &[&format!("shape: std::unique_ptr<Shape> = {square}")]);
    assert!(ran.variable("plain").ends_with(square), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_step_off_the_end_of_a_lambda_or_into_a_library_continues_in_user_code() {
    let sources = Sources::new(&[("main.cpp", CAPTURES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let ran = run_until(&server, &program, "inside", &[]).await;
    let id = json!({ "sessionId": ran["sessionId"] });
    let out = server.ok("step_out", id.clone()).await;
    assert_eq!(out.place(), (program.path(), program.line("calls")), "{}", out.text);
    let ran = run_until(&server, &program, "each", &[]).await;
    let id = json!({ "sessionId": ran["sessionId"] });
    for (step, marker) in [("step_over", "adds"), ("step_over", "each"), ("step_into", "adds")] {
        let stepped = server.ok(step, id.clone()).await;
        assert_eq!(stepped.place(), (program.path(), program.line(marker)), "{}", stepped.text);
    }
    server.finish().await;
}

const SHORT: &str = r#"
#include <cstdio>
template <typename F> int apply(F f, int n) { return f(n); } // @apply
struct Price { int cents; int times(int by) const { return cents * by; } }; // @times
int main() {
    Price price{7};
    int total = price.times(3); // @call
    total += apply([&](int k) { return k + total; }, 5); // @lambda
    std::printf("%d\n", total);
}
"#;

/// LLDB does not find the end of their prologues.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn functions_on_one_line_stop_with_their_parameters() {
    let sources = Sources::new(&[("main.cpp", SHORT)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let ran = run_until(&server, &program, "apply", &["n"]).await;
    assert_eq!(ran.variable("n"), "5", "{}", ran.text);
    let id = json!({ "sessionId": ran["sessionId"] });
    let lambda = server.ok("step_into", id.clone()).await;
    let shown = server.ok("get_local_variables", id).await;
    assert_eq!((lambda.place().1, shown.variable("k")), (program.line("lambda"), "5"), "{}", shown.text);
    assert_eq!(shown.variable("total"), "21", "{}", shown.text);
    let ran = run_until(&server, &program, "call", &[]).await;
    let id = json!({ "sessionId": ran["sessionId"] });
    let inside = server.ok("step_into", id.clone()).await;
    assert_eq!(inside.place(), (program.path(), program.line("times")), "{}", inside.text);
    let shown = server.ok("get_local_variables", id).await;
    assert_eq!(shown.variable("by"), "3", "{}", shown.text);
    let traced = json!({
        "program": program.path(), "timeout": 60_000,
        "points": [{ "file": program.path(), "line": program.line("lambda"), "expressions": ["k"], "condition": "k == 5" }],
    });
    let traced = server.ok("trace_values", traced).await;
    assert_eq!(traced.at("/rows/0/values/0/value"), "5", "{}", traced.text);
    server.finish().await;
}

const MODERN: &str = r#"
#include <any>
#include <array>
#include <bitset>
#include <complex>
#include <expected>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <unordered_map>

struct Base { virtual ~Base() = default; int id = 1; };
struct Left : virtual Base { int left = 2; };
struct Right : virtual Base { int right = 3; };
struct Both : Left, Right { int both = 4; int error() const { return both; } };

int main() {
    std::complex<double> number{1, -2.5};
    std::expected<int, std::string> good = 5, bad = std::unexpected("no");
    std::initializer_list<int> list = {1, 2};
    Both both;
    std::reference_wrapper<Both> wrapped = both;
    std::bitset<4> bits(5);
    std::any any = 5;
    std::out_of_range far("far");
    std::array<int, 5000> wide{};
    wide[4000] = 7;
    std::unordered_map<int, int> table;
    for (int at = 0; at < 20000; at++) table[at] = at;
    return wrapped.get().both; // @here
}
"#;

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn values_of_newer_standards_and_long_ones_are_read_whole() {
    let sources = Sources::new(&[("main.cpp", MODERN)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let expressions = [
        ("good.value() + 1", "6"),
        ("bad.error()", "\"no\""),
        ("*bad", "the value is `unexpected(\"no\")`"),
        ("wide[4000]", "7"),
        ("wide.size()", "5000"),
        ("table.size()", "20000"),
        // LLDB calls `error` of the C library, which ends the program.
        ("both.error()", "LLDB may call another method than `error`"),
        ("wrapped.get().error()", "LLDB may call another method than `error`"),
        ("both.id", "1"),
    ];
    let ran = run_until(&server, &program, "here", &expressions.map(|(expression, _)| expression)).await;
    let both = "{id = 1, left = 2, right = 3, both = 4}";
    assert_locals(
        &ran,
        &[
            "number: std::complex<double> = {1, -2.5}",
            "good: std::expected<int, std::string> = 5",
            "bad: std::expected<int, std::string> = unexpected(\"no\")",
            "list: std::initializer_list<int> = {1, 2}",
            &format!("both: Both = {both}"),
            &format!("wrapped: std::reference_wrapper<Both> = {both}"),
            "bits: std::bitset<4> = 0101",
            "any: std::any = 5",
            "far: std::out_of_range = {what = \"far\"}",
        ],
    );
    assert_evaluated(&ran, &expressions);
    server.finish().await;
}

const UNIONS: &str = "\
#include <stdint.h>
union word { uint32_t number; uint8_t bytes[4]; int16_t halves[2]; char text[4]; };
struct tagged { int tag; union { int number; short halves[2]; }; };
int main(void) {
    union word word = {0x00636261};
    struct tagged tagged = {1, {0x00020001}};
    union word *pointer = &word;
    int8_t signs[3] = {-1, 0, 1};
    return pointer->bytes[3] + tagged.tag - 1 + signs[1]; // @here
}
";

#[tokio::test]
async fn arrays_in_unions_and_of_small_numbers_are_shown_with_all_items() {
    let sources = Sources::new(&[("main.c", UNIONS)]);
    let server = STILLFRAME.serve().await;
    let expressions = [
        ("word.text", r#""abc""#),
        ("pointer->bytes", r"{'a', 'b', 'c', '\0'}"),
        ("tagged.halves", "{1, 2}"),
        ("signs", r"{'\xff', '\0', '\x01'}"),
    ];
    let ran = run_until(&server, &sources.file("main.c"), "here", &expressions.map(|(one, _)| one)).await;
    assert_evaluated(&ran, &expressions);
    assert_eq!(ran.variable("tagged"), "{tag = 1, {number = 131073, halves = {1, 2}}}", "{}", ran.text);
    server.finish().await;
}

const CALLS: &str = "\
static int inner(int number) {
    return number * 2; // @inner
}
int main(void) {
    int a = inner(3); // @call
    int b = a + 1;
    return b - 7;
}
";

/// LLDB would end the step later.
#[tokio::test]
async fn a_step_that_a_breakpoint_interrupts_is_over() {
    let sources = Sources::new(&[("main.c", CALLS)]);
    let server = STILLFRAME.serve().await;
    let program = sources.file("main.c");
    let ran = run_until(&server, &program, "call", &[]).await;
    let id = json!({ "sessionId": ran["sessionId"] });
    let place =
        json!({ "sessionId": ran["sessionId"], "file": program.path(), "line": program.line("inner") });
    server.ok("set_breakpoint", place).await;
    let stepped = server.ok("step_over", id.clone()).await;
    assert_eq!(stepped.place(), (program.path(), program.line("inner")), "{}", stepped.text);
    let ended = server.ok("continue_execution", id).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    server.finish().await;
}
