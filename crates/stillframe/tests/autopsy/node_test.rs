//! `node --test`, which runs each file in a process of its own.

use crate::node::{Runner, assert_equal, assert_rejects, assert_throws, runs};

const NODE: Runner = Runner {
    name: "node_test",
    packages: &[],
    file: "cart.test.js",
    head: "const assert = require('node:assert');\nconst test = require('node:test');\n\
           const { parse, price, total, load } = require('./cart.js');",
    command: "node --test cart.test.js",
    none: "node --test --test-name-pattern nothing cart.test.js",
    equal: assert_equal,
    throws: assert_throws,
    rejects: assert_rejects,
};

runs!(NODE);
