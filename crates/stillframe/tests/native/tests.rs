//! Failing tests: `cargo test`, `GoogleTest` and `ctest`.

use serde_json::json;
use test_support::Answer;

use crate::STILLFRAME;
use crate::source::Sources;

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
const LIBRARY: &str = "\
pub fn total(prices: &[i32]) -> i32 {
    prices[1..].iter().sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn empty() {
        assert_eq!(super::total(&[0]), 0);
    }

    #[test]
    #[should_panic(expected = \"out of range\")]
    fn none() {
        super::total(&[]);
    }
}
";
const TESTS: &str = "\
#[test]
fn adds() {
    let prices = vec![3, 4];
    assert_eq!(shop::total(&prices), 7, \"for {prices:?}\"); // @adds
}

#[test]
fn parses() -> Result<(), std::num::ParseIntError> {
    let text = \"x\";
    let _: i32 = text.parse()?; // @parses
    Ok(())
}
";

const BASKET: &str = "\
#include <future>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

static int total(const std::vector<int> &prices) {
    int sum = 0;
    for (size_t at = 1; at < prices.size(); at++) sum += prices[at];
    return sum;
}

TEST(Basket, IsEmpty) { EXPECT_EQ(total({}), 0); }

TEST(Basket, Adds) {
    std::vector<int> prices{3, 4};
    EXPECT_EQ(total(prices), 7) << \"for two\"; // @adds
    EXPECT_LT(total(prices), 2);
}

TEST(Basket, Refuses) {
    for (int at = 0; at < 60; at++) EXPECT_THROW(std::stoi(\"x\"), std::invalid_argument);
}

TEST(Basket, Throws) {
    int number = 3;
    if (number > 2) throw std::runtime_error(\"no such basket\"); // @throws
}

TEST(Basket, Waits) {
    auto later = std::async(std::launch::async, [] { int number = 4; return std::stoi(\"y\") + number; }); // @waits
    EXPECT_EQ(later.get(), 4);
}
";
const ASSERTS: &str = "\
#include <assert.h>
int main(int argc, char **argv) {
    (void)argv;
    int got = argc + 1;
    assert(got == 3); // @asserts
}
";
const LISTS: &str = "\
cmake_minimum_required(VERSION 3.16)
project(shop C CXX)
enable_testing()
find_package(GTest REQUIRED)
set(CMAKE_C_FLAGS \"-g -O0\")
set(CMAKE_CXX_FLAGS \"-g -O0\")
add_executable(basket basket.cc)
target_link_libraries(basket GTest::gtest_main)
add_executable(asserts asserts.c)
add_test(NAME empty COMMAND basket --gtest_filter=*Empty)
add_test(NAME asserts COMMAND asserts)
add_test(NAME asserts_with_a_word COMMAND asserts word)
include(GoogleTest)
gtest_discover_tests(basket TEST_PREFIX found.)
";

async fn tested(sources: &Sources, command: &str) -> Answer {
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": command, "cwd": sources.folder(), "timeout": 180_000 });
    let answer = server.ok("debug_test", asked).await;
    server.finish().await;
    answer
}

fn sides(answer: &Answer) -> [String; 2] {
    ["left", "right"].map(|side| {
        let side = answer.at(&format!("/failure/assertion/{side}"));
        let text = |name: &str| side[name].as_str().unwrap_or_default();
        format!("{}={}", text("expression"), text("value"))
    })
}

#[tokio::test]
async fn cargo_test_reports_the_first_failure_of_several_test_programs() {
    let main = "fn main() {}\n";
    let sources = Sources::new(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIBRARY),
        ("src/main.rs", main),
        ("examples/one.rs", main),
        ("tests/more.rs", TESTS),
    ]);
    let tests = sources.file("tests/more.rs");
    let answer = tested(&sources, "cargo test").await;
    assert_eq!(answer["verdict"], "failed", "{}", answer.text);
    assert_eq!(answer["runner"], "cargo test");
    let counts = json!({ "run": 4, "passed": 2, "failed": 2, "skipped": 0, "expectedFailures": 0 });
    assert_eq!(answer["tests"], counts, "{}", answer.text);
    let failure = &answer["failure"];
    assert_eq!((&failure["test"], &failure["line"]), (&json!("adds"), &json!(tests.line("adds"))));
    assert_eq!(sides(&answer), ["shop::total(&prices)=4", "7=7"]);
    assert!(failure["frames"][0]["locals"].to_string().contains("[3, 4]"), "{}", answer.text);
    let other = &answer["otherFailures"][0];
    assert_eq!(other["name"], "parses", "{}", answer.text);
    assert!(other["message"].as_str().unwrap_or_default().contains("InvalidDigit"), "{}", answer.text);
    let line = other["line"].as_u64().and_then(|line| u32::try_from(line).ok());
    assert_eq!(line, Some(tests.line("parses")), "{}", answer.text);
    let answer = tested(&sources, "cargo test --lib").await;
    assert_eq!((&answer["verdict"], &answer["tests"]["passed"]), (&json!("passed"), &json!(2)));
}

#[tokio::test]
async fn a_failure_in_a_thread_is_reported_and_what_cargo_does_not_run_is_not_counted() {
    let documented = "\
/// Twice as much.
///
/// ```
/// assert_eq!(shop::twice(2), 4);
/// ```
pub fn twice(number: i32) -> i32 {
    number * 2
}

#[test]
fn in_thread() {
    let thread = std::thread::spawn(|| assert_eq!(twice(3), 7)); // @in_thread
    thread.join().unwrap();
}
";
    let sources = Sources::new(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", documented),
        ("tests/later.rs", "#[test]\nfn later() {}\n"),
    ]);
    let answer = tested(&sources, "cargo test").await;
    let counts = json!({ "run": 1, "passed": 0, "failed": 1, "skipped": 0, "expectedFailures": 0 });
    assert_eq!(answer["tests"], counts, "{}", answer.text);
    assert!(answer.text.contains("1 further program was not run"), "{}", answer.text);
    let line = json!(sources.file("src/lib.rs").line("in_thread"));
    assert_eq!(answer["failure"]["line"], line, "{}", answer.text);
    assert_eq!(sides(&answer), ["twice(3)=6", "7=7"], "{}", answer.text);

    std::fs::remove_file(sources.path("tests/later.rs")).unwrap();
    let answer = tested(&sources, "cargo test").await;
    assert_eq!(answer["tests"], counts, "{}", answer.text);
}

/// A library that makes test functions as proptest does.
const CHECKS: &str = "\
#[macro_export]
macro_rules! property {
    ($(#[$meta:meta])* fn $name:ident($input:ident in $inputs:expr) $body:block) => {
        $(#[$meta])*
        fn $name() {
            let result = (|| {
                for $input in $inputs {
                    let outcome: Result<(), String> = (|| { $body; Ok(()) })();
                    outcome.map_err(|said| format!(\"{said}\\nminimal failing input: {} = {:?}\", stringify!($input), $input))?;
                }
                Ok::<(), String>(())
            })();
            match result {
                Ok(()) => {}
                Err(said) => panic!(\"Test failed: {said}\"),
            }
        }
    };
}
#[macro_export]
macro_rules! prop_assert_eq {
    ($left:expr, $right:expr) => {
        let (left, right) = ($left, $right);
        if left != right {
            return Err(format!(\"assertion failed: `(left == right)` \\n  left: `{left:?}`,\\n right: `{right:?}` at {}:{}.\", file!(), line!()));
        }
    };
}
";

#[tokio::test]
async fn a_property_is_shown_in_the_function_that_a_macro_has_made() {
    let text = "\
pub fn half(number: i32) -> i32 {
    number / 2
}

checks::property! {
    #[test]
    fn halves(number in 0..9) {
        checks::prop_assert_eq!(half(number) * 2, number); // @property
    }
}
";
    let folder = ".cargo/registry/src/index/checks";
    let manifest = format!("{MANIFEST}[dependencies]\nchecks = {{ path = \"{folder}\" }}\n");
    let of_checks = MANIFEST.replace("shop", "checks").replace("[workspace]\n", "");
    let sources = Sources::new(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", text),
        (&format!("{folder}/Cargo.toml"), &of_checks),
        (&format!("{folder}/src/lib.rs"), CHECKS),
    ]);
    let answer = tested(&sources, "cargo test --lib").await;
    let failure = &answer["failure"];
    let line = json!(sources.file("src/lib.rs").line("property"));
    assert_eq!((&failure["test"], &failure["line"]), (&json!("halves"), &line), "{}", answer.text);
    assert_eq!(failure["function"], "shop::halves", "{}", answer.text);
    assert_eq!(sides(&answer), ["half(number) * 2=0", "number=1"], "{}", answer.text);
    assert!(failure["message"].to_string().contains("minimal failing input: number = 1"), "{}", answer.text);
}

const RESULTS: &str = "\
use std::fmt;

#[derive(Debug)]
pub enum Problem { Empty, Bad(std::num::ParseIntError) }

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, \"{self:?}\")
    }
}

impl std::error::Error for Problem {}

impl From<std::num::ParseIntError> for Problem {
    fn from(error: std::num::ParseIntError) -> Self {
        Self::Bad(error)
    }
}

pub fn total(text: &str) -> Result<u32, Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    let mut sum = 0;
    for part in text.split(',') {
        let number: u32 = part.parse()?; // @first
        sum += number;
    }
    Ok(sum)
}

#[test]
fn handles() {
    let sums: Vec<u32> = [\"1\", \"x\", \"\"].iter().filter_map(|text| total(text).ok()).collect();
    assert_eq!(sums, [1]);
}

#[test]
fn totals() -> Result<(), Problem> {
    assert_eq!(total(\"1,2\")?, 3);
    let line = \"4,x\";
    let second = total(line)?; // @leaves
    assert_eq!(second, 4);
    Ok(())
}

#[test]
fn unboxed() -> Result<(), Box<dyn std::error::Error>> {
    let text = String::new();
    total(&text)?; // @empty
    Ok(())
}
";

#[tokio::test]
async fn an_error_that_a_test_returns_is_where_it_left_the_test() {
    let sources = Sources::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", RESULTS)]);
    let program = sources.file("src/lib.rs");
    let answer = tested(&sources, "cargo test").await;
    let counts = json!({ "run": 3, "passed": 1, "failed": 2, "skipped": 0, "expectedFailures": 0 });
    assert_eq!(answer["tests"], counts, "{}", answer.text);
    let failure = &answer["failure"];
    assert_eq!((&failure["test"], &failure["line"]), (&json!("totals"), &json!(program.line("leaves"))));
    assert!(failure["frames"][0]["locals"].to_string().contains("4,x"), "{}", answer.text);
    let message = failure["message"].as_str().unwrap_or_default();
    let from = format!("`shop::total` at {}:{}", program.path(), program.line("first"));
    assert!(message.contains("error: Bad(ParseIntError") && message.contains(&from), "{}", answer.text);
    let other = &answer["otherFailures"][0];
    assert_eq!((&other["name"], &other["line"]), (&json!("unboxed"), &json!(program.line("empty"))));
    let built = std::fs::read_dir(sources.path("target/debug/deps")).unwrap().flatten();
    let binary = built
        .map(|entry| entry.path())
        .find(|path| path.extension().is_none() && path.to_string_lossy().contains("/shop-"));
    let answer = tested(&sources, &binary.unwrap().to_string_lossy()).await;
    assert_eq!(answer["tests"], counts, "{}", answer.text);
    assert_eq!(answer.at("/failure/line"), program.line("leaves"), "{}", answer.text);
}

const MADE: &str = "\
/// Adds.
///
/// ```
/// assert_eq!(shop::add(1, 2), 4);
/// ```
pub fn add(left: u32, right: u32) -> u32 {
    left + right
}

#[test]
fn handles() -> Result<(), String> {
    let handled: Result<u32, String> = Err(\"no\".into());
    match handled {
        Err(text) if text.is_empty() => Err(text),
        Ok(_) => Err(\"none\".into()),
        Err(_) => Ok(()),
    }
}

#[test]
fn returns() -> Result<(), String> {
    let sum = add(1, 2);
    if sum != 4 {
        return Err(format!(\"{sum} for 4\")); // @returns
    }
    Ok(())
}

#[test]
fn spawns() {
    let spawned = std::thread::spawn(|| assert_eq!(add(1, 1), 3)).join();
    std::panic::resume_unwind(spawned.unwrap_err());
}

#[test]
fn tails() -> Result<(), String> {
    let sum = add(2, 2);
    if sum == 5 { Ok(()) } else { Err(\"tail\".to_owned()) } // @tails
}

fn odd(sum: u32) -> Result<(), String> {
    if sum % 2 == 0 { Ok(()) } else { Err(format!(\"{sum} is odd\")) }
}

#[test]
fn tails_call() -> Result<(), String> {
    let sums = vec![add(2, 2), add(2, 3)];
    odd(sums[0])?;
    match sums.len() {
        2 => odd(sums[1]), // @calls
        _ => Ok(()),
    }
}

#[test]
fn tails_map() -> Result<(), Box<dyn std::error::Error>> {
    let sum = add(2, 3);
    odd(sum)
        .map_err(|text| text.into()) // @mapped
} // @maps

#[test]
fn takes() -> Result<(), u32> {
    std::panic::catch_unwind(|| 4).map_err(|_| 3_u32)?;
    odd(4).map_err(|_| 2)
}
";

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_error_that_a_test_makes_is_where_it_is_made() {
    let sources = Sources::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", MADE)]);
    let program = sources.file("src/lib.rs");
    let answer = tested(&sources, "cargo test --no-fail-fast").await;
    let counts = json!({ "run": 8, "passed": 2, "failed": 6, "skipped": 0, "expectedFailures": 0 });
    assert_eq!(answer["tests"], counts, "{}", answer.text);
    let failure = &answer["failure"];
    assert_eq!((&failure["test"], &failure["line"]), (&json!("returns"), &json!(program.line("returns"))));
    assert_eq!(failure["message"], "the test returned an error: \"3 for 4\"", "{}", answer.text);
    assert!(failure["frames"][0]["locals"].to_string().contains("sum"), "{}", answer.text);
    let others = answer["otherFailures"].as_array().unwrap();
    let other =
        |name: &str| others.iter().find(|other| other["name"].as_str().unwrap().starts_with(name)).unwrap();
    assert_eq!(other("tails")["line"], program.line("tails"), "{}", answer.text);
    assert_eq!(other("tails")["message"], "the test returned an error: \"tail\"", "{}", answer.text);
    assert_eq!(other("tails_call")["line"], program.line("calls"), "{}", answer.text);
    // The next instruction is that of the brace.
    assert_eq!(other("tails_map")["line"], program.line("maps"), "{}", answer.text);
    let from = format!(" (returned by the call in line {})", program.line("mapped"));
    assert!(other("tails_map")["message"].as_str().unwrap().ends_with(&from), "{}", answer.text);
    assert_eq!(
        other("src/lib.rs - add (line 3)")["message"],
        "it failed without a debugger, and was not debugged"
    );
    let server = STILLFRAME.serve().await;
    let asked = json!({ "command": "cargo test --doc", "cwd": sources.folder() });
    let refused = server.call("debug_test", asked).await;
    assert!(refused.is_error && refused.text.contains("copy one into a test"), "{}", refused.text);
    server.finish().await;
}

/// The tests of a macro are a program that needs the compiler's libraries to say that it has none.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn tests_of_a_workspace_are_found_beside_a_macro() {
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let (shop, names) = (package("shop", ""), package("names", "[lib]\nproc-macro = true\n"));
    let sources = Sources::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"shop\", \"names\"]\nresolver = \"2\"\n"),
        ("shop/Cargo.toml", &shop),
        ("shop/src/lib.rs", LIBRARY),
        ("shop/tests/more.rs", TESTS),
        ("names/Cargo.toml", &names),
        (
            "names/src/lib.rs",
            "#[proc_macro]\npub fn none(all: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    all\n}\n",
        ),
    ]);
    let answer = tested(&sources, "cargo test --workspace adds").await;
    let failure = &answer["failure"];
    let line = json!(sources.file("shop/tests/more.rs").line("adds"));
    assert_eq!((&failure["test"], &failure["line"]), (&json!("adds"), &line), "{}", answer.text);
}

#[tokio::test]
async fn google_test_reports_the_failed_assertion_and_the_exception() {
    let sources = Sources::new(&[("basket.cc", BASKET)]);
    let program = sources.file("basket.cc");
    sources.compiled("g++ -g -O0 basket.cc -lgtest -lgtest_main -pthread -o basket", "basket");
    let answer = tested(&sources, "./basket").await;
    assert_eq!((&answer["verdict"], &answer["runner"]), (&json!("failed"), &json!("GoogleTest")));
    let failure = &answer["failure"];
    assert_eq!((&failure["test"], &failure["line"]), (&json!("Basket.Adds"), &json!(program.line("adds"))));
    assert_eq!(sides(&answer), ["total(prices)=4", "=7"]);
    assert!(failure["frames"][0]["locals"].to_string().contains("{3, 4}"), "{}", answer.text);
    assert!(failure["details"].as_str().unwrap_or_default().contains("4 vs 2"), "{}", answer.text);
    let answer = tested(&sources, "./basket --gtest_filter=Basket.Refuses:Basket.Throws").await;
    assert!(answer["notes"].is_null(), "it stops at what a test catches: {}", answer.text);
    assert_eq!(answer.at("/failure/line"), &json!(program.line("throws")), "{}", answer.text);
    assert_eq!(answer.at("/failure/exception/type"), "std::runtime_error", "{}", answer.text);
    assert!(answer.at("/failure/frames/0/locals").to_string().contains("number"), "{}", answer.text);
    let answer = tested(&sources, "./basket --gtest_filter=Basket.Refuses:Basket.Waits").await;
    assert_eq!(answer.at("/failure/line"), &json!(program.line("waits")), "{}", answer.text);
    let answer = tested(&sources, "./basket --gtest_filter=Basket.Missing").await;
    assert_eq!(answer["verdict"], "no_tests", "{}", answer.text);
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn ctest_reports_the_first_test_that_fails_and_counts_the_others() {
    let sources = Sources::new(&[("basket.cc", BASKET), ("asserts.c", ASSERTS), ("CMakeLists.txt", LISTS)]);
    let program = sources.file("asserts.c");
    sources.compiled("cmake -S . -B build", "build");
    sources.compiled("cmake --build build", "build");
    let answer = tested(&sources, "ctest --test-dir build -E found").await;
    assert_eq!((&answer["verdict"], &answer["runner"]), (&json!("failed"), &json!("ctest")));
    let counts = json!({ "run": 3, "passed": 2, "failed": 1, "skipped": 0, "expectedFailures": 0 });
    assert_eq!(answer["tests"], counts, "{}", answer.text);
    let failure = &answer["failure"];
    assert_eq!((&failure["test"], &failure["line"]), (&json!("asserts"), &json!(program.line("asserts"))));
    assert!(failure["frames"][0]["locals"].to_string().contains("got"), "{}", answer.text);
    let answer = tested(&sources, "ctest --test-dir build -R empty").await;
    assert_eq!(answer["verdict"], "passed", "{}", answer.text);
    // CMake gives each of these tests an output by which it is skipped.
    let program = sources.file("basket.cc");
    let answer = tested(&sources, "ctest --test-dir build -R found.Basket.Adds").await;
    assert_eq!(answer.at("/failure/line"), &json!(program.line("adds")), "{}", answer.text);
    assert_eq!(sides(&answer), ["total(prices)=4", "=7"]);
    let answer = tested(&sources, "ctest --test-dir build -R found.Basket.Throws").await;
    assert_eq!(answer.at("/failure/line"), &json!(program.line("throws")), "{}", answer.text);
}

/// Programs that end with the exit code that they are given; `once` fails only the first time.
const JUDGED: &str = r#"
cmake_minimum_required(VERSION 3.19)
project(judged C)
enable_testing()
add_executable(code code.c)
add_test(NAME begins COMMAND code 0)
add_test(NAME fails COMMAND code 3)
add_test(NAME skips COMMAND code 77)
add_test(NAME says COMMAND code 0)
add_test(NAME off COMMAND code 0)
add_test(NAME "rounds up" COMMAND code 4)
add_test(NAME once COMMAND code once)
set_tests_properties(fails PROPERTIES WILL_FAIL TRUE)
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(says PROPERTIES FAIL_REGULAR_EXPRESSION "code")
set_tests_properties(off PROPERTIES DISABLED TRUE)
"#;

#[tokio::test]
async fn tests_pass_and_fail_as_ctest_judges_them() {
    let code = "#include <stdio.h>\n#include <stdlib.h>\n\
                int main(int count, char **words) {\n\
                    const char *last = words[count - 1];\n\
                    puts(\"code\");\n\
                    return *last == 'o' ? fopen(\"ran\", \"wx\") != NULL : atoi(last);\n\
                }\n";
    let sources = Sources::new(&[("code.c", code), ("CMakeLists.txt", JUDGED)]);
    sources.compiled("cmake -S . -B build", "build");
    sources.compiled("cmake --build build", "build");
    for (name, verdict, counted) in [
        ("fails", "passed", "passed"),
        ("skips", "passed", "skipped"),
        ("says", "failed", "failed"),
        ("begins", "passed", "passed"),
    ] {
        let answer = tested(&sources, &format!("ctest --test-dir build -R {name}")).await;
        assert_eq!(
            (&answer["verdict"], &answer["tests"][counted]),
            (&json!(verdict), &json!(1)),
            "{}",
            answer.text
        );
    }
    let answer = tested(&sources, "ctest --test-dir build -R 'once|begins'").await;
    let failure = &answer["failure"];
    assert_eq!((&answer["verdict"], &failure["test"]), (&json!("failed"), &json!("once")), "{}", answer.text);
    assert!(failure["message"].to_string().contains("failed without a debugger"), "{}", answer.text);
    let answer = tested(&sources, "ctest --test-dir build -R 'up|begins'").await;
    let failure = &answer["failure"];
    assert_eq!((&answer["verdict"], &failure["test"]), (&json!("failed"), &json!("rounds up")));
    let answer = tested(&sources, "ctest --test-dir build -E 'once|up'").await;
    assert_eq!(answer.at("/failure/test"), "says", "{}", answer.text);
    // One that is disabled is none of them.
    let counts = json!({ "run": 4, "passed": 2, "failed": 1, "skipped": 1, "expectedFailures": 0 });
    assert_eq!(answer["tests"], counts, "{}", answer.text);
}
