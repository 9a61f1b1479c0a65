//! Expressions over recorded values, such as `total < 0 and len(self.items) > 10`.
//!
//! They are evaluated by us, not by the program: names, attributes, items, `len()`, comparisons, `in`, `is`, arithmetic,
//! `and`, `or` and `not`, spelled as in Python or JavaScript. Of a value's class, its name is known: `type(x) == str`,
//! `isinstance(x, str)`, `typeof x === 'string'` and `x instanceof Cart` compare that, and not the classes above it.
//! `total()` is what a call of `total` returned.

mod evaluate;
mod parse;

pub(crate) use self::evaluate::{Datum, Scope};

use crate::error::{Error, Result};
use crate::value::Word;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A literal.
    Literal(Literal),
    Name(String),
    Attribute(Box<Expression>, String),
    Item(Box<Expression>, Box<Expression>),
    Length(Box<Expression>),
    /// What a call of the function returned, by its name or path: `Cart.total`.
    Returned(String),
    /// The name of a value's class.
    Class(Box<Expression>),
    /// What JavaScript's `typeof` gives.
    TypeOf(Box<Expression>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Arithmetic(Box<Expression>, char, Box<Expression>),
    /// A comparison, or several in a row.
    Comparison(Box<Expression>, Vec<(Comparison, Expression)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    None,
    Undefined,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// A recorded value that a name stands for.
    Word(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Is,
    IsNot,
    In,
    NotIn,
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        parse::parse(text).map_err(|problem| {
            Error::question(format!(
                "cannot read `{text}`: {problem}; use names, attributes, items, `len()`, `type()`, comparisons, arithmetic, \
                 `in`, `is None`, `and`, `or` and `not`"
            ))
        })
    }

    /// Calls this with the name of each variable and attribute that it reads. Returns false if it may also read others,
    /// because it looks into containers.
    pub(crate) fn names(&self, found: &mut impl FnMut(&str)) -> bool {
        match self {
            Self::Literal(_) | Self::Returned(_) => true,
            Self::Name(name) => {
                found(name);
                true
            }
            Self::Attribute(of, name) => {
                found(name);
                of.names(found)
            }
            Self::Length(of) | Self::Class(of) | Self::TypeOf(of) | Self::Not(of) | Self::Negative(of) => {
                of.names(found)
            }
            Self::Item(..) => false,
            Self::And(left, right) | Self::Or(left, right) | Self::Arithmetic(left, _, right) => {
                left.names(found) && right.names(found)
            }
            Self::Comparison(first, rest) => {
                first.names(found)
                    && rest.iter().all(|(comparison, other)| {
                        !matches!(comparison, Comparison::In | Comparison::NotIn) && other.names(found)
                    })
            }
        }
    }

    /// The same about one object: what is asked of attributes of a variable is asked of that object. None if the
    /// variable is used in another way.
    pub(crate) fn about(&self, variable: &str, object: i64) -> Option<Self> {
        let about = |of: &Self| of.about(variable, object).map(Box::new);
        Some(match self {
            Self::Literal(_) => self.clone(),
            Self::Name(_) | Self::Item(..) | Self::Returned(_) => return None,
            Self::Attribute(of, name) if matches!(&**of, Self::Name(root) if root == variable) => {
                Self::Attribute(Box::new(Self::Literal(Literal::Word(Word::Object(object)))), name.clone())
            }
            Self::Attribute(of, name) => Self::Attribute(about(of)?, name.clone()),
            Self::Length(of) => Self::Length(about(of)?),
            Self::Class(of) => Self::Class(about(of)?),
            Self::TypeOf(of) => Self::TypeOf(about(of)?),
            Self::Not(of) => Self::Not(about(of)?),
            Self::Negative(of) => Self::Negative(about(of)?),
            Self::And(left, right) => Self::And(about(left)?, about(right)?),
            Self::Or(left, right) => Self::Or(about(left)?, about(right)?),
            Self::Arithmetic(left, sign, right) => Self::Arithmetic(about(left)?, *sign, about(right)?),
            Self::Comparison(first, rest) => {
                let rest = rest.iter().map(|(sign, other)| Some((*sign, other.about(variable, object)?)));
                Self::Comparison(about(first)?, rest.collect::<Option<_>>()?)
            }
        })
    }

    /// The same with some of its parts replaced.
    pub(crate) fn replaced(&self, new: &impl Fn(&Self) -> Option<Self>) -> Self {
        if let Some(new) = new(self) {
            return new;
        }
        let part = |of: &Self| Box::new(of.replaced(new));
        match self {
            Self::Literal(_) | Self::Name(_) | Self::Returned(_) => self.clone(),
            Self::Attribute(of, name) => Self::Attribute(part(of), name.clone()),
            Self::Item(of, key) => Self::Item(part(of), part(key)),
            Self::Length(of) => Self::Length(part(of)),
            Self::Class(of) => Self::Class(part(of)),
            Self::TypeOf(of) => Self::TypeOf(part(of)),
            Self::Not(of) => Self::Not(part(of)),
            Self::Negative(of) => Self::Negative(part(of)),
            Self::And(left, right) => Self::And(part(left), part(right)),
            Self::Or(left, right) => Self::Or(part(left), part(right)),
            Self::Arithmetic(left, sign, right) => Self::Arithmetic(part(left), *sign, part(right)),
            Self::Comparison(first, rest) => Self::Comparison(
                part(first),
                rest.iter().map(|(sign, other)| (*sign, other.replaced(new))).collect(),
            ),
        }
    }

    /// The path of a name and attributes, as it is written; none of anything else.
    pub(crate) fn path(&self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name.clone()),
            Self::Attribute(of, name) => Some(format!("{}.{name}", of.path()?)),
            _ => None,
        }
    }

    /// The last name in a path: that of the attribute, or of the variable that it begins at.
    pub(crate) fn last_name(&self) -> Option<&str> {
        match self {
            Self::Name(name) | Self::Attribute(_, name) => Some(name),
            Self::Item(of, _) => of.last_name(),
            _ => None,
        }
    }

    /// What it is directly made of.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Literal(_) | Self::Name(_) | Self::Returned(_) => Vec::new(),
            Self::Attribute(of, _)
            | Self::Length(of)
            | Self::Class(of)
            | Self::TypeOf(of)
            | Self::Not(of)
            | Self::Negative(of) => vec![of],
            Self::Item(of, other)
            | Self::And(of, other)
            | Self::Or(of, other)
            | Self::Arithmetic(of, _, other) => vec![of, other],
            Self::Comparison(first, rest) => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, other)| other)).collect()
            }
        }
    }

    /// Calls this with each name that it begins at.
    pub(crate) fn roots(&self, found: &mut Vec<String>) {
        if let Self::Name(name) = self
            && !found.contains(name)
        {
            found.push(name.clone());
        }
        for part in self.parts() {
            part.roots(found);
        }
    }
}
