// Where the script of a shell replaces NODE_OPTIONS for a program that it starts: by an assignment before the
// program, or by one that `env`, `cross-env` or `export` gets. Anything else that looks like one is data.
'use strict';

const PART = String.raw`"(?:\\[^]|[^"\\])*"|'[^']*'|\\[^]|[^\s;&|()<>"'\\]`;
const TOKEN = new RegExp(
  String.raw`\\\n|#[^\n]*|\d*[<>]+[-&]?[ \t]*(?:${PART})*|(?<word>(?:${PART})+)|[;&|()\n]`,
  'g',
);
const ASSIGNMENT = /^\w+\+?=/;
// After these, a command begins.
const LEADS_ON = /^(\{|!|if|then|else|elif|while|until|do|time|exec|command|nohup|npx|pnpx|pnpm|yarn)$/;
const TAKES_ASSIGNMENTS = /(^|\/)((cross-)?env(-shell)?|export)$/;
const OPTIONS = /^(["']?)NODE_OPTIONS=/;

/** The script with a text before the options that it sets. */
exports.withOptions = function withOptions(script, first) {
  const insertions = findOptions(script).sort((one, other) => other.at - one.at);
  return insertions.reduce((text, { at, quote }) => {
    const rest = text.slice(at + quote.length + 'NODE_OPTIONS='.length);
    return `${text.slice(0, at)}NODE_OPTIONS=${first}${quote}${rest}`;
  }, script);
};

/** Where words set options, and the quotes before them. */
function findOptions(script) {
  const found = [];
  const outer = [];
  // `env` prints the environment unless it gets a command.
  let waiting = [];
  // What the next word can be: the start of a command, what `env` or `export` gets, or the argument of a program.
  let state = 'start';
  let hasText = false;
  let last = '';
  for (const { 0: token, index, groups } of script.matchAll(TOKEN)) {
    const { word } = groups;
    if (word !== undefined) {
      const quote = OPTIONS.exec(word)?.[1];
      if (quote !== undefined && (state === 'env' || state === 'export' || (state === 'start' && !quote))) {
        (state === 'env' ? waiting : found).push({ at: index, quote });
      } else if (state === 'start' && TAKES_ASSIGNMENTS.test(word)) {
        state = word === 'export' ? 'export' : 'env';
      } else if (isCommand(word, state)) {
        found.push(...waiting.splice(0));
        state = 'argument';
      }
    } else if (token === '(') {
      outer.push(state);
      state = 'start';
    } else if (token === ')') {
      // After `name()` is the body of a function.
      state = last === '(' ? 'start' : (outer.pop() ?? 'argument');
    } else if (/^\d*<<-?(?!<)/.test(token)) {
      hasText = true;
    } else if (/^[;&|\n]$/.test(token)) {
      // The lines of a text are not commands.
      if (token === '\n' && hasText) break;
      waiting = [];
      state = 'start';
    }
    last = token;
  }
  return found;
}

function isCommand(word, state) {
  if (state === 'start') return !ASSIGNMENT.test(word) && !LEADS_ON.test(word);
  return state === 'env' && !ASSIGNMENT.test(word.replace(/^["']/, '')) && !word.startsWith('-');
}
