// The rings of worker threads (record_wire.cjs), for the main thread: where it ends a worker, the thread that writes the
// worker's ring to files ends at once as well.
'use strict';
const { BroadcastChannel, Worker, receiveMessageOnPort, threadId } = require('worker_threads');
const { flush } = require('./record_flusher.cjs');
const { LIMIT } = require('./record_wire.cjs');

const NAME = 'stillframe.record';
const { apply } = Reflect;

/** Gives the main thread the ring of this one. */
exports.announce = (ring) => {
  const channel = new BroadcastChannel(NAME);
  channel.postMessage({ thread: threadId, ring });
  channel.close();
};

/** From now on, this thread writes what is in the rings of workers before it ends them. */
exports.watch = () => {
  const rings = new Map();
  const channel = new BroadcastChannel(NAME);
  const add = ({ thread, ring }) => rings.set(thread, ring);
  channel.onmessage = ({ data }) => add(data);
  channel.unref();

  let patience = 5;
  const write = (thread) => {
    const ring = rings.get(thread);
    rings.delete(thread);
    // A thread that has ended by itself has written everything.
    if (ring === undefined || ring.control[LIMIT] === 0) return;
    try {
      // Twice, because another processor may have seen the position before the words.
      flush(ring, false, flush(ring, false, 0, patience), patience);
    } catch {
      // There is no space on the disk, which the thread itself would say. Or its thread was ended while it wrote, and so
      // may others have been, for which this one is not to wait as long.
      patience = 1;
    }
  };
  const receive = () => {
    for (let next = receiveMessageOnPort(channel); next !== undefined; next = receiveMessageOnPort(channel)) {
      add(next.message);
    }
  };
  const own = Worker.prototype.terminate;
  const value = function terminate(callback, ...others) {
    receive();
    write(this?.threadId);
    return apply(own, this, [callback, ...others]);
  };
  Object.defineProperty(Worker.prototype, 'terminate', { configurable: true, writable: true, value });
  process.on('exit', () => {
    receive();
    for (const thread of rings.keys()) write(thread);
  });
};
