// What code that is not recorded changed further down in the objects that it was given, as `_.set(options, 'a.b', 1)`.
//
// Only objects of which something was recorded are compared. Their number is limited, for each call and over all of
// them, so that a loop that hands a large structure to a library is not slowed down without end.
'use strict';
const { types } = require('util');
const { ARRAY, INSTANCE, MAP, OPAQUE, SET } = require('./record_shapes.cjs');

// Limits on the number of values compared: per call, the initial budget of a thread, and what each call adds to it.
const MOST = 1000;
const CREDIT = 100000;
const MORE = 10;

/**
 * Compares what is known below objects. The budget counts values, not time, so that two runs of
 * a program are recorded in the same way.
 */
class Below {
  constructor(heap, entryOf) {
    this.heap = heap;
    this.entryOf = entryOf;
    this.credit = CREDIT;
    this.left = 0;
    // Entries that were found have the number of the search.
    this.round = 0;
    this.found = [];
    this.objects = [];
  }

  /** Looks below what a call got, which was compared already. `isChanged` says whether the first one had changed. */
  compare(result, isChanged, one, two, three, four) {
    if (this.isOfLanguage(result, isChanged, one)) return;
    this.credit += MORE;
    if (this.credit <= 0) return;
    this.left = MOST;
    this.round += 1;
    // The search before may have been ended by an exception, because the stack was full.
    this.found.length = 0;
    this.add(one);
    this.add(two);
    this.add(three);
    this.add(four);
    if (this.heap.isMade(result)) this.add(result);
    this.search();
    this.credit = Math.min(CREDIT, this.credit - (MOST - this.left));
  }

  /** Whether it was most likely a method of the language, which changes its own object and nothing below. */
  isOfLanguage(result, isChanged, one) {
    const entry = typeof one === 'object' && one !== null ? this.entryOf(one) : undefined;
    switch (entry?.kind) {
      case ARRAY:
        return isChanged;
      case MAP:
      case SET:
        return isChanged || result === one || typeof result === 'boolean';
      case OPAQUE:
        // `set` of a `WeakMap`, and other methods that can be chained.
        return result === one;
      default:
        // A generator has run nothing yet.
        return types.isGeneratorObject(result);
    }
  }

  add(value) {
    if (typeof value !== 'object' || value === null) return;
    const entry = this.entryOf(value);
    if (entry === undefined || !entry.contents || entry.kind === OPAQUE || entry.round === this.round) return;
    entry.round = this.round;
    const at = this.found.length;
    this.found[at] = entry;
    this.objects[at] = value;
  }

  /** Those that were given come first, and need not be compared again; then, level by level, what is below. */
  search() {
    const { found, objects, heap } = this;
    const given = found.length;
    for (let at = 0; at < found.length && this.left > 0; at += 1) {
      const entry = found[at];
      if (at >= given) heap.compare(entry, objects[at], heap.depth);
      this.addContents(entry);
    }
    found.length = 0;
    objects.length = 0;
  }

  addContents({ kind, contents, own }) {
    if (kind === ARRAY) {
      this.left -= contents.length + 1;
      for (let at = 0; at < contents.length; at += 1) this.add(contents[at]);
    } else if (kind === INSTANCE) this.addProperties(contents);
    else {
      this.left -= contents.size + 1;
      for (const item of contents.values()) this.add(item);
    }
    if (own !== null) this.addProperties(own);
  }

  addProperties(properties) {
    this.left -= 1;
    for (const key in properties) {
      this.left -= 1;
      this.add(properties[key]);
    }
  }
}

module.exports = { Below };
