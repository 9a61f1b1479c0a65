// Loaded by `NODE_OPTIONS` into each process of a program that is recorded.
//
// The first thread that loads code of the program is recorded; what it needs is loaded then.
'use strict';
const { workerData, threadId } = require('worker_threads');

/** Waits for a file that another process renames to this path. */
function waitFor(fs, path) {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const until = Date.now() + 10000;
  while (Date.now() < until) {
    try {
      const text = fs.readFileSync(path, 'utf8');
      fs.unlinkSync(path);
      return text;
    } catch {
      Atomics.wait(cell, 0, 0, 0.2);
    }
  }
  return '{}';
}

function record(settings) {
  const fs = require('fs');
  const { openSync, closeSync, writeSync, writeFileSync } = fs;
  const { segments } = settings;
  let recorder;
  let questions = 0;
  const texts = new Map();

  /** Whether this thread is the one that is recorded. */
  const begin = () => {
    if (recorder !== undefined) return recorder !== null;
    recorder = null;
    try {
      closeSync(openSync(`${segments}-claim`, 'wx', 0o600));
    } catch {
      // Its length says how many others there are.
      try {
        fs.appendFileSync(`${segments}-others`, '.');
      } catch {
        // The recording is over.
      }
      return false;
    }
    process.setSourceMapsEnabled(true);
    recorder = require('./record_helpers.cjs').start(settings);
    return true;
  };

  const ask = (path, source, isModule) => {
    questions += 1;
    const name = `${process.pid}.${threadId}.${questions}`;
    const question = JSON.stringify({ path, source, is_module: isModule });
    writeFileSync(`${segments}-question${name}`, question, { mode: 0o600 });
    const pipe = openSync(`${segments}-ask`, 'a');
    writeSync(pipe, `${name}\n`);
    closeSync(pipe);
    return JSON.parse(waitFor(fs, `${segments}-answer${name}`)).script;
  };

  require('./record_loading.cjs').observe((path, source, isModule) => {
    if (!begin()) return undefined;
    const key = `${isModule}:${path}`;
    const known = texts.get(key);
    if (known?.source === source) return known.text;
    let text;
    try {
      const script = ask(path, source, isModule);
      text = script ? recorder.fill(script) : undefined;
    } catch {
      // The recording is over.
    }
    texts.set(key, { source, text });
    return text;
  });
}

if (process.env.STILLFRAME_RECORD && !workerData?.stillframe) {
  const settings = process.env.STILLFRAME_RECORD;
  try {
    record(JSON.parse(settings));
  } catch (error) {
    process.emitWarning(`stillframe does not record this process: ${error}`);
  }
}
