// Runs in every Node process of a program before its own code, by way of NODE_OPTIONS. It opens the
// inspector, says where (in the pipe that STILLFRAME_ANNOUNCE names) and waits until the debugger has set its
// breakpoints. A child whose standard error is swallowed by its parent is reached as well as any other.
'use strict';

const announce = process.env.STILLFRAME_ANNOUNCE;

if (announce) {
  const Module = require('module');
  const wanted = new Set();

  // The debugger keeps the set up to date. Programs do not come across a symbol that is not enumerable.
  Object.defineProperty(globalThis, Symbol.for('stillframe.wanted'), { value: wanted });

  // V8 has no stop between the compilation of a CommonJS module and its first statement. A file that was
  // transpiled a moment ago has its positions elsewhere than its source, and only its text says where.
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    if (wanted.has(filename) && typeof content === 'string') {
      const at = content.lastIndexOf('//# sourceMappingURL=');
      if (at >= 0) transpiled(filename, content.slice(at + 21).trim());
    }
    return Reflect.apply(compile, this, [content, filename, ...rest]);
  };

  if (require('worker_threads').isMainThread) join();
}

/** The debugger stops here and looks at the arguments. */
function transpiled(filename, sourceMapURL) {
  debugger;
}

function join() {
  const inspector = require('inspector');
  const fs = require('fs');
  try {
    // A process that was told to listen does so already.
    if (!inspector.url()) inspector.open(0, '127.0.0.1', false);
    const line = JSON.stringify({ pid: process.pid, url: inspector.url() }) + '\n';
    const pipe = fs.openSync(announce, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    fs.writeSync(pipe, line);
    fs.closeSync(pipe);
  } catch {
    // Nobody listens any more: the program runs without a debugger.
    if (inspector.url()) inspector.close();
    return;
  }
  inspector.waitForDebugger();
}
