// While samples are taken, reports calls that may block in native code, where the thread cannot be queried: the
// function and its caller before the call, and its end after it. Reports go to the pipe that `stillframe.blocking` of
// the global object names, one line of JSON each. Files are reported only if they are pipes, terminals and the like.
'use strict';
const fs = require('fs');
const { byteLength } = Buffer;
const { stringify } = JSON;
const { apply } = Reflect;
const { closeSync, constants, fstatSync, openSync, statSync, writeSync } = fs;
const { now } = Date;

const PIPE = Symbol.for('stillframe.blocking');
// Longer lines may be split.
const LONGEST = 4000;
// How many reads from a descriptor count as reads from the same file.
const SAME = 64;
// A read at the same location is reported again only after this time, in milliseconds.
const RECENT = 20;
const FRAMES = 30;

let pipe = null;
let path = null;
let isTelling = false;
let hasBegun = false;

const write = (line) => {
  const wanted = globalThis[PIPE];
  if (wanted !== path) {
    if (pipe !== null) closeSync(pipe);
    pipe = null;
    path = wanted;
    if (typeof wanted === 'string') pipe = openSync(wanted, constants.O_WRONLY | constants.O_NONBLOCK);
  }
  if (pipe !== null) writeSync(pipe, line);
};

const stack = (above) => {
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = FRAMES;
    Error.prepareStackTrace = (_, sites) =>
      sites.map((site) => [
        site.getFunctionName() ?? '',
        site.getFileName() ?? '',
        site.getLineNumber() ?? 0,
        site.getColumnNumber() ?? 0,
        site.getEnclosingLineNumber?.() ?? 0,
        site.getEnclosingColumnNumber?.() ?? 0,
      ]);
    const at = {};
    Error.captureStackTrace(at, above);
    return at.stack;
  } finally {
    try {
      Error.stackTraceLimit = stackTraceLimit;
      if (before) Object.defineProperty(Error, 'prepareStackTrace', before);
      else delete Error.prepareStackTrace;
    } catch {
      // It is read-only, so it was not changed.
    }
  }
};

/** Reports a call before it. `above` is the function whose callers are reported. */
const tell = (above, kind, what, isTimed) => {
  if (typeof globalThis[PIPE] !== 'string') return false;
  isTelling = true;
  try {
    const told = { kind, what, is_timed: isTimed, stack: stack(above) };
    let line = stringify(told);
    while (byteLength(line) > LONGEST && told.stack.length > 0) {
      told.stack.length >>= 1;
      line = stringify(told);
    }
    write(`${line}\n`);
    return true;
  } catch {
    // The pipe has no reader, or a slow one.
    return false;
  } finally {
    isTelling = false;
  }
};

const over = () => {
  try {
    write('null\n');
  } catch {
    // As above.
  }
};

// Other programs.

const shortened = (text) => (text.length > 200 ? `${text.slice(0, 200)}...` : text);

const commandOf = ({ file, args }) => {
  const words = Array.isArray(args) && args.length > 0 ? args : [file];
  // Node hands a command to a shell.
  return shortened(words.length === 3 && words[1] === '-c' ? words[2] : words.join(' '));
};

const watchPrograms = (binding) => {
  const { spawn } = binding;
  binding.spawn = function (options) {
    const isTold = tell(binding.spawn, 'child', `the command \`${commandOf(options)}\``, options.timeout > 0);
    try {
      return apply(spawn, this, arguments);
    } finally {
      if (isTold) over();
    }
  };
};

// Files.

// Known files, by descriptor or name: what to report, and for how many reads.
const known = new Map();
const MOST_KNOWN = 1000;
let recent = 0;
let recentFile = -1;

/** Whether it is the program's standard input, under any name. */
const isInput = ({ dev, ino }) => {
  const input = fstatSync(0);
  return dev === input.dev && ino === input.ino;
};

/** Describes a file if reading it may block; undefined for a regular file. */
const described = (stats, name) => {
  if (!stats || stats.isFile() || stats.isDirectory() || stats.isBlockDevice()) return undefined;
  if (name === 0 || isInput(stats)) return ['input', 'standard input'];
  const which = typeof name === 'string' ? `\`${name}\`` : `file ${name}`;
  if (stats.isFIFO()) return ['file', typeof name === 'string' ? `the pipe ${which}` : `data from a pipe (${which})`];
  if (stats.isSocket()) return ['socket', 'data on a connection'];
  return ['file', `data from the device ${which}`];
};

const look = (file) => {
  const told = typeof file === 'number'
    ? described(fstatSync(file), file)
    : described(statSync(file, { throwIfNoEntry: false }), String(file));
  const found = { told, left: SAME };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(file, found);
  return found;
};

const mayWait = (file) => {
  if (isTelling) return undefined;
  const before = known.get(file);
  if (before !== undefined && before.left > 0) {
    before.left -= 1;
    return before.told;
  }
  if (typeof globalThis[PIPE] !== 'string') return undefined;
  isTelling = true;
  try {
    return look(file).told;
  } catch {
    return undefined;
  } finally {
    isTelling = false;
  }
};

/** Wraps a function of Node's that reads or opens its first argument, and has a callback at `callback`. */
const watchFile = (binding, name, callback) => {
  const own = binding[name];
  if (typeof own !== 'function') return;
  const watched = function (file) {
    // With a callback it does not block.
    const told = arguments[callback] === undefined ? mayWait(file) : undefined;
    if (told === undefined) return apply(own, this, arguments);
    if (file !== recentFile || now() - recent > RECENT) tell(watched, told[0], told[1], false);
    try {
      return apply(own, this, arguments);
    } finally {
      recentFile = file;
      recent = now();
    }
  };
  binding[name] = watched;
};

// Shared memory.

const watchAtomics = () => {
  const { wait } = Atomics;
  const watched = function (array, index, value, timeout) {
    const isTimed = typeof timeout === 'number' && timeout < Infinity;
    const time = isTimed ? `, for at most ${timeout} ms` : '';
    const isTold = tell(watched, 'lock', `another thread to wake it (\`Atomics.wait\`)${time}`, isTimed);
    try {
      return apply(wait, this, arguments);
    } finally {
      if (isTold) over();
    }
  };
  Object.defineProperty(watched, 'name', { configurable: true, value: 'wait' });
  Object.defineProperty(Atomics, 'wait', { configurable: true, enumerable: false, writable: true, value: watched });
};

/** Starts reporting, while the pipe exists. */
exports.begin = () => {
  if (hasBegun) return;
  hasBegun = true;
  watchAtomics();
  try {
    // Wrap the internal functions: the program may have stored those of the modules.
    const { binding } = process;
    watchPrograms(apply(binding, process, ['spawn_sync']));
    const files = apply(binding, process, ['fs']);
    watchFile(files, 'read', 5);
    watchFile(files, 'readFileUtf8', 2);
    watchFile(files, 'open', 3);
  } catch {
    // A restricted program may lack these, and does not report them.
  }
};
