//! How a property is tried.

use std::fmt::Debug;
use std::io::Write;
use std::time::Instant;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use test_support::Language;

/// How often a failing case is made smaller. Each time takes a new server.
const SHRINKS: u32 = 20;

/// What cases are tried in.
pub(crate) trait Scene: Sized {
    /// Begins it, as the first case finds it.
    fn begin(language: Language) -> Self;
    /// Ends it, and fails if anything is left of it.
    fn end(self);
}

/// Tries a property with so many cases in a language. They share a scene, until one of them fails. `file` is the file of the
/// property: cases that failed once are kept for it in `proptest-regressions`, and are tried first.
pub(crate) fn holds<S: Scene, T: Strategy<Value: Debug>>(
    what: &str,
    language: Language,
    file: &'static str,
    cases: u32,
    strategy: &T,
    case: impl Fn(&mut S, T::Value),
) {
    let began = Instant::now();
    let config = Config { cases, max_shrink_iters: SHRINKS, ..Config::with_source_file(file) };
    let shared = std::cell::RefCell::new(None);
    let done = TestRunner::new(config).run(strategy, |value| {
        // One that has failed takes the scene with it.
        let mut scene = shared.take().unwrap_or_else(|| S::begin(language));
        case(&mut scene, value);
        shared.replace(Some(scene));
        Ok(())
    });
    done.unwrap_or_else(|failure| panic!("property {what}, {language:?}: {failure}"));
    if let Some(scene) = shared.take() {
        scene.end();
    }
    let took = began.elapsed().as_secs_f64();
    // Not with a macro, whose text is shown only where a test fails.
    let told = writeln!(std::io::stderr(), "property {what}, {language:?}: {cases} cases in {took:.1} s");
    told.expect("standard error can be written to");
}

/// The same with so many at a time, for what mostly waits.
pub(crate) fn holds_in_batches<S: Scene, T: Strategy<Value: Debug>>(
    what: &str,
    language: Language,
    file: &'static str,
    cases: u32,
    at_a_time: usize,
    strategy: &T,
    batch: impl Fn(&mut S, Vec<T::Value>),
) {
    let batches = cases.div_ceil(u32::try_from(at_a_time).unwrap_or(u32::MAX));
    let strategy = proptest::collection::vec(strategy, at_a_time);
    holds(&format!("{what} ({at_a_time} programs a case)"), language, file, batches, &strategy, batch);
}

/// Makes a test for each language out of every body that it names.
macro_rules! each_language {
    ($($body:ident),+ $(,)?) => {
        $(
            mod $body {
                #[test]
                fn python() {
                    super::$body(test_support::Language::Python);
                }

                #[test]
                fn node() {
                    super::$body(test_support::Language::Node);
                }
            }
        )+
    };
}

pub(crate) use each_language;
