//! Values and keys, as they are stored.

/// What a variable, an attribute or an item was, or what a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    Integer(i64),
    None,
    Bool(bool),
    /// JavaScript's second kind of nothing.
    Undefined,
    /// It was deleted, or no longer exists.
    Absent,
    /// The number of a text, a number or something else without contents.
    Atom(i64),
    /// The number of an object.
    Object(i64),
}

impl Word {
    /// Reads a stored value.
    pub(crate) fn of(stored: i64) -> Self {
        match (stored & 7, stored >> 3) {
            (1, number) => Self::Integer(number),
            (2, 0) => Self::None,
            (2, 1) => Self::Bool(true),
            (2, 2) => Self::Bool(false),
            (2, 4) => Self::Undefined,
            (3, number) => Self::Atom(number),
            (4, number) => Self::Object(number),
            _ => Self::Absent,
        }
    }

    pub(crate) fn as_object(self) -> Option<i64> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    pub(crate) fn stored(self) -> i64 {
        match self {
            Self::Integer(number) => number << 3 | 1,
            Self::None => 2,
            Self::Bool(true) => 1 << 3 | 2,
            Self::Bool(false) => 2 << 3 | 2,
            Self::Absent => 3 << 3 | 2,
            Self::Undefined => 4 << 3 | 2,
            Self::Atom(number) => number << 3 | 3,
            Self::Object(number) => number << 3 | 4,
        }
    }
}

/// Where a value is kept: in the variables of a call or of a module, or in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner(pub(crate) i64);

impl Owner {
    /// The contents of an object.
    pub(crate) fn object(number: i64) -> Self {
        Self(number << 1 | 1)
    }

    /// The object, unless it is a call or a module.
    pub(crate) fn as_object(self) -> Option<i64> {
        (self.0 & 1 == 1).then_some(self.0 >> 1)
    }
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A variable or an attribute, by the number of its name.
    Name(i64),
    /// An item of a list or a tuple.
    Index(i64),
    /// An item of a dictionary or a member of a set, by the number of the key's text.
    Item(i64),
    /// The length.
    Length,
}

impl Key {
    /// Reads a stored key.
    pub(crate) fn of(stored: i64) -> Self {
        match (stored & 3, stored >> 2) {
            (0, number) => Self::Name(number),
            (1, number) => Self::Index(number),
            (2, number) => Self::Item(number),
            _ => Self::Length,
        }
    }

    pub(crate) fn stored(self) -> i64 {
        match self {
            Self::Name(number) => number << 2,
            Self::Index(number) => number << 2 | 1,
            Self::Item(number) => number << 2 | 2,
            Self::Length => 3,
        }
    }
}

/// The variable of a closure that has the number of the call around it.
pub(crate) const OUTER: &str = "__scope__";

/// The attribute of a class that has the list of those that it inherits from.
pub(crate) const BASES: &str = "__bases__";

/// The attribute that has the string or number that an object is whose class derives from these.
pub(crate) const VALUE: &str = "__value__";

/// The attribute that has a function, of the object that its other attributes belong to.
pub(crate) const OF_FUNCTION: &str = "__function__";

/// How much more the kind of an event is that is kept only because a call was there when the recording begins.
pub(crate) const EARLIER: i64 = 8;

/// What kinds of objects there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    Dictionary,
    Set,
    Tuple,
    Instance,
    /// Only its text is known.
    Opaque,
    /// A class, with the attributes that are variables.
    Class,
    /// A function, with its properties.
    Function,
    /// It was dropped with old events.
    Dropped,
}

impl Kind {
    /// How [`Kind::Tuple`] is stored.
    pub(crate) const TUPLE: i64 = 4;
    /// How [`Kind::Class`] is stored.
    pub(crate) const CLASS: i64 = 7;

    pub(crate) fn of(stored: i64) -> Self {
        match stored {
            0 => Self::Function,
            1 => Self::List,
            2 => Self::Dictionary,
            3 => Self::Set,
            Self::TUPLE => Self::Tuple,
            5 => Self::Instance,
            Self::CLASS => Self::Class,
            _ => Self::Opaque,
        }
    }

    /// It has a name of its own, by which it is shown.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Self::Class | Self::Function)
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Line,
    Call,
    Return,
    /// A call ended by an exception.
    Unwind,
    Throw,
    Yield,
    Resume,
}

impl What {
    pub(crate) const ALL: [Self; 7] =
        [Self::Line, Self::Call, Self::Return, Self::Unwind, Self::Throw, Self::Yield, Self::Resume];

    pub(crate) fn of(stored: i64) -> Self {
        usize::try_from(stored % EARLIER).ok().and_then(|at| Self::ALL.get(at)).copied().unwrap_or(Self::Line)
    }

    pub(crate) fn stored(self) -> i64 {
        self as i64
    }
}
