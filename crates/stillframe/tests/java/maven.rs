//! Maven: the JVMs that it starts, and failing tests of `JUnit`.

use std::path::Path;

use serde_json::json;
use test_support::{Fixture, repository};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder};

/// A copy of `fixtures/java_shop`: a build writes into its folder.
fn shop(to: &Path) -> Fixture {
    let from = repository().join("fixtures/java_shop");
    for file in ["pom.xml", "src/main/java/shop/Basket.java", "src/test/java/shop/BasketTest.java"] {
        std::fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
    Fixture::read(to.join("src/test/java/shop/BasketTest.java"))
}

/// Maven ends before code is fast that was optimized.
fn quick() -> serde_json::Value {
    json!({ "MAVEN_OPTS": "-XX:TieredStopAtLevel=1" })
}

#[tokio::test]
async fn a_failing_test_has_both_sides_and_the_values_at_the_throw() {
    let folder = folder();
    let test = shop(folder.path());
    let server = STILLFRAME.serve().await;
    let arguments =
        json!({ "command": "mvn -q test", "cwd": folder.path(), "env": quick(), "timeout": 240_000 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["verdict"], "failed", "{}", answer.text);
    let failure = &answer["failure"];
    assert_eq!(failure["test"], "shop.BasketTest#addsPrices", "{}", answer.text);
    assert_eq!(failure["line"], json!(test.line("fails")), "{}", answer.text);
    let assertion = &failure["assertion"];
    assert_eq!((&assertion["left"]["value"], &assertion["right"]["value"]), (&json!("4"), &json!("7")));
    assert!(answer.text.contains("Basket{prices=[3, 4]}"), "{}", answer.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_breakpoint_is_hit_in_the_jvm_that_runs_the_tests() {
    let folder = folder();
    shop(folder.path());
    let program = Fixture::read(folder.path().join("src/main/java/shop/Basket.java"));
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "java", "executablePath": "mvn" });
    let id = server.ok("create_debug_session", arguments).await.text_of("sessionId").to_owned();
    let session = Debugging { server, id };
    session.break_with(&program, "total", json!({ "condition": "prices.size() == 2" })).await;
    let arguments =
        json!({ "runtimeArgs": ["-q", "test"], "cwd": folder.path(), "env": quick(), "timeout": 0 });
    session.ok("start_debugging", arguments).await;
    let stopped = session.ok("continue_execution", json!({ "timeout": 240_000 })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("total")), "{}", stopped.text);
    assert_eq!(session.evaluate("prices.get(0) + prices.get(1)").await, "7");
    session.finish().await;
}

const ALIKE: &str = "\
package shop;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class AlikeTest {
    @Test
    void all() {
        assertAll(() -> assertEquals(1, 2), () -> assertEquals(3, 3));
    }

    @Test
    void one() {
        int got = 2;
        assertEquals(1, got); // @one
    }

    @Test
    void texts() {
        org.assertj.core.api.Checks.isEqual(50, 51);
    }
}
";
/// Fails as `AssertJ` does.
const CHECKS: &str = "\
package org.assertj.core.api;

import org.opentest4j.AssertionFailedError;

public class Checks {
    public static void isEqual(Object actual, Object expected) {
        throw new AssertionFailedError(\"not equal\", expected.toString(), actual.toString());
    }
}
";

/// What `assertAll` collects has the message of another test's failure.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_failure_is_shown_where_its_own_test_threw_it() {
    let folder = folder();
    shop(folder.path());
    let tests = Fixture::write(&folder.path().join("src/test/java/shop"), "AlikeTest.java", ALIKE);
    let checks = folder.path().join("src/test/java/org/assertj/core/api");
    std::fs::create_dir_all(&checks).unwrap();
    Fixture::write(&checks, "Checks.java", CHECKS);
    let server = STILLFRAME.serve().await;
    let command = "mvn -q test -Dtest=AlikeTest";
    let arguments = json!({ "command": command, "cwd": folder.path(), "env": quick(), "failures": 9, "timeout": 240_000 });
    let answer = server.ok("debug_test", arguments).await;
    let failures = std::iter::once(&answer["failure"]).chain(answer["moreFailures"].as_array().unwrap());
    let failures: Vec<_> = failures.collect();
    let of = |test: &str| failures.iter().find(|failure| failure["test"] == format!("shop.AlikeTest#{test}"));
    assert_eq!(of("one").map(|one| &one["line"]), Some(&json!(tests.line("one"))), "{}", answer.text);
    let left = of("texts").map(|texts| &texts["assertion"]["left"]);
    assert_eq!(left, Some(&json!({ "value": "50" })), "{}", answer.text);
    server.finish().await;
}

const CONTRACT: &str = "\
package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.*;

class Timing implements InvocationInterceptor {
    public void interceptTestMethod(Invocation<Void> test, ReflectiveInvocationContext<Method> of, ExtensionContext in)
            throws Throwable {
        test.proceed();
    }
}

@ExtendWith(Timing.class)
abstract class ContractTest {
    abstract String name();

    @Test
    void isUpper() {
        assertEquals(\"PEN\", name()); // @inherited
    }
}

class FirstTest extends ContractTest {
    String name() { return \"pen\"; }
}

class LastTest extends ContractTest {
    String name() { return \"pen\"; }
}
";

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_inherited_test_fails_with_the_object_of_its_class() {
    let folder = folder();
    shop(folder.path());
    let tests = Fixture::write(&folder.path().join("src/test/java/shop"), "ContractTest.java", CONTRACT);
    let server = STILLFRAME.serve().await;
    let command = "mvn -q test -Dtest=FirstTest,LastTest -Dsurefire.runOrder=reversealphabetical";
    let arguments = json!({ "command": command, "cwd": folder.path(), "env": quick(), "failures": 9, "timeout": 240_000 });
    let answer = server.ok("debug_test", arguments).await;
    let failures = std::iter::once(&answer["failure"]).chain(answer["moreFailures"].as_array().unwrap());
    for (failure, class) in failures.zip(["LastTest", "FirstTest"]) {
        assert_eq!(failure["test"], format!("shop.{class}#isUpper"), "{}", answer.text);
        assert_eq!(failure["line"], tests.line("inherited"), "{}", answer.text);
        assert!(failure["frames"][0]["locals"][0].to_string().contains(class), "{}", answer.text);
    }
    server.finish().await;
}

const WRAPPED: &str = "\
package shop;

import org.junit.jupiter.api.RepeatedTest;

abstract class WrappedTest {
    @RepeatedTest(60)
    void loads() {
        try {
            load();
        } catch (IllegalArgumentException cause) {
            throw new IllegalStateException(cause); // @wrapped
        }
    }

    static void load() {
        throw new IllegalArgumentException();
    }
}

class LastTest extends WrappedTest {}
";

/// Of so many failures, the throws of some are not kept, and the place is that of the report.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_inherited_test_fails_where_it_throws_not_where_its_cause_was_thrown() {
    let folder = folder();
    shop(folder.path());
    let tests = Fixture::write(&folder.path().join("src/test/java/shop"), "WrappedTest.java", WRAPPED);
    let server = STILLFRAME.serve().await;
    let command = "mvn -q test -Dtest=LastTest";
    let arguments = json!({ "command": command, "cwd": folder.path(), "env": quick(), "timeout": 240_000 });
    let answer = server.ok("debug_test", arguments).await;
    let others = answer["otherFailures"].as_array().unwrap();
    assert_eq!(others.len(), 59, "{}", answer.text);
    for other in others {
        assert_eq!(other["line"], tests.line("wrapped"), "{}", answer.text);
    }
    server.finish().await;
}
