//! Tests made of bodies.
//!
//! There are some thousands of them, so that each is only a call with a function pointer: a future and a runtime of its
//! own would take the compiler half a minute.

use std::pin::Pin;

use super::Language;

/// What a body does.
#[doc(hidden)]
pub type Body = Pin<Box<dyn Future<Output = ()>>>;

/// Runs a body for a language; `path` is that of the test's module.
#[doc(hidden)]
#[expect(clippy::print_stdout, reason = "a test shows what it printed when it is asked to")]
pub fn run_body(language: Language, path: &str, body: fn(Language) -> Body) {
    if let Some(reason) = language.excuse(path) {
        println!("not for {}: {reason}", language.name());
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(body(language));
}

/// Makes a test for each language out of every body that it names: `async fn body(language: Language)` becomes
/// `body::python`, `body::node`, and so on. A body that is forgotten here is one that the compiler says is never used.
#[macro_export]
macro_rules! each {
    ($($body:ident),+ $(,)?) => {
        $crate::each_by_turns! { [first second third fourth fifth sixth seventh eighth] $($body)+ }
    };
}

/// Takes one body after the other, each with the next turn.
#[doc(hidden)]
#[macro_export]
macro_rules! each_by_turns {
    ([$($turn:ident)+]) => {};
    ([$now:ident $($later:ident)+] $body:ident $($rest:ident)*) => {
        mod $body {
            fn body(language: $crate::Language) -> $crate::Body {
                Box::pin(super::$body(language))
            }

            $crate::with_languages!($crate::tests_of, $now);
        }
        $crate::each_by_turns! { [$($later)+ $now] $($rest)* }
    };
}

/// The tests of one body.
#[doc(hidden)]
#[macro_export]
macro_rules! tests_of {
    ({ $now:ident } $($name:ident $module:ident $turn:ident)+) => {
        $($crate::test_of! { $now $turn $name $module })+
    };
}

/// One test: for what is not this body's turn, it waits for a full run.
#[doc(hidden)]
#[macro_export]
macro_rules! test_of {
    (first first $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (second second $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (third third $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (fourth fourth $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (fifth fifth $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (sixth sixth $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (seventh seventh $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    (eighth eighth $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
    ($now:ident $turn:ident $($rest:ident)+) => {
        $crate::test_of! { [#[ignore = "cargo xtask test --full"]] $($rest)+ }
    };
    ([$(#[$ignored:meta])?] $name:ident $module:ident) => {
        #[test]
        $(#[$ignored])?
        fn $module() {
            $crate::run_body($crate::Language::$name, module_path!(), body);
        }
    };
}
