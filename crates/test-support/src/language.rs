//! What tests need to know of a language, so that one body of a test debugs programs in each of them.

/// A language in which every scenario exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python, under debugpy.
    Python,
    /// JavaScript, on Node.js.
    Node,
}

/// How a language spells what bodies of tests write, and what its debugger answers.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The object of a method.
    pub this: &'static str,
    /// What is not true, as it is shown.
    pub no: &'static str,
    /// The value that stands for no value.
    pub none: &'static str,
    /// The type of small numbers.
    pub number: &'static str,
    /// The type of texts.
    pub string: &'static str,
    /// The type of lists.
    pub list: &'static str,
    /// An expression that sleeps for more than a quarter of an hour.
    pub sleep: &'static str,
    /// An expression that computes for ever.
    pub spin: &'static str,
    /// The function that swaps two variables, in the scenario of that name.
    pub swap: &'static str,
    /// The error of the scenario `endings`.
    pub raised: &'static str,
    /// The line on which a step out of that function ends. V8 has no place between a return and the next thing
    /// that the caller does, which is on another line here.
    pub back_from_swap: &'static str,
}

const PYTHON: Words = Words {
    this: "self",
    no: "False",
    none: "None",
    number: "int",
    string: "str",
    list: "list",
    sleep: "__import__('time').sleep(1000)",
    spin: "[None for _ in iter(int, 1)]",
    swap: "swap_variables",
    raised: "ValueError",
    back_from_swap: "call",
};

const NODE: Words = Words {
    this: "this",
    no: "false",
    none: "null",
    number: "number",
    string: "string",
    list: "Array",
    sleep: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e6)",
    spin: "(() => { for (;;); })()",
    swap: "swapVariables",
    raised: "RangeError",
    back_from_swap: "print",
};

impl Language {
    /// Its name for `create_debug_session`.
    pub const fn name(self) -> &'static str {
        self.pick("python", "javascript")
    }

    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        self.pick("py", "js")
    }

    /// How it spells things.
    pub const fn words(self) -> &'static Words {
        self.pick(&PYTHON, &NODE)
    }

    /// The one of two that is meant for this language.
    pub const fn pick<T: Copy>(self, python: T, node: T) -> T {
        match self {
            Self::Python => python,
            Self::Node => node,
        }
    }

    /// The name of a file of this language.
    pub fn file(self, stem: &str) -> String {
        format!("{stem}.{}", self.extension())
    }

    /// A list of small numbers or other plain values, as it is shown.
    pub fn shown_list(self, items: &[&str]) -> String {
        let items = items.join(", ");
        match self {
            Self::Python => format!("[{items}]"),
            Self::Node => format!("[ {items} ]"),
        }
    }

    /// The name under which a step out shows what a function has returned.
    pub fn returned(self, function: &str) -> String {
        match self {
            Self::Python => format!("(return) {function}"),
            Self::Node => "(return)".to_owned(),
        }
    }
}

/// The same program in each language.
#[derive(Clone, Copy, Debug)]
pub struct Texts {
    /// In Python.
    pub python: &'static str,
    /// In JavaScript.
    pub node: &'static str,
}

impl Texts {
    /// The one of that language.
    pub const fn of(self, language: Language) -> &'static str {
        language.pick(self.python, self.node)
    }
}

/// Makes a test for each language out of every body that it names: `async fn body(language: Language)` becomes
/// `body::python` and `body::node`. A body that is forgotten here is one that the compiler says is never used.
#[macro_export]
macro_rules! both {
    ($($body:ident),+ $(,)?) => {
        $(
            mod $body {
                #[tokio::test]
                async fn python() {
                    super::$body($crate::Language::Python).await;
                }

                #[tokio::test]
                async fn node() {
                    super::$body($crate::Language::Node).await;
                }
            }
        )+
    };
}
