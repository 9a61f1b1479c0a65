// Reports test results of a Node.js program: lines of JSON in the file that STILLFRAME_TESTS names, in the format that
// `test_reports.rs` reads. Mocha and Jest are observed in the process that runs the tests, where thrown values still
// have the debugger's mark; their reporters stay unchanged. Vitest gets our reporter in addition to its own.
'use strict';
const fs = require('fs');
const Module = require('module');
const path = require('path');
const url = require('url');

const file = process.env.STILLFRAME_TESTS;
const MARK = Symbol.for('stillframe.mark');
/** The maximum length of a reported text, in characters. */
const LONGEST = 20_000;

/** Installs the observers before the program's own code runs. */
exports.observe = () => {
  addReporter(process.argv);
  whenLoaded((exports, filename) => {
    if (/[\\/]mocha[\\/]lib[\\/]runner\.c?js$/.test(filename)) return observeMocha(exports.Runner ?? exports) && false;
    if (/[\\/]mocha[\\/]lib[\\/]mocha\.c?js$/.test(filename)) return listenToMochasFiles(exports) ?? true;
    if (/[\\/]jest-circus[\\/].*(runner|jestAdapter)\.js$/.test(filename)) return observeJest(exports);
    if (/[\\/]jest-jasmine2[\\/]build[\\/]index\.js$/.test(filename)) return observeJest(exports);
    return false;
  });
};

// The reports.

function tell(report) {
  try {
    fs.appendFileSync(file, JSON.stringify(report) + '\n');
  } catch {
    // The reader is gone.
  }
}

/** The name of a test with its file and suites. */
const idOf = (filename, names) => [path.relative(process.cwd(), filename ?? ''), ...names].filter(Boolean).join(' > ');

/** The report of a thrown value, which can be anything. */
function described(error) {
  if (error === null || typeof error !== 'object') {
    return error === undefined ? {} : { message: cut(String(error)) };
  }
  try {
    const text = (value) => (typeof value === 'string' && value !== '' ? cut(plain(value)) : undefined);
    return {
      message: text(error.message),
      exception: nameOf(error),
      details: text(error.stack),
      mark: error[MARK],
      ...placeOf(error),
    };
  } catch {
    return {};
  }
}

/**
 * The innermost place in the user's code on the stack of an error, for failures at which nothing is thrown: jest
 * collects mismatches of snapshots, and a test that takes too long has only the place where it is written.
 */
function placeOf({ stack, stacks }) {
  // Vitest has read the stack already, and translated the places.
  for (const { file, line } of Array.isArray(stacks) ? stacks : []) {
    if (isUsers(file)) return { file, line };
  }
  for (const text of typeof stack === 'string' ? stack.split('\n') : []) {
    const [, named, line] = /^\s+at (?:.* \()?(.+?):(\d+):\d+\)?$/.exec(text) ?? [];
    const name = named?.startsWith('file:') ? url.fileURLToPath(named) : named;
    if (isUsers(name)) return { file: name, line: Number(line) };
  }
  return {};
}

const isUsers = (name) =>
  typeof name === 'string' && path.isAbsolute(name) && !/[\\/]node_modules[\\/]/.test(name) && path.dirname(name) !== __dirname;

/** The class is more specific than the inherited name; values from another process only have the name. */
function nameOf({ name, constructor }) {
  const own = constructor?.name;
  return typeof own === 'string' && own !== '' && own !== 'Error' && own !== 'Object' ? own : String(name ?? 'Error');
}

const cut = (text) => (text.length > LONGEST ? text.slice(0, LONGEST) + '…' : text);
/** Without the colours of a terminal. */
const plain = (text) => text.replace(/\u001b\[[0-9;]*m/g, '');

Object.assign(exports, { tell, idOf, described });

// Modules of runners.

/**
 * Calls `found` with the exports of each loaded module until it returns true, or what the module is to export instead,
 * then removes the hook.
 */
function whenLoaded(found) {
  const own = Module._load;
  const load = function (request, parent, isMain) {
    const exports = Reflect.apply(own, this, arguments);
    if (typeof request === 'string' && /runner|mocha|jest-(circus|jasmine2)|jestAdapter/.test(request)) {
      try {
        const filename = Module._resolveFilename(request, parent, isMain);
        const answer = found(exports, filename);
        if (answer && Module._load === load) Module._load = own;
        if (typeof answer === 'function') return (Module._cache[filename].exports = answer);
      } catch {
        // Not a file.
      }
    }
    return exports;
  };
  Module._load = load;
}

/** What is observed: a module can be loaded again, or by another one that exports the same. */
const observed = new WeakSet();

function observeMocha(Runner) {
  const run = Runner?.prototype?.run;
  if (typeof run !== 'function' || observed.has(Runner)) return false;
  observed.add(Runner);
  Runner.prototype.run = function () {
    try {
      listenToMocha(this);
    } catch {
      // An unknown version runs without reports.
    }
    return Reflect.apply(run, this, arguments);
  };
  return true;
}

/** A file that cannot be loaded ends Mocha before any test runs. */
function listenToMochasFiles(Mocha) {
  for (const name of ['loadFiles', 'loadFilesAsync']) {
    const load = Mocha.prototype[name];
    if (typeof load !== 'function') continue;
    Mocha.prototype[name] = function () {
      let last;
      this.suite.on('pre-require', (_, filename) => (last = filename));
      const failed = (error) => {
        tell({ kind: 'problem', name: path.relative(process.cwd(), last ?? ''), file: last, ...described(error) });
        throw error;
      };
      try {
        const loading = Reflect.apply(load, this, arguments);
        return typeof loading?.then === 'function' ? loading.catch(failed) : loading;
      } catch (error) {
        return failed(error);
      }
    };
  }
}

function listenToMocha(runner) {
  const names = (runnable) => runnable.titlePath?.() ?? [runnable.title];
  const id = (runnable) => idOf(runnable.file ?? runnable.parent?.file, names(runnable));
  const result = (test, outcome, more) =>
    tell({ kind: 'result', id: id(test), file: test.file, outcome, ...more });
  runner.once('start', () => {
    const all = [];
    const collect = (suite) => {
      all.push(...suite.tests.map(id));
      suite.suites.forEach(collect);
    };
    collect(runner.suite);
    tell({ kind: 'collected', count: runner.total, deselected: all.length - runner.total, names: all.slice(0, 1000) });
  });
  runner.on('test', (test) => tell({ kind: 'begins', test: id(test) }));
  runner.on('pass', (test) => result(test, 'passed'));
  runner.on('pending', (test) => result(test, 'skipped'));
  runner.on('fail', (failed, error) => {
    const isHook = failed.type === 'hook';
    const test = (isHook && failed.ctx?.currentTest) || failed;
    const phase = !isHook ? 'call' : /^"after/.test(failed.title) ? 'teardown' : 'setup';
    result(test, isHook ? 'error' : 'failed', { phase, ...described(error) });
  });
}

/** Up to Jest 27, the module is the function itself. */
function observeJest(exports) {
  const run = exports.default ?? exports;
  if (typeof run !== 'function') return false;
  if (observed.has(run)) return true;
  const runAndTell = async function (globalConfig, config, environment, runtime, testPath) {
    try {
      listenToJest(environment, testPath, globalConfig);
    } catch {
      // An unknown version runs without reports.
    }
    try {
      const results = await Reflect.apply(run, this, arguments);
      if (run.name === 'jasmine2') tellOfJasmine(results, testPath);
      return results;
    } catch (error) {
      tell({ kind: 'problem', name: path.relative(process.cwd(), testPath), file: testPath, ...described(error) });
      throw error;
    }
  };
  observed.add(runAndTell);
  if (run === exports) return runAndTell;
  exports.default = runAndTell;
  return true;
}

/** The default of Jest up to 26 has no events. */
function tellOfJasmine({ testResults, testExecError, failureMessage }, testPath) {
  if (testExecError) {
    const name = path.relative(process.cwd(), testPath);
    tell({ kind: 'problem', name, file: testPath, ...described(testExecError), message: plain(failureMessage ?? '') });
  }
  tell({ kind: 'collected', count: testResults.length });
  for (const { ancestorTitles, title, status, failureMessages } of testResults) {
    const outcome = status === 'passed' || status === 'failed' ? status : 'skipped';
    const [stack] = failureMessages;
    const [first, message] = /^(?:\w*Error: )?([^]*?)(?=\n\s+at |$)/.exec(plain(stack ?? '')) ?? [];
    const thrown = stack === undefined ? {} : described({ name: /^\w*Error/.exec(first)?.[0], message, stack });
    tell({ kind: 'result', id: idOf(testPath, [...ancestorTitles, title]), file: testPath, outcome, ...thrown });
  }
}

function listenToJest(environment, testPath, { testNamePattern }) {
  const names = (test) => {
    const all = [test.name];
    for (let block = test.parent; block?.parent; block = block.parent) all.unshift(block.name);
    return all;
  };
  const id = (test) => idOf(testPath, names(test));
  const pattern = testNamePattern && new RegExp(testNamePattern, 'i');
  const isChosen = (test) => !pattern || pattern.test(names(test).join(' '));
  const result = (test, outcome, more) => tell({ kind: 'result', id: id(test), file: testPath, outcome, ...more });
  const handlers = {
    run_start(_, state) {
      const all = [];
      const collect = (block) => {
        for (const child of block.children) child.type === 'test' ? all.push(child) : collect(child);
      };
      collect(state.rootDescribeBlock);
      const chosen = all.filter(isChosen).length;
      const first = all.slice(0, 1000).map(id);
      tell({ kind: 'collected', count: chosen, deselected: all.length - chosen, names: first });
    },
    test_start: ({ test }) => isChosen(test) && tell({ kind: 'begins', test: id(test) }),
    test_skip: ({ test }) => isChosen(test) && result(test, 'skipped'),
    test_todo: ({ test }) => isChosen(test) && result(test, 'skipped'),
    test_done({ test }) {
      if (test.errors.length === 0) return result(test, 'passed');
      // The second item of a pair is where the test is defined.
      const [first] = test.errors;
      const [thrown, written] = Array.isArray(first) ? first : [first];
      return result(test, 'failed', { ...placeOf(written ?? {}), ...described(thrown ?? written) });
    },
  };
  const before = environment.handleTestEvent;
  environment.handleTestEvent = function (event, state) {
    try {
      handlers[event.name]?.(event, state);
    } catch {
      // An event with an unknown format.
    }
    return before && Reflect.apply(before, this, arguments);
  };
}

/** Adds our reporter to Vitest's command line, with the default one if it names none. */
function addReporter(argv) {
  const script = real(argv[1]);
  if (!/[\\/]node_modules[\\/]vitest[\\/](vitest\.mjs|dist[\\/]cli\.js)$/.test(script)) return;
  const isGiven = argv.some((word) => /^--reporters?(=|$)/.test(word));
  const ours = path.join(__dirname, 'vitest_reporter.mjs');
  const at = argv.indexOf('--', 2);
  const words = [...(isGiven ? [] : ['--reporter=default']), `--reporter=${ours}`];
  argv.splice(at < 0 ? argv.length : at, 0, ...words);
}

function real(filename) {
  try {
    return fs.realpathSync(filename);
  } catch {
    return '';
  }
}
