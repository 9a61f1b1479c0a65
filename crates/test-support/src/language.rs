//! Languages as tests know them, so that one body of a test debugs programs in each of them.
//!
//! A language is one line of `with_languages!` and a [`Row`] in a file of its own. `tests/standard/languages.rs`
//! lists what a row lacks.

mod c;
mod dynamic;
mod each;
mod go;
mod java;
mod node;
mod php;
mod python;
mod ruby;
mod spelling;

pub use dynamic::{Dynamic, DynamicLanguage};
pub use each::{Body, run_body};
pub use spelling::{PerLanguage, Program, Spelling, Texts};

/// Passes each language on to a macro: its variant, its module, and when its tests run.
///
/// `first` to `eighth`: on each push each eighth body, beginning with that one. The others run with
/// `cargo xtask test --full`. Languages with different turns share the bodies between them.
#[macro_export]
macro_rules! with_languages {
    ($then:path, $($with:tt)*) => {
        $then! {
            { $($with)* }
            Python python sixth
            Node node seventh
            Java java second
            Go go first
            C c third
            Ruby ruby fourth
            Php php fifth
        }
    };
}

macro_rules! declare {
    ({} $($name:ident $module:ident $turn:ident)+) => {
        /// A language in which the scenarios exist.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Language {
            $(#[doc = concat!("See `language/", stringify!($module), ".rs`.")] $name,)+
        }

        impl Language {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its properties.
            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$name => &$module::ROW,)+
                }
            }

            /// The module of its tests, which is also the name of its file here.
            pub const fn module(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($module),)+
                }
            }
        }
    };
}
crate::with_languages!(declare,);

/// The properties of a language.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What many bodies need.
    pub words: Words,
    /// What one body needs: the `name` of a [`PerLanguage`], and its parts, such as those of a tuple. The programs of
    /// [`Texts`] are files: `fixtures/<name>/main.<extension>`.
    pub spelled: &'static [(&'static str, &'static [&'static str])],
    /// Bodies, or the modules of several, that the language or its debugger cannot do, with the reason.
    pub cannot: &'static [(&'static str, &'static str)],
    /// Marked lines that its fixtures lack.
    pub without_lines: &'static [&'static str],
}

/// How a language spells what bodies of tests write, and what its debugger answers: one row a language.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Words {
    /// Its name for `create_debug_session`.
    pub name: &'static str,
    /// The extension of its files.
    pub extension: &'static str,
    /// Its debugger knows the positions of a file only once the compiled program is loaded.
    pub is_compiled: bool,
    /// Its sources are read before a program runs, so that a breakpoint on a line without code moves at once.
    pub reads_sources: bool,
    /// Its debugger has breakpoints on columns.
    pub has_columns: bool,
    /// A debugger that enters a function stops on the line of its name, before its first statement.
    pub enters_on_header: bool,
    /// The prefix of the members of a method's object: `self.`.
    pub own: &'static str,
    /// The prefix of variables.
    pub sigil: &'static str,
    /// The function that the code outside of functions belongs to. A compiled language has no such code.
    pub module: Option<&'static str>,
    /// False, as displayed.
    pub no: &'static str,
    /// The null value.
    pub none: &'static str,
    /// The quotes of a text, as displayed.
    pub quote: char,
    /// The brackets of a list, as displayed.
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
    /// An expression that computes forever.
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
    /// A value as displayed, without an address.
    pub plain: fn(&str) -> &str,
    /// The name under which a step out shows what that function has returned, where it does.
    pub returned: fn(&str) -> Option<String>,
}

impl Language {
    /// How it spells things.
    pub const fn words(self) -> &'static Words {
        &self.row().words
    }

    /// What one body needs to know of it: the parts of the thing with that name.
    pub fn spelled(self, name: &str) -> Option<&'static [&'static str]> {
        self.row().spelled.iter().find(|(of, _)| *of == name).map(|(_, parts)| *parts)
    }

    /// All that it spells for single bodies, by name.
    pub fn spelled_names(self) -> impl Iterator<Item = &'static str> {
        self.row().spelled.iter().map(|(name, _)| *name)
    }

    /// Bodies and modules that it cannot do.
    pub fn cannot_do(self) -> impl Iterator<Item = &'static str> {
        self.row().cannot.iter().map(|(what, _)| *what)
    }

    /// Why a body is not for it: `path` is the path of the body's module.
    pub fn excuse(self, path: &str) -> Option<&'static str> {
        let is_in = |what: &str| format!("::{path}::").contains(&format!("::{what}::"));
        self.row().cannot.iter().find(|(what, _)| is_in(what)).map(|(_, reason)| *reason)
    }

    /// Marked lines that its fixtures lack.
    pub const fn without_lines(self) -> &'static [&'static str] {
        self.row().without_lines
    }

    /// The line on which a function is entered whose first statement has that name.
    pub fn entry(self, program: &crate::Fixture, name: &str) -> u32 {
        program.line(name) - u32::from(self.words().enters_on_header)
    }

    /// Its sources are read before a program runs.
    pub const fn reads_sources(self) -> bool {
        self.words().reads_sources
    }

    /// Its debugger knows the positions of a file only once the compiled program is loaded.
    pub const fn is_compiled(self) -> bool {
        self.words().is_compiled
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
        let dynamic = [DynamicLanguage::Python, DynamicLanguage::Node];
        let known = dynamic.into_iter().find(|dynamic| **dynamic == self);
        known.unwrap_or_else(|| panic!("{} is not one of the languages with an interpreter", self.name()))
    }

    /// The name of a file of this language.
    pub fn file(self, stem: &str) -> String {
        format!("{stem}.{}", self.extension())
    }

    /// A member of the object of a method.
    pub fn own(self, member: &str) -> String {
        format!("{}{member}", self.words().own)
    }

    /// A variable, as the language spells it.
    pub fn variable(self, name: &str) -> String {
        format!("{}{name}", self.words().sigil)
    }

    /// A text as displayed.
    pub fn text(self, text: &str) -> String {
        let quote = self.words().quote;
        format!("{quote}{text}{quote}")
    }

    /// A value as displayed, without an address.
    pub fn plain(self, shown: &str) -> &str {
        (self.words().plain)(shown)
    }

    /// A list of small numbers or other plain values, as displayed.
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

    /// The name under which a step out shows what a function has returned, where it does.
    pub fn returned(self, function: &str) -> Option<String> {
        (self.words().returned)(function)
    }
}
