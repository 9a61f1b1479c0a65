//! C, under lldb-dap.

use super::{Row, Words};

pub(super) const ROW: Row = Row {
    words: Words {
        name: "c",
        extension: "c",
        is_compiled: true,
        reads_sources: false,
        has_columns: true,
        enters_on_header: false,
        own: "self->",
        sigil: "",
        module: None,
        no: "false",
        none: "0",
        quote: '"',
        brackets: ("{", "}"),
        number: "int",
        string: "const char *",
        list: "int[3]",
        locals: "Locals",
        globals: "Globals",
        index: ("[", "]"),
        and: "&&",
        sleep: "(int)usleep(1000000000)",
        spin: "({ for (;;); 1; })",
        undefined: "use of undeclared identifier '{}'",
        swap: "swap_variables",
        deposit: ("account_deposit", "account_deposit"),
        purse_deposit: "purse_deposit",
        double: "doubled",
        raised: "SIGABRT",
        back_from_swap: "call",
        plain: |shown| match shown.split_once(' ') {
            // An address is shown before a text and after a type.
            Some((address, text)) if address.starts_with("0x") => text,
            _ => shown.split_once(" @ 0x").map_or(shown, |(kind, _)| kind),
        },
        // lldb-dap 19 does not show it.
        returned: |_| None,
    },
    spelled: &[],
    cannot: &[],
    without_lines: &["first_yield", "second_yield"],
};
