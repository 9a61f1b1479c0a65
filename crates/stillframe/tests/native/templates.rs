//! Class templates and unnamed namespaces of C++.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, assert_evaluated};

const RING: &str = r#"
#include <string>

namespace shop {
template <typename T, int N> class Ring {
  public:
    void push(T value) {
        data_[size_ % N] = value; // @push
        ++size_;
    }
    template <typename F> int each(F f) const {
        int sum = 0; // @each
        for (const T &value : data_) sum += f(value);
        return sum;
    }

  private:
    T data_[N]{};
    int size_ = 0;
};
namespace {
struct Till {
    int add(int coins) {
        return coins + 1; // @add
    }
};
}
struct Other {
    int pushed = 0;
    void push(int) { pushed++; }
};
}

int main() {
    shop::Other other;
    other.push(1);
    shop::Till().add(5);
    shop::Ring<std::string, 2> words;
    words.push("a");
    shop::Ring<int, 3> numbers;
    numbers.push(4);
    return numbers.each([](int number) { return number * 2; }) == 8 ? 0 : 1;
}
"#;

#[tokio::test]
async fn methods_of_class_templates_and_in_unnamed_namespaces_are_found_by_their_paths() {
    let sources = Sources::new(&[("ring.cpp", RING)]);
    let (binary, program) = (sources.compiled("g++ -g ring.cpp -o ring", "ring"), sources.file("ring.cpp"));
    let server = STILLFRAME.serve().await;
    for (function, line, expression, value) in [
        ("Ring::push", "push", "value", "\"a\""),
        ("shop::Ring::push", "push", "value", "\"a\""),
        ("Ring<int, 3>::push", "push", "value", "4"),
        ("Ring::each", "each", "size_", "1"),
        ("shop::Till::add", "add", "coins", "5"),
    ] {
        let until = json!([{ "function": function }]);
        let asked = json!({ "program": binary, "language": "c", "until": until, "expressions": [expression], "timeout": 60_000 });
        let ran = server.ok("run_until", asked).await;
        assert_eq!(ran.place(), (program.path(), program.line(line)), "{}", ran.text);
        assert_evaluated(&ran, &[(expression, value)]);
    }
    server.finish().await;
}
