// Writes the ring of record_wire.cjs to files: in a thread of its own every few milliseconds, and in the program's
// thread when it ends.
'use strict';
const fs = require('fs');
const { workerData } = require('worker_threads');

const [POSITION, CURRENT, FLUSHED, LOCK, STATE, FILE, OFFSET, ONLINE, SIZES] = [0, 1, 2, 3, 4, 5, 6, 8, 9];
const [RUNNING, CLOSED] = [0, 1];
const PART = 1 << 16;
const PARTS = 32;
const PAUSE = 2;
// How many files may be unread before the program waits.
const MOST_UNREAD = 256;

/** Waits for the other thread, which is soon done. */
function locked(control, run) {
  while (Atomics.compareExchange(control, LOCK, 0, 1) !== 0) Atomics.wait(control, LOCK, 1, 10);
  try {
    return run();
  } finally {
    Atomics.store(control, LOCK, 0);
    Atomics.notify(control, LOCK);
  }
}

/**
 * Writes what is there. Of the current part, only what was there the last time, because another processor may see the
 * position before the words; or all, when the thread that writes them calls this.
 */
function flush({ prefix, shared, control }, all, before = 0) {
  return locked(control, () => {
    const bytes = Buffer.from(shared);
    const current = Atomics.load(control, CURRENT);
    const position = Atomics.load(control, POSITION);
    for (let part = Atomics.load(control, FLUSHED); part <= current; part += 1) {
      const begin = (part % PARTS) * PART;
      let end = control[SIZES + (part % PARTS)];
      if (part === current) end = all ? position : Math.min(position, before);
      const from = begin + control[OFFSET];
      if (end > from) {
        const number = control[FILE];
        const path = `${prefix}-${number}`;
        const file = fs.openSync(`${path}.new`, 'w', 0o600);
        try {
          fs.writeSync(file, bytes, from * 4, (end - from) * 4);
        } finally {
          fs.closeSync(file);
        }
        fs.renameSync(`${path}.new`, path);
        control[FILE] = number + 1;
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
  });
}

function run(data) {
  const { prefix, control } = data;
  let before = 0;
  let part = 0;
  Atomics.store(control, ONLINE, 1);
  while (Atomics.load(control, STATE) === RUNNING) {
    Atomics.wait(control, STATE, RUNNING, PAUSE);
    if (fs.existsSync(`${prefix}-closed`)) break;
    if (fs.existsSync(`${prefix}-${control[FILE] - MOST_UNREAD}`)) continue;
    const current = Atomics.load(control, CURRENT);
    before = flush(data, false, current === part ? before : 0);
    part = current;
  }
  Atomics.store(control, STATE, CLOSED);
  Atomics.notify(control, FLUSHED);
}

module.exports = { flush };
if (workerData && workerData.stillframe) run(workerData);
