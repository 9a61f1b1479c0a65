// What a recording is written to while the program runs: a ring in shared memory, which a thread writes to files every
// few milliseconds (record_flusher.cjs), so that a killed program loses no more than its last moments.
//
// A record is a sequence of 64-bit words, here pairs of 32-bit numbers, as record_wire.py describes them. Each file has
// whole records, and gets its name when it is complete.
'use strict';
const { Worker } = require('worker_threads');

// 32-bit numbers of a part of the ring, and how many parts there are.
const PART = 1 << 16;
const PARTS = 32;
// After this many milliseconds in which nothing is read, the recording ends. record_flusher.cjs says it in seconds.
const PATIENCE = 10000;

const [LINE, ENTER, LEAVE, UNWIND, THROW, SUSPEND, RESUME, THREAD] = [1, 2, 3, 4, 5, 6, 7, 8];
const [WRITE, TEXT, OBJECT, ATOM, CODE, PLACE, OUTPUT, PASS] = [9, 10, 11, 12, 13, 14, 15, 18];
// A write that the program has not made, and a number that is not an integer, whose text the reader makes.
const [SHOWN, FLOAT] = [19, 20];

// Where the two threads find each other: what is written up to, in which part; what is flushed; how far each part goes.
const [POSITION, CURRENT, FLUSHED, LOCK, STATE, FILE, OFFSET, LIMIT, ONLINE, SIZES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
// It is read; it is not, and nothing more is to be said; it is not, which the file must still say.
const [RUNNING, CLOSED, LOST] = [0, 1, 2];

const { apply } = Reflect;
const { write: bufferWrite } = Buffer.prototype;
const now = Date.now;

class Wire {
  constructor(prefix) {
    this.prefix = prefix;
    this.shared = new SharedArrayBuffer(PART * PARTS * 4);
    this.control = new Int32Array(new SharedArrayBuffer((SIZES + PARTS) * 4));
    this.words = new Uint32Array(this.shared);
    this.bytes = Buffer.from(this.shared);
    this.control[LIMIT] = PART;
    this.texts = new Map();
    // The texts by their numbers.
    this.names = [''];
    this.isExiting = false;
    // Nothing more is written, so that nothing more need be found out.
    this.isOff = false;
    this.isFlushing = false;
    const workerData = { stillframe: true, prefix, shared: this.shared, control: this.control };
    this.ring = workerData;
    const options = { workerData, stdin: false, execArgv: [], env: {}, trackUnmanagedFds: false };
    this.flusher = new Worker(require.resolve('./record_flusher.cjs'), options);
    const { flush, lose } = require('./record_flusher.cjs');
    this.flusher.on('error', (error) => {
      // One that could not start is not needed: this thread writes, too.
      if (this.isOnline) lose(workerData, `the thread that writes the recording failed: ${error.message}`);
    });
    this.flusher.unref();
    this.flushNow = () => {
      // A signal's handler, or whatever else interrupts a flush, has nothing to add.
      if (this.isFlushing || this.isClosed) return;
      this.isFlushing = true;
      try {
        flush(workerData, true);
      } catch (error) {
        // There is another time, except at the end.
        if (this.isExiting) lose(workerData, `the end of the recording could not be written: ${error.message}`);
      }
      this.isFlushing = false;
    };
    // A process may be killed before the other thread has started. Node keeps timers of one duration together, and would
    // run those of the program with this one, before shorter ones; hence a duration that few programs use.
    const timer = setInterval(() => {
      if (this.isOnline) clearInterval(timer);
      else this.flushNow();
    }, 13);
    timer.unref();
  }

  /** Continues in the next part. Returns the position there, and waits while there is no room. */
  advance(position) {
    const { control } = this;
    if (this.isExiting) this.flushNow();
    const part = control[CURRENT];
    control[SIZES + (part % PARTS)] = position;
    const next = part + 1;
    const until = now() + PATIENCE;
    while (next - Atomics.load(control, FLUSHED) >= PARTS && Atomics.load(control, STATE) === RUNNING) {
      if (now() > until) Atomics.compareExchange(control, STATE, RUNNING, LOST);
      if (!this.isOnline) this.flushNow();
      Atomics.wait(control, FLUSHED, Atomics.load(control, FLUSHED), 20);
    }
    const begin = (next % PARTS) * PART;
    control[POSITION] = begin;
    this.isOff = this.isClosed;
    control[LIMIT] = this.isExiting ? 0 : begin + PART;
    Atomics.store(control, CURRENT, next);
    return begin;
  }

  /** Room for so many 32-bit numbers. What is there is not read before `control[POSITION]` is behind it. */
  room(count) {
    const position = this.control[POSITION];
    return position + count <= this.control[LIMIT] ? position : this.advance(position);
  }

  /** From now on, each record is written to a file before the next. */
  exit() {
    this.isExiting = true;
    this.control[LIMIT] = 0;
    this.flushNow();
  }

  /** Writes a record of up to three words. */
  record(first, low, high = 0, low2, high2 = 0) {
    const at = this.room(6);
    const { words } = this;
    words[at] = first;
    words[at + 1] = Math.floor(first / 0x100000000);
    if (low === undefined) {
      this.control[POSITION] = at + 2;
      return;
    }
    words[at + 2] = low;
    words[at + 3] = high;
    if (low2 === undefined) {
      this.control[POSITION] = at + 4;
      return;
    }
    words[at + 4] = low2;
    words[at + 5] = high2;
    this.control[POSITION] = at + 6;
  }

  /** Writes a record with some numbers and a text. */
  blob(number, tag, text, ...numbers) {
    const { words } = this;
    let at = this.room(4 + 2 * numbers.length + text.length + 2);
    const begin = at + 4 + 2 * numbers.length;
    // A character has at most 3 bytes, and more than a third of the room is never needed for what is written here.
    let length = 0;
    if (text !== '') {
      const most = (((this.control[CURRENT] % PARTS) + 1) * PART - begin) * 4;
      if (most < text.length * 3) {
        at = this.advance(at);
        return this.blob(number, tag, text, ...numbers);
      }
      length = apply(bufferWrite, this.bytes, [text, begin * 4, most, 'utf8']);
    }
    const padded = (length + 7) & ~7;
    for (let byte = begin * 4 + length; byte < begin * 4 + padded; byte += 1) this.bytes[byte] = 0;
    words[at] = number * 32 + tag;
    words[at + 1] = Math.floor(number / 0x8000000);
    this.put(at + 2, length);
    let next = at + 4;
    for (const each of numbers) {
      this.put(next, each);
      next += 2;
    }
    this.control[POSITION] = begin + padded / 4;
    return undefined;
  }

  /** A number with a 1 behind it, so that it is not 0. */
  put(at, number) {
    this.words[at] = number * 2 + 1;
    this.words[at + 1] = Math.floor(number / 0x80000000);
  }

  /** The number of a text, which is written when it is new. */
  text(text) {
    let number = this.texts.get(text);
    if (number === undefined) {
      number = this.texts.size + 1;
      // First, because the stack may be full: then the text is still new.
      this.blob(number, TEXT, text);
      this.texts.set(text, number);
      // Not `push`, which the program may have replaced by code of its own that is recorded.
      this.names[number] = text;
    }
    return number;
  }

  /** Whether the other thread writes what there is. */
  get isOnline() {
    return this.control[ONLINE] === 1;
  }

  /** Whether nothing more is read. */
  get isClosed() {
    return this.control[STATE] !== RUNNING;
  }
}

module.exports = {
  Wire, POSITION, LIMIT,
  LINE, ENTER, LEAVE, UNWIND, THROW, SUSPEND, RESUME, THREAD, WRITE, TEXT, OBJECT, ATOM, CODE, PLACE, OUTPUT, PASS, SHOWN, FLOAT,
};
