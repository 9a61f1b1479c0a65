// Removes options that open the inspector from the Node children of a program: the hook opens it in every process, on
// the loopback interface. A child with an option to wait for a debugger would wait before its hook runs, and one with
// an address could be reachable from other machines.
// A shell script that replaces NODE_OPTIONS, as the scripts of `package.json` do, keeps our options, which are in
// STILLFRAME_NODE_OPTIONS.
// It also stops each child for a moment, as long as the file STILLFRAME_HOLD is there: the debugger inspects the
// process and lets it run.
// All ways to start a process end in two internal functions, which receive the arguments and the environment.
'use strict';

const { withOptions } = require('./shell_scripts.cjs');

const INSPECTOR = /^--(inspect(-brk|-wait|-port)?|debug-port)(=|$)/;
const WITH_PORT = /^--(inspect-port|debug-port)$/;
// The value of these is the next argument.
const WITH_VALUE =
  /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--title|--stack-trace-limit)$/;
const IN_ENVIRONMENT = /(^NODE_OPTIONS=|\s)"?--(?!inspect-publish-uid)(inspect|debug-port)[^\s"]*"?(?=\s|$)/g;
const IS_NODE = /(^|[\\/])node(\.exe)?$/;
const IS_SHELL = /(^|\/)(ba|da|z)?sh$/;
const OURS = 'STILLFRAME_NODE_OPTIONS';
// Code that compiles tests may put all of it on one line.
const LOADS = /(^|\s)"?(--import|--require|-r|--loader|--experimental-loader)(?=[\s="]|$)/g;

exports.observe = function observe() {
  const silent = process.noDeprecation;
  try {
    // With --pending-deprecation, Node would print a warning. With --no-deprecation, nothing can be assigned.
    if (!silent) process.noDeprecation = true;
    wrap(process.binding('process_wrap').Process.prototype);
    wrap(process.binding('spawn_sync'));
  } catch {
    // A Node without these starts children unchanged.
  } finally {
    if (!silent) process.noDeprecation = silent;
  }
};

function wrap(owner) {
  const { spawn } = owner;
  const apply = Reflect.apply;
  owner.spawn = function (...given) {
    try {
      // Node 26 gives one of the functions file, arguments, folder, environment and more in place of an object.
      const [first, args, , envPairs] = given;
      const options = typeof first === 'object' ? first : { file: first, args, envPairs };
      if (IS_NODE.test(String(options.file))) {
        clean(options);
        mapTests(options);
      }
      if (IS_SHELL.test(String(options.file))) keepOptions(options);
      if (options !== first) [given[1], given[3]] = [options.args, options.envPairs];
    } catch {
      // Node reports anything but a list of strings.
    }
    const result = apply(spawn, this, given);
    hold(this?.pid);
    return result;
  };
}

const marker = process.env.STILLFRAME_HOLD;

function hold(pid) {
  if (!marker || !pid || !require('fs').existsSync(marker)) return;
  try {
    process.kill(pid, 'SIGSTOP');
  } catch {
    // It has ended.
  }
}

function clean(options) {
  if (Array.isArray(options.args)) options.args = withoutInspector(options.args);
  if (Array.isArray(options.envPairs)) {
    options.envPairs = options.envPairs.map((pair) =>
      pair.startsWith('NODE_OPTIONS=') ? pair.replace(IN_ENVIRONMENT, '$1') : pair,
    );
  }
}

/** Puts our options before those that a shell script replaces them with. */
function keepOptions(options) {
  const { args, envPairs } = options;
  const at = args.findIndex((word) => /^-[a-z]*c$/.test(word)) + 1;
  const all = valueOf(envPairs, 'NODE_OPTIONS');
  const script = String(args[at] ?? '');
  if (at === 0 || !all.includes(__dirname) || /\$\{?NODE_OPTIONS\b/.test(script)) return;
  const inherited = valueOf(envPairs, OURS);
  const ours = inherited || process.env[OURS];
  const kept = withOptions(script, `"$${OURS} "`);
  if (kept === script || !ours) return;
  options.args = [...args.slice(0, at), kept, ...args.slice(at + 1)];
  if (!inherited) options.envPairs = [...envPairs, `${OURS}=${ours}`];
}

/** Has `node --test` report where tests are in the source, when something may compile them. */
function mapTests(options) {
  const { args, envPairs } = options;
  // What a test starts inherits this; only the runner itself is without it.
  if (process.env.NODE_TEST_CONTEXT || !valueOf(envPairs, 'NODE_TEST_CONTEXT')) return;
  const given = [...args.slice(1, endOfOptions(args)), valueOf(envPairs, 'NODE_OPTIONS')];
  // One of them is our hook.
  const loaders = given.join(' ').match(LOADS) ?? [];
  if (loaders.length > 1) options.args = [args[0], '--enable-source-maps', ...args.slice(1)];
}

/** The value of a variable in an environment; an empty text if there is none. */
function valueOf(envPairs, name) {
  return envPairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/** Where the script is among the arguments, or would be. */
function endOfOptions(words) {
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = String(words[at]);
    if (!word.startsWith('-') || word === '--') break;
    if (WITH_PORT.test(word) || WITH_VALUE.test(word)) at += 1;
  }
  return at;
}

/** The arguments without inspector options before the script; the first one is the program's name. */
function withoutInspector(words) {
  const kept = words.slice(0, 1);
  for (let at = 1; at < words.length; at += 1) {
    const word = String(words[at]);
    if (!word.startsWith('-') || word === '--') return kept.concat(words.slice(at));
    if (INSPECTOR.test(word)) {
      if (WITH_PORT.test(word)) at += 1;
      continue;
    }
    kept.push(words[at]);
    if (WITH_VALUE.test(word) && at + 1 < words.length) kept.push(words[(at += 1)]);
  }
  return kept;
}
