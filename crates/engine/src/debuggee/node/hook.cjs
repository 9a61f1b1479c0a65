// Runs in every Node process of a program before its own code, by way of NODE_OPTIONS. It opens the
// inspector, says where (in the pipe that STILLFRAME_ANNOUNCE names) and waits until the debugger has set its
// breakpoints. A child whose standard error is swallowed by its parent is reached as well as any other.
'use strict';

const announce = process.env.STILLFRAME_ANNOUNCE;

if (announce) {
  require('./loading.cjs').observe(transpiled, loading);
  if (process.env.STILLFRAME_TESTS) require('./tests.cjs').observe();

  // Optimized code forgets variables that it does not read again; a person may want to.
  require('v8').setFlagsFromString('--no-analyze-environment-liveness');

  // Where Node itself catches what nothing else does, as in its loader of modules, V8 takes it for caught.
  process.on('uncaughtExceptionMonitor', uncaught);

  if (require('worker_threads').isMainThread) join();

  require('./children.cjs').observe();

  // The debugger wants to know of calls that wait in native code.
  if (globalThis[Symbol.for('stillframe.blocking')]) require('./blocking.cjs').begin();
}

/** The debugger stops here and looks at the arguments. */
function transpiled(filename, sourceMapURL) {
  debugger;
}

/** The debugger stops here before a file, while it looks for the first of the user's. */
function loading(filename) {
  debugger;
}

/** Nothing catches an error. The debugger stops here, unless it has stopped where it was thrown. */
function uncaught(error) {
  debugger;
}

function join() {
  const inspector = require('inspector');
  const fs = require('fs');
  try {
    // A process with an option to listen already does so. Only this machine may reach it.
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

/** Whether an inspector listens at an address of the loopback. A name may stand for another one. */
function isLoopback(url) {
  const host = new URL(url).hostname;
  return /^127\.\d+\.\d+\.\d+$/.test(host) || host === '[::1]';
}
