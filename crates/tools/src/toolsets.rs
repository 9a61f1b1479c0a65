//! Vocabularies. Each is a literal table over [`ops`](crate::ops); none calls another.

pub mod inspector;
pub mod quick;
pub mod script;
pub mod standard;

use crate::{Entry, Toolset};

/// Every vocabulary.
pub static TOOLSETS: &[&Toolset] =
    &[&standard::TOOLSET, &inspector::TOOLSET, &quick::TOOLSET, &script::TOOLSET];

/// The vocabularies of a list such as `standard,script`; `all` is all of them.
///
/// An unknown name is an error that names the known ones.
pub fn choose(names: &str) -> Result<Vec<&'static Toolset>, String> {
    let known = || {
        let names: Vec<&str> = TOOLSETS.iter().map(|toolset| toolset.name).collect();
        format!("available toolsets: {}, all", names.join(", "))
    };
    let mut chosen: Vec<&'static Toolset> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if name == "all" {
            return Ok(TOOLSETS.to_vec());
        }
        let found = TOOLSETS.iter().copied().find(|toolset| toolset.name == name);
        let Some(toolset) = found else { return Err(format!("no toolset `{name}`; {}", known())) };
        if !chosen.iter().any(|one| one.name == toolset.name) {
            chosen.push(toolset);
        }
    }
    if chosen.is_empty() { Err(format!("no toolset given; {}", known())) } else { Ok(chosen) }
}

/// The tool of that name in some vocabularies.
pub fn find(toolsets: &[&'static Toolset], name: &str) -> Option<&'static Entry> {
    toolsets.iter().flat_map(|toolset| toolset.tools).find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests;
