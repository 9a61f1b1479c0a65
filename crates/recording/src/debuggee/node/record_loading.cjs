// Replaces the text of the program's files while Node loads them. What it shares with the debugger is in loading.cjs.
'use strict';
const Module = require('module');
const path = require('path');
const { caller, fileOf, observeModules, prepared } = require('./loading.cjs');

/** Installs the hooks. `replace` gets a file of the program, its text, and of which kind that is (`instrument.rs`). */
exports.observe = (replace) => {
  const replaced = (filename, content, kind) => {
    if (!isUsers(filename) || typeof content !== 'string') return undefined;
    return replace(filename, content, kind);
  };
  watchCompiler(replaced);
  watchScripts(replaced);
  // Files of other kinds are read in the same way.
  const isModule = (filename) => isUsers(filename) && !/\.(json|node|wasm)$/.test(filename);
  observeModules(isModule, (filename, content) => replaced(filename, content, 'module'));
};

/** Calls `registered` each time that the program has registered a loader that runs in another thread. */
exports.watchLoaders = (registered) => {
  const { register, registerHooks } = Module;
  // What loaders make of a module then passes through the hooks of this thread.
  if (!register || registerHooks) return;
  Module.register = function () {
    const result = Reflect.apply(register, this, arguments);
    registered(register);
    return result;
  };
  Module.syncBuiltinESMExports();
  const options = [...process.execArgv, process.env.NODE_OPTIONS].join(' ');
  if (/(^|\s)--(experimental-)?loader\b/.test(options)) registered(register);
};

// What is recorded alone: absolute paths, and names of packages, files and functions.
const NAMES = (process.env.STILLFRAME_RECORD_ONLY || '').split('\n').filter(Boolean);

/** Whether a file is the program's own, or in a package that was named. */
function isUsers(filename) {
  if (typeof filename !== 'string' || !path.isAbsolute(filename) || filename.startsWith(__dirname)) return false;
  const parts = filename.split(/[\\/]node_modules[\\/]/);
  const inside = parts[parts.length - 1];
  // Packages that are installed in a folder do not belong to it.
  const isIn = (name) => [filename, inside].some((each) => `${each}/`.startsWith(`${name}/`)
    && each.length - name.length <= inside.length + 1);
  return parts.length === 1 || NAMES.some(isIn);
}

exports.isUsers = isUsers;

// CommonJS modules.

function watchCompiler(replaced) {
  const own = Module.prototype._compile;
  Object.defineProperty(own, 'name', { configurable: true, value: '_compile' });
  let compile = own;
  const ofFormat = (filename, content, format) =>
    replaced(filename, content, format === 'module' ? 'module' : 'commonjs');
  const observed = function (content, filename, ...rest) {
    const text = replaced(filename, content, 'commonjs');
    return Reflect.apply(compile, this, [text ?? content, filename, ...rest]);
  };
  const get = function () {
    if (!isUsers(this?.filename)) return compile;
    if (compile === own && caller(get) === 'node:internal/modules/cjs/loader') {
      return prepared(this, own, ofFormat) ?? observed;
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
