// Writes the ring of record_wire.cjs to files: in a thread of its own every few milliseconds, and in the program's
// thread when it ends.
'use strict';
const { closeSync, existsSync, openSync, renameSync, unlinkSync, writeFileSync } = require('fs');
const { workerData } = require('worker_threads');

const [POSITION, CURRENT, FLUSHED, LOCK, STATE, FILE, OFFSET, ONLINE, SIZES] = [0, 1, 2, 3, 4, 5, 6, 8, 9];
const [RUNNING, CLOSED, LOST] = [0, 1, 2];
const GAP = 17;
const PART = 1 << 16;
const PARTS = 32;
const PAUSE = 2;
// How many files may be unread before the program waits.
const MOST_UNREAD = 256;

/** Waits for the other thread, which is soon done, unless it was ended meanwhile: `patience` is in turns of 10 ms. */
function locked(control, run, patience = 1000) {
  let left = patience;
  while (Atomics.compareExchange(control, LOCK, 0, 1) !== 0) {
    if (Atomics.wait(control, LOCK, 1, 10) === 'timed-out') left -= 1;
    if (left === 0) throw new Error('another thread has ended while it wrote the recording');
  }
  try {
    return run();
  } finally {
    Atomics.store(control, LOCK, 0);
    Atomics.notify(control, LOCK);
  }
}

/** Makes the next file. It has its name only when it is complete. */
function add({ prefix, control }, bytes) {
  const path = `${prefix}-${control[FILE]}`;
  const begun = `${path}.new`;
  const file = openSync(begun, 'w', 0o600);
  try {
    writeFileSync(file, bytes);
    renameSync(begun, path);
  } catch (error) {
    unlinkSync(begun);
    throw error;
  } finally {
    closeSync(file);
  }
  control[FILE] += 1;
}

/**
 * Writes what is there. Of the current part, only what was there the last time, because another processor may see the
 * position before the words; or all, when the thread that writes them calls this.
 */
function flush(data, all, before = 0, patience = undefined) {
  const { shared, control } = data;
  return locked(control, () => {
    const bytes = Buffer.from(shared);
    const current = Atomics.load(control, CURRENT);
    let position = Atomics.load(control, POSITION);
    const start = (current % PARTS) * PART;
    // It is one of the next part already when that is about to become the current one.
    if (!all && (position < start || position >= start + PART)) position = start;
    for (let part = Atomics.load(control, FLUSHED); part <= current; part += 1) {
      const begin = (part % PARTS) * PART;
      let end = control[SIZES + (part % PARTS)];
      if (part === current) end = all ? position : Math.min(position, before);
      const from = begin + control[OFFSET];
      if (end > from) {
        add(data, bytes.subarray(from * 4, end * 4));
        control[OFFSET] = end - begin;
      }
      if (part < current) {
        control[OFFSET] = 0;
        Atomics.store(control, FLUSHED, part + 1);
        Atomics.notify(control, FLUSHED);
      }
    }
    // A part that is not finished yet is not older than this.
    return current === Atomics.load(control, CURRENT) ? position : 0;
  }, patience);
}

/** Ends the recording, and says in it why. */
function lose(data, why) {
  const text = Buffer.from(why);
  const record = Buffer.alloc(16 + ((text.length + 7) & ~7));
  record.writeUInt32LE(GAP, 0);
  record.writeUInt32LE(text.length * 2 + 1, 8);
  text.copy(record, 16);
  Atomics.store(data.control, STATE, CLOSED);
  try {
    locked(data.control, () => add(data, record));
  } catch {
    // Nothing can be written, and the program is not to notice.
  }
}

function run(data) {
  const { prefix, control } = data;
  let before = 0;
  let part = 0;
  let why = 'nothing has read the recording for 10 s';
  Atomics.store(control, ONLINE, 1);
  while (Atomics.load(control, STATE) === RUNNING) {
    Atomics.wait(control, STATE, RUNNING, PAUSE);
    if (existsSync(`${prefix}-closed`)) break;
    if (existsSync(`${prefix}-${control[FILE] - MOST_UNREAD}`)) continue;
    const current = Atomics.load(control, CURRENT);
    try {
      before = flush(data, false, current === part ? before : 0);
      part = current;
    } catch (error) {
      // Space and descriptors may be there again before the program needs the room.
      why = `the recording could not be written for 10 s: ${error.message}`;
    }
  }
  if (Atomics.load(control, STATE) === LOST) {
    try {
      flush(data, false);
    } catch {
      // That is why.
    }
    lose(data, why);
  }
  Atomics.store(control, STATE, CLOSED);
  Atomics.notify(control, FLUSHED);
}

module.exports = { flush, lose };
if (workerData && workerData.stillframe) run(workerData);
