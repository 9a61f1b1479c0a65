// Loaded by `NODE_OPTIONS` into each process of a program that is recorded.
//
// Each thread that loads code of the program is recorded, up to a limit; what it needs is loaded then.
'use strict';
const { isMainThread, parentPort, threadId, workerData } = require('worker_threads');

// How many threads are recorded.
const MOST = 15;

function record(settings) {
  const fs = require('fs');
  const { openSync, closeSync } = fs;
  const { ask } = require('./record_questions.cjs');
  const { observe, watchLoaders } = require('./record_loading.cjs');
  const { segments } = settings;
  if (isMainThread) require('./record_threads.cjs').watch();
  // The program may give its own options to a worker, which does not know this one.
  if (process.execArgv[0] === settings.stack) process.execArgv.shift();
  // Jest gives tests a copy of `process`, which is made before this thread is recorded: functions are not copied.
  Object.defineProperty(process, 'stillframe.record', { configurable: true, value: function recorder() {} });
  let recorder;
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
    require('./record_stacks.cjs').observe();
    const name = isMainThread ? (number === 0 ? 'main' : `process ${process.pid}`) : `worker ${threadId}`;
    const loaded = (path) => (texts.get(`commonjs:${path}`) ?? texts.get(`module:${path}`))?.text;
    recorder = require('./record_helpers.cjs').start({ ...settings, segments: `${segments}-s${number}`, name, loaded });
    // The program's list of what is loaded is as in a plain run.
    for (const path of Object.keys(require.cache)) if (path.startsWith(__dirname)) delete require.cache[path];
    return true;
  };

  observe((path, source, kind) => {
    if (!begin()) return undefined;
    const key = `${kind}:${path}`;
    const known = texts.get(key);
    if (known?.source === source) return known.text;
    // Early releases of Node 18 compile modules with the program's `vm`, which is watched, too.
    if (known?.text === source) return undefined;
    let text;
    try {
      const script = ask(segments, { path, source, kind });
      text = script ? recorder.fill(script) : undefined;
    } catch {
      // The recording is over.
    }
    texts.set(key, { source, text });
    return text;
  });

  let loaders = 0;
  watchLoaders((register) => {
    if (!begin()) return;
    loaders += 1;
    const loader = require('url').pathToFileURL(`${__dirname}/record_loader.mjs`);
    register(`${loader}?${loaders}`, { data: { segments } });
  });
  /** The numbers of a module that a loader's thread has changed. */
  process['stillframe.record'].numbers = (script) => {
    const { wanted, ...parts } = JSON.parse(fs.readFileSync(`${segments}-script${script}`, 'utf8'));
    const numberOf = recorder.define(parts);
    return wanted.map(([kind, index]) => numberOf[kind](Number(index)));
  };
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
