//! Vocabularies. Each is a literal table over [`ops`](crate::ops); none calls another.

pub mod inspector;
pub mod quick;
pub mod recording;
pub mod script;
pub mod standard;

use crate::{Entry, Toolset};

/// Every vocabulary.
pub static TOOLSETS: &[&Toolset] =
    &[&standard::TOOLSET, &inspector::TOOLSET, &quick::TOOLSET, &script::TOOLSET, &recording::TOOLSET];

/// Vocabularies for programs that rely on another server to the last field. Their tools have names of others', so that
/// they are chosen alone.
pub static EXACT: &[&Toolset] = &[&script::ORIGINAL];

/// The vocabularies of a list such as `standard,script`; `all` is all of [`TOOLSETS`].
///
/// An unknown name is an error that names the known ones, and so are two with a tool of the same name.
pub fn choose(names: &str) -> Result<Vec<&'static Toolset>, String> {
    let every = || TOOLSETS.iter().chain(EXACT).copied();
    let known = || {
        let names: Vec<&str> = every().map(|toolset| toolset.name).collect();
        format!("available toolsets: {}, all", names.join(", "))
    };
    let mut chosen: Vec<&'static Toolset> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if name == "all" {
            return Ok(TOOLSETS.to_vec());
        }
        let found = every().find(|toolset| toolset.name == name);
        let Some(toolset) = found else { return Err(format!("no toolset `{name}`; {}", known())) };
        if chosen.iter().any(|one| one.name == toolset.name) {
            continue;
        }
        if let Some(tool) = toolset.tools.iter().find(|tool| find(&chosen, tool.name).is_some()) {
            return Err(format!("two of the toolsets `{names}` have a tool `{}`; choose one", tool.name));
        }
        chosen.push(toolset);
    }
    if chosen.is_empty() { Err(format!("no toolset given; {}", known())) } else { Ok(chosen) }
}

/// The tool of that name in some vocabularies.
pub fn find(toolsets: &[&'static Toolset], name: &str) -> Option<&'static Entry> {
    toolsets.iter().flat_map(|toolset| toolset.tools).find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests;
