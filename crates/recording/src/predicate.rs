//! Expressions over recorded values, such as `total < 0 and len(self.items) > 10`.
//!
//! They are evaluated by us, not by the program: names, attributes, items, comparisons, `in`, `is`, arithmetic, `and`, `or`
//! and `not`, and functions that look into containers, `sum()`, `min()`, `max()`, `any()` and `all()`, with a
//! comprehension or without, spelled as in Python or JavaScript. Of a value's class, its name is known: `type(x) == str`,
//! `isinstance(x, str)`, `typeof x === 'string'` and `x instanceof Cart` compare that, and not the classes above it.
//! `total()` is what a call of `total` returned. Arrays of `NumPy` and tables of pandas are asked about as they are in a program:
//! `values[2, 0]`, `np.isnan(values).any()`, `(prices['net'] < 0).any()`.

mod comparing;
mod containers;
mod evaluate;
mod functions;
mod javascript;
mod keys;
mod members;
mod opaque;
mod parse;
mod range;
mod tables;
mod tokens;
mod truth;

pub(crate) use self::evaluate::{Datum, Scope};
pub(crate) use self::functions::Function;
pub(crate) use self::opaque::Notes;

use std::collections::HashMap;

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
    /// A part of a string or of a list: where it begins and ends, from the end if that is negative.
    Slice(Box<Expression>, [Option<Box<Expression>>; 2]),
    /// What a call of the function returned, by its name or path: `Cart.total`.
    Returned(String),
    /// The result of one of our functions, or an operator, for a value.
    Of(Function, Box<Expression>),
    List(Vec<Expression>),
    Each(Box<Each>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Arithmetic(Box<Expression>, char, Box<Expression>),
    /// A comparison, or several in a row.
    Comparison(Box<Expression>, Vec<(Comparison, Expression)>),
}

/// A comprehension: `value for variables in over if filter`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Each {
    pub(crate) value: Expression,
    /// One, or several that an item is taken apart into.
    pub(crate) variables: Vec<String>,
    pub(crate) over: Expression,
    pub(crate) filter: Option<Expression>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    None,
    Undefined,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// The recorded value of a name.
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
    /// Of strings.
    BeginsWith,
    EndsWith,
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        parse::parse(text).map_err(|problem| {
            Error::question(format!(
                "cannot read `{text}`: {problem}; use names, attributes, items, comparisons, arithmetic, `in`, `is None`, \
                 `and`, `or`, `not`, and {}",
                functions::known()
            ))
        })
    }

    /// One of our functions, applied to an expression.
    pub(crate) fn of(function: Function, inner: Self) -> Self {
        Self::Of(function, Box::new(inner))
    }

    /// Calls this with the name of each variable and attribute that it reads.
    pub(crate) fn names(&self, found: &mut impl FnMut(&str)) {
        if let Self::Name(name) | Self::Attribute(_, name) = self {
            found(name);
        }
        // A property in JavaScript.
        if let Self::Item(_, key) = self
            && let Self::Literal(Literal::Text(name)) = &**key
        {
            found(name);
        }
        for part in self.parts() {
            part.names(found);
        }
    }

    /// Whether it reads all that a container has.
    pub(crate) fn reads_whole_objects(&self) -> bool {
        let is_whole = match self {
            Self::Each(_) | Self::Slice(..) => true,
            // Members of enumerations and classes are looked for among the keys.
            Self::Item(_, key) => !matches!(**key, Self::Literal(_) | Self::Arithmetic(..)),
            Self::Of(function, _) => function.reads_whole_objects(),
            // What is in a list of the condition's own is known.
            Self::Comparison(_, rest) => rest.iter().any(|(comparison, other)| {
                matches!(comparison, Comparison::In | Comparison::NotIn) != matches!(other, Self::List(_))
            }),
            _ => false,
        };
        is_whole || self.parts().into_iter().any(Self::reads_whole_objects)
    }

    /// The same about one object: what is asked of attributes of a variable is asked of that object. None if the
    /// variable, or another one, is used in another way.
    pub(crate) fn about(&self, variable: &str, object: i64) -> Option<Self> {
        let is_variable = |part: &Self| matches!(part, Self::Name(name) if name == variable);
        let object = Self::Literal(Literal::Word(Word::Object(object)));
        let about = self.replaced(&|part| match part {
            Self::Attribute(of, name) if is_variable(of) => {
                Some(Self::Attribute(Box::new(object.clone()), name.clone()))
            }
            _ => None,
        });
        about.is_about_objects().then_some(about)
    }

    /// Whether it is about known objects only, and their attributes.
    fn is_about_objects(&self) -> bool {
        !matches!(self, Self::Name(_) | Self::Item(..) | Self::Slice(..) | Self::Returned(_) | Self::Each(_))
            && self.parts().into_iter().all(Self::is_about_objects)
    }

    /// The same with other names for some attributes.
    pub(crate) fn renamed(&self, names: &HashMap<String, String>) -> Self {
        self.replaced(&|part| match part {
            Self::Attribute(of, name) => {
                let name = names.get(name).unwrap_or(name);
                Some(Self::Attribute(Box::new(of.renamed(names)), name.clone()))
            }
            _ => None,
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
            Self::Slice(of, ends) => {
                Self::Slice(part(of), ends.each_ref().map(|end| end.as_deref().map(part)))
            }
            Self::Of(function, of) => Self::Of(*function, part(of)),
            Self::List(items) => Self::List(items.iter().map(|item| item.replaced(new)).collect()),
            Self::Each(each) => Self::Each(Box::new(Each {
                value: each.value.replaced(new),
                variables: each.variables.clone(),
                over: each.over.replaced(new),
                filter: each.filter.as_ref().map(|filter| filter.replaced(new)),
            })),
            Self::And(left, right) => Self::And(part(left), part(right)),
            Self::Or(left, right) => Self::Or(part(left), part(right)),
            Self::Arithmetic(left, sign, right) => Self::Arithmetic(part(left), *sign, part(right)),
            Self::Comparison(first, rest) => Self::Comparison(
                part(first),
                rest.iter().map(|(sign, other)| (*sign, other.replaced(new))).collect(),
            ),
        }
    }

    /// The same with the items that `get` looks up in its place: what is kept somewhere, and can be written.
    pub(crate) fn as_kept(&self) -> Self {
        self.replaced(&|part| part.looked_up().cloned())
    }

    /// The item that a call of `get` looks up.
    pub(crate) fn looked_up(&self) -> Option<&Self> {
        let Self::Of(Function::Get, parts) = self else { return None };
        parts.parts().first().copied()
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
            _ => self.looked_up()?.last_name(),
        }
    }

    /// The attribute that it reads of a variable.
    pub(crate) fn attribute_of(&self, variable: &str) -> Option<&str> {
        match self {
            Self::Attribute(of, name) if matches!(&**of, Self::Name(of) if of == variable) => Some(name),
            _ => self.parts().into_iter().find_map(|part| part.attribute_of(variable)),
        }
    }

    /// What it is directly made of.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Literal(_) | Self::Name(_) | Self::Returned(_) => Vec::new(),
            Self::Attribute(of, _) | Self::Of(_, of) => vec![of],
            Self::Slice(of, ends) => {
                std::iter::once(&**of).chain(ends.iter().flatten().map(|end| &**end)).collect()
            }
            Self::List(items) => items.iter().collect(),
            Self::Each(each) => [&each.over, &each.value].into_iter().chain(&each.filter).collect(),
            Self::Item(of, other)
            | Self::And(of, other)
            | Self::Or(of, other)
            | Self::Arithmetic(of, _, other) => vec![of, other],
            Self::Comparison(first, rest) => {
                std::iter::once(&**first).chain(rest.iter().map(|(_, other)| other)).collect()
            }
        }
    }

    /// Whether it asks about a variable itself, and not about something of it.
    pub(crate) fn has_bare(&self, variable: &str) -> bool {
        match self {
            Self::Name(name) => name == variable,
            Self::Attribute(of, _) => !matches!(**of, Self::Name(_)) && of.has_bare(variable),
            Self::Item(of, key) => {
                key.has_bare(variable) || !matches!(**of, Self::Name(_)) && of.has_bare(variable)
            }
            _ => self.parts().into_iter().any(|part| part.has_bare(variable)),
        }
    }

    /// The variables of the program that it begins at, each once.
    pub(crate) fn roots(&self) -> Vec<String> {
        let mut found = if let Self::Name(name) = self { vec![name.clone()] } else { Vec::new() };
        for name in self.parts().into_iter().flat_map(Self::roots) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        if let Self::Each(each) = self {
            found.retain(|name| !each.variables.contains(name));
        }
        found
    }
}
