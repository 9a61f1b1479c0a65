//! Vitest, with TypeScript.

use crate::node::{Runner, expect_equal, expect_rejects, expect_throws, runs};

const VITEST: Runner = Runner {
    name: "vitest",
    packages: &["vitest"],
    file: "cart.test.ts",
    head: "import { expect, test } from 'vitest';\nimport { parse, price, total, load } from './cart.js';",
    command: "node node_modules/vitest/vitest.mjs run",
    none: "node node_modules/vitest/vitest.mjs run -t nothing",
    equal: expect_equal,
    throws: expect_throws,
    rejects: expect_rejects,
};

runs!(VITEST, #[ignore = "cargo xtask test --full"]);
