//! The scripts that run inside programs, and what makes a program load them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::plan::{ADDRESS, TOKEN};
use super::super::{Host, Runtime};
use crate::error::Result;
use crate::model::launch::Launch;
use crate::parts::folder_with;

/// Reads a source.
const ANALYZER: &str = "analyze.rb";
/// Loads the server into a program with `rdbg`.
const INJECTOR: &str = "inject.rb";
/// The server. It loads the others.
const SERVER: &str = "stillframe.rb";

const FILES: [(&str, &str); 17] = [
    ("activity.rb", include_str!("../../debuggee/ruby/activity.rb")),
    (ANALYZER, include_str!("../../debuggee/ruby/analyze.rb")),
    ("as_json.rb", include_str!("../../debuggee/ruby/as_json.rb")),
    ("assertions.rb", include_str!("../../debuggee/ruby/assertions.rb")),
    ("breakpoints.rb", include_str!("../../debuggee/ruby/breakpoints.rb")),
    ("evaluation.rb", include_str!("../../debuggee/ruby/evaluation.rb")),
    ("fibers.rb", include_str!("../../debuggee/ruby/fibers.rb")),
    (INJECTOR, include_str!("../../debuggee/ruby/inject.rb")),
    ("loops.rb", include_str!("../../debuggee/ruby/loops.rb")),
    ("pure.rb", include_str!("../../debuggee/ruby/pure.rb")),
    ("requests.rb", include_str!("../../debuggee/ruby/requests.rb")),
    ("stops.rb", include_str!("../../debuggee/ruby/stops.rb")),
    ("tests.rb", include_str!("../../debuggee/ruby/tests.rb")),
    ("throws.rb", include_str!("../../debuggee/ruby/throws.rb")),
    ("values.rb", include_str!("../../debuggee/ruby/values.rb")),
    ("wire.rb", include_str!("../../debuggee/ruby/wire.rb")),
    (SERVER, include_str!("../../debuggee/ruby/stillframe.rb")),
];

/// The server in our cache, with the others beside it.
pub(super) fn provide(host: &dyn Host) -> Result<PathBuf> {
    Ok(folder_with(&host.cache_dir().join("ruby"), &FILES)?.join(SERVER))
}

pub(super) fn analyzer(host: &dyn Host) -> Result<PathBuf> {
    Ok(provide(host)?.with_file_name(ANALYZER))
}

pub(super) fn injector(server: &Path) -> PathBuf {
    server.with_file_name(INJECTOR)
}

/// What makes every Ruby process of a program load the server and connect to us.
pub(super) fn environment(
    host: &dyn Host,
    server: &Path,
    runtime: &Runtime,
    launch: &Launch,
) -> BTreeMap<String, Option<String>> {
    let option = format!("-r{}", server.with_extension("").display());
    let own = host.env_with(&launch.env, "RUBYOPT");
    let options = std::iter::once(option).chain(own).collect::<Vec<_>>().join(" ");
    [
        ("RUBYOPT", options),
        ("STILLFRAME_RUBY", ADDRESS.to_owned()),
        ("STILLFRAME_RUBY_TOKEN", TOKEN.to_owned()),
        ("STILLFRAME_RUBY_GEM", runtime.tag.clone()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), Some(value)))
    .collect()
}
