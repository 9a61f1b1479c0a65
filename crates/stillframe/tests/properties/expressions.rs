//! Expressions over numbers, texts and truth values, and what they come to.

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

use crate::objects::text_literal;

/// The variables of expressions: `a`, `b` and `s`.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) a: i32,
    pub(crate) b: i32,
    pub(crate) s: String,
}

/// What an expression comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// A whole number. In JavaScript it may be the negative zero.
    Number(f64),
    Text(String),
    Truth(bool),
}

/// An expression whose operands are of the kinds that its operator wants.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Plain(Outcome),
    A,
    B,
    S,
    Binary(Box<Self>, Operator, Box<Self>),
    Not(Box<Self>),
    /// Of a text.
    Length(Box<Self>),
    /// Condition, then, else.
    Either(Box<Self>, Box<Self>, Box<Self>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
    Sum,
    Difference,
    Product,
    /// Of two texts.
    Join,
    Less,
    Same,
    And,
    Or,
}

/// Any expression of a few levels.
pub(crate) fn expression() -> impl Strategy<Value = Expression> {
    prop_oneof![number(3), text(3), truth(3)]
}

fn number(depth: u32) -> BoxedStrategy<Expression> {
    let leaf = prop_oneof![
        (-9..30).prop_map(|number| Expression::Plain(Outcome::Number(f64::from(number)))),
        Just(Expression::A),
        Just(Expression::B),
    ];
    let Some(depth) = depth.checked_sub(1) else { return leaf.boxed() };
    let operator = prop_oneof![Just(Operator::Sum), Just(Operator::Difference), Just(Operator::Product)];
    prop_oneof![
        1 => leaf,
        3 => binary(number(depth), operator, number(depth)),
        1 => text(depth).prop_map(|text| Expression::Length(Box::new(text))),
        1 => either(truth(depth), number(depth)),
    ]
    .boxed()
}

fn text(depth: u32) -> BoxedStrategy<Expression> {
    let leaf = prop_oneof![
        "[ -~é日]{0,5}".prop_map(|text| Expression::Plain(Outcome::Text(text))),
        Just(Expression::S),
    ];
    let Some(depth) = depth.checked_sub(1) else { return leaf.boxed() };
    prop_oneof![
        1 => leaf,
        2 => binary(text(depth), Just(Operator::Join), text(depth)),
        1 => either(truth(depth), text(depth)),
    ]
    .boxed()
}

fn truth(depth: u32) -> BoxedStrategy<Expression> {
    let leaf = any::<bool>().prop_map(|truth| Expression::Plain(Outcome::Truth(truth)));
    let Some(depth) = depth.checked_sub(1) else { return leaf.boxed() };
    let operator = prop_oneof![Just(Operator::And), Just(Operator::Or)];
    prop_oneof![
        1 => leaf,
        2 => binary(number(depth), Just(Operator::Less), number(depth)),
        1 => binary(text(depth), Just(Operator::Same), text(depth)),
        2 => binary(truth(depth), operator, truth(depth)),
        1 => truth(depth).prop_map(|inner| Expression::Not(Box::new(inner))),
    ]
    .boxed()
}

fn binary(
    left: BoxedStrategy<Expression>,
    operator: impl Strategy<Value = Operator>,
    right: BoxedStrategy<Expression>,
) -> impl Strategy<Value = Expression> {
    (left, operator, right)
        .prop_map(|(left, operator, right)| Expression::Binary(Box::new(left), operator, Box::new(right)))
}

fn either(
    condition: BoxedStrategy<Expression>,
    one: BoxedStrategy<Expression>,
) -> impl Strategy<Value = Expression> {
    let boxed = (condition, one.clone(), one);
    boxed
        .prop_map(|(condition, yes, no)| Expression::Either(Box::new(condition), Box::new(yes), Box::new(no)))
}

impl Expression {
    /// As written.
    pub(crate) fn text(&self, language: Language) -> String {
        let of = |inner: &Self| inner.text(language);
        match self {
            Self::Plain(Outcome::Number(number)) => format!("({number})"),
            Self::Plain(Outcome::Text(text)) => text_literal(text),
            Self::Plain(Outcome::Truth(true)) => language.pick("True", "true").to_owned(),
            Self::Plain(Outcome::Truth(false)) => language.pick("False", "false").to_owned(),
            Self::A => "a".to_owned(),
            Self::B => "b".to_owned(),
            Self::S => "s".to_owned(),
            Self::Binary(left, operator, right) => {
                format!("({} {} {})", of(left), operator.text(language), of(right))
            }
            Self::Not(inner) => format!("({}{})", language.pick("not ", "!"), of(inner)),
            Self::Length(inner) => match language {
                Language::Python => format!("len({})", of(inner)),
                Language::Node => format!("{}.length", of(inner)),
            },
            Self::Either(condition, yes, no) => match language {
                Language::Python => format!("({} if {} else {})", of(yes), of(condition), of(no)),
                Language::Node => format!("({} ? {} : {})", of(condition), of(yes), of(no)),
            },
        }
    }

    pub(crate) fn value(&self, language: Language, names: &Names) -> Outcome {
        let of = |inner: &Self| inner.value(language, names);
        match self {
            Self::Plain(outcome) => outcome.clone(),
            Self::A => Outcome::Number(names.a.into()),
            Self::B => Outcome::Number(names.b.into()),
            Self::S => Outcome::Text(names.s.clone()),
            Self::Binary(left, operator, right) => operator.apply(language, of(left), of(right)),
            Self::Not(inner) => Outcome::Truth(of(inner) != Outcome::Truth(true)),
            Self::Length(inner) => {
                let Outcome::Text(text) = of(inner) else { panic!("no text: {inner:?}") };
                // JavaScript counts what its texts are made of.
                let count = match language {
                    Language::Python => text.chars().count(),
                    Language::Node => text.encode_utf16().count(),
                };
                Outcome::Number(u32::try_from(count).unwrap().into())
            }
            Self::Either(condition, yes, no) => {
                if of(condition) == Outcome::Truth(true) {
                    of(yes)
                } else {
                    of(no)
                }
            }
        }
    }
}

impl Operator {
    fn text(self, language: Language) -> &'static str {
        match self {
            Self::Sum | Self::Join => "+",
            Self::Difference => "-",
            Self::Product => "*",
            Self::Less => "<",
            Self::Same => language.pick("==", "==="),
            Self::And => language.pick("and", "&&"),
            Self::Or => language.pick("or", "||"),
        }
    }

    fn apply(self, language: Language, left: Outcome, right: Outcome) -> Outcome {
        use Outcome::{Number, Text, Truth};
        // Python's whole numbers have one zero.
        let number = |number: f64| Number(language.pick(number + 0.0, number));
        match (self, left, right) {
            (Self::Sum, Number(a), Number(b)) => number(a + b),
            (Self::Difference, Number(a), Number(b)) => number(a - b),
            (Self::Product, Number(a), Number(b)) => number(a * b),
            (Self::Join, Text(a), Text(b)) => Text(a + &b),
            (Self::Less, Number(a), Number(b)) => Truth(a < b),
            (Self::Same, Text(a), Text(b)) => Truth(a == b),
            (Self::And, Truth(a), Truth(b)) => Truth(a && b),
            (Self::Or, Truth(a), Truth(b)) => Truth(a || b),
            (_, left, right) => panic!("{self:?} of {left:?} and {right:?}"),
        }
    }
}

impl Outcome {
    /// As a program writes it in JSON, which knows one zero.
    pub(crate) fn printed(&self) -> Value {
        match self {
            Self::Number(number) => (number + 0.0).to_string().parse().unwrap(),
            Self::Text(text) => json!(text),
            Self::Truth(truth) => json!(truth),
        }
    }

    pub(crate) fn shown(&self) -> Value {
        match self {
            Self::Number(number) if *number == 0.0 && number.is_sign_negative() => json!("-0"),
            _ => self.printed(),
        }
    }

    pub(crate) fn type_name(&self, language: Language) -> &'static str {
        match self {
            Self::Number(_) => language.pick("int", "number"),
            Self::Text(_) => language.pick("str", "string"),
            Self::Truth(_) => language.pick("bool", "boolean"),
        }
    }
}
