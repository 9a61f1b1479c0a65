//! How a property is tried.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::io::Write;
use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use test_support::{DynamicLanguage as Language, tries_everything};

/// How often a failing case is made smaller. Each time takes a new server.
const SHRINKS: u32 = 20;
/// One of so many cases is tried on each push.
const ONE_OF: u32 = 40;
/// How many cases are tried at the same time, of all and of a part.
const LANES: (u32, u32) = (5, 2);

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
    let tried = one_after_the_other(what, language, config(file, cases), strategy, &case);
    tell(what, language, tried, began);
}

/// The same for cases that mostly wait, some of them at the same time. Each of them is a case of `proptest` and is
/// made smaller by itself: there are as many runners as [`LANES`] says with a scene each, which share the cases between them.
pub(crate) fn holds_at_once<S: Scene, T: Strategy<Value: Debug>>(
    what: &str,
    language: Language,
    file: &'static str,
    cases: u32,
    strategy: impl Fn() -> T + Sync,
    case: impl Fn(&mut S, T::Value) + Sync,
) {
    let began = Instant::now();
    let lanes = if tries_everything() { LANES.0 } else { LANES.1 };
    let tried = thread::scope(|scope| {
        let lane = |index| {
            let share = (cases + index) / lanes;
            let (strategy, case) = (&strategy, &case);
            let config = Config { rng_seed: seed(index), ..config(file, share) };
            scope.spawn(move || one_after_the_other(what, language, config, &strategy(), case))
        };
        let runners: Vec<_> = (0..lanes).map(lane).collect();
        runners.into_iter().map(|lane| lane.join().unwrap_or_else(|failure| resume_unwind(failure))).sum()
    });
    tell(what, language, tried, began);
}

fn config(file: &'static str, cases: u32) -> Config {
    let cases = if tries_everything() { cases } else { cases.div_ceil(ONE_OF) };
    Config { cases, max_shrink_iters: SHRINKS, ..Config::with_source_file(file) }
}

/// What a lane makes its cases of: where `PROPTEST_RNG_SEED` is set, something else than the others.
fn seed(lane: u32) -> RngSeed {
    match Config::default().rng_seed {
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed + u64::from(lane)),
        RngSeed::Random => RngSeed::Random,
    }
}

/// Returns how many cases were tried, those included that had failed once.
fn one_after_the_other<S: Scene, T: Strategy<Value: Debug>>(
    what: &str,
    language: Language,
    config: Config,
    strategy: &T,
    case: &impl Fn(&mut S, T::Value),
) -> u32 {
    let (shared, tried) = (RefCell::new(None), Cell::new(0));
    let done = TestRunner::new(config).run(strategy, |value| {
        // One that has failed takes the scene with it.
        let mut scene = shared.take().unwrap_or_else(|| S::begin(language));
        case(&mut scene, value);
        shared.replace(Some(scene));
        tried.set(tried.get() + 1);
        Ok(())
    });
    done.unwrap_or_else(|failure| panic!("property {what}, {language:?}: {failure}"));
    if let Some(scene) = shared.take() {
        scene.end();
    }
    tried.get()
}

fn tell(what: &str, language: Language, cases: u32, began: Instant) {
    let took = began.elapsed().as_secs_f64();
    // Not with a macro, whose text is shown only where a test fails.
    let reported = writeln!(std::io::stderr(), "property {what}, {language:?}: {cases} cases in {took:.1} s");
    reported.expect("standard error can be written to");
}

/// Makes a test for each language out of every body that it names.
macro_rules! each_language {
    ($($body:ident),+ $(,)?) => {
        $(
            mod $body {
                #[test]
                fn python() {
                    super::$body(test_support::DynamicLanguage::Python);
                }

                #[test]
                fn node() {
                    super::$body(test_support::DynamicLanguage::Node);
                }
            }
        )+
    };
}

pub(crate) use each_language;
