//! Python, under debugpy.

use super::{Row, Words};

pub(super) const ROW: Row = Row {
    words: Words {
        name: "python",
        extension: "py",
        is_compiled: false,
        own: "self.",
        module: Some("<module>"),
        no: "False",
        none: "None",
        quote: '\'',
        brackets: ("[", "]"),
        number: "int",
        string: "str",
        list: "list",
        locals: "Locals",
        globals: "Globals",
        index: ("", ""),
        and: "and",
        sleep: "__import__('time').sleep(1000)",
        spin: "[None for _ in iter(int, 1)]",
        undefined: "NameError: name '{}' is not defined",
        swap: "swap_variables",
        deposit: ("Account.deposit", "deposit"),
        purse_deposit: "Purse.deposit",
        double: "double",
        raised: "ValueError",
        back_from_swap: "call",
        plain: |shown| shown,
        returned: |function| Some(format!("(return) {function}")),
    },
    spelled: &[],
    cannot: &[],
    without_lines: &[],
};
