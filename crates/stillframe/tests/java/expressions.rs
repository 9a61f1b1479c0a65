//! Expressions with lambdas, patterns and texts, in the stopped program and as conditions.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report, written};

const SHOP: &str = "\
import static java.util.stream.Collectors.joining;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class Main {
    interface Payment {}
    record Cash(int given) implements Payment {}
    record Item(String name, int count, BigDecimal price) {
        BigDecimal total() { return price.multiply(BigDecimal.valueOf(count)); }
    }
    static class Box implements java.util.function.Supplier<Double> { public Double get() { return 2.0; } }
    static final int SMALL = 7;
    static final int LARGE = 70_000;
    private final Box box = new Box();
    static class Tag { private String name = \"tag\"; }
    static class Label extends Tag { String name = \"label\"; }
    private final Tag tag = new Label();
    private final List<Item> items;
    private final Map<String, Integer> stock = Map.of(\"pen\", 3);

    Main(int count) { items = List.of(new Item(\"pen\", 1, new BigDecimal(\"1.50\")), new Item(\"ink\", count, BigDecimal.TEN)); }

    interface Shape { double area(); default String label() { return \"area \" + area(); } }
    static String label(Shape shape) { return shape.label(); }
    static String kind(Object[] all) { return \"array\"; }
    static String kind(Object one) { return \"one\"; }
    static double rate(int count) { return count; }
    static String safely(java.util.function.Supplier<Object> from) {
        try { return \"got \" + from.get(); } catch (Throwable caught) { return \"caught \" + caught.getMessage(); }
    }
    static int apply(java.util.function.IntBinaryOperator operator) { return operator.applyAsInt(3, 4); }

    private boolean isScarce(Item item) { return stock.getOrDefault(item.name(), 0) < item.count(); }

    BigDecimal total(Payment payment, String kind) {
        Optional<Item> first = items.stream().filter(this::isScarce).findFirst();
        return items.stream().map(Item::total).reduce(BigDecimal.ZERO, BigDecimal::add); // @total
    }

    public static void main(String[] arguments) {
        for (int count = 1; count < 5; count++) {
            System.out.println(new Main(count).total(new Cash(count), \"cash\"));
        }
    }
}
";

#[tokio::test]
async fn lambdas_patterns_and_literals_mean_what_they_mean_in_the_program() {
    let (_folder, program) = written("Main.java", SHOP);
    let session = Debugging::of(Language::Java).await;
    let condition = "items.stream().anyMatch(one -> one.count() > 2) && payment instanceof Cash cash && cash.given() == 3";
    let asked = json!({ "file": program.path(), "line": program.line("total"), "condition": condition });
    session.ok("set_breakpoint", asked).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("total")), "{}", stopped.text);
    for (expression, expected) in [
        ("items.get(1).count()", "3"),
        ("items.stream().mapToInt(Item::count).sum()", "4"),
        ("items.stream().map(Item::total).reduce(BigDecimal.ZERO, BigDecimal::add)", "31.50"),
        ("items.stream().filter(this::isScarce).map(one -> one.name().toUpperCase()).toList()", "[\"INK\"]"),
        ("items.stream().map(one -> one.name() + kind.length()).collect(joining(\",\"))", "\"pen4,ink4\""),
        (
            "items.stream().sorted(java.util.Comparator.comparing(Item::count).reversed()).findFirst().get().name()",
            "\"ink\"",
        ),
        (
            "java.util.Arrays.stream(Thread.State.values()).filter(one -> one.name().startsWith(\"T\")).count()",
            "2",
        ),
        ("items.stream().toArray(Object[]::new).length", "2"),
        // A lambda in a lambda, and one whose interface has other methods, too.
        (
            "items.stream().filter(one -> items.stream().noneMatch(other -> other.count() > one.count())).count()",
            "1",
        ),
        ("((java.util.function.Predicate<Integer>) number -> number > 3).negate().test(4)", "false"),
        ("first.map(one -> one.count() * 1.5).orElse(0.0)", "4.5"),
        ("payment instanceof Cash cash ? cash.given() + 1 : 0", "4"),
        // The program calls a method of the interface that calls the lambda.
        ("label(() -> 3.5)", "\"area 3.5\""),
        // The type of the parameter is one that the program has not used yet.
        ("apply((one, other) -> one * 10 + other)", "34"),
        ("safely(() -> Integer.parseInt(\"x\"))", "\"caught For input string: \\\"x\\\"\""),
        // Each argument is put into an object.
        ("Map.of(1, 2, 3, 4).get(3)", "4"),
        ("kind(items.toArray())", "\"array\""),
        ("kind((Object) items.toArray())", "\"one\""),
        // The type that the source gives decides between fields of the same name.
        ("tag.name + ((Label) tag).name + ((Tag) (Label) tag).name", "\"taglabeltag\""),
        // Literals are the same object everywhere, and other texts are not.
        ("kind == \"cash\"", "true"),
        ("new String(\"cash\") == kind", "false"),
        ("(Object) kind == (Object) \"cash\"", "true"),
        ("int.class == Integer.TYPE", "true"),
        // The branch that is not evaluated decides over the type, too.
        ("(true ? items.size() : 0.5) / 4", "0.5"),
        ("\"\" + (true ? 1 : rate(2))", "\"1.0\""),
        ("true ? 'a' : items.size()", "97"),
        ("true ? 'a' : 7", "'a'"),
        ("true ? 'a' : -7", "97"),
        ("true ? 'a' : SMALL", "'a'"),
        ("true ? 'a' : Main.SMALL + 1", "'a'"),
        ("true ? 'a' : LARGE", "97"),
        ("true ? 'a' : 1 / 0", "97"),
        ("\"\" + (true ? 1 : box.get())", "\"1.0\""),
        ("true ? stock.get(\"pen\") : 0L", "3"),
        ("\"\" + (true ? stock.get(\"pen\") : 0.5)", "\"3.0\""),
        ("\"\" + (true ? (Object) 3 : 0.5)", "\"3\""),
        ("true ? kind : 0.5", "\"cash\""),
    ] {
        assert_eq!(session.evaluate(expression).await, expected, "{expression}");
    }
    for (expression, expected) in [("kind == \"card\"", "false"), ("kind.equals(\"cash\")", "true")] {
        let pure = json!({ "expression": expression, "sideEffects": false });
        assert_eq!(session.ok("evaluate_expression", pure).await.text_of("result"), expected, "{expression}");
    }
    for (expression, message) in [
        (
            "items.stream().map(one -> 1 / (one.count() - 1)).toList()",
            "java.lang.ArithmeticException: / by zero",
        ),
        (
            "items.stream().map(one -> one.missing()).toList()",
            "cannot find the method `missing` of `Main.Item`",
        ),
        // The program catches everything.
        ("safely(() -> missing)", "cannot find symbol `missing`"),
        // The end of the name of a class is not a class.
        ("ain", "cannot find symbol `ain`"),
        ("super.items", "cannot find symbol `items` in class `java.lang.Object`"),
        ("switch (kind) { default -> 1; }", "`switch` cannot be evaluated"),
    ] {
        let asked = json!({ "expression": expression });
        let failed = session.fails("evaluation_failed", "evaluate_expression", asked).await;
        assert!(failed.text_of("error").contains(message), "{expression}: {}", failed.text);
    }
    let endless = "java.util.stream.Stream.iterate(0, one -> one + 1).count()";
    let late = json!({ "expression": endless, "timeout": 500 });
    let failed = session.fails("deadline_exceeded", "evaluate_expression", late).await;
    assert!(failed.text_of("error").contains("did not end within 500 ms"), "{}", failed.text);
    let ended = session.ok("continue_execution", json!({})).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    assert!(!ended.text.contains("Exception"), "{}", ended.text);
    session.finish().await;
}

const CALLS: &str = "\
import java.util.List;

class Main {
    static volatile boolean isHeld;

    static int search(List<Integer> list) {
        int at = 0;
        while (list.get(at) != 99) at = (at + 1) % list.size();
        return at;
    }
    static void nap() throws InterruptedException { Thread.sleep(600_000); }
    static synchronized int locked() { return 1; }
    static synchronized void hold(Thread other) {
        isHeld = true;
        while (other.getState() != Thread.State.BLOCKED) Thread.yield();
    }

    public static void main(String[] arguments) throws Exception {
        List<Integer> list = List.of(1, 2, 3);
        System.out.println(\"one\"); // @one
        Thread.sleep(1); // @sleeps
        Thread main = Thread.currentThread();
        new Thread(() -> hold(main)).start();
        while (!isHeld) Thread.sleep(1);
        System.out.println(\"two\"); // @held
    }
}
";

#[tokio::test]
async fn a_call_that_does_not_end_is_interrupted_and_the_program_continues_as_without_it() {
    let (_folder, program) = written("Main.java", CALLS);
    let (session, _) = Debugging::stopped_at(&program, "one").await;
    for expression in ["nap()", "search(list)", "Thread.sleep(600_000)", "search(list)", "nap()"] {
        let asked = json!({ "expression": expression, "timeout": 300 });
        let failed = session.fails("deadline_exceeded", "evaluate_expression", asked).await;
        assert!(
            failed.text_of("error").contains("did not end within 300 ms"),
            "{expression}: {}",
            failed.text
        );
    }
    assert_eq!(session.evaluate("list.size()").await, "3");
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place(), (program.path(), program.line("sleeps")), "{}", stepped.text);
    session.break_at(&program, "held").await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("held")), "{}", stopped.text);
    let asked = json!({ "expression": "locked()", "timeout": 300 });
    let failed = session.fails("evaluation_failed", "evaluate_expression", asked).await;
    assert!(failed.text_of("error").contains("waits for a lock"), "{}", failed.text);
    let refused = session.call("step_over", json!({})).await;
    assert!(refused.text_of("error").contains("still runs an expression"), "{}", refused.text);
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    session.finish().await;
}

const CODES: &str = "\
class Main {
    static class Failure extends RuntimeException {
        final int code;
        Failure(int code) { super(\"code \" + code); this.code = code; }
    }

    public static void main(String[] arguments) {
        for (int code = 1; code < 4; code++) {
            try { throw new Failure(code); } catch (Failure failure) { System.out.println(failure.code); } // @throws
        }
        System.out.println(\"end\"); // @end
    }
}
";

#[tokio::test]
async fn a_condition_selects_exceptions() {
    let (_folder, program) = written("Main.java", CODES);
    let session = Debugging::of(Language::Java).await;
    let condition = "error instanceof Main.Failure failure && failure.code == 2";
    let asked = json!({ "mode": "all", "exceptionCondition": condition });
    session.ok("set_exception_breakpoints", asked).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("throws")), "{}", stopped.text);
    assert_eq!(stopped.variable("code"), "2", "{}", stopped.text);
    let ended = session.go_on().await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn an_expression_cannot_end_the_program() {
    let (_folder, program) = written("Main.java", CODES);
    let (session, _) = Debugging::stopped_at(&program, "end").await;
    for expression in ["System.exit(3)", "Runtime.getRuntime().halt(3)"] {
        let asked = json!({ "expression": expression });
        let failed = session.fails("evaluation_failed", "evaluate_expression", asked).await;
        assert!(failed.text_of("error").contains("it would end the program"), "{}", failed.text);
    }
    assert_eq!(session.evaluate("1 + 1").await, "2");
    session.finish_at_end().await;
}

const IMPORTS: &str = "\
package shop;

import static java.lang.Thread.State;
import static shop.Busy.*;
import static shop.Limits.*;
import static shop.Rates.*;

import java.util.Map;
import java.util.Map.Entry;
import java.util.concurrent.*;
import shop.Orders.*;

class Orders {
    enum Status { OPEN, PAID }
    record Order(String id, Status status) {}
}
class Rates { static final Integer RATE = Integer.valueOf(3); }
class Limits { static final Integer LIMIT = Integer.valueOf(9); }
class Busy { static final int IDLE = Main.inPool(1); }

class Main {
    static final ExecutorService POOL = Executors.newSingleThreadExecutor();

    static int inPool(int count) {
        try { return POOL.submit(() -> count).get(); } catch (Exception failed) { throw new AssertionError(failed); }
    }
    static int count(Map<String, Order> orders) {
        int count = 0;
        for (Entry<String, Order> entry : orders.entrySet()) {
            count += 1; // @counts
        }
        return count;
    }

    public static void main(String[] arguments) {
        inPool(0);
        Map<String, Order> orders = new ConcurrentSkipListMap<>();
        orders.put(\"a\", new Order(\"a\", Status.OPEN));
        orders.put(\"b\", new Order(\"b\", Status.PAID));
        System.out.println(count(orders) + RATE + IDLE);
        POOL.shutdown();
    }
}
";

/// The class `Busy` cannot be initialized while its program is stopped: it waits for another thread.
#[tokio::test]
async fn imported_names_are_found_and_unknown_ones_run_no_code() {
    let (_folder, program) = written("Main.java", IMPORTS);
    let session = Debugging::of(Language::Java).await;
    let condition = "entry.getValue().status() == Status.PAID";
    let asked = json!({ "file": program.path(), "line": program.line("counts"), "condition": condition });
    session.ok("set_breakpoint", asked).await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("counts")), "{}", stopped.text);
    for (expression, expected) in [
        ("entry instanceof Entry", "true"),
        ("new Order(\"c\", Status.valueOf(\"OPEN\")).id()", "\"c\""),
        ("State.NEW", "NEW"),
        ("RATE", "3"),
    ] {
        assert_eq!(session.evaluate(expression).await, expected, "{expression}");
    }
    for expression in ["missing", "missing()"] {
        let asked = json!({ "expression": expression });
        let failed = session.fails("evaluation_failed", "evaluate_expression", asked).await;
        assert!(failed.text_of("error").contains("cannot find symbol `missing"), "{}", failed.text);
    }
    // The search for these names has found the class, and not initialized it.
    assert_eq!(session.evaluate("Limits.LIMIT").await, "9");
    assert_eq!(session.evaluate("count").await, "1");
    session.finish_at_end().await;
}
