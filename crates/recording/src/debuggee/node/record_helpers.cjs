// What happens in the program, as records: calls, lines, what they change, exceptions and output.
//
// Calls of these functions are put into the program's files (`instrument.rs`). Each has a letter, to be short:
//
//   e(code), n(outer, code)     a call begins; its number is the result. `outer` is the call around a closure
//   r(call, value)              it returns;  f: the same in a `finally`, unless it has ended
//   u(call, error)              an exception leaves it
//   l(call, line)               a line is reached
//   t(call, error)              an exception is thrown; g: it is caught; tt: it goes through a `finally`
//   z(call, value)              it is suspended; y: it continues
//   v(owner, name, value)       a variable is written; p: after the value of the expression; b: `this` is new
//   ov(owner, name, read)       one is visible again that another one of the same name hid
//   m(value, object, name)      a property is written; h, o: a private field; i: an item
//   a, d, j                     the same by a step, after the value of the expression
//   k(value, object)            an object may have changed; x: at its end; kk(value): what a call returned may have
//   im(owner, name, read)       a variable is imported, and read by a function;  re(value): one that is exported was written
//   fb(code, name, this, maker) the fields of an object or a class begin, in a call of the constructor;  fl(code, line): a line of theirs is reached
//   fw(value, object, name)     one is written;  fd(value, code, object): so was the last one;  fs(object, value): fields are functions
//   bo(function, ...)           a function is bound to objects
//   w(), c(before, value, ...)  a call was made that may have changed objects, if it was not one of the program's code;
//                               cc(before, value, object, steps, ...): in an optional chain, that begins at the object
//   rd(before, value, ...)      the same for a method that only reads if it is one of the language;  rc: in an optional chain
//   q(value, ...)               the value
'use strict';
const { types } = require('util');
const { isMainThread } = require('worker_threads');
const {
  POSITION, LIMIT, ENTER, LEAVE, UNWIND, THROW, SUSPEND, RESUME, THREAD, CODE, PLACE, OUTPUT, WRITE, PASS, SHOWN, Wire,
} = require('./record_wire.cjs');
const { Below } = require('./record_below.cjs');
const { Heap, entryOf } = require('./record_heap.cjs');
const { Overflow } = require('./record_overflow.cjs');
const { filled } = require('./record_questions.cjs');
const { showHeading } = require('./record_stacks.cjs');
const { announce } = require('./record_threads.cjs');

const { is } = Object;
const { apply } = Reflect;
const { isPromise } = types;

// In place of an object or a function.
const HELD = {};
const isHeld = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Characters of output that are recorded of each write.
const MOST_OUTPUT = 4000;

exports.start = (settings) => {
  const wire = new Wire(settings.segments);
  if (!isMainThread) announce(wire.ring);
  const heap = new Heap(wire, settings);
  const below = new Below(heap, entryOf);
  const overflow = new Overflow();
  const { words, control, names } = wire;
  let calls = 0;
  // The calls that run, innermost last, and that one.
  const stack = [0];
  let depth = 0;
  let top = 0;
  // What the call returned that ended last; of an object only the lower half of its word, because the program may wait
  // until nothing holds the object.
  let result;
  let resultLow = 0;
  // Exceptions that are recorded where they were thrown, with how many there were then.
  const known = new WeakMap();
  let throws = 0;
  let thrown = null;
  let unwound = 0;
  let codes = 0;
  let places = 0;

  wire.record(32 + THREAD, wire.text(settings.name) * 2 + 1);
  const scope = wire.text('__scope__') * 4;

  // -- calls ---------------------------------------------------------------------------------------------------------

  // A call that has begun with the fields of its object, of a constructor of this function. 0 for none.
  let made = 0;
  const makers = [];

  const begin = (code) => {
    calls += 1;
    const call = calls;
    let at = control[POSITION];
    if (at + 12 > control[LIMIT]) at = wire.advance(at);
    words[at] = (call << 5) | ENTER;
    words[at + 1] = call >>> 27;
    words[at + 2] = 1;
    words[at + 3] = 0;
    words[at + 4] = code * 2 + 1;
    words[at + 5] = 0;
    words[at + 6] = call * 4 + 1;
    words[at + 7] = 0;
    words[at + 8] = 3;
    words[at + 9] = 0;
    words[at + 10] = top * 2 + 1;
    words[at + 11] = 0;
    control[POSITION] = at + 12;
    depth += 1;
    stack[depth] = call;
    top = call;
    return call;
  };

  /** The innermost call that has begun already. */
  const construct = () => {
    const { call } = makers[makers.length - 1];
    makers.length -= 1;
    made = makers.length === 0 ? 0 : makers[makers.length - 1].code;
    if (top !== call) switchTo(call);
    return call;
  };

  const enter = (code) => (code === made ? construct() : begin(code));

  const closure = (outer, code) => {
    const call = enter(code);
    write(scope * 32 + WRITE, call, outer << 3 | 1, outer >>> 29);
    return call;
  };

  const write = (key, owner, low, high) => {
    let at = control[POSITION];
    if (at + 6 > control[LIMIT]) at = wire.advance(at);
    words[at] = key;
    words[at + 1] = 0;
    words[at + 2] = owner * 4 + 1;
    words[at + 3] = top;
    words[at + 4] = low;
    words[at + 5] = high;
    control[POSITION] = at + 6;
  };

  /** Makes a call the innermost that runs: those above it have ended unseen, or it continues. */
  const switchTo = (call) => {
    if (call === undefined) return;
    for (let at = depth; at > 0; at -= 1) {
      if (stack[at] === call) {
        depth = at;
        top = call;
        return;
      }
    }
    depth += 1;
    stack[depth] = call;
    top = call;
  };

  const pop = (call) => {
    if (top !== call) {
      let at = depth;
      while (at > 0 && stack[at] !== call) at -= 1;
      if (at === 0) return;
      depth = at;
    }
    depth -= 1;
    top = stack[depth];
  };

  const ended = (call, tag, value) => {
    if (typeof value === 'number' && (value | 0) === value && value !== 0) {
      heap.low = value << 3 | 1;
      heap.high = value >> 29;
      result = value;
    } else {
      heap.by = call;
      heap.word(value);
      result = isHeld(value) ? HELD : value;
      resultLow = heap.low;
    }
    let at = control[POSITION];
    if (at + 4 > control[LIMIT]) at = wire.advance(at);
    words[at] = (call << 5) | tag;
    words[at + 1] = call >>> 27;
    words[at + 2] = heap.low;
    words[at + 3] = heap.high;
    control[POSITION] = at + 4;
    pop(call);
    return value;
  };

  const leave = (call, value) => ended(call, LEAVE, value);

  const finish = (call, value) => {
    if (unwound === call) unwound = 0;
    else ended(call, LEAVE, value);
  };

  const suspend = (call, value) => ended(call, SUSPEND, value);

  const resume = (call, value) => {
    wire.record(call * 32 + RESUME, top * 2 + 1);
    switchTo(call);
    return value;
  };

  // -- exceptions ----------------------------------------------------------------------------------------------------

  const thrownBy = (call, error) => {
    try {
      if (call !== top) switchTo(call);
      heap.by = top;
      heap.exception(error);
      wire.record(call * 32 + THROW, heap.low, heap.high);
      throws += 1;
      overflow.note(error);
      if (typeof error === 'object' && error !== null) known.set(error, throws);
      thrown = error;
    } catch {
      // The stack is full. A call further out that it leaves has room for this.
    }
    return error;
  };

  const isKnown = (error) => error === thrown || (typeof error === 'object' && error !== null && known.has(error));

  const passing = (call, error) => (isKnown(error) ? error : thrownBy(call, error));

  /** An exception leaves a call. A `finally` may have handled others in between. */
  const passed = (call, error) => {
    const since = error === thrown ? 0 : throws - known.get(error);
    if (since > 0) wire.record(call * 32 + PASS, since * 2 + 1);
    else wire.record(call * 32 + UNWIND);
  };

  const unwind = (call, error) => {
    unwound = call;
    try {
      endFields(call, error);
      if (!isKnown(error)) thrownBy(call, error);
      passed(call, error);
      pop(call);
      overflow.hide();
    } catch {
      // The stack is full. What this call was in takes it away, too.
    }
    return error;
  };

  const caught = (call, ...error) => {
    if (error.length > 0) endFields(call, error[0]);
    if (call !== top) switchTo(call);
    if (error.length === 0) return;
    const what = error[0];
    if (!isKnown(what)) thrownBy(call, what);
    // Where the stack is too full for the recorder, it is for the handler: one further out gets the exception.
    if ((!isKnown(what) || what === overflow.error) && overflow.isFull()) throw what;
    overflow.hide();
  };

  // -- lines and variables -------------------------------------------------------------------------------------------

  const line = (call, place) => {
    if (call !== top) switchTo(call);
    let at = control[POSITION];
    if (at + 2 > control[LIMIT]) at = wire.advance(at);
    words[at] = (call << 29) | place;
    words[at + 1] = call >>> 3;
    control[POSITION] = at + 2;
  };

  const variable = (owner, key, value) => {
    if (typeof value === 'number' && (value | 0) === value && (value !== 0 || 1 / value > 0)) {
      let at = control[POSITION];
      if (at + 6 > control[LIMIT]) at = wire.advance(at);
      words[at] = key;
      words[at + 1] = 0;
      words[at + 2] = owner * 4 + 1;
      words[at + 3] = top;
      words[at + 4] = value << 3 | 1;
      words[at + 5] = value >> 29;
      control[POSITION] = at + 6;
    } else if (owner !== undefined) {
      heap.by = top;
      heap.word(value);
      heap.writeTo(key >>> 5, owner * 4 + 1);
    }
    return value;
  };

  const stepped = (owner, key, old, value) => {
    variable(owner, key, value);
    return old;
  };

  const shownAgain = (owner, key, read) => {
    if (wire.isOff || owner === undefined) return;
    heap.by = top;
    let value;
    let isDeclared = true;
    try {
      value = read();
    } catch {
      // Its declaration comes later.
      isDeclared = false;
    }
    if (isDeclared) heap.word(value);
    else heap.absent();
    heap.writeTo(key >>> 5, owner * 4 + 1, SHOWN);
  };

  const constructed = (owner, key, value) => {
    if (wire.isOff) return;
    heap.by = top;
    heap.check(value);
    variable(owner, key, value);
  };

  // What modules import, with the value that was last read.
  const imports = [];

  /** Reads an imported variable again. One that is not initialized yet, as in a cycle, is read when that module has ended. */
  const readImport = (one) => {
    let value;
    try {
      value = one.read();
    } catch {
      return;
    }
    heap.by = top;
    if (!one.isRead) heap.module(value);
    else if (is(value, one.value)) {
      heap.checkModule(value);
      return;
    }
    one.isRead = true;
    one.value = value;
    variable(one.owner, one.key, value);
  };

  const imported = (owner, key, read) => {
    const one = { owner, key, read, isRead: false, value: undefined };
    imports[imports.length] = one;
    readImport(one);
  };

  const exported = (value) => {
    if (!wire.isOff) for (let at = 0; at < imports.length; at += 1) readImport(imports[at]);
    return value;
  };

  // -- objects -------------------------------------------------------------------------------------------------------

  const property = (value, object, key) => {
    if (wire.isOff) return value;
    heap.by = top;
    heap.property(object, key >>> 7, names[key >>> 7], value);
    return value;
  };

  const field = (value, object, key) => {
    if (wire.isOff) return value;
    heap.by = top;
    heap.field(object, key >>> 7, names[key >>> 7], value);
    return value;
  };

  const item = (value, object, key) => {
    if (wire.isOff) return value;
    heap.by = top;
    heap.setItem(object, key, value);
    return value;
  };

  const after = (old, step) => (typeof old === 'bigint' ? old + BigInt(step) : old + step);

  const check = (value, object) => {
    if (wire.isOff) return value;
    heap.by = top;
    heap.check(object);
    return value;
  };

  const appended = (before, value, object) => {
    if (wire.isOff) return value;
    heap.by = top;
    heap.appended(object);
    return value;
  };

  /** Whether the call that ended last returned this: then it most likely is what was called. */
  const isResult = (value) => {
    if (!isHeld(value)) return value === result || is(value, result);
    // What an asynchronous function returned is in the promise.
    return (result === HELD && heap.lowOf(value) === resultLow) || isPromise(value);
  };

  const called = (before, value, one, two, three, four) => {
    if (wire.isOff) return value;
    heap.by = top;
    if (before === calls || !isResult(value)) calledUnrecorded(value, one, two, three, four);
    else {
      // Code of the program has recorded what it changed; a method of the language may still have changed its own
      // object.
      heap.checkContainer(one);
      if (two !== undefined) heap.checkContainer(two);
      if (three !== undefined) heap.checkContainer(three);
      if (four !== undefined) heap.checkContainer(four);
    }
    return value;
  };

  const calledUnrecorded = (value, one, two, three, four) => {
    const at = control[POSITION];
    heap.check(one);
    const isChanged = control[POSITION] !== at;
    if (two !== undefined) heap.check(two);
    if (three !== undefined) heap.check(three);
    if (four !== undefined) heap.check(four);
    if (heap.isMade(value)) heap.check(value);
    below.compare(value, isChanged, one, two, three, four);
  };

  /** A method was called that only reads if it is one of the language, apart from what a function does that it gets. */
  const read = (before, value, object, one, two, three) => {
    if (wire.isOff) return value;
    if (heap.isUnrecorded(one) || !heap.hasKnownMethods(object)) return called(before, value, object, one, two, three);
    heap.by = top;
    heap.checkPattern(object);
    heap.checkPattern(one);
    return value;
  };

  const inChain = (record) => (before, value, object, steps, one, two, three, four) => {
    if (wire.isOff) return value;
    record(before, value, heap.follow(object, steps), one, two, three);
    return four === undefined ? value : called(before, value, four);
  };

  // -- files, output and the end -------------------------------------------------------------------------------------

  /** Gives the parts of a script numbers. Returns those of names, functions and places, by their index. */
  const define = ({ names: ofScript, places: lines, codes: functions, file: source }) => {
    const file = wire.text(source);
    const texts = ofScript.map((name) => wire.text(name));
    const firstCode = codes + 1;
    for (const [name, begins] of functions) {
      codes += 1;
      const number = wire.text(name);
      wire.blob(codes, CODE, '', file, number, begins);
    }
    const firstPlace = places + 1;
    for (const [code, number] of lines) {
      places += 1;
      wire.record(places * 32 + PLACE, (firstCode + code) * 2 + 1, 0, number * 2 + 1);
    }
    return {
      name: (index) => texts[index] * 128 + WRITE,
      code: (index) => firstCode + index,
      place: (index) => (firstPlace + index) * 32 + 1,
    };
  };

  /** The text of a script with its numbers; the answer of `service.rs` has room for them. */
  const fill = ({ text, holes, ...parts }) => {
    const number = define(parts);
    return filled(text, holes, (kind, index) => `0x${number[kind](index).toString(16).padStart(8, '0')}`);
  };

  // -- fields --------------------------------------------------------------------------------------------------------

  // Calls that compute fields, innermost last, each with its function.
  const fieldCalls = [];

  const fieldsBegin = (code, key, object, maker) => {
    if (wire.isOff) return;
    const around = maker === undefined ? 0 : begin(maker);
    const call = begin(code);
    fieldCalls[fieldCalls.length] = { call, code, around, maker };
    variable(call, key, object);
  };

  /** The innermost call of a function that computes fields. What is above it has ended by an exception. */
  const fieldCall = (code) => {
    while (fieldCalls.length > 0) {
      const last = fieldCalls[fieldCalls.length - 1];
      if (last.code === code) return last.call;
      fieldCalls.length -= 1;
    }
    return undefined;
  };

  const fieldLine = (code, place) => {
    const call = fieldCall(code);
    if (call !== undefined) line(call, place);
  };

  const declared = (value, object, key) => {
    if (wire.isOff) return value;
    heap.by = top;
    heap.declare(object, key >>> 7, names[key >>> 7], value);
    return value;
  };

  const fieldsEnd = (value, code, object) => {
    heap.unsettle(object);
    const call = fieldCall(code);
    if (call === undefined) return value;
    const { around, maker } = fieldCalls[fieldCalls.length - 1];
    fieldCalls.length -= 1;
    leave(call, undefined);
    if (around !== 0) {
      makers[makers.length] = { code: maker, call: around };
      made = maker;
    }
    return value;
  };

  /** An exception leaves the fields that were computed for a call. */
  const endFields = (call, error) => {
    while (fieldCalls.length > 0 && fieldCalls[fieldCalls.length - 1].call === top && top !== call) {
      const { around } = fieldCalls[fieldCalls.length - 1];
      fieldCalls.length -= 1;
      const inner = top;
      if (!isKnown(error)) thrownBy(inner, error);
      wire.record(inner * 32 + UNWIND);
      pop(inner);
      if (around === 0) continue;
      wire.record(around * 32 + UNWIND);
      pop(around);
    }
  };

  const bound = (made, ...objects) => {
    heap.bind(made, objects);
    return made;
  };

  const output = (name, number) => {
    const stream = process[name];
    const { write: own } = stream;
    stream.write = function write(chunk) {
      const text = typeof chunk === 'string' ? chunk : Buffer.isBuffer(chunk) ? chunk.toString() : '';
      if (text !== '') wire.blob(number, OUTPUT, text.slice(0, MOST_OUTPUT), top);
      return apply(own, this, arguments);
    };
  };
  // What other threads write is written by this one.
  if (isMainThread) {
    output('stdout', 1);
    output('stderr', 2);
  }

  process.on('uncaughtExceptionMonitor', (error, origin) => {
    overflow.hide();
    const isShown = error === thrown || origin !== 'uncaughtException';
    if (top !== 0 && !isKnown(error)) thrownBy(top, error);
    // It has left a module, which no other code of the program is around.
    for (; top !== 0; pop(top)) passed(top, error);
    const isHandled = process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
    if (isShown && isMainThread && !isHandled) showHeading(error, origin, settings.loaded);
  });
  process.on('exit', () => wire.exit());
  for (const name of ['abort', 'kill', 'reallyExit', 'send']) {
    const own = process[name];
    if (typeof own !== 'function') continue;
    process[name] = function () {
      if (name !== 'send' || !wire.isOnline) wire.flushNow();
      return apply(own, this, arguments);
    };
    Object.defineProperty(process[name], 'name', { configurable: true, value: name });
  }

  const functions = {
    a: (old, object, key, step) => (property(after(old, step), object, key), old),
    b: constructed,
    bo: bound,
    c: called,
    cc: inChain(called),
    d: (old, object, key, step) => (field(after(old, step), object, key), old),
    e: enter,
    f: finish,
    fb: fieldsBegin,
    fd: fieldsEnd,
    fl: fieldLine,
    fs: (object, value) => (heap.unsettle(object), value),
    fw: declared,
    g: caught,
    h: field,
    i: item,
    im: imported,
    j: (old, object, key, step) => (item(after(old, step), object, key), old),
    k: check,
    kk: (value) => check(value, value),
    l: line,
    m: property,
    n: closure,
    o: field,
    ov: shownAgain,
    p: stepped,
    q: (value) => value,
    r: leave,
    rc: inChain(read),
    rd: read,
    re: exported,
    t: thrownBy,
    tt: passing,
    u: unwind,
    v: variable,
    w: () => calls,
    x: appended,
    y: resume,
    z: suspend,
  };
  Object.assign(process['stillframe.record'], functions);
  return { define, fill };
};
