//! Expressions over two integers, and what each language makes of them.

use proptest::prelude::{Just, Strategy, prop_oneof};
use test_support::DynamicLanguage as Language;

/// An expression. Every kind is valid in each language.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Number(i64),
    Name(&'static str),
    Binary(Box<Self>, Operator, Box<Self>),
    Not(Box<Self>),
}

/// An operator, and how it is spelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    /// The remainder, whose sign depends on the language.
    Remainder,
    Less,
    Equal,
    And,
    Or,
}

/// What an expression comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Number(i64),
    Truth(bool),
}

impl Value {
    pub(crate) fn is_truthy(self) -> bool {
        self.number() != 0
    }

    /// Truth values count as numbers in each of the languages.
    fn number(self) -> i64 {
        match self {
            Self::Number(number) => number,
            Self::Truth(truth) => i64::from(truth),
        }
    }
}

/// Any expression over `i` and `j`, of a few levels.
pub(crate) fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        (-3..12_i64).prop_map(Expression::Number),
        Just(Expression::Name("i")),
        Just(Expression::Name("j")),
    ];
    leaf.prop_recursive(3, 16, 2, |inner| {
        let operator = prop_oneof![
            Just(Operator::Add),
            Just(Operator::Subtract),
            Just(Operator::Multiply),
            Just(Operator::Less),
            Just(Operator::Equal),
            Just(Operator::And),
            Just(Operator::Or),
        ];
        let binary = (inner.clone(), operator, inner.clone());
        prop_oneof![
            4 => binary.prop_map(|(left, operator, right)| {
                Expression::Binary(Box::new(left), operator, Box::new(right))
            }),
            // Never by nothing.
            2 => (inner.clone(), 1..6_i64).prop_map(|(left, by)| {
                Expression::Binary(Box::new(left), Operator::Remainder, Box::new(Expression::Number(by)))
            }),
            1 => inner.prop_map(|inner| Expression::Not(Box::new(inner))),
        ]
    })
}

impl Expression {
    /// As written.
    pub(crate) fn text(&self, language: Language) -> String {
        match self {
            Self::Number(number) => format!("({number})"),
            Self::Name(name) => (*name).to_owned(),
            Self::Not(inner) => format!("({}{})", language.pick("not ", "!"), inner.text(language)),
            Self::Binary(left, operator, right) => {
                let operator = operator.text(language);
                format!("({} {operator} {})", left.text(language), right.text(language))
            }
        }
    }

    pub(crate) fn value(&self, language: Language, names: &impl Fn(&str) -> i64) -> Value {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::Name(name) => Value::Number(names(name)),
            Self::Not(inner) => Value::Truth(!inner.value(language, names).is_truthy()),
            Self::Binary(left, operator, right) => {
                let left = left.value(language, names);
                let right = right.value(language, names);
                operator.apply(language, left, right)
            }
        }
    }
}

impl Operator {
    fn text(self, language: Language) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Remainder => "%",
            Self::Less => "<",
            Self::Equal => "==",
            Self::And => language.pick("and", "&&"),
            Self::Or => language.pick("or", "||"),
        }
    }

    fn apply(self, language: Language, left: Value, right: Value) -> Value {
        let (a, b) = (left.number(), right.number());
        match self {
            Self::Add => Value::Number(a + b),
            Self::Subtract => Value::Number(a - b),
            Self::Multiply => Value::Number(a * b),
            Self::Remainder => Value::Number(match language {
                Language::Python => a.rem_euclid(b),
                Language::Node => a % b,
            }),
            Self::Less => Value::Truth(a < b),
            Self::Equal => Value::Truth(a == b),
            // Both give one of the two.
            Self::And => {
                if left.is_truthy() {
                    right
                } else {
                    left
                }
            }
            Self::Or => {
                if left.is_truthy() {
                    left
                } else {
                    right
                }
            }
        }
    }
}
