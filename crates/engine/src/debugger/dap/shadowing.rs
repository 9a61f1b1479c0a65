//! Variables of one name, of which an inner block hides those of outer ones.

use std::collections::HashSet;

use crate::adapter::plan::Quirks;

/// The variables of a scope, under the names that the program has for them. A name means the variable of the innermost
/// block.
pub(super) fn in_scope(quirks: &Quirks, found: Vec<::dap::Variable>) -> Vec<::dap::Variable> {
    let mut names = HashSet::new();
    let named = |mut variable: ::dap::Variable| {
        let name = (quirks.variable)(&variable.name)?.to_owned();
        if let Some(shadowed) = quirks.shadowed.filter(|_| !names.insert(name.clone())) {
            variable = ::dap::Variable { name: shadowed(&variable.name)?.to_owned(), ..variable };
            // In an expression, its name means another variable.
            variable.evaluate_name = None;
        } else {
            variable.name = name;
        }
        Some(variable)
    };
    let mut variables: Vec<_> = found.into_iter().rev().filter_map(named).collect();
    variables.reverse();
    variables
}
