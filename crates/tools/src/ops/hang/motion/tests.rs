use super::*;

/// A loop over lines 2 to 5, described by what else it is.
fn a_loop(what: impl FnOnce(&mut Loop)) -> Loop {
    let mut found = Loop { start: 2, end: 5, ..Loop::default() };
    what(&mut found);
    found
}

fn test(left: &str, operator: &str, right: &str) -> Comparison {
    Comparison { left: left.to_owned(), operator: operator.to_owned(), right: right.to_owned() }
}

/// Samples of one frame in a loop, with the values that `name` had.
fn samples(found: &Loop, name: &str, values: &[&str]) -> Vec<StackSample> {
    values.iter().map(|value| vec![position("f", 3, std::slice::from_ref(found), &[(name, value)])]).collect()
}

fn position(function: &str, line: u32, loops: &[Loop], values: &[(&str, &str)]) -> Position {
    Position {
        function: function.to_owned(),
        file: "/app/main.js".into(),
        line,
        loops: loops.to_vec(),
        values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Position::default()
    }
}

#[test]
fn repeated_values_prove_a_loop_if_nothing_else_decides() {
    let table = [
        (true, ["1", "2", "1"], LoopProgress::Repeats),
        (true, ["1", "2", "3"], LoopProgress::Changes),
        (true, ["1", "1", "2"], LoopProgress::Changes),
        // What it calls may end it.
        (false, ["1", "2", "1"], LoopProgress::Changes),
    ];
    for (is_closed, values, expected) in table {
        let found = a_loop(|found| {
            (found.is_closed, found.has_exit) = (is_closed, true);
            found.assigned = vec!["a".to_owned()];
        });
        let sampled = samples(&found, "a", &values);
        assert_eq!(motion_of(&sampled), expected, "{is_closed} {values:?}");
        // It is another call.
        let mut called = sampled;
        for (sample, line) in called.iter_mut().zip(7..) {
            sample.insert(0, position("caller", 1, &[], &[("item", &line.to_string())]));
        }
        assert_eq!(motion_of(&called), LoopProgress::Changes, "{is_closed} {values:?}");
    }
}

#[test]
fn a_function_without_a_loop_around_its_call_may_have_been_called_again() {
    let found = a_loop(|found| found.condition = vec![test("n", "!=", "1")]);
    let alone = samples(&found, "n", &["5", "80", "2"]);
    assert_eq!(motion_of(&alone), LoopProgress::Away);
    assert!(!may_be_several_calls(&alone));
    let mut called = alone;
    for sample in &mut called {
        sample.insert(0, position("caller", 9, &[], &[]));
    }
    let mut further = called.clone();
    assert!(may_be_several_calls(&called));
    called.push(vec![position("caller", 9, &[], &[])]);
    assert_eq!(motion_of(&called), LoopProgress::Changes);
    assert!(!may_be_several_calls(&called));
    for sample in &mut further {
        sample.push(position("helper", 20, &[], &[]));
    }
    assert!(!may_be_several_calls(&further));
}

#[test]
fn values_of_which_there_are_few_are_sampled_more_often() {
    let found = a_loop(|found| {
        found.is_closed = true;
        found.assigned = vec!["a".to_owned()];
    });
    let table = [(["1", "1", "2"], true), (["1", "2", "3"], false), (["1", "2", "1"], false)];
    for (values, expected) in table {
        assert_eq!(may_repeat(&samples(&found, "a", &values)), expected, "{values:?}");
    }
    let open = Loop { is_closed: false, ..found };
    assert!(!may_repeat(&samples(&open, "a", &["1", "1", "2"])));
    // What decides about its end is enough, whatever else changes.
    let table =
        [(["'a'", "'a'", "'b'"], true), (["'a'", "'b'", "'c'"], false), (["'a'", "'a'", "'a'"], false)];
    let asks = Loop { variables: vec!["a".to_owned()], assigned: vec!["n".to_owned()], ..open };
    for (values, expected) in table {
        let mut sampled = samples(&asks, "a", &values);
        for (count, sample) in sampled.iter_mut().enumerate() {
            sample[0].values.insert("n".to_owned(), count.to_string());
        }
        assert_eq!(may_repeat(&sampled), expected, "{values:?}");
    }
}

fn motion_of(samples: &[StackSample]) -> LoopProgress {
    observe(samples, Duration::from_secs(1)).unwrap().motion
}

#[test]
fn sides_of_a_condition_converge_or_not() {
    let left = |milliseconds| LoopProgress::Nearer(Some(Duration::from_millis(milliseconds)));
    let table = [
        (test("i", "<", "100"), vec!["10", "20", "30"], left(3500)),
        (test("i", "<=", "100"), vec!["10", "10", "30"], left(3500)),
        (test("i", ">", "0"), vec!["30", "20", "10"], left(500)),
        (test("i", "!=", "0"), vec!["-30", "-20"], left(2000)),
        (test("i", "<", "100"), vec!["10", "40", "20"], LoopProgress::Away),
        (test("i", ">", "0"), vec!["10", "20", "30"], LoopProgress::Away),
        (test("i", "<", "Infinity"), vec!["10", "20"], LoopProgress::Away),
        (test("i", "<", "1_000"), vec!["0", "500"], left(1000)),
        (test("i", "<", "100"), vec!["10", "10", "10"], LoopProgress::Stuck),
        (test("i", "===", "0"), vec!["'b'", "'c'"], LoopProgress::Changes),
        (test("i", "!=", "0"), vec!["'b'", "'c'", "'c'", "'d'"], LoopProgress::Changes),
        (test("i", "!=", "0"), vec!["'b'", "'c'", "'c'", "'b'"], LoopProgress::Away),
    ];
    for (test, values, expected) in table {
        let case = format!("{test:?} {values:?}");
        let found = a_loop(|found| {
            found.condition = vec![test];
            found.variables = vec!["i".to_owned()];
        });
        assert_eq!(motion_of(&samples(&found, "i", &values)), expected, "{case}");
    }
}

#[test]
fn iterated_collections_are_progress_and_other_changes_are_changes() {
    let through = a_loop(|found| {
        (found.goes_through, found.end_known) = (true, Some(Loop::HAS_END.to_owned()));
        found.variables = vec!["item".to_owned()];
    });
    assert_eq!(motion_of(&samples(&through, "item", &["'a'", "'b'"])), LoopProgress::Nearer(None));
    assert_eq!(motion_of(&samples(&through, "item", &["'a'", "'a'"])), LoopProgress::Stuck);
    let assigns = a_loop(|found| {
        found.condition = vec![test("done", "!=", "0")];
        found.assigned = vec!["n".to_owned()];
    });
    let asks = a_loop(|found| found.variables = vec!["clock".to_owned()]);
    assert_eq!(motion_of(&samples(&asks, "clock", &["1", "1"])), LoopProgress::Asks);
    assert_eq!(motion_of(&samples(&asks, "clock", &["1", "2"])), LoopProgress::Changes);
    assert_eq!(
        motion_of(&samples(&asks, "clock", &["1", "2", "1"])),
        LoopProgress::Away,
        "it goes in circles"
    );
    assert_eq!(motion_of(&samples(&assigns, "n", &["1", "7", "3"])), LoopProgress::Changes);
    assert_eq!(motion_of(&samples(&assigns, "n", &["1", "1", "1"])), LoopProgress::Stuck);
    let held = |has_exit| {
        a_loop(|found| {
            found.condition = vec![test("4", ">", "3")];
            found.assigned = vec!["n".to_owned()];
            found.has_exit = has_exit;
        })
    };
    assert_eq!(
        motion_of(&samples(&held(true), "n", &["1", "7", "3"])),
        LoopProgress::Changes,
        "it may be left"
    );
    assert_eq!(
        motion_of(&samples(&held(false), "n", &["1", "7", "3"])),
        LoopProgress::Stuck,
        "nothing else ends it"
    );
}

#[test]
fn a_loop_without_exit_needs_one_sample() {
    let certain = a_loop(|found| {
        found.is_certain = true;
        found.is_endless = true;
    });
    assert_eq!(motion_of(&samples(&certain, "i", &["1"])), LoopProgress::Certain);
    let endless = a_loop(|found| found.is_endless = true);
    assert_eq!(motion_of(&samples(&endless, "i", &["1"])), LoopProgress::Endless);
}

#[test]
fn items_are_progress_only_if_they_are_known_to_end() {
    let through = |end_known: Option<&str>| {
        a_loop(|found| {
            (found.goes_through, found.end_known) = (true, end_known.map(str::to_owned));
            found.variables = vec!["item".to_owned()];
        })
    };
    let table = [
        (Some(Loop::HAS_END), None, LoopProgress::Nearer(None)),
        (Some("len(items) >= 0"), Some("True"), LoopProgress::Nearer(None)),
        (Some("items.length >= 0"), Some("true"), LoopProgress::Nearer(None)),
        (Some("items.length >= 0"), Some("false"), LoopProgress::Advances),
        (Some("len(items) >= 0"), None, LoopProgress::Advances),
        (None, None, LoopProgress::Advances),
    ];
    for (end_known, answer, expected) in table {
        let mut sampled = samples(&through(end_known), "item", &["1", "2", "3", "1"]);
        let answered =
            end_known.zip(answer).map(|(expression, text)| (expression.to_owned(), text.to_owned()));
        sampled.iter_mut().flatten().for_each(|position| position.values.extend(answered.clone()));
        assert_eq!(motion_of(&sampled), expected, "{end_known:?} {answer:?}");
    }
}

#[test]
fn what_the_body_of_a_loop_assigns_shows_that_it_has_gone_on() {
    let through = a_loop(|found| {
        found.goes_through = true;
        (found.variables, found.assigned) = (vec!["item".to_owned()], vec!["total".to_owned()]);
    });
    let inner = a_loop(|found| found.assigned = vec!["total".to_owned()]);
    let at =
        |loops: &[Loop], total| vec![position("f", 3, loops, &[("item", "undefined"), ("total", total)])];
    let by_itself = ["1", "2"].map(|total| at(std::slice::from_ref(&through), total));
    assert_eq!(motion_of(&by_itself), LoopProgress::Advances);
    let by_inner = ["1", "2"].map(|total| at(&[inner.clone(), through.clone()], total));
    assert_eq!(motion(&by_inner, 0, &through, Duration::from_secs(1)), LoopProgress::Stuck);
}

#[test]
fn the_deciding_loop_of_nested_loops_is_reported() {
    let endless = a_loop(|found| found.is_endless = true);
    let through = a_loop(|found| {
        (found.goes_through, found.end_known) = (true, Some(Loop::HAS_END.to_owned()));
        found.variables = vec!["item".to_owned()];
    });
    let inner =
        |values: &[(&str, &str)], found: &Loop| position("inner", 3, std::slice::from_ref(found), values);
    let outer =
        |values: &[(&str, &str)], found: &Loop| position("outer", 3, std::slice::from_ref(found), values);
    let stack = |outer: Position, inner: Position| vec![outer, Position { depth: 1, ..inner }];

    let served = [
        stack(outer(&[], &endless), inner(&[("item", "1")], &through)),
        stack(outer(&[], &endless), inner(&[("item", "2")], &through)),
    ];
    assert_eq!(motion_of(&served), LoopProgress::Endless, "what goes on inside does not end the outer one");

    let left_again = [
        stack(outer(&[("item", "1")], &through), inner(&[], &endless)),
        stack(outer(&[("item", "2")], &through), inner(&[], &endless)),
    ];
    assert_eq!(motion_of(&left_again), LoopProgress::Nearer(None), "the inner one was left, by an error");

    let held = [
        stack(outer(&[("item", "1")], &through), inner(&[], &endless)),
        stack(outer(&[("item", "1")], &through), inner(&[], &endless)),
    ];
    let observed = observe(&held, Duration::from_secs(1)).unwrap();
    assert_eq!((observed.motion, observed.function.as_str()), (LoopProgress::Endless, "inner"));
}

#[test]
fn short_lived_frames_are_ignored() {
    let endless = a_loop(|found| found.is_endless = true);
    let calls = |function: &str| {
        vec![
            position("main", 3, std::slice::from_ref(&endless), &[]),
            Position { depth: 1, ..position(function, 9, &[], &[]) },
        ]
    };
    let observed = observe(&[calls("one"), calls("two")], Duration::ZERO).unwrap();
    assert_eq!(
        (observed.motion, observed.function.as_str(), observed.line),
        (LoopProgress::Endless, "main", 3)
    );
}

#[test]
fn code_without_loops_is_recursion_or_does_not_move() {
    let fib = |depth: usize| {
        (0..depth).map(|depth| Position { depth, ..position("fib", 1, &[], &[]) }).collect::<StackSample>()
    };
    assert_eq!(motion_of(&[fib(5), fib(7)]), LoopProgress::Recursion);
    // The place is where the function calls itself, not where its innermost call happens to be.
    let mut begins = fib(5);
    begins.push(Position { depth: 5, ..position("fib", 8, &[], &[]) });
    assert_eq!(observe(&[begins], Duration::ZERO).unwrap().line, 1);
    let still = vec![position("main", 3, &[], &[])];
    assert_eq!(motion_of(&[still.clone(), still]), LoopProgress::Still);
    let moves = |value| vec![position("main", 3, &[], &[("n", value)])];
    assert_eq!(motion_of(&[moves("1"), moves("2")]), LoopProgress::Changes);
    assert_eq!(observe(&[], Duration::ZERO), None);
    assert_eq!(observe(&[Vec::new()], Duration::ZERO), None);
}

#[test]
fn a_loop_reports_changed_and_unchanged_values() {
    let found = a_loop(|found| {
        found.condition = vec![test("i", "<", "limit"), test("n", "<", "10")];
        found.assigned = vec!["i".to_owned(), "total".to_owned()];
    });
    let sample = |i: &str, total: &str| {
        vec![position(
            "f",
            3,
            std::slice::from_ref(&found),
            &[("i", i), ("limit", "50"), ("n", "1"), ("total", total)],
        )]
    };
    let observed =
        observe(&[sample("1", "1"), sample("2", "9")], Duration::from_secs(1)).unwrap().found.unwrap();
    let change = |name: &str, first: &str, last: &str| Change {
        name: name.to_owned(),
        first: first.to_owned(),
        last: last.to_owned(),
    };
    assert_eq!(observed.changing, [change("i", "1", "2"), change("total", "1", "9")]);
    assert_eq!(observed.steady, [("limit".to_owned(), "50".to_owned()), ("n".to_owned(), "1".to_owned())]);
    assert_eq!(observed.lines, 2..=5);
}

#[test]
fn a_loop_whose_values_were_not_read_decides_nothing() {
    let found = a_loop(|found| found.condition = vec![test("i", "<", "60")]);
    let mut sample = vec![Position { is_deep: true, ..position("main", 3, &[found], &[]) }];
    sample.extend((7..9).map(|line| position("fib", line, &[], &[])));
    let samples = [sample.clone(), sample];
    assert_eq!(motion_of(&samples), LoopProgress::Recursion);
}
