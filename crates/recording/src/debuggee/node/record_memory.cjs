// Objects that show the same memory: a buffer, and the typed arrays and views of it.
'use strict';
const { types } = require('util');

const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const getter = (prototype, name) => getOwnPropertyDescriptor(prototype, name).get;
const Bytes = Uint8Array;
const typedPrototype = getPrototypeOf(Uint8Array.prototype);
const ofTyped = ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(typedPrototype, name));
const ofView = ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(DataView.prototype, name));
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const sharedLength = getter(SharedArrayBuffer.prototype, 'byteLength');
const hexadecimal = Number.prototype.toString;

// How many objects of the same buffer are known at once. Small buffers of Node share one.
const MOST = 32;

/** Whether an object shows memory without being an array of numbers. */
function hasBytes(value) {
  return types.isDataView(value) || types.isAnyArrayBuffer(value);
}

/** The buffer of an object, and from where to where it shows it; nothing of other objects, and where that is gone. */
function rangeOf(value) {
  try {
    if (types.isAnyArrayBuffer(value)) {
      return [value, 0, apply(types.isSharedArrayBuffer(value) ? sharedLength : bufferLength, value, [])];
    }
    const getters = types.isTypedArray(value) ? ofTyped : types.isDataView(value) ? ofView : undefined;
    if (getters === undefined) return undefined;
    const start = apply(getters[1], value, []);
    return [apply(getters[0], value, []), start, start + apply(getters[2], value, [])];
  } catch {
    return undefined;
  }
}

/** The first bytes that an object shows, as text. */
function shownBytes(value, most) {
  const range = rangeOf(value);
  if (range === undefined) return '';
  let text = '';
  try {
    const length = range[2] - range[1];
    const bytes = new Bytes(range[0], range[1], length < most ? length : most);
    for (let at = 0; at < length && at < most; at += 1) {
      text += `${bytes[at] < 16 ? ' 0' : ' '}${apply(hexadecimal, bytes[at], [16])}`;
    }
    return length > most ? `${text} …` : text;
  } catch {
    return '';
  }
}

class Memory {
  // What is known to show a buffer, by buffer: weak references, with what is known of each.
  views = new WeakMap();

  add(value, entry) {
    const range = rangeOf(value);
    if (range === undefined) return;
    let known = this.views.get(range[0]);
    if (known === undefined) {
      known = { views: [], next: 0 };
      this.views.set(range[0], known);
    }
    known.views[known.next % MOST] = { view: new WeakRef(value), entry };
    known.next += 1;
  }

  /** What else shows some of the memory of an object: what is known of it, and the object, one after the other. */
  others(value) {
    const range = rangeOf(value);
    const known = range === undefined ? undefined : this.views.get(range[0]);
    const found = [];
    if (known === undefined) return found;
    const { views } = known;
    for (let at = 0; at < views.length && views.length > 1; at += 1) {
      const other = views[at].view.deref();
      const there = other === undefined || other === value ? undefined : rangeOf(other);
      if (there === undefined || there[1] >= range[2] || range[1] >= there[2]) continue;
      found[found.length] = views[at].entry;
      found[found.length] = other;
    }
    return found;
  }
}

module.exports = { Memory, hasBytes, shownBytes };
