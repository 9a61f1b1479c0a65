// An exception for a stack that is full. It may be thrown in a function of the recorder as well as in one of the program,
// which is not to see that.
'use strict';
const { types } = require('util');

const { getOwnPropertyDescriptor } = Reflect;
const MESSAGE = 'Maximum call stack size exceeded';
// How many calls more must be possible before a handler of the program gets the exception. One that asks for the text of
// its stack makes Node compile regular expressions, and V8 ends the process if it has no room for that.
const ROOM = 200;
// How many before the recorder asks for it: Node needs room for a source map, or does without.
const ROOM_FOR_TEXT = 1000;

/** What makes the text of a stack. */
const formatter = () => getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value;

/** Whether so many calls more are possible. */
function hasRoom(calls) {
  try {
    return calls === 0 || hasRoom(calls - 1);
  } catch {
    return false;
  }
}

/** The text of a stack without functions of the recorder, and without what those called of Node. */
function withoutRecorder(stack) {
  const [heading, ...frames] = stack.split('\n');
  const isOurs = (frame) => frame.includes(__dirname);
  const first = frames.findIndex(isOurs);
  const isByUs = frames.slice(0, first).every((frame) => frame.includes('(node:'));
  return [heading, ...frames.slice(isByUs ? first : 0).filter((frame) => !isOurs(frame))].join('\n');
}

/** Whether an exception is one for a full stack. */
function isOverflow(error) {
  return types.isNativeError(error) && getOwnPropertyDescriptor(error, 'message')?.value === MESSAGE;
}

/** Exceptions for a full stack. */
class Overflow {
  constructor() {
    // The exception whose text is not changed yet.
    this.error = null;
    // That of the recorder (`record_stacks.cjs`) or of Node.
    this.formatter = formatter();
  }

  /** Keeps an exception, if it is one of these, until there is room to change its text. */
  note(error) {
    // Otherwise code of the program would run.
    if (isOverflow(error) && formatter() === this.formatter) this.error = error;
  }

  /** Whether there is no room yet for the code that catches an exception. */
  isFull() {
    return !hasRoom(ROOM);
  }

  /** Takes the recorder's functions out of the stack that the exception shows, if there is room for that. */
  hide() {
    if (this.error === null || !hasRoom(ROOM_FOR_TEXT)) return;
    const { error } = this;
    this.error = null;
    try {
      const { stack } = error;
      if (typeof stack === 'string' && stack.includes(__dirname)) error.stack = withoutRecorder(stack);
    } catch {
      // It is shown as it is.
    }
  }
}

module.exports = { Overflow, isOverflow };
