//! Virtual methods of C++ in expressions: LLDB calls those that the program would call, and no destructor.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated, run_until};

const SHAPES: &str = r#"
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
static int dead = 0;
struct First { virtual ~First() { dead++; } virtual int id() const { return 1; } };
struct Second : First {
    int id() const override {
        return 2; // @method
    }
};
struct Last { virtual int eyes() const { return 3; } virtual int ears() const { return 4; } virtual ~Last() { dead++; } };
struct Both : First, Last { int id() const override { return 5; } int ears() const override { return 6; } };
template <class T> struct Box { virtual ~Box() { dead++; } virtual T open() const { return T(); } };
template <class T> struct Crate : Box<T> { T open() const override { return T(7); } T kept{}; };
namespace { struct Hidden { virtual ~Hidden() { dead++; } virtual int peek() const { return 8; } }; }
int main() {
    std::unique_ptr<First> first = std::make_unique<Second>();
    std::shared_ptr<First> shared = std::make_shared<Both>();
    std::unique_ptr<Last> last = std::make_unique<Both>();
    std::vector<std::unique_ptr<Box<int>>> boxes;
    boxes.push_back(std::make_unique<Crate<int>>());
    std::unique_ptr<Box<double>> box = std::make_unique<Crate<double>>();
    std::map<int, Second> known;
    known[1];
    std::unique_ptr<Hidden> hidden = std::make_unique<Hidden>();
    std::vector<First *> plain{first.get(), shared.get()};
    int sum = first->id() + shared->id() + last->eyes() + last->ears() + boxes[0]->open() + box->open();
    for (First *one : plain)
        sum += one->id(); // @each
    printf("%d %d %d\n", sum, known[1].id(), hidden->peek()); // @main
}
"#;

#[tokio::test]
async fn virtual_methods_are_called_and_destructors_are_not() {
    let sources = Sources::new(&[("main.cpp", SHAPES)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let methods = [
        ("first->id()", "2"),
        ("(*first).id()", "2"),
        ("first.get()->id()", "2"),
        ("shared->id()", "5"),
        ("last->eyes() * 10 + last->ears()", "36"),
        ("boxes[0]->open()", "7"),
        ("box->open()", "7"),
        ("known[1].id()", "2"),
        ("plain[1]->id()", "5"),
        ("hidden->peek()", "8"),
        ("dead", "0"),
    ];
    let ran = run_until(&server, &program, "main", &methods.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &methods);
    // To bind a breakpoint in a method reads what it returns, too.
    let ran = run_until(&server, &program, "method", &["this->id()", "dead"]).await;
    assert_evaluated(&ran, &[("this->id()", "2"), ("dead", "0")]);
    let each = json!({
        "file": program.path(), "line": program.line("each"), "condition": "one->id() == 5 && first->id() == 2",
    });
    let arguments =
        json!({ "program": program.path(), "until": [each], "expressions": ["one->id()", "dead"] });
    assert_evaluated(&server.ok("run_until", arguments).await, &[("one->id()", "5"), ("dead", "0")]);
    server.finish().await;
}

/// LLDB does not count the destructor that the compiler makes for such a class.
const DIAMOND: &str = r"
#include <memory>
struct Base { virtual ~Base() = default; virtual int id() const { return 1; } int tag = 5; };
struct Left : virtual Base { int left = 6; };
struct Right : virtual Base { int right = 7; };
struct Leaf : Left, Right {
    int id() const override {
        return 2; // @inside
    }
    static int count() { return 4; }
    int leaf = 9;
};
int main() {
    std::unique_ptr<Base> base = std::make_unique<Leaf>();
    Left *left = new Leaf;
    Leaf *leaf = new Leaf;
    return base->id() + left->id() + leaf->id() + leaf->count(); // @main
}
";

#[tokio::test]
async fn a_method_for_which_lldb_calls_another_one_is_refused() {
    let sources = Sources::new(&[("main.cpp", DIAMOND)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.cpp"));
    let refused = "LLDB may call another method than `id`: `Leaf` has a virtual base";
    let methods = [
        ("base->id()", "2"),
        ("left->id()", "2"),
        ("leaf->id()", refused),
        ("leaf->count()", "4"),
        ("(*base).id()", refused),
        ("dynamic_cast<Leaf*>(base.get())->leaf", "9"),
    ];
    let ran = run_until(&server, &program, "main", &methods.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &methods);
    let ran = run_until(&server, &program, "inside", &["id()", "leaf"]).await;
    assert_evaluated(&ran, &[("id()", refused), ("leaf", "9")]);
    server.finish().await;
}
