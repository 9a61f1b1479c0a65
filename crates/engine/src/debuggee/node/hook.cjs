// Runs in every Node process of a program before its own code, through NODE_OPTIONS. It opens the inspector, announces
// its address (in the pipe that STILLFRAME_ANNOUNCE names) and waits until the debugger has set its breakpoints. This
// works even for a child whose parent captures its standard error.
'use strict';

const announce = process.env.STILLFRAME_ANNOUNCE;

if (announce) {
  require('./loading.cjs').observe(transpiled, loading);
  if (process.env.STILLFRAME_TESTS) require('./tests.cjs').observe();

  // V8 considers exceptions caught that Node itself catches last, as in its module loader.
  process.on('uncaughtExceptionMonitor', uncaught);

  if (require('worker_threads').isMainThread) join();

  require('./children.cjs').observe();

  // Report blocking native calls to the debugger.
  if (globalThis[Symbol.for('stillframe.blocking')]) require('./blocking.cjs').begin();

  // Optimized code drops variables that it does not read again, but a user may want to. V8 uses cached code only with the
  // flags that it was made with: each module of Node's that is loaded after this is compiled anew.
  require('v8').setFlagsFromString('--no-analyze-environment-liveness');
}

/** The debugger stops here and reads the arguments. */
function transpiled(filename, sourceMapURL) {
  debugger;
}

/** The debugger stops here before a file runs, while it looks for the first user file. */
function loading(filename) {
  debugger;
}

/** Called for an uncaught error. The debugger stops here, unless it has stopped at the throw. */
function uncaught(error) {
  debugger;
}

function join() {
  const inspector = require('inspector');
  const fs = require('fs');
  try {
    // A process with an inspector option already listens. Only this machine may reach it.
    if (inspector.url() && !isLoopback(inspector.url())) inspector.close();
    if (!inspector.url()) inspector.open(0, '127.0.0.1', false);
    const script = require('path').basename(process.argv[1] ?? 'node').slice(0, 200);
    const line = JSON.stringify({ pid: process.pid, url: inspector.url(), script }) + '\n';
    const pipe = fs.openSync(announce, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    fs.writeSync(pipe, line);
    fs.closeSync(pipe);
  } catch {
    // The debugger is gone: the program runs without one.
    if (inspector.url()) inspector.close();
    return;
  }
  inspector.waitForDebugger();
}

/** Whether an inspector listens on a loopback address. A host name could resolve to another one. */
function isLoopback(url) {
  const host = new URL(url).hostname;
  return /^127\.\d+\.\d+\.\d+$/.test(host) || host === '[::1]';
}
