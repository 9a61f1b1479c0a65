//! Our scripts inside LLDB and GDB, in the cache.

use std::path::PathBuf;

use super::Host;
use crate::error::Result;
use crate::parts::folder_with;

/// Names and texts of scripts, by their folders.
macro_rules! scripts {
    ($($folder:literal: $($name:literal)+;)+) => {
        &[$($((concat!($name, ".py"), include_str!(concat!("../../debuggee/", $folder, "/", $name, ".py"))),)+)+]
    };
}

const SCRIPTS: &[(&str, &str)] = scripts! {
    "lldb": "sitecustomize" "stillframe_awaits" "stillframe_calls" "stillframe_captures" "stillframe_catches"
        "stillframe_cpp" "stillframe_cpp_children" "stillframe_cpp_functions" "stillframe_cpp_maps"
        "stillframe_cpp_names" "stillframe_cpp_templates" "stillframe_cpp_texts" "stillframe_cpp_types"
        "stillframe_cpp_unions" "stillframe_cpp_views" "stillframe_dumps" "stillframe_errors"
        "stillframe_evaluate" "stillframe_expressions" "stillframe_formats" "stillframe_functions"
        "stillframe_globals" "stillframe_locations" "stillframe_memory" "stillframe_names"
        "stillframe_recorder" "stillframe_rust" "stillframe_rust_closures" "stillframe_rust_enums"
        "stillframe_rust_names" "stillframe_rust_numbers" "stillframe_rust_objects" "stillframe_rust_patterns"
        "stillframe_rust_results" "stillframe_rust_tables" "stillframe_rust_types" "stillframe_stops"
        "stillframe_throws" "stillframe_unhandled" "stillframe_values" "stillframe_watched";
    "gdb": "stillframe_gdb" "stillframe_gdb_calls" "stillframe_gdb_dumps" "stillframe_gdb_exceptions"
        "stillframe_gdb_program" "stillframe_gdb_recorder" "stillframe_gdb_requests" "stillframe_gdb_rust"
        "stillframe_gdb_stops" "stillframe_gdb_values" "stillframe_gdb_watches";
    "native": "stillframe_effects" "stillframe_places" "stillframe_rows";
};

/// The folder that they are in.
pub(in crate::adapter) fn provide(host: &dyn Host) -> Result<PathBuf> {
    folder_with(&host.cache_dir().join("native"), SCRIPTS)
}
