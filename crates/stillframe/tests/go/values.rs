//! Values as Go writes them, and calls that are asked for.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report};
use crate::{Module, STILLFRAME};

#[tokio::test]
async fn errors_interfaces_and_pointers_are_formatted_as_in_go() {
    let (session, _) = Debugging::stopped_at(&Fixture::of(Language::Go, "values"), "main").await;
    for (expression, shown) in [
        (
            "wrapped",
            "&fmt.wrapError{msg: \"cannot save: disk full\", err: &errors.errorString{s: \"disk full\"}}",
        ),
        ("*pointers[0]", "main.Point{x: 1, y: 2}"),
        ("table[\"b\"]", "[]int{10, 20}"),
        ("len(many)", "1000"),
    ] {
        assert_eq!(session.evaluate(expression).await, shown, "{expression}");
    }
    session.finish().await;
}

const PROGRAM: &str = "\
package main

import (
\t\"bytes\"
\t\"errors\"
\t\"fmt\"
\t\"math/big\"
\t\"sync/atomic\"
\t\"time\"
)

type inner struct{ x int }
type middle struct {
\tin inner
\tat time.Time
}
type outer struct {
\tmid middle
\tto  *inner
\tn   atomic.Int64
}

func isThree(n int) bool { return n == 3 }

func risky(n int) (err error) {
\tdefer func() {
\t\tif caught := recover(); caught != nil {
\t\t\terr = fmt.Errorf(\"caught: %v\", caught)
\t\t}
\t}()
\tif n == 2 {
\t\tpanic(errors.New(\"two\")) // @panics
\t}
\treturn nil
}

func main() {
\tat := time.Date(2024, 1, 2, 3, 4, 5, 6000000, time.UTC)
\tdeep := outer{mid: middle{inner{1}, at}, to: &inner{2}}
\tdeep.n.Store(5)
\thuge := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
\tvar buffer bytes.Buffer
\tbuffer.WriteString(\"held\")
\tall := []time.Time{at}
\tchecks, ends := []func(int) bool{isThree, nil}, [2]<-chan struct{}{}
\tfmt.Println(deep.mid, huge, buffer.String(), all, isThree(1), len(checks), len(ends)) // @shows
\tfor i := range 5 {
\t\terr := risky(i)
\t\tfmt.Println(err) // @loop
\t}
}
";

#[tokio::test]
async fn structures_times_and_recovered_panics_are_shown_as_what_they_are() {
    let module = Module::new(&[("main.go", PROGRAM)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    session.break_at(&program, "shows").await;
    let stopped = session.start(&program).await;
    let shown = [
        (
            "deep",
            "main.outer{mid: main.middle{in: main.inner{...}, at: time.Time{...}}, to: &main.inner{x: 2}, n: 5}",
        ),
        ("at", "2024-01-02T03:04:05.006Z"),
        ("huge", "1000000000000000000000000000000"),
        ("buffer", "\"held\""),
        ("checks", "[]func(int) bool{main.isThree, nil}"),
        ("ends", "[2]<-chan struct {}{nil, nil}"),
        ("all", "[]time.Time{2024-01-02T03:04:05.006Z}"),
    ];
    for (name, expected) in shown {
        assert_eq!(stopped.variable(name), expected, "{}", stopped.text);
    }
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    let panics = session.go_on().await;
    assert_eq!((panics.outcome(), panics.place()), ("exception", (program.path(), program.line("panics"))));
    let exception = &panics["exception"];
    assert_eq!(
        (&exception["message"], &exception["uncaught"]),
        (&json!("errors.errorString: two"), &json!(false))
    );
    session.break_with(&program, "loop", json!({ "condition": "call isThree(i)" })).await;
    let looped = session.go_on().await;
    assert_eq!((looped.place().1, looped.variable("i")), (program.line("loop"), "3"), "{}", looped.text);
    session.finish().await;
}

const INTERFACES: &str = "\
package main

import \"fmt\"

type point struct{ x, y int }

func show(x any, err error) {
\tfmt.Println(x, err) // @shows
}

func main() {
\tshow(nil, nil)
\tshow(&point{1, 2}, nil)
}
";

/// They are in registers there.
#[tokio::test]
async fn parameters_that_are_interfaces_are_read_where_a_function_begins() {
    let module = Module::new(&[("main.go", INTERFACES)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    session.break_with(&program, "shows", json!({ "condition": "x != nil" })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("shows")), "{}", stopped.text);
    assert_eq!(stopped.variable("x"), "&main.point{x: 1, y: 2}", "{}", stopped.text);
    session.finish().await;
}

const GENERIC: &str = "\
package main

import \"fmt\"

type stack[T any] struct{ items []T }

func (s *stack[T]) size() int { return len(s.items) }

func sum[T int | float64](a, b T) T { return a + b }

func main() {
\ts, n := &stack[int]{}, 2
\tfmt.Println(s.size(), sum(1, n)) // @shows
}
";

#[tokio::test]
async fn generic_functions_have_the_names_that_stacks_of_go_have() {
    let module = Module::new(&[("main.go", GENERIC)]);
    let session = Debugging::of(Language::Go).await;
    let names = ["(*stack[...]).size", "sum[...]"];
    for name in names {
        session.ok("set_breakpoint", json!({ "function": name })).await;
    }
    let mut stopped = session.start(&module.file("main.go")).await;
    for name in names {
        assert_eq!(stopped.at("/location/function"), name, "{}", stopped.text);
        stopped = session.go_on().await;
    }
    assert_eq!(stopped.outcome(), "ended", "{}", stopped.text);
    session.finish().await;
}

#[tokio::test]
async fn what_cannot_be_called_or_assigned_to_is_explained() {
    let module = Module::new(&[("main.go", GENERIC)]);
    let program = module.file("main.go");
    let session = Debugging::of(Language::Go).await;
    session.break_at(&program, "shows").await;
    session.ok("set_breakpoint", json!({ "function": "shop.main" })).await;
    session.start(&program).await;
    for expression in ["call s.size()", "call sum(1, n)"] {
        let asked = json!({ "expression": expression });
        let refused = session.fails("evaluation_failed", "evaluate_expression", asked).await;
        assert!(refused.text.contains("Delve cannot call generic"), "{}", refused.text);
    }
    let set = session.ok("set_variable", json!({ "name": "n", "value": "5" })).await;
    assert!(set["note"].as_str().unwrap().contains("the old value"), "{}", set.text);
    let listed = session.breakpoints().await;
    let reason = listed[1]["reason"].as_str().unwrap();
    assert!(reason.contains("end of its import path"), "{reason}");
    session.finish().await;
}

#[tokio::test]
async fn functions_are_called_only_on_request() {
    let (session, _) = Debugging::stopped_at(&Fixture::of(Language::Go, "values"), "main").await;
    assert_eq!(session.evaluate("call add(1, 2)").await, "3");
    assert_eq!(session.evaluate("call wrapped.Error()").await, "\"cannot save: disk full\"");
    let plain =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "add(1, 2)" })).await;
    assert!(plain.text_of("error").contains("need an explicit `call`"), "{}", plain.text);
    let pure = json!({ "expression": "call add(1, 2)", "sideEffects": false });
    let refused = session.call("evaluate_expression", pure).await;
    assert!(refused.is_error, "{}", refused.text);
    session.finish().await;
}

#[tokio::test]
async fn a_long_slice_and_a_map_are_paged() {
    let (session, _) = Debugging::stopped_at(&Fixture::of(Language::Go, "values"), "main").await;
    let numbers = session.ok("evaluate_expression", json!({ "expression": "numbers" })).await;
    assert_eq!(numbers["children"], 100_000, "{}", numbers.text);
    let page = json!({ "scope": numbers["variablesReference"], "start": 99_990, "count": 3 });
    let page = session.ok("get_variables", page).await;
    assert_eq!((&page["total"], page.variable("[99990]")), (&json!(100_000), "99990"), "{}", page.text);
    let many = session.ok("evaluate_expression", json!({ "expression": "many" })).await;
    let page = json!({ "scope": many["variablesReference"], "start": 900, "count": 200 });
    let page = session.ok("get_variables", page).await;
    assert!(page["variables"].as_array().unwrap().len() >= 100, "{}", page.text);
    session.finish().await;
}

const EXPRESSIONS: &str = "\
package main

import (
\t\"fmt\"
\t\"strings\"
\t\"sync\"
)

type Item struct{ count int }
type counter interface{ Count() int }
type stocked map[string]int
type header map[string][]string

func (item *Item) Count() int { return item.count }

func main() {
\titems := map[string]*Item{\"pen\": {3}}
\tcounts := map[string]int{\"pen\": 3}
\tmixed := map[string]any{\"pen\": 3, \"gap\": nil}
\tnone := map[string]int{}
\tstock, sent := stocked{\"pen\": 3}, header{}
\tseen := map[string]bool{\"ink\": true}
\tvar held counter = items[\"pen\"]
\tvar failed, expected error
\tvar lock, free sync.Mutex
\tvar shared sync.RWMutex
\tvar group sync.WaitGroup
\tlock.Lock()
\tshared.RLock()
\tgroup.Add(2)
\tfor _, name := range []string{\"ink\", \"pen\", \"pencil\"} {
\t\tfmt.Println(name, strings.ToUpper(name), counts[name], held.Count(), len(mixed), len(none), len(stock), len(sent), len(seen), failed, expected) // @each
\t}
\tfree.Lock()
\tfree.Unlock()
\tlock.Unlock()
\tshared.RUnlock()
\tgroup.Done()
}
";

#[tokio::test]
async fn expressions_that_delve_refuses_have_the_value_that_go_gives_them() {
    let module = Module::new(&[("main.go", EXPRESSIONS)]);
    let (server, program) = (STILLFRAME.serve().await, module.file("main.go"));
    let stops = |condition: &str| {
        json!({
            "program": module.folder(),
            "until": [{ "file": program.path(), "line": program.line("each"), "condition": condition }],
            "expressions": [
                "held.(*Item).count > 2", "lock", "free", "shared", "group",
                "none[\"pen\"] == 0", "mixed[\"ink\"] == 0", "mixed[\"ink\"] != \"\"",
            ],
            "timeout": 60_000,
        })
    };
    for (condition, name) in [
        ("strings.HasPrefix(name, \"penc\")", "\"pencil\""),
        ("len(name) > 2 && strings.HasSuffix(name, \"en\")", "\"pen\""),
        ("items[name] != nil", "\"pen\""),
        ("counts[name] == 0", "\"ink\""),
        ("stock[name] == 3 || counts[name] == 0 && (len(sent[name]) == 0)", "\"ink\""),
        ("mixed[\"pen\"] == 3 && mixed[\"pen\"] != \"3\" && name == \"pen\"", "\"pen\""),
        ("!(mixed[\"gap\"] == 3) && 0x3 == mixed[name]", "\"pen\""),
        ("3 <= counts[name] && mixed[\"gap\"] != 3", "\"pen\""),
        ("failed == expected && !(expected != failed) && name == \"pen\"", "\"pen\""),
        ("!seen[name] || mixed[\"ink\"] == \"\"", "\"pen\""),
    ] {
        let ran = server.ok("run_until", stops(condition)).await;
        assert_eq!(ran.variable("name"), name, "{condition}: {}", ran.text);
        let locks = ["locked", "unlocked", "locked by 1 to read", "sync.WaitGroup{counter: 2, waiters: 0}"];
        let shown = [&["true"][..], &locks, &["true", "false", "true"]].concat();
        for (at, shown) in shown.into_iter().enumerate() {
            assert_eq!(ran["values"][at]["value"], shown, "{}", ran.text);
        }
        server.ok("close_debug_session", json!({ "sessionId": ran["sessionId"] })).await;
    }
    server.finish().await;
}

const FLOATS: &str = "\
package main

import \"fmt\"

type warmth float64
type weight float32

type item struct {
\tname   string
\tprice  float64
\trate   float32
\twarmth warmth
\tweight weight
}

//go:noinline
func half(price float64) float64 { return price / 2 }

func main() {
\titems := []item{{\"pen\", 5, 0.5, 0, 0}, {\"ink\", 19.99, 0.5, 0, 0}, {\"cap\", 0, 0.2, 0, 0}, {\"ice\", 0, 0, -0.1, 0}, {\"cup\", 0.1, 0, 0, 0.3}}
\tfor _, item := range items {
\t\tfmt.Println(item, half(item.price)) // @each
\t}
}
";

#[tokio::test]
async fn decimal_constants_are_rounded_to_the_type_that_they_are_compared_with() {
    let module = Module::new(&[("main.go", FLOATS)]);
    let (session, program) = (Debugging::of(Language::Go).await, module.file("main.go"));
    let mut program_of = json!({ "program": module.folder() });
    for (condition, name) in [
        ("item.price == 19.99", "ink"),
        ("item.rate > 0.1 && item.rate <= 2e-1", "cap"),
        ("!(item.warmth != -(0.1))", "ice"),
        ("item.name != \"\" && (0.3 == item.weight)", "cup"),
    ] {
        program_of["until"] =
            json!([{ "file": program.path(), "line": program.line("each"), "condition": condition }]);
        program_of["timeout"] = json!(60_000);
        let ran = session.ok("run_until", program_of).await;
        let shown = ran.variable("item");
        assert!(shown.contains(&format!("\"{name}\"")), "{condition}: {}", ran.text);
        program_of = json!({});
    }
    for (expression, value) in [
        ("item.price == 0.1", "true"),
        ("item.price != 1.0/10", "false"),
        ("item.weight < 0.3", "false"),
        ("item.warmth >= 0.1", "false"),
        ("0.1 == 0.1", "true"),
        ("call half(item.price) == 0.05", "true"),
    ] {
        assert_eq!(session.evaluate(expression).await, value, "{expression}");
    }
    session.finish().await;
}
