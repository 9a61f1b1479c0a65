#!/usr/bin/env node
"use strict";
// Starts the program that npm installed for this platform, and is out of its way: the program has this process's
// streams, gets its signals, and ends it as it ended.

const { spawn } = require("node:child_process");

const name = `@stillframe/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/stillframe`);
} catch {
  console.error(
    `stillframe: the package ${name} is not installed. Either there is none for this platform, or npm left out ` +
      "optional dependencies: install without --omit=optional.",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`stillframe: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
