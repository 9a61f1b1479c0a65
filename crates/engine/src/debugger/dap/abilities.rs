//! What an adapter can do beyond what each can, in words.

/// From the capabilities that it has sent.
pub(super) fn of(can: &::dap::Capabilities) -> Vec<String> {
    let mut abilities: Vec<String> = [
        (can.supports_conditional_breakpoints, "conditional breakpoints"),
        (can.supports_function_breakpoints, "function breakpoints"),
        (can.supports_log_points, "log points"),
        (can.supports_data_breakpoints, "data breakpoints"),
        (can.supports_step_back, "running backwards"),
        (can.supports_set_variable || can.supports_set_expression, "assignments"),
        (can.supports_exception_info_request, "exception details"),
        (can.supports_evaluate_for_hovers, "evaluation without side effects"),
        (can.supports_terminate_request, "terminate"),
    ]
    .into_iter()
    .filter(|(can, _)| *can)
    .map(|(_, what)| what.to_owned())
    .collect();
    abilities.extend(
        can.exception_breakpoint_filters.iter().map(|filter| format!("exceptions `{}`", filter.filter)),
    );
    abilities
}
