// Handles files of the program while Node loads them: reports the source map of a transpiled one to the debugger, and
// inserts the debugger's code into others. What controls it is stored under non-enumerable symbols that programs do not
// encounter:
//
// `stillframe.wanted`: the set of the files that should stop between transpilation and compilation.
// `stillframe.insertions`: a map from the real path of a file to `{ source, edits: [[offset, text], …], esm }`. If
//   the file is still `source` when it is compiled, the texts are inserted, at offsets in UTF-16 units without a byte
//   order mark; `stillframe.inserted`, if it is a function, is called with the path, once or more. `esm: false` marks
//   a file that is certainly not an ES module.
// `stillframe.files`: which files are reported before they run, see `observe`.
//
// Source that another loader has changed is left alone: that loader may cache its output for the next run.
'use strict';
const fs = require('fs');
const Module = require('module');
const path = require('path');
const { fileURLToPath } = require('url');
const { compileFunction } = require('vm');
const { isMainThread, parentPort } = require('worker_threads');

class Insertions extends Map {
  set(filename, insertion) {
    if (insertion.esm !== false) watchModules();
    return super.set(filename, insertion);
  }
}

const wanted = new Set();
const insertions = new Insertions();

/**
 * Installs the hooks. `transpiled` is called with a wanted file and its source map URL; `loading` with each file before
 * it runs, while `stillframe.files` is 'all', or 'users' for files outside of libraries.
 */
exports.observe = (transpiled, loading) => {
  publish('stillframe.wanted', wanted);
  publish('stillframe.files', files());
  // The debugger of a worker may fill its map first.
  const before = globalThis[Symbol.for('stillframe.insertions')];
  publish('stillframe.insertions', insertions);
  for (const [filename, insertion] of before ?? []) insertions.set(filename, insertion);
  const tell = (filename, content) => {
    if (!wanted.has(filename) || typeof content !== 'string') return;
    const at = content.lastIndexOf('//# sourceMappingURL=');
    if (at >= 0) transpiled(filename, content.slice(at + 21).split('\n', 1)[0].trim());
  };
  watchCompiler(tell, loading);
  watchScripts(tell, loading);
};

function publish(name, value) {
  const property = { configurable: true, enumerable: false, writable: true, value };
  Object.defineProperty(globalThis, Symbol.for(name), property);
}

/** The text with insertions; undefined if there are none. */
function edited(filename, content) {
  const insertion = insertions.get(filename);
  if (!insertion || typeof content !== 'string') return undefined;
  const text = withoutMark(content);
  if (text !== withoutMark(insertion.source)) return undefined;
  const parts = [content.slice(0, content.length - text.length)];
  let from = 0;
  for (const [offset, code] of insertion.edits.slice().sort(([one], [other]) => one - other)) {
    parts.push(text.slice(from, offset), code);
    from = offset;
  }
  parts.push(text.slice(from));
  globalThis[Symbol.for('stillframe.inserted')]?.(filename);
  return parts.join('');
}

const withoutMark = (text) => (text.startsWith('\ufeff') ? text.slice(1) : text);

// CommonJS modules.

/**
 * V8 cannot stop between the compilation of a CommonJS module and its first statement. Positions in a just transpiled
 * file differ from its source, and only its text has the mapping. Stacks of other modules must not change, so only
 * what a loader compiles goes through this wrapper: what Node compiles is read in advance.
 */
function watchCompiler(tell, loading) {
  const own = Module.prototype._compile;
  // In stacks V8 names it after the property whose value it is, and it is soon not one.
  Object.defineProperty(own, 'name', { configurable: true, value: '_compile' });
  let compile = own;
  const report = (filename, content) => {
    if (isReported(filename)) loading(filename);
    tell(filename, content);
    return compile === own ? edited(filename, content) : undefined;
  };
  const observed = function (content, filename, ...rest) {
    const text = report(filename, content);
    return Reflect.apply(compile, this, [text ?? content, filename, ...rest]);
  };
  const get = function () {
    const filename = this?.filename;
    const isInserted = compile === own && insertions.has(filename);
    if (!isInserted && !wanted.has(filename) && !isReported(filename)) return compile;
    const isNodes = compile === own && caller(get) === 'node:internal/modules/cjs/loader';
    return (isNodes && prepared(this, own, report)) || observed;
  };
  const set = function (value) {
    // A loader wraps the compiler, and we wrap both.
    if (this === Module.prototype) {
      compile = value;
      return;
    }
    Object.defineProperty(this, '_compile', { configurable: true, enumerable: true, writable: true, value });
  };
  Object.defineProperty(Module.prototype, '_compile', { configurable: true, enumerable: true, get, set });
}

const files = () => globalThis[Symbol.for('stillframe.files')];

/** Whether the debugger wants to know that a file is about to run. */
function isReported(filename) {
  if (!files() || typeof filename !== 'string' || filename.startsWith(__dirname)) return false;
  return files() === 'all' || !/[\\/]node_modules[\\/]/.test(filename);
}

/** A runner with its own contexts, such as Jest, compiles its modules with `vm`. */
function watchScripts(tell, loading) {
  const vm = require('vm');
  const nameOf = (options) => (typeof options === 'string' ? options : options?.filename);
  watch(vm, 'Script', {
    construct(target, args, newTarget) {
      tell(nameOf(args[1]), args[0]);
      return Reflect.construct(target, args, newTarget);
    },
  });
  watch(vm, 'compileFunction', {
    apply(target, receiver, args) {
      if (isReported(nameOf(args[2]))) loading(nameOf(args[2]));
      tell(nameOf(args[2]), args[0]);
      return Reflect.apply(target, receiver, args);
    },
  });
}

/** Wraps a function of a module in a proxy, while files are wanted and no other code has replaced it. */
function watch(module, name, handler) {
  const own = module[name];
  const observed = new Proxy(own, handler);
  let value = own;
  const get = () => ((wanted.size > 0 || files()) && value === own ? observed : value);
  const set = (other) => {
    value = other;
  };
  Object.defineProperty(module, name, { configurable: true, enumerable: true, get, set });
}

/**
 * The compiler bound to the edited text, for Node, which is about to call it with the file's text. A bound function
 * does not appear in stacks, and ignores its arguments. Undefined if Node's text or its other arguments are unknown.
 */
function prepared(module, compile, edited) {
  const { filename } = module;
  const symbols = Object.getOwnPropertySymbols(module);
  const known = (name) => symbols.find(({ description }) => description === name);
  let format = module[known('kFormat')];
  if (!known('kFormat')) {
    // Older versions do not store it, and determine the format of a `.js` file themselves.
    if (filename.endsWith('.cjs')) format = 'commonjs';
    else if (!filename.endsWith('.js')) return undefined;
  }
  try {
    const content = module[known('kModuleSource')] ?? fs.readFileSync(filename, 'utf8');
    const text = edited(filename, content, format);
    return text === undefined ? compile : compile.bind(module, text, filename, format);
  } catch {
    return undefined;
  }
}

/** The file of the code that called a function on the stack. */
function caller(callee) {
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_, [site]) => site?.getFileName();
    const at = {};
    Error.captureStackTrace(at, callee);
    return at.stack;
  } catch {
    return undefined;
  } finally {
    try {
      Error.stackTraceLimit = stackTraceLimit;
      if (before) Object.defineProperty(Error, 'prepareStackTrace', before);
      else delete Error.prepareStackTrace;
    } catch {
      // It is read-only, so it was not changed.
    }
  }
}

// ES modules.

let watchesModules = false;

/**
 * The thread in which Node runs the program's own loaders has no debugger. It reads files for another thread and for
 * those loaders, and Node 22 does not support synchronous hooks in it.
 */
const isForLoaders = !isMainThread && !parentPort;

function watchModules() {
  if (watchesModules || isForLoaders) return;
  watchesModules = true;
  observeModules((filename) => insertions.has(filename), edited);
}

/** Gives those modules that `isWanted` names the text that `edited` returns for their names and texts, if any. */
function observeModules(isWanted, edited) {
  if (Module.registerHooks) hookModules(isWanted, edited);
  else watchReads(isWanted, edited);
}

/** The hook registered last runs first, and sees the text that is compiled. */
function hookModules(isWanted, edited) {
  const load = (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    const filename = loaded.format?.startsWith('module') ? fileOf(url) : undefined;
    if (!isWanted(filename)) return loaded;
    const source = edited(filename, decoded(loaded.source));
    return source === undefined ? loaded : { ...loaded, source };
  };
  const { registerHooks } = Module;
  let ours = registerHooks({ load });
  Module.registerHooks = function (...hooks) {
    const theirs = Reflect.apply(registerHooks, this, hooks);
    ours.deregister();
    ours = registerHooks({ load });
    return theirs;
  };
}

/**
 * Node 20 and early releases of Node 22 only have hooks in a separate thread, which would slow down every start. They
 * read modules with the program's `fs.promises.readFile`.
 */
function watchReads(isWanted, edited) {
  const { readFile: read } = fs.promises;
  const readFile = function (path, options) {
    const reading = Reflect.apply(read, this, arguments);
    const filename = arguments.length === 1 && path instanceof URL ? fileOf(path) : undefined;
    if (!isWanted(filename) || caller(readFile) !== 'node:internal/modules/esm/load') return reading;
    return reading.then((content) => {
      const text = decoded(content);
      const source = isModule(filename, text) ? edited(filename, text) : undefined;
      return source === undefined ? content : Buffer.from(source);
    });
  };
  fs.promises.readFile = readFile;
}

/** Whether Node takes a file for an ES module. It reads one whose package does not say that, and tries it. */
function isModule(filename, text) {
  if (/\.m[jt]s$/.test(filename)) return true;
  const type = typeOf(path.dirname(filename));
  if (type) return type === 'module';
  try {
    compileFunction(text, ['exports', 'require', 'module', '__filename', '__dirname']);
    return false;
  } catch {
    return true;
  }
}

const types = new Map();

/** The `type` of the package of a folder; undefined if it has none. */
function typeOf(folder) {
  if (!types.has(folder)) types.set(folder, readType(folder));
  return types.get(folder);
}

function readType(folder) {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).type;
  } catch {
    const parent = path.dirname(folder);
    return parent === folder || path.basename(folder) === 'node_modules' ? undefined : typeOf(parent);
  }
}

function fileOf(url) {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** Decodes a file as Node does, without a byte order mark. */
function decoded(source) {
  return source == null || typeof source === 'string' ? source : new TextDecoder().decode(source);
}

// What the recorder of whole runs needs, too.
Object.assign(exports, { caller, decoded, fileOf, observeModules, prepared });
