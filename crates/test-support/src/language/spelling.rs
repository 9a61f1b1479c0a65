//! What one test needs to know of each language.

use super::{Dynamic, DynamicLanguage, Language};
use crate::repository;

/// What differs from language to language in one test only. Python, JavaScript and C have theirs here; the others
/// have a row of that name in their file.
#[derive(Clone, Copy, Debug)]
pub struct PerLanguage<T> {
    /// The name of the row, or of the folder of a program: `fixtures/<name>/main.<extension>`.
    pub name: &'static str,
    /// In Python.
    pub python: T,
    /// In JavaScript.
    pub node: T,
    /// In C.
    pub c: T,
}

/// The same program in each language.
pub type Texts = PerLanguage<&'static str>;

impl<T: Spelling> PerLanguage<T> {
    /// The one of that language.
    pub fn of(self, language: Language) -> T {
        self.here(language).unwrap_or_else(|| {
            let (name, module) = (self.name, language.module());
            let parts = language.spelled(name);
            let parts = parts.unwrap_or_else(|| panic!("`{name}` is missing in language/{module}.rs"));
            T::read(&mut parts.iter().copied())
        })
    }
}

impl<T: Copy> PerLanguage<T> {
    /// The one of a language that has it in the test itself.
    fn here(self, language: Language) -> Option<T> {
        let here = [(Language::Python, self.python), (Language::Node, self.node), (Language::C, self.c)];
        here.into_iter().find(|(of, _)| *of == language).map(|(_, value)| value)
    }
}

/// Reads a value from the parts in a row.
pub trait Spelling: Copy {
    /// The value of the next parts.
    fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self;
}

impl Spelling for &str {
    fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self {
        parts.next().expect("a row has a part for each of a value's texts")
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Spelling for $number {
            fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self {
                <&str>::read(parts).parse().expect("a number")
            }
        }
    )+};
}
numbers!(i32, i64, u32, u64, usize);

/// `-` is none.
impl<T: Spelling> Spelling for Option<T> {
    fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self {
        let part = <&str>::read(parts);
        (part != "-").then(|| T::read(&mut std::iter::once(part).chain(parts)))
    }
}

macro_rules! tuples {
    ($(($($part:ident),+))+) => {$(
        impl<$($part: Spelling),+> Spelling for ($($part,)+) {
            fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self {
                ($($part::read(parts),)+)
            }
        }
    )+};
}
tuples!((A, B)(A, B, C)(A, B, C, D));

impl<T: Spelling, const N: usize> Spelling for [T; N] {
    fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self {
        std::array::from_fn(|_| T::read(parts))
    }
}

/// All that is left.
impl<T: Spelling + 'static> Spelling for &'static [T] {
    fn read(parts: &mut dyn Iterator<Item = &'static str>) -> Self {
        let mut parts = parts.peekable();
        let mut values = Vec::new();
        while parts.peek().is_some() {
            values.push(T::read(&mut parts));
        }
        values.leak()
    }
}

/// A program in several languages.
pub trait Program<L> {
    /// Its text in one of them.
    fn text(self, language: L) -> &'static str;
}

impl<L: Into<Language>> Program<L> for Texts {
    fn text(self, language: L) -> &'static str {
        let language = language.into();
        self.here(language).unwrap_or_else(|| {
            let path = repository().join("fixtures").join(self.name).join(language.file("main"));
            let text = std::fs::read_to_string(&path);
            text.unwrap_or_else(|error| panic!("{}: {error}", path.display())).leak()
        })
    }
}

impl Program<DynamicLanguage> for Dynamic {
    fn text(self, language: DynamicLanguage) -> &'static str {
        self.of(language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Spelling>(parts: &[&'static str]) -> T {
        T::read(&mut parts.iter().copied())
    }

    #[test]
    fn values_are_parsed_from_their_parts() {
        assert_eq!(read::<(&str, u64)>(&["a", "3"]), ("a", 3));
        assert_eq!(read::<(Option<i64>, Option<&str>)>(&["-", "SIGABRT"]), (None, Some("SIGABRT")));
        assert_eq!(read::<[(&str, &str); 2]>(&["a", "b", "c", "d"]), [("a", "b"), ("c", "d")]);
        assert_eq!(read::<&[(&str, &str)]>(&["a", "b", "c", "d"]), [("a", "b"), ("c", "d")]);
        assert_eq!(read::<&[&str]>(&[]), [""; 0]);
    }
}
