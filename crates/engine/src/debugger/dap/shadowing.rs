//! Variables of one name, of which an inner block hides those of outer ones, and variables without a value.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::adapter::plan::Quirks;

/// The variables of a scope, under the names that the program has for them. A name means the variable of the innermost
/// block. Those that have no value yet at the place of the frame are left out.
pub(super) fn in_scope(
    quirks: &Quirks,
    place: Option<(PathBuf, u32)>,
    found: Vec<::dap::Variable>,
) -> Vec<::dap::Variable> {
    let unset = quirks.unset_variables.zip(place).map(|(unset_variables, (path, line))| {
        unset_variables(&std::fs::read_to_string(path).unwrap_or_default(), line)
    });
    let unset = unset.unwrap_or_default();
    let mut names = HashSet::new();
    let named = |mut variable: ::dap::Variable| {
        let name =
            (quirks.variable)(&variable.name).filter(|name| unset.iter().all(|one| one != name))?.to_owned();
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
