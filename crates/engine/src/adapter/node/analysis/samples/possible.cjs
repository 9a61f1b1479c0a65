// Prints, for each file named, the lines and columns (1-based) where V8 can stop, as one JSON object. The files are not
// run. Needs --experimental-vm-modules. V8 tells no more than a thousand places of a file.
"use strict";
const { Session } = require("node:inspector");
const fs = require("node:fs");
const vm = require("node:vm");

const session = new Session();
session.connect();
const parsed = [];
session.on("Debugger.scriptParsed", ({ params }) => parsed.push(params));
session.post("Debugger.enable");

async function compile(path, text) {
  if (!path.endsWith(".mjs")) {
    return vm.compileFunction(text, ["exports", "require", "module", "__filename", "__dirname"], { filename: path });
  }
  const module = new vm.SourceTextModule(text, { identifier: path });
  // V8 tells of a module when it is linked.
  await module.link(async (specifier) => {
    const names = Object.keys(await import(specifier));
    return new vm.SyntheticModule(names, () => {});
  });
  return module;
}

async function breakable(path) {
  const text = fs.readFileSync(path, "utf8").replace(/^#!/, "//");
  const kept = await compile(path, text);
  const { scriptId } = parsed.findLast(({ url }) => url.endsWith(path));
  const start = { scriptId, lineNumber: 0, columnNumber: 0 };
  const places = [];
  session.post("Debugger.getPossibleBreakpoints", { start }, (error, { locations }) => {
    for (const { lineNumber, columnNumber } of locations) places.push([lineNumber + 1, columnNumber + 1]);
  });
  return kept && places;
}

async function main() {
  const found = {};
  for (const path of process.argv.slice(2)) {
    found[path] = await breakable(path);
  }
  console.log(JSON.stringify(found));
}

main();
