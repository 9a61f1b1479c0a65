//! Values of every shape, as the languages write and show them.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

/// A value that each language has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Thing {
    Nothing,
    Truth(bool),
    Number(i32),
    /// A number other than an integer: this many quarters and one eighth.
    Fraction(i16),
    Text(String),
    Function,
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

/// Any primitive value.
pub(crate) fn plain() -> impl Strategy<Value = Thing> {
    prop_oneof![
        Just(Thing::Nothing),
        any::<bool>().prop_map(Thing::Truth),
        any::<i32>().prop_map(Thing::Number),
        any::<i16>().prop_map(Thing::Fraction),
        "[ -~é日\n\t😀]{0,12}".prop_map(Thing::Text),
    ]
}

/// Any value.
pub(crate) fn thing() -> impl Strategy<Value = Thing> {
    let leaf = prop_oneof![5 => plain(), 1 => Just(Thing::Function)];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![vec(inner.clone(), 0..6).prop_map(Thing::List), map(inner)]
    })
}

/// A value with properties.
pub(crate) fn object() -> impl Strategy<Value = Thing> {
    prop_oneof![vec(thing(), 1..7).prop_map(Thing::List), map(thing())]
}

fn map(inner: impl Strategy<Value = Thing>) -> impl Strategy<Value = Thing> {
    // Names with a digit first would come first in JavaScript, whatever their order.
    btree_map("[a-z_][a-z0-9_ -]{0,6}[a-z]", inner, 1..6).prop_map(Thing::Map)
}

/// A text as both languages write it. JSON's spelling is that of Python and of JavaScript, but for characters of
/// two halves, which Python would read as two.
pub(crate) fn text_literal(text: &str) -> String {
    Value::from(text).to_string()
}

impl Thing {
    /// As it is written in a program.
    pub(crate) fn source(&self, language: Language) -> String {
        match self {
            Self::Nothing => language.pick("None", "null").to_owned(),
            Self::Truth(truth) => {
                let (yes, no) = language.pick(("True", "False"), ("true", "false"));
                if *truth { yes } else { no }.to_owned()
            }
            Self::Number(number) => number.to_string(),
            Self::Fraction(_) => self.number().to_string(),
            Self::Text(text) => text_literal(text),
            Self::Function => language.pick("(lambda: 1)", "(() => 1)").to_owned(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.source(language)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entry = |(name, value): (&String, &Self)| {
                    format!("{}: {}", text_literal(name), value.source(language))
                };
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    fn number(&self) -> f64 {
        match self {
            Self::Fraction(quarters) => f64::from(*quarters) / 4.0 + 0.125,
            _ => 0.0,
        }
    }

    /// The report of a value without properties. None if it is descriptive text.
    pub(crate) fn value(&self) -> Option<Value> {
        match self {
            Self::Nothing => Some(Value::Null),
            Self::Truth(truth) => Some(json!(truth)),
            Self::Number(number) => Some(json!(number)),
            Self::Fraction(_) => Some(json!(self.number())),
            Self::Text(text) => Some(json!(text)),
            Self::Function | Self::List(_) | Self::Map(_) => None,
        }
    }

    pub(crate) fn type_name(&self, language: Language) -> &'static str {
        match self {
            Self::Nothing => language.pick("NoneType", "null"),
            Self::Truth(_) => language.pick("bool", "boolean"),
            Self::Number(_) => language.pick("int", "number"),
            Self::Fraction(_) => language.pick("float", "number"),
            Self::Text(_) => language.pick("str", "string"),
            Self::Function => "function",
            Self::List(_) => language.pick("list", "Array"),
            Self::Map(_) => language.pick("dict", "Object"),
        }
    }

    /// Its properties by reported name. None if it has none to show.
    pub(crate) fn properties(&self, language: Language) -> Vec<(String, &Self)> {
        match self {
            Self::List(items) => {
                (0..).zip(items).map(|(index, item): (usize, _)| (index.to_string(), item)).collect()
            }
            Self::Map(entries) => {
                let name = |name: &str| match language {
                    Language::Python => format!("'{name}'"),
                    Language::Node => name.to_owned(),
                };
                entries.iter().map(|(own, value)| (name(own), value)).collect()
            }
            _ => Vec::new(),
        }
    }
}
