//! Our scripts inside LLDB and GDB, in the cache.

use std::path::PathBuf;

use super::Host;
use crate::error::Result;
use crate::parts::folder_with;

/// Their names and texts.
const SCRIPTS: &[(&str, &str)] = &[
    ("sitecustomize.py", include_str!("../../debuggee/lldb/sitecustomize.py")),
    ("stillframe_awaits.py", include_str!("../../debuggee/lldb/stillframe_awaits.py")),
    ("stillframe_calls.py", include_str!("../../debuggee/lldb/stillframe_calls.py")),
    ("stillframe_captures.py", include_str!("../../debuggee/lldb/stillframe_captures.py")),
    ("stillframe_catches.py", include_str!("../../debuggee/lldb/stillframe_catches.py")),
    ("stillframe_cpp.py", include_str!("../../debuggee/lldb/stillframe_cpp.py")),
    ("stillframe_cpp_functions.py", include_str!("../../debuggee/lldb/stillframe_cpp_functions.py")),
    ("stillframe_cpp_lists.py", include_str!("../../debuggee/lldb/stillframe_cpp_lists.py")),
    ("stillframe_cpp_maps.py", include_str!("../../debuggee/lldb/stillframe_cpp_maps.py")),
    ("stillframe_cpp_names.py", include_str!("../../debuggee/lldb/stillframe_cpp_names.py")),
    ("stillframe_cpp_templates.py", include_str!("../../debuggee/lldb/stillframe_cpp_templates.py")),
    ("stillframe_cpp_texts.py", include_str!("../../debuggee/lldb/stillframe_cpp_texts.py")),
    ("stillframe_cpp_types.py", include_str!("../../debuggee/lldb/stillframe_cpp_types.py")),
    ("stillframe_cpp_unions.py", include_str!("../../debuggee/lldb/stillframe_cpp_unions.py")),
    ("stillframe_cpp_views.py", include_str!("../../debuggee/lldb/stillframe_cpp_views.py")),
    ("stillframe_dumps.py", include_str!("../../debuggee/lldb/stillframe_dumps.py")),
    ("stillframe_effects.py", include_str!("../../debuggee/native/stillframe_effects.py")),
    ("stillframe_errors.py", include_str!("../../debuggee/lldb/stillframe_errors.py")),
    ("stillframe_evaluate.py", include_str!("../../debuggee/lldb/stillframe_evaluate.py")),
    ("stillframe_expressions.py", include_str!("../../debuggee/lldb/stillframe_expressions.py")),
    ("stillframe_functions.py", include_str!("../../debuggee/lldb/stillframe_functions.py")),
    ("stillframe_gdb.py", include_str!("../../debuggee/gdb/stillframe_gdb.py")),
    ("stillframe_gdb_calls.py", include_str!("../../debuggee/gdb/stillframe_gdb_calls.py")),
    ("stillframe_gdb_dumps.py", include_str!("../../debuggee/gdb/stillframe_gdb_dumps.py")),
    ("stillframe_gdb_exceptions.py", include_str!("../../debuggee/gdb/stillframe_gdb_exceptions.py")),
    ("stillframe_gdb_program.py", include_str!("../../debuggee/gdb/stillframe_gdb_program.py")),
    ("stillframe_gdb_recorder.py", include_str!("../../debuggee/gdb/stillframe_gdb_recorder.py")),
    ("stillframe_gdb_requests.py", include_str!("../../debuggee/gdb/stillframe_gdb_requests.py")),
    ("stillframe_gdb_rust.py", include_str!("../../debuggee/gdb/stillframe_gdb_rust.py")),
    ("stillframe_gdb_stops.py", include_str!("../../debuggee/gdb/stillframe_gdb_stops.py")),
    ("stillframe_gdb_threads.py", include_str!("../../debuggee/gdb/stillframe_gdb_threads.py")),
    ("stillframe_gdb_values.py", include_str!("../../debuggee/gdb/stillframe_gdb_values.py")),
    ("stillframe_gdb_watches.py", include_str!("../../debuggee/gdb/stillframe_gdb_watches.py")),
    ("stillframe_globals.py", include_str!("../../debuggee/lldb/stillframe_globals.py")),
    ("stillframe_locations.py", include_str!("../../debuggee/lldb/stillframe_locations.py")),
    ("stillframe_memory.py", include_str!("../../debuggee/lldb/stillframe_memory.py")),
    ("stillframe_places.py", include_str!("../../debuggee/native/stillframe_places.py")),
    ("stillframe_plain.py", include_str!("../../debuggee/lldb/stillframe_plain.py")),
    ("stillframe_recorder.py", include_str!("../../debuggee/lldb/stillframe_recorder.py")),
    ("stillframe_returns.py", include_str!("../../debuggee/lldb/stillframe_returns.py")),
    ("stillframe_rows.py", include_str!("../../debuggee/native/stillframe_rows.py")),
    ("stillframe_rust.py", include_str!("../../debuggee/lldb/stillframe_rust.py")),
    ("stillframe_rust_assignments.py", include_str!("../../debuggee/lldb/stillframe_rust_assignments.py")),
    ("stillframe_rust_closures.py", include_str!("../../debuggee/lldb/stillframe_rust_closures.py")),
    ("stillframe_rust_enums.py", include_str!("../../debuggee/lldb/stillframe_rust_enums.py")),
    ("stillframe_rust_names.py", include_str!("../../debuggee/lldb/stillframe_rust_names.py")),
    ("stillframe_rust_numbers.py", include_str!("../../debuggee/lldb/stillframe_rust_numbers.py")),
    ("stillframe_rust_objects.py", include_str!("../../debuggee/lldb/stillframe_rust_objects.py")),
    ("stillframe_rust_patterns.py", include_str!("../../debuggee/lldb/stillframe_rust_patterns.py")),
    ("stillframe_rust_shown.py", include_str!("../../debuggee/lldb/stillframe_rust_shown.py")),
    ("stillframe_rust_tables.py", include_str!("../../debuggee/lldb/stillframe_rust_tables.py")),
    ("stillframe_rust_types.py", include_str!("../../debuggee/lldb/stillframe_rust_types.py")),
    ("stillframe_throws.py", include_str!("../../debuggee/lldb/stillframe_throws.py")),
    ("stillframe_stops.py", include_str!("../../debuggee/lldb/stillframe_stops.py")),
    ("stillframe_traps.py", include_str!("../../debuggee/lldb/stillframe_traps.py")),
    ("stillframe_values.py", include_str!("../../debuggee/lldb/stillframe_values.py")),
    ("stillframe_watched.py", include_str!("../../debuggee/lldb/stillframe_watched.py")),
];

/// The folder that they are in.
pub(in crate::adapter) fn provide(host: &dyn Host) -> Result<PathBuf> {
    folder_with(&host.cache_dir().join("native"), SCRIPTS)
}
