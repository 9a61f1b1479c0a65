//! Breakpoints on methods that another class has than the one that is named.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report, written};

const SHAPES: &str = "\
import java.util.function.IntBinaryOperator;

class Main {
    enum Operator implements IntBinaryOperator {
        ADD { public int applyAsInt(int left, int right) { return left + right; } }, // @add
        TIMES { public int applyAsInt(int left, int right) { return left * right; } }; // @times
    }

    static abstract class Shape {
        abstract double area();
        String show() { return \"area \" + area(); } // @show
    }

    static class Square extends Shape { double area() { return 4; } }
    static class Circle extends Shape { double area() { return 3.14; } }

    public static void main(String[] arguments) {
        System.out.println(Operator.ADD.applyAsInt(1, 2) + Operator.TIMES.applyAsInt(3, 4));
        System.out.println(new Circle().show() + new Square().show());
    }
}
";

#[tokio::test]
async fn the_bodies_of_an_enum_and_inherited_methods_are_found() {
    let (_folder, program) = written("Main.java", SHAPES);
    let session = Debugging::of(Language::Java).await;
    for function in ["Operator.applyAsInt", "Square.show"] {
        session.ok("set_breakpoint", json!({ "function": function })).await;
    }
    let mut stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    for line in ["add", "times", "show"] {
        assert_eq!(stopped.place(), (program.path(), program.line(line)), "{line}: {}", stopped.text);
        if line == "show" {
            assert!(stopped.variable("this").contains("Square"), "{}", stopped.text);
        }
        stopped = session.go_on().await;
    }
    assert_eq!(stopped.outcome(), "ended", "{}", stopped.text);
    session.finish().await;
}
