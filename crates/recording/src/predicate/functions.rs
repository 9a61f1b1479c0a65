//! The functions that an expression can call, and operators with one operand.

use super::{Expression, Literal};

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Not,
    Negative,
    Absolute,
    /// The number that a string is the text of.
    Number,
    /// Whether it is the number that equals none.
    IsNan,
    /// The same for a value of JavaScript that may be none.
    IsNumberNan,
    IsInfinite,
    Lower,
    Upper,
    /// Without white space around it.
    Trim,
    Length,
    /// What has a method `has`: a `Map` or a `Set`.
    Keyed,
    /// What has a method `includes`: an array or a string.
    Sequence,
    /// The name of a value's class.
    Class,
    /// What JavaScript's `typeof` gives.
    TypeOf,
    /// All that is in an array or a table, row by row.
    Elements,
    /// What is in a container, as Python's `for` iterates over it.
    Items,
    /// The same, in ascending order.
    Sorted,
    /// The same, each once.
    Distinct,
    /// The items of several containers beside each other: of a list of these.
    Zip,
    /// The items of a container, each with its number.
    Numbered,
    /// The integers of a list of where they begin, 0 if that is left out, the end before which they stop, and a step.
    Range,
    /// The keys of a dictionary.
    Keys,
    /// Its values.
    Values,
    /// Pairs of both.
    Pairs,
    Sum,
    Least,
    Greatest,
    Any,
    All,
    /// What a dictionary has for a key, or else another value: of a list of the item, and that value.
    Get,
}

/// The functions by the names with which they are called, in Python and in JavaScript.
const NAMES: [(&str, Function); 30] = [
    ("len", Function::Length),
    ("abs", Function::Absolute),
    ("Math.abs", Function::Absolute),
    ("isNaN", Function::IsNan),
    ("Number.isNaN", Function::IsNumberNan),
    ("math.isnan", Function::IsNan),
    ("math.isinf", Function::IsInfinite),
    ("np.isinf", Function::IsInfinite),
    ("np.isnan", Function::IsNan),
    ("numpy.isnan", Function::IsNan),
    ("pd.isna", Function::IsNan),
    ("pd.isnull", Function::IsNan),
    ("sum", Function::Sum),
    ("min", Function::Least),
    ("Math.min", Function::Least),
    ("max", Function::Greatest),
    ("Math.max", Function::Greatest),
    ("any", Function::Any),
    ("all", Function::All),
    ("Object.keys", Function::Keys),
    ("Object.values", Function::Values),
    ("Object.entries", Function::Pairs),
    ("list", Function::Items),
    ("tuple", Function::Items),
    ("sorted", Function::Sorted),
    ("set", Function::Distinct),
    ("zip", Function::Zip),
    ("enumerate", Function::Numbered),
    ("range", Function::Range),
    ("type", Function::Class),
];

/// The methods without arguments that are known.
const METHODS: [(&str, Function); 12] = [
    ("keys", Function::Keys),
    ("values", Function::Values),
    ("items", Function::Pairs),
    ("entries", Function::Pairs),
    ("lower", Function::Lower),
    ("toLowerCase", Function::Lower),
    ("upper", Function::Upper),
    ("toUpperCase", Function::Upper),
    ("strip", Function::Trim),
    ("trim", Function::Trim),
    ("isna", Function::IsNan),
    ("isnull", Function::IsNan),
];

/// Those of arrays, which are functions of `NumPy`, too.
const OF_ELEMENTS: [(&str, Function); 5] = [
    ("max", Function::Greatest),
    ("min", Function::Least),
    ("sum", Function::Sum),
    ("any", Function::Any),
    ("all", Function::All),
];

impl Function {
    /// Whether it reads all that a container has.
    pub(super) fn reads_whole_objects(self) -> bool {
        matches!(
            self,
            Self::Items
                | Self::Sorted
                | Self::Elements
                | Self::IsNan
                | Self::IsInfinite
                | Self::Distinct
                | Self::Zip
                | Self::Numbered
                | Self::Keys
                | Self::Values
                | Self::Pairs
                | Self::Sum
                | Self::Least
                | Self::Greatest
                | Self::Any
                | Self::All
        )
    }

    /// The function of a name or a path.
    pub(super) fn named(path: &str) -> Option<Self> {
        find(&NAMES, path)
    }

    /// The function of the elements of an array that a method is, or a function by its path.
    pub(super) fn of_elements(name: &str) -> Option<Self> {
        let name = name.strip_prefix("np.").or_else(|| name.strip_prefix("numpy.")).unwrap_or(name);
        find(&OF_ELEMENTS, name)
    }

    /// The function that a method is.
    pub(super) fn method(name: &str) -> Option<Self> {
        find(&METHODS, name)
    }
}

fn find(table: &[(&str, Function)], name: &str) -> Option<Function> {
    table.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// A symbol of JavaScript, as it is written where it is a key.
pub(super) fn symbol(name: Expression) -> Expression {
    match name {
        Expression::Literal(Literal::Text(name)) => {
            Expression::Literal(Literal::Text(format!("[Symbol({name})]")))
        }
        other => other,
    }
}

/// What can be called, for a message.
pub(super) fn known() -> &'static str {
    "`len()`, `abs()`, `sum()`, `min()`, `max()`, `any()`, `all()`, `zip()`, `enumerate()`, `range()`, `type()`, \
     `isinstance()`, `.get()`, `.startswith()`, `.lower()`, \
     `.strip()`, `.keys()`, `.values()`, `.items()`, or `.some()`, `.every()`, `.filter()`, `.map()`, `.includes()`, `.has()`, \
     `.slice()`, `Number.isNaN()`"
}
