//! Tests made of bodies.

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
            $crate::with_languages!($crate::tests_of, $now $body);
        }
        $crate::each_by_turns! { [$($later)+ $now] $($rest)* }
    };
}

/// The tests of one body.
#[doc(hidden)]
#[macro_export]
macro_rules! tests_of {
    ({ $now:ident $body:ident } $($name:ident $module:ident $turn:ident)+) => {
        $($crate::test_of! { $now $turn $body $name $module })+
    };
}

/// One test: for what is not this body's turn, it waits for a full run.
#[doc(hidden)]
#[macro_export]
macro_rules! test_of {
    ($now:ident always $($rest:ident)+) => { $crate::test_of! { [] $($rest)+ } };
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
    ([$(#[$ignored:meta])?] $body:ident $name:ident $module:ident) => {
        #[tokio::test]
        $(#[$ignored])?
        async fn $module() {
            if let Some(reason) = $crate::Language::$name.excuse(module_path!()) {
                println!("not for {}: {reason}", $crate::Language::$name.name());
                return;
            }
            super::$body($crate::Language::$name).await;
        }
    };
}
