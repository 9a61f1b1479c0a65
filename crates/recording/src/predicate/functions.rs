//! The functions that an expression can call, and operators with one operand.

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Not,
    Negative,
    Absolute,
    /// Whether it is the number that equals none.
    IsNan,
    Lower,
    Upper,
    /// Without white space around it.
    Trim,
    Length,
    /// The name of a value's class.
    Class,
    /// What JavaScript's `typeof` gives.
    TypeOf,
    /// What is in a container, as Python's `for` goes through it.
    Items,
    /// The same, each once.
    Distinct,
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
}

/// The functions by the names with which they are called, in Python and in JavaScript.
const NAMES: [(&str, Function); 21] = [
    ("len", Function::Length),
    ("abs", Function::Absolute),
    ("Math.abs", Function::Absolute),
    ("isNaN", Function::IsNan),
    ("Number.isNaN", Function::IsNan),
    ("math.isnan", Function::IsNan),
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
    ("sorted", Function::Items),
    ("set", Function::Distinct),
    ("type", Function::Class),
];

/// The methods without arguments that are known.
const METHODS: [(&str, Function); 10] = [
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
];

impl Function {
    /// Whether it reads all that a container has.
    pub(super) fn reads_whole_objects(self) -> bool {
        matches!(
            self,
            Self::Items
                | Self::Distinct
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
        NAMES.iter().find(|(name, _)| *name == path).map(|(_, function)| *function)
    }

    /// The function that a method is.
    pub(super) fn method(name: &str) -> Option<Self> {
        METHODS.iter().find(|(method, _)| *method == name).map(|(_, function)| *function)
    }
}

/// What can be called, for a message.
pub(super) fn known() -> &'static str {
    "`len()`, `abs()`, `sum()`, `min()`, `max()`, `any()`, `all()`, `type()`, `isinstance()`, `.get()`, `.startswith()`, `.lower()`, \
     `.strip()`, `.keys()`, `.values()`, `.items()`, or `.some()`, `.every()`, `.filter()`, `.map()`, `.includes()`, `.has()`, \
     `.slice()`, `Number.isNaN()`"
}
