//! Python and JavaScript, for the tests of what only these have.

use super::Language;

/// A language with an interpreter, for the tests of what only such languages have. It is a [`Language`] too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicLanguage {
    /// Python, under debugpy.
    Python,
    /// JavaScript, on Node.js.
    Node,
}

impl DynamicLanguage {
    /// The one of two that is meant for this language.
    pub const fn pick<T: Copy>(self, python: T, node: T) -> T {
        Dynamic { python, node }.of(self)
    }
}

impl std::ops::Deref for DynamicLanguage {
    type Target = Language;

    fn deref(&self) -> &Language {
        match self {
            Self::Python => &Language::Python,
            Self::Node => &Language::Node,
        }
    }
}

impl From<DynamicLanguage> for Language {
    fn from(language: DynamicLanguage) -> Self {
        *language
    }
}

/// What differs in a test that only those languages have; a program by default.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic<T = &'static str> {
    /// In Python.
    pub python: T,
    /// In JavaScript.
    pub node: T,
}

impl<T: Copy> Dynamic<T> {
    /// The one of that language.
    pub const fn of(self, language: DynamicLanguage) -> T {
        match language {
            DynamicLanguage::Python => self.python,
            DynamicLanguage::Node => self.node,
        }
    }
}

/// The same for the languages with an interpreter, and bodies `async fn body(language: DynamicLanguage)`. In a suite
/// that runs for each language, a comment says what keeps a body from the others.
///
/// On each push, one body is run in Python, the next one in JavaScript, and so on.
#[macro_export]
macro_rules! dynamic {
    ($($body:ident),+ $(,)?) => {
        $crate::dynamic_by_turns! { [] [#[ignore = "cargo xtask test --full"]] $($body)+ }
    };
}

/// Takes one body after the other. The first attribute is for Python, and for JavaScript next.
#[doc(hidden)]
#[macro_export]
macro_rules! dynamic_by_turns {
    ([$(#[$python:meta])?] [$(#[$node:meta])?]) => {};
    ([$(#[$python:meta])?] [$(#[$node:meta])?] $body:ident $($rest:ident)*) => {
        mod $body {
            #[tokio::test]
            $(#[$python])?
            async fn python() {
                super::$body($crate::DynamicLanguage::Python).await;
            }

            #[tokio::test]
            $(#[$node])?
            async fn node() {
                super::$body($crate::DynamicLanguage::Node).await;
            }
        }
        $crate::dynamic_by_turns! { [$(#[$node])?] [$(#[$python])?] $($rest)* }
    };
}
