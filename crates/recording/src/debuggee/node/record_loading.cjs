// Replaces the text of the program's files while Node loads them, as loading.cjs of the debugger does.
'use strict';
const fs = require('fs');
const Module = require('module');
const path = require('path');
const { fileURLToPath } = require('url');

/** Installs the hooks. `replace` gets a file of the program, its text, and of which kind that is (`instrument.rs`). */
exports.observe = (replace) => {
  const replaced = (filename, content, kind) => {
    if (!isUsers(filename) || typeof content !== 'string') return undefined;
    return replace(filename, content, kind);
  };
  watchCompiler(replaced);
  watchScripts(replaced);
  if (Module.registerHooks) hookModules(replaced);
  else watchReads(replaced);
};

/** Whether a file is the program's own. */
function isUsers(filename) {
  return typeof filename === 'string' && path.isAbsolute(filename) && !filename.startsWith(__dirname)
    && !/[\\/]node_modules[\\/]/.test(filename);
}

// CommonJS modules.

function watchCompiler(replaced) {
  const own = Module.prototype._compile;
  Object.defineProperty(own, 'name', { configurable: true, value: '_compile' });
  let compile = own;
  const observed = function (content, filename, ...rest) {
    const text = replaced(filename, content, 'commonjs');
    return Reflect.apply(compile, this, [text ?? content, filename, ...rest]);
  };
  const get = function () {
    if (!isUsers(this?.filename)) return compile;
    if (compile === own && caller(get) === 'node:internal/modules/cjs/loader') {
      return prepared(this, own, replaced) ?? observed;
    }
    return observed;
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

/**
 * The compiler bound to the new text, for Node, which is about to call it with the file's text. A bound function does
 * not appear in stacks, and ignores its arguments. Undefined if Node's text or its other arguments are unknown.
 */
function prepared(module, compile, replaced) {
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
    const text = replaced(filename, content, format === 'module' ? 'module' : 'commonjs');
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

// Test runners that compile modules themselves.

/** What Vitest and older versions of Jest put around a module, and of which kind it is. */
const WRAPPERS = [
  [/^\(\{"Object\.<anonymous>":function\([^)]*\)\{/, '\n}});', 'commonjs'],
  [/^(?:'use strict';)?async \([^)]*\)=>\{\{/, '\n}}', 'body'],
];

/** The path of what is compiled with these options. */
function named(options) {
  const name = typeof options === 'string' ? options : options?.filename;
  return typeof name === 'string' && name.startsWith('file:') ? fileOf(name) : name;
}

function watchScripts(replaced) {
  const vm = require('vm');
  const { Script, compileFunction, runInThisContext } = vm;
  const edited = (code, options) => {
    const filename = named(options);
    if (typeof code !== 'string' || !isUsers(filename)) return code;
    for (const [begin, end, kind] of WRAPPERS) {
      const head = begin.exec(code)?.[0];
      if (head === undefined || !code.endsWith(end)) continue;
      const text = replaced(filename, code.slice(head.length, code.length - end.length), kind);
      return text === undefined ? code : head + text + end;
    }
    return code;
  };
  vm.Script = new Proxy(Script, {
    construct(target, [code, options, ...rest], newTarget) {
      return Reflect.construct(target, [edited(code, options), options, ...rest], newTarget);
    },
  });
  // Jest compiles a module as the body of a function.
  vm.compileFunction = new Proxy(compileFunction, {
    apply(target, receiver, [code, names, options, ...rest]) {
      const isModule = Array.isArray(names) && names.includes('exports');
      const text = isModule ? replaced(named(options), code, 'commonjs') : undefined;
      return Reflect.apply(target, receiver, [text ?? code, names, options, ...rest]);
    },
  });
  vm.runInThisContext = new Proxy(runInThisContext, {
    apply(target, receiver, [code, options, ...rest]) {
      return Reflect.apply(target, receiver, [edited(code, options), options, ...rest]);
    },
  });
}

// ES modules.

/** The hook registered last runs first, and sees the text that is compiled. */
function hookModules(replaced) {
  const load = (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!loaded.format?.startsWith('module')) return loaded;
    const source = replaced(fileOf(url), decoded(loaded.source), 'module');
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
function watchReads(replaced) {
  const { readFile: read } = fs.promises;
  const readFile = function (file) {
    const reading = Reflect.apply(read, this, arguments);
    const filename = arguments.length === 1 && file instanceof URL ? fileOf(file) : undefined;
    if (!isUsers(filename) || caller(readFile) !== 'node:internal/modules/esm/load') return reading;
    return reading.then((content) => {
      const source = /\.(json|node|wasm)$/.test(filename) ? undefined : replaced(filename, decoded(content), 'module');
      return source === undefined ? content : Buffer.from(source);
    });
  };
  fs.promises.readFile = readFile;
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
