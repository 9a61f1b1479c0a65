//! Values, as far as they were read.

use std::time::Duration;

use super::ids::RawId;

/// The type of a value that is read by running a getter.
pub const ACCESSOR: &str = "accessor";

/// A named value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable<Id> {
    /// Its name in its parent.
    pub name: String,
    /// What it holds.
    pub value: Value<Id>,
    /// Belongs to the language, or to the program's text rather than to its data: `__builtins__`, `this`,
    /// the modules, functions and classes of a module.
    pub special: bool,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value<Id> {
    /// The language's own text for it, possibly cut.
    pub text: String,
    /// Type name.
    pub type_name: String,
    /// What the language calls values of its kind, where that says less than the name of the type: `object`.
    pub kind: Option<&'static str>,
    /// What its children are requested with; `None` when it has none.
    pub reference: Option<Id>,
    /// How many children it has, where that is known without reading them.
    pub children: Option<u64>,
    /// `text` is not all of it.
    pub cut: bool,
    /// How long a string or representation is as a whole, in characters, where that is known.
    pub length: Option<u64>,
    /// Where it was read, when that is not where it was requested, or why it is nothing.
    pub note: Option<String>,
}

/// Some of the children of a scope or value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Children<Id> {
    /// The requested ones, in the language's order.
    pub variables: Vec<Variable<Id>>,
    /// How many there are, hidden ones not counted.
    pub total: u64,
    /// The number of the first one of `variables`.
    pub start: u64,
    /// How many special ones were left out.
    pub hidden: u64,
}

/// Which children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many to leave out at the start.
    pub start: u64,
    /// How many to give at most.
    pub count: u64,
    /// Special ones too.
    pub special: bool,
    /// With the special ones, what a value has besides its contents: hidden properties and what the language
    /// keeps in it, as `length` and `[[Prototype]]`.
    pub internals: bool,
}

/// The variables of a frame's innermost scope, and what some of them contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedLocals<Id> {
    /// The name of the scope.
    pub scope: String,
    /// The variables.
    pub variables: Children<Id>,
    /// The values that were expanded, those nearest to the variables first.
    pub values: Vec<ExpandedValue>,
}

/// A value whose children were read together with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedValue {
    /// The expanded value that it is a child of, as a place in [`ExpandedLocals::values`]; none for a variable.
    pub parent: Option<usize>,
    /// Its name: that of a variable, of what the function was called on (which may not be listed among them), or of a
    /// child of that value.
    pub name: String,
    /// What it contains.
    pub children: Children<RawId>,
}

/// How far values are expanded when variables are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// How many values at most.
    pub values: usize,
    /// How many children of each.
    pub children: u64,
    /// How many levels below the variables.
    pub depth: usize,
    /// How long it may take.
    pub within: Duration,
}

impl Expansion {
    /// None of them.
    pub const NONE: Self = Self { values: 0, children: 0, depth: 0, within: Duration::ZERO };

    /// Which children of a value are read.
    pub fn page(&self) -> Page {
        Page { start: 0, count: self.children, special: false, internals: false }
    }
}

impl<Id> Children<Id> {
    /// Where the next page starts, if there is one.
    pub fn next_start(&self) -> Option<u64> {
        Some(self.start + self.variables.len() as u64).filter(|next| *next < self.total)
    }

    /// The same children with their references replaced.
    pub fn try_map<Other, E>(
        self,
        mut reference: impl FnMut(Id) -> Result<Other, E>,
    ) -> Result<Children<Other>, E> {
        let variable = |variable: Variable<Id>| {
            let value = variable.value.try_map(&mut reference)?;
            Ok(Variable { name: variable.name, value, special: variable.special })
        };
        Ok(Children {
            variables: self.variables.into_iter().map(variable).collect::<Result<_, E>>()?,
            total: self.total,
            start: self.start,
            hidden: self.hidden,
        })
    }
}

impl<Id> Value<Id> {
    /// What its children are requested with, if they say more than its text and reading them runs no getter. The text
    /// of a string is all of it, and so is that of a pointer to one.
    pub fn contents(&self) -> Option<&Id> {
        let is_text = self.text.starts_with('"') || self.text.starts_with("0x") && self.text.ends_with('"');
        self.reference.as_ref().filter(|_| self.type_name != ACCESSOR && !is_text)
    }

    /// The same value with its reference replaced.
    pub fn try_map<Other, E>(
        self,
        reference: impl FnOnce(Id) -> Result<Other, E>,
    ) -> Result<Value<Other>, E> {
        Ok(Value {
            text: self.text,
            type_name: self.type_name,
            kind: self.kind,
            reference: self.reference.map(reference).transpose()?,
            children: self.children,
            cut: self.cut,
            length: self.length,
            note: self.note,
        })
    }
}
