//! What tests need to know about a language, so that one body of a test debugs programs in each of them.

/// A language in which the scenarios exist. Another one needs a row of [`Words`], an arm in [`Language::words`] and
/// [`PerLanguage::of`], and `main.<extension>` of each scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python, under debugpy.
    Python,
    /// JavaScript, on Node.js.
    Node,
    /// C, under lldb-dap.
    C,
}

/// How a language spells what bodies of tests write, and what its debugger answers: one row a language.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Its name for `create_debug_session`.
    pub name: &'static str,
    /// The extension of its files.
    pub extension: &'static str,
    /// What stands between the object of a method and its members, with that object: `self.`.
    pub own: &'static str,
    /// The function that the code outside of functions belongs to. A compiled language has no such code.
    pub module: Option<&'static str>,
    /// What is not true, as it is shown.
    pub no: &'static str,
    /// The value that stands for no value.
    pub none: &'static str,
    /// The quotes of a text, as it is shown.
    pub quote: char,
    /// What surrounds the items of a list, as it is shown.
    pub brackets: (&'static str, &'static str),
    /// The type of small numbers.
    pub number: &'static str,
    /// The type of texts.
    pub string: &'static str,
    /// The type of lists.
    pub list: &'static str,
    /// The scope of a function's variables.
    pub locals: &'static str,
    /// The scope of variables outside of functions.
    pub globals: &'static str,
    /// What surrounds the number of an item, as its name.
    pub index: (&'static str, &'static str),
    /// An operator that is true where both its sides are.
    pub and: &'static str,
    /// An expression that sleeps for more than a quarter of an hour.
    pub sleep: &'static str,
    /// An expression that computes for ever.
    pub spin: &'static str,
    /// What the debugger says about a name that is not there, with `{}` for the name.
    pub undefined: &'static str,
    /// The function that swaps two variables, in the scenario of that name.
    pub swap: &'static str,
    /// The function that pays money in, in the scenario `bank`: in full, and as a frame shows it.
    pub deposit: (&'static str, &'static str),
    /// The function for a purse instead of an account there.
    pub purse_deposit: &'static str,
    /// The function that doubles a number, in the scenario `steps`.
    pub double: &'static str,
    /// The error of the scenario `endings`.
    pub raised: &'static str,
    /// The line on which a step out of the function that swaps ends. V8 has no place between a return and the next
    /// thing that the caller does, which is on another line here.
    pub back_from_swap: &'static str,
}

const PYTHON: Words = Words {
    name: "python",
    extension: "py",
    own: "self.",
    module: Some("<module>"),
    no: "False",
    none: "None",
    quote: '\'',
    brackets: ("[", "]"),
    number: "int",
    string: "str",
    list: "list",
    locals: "Locals",
    globals: "Globals",
    index: ("", ""),
    and: "and",
    sleep: "__import__('time').sleep(1000)",
    spin: "[None for _ in iter(int, 1)]",
    undefined: "NameError: name '{}' is not defined",
    swap: "swap_variables",
    deposit: ("Account.deposit", "deposit"),
    purse_deposit: "Purse.deposit",
    double: "double",
    raised: "ValueError",
    back_from_swap: "call",
};

const NODE: Words = Words {
    name: "javascript",
    extension: "js",
    own: "this.",
    module: Some("<module>"),
    no: "false",
    none: "null",
    quote: '\'',
    brackets: ("[ ", " ]"),
    number: "number",
    string: "string",
    list: "Array",
    locals: "Local",
    globals: "Global",
    index: ("", ""),
    and: "&&",
    sleep: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e6)",
    spin: "(() => { for (;;); })()",
    undefined: "ReferenceError: {} is not defined",
    swap: "swapVariables",
    deposit: ("Account.deposit", "deposit"),
    purse_deposit: "Purse.deposit",
    double: "double",
    raised: "RangeError",
    back_from_swap: "print",
};

const C: Words = Words {
    name: "c",
    extension: "c",
    own: "self->",
    module: None,
    no: "false",
    none: "0",
    quote: '"',
    brackets: ("{", "}"),
    number: "int",
    string: "const char *",
    list: "int[3]",
    locals: "Locals",
    globals: "Globals",
    index: ("[", "]"),
    and: "&&",
    sleep: "(int)usleep(1000000000)",
    spin: "({ for (;;); 1; })",
    undefined: "use of undeclared identifier '{}'",
    swap: "swap_variables",
    deposit: ("account_deposit", "account_deposit"),
    purse_deposit: "purse_deposit",
    double: "doubled",
    raised: "SIGABRT",
    back_from_swap: "call",
};

impl Language {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Python, Self::Node, Self::C];

    /// How it spells things.
    pub const fn words(self) -> &'static Words {
        match self {
            Self::Python => &PYTHON,
            Self::Node => &NODE,
            Self::C => &C,
        }
    }

    /// Its name for `create_debug_session`.
    pub const fn name(self) -> &'static str {
        self.words().name
    }

    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        self.words().extension
    }

    /// The same, of the languages with an interpreter.
    pub fn dynamic(self) -> DynamicLanguage {
        match self {
            Self::Python => DynamicLanguage::Python,
            Self::Node => DynamicLanguage::Node,
            Self::C => panic!("{} has no interpreter", self.name()),
        }
    }

    /// The name of a file of this language.
    pub fn file(self, stem: &str) -> String {
        format!("{stem}.{}", self.extension())
    }

    /// A member of the object of a method.
    pub fn own(self, member: &str) -> String {
        format!("{}{member}", self.words().own)
    }

    /// A text as it is shown.
    pub fn text(self, text: &str) -> String {
        let quote = self.words().quote;
        format!("{quote}{text}{quote}")
    }

    /// A value as it is shown, without the address that C shows in front of a text and behind a type.
    pub fn plain(self, shown: &str) -> &str {
        match self {
            Self::Python | Self::Node => shown,
            Self::C => match shown.split_once(' ') {
                Some((address, text)) if address.starts_with("0x") => text,
                _ => shown.split_once(" @ 0x").map_or(shown, |(kind, _)| kind),
            },
        }
    }

    /// A list of small numbers or other plain values, as it is shown.
    pub fn shown_list(self, items: &[&str]) -> String {
        let (open, close) = self.words().brackets;
        format!("{open}{}{close}", items.join(", "))
    }

    /// The name of an item of a list.
    pub fn index(self, number: usize) -> String {
        let (open, close) = self.words().index;
        format!("{open}{number}{close}")
    }

    /// The functions of a stack, with the code outside of functions below them where the language has such code.
    pub fn stack(self, functions: &[&'static str]) -> Vec<&'static str> {
        functions.iter().copied().chain(self.words().module).collect()
    }

    /// What the debugger says about a name that is not there.
    pub fn undefined(self, name: &str) -> String {
        self.words().undefined.replace("{}", name)
    }

    /// The name under which a step out shows what a function has returned. lldb-dap 19 does not show it.
    pub fn returned(self, function: &str) -> Option<String> {
        match self {
            Self::Python => Some(format!("(return) {function}")),
            Self::Node => Some("(return)".to_owned()),
            Self::C => None,
        }
    }
}

/// What differs from language to language in one test only.
#[derive(Clone, Copy, Debug)]
pub struct PerLanguage<T> {
    /// In Python.
    pub python: T,
    /// In JavaScript.
    pub node: T,
    /// In C.
    pub c: T,
}

/// The same program in each language.
pub type Texts = PerLanguage<&'static str>;

impl<T: Copy> PerLanguage<T> {
    /// The one of that language.
    pub const fn of(self, language: Language) -> T {
        match language {
            Language::Python => self.python,
            Language::Node => self.node,
            Language::C => self.c,
        }
    }
}

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

/// What differs in a test that only those languages have; a program, if nothing else is said.
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

/// A program in several languages.
pub trait Program<L> {
    /// Its text in one of them.
    fn text(self, language: L) -> &'static str;
}

impl<L: Into<Language>> Program<L> for Texts {
    fn text(self, language: L) -> &'static str {
        self.of(language.into())
    }
}

impl Program<DynamicLanguage> for Dynamic {
    fn text(self, language: DynamicLanguage) -> &'static str {
        self.of(language)
    }
}

/// Makes a test for each language out of every body that it names: `async fn body(language: Language)` becomes
/// `body::python`, `body::node` and `body::c`. A body that is forgotten here is one that the compiler says is never
/// used.
#[macro_export]
macro_rules! each {
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

                #[tokio::test]
                async fn c() {
                    super::$body($crate::Language::C).await;
                }
            }
        )+
    };
}

/// The same for the languages with an interpreter, and bodies `async fn body(language: DynamicLanguage)`. In a suite
/// that runs for each language, a comment says what keeps a body from the others.
#[macro_export]
macro_rules! dynamic {
    ($($body:ident),+ $(,)?) => {
        $(
            mod $body {
                #[tokio::test]
                async fn python() {
                    super::$body($crate::DynamicLanguage::Python).await;
                }

                #[tokio::test]
                async fn node() {
                    super::$body($crate::DynamicLanguage::Node).await;
                }
            }
        )+
    };
}
