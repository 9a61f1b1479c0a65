//! JavaScript, on Node.js.

use super::{Row, Words};

pub(super) const ROW: Row = Row {
    words: Words {
        name: "javascript",
        extension: "js",
        is_compiled: false,
        own: "this.",
        module: Some("<module>"),
        no: "false",
        none: "null",
        quote: '\'',
        brackets: ("[ ", " ]"),
        number: "number",
        string: "string",
        list: "Array",
        locals: "Local",
        globals: "Global",
        index: ("", ""),
        and: "&&",
        sleep: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e6)",
        spin: "(() => { for (;;); })()",
        undefined: "ReferenceError: {} is not defined",
        swap: "swapVariables",
        deposit: ("Account.deposit", "deposit"),
        purse_deposit: "Purse.deposit",
        double: "double",
        raised: "RangeError",
        back_from_swap: "print",
        plain: |shown| shown,
        returned: |_| Some("(return)".to_owned()),
    },
    spelled: &[],
    cannot: &[],
    without_lines: &[],
};
