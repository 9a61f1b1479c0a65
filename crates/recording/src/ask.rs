//! Questions about recordings. Each answer is a text of at most 2 KB.

mod changes;
mod comprehensions;
mod computed;
mod diverged;
mod first;
mod inside;
mod last;
mod origin;
mod properties;
mod reached;
mod state;
mod statement;
mod stored;
mod target;
mod text;
mod waiting;
mod writes;

pub use self::changes::changes;
pub use self::diverged::diverged;
pub use self::first::{FirstRequest, first};
pub use self::origin::origin;
pub use self::reached::reached;
pub use self::state::state;
pub use self::target::TargetRequest;
pub use self::writes::writes;

pub(crate) use self::comprehensions::statement_around;
pub(crate) use self::first::{own_and_outer, owners};
pub(crate) use self::reached::arguments;
pub(crate) use self::state::{exception, is_definition};
