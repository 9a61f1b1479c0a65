// Loaded by `NODE_OPTIONS` into each process of a program that is recorded.
//
// Each thread that loads code of the program is recorded, up to a limit; what it needs is loaded then.
'use strict';
const { isMainThread, parentPort, threadId, workerData } = require('worker_threads');

// How many threads are recorded.
const MOST = 15;

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
  // Jest gives tests a copy of `process`, which is made before this thread is recorded: functions are not copied.
  Object.defineProperty(process, 'stillframe.record', { configurable: true, value: function recorder() {} });
  let recorder;
  let questions = 0;
  const texts = new Map();

  /** A number that no other thread has; undefined when there are too many. */
  const claimed = () => {
    for (let number = 0; number < MOST; number += 1) {
      try {
        closeSync(openSync(`${segments}-stream-${number}`, 'wx', 0o600));
        return number;
      } catch (error) {
        if (error.code !== 'EEXIST') return undefined;
      }
    }
    return undefined;
  };

  /** Whether this thread is recorded. */
  const begin = () => {
    if (recorder !== undefined) return recorder !== null;
    recorder = null;
    const number = claimed();
    if (number === undefined) {
      // Its length says how many others there are.
      try {
        fs.appendFileSync(`${segments}-others`, '.');
      } catch {
        // The recording is over.
      }
      return false;
    }
    process.setSourceMapsEnabled(true);
    const name = isMainThread ? (number === 0 ? 'main' : `process ${process.pid}`) : `worker ${threadId}`;
    recorder = require('./record_helpers.cjs').start({ ...settings, segments: `${segments}-s${number}`, name });
    return true;
  };

  const ask = (path, source, kind) => {
    questions += 1;
    const name = `${process.pid}.${threadId}.${questions}`;
    const question = JSON.stringify({ path, source, kind });
    writeFileSync(`${segments}-question${name}`, question, { mode: 0o600 });
    const pipe = openSync(`${segments}-ask`, 'a');
    writeSync(pipe, `${name}\n`);
    closeSync(pipe);
    return JSON.parse(waitFor(fs, `${segments}-answer${name}`)).script;
  };

  require('./record_loading.cjs').observe((path, source, kind) => {
    if (!begin()) return undefined;
    const key = `${kind}:${path}`;
    const known = texts.get(key);
    if (known?.source === source) return known.text;
    let text;
    try {
      const script = ask(path, source, kind);
      text = script ? recorder.fill(script) : undefined;
    } catch {
      // The recording is over.
    }
    texts.set(key, { source, text });
    return text;
  });
}

// The thread of Node's own that runs the hooks of loaders runs none of the program's code.
const isForLoaders = !isMainThread && !parentPort;

if (process.env.STILLFRAME_RECORD && !workerData?.stillframe && !isForLoaders) {
  const settings = process.env.STILLFRAME_RECORD;
  try {
    record(JSON.parse(settings));
  } catch (error) {
    process.emitWarning(`stillframe does not record this process: ${error}`);
  }
}
