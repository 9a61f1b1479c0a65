// Asks stillframe for the text of a file of the program with calls of the recorder in it (`service.rs`).
'use strict';
const { closeSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } = require('fs');
const { threadId } = require('worker_threads');

/** Waits for a file that another process renames to this path. */
function waitFor(path) {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const until = Date.now() + 10000;
  while (Date.now() < until) {
    try {
      const text = readFileSync(path, 'utf8');
      unlinkSync(path);
      return text;
    } catch {
      Atomics.wait(cell, 0, 0, 0.2);
    }
  }
  return '{}';
}

/** The text of an answer with something in place of each of its holes, which have room for ten characters. */
exports.filled = (text, holes, written) => {
  let filled = '';
  let from = 0;
  for (const [at, kind, index] of holes) {
    filled += text.slice(from, at) + written(kind, index);
    from = at + 10;
  }
  return filled + text.slice(from);
};

let questions = 0;

/** The answer to `{ path, source, kind }`; undefined for a file that cannot be read as JavaScript. */
exports.ask = (segments, question) => {
  questions += 1;
  const name = `${process.pid}.${threadId}.${questions}`;
  writeFileSync(`${segments}-question${name}`, JSON.stringify(question), { mode: 0o600 });
  const pipe = openSync(`${segments}-ask`, 'a');
  writeSync(pipe, `${name}\n`);
  closeSync(pipe);
  return JSON.parse(waitFor(`${segments}-answer${name}`)).script ?? undefined;
};
