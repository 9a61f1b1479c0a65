// Takes options that open the inspector out of what a program starts as Node: the hook opens it in every process,
// on the loopback. A child with an option to wait for a debugger would wait before its hook runs, and one with
// an address could be reached from other machines.
//
// All ways to start a process end in two functions of Node's own, which get the words and the environment.
'use strict';

const INSPECTOR = /^--(inspect(-brk|-wait|-port)?|debug-port)(=|$)/;
const WITH_PORT = /^--(inspect-port|debug-port)$/;
// These take their value from the next word.
const WITH_VALUE =
  /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--title|--stack-trace-limit)$/;
const IN_ENVIRONMENT = /(^NODE_OPTIONS=|\s)"?--(?!inspect-publish-uid)(inspect|debug-port)[^\s"]*"?(?=\s|$)/g;
const IS_NODE = /(^|[\\/])node(\.exe)?$/;

exports.observe = function observe() {
  const silent = process.noDeprecation;
  // With --pending-deprecation, Node would complain to the program.
  process.noDeprecation = true;
  try {
    wrap(process.binding('process_wrap').Process.prototype);
    wrap(process.binding('spawn_sync'));
  } catch {
    // A Node without these starts its children as they are.
  } finally {
    process.noDeprecation = silent;
  }
};

function wrap(owner) {
  const { spawn } = owner;
  const apply = Reflect.apply;
  owner.spawn = function (options) {
    try {
      if (IS_NODE.test(String(options.file))) clean(options);
    } catch {
      // Node reports anything but a list of words.
    }
    return apply(spawn, this, arguments);
  };
}

function clean(options) {
  if (Array.isArray(options.args)) options.args = withoutInspector(options.args);
  if (Array.isArray(options.envPairs)) {
    options.envPairs = options.envPairs.map((pair) =>
      pair.startsWith('NODE_OPTIONS=') ? pair.replace(IN_ENVIRONMENT, '$1') : pair,
    );
  }
}

/** The words without those in front of the script; the first word is the program's own name. */
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
