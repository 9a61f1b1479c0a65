//! Values, as far as they were read.

/// A named value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable<Id> {
    /// Its name in its parent.
    pub name: String,
    /// What it holds.
    pub value: Value<Id>,
    /// Belongs to the language rather than to the user: `__builtins__`, `this`, a debugger's own.
    pub special: bool,
}

/// A value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value<Id> {
    /// The language's own text for it, possibly cut.
    pub text: String,
    /// The name of its type.
    pub type_name: String,
    /// What its children are asked for with; `None` when it has none.
    pub reference: Option<Id>,
    /// How many children it has, where that is known without reading them.
    pub children: Option<u64>,
    /// How long the whole text is, in characters, when `text` is not all of it.
    pub cut_from: Option<u64>,
}

/// Some of the children of a scope or value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Children<Id> {
    /// The ones that were asked for, in the language's order.
    pub variables: Vec<Variable<Id>>,
    /// How many there are.
    pub total: u64,
    /// The number of the first one of `variables`.
    pub start: u64,
}

/// Which children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many to leave out at the start.
    pub start: u64,
    /// How many to give at most.
    pub count: u64,
}

impl<Id> Value<Id> {
    /// The same value with its reference replaced.
    pub fn map<Other>(self, reference: impl FnOnce(Id) -> Other) -> Value<Other> {
        Value {
            text: self.text,
            type_name: self.type_name,
            reference: self.reference.map(reference),
            children: self.children,
            cut_from: self.cut_from,
        }
    }
}

impl<Id> Variable<Id> {
    /// The same variable with its reference replaced.
    pub fn map<Other>(self, reference: impl FnOnce(Id) -> Other) -> Variable<Other> {
        Variable { name: self.name, value: self.value.map(reference), special: self.special }
    }
}
