// The stacks of exceptions, as those of a plain run: with the columns of the program's files, by the source maps of what
// these were replaced with, and without the recorder's functions.
//
// Node knows source maps only while it shows stacks by them, in a format of its own. That is for programs that want it.
'use strict';
const fs = require('fs');
const Module = require('module');
const { pathToFileURL } = require('url');
const { isNativeError } = require('util').types;
const { fileOf } = require('./loading.cjs');
const { isUsers } = require('./record_loading.cjs');
const { isOverflow } = require('./record_overflow.cjs');

const { apply, getOwnPropertyDescriptor } = Reflect;
const { findSourceMap } = Module;
const toText = Error.prototype.toString;
const AT = '\n    at ';
const OF_TEXT = /at (JSON\.parse|(new )?\w*Function) \(<anonymous>\)$/;
// In a line that Node does not show (`instrument.rs`).
const MARK = 'node-do-not-add-exception-line';

/** Shows stacks in this way from now on. */
exports.observe = () => {
  const ofNode = getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value;
  let isByMaps = process.sourceMapsEnabled ?? areMapsWanted();
  process.setSourceMapsEnabled(true);
  for (const [owner, name] of [[process, 'setSourceMapsEnabled'], [Module, 'setSourceMapsSupport']]) {
    const own = owner[name];
    if (typeof own !== 'function') continue;
    owner[name] = function (isEnabled, ...options) {
      const result = apply(own, this, [isEnabled === false ? true : isEnabled, ...options]);
      isByMaps = isEnabled;
      return result;
    };
    Object.defineProperty(owner[name], 'name', { configurable: true, value: name });
  }
  Module.syncBuiltinESMExports();

  const value = function ErrorPrepareStackTrace(error, sites) {
    // The recorder itself takes its functions out of these (`record_overflow.cjs`).
    const shown = isOverflow(error) ? sites : sites.filter((site) => !isRecorders(site));
    const heading = ofNode === undefined ? apply(toText, error, []) : ofNode(error, []);
    const text = (site) => {
      if (isByMaps && ofNode !== undefined && !isWritten(site)) return ofNode(error, [site]).slice(heading.length);
      return AT + textOf(site);
    };
    return heading + shown.map(text).join('');
  };
  // A formatter of the program, such as that of a loader, stays, and so do maps where Node has no function for them.
  if (ofNode === undefined ? !isByMaps : ofNode.name === value.name) {
    Object.defineProperty(Error, 'prepareStackTrace', { configurable: true, writable: true, value });
  }
};

function areMapsWanted() {
  return /--enable-source-maps\b/.test([...process.execArgv, process.env.NODE_OPTIONS].join(' '));
}

/** Whether a frame is one of the recorder's. */
function isRecorders(site) {
  const file = site.getFileName();
  return typeof file === 'string' && file.includes(__dirname);
}

/** Whether a frame is in a file of the program that is not compiled, and has no source map but the recorder's. */
function isWritten(site) {
  try {
    return findSourceMap(site.getFileName())?.payload.x_written === true;
  } catch {
    // It has no file.
    return false;
  }
}

/** A frame as V8 shows it, at its place in the program's own text. */
function textOf(site) {
  const text = `${site}`;
  try {
    const file = site.getFileName();
    const isUrl = file.startsWith('file:');
    const path = isUrl ? fileOf(file) : file;
    const map = isUsers(path) ? findSourceMap(file) : undefined;
    if (map === undefined) return text;
    const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
    const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
    const shown = `${file}:${line}:${column}`;
    const at = text.lastIndexOf(shown);
    if (at < 0 || originalLine === undefined) return text;
    const source = originalSource === `${pathToFileURL(path)}` ? file : isUrl ? originalSource : fileOf(originalSource);
    return `${text.slice(0, at)}${source}:${originalLine + 1}:${originalColumn + 1}${text.slice(at + shown.length)}`;
  } catch {
    // There is no room on the stack for more, or it has no file.
    return text;
  }
}

/** Whether an error is about a text that a function of the language was given: Node shows that text. */
function isOfText(error, stack) {
  return error instanceof SyntaxError && OF_TEXT.test(/^ {4}at .*$/m.exec(stack)?.[0]);
}

/** What Node shows above an uncaught exception; it cannot know the line. `loaded` gives the text that a file has. */
exports.showHeading = (error, origin, loaded) => {
  const isRejection = origin !== 'uncaughtException';
  const stack = typeof error?.stack === 'string' ? error.stack : '';
  // Of a rejected promise, Node shows where the error was made, perhaps in a function of the language. An assertion hides
  // that.
  const isAssertion = error instanceof require('assert').AssertionError;
  const isMade = isNativeError(error) && !isAssertion && !isOfText(error, stack);
  const frames = isRejection ? isMade && /^ {4}at (?!.*\(<anonymous>\)$).*$/m.exec(stack)?.[0] : stack;
  const frame = /\(?((?:file:\/\/)?\/[^():]*):(\d+):(\d+)\)?$/m.exec(frames || '');
  if (!frame) return;
  const [, path, at, column] = frame;
  try {
    const file = path.startsWith('file:') ? fileOf(path) : path;
    // Node knows that line, and shows it unless it has our mark.
    if (isRejection && !loaded(file)?.split('\n')[at - 1]?.includes(MARK)) return;
    const text = fs.readFileSync(file, 'utf8').split('\n')[at - 1];
    const thrown = isRejection ? null : /\bthrow\s+$/.exec(text.slice(0, column - 1));
    const before = text.slice(0, thrown ? thrown.index : column - 1);
    fs.writeSync(2, `${path}:${at}\n${text}\n${before.replace(/[^\t]/g, ' ')}^\n\n`);
  } catch {
    // The file is gone.
  }
};
