// The objects of a recording: which they are, and what of their contents has been written.
//
// An object is numbered when it is first seen. Its number is in a private field that is added to it, which the program
// cannot see. Nothing here runs code of the program: properties are read by their descriptors, and the contents of maps
// and sets by the methods that the language has for them.
'use strict';
const { types } = require('util');
const { copiedBy, insideOf, observed, parentOf, shownBy } = require('./record_proxies.cjs');
const { Memory, hasBytes, shownBytes } = require('./record_memory.cjs');
const { ARRAY, CLASS, FUNCTION, INSTANCE, MAP, OPAQUE, SET, Shapes, isDerived } = require('./record_shapes.cjs');
const { Symbols } = require('./record_symbols.cjs');
const { WRITE, OBJECT, ATOM, FLOAT, POSITION } = require('./record_wire.cjs');

// What a value is, in the lowest 3 bits of its word.
const [INTEGER, CONSTANT, ATOMIC, REFERENCE] = [1, 2, 3, 4];
const [NULL, TRUE, FALSE, ABSENT, UNDEFINED] = [0, 1, 2, 3, 4].map((number) => number * 8 + CONSTANT);
// What a key is, in the lowest 2 bits of its number.
const [NAME, INDEX, ITEM, LENGTH] = [0, 1, 2, 3];
// How many texts are known by their value, and up to which length.
const MOST_KNOWN = 50000;
const LONGEST_KNOWN = 256;
// The same of numbers: so many bits of a hash say where one is.
const FLOAT_BITS = 14;
const ANONYMOUS = '(anonymous)';
// The length of an object of which it is written that its contents are not.
const UNREAD = -2;

const { apply, getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect;
const { is } = Object;
const { isArray } = Array;
const { floor, imul } = Math;
const toText = String;
const mapEntries = Map.prototype.entries;
const mapGet = Map.prototype.get;
const mapHas = Map.prototype.has;
const mapSize = getOwnPropertyDescriptor(Map.prototype, 'size').get;
const setValues = Set.prototype.values;
const setSize = getOwnPropertyDescriptor(Set.prototype, 'size').get;
const functionText = Function.prototype.toString;
const { join } = Array.prototype;
const isHeld = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const isoDate = Date.prototype.toISOString;
const dateTime = Date.prototype.getTime;
const regexpSource = getOwnPropertyDescriptor(RegExp.prototype, 'source').get;
const FLAGS = Object.entries({
  hasIndices: 'd', global: 'g', ignoreCase: 'i', multiline: 'm', dotAll: 's', unicode: 'u', unicodeSets: 'v', sticky: 'y',
}).map(([name, letter]) => [getOwnPropertyDescriptor(RegExp.prototype, name)?.get, letter]);
const typedLength = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), 'length').get;

/** What is known of an object. */
class Entry {
  constructor(number, kind, name) {
    this.number = number;
    this.kind = kind;
    this.name = name;
    // What has been written: items, or values by key. Null if nothing was.
    this.contents = null;
    // The same for the properties of something of another kind that may have them.
    this.own = null;
    this.length = -1;
    // A property cannot be written, so that an assignment need not have had an effect.
    this.isGuarded = false;
    // What there is a proxy for, which this is about, too.
    this.inside = null;
    // It holds a value, which is all that is read of it.
    this.isHolder = false;
    // Some of its fields are not written yet.
    this.isUnsettled = false;
    // It is what a module of the program exports.
    this.isModule = false;
    // The number of what it inherits from; 0 if that is built into the language.
    this.prototype = 0;
    // Instances of a class of a library inherit from it: its methods are not recorded.
    this.isForeign = false;
    // The search that last came to it.
    this.round = 0;
  }
}

function isIndex(key) {
  return key >= '0' && key <= '9~' && `${key >>> 0}` === key;
}

/** Whether an array has more than items and a length, such as the match of a regular expression. */
function hasProperties(array) {
  const keys = isArray(array) ? ownKeys(array) : [];
  return keys.length > 0 && keys[keys.length - 1] !== 'length';
}

/** The name of a function that is not a proxy. */
function nameOf(value) {
  const name = getOwnPropertyDescriptor(value, 'name')?.value;
  return typeof name === 'string' && name !== '' ? name : ANONYMOUS;
}

/** The letters of the flags of a regular expression. */
function flagsOf(pattern) {
  let flags = '';
  for (const [get, letter] of FLAGS) if (get !== undefined && apply(get, pattern, [])) flags += letter;
  return flags;
}

/** A variable of a module; nothing before it is initialized. */
function readable(module, name) {
  try {
    return getOwnPropertyDescriptor(module, name);
  } catch {
    return undefined;
  }
}

/** What is known of the properties of an object: V8 reads these faster than an object that has no prototype. */
function Properties() {}
Properties.prototype = Object.create(null);

class Same {
  constructor(object) {
    return object;
  }
}

/** A private field of whatever object the constructor gets. */
class Stamp extends Same {
  #entry;

  static get(object) {
    return #entry in object ? object.#entry : undefined;
  }

  static set(object, entry) {
    new Stamp(object).#entry = entry;
  }
}

/** Whether values are a proxy and what is behind it, of which the same is known. */
function isSameObject(one, other) {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const entry = Stamp.get(one);
  return entry !== undefined && entry === Stamp.get(other);
}

class Heap {
  constructor(wire, { items, depth, text }) {
    this.wire = wire;
    this.items = items;
    this.depth = depth;
    this.mostText = text;
    this.strings = new Map();
    // Numbers that are not integers, and their atoms; and room to see the bits of one.
    this.floats = new Float64Array(1 << FLOAT_BITS);
    this.floatAtoms = new Uint32Array(1 << FLOAT_BITS);
    this.float = new Float64Array(1);
    this.floatBits = new Uint32Array(this.float.buffer);
    // The entries of the program's own functions and classes, and the words of others. A private field would make
    // functions of different kinds where V8 has one.
    this.functions = new WeakMap();
    this.shapes = new Shapes();
    this.symbols = new Symbols();
    this.memory = new Memory();
    // The objects that functions of the language are bound to, by function.
    this.bound = new WeakMap();
    this.count = 0;
    this.atoms = 0;
    // The number of the call that makes the changes.
    this.by = 0;
    // The word of the value that was last asked for.
    this.low = 0;
    this.high = 0;
  }

  // -- values --------------------------------------------------------------------------------------------------------

  /** Puts the word of a value into `low` and `high`. What is new of it is written first. */
  word(value, depth = this.depth) {
    switch (typeof value) {
      case 'number':
        this.number(value);
        return;
      case 'boolean':
        this.constant(value ? TRUE : FALSE);
        return;
      case 'undefined':
        this.constant(UNDEFINED);
        return;
      case 'string':
        this.string(value);
        return;
      case 'symbol':
        this.symbols.textOf(value);
        this.atom('symbol', toText(value));
        return;
      case 'bigint':
        this.atom('bigint', `${toText(value)}n`);
        return;
      case 'function':
        this.named(value);
        return;
      default:
        if (value === null) this.constant(NULL);
        else this.object(value, depth);
    }
  }

  number(value) {
    if (floor(value) === value && value < 0x100000000000 && value > -0x100000000000 && (value !== 0 || 1 / value > 0)) {
      this.low = value * 8 + INTEGER;
      this.high = floor(value / 0x20000000);
      return;
    }
    this.float[0] = value;
    const low = this.floatBits[0];
    const high = this.floatBits[1];
    const at = imul(low ^ imul(high, 0x85EBCA6B), 0x9E3779B1) >>> (32 - FLOAT_BITS);
    if (!is(this.floats[at], value)) {
      this.atoms += 1;
      this.wire.record(this.atoms * 32 + FLOAT, low, high, this.wire.text('number') * 2 + 1);
      this.floats[at] = value;
      this.floatAtoms[at] = this.atoms;
    }
    this.numbered(this.floatAtoms[at], ATOMIC);
  }

  string(value) {
    if (value.length > LONGEST_KNOWN) {
      this.atom('string', value, true);
      return;
    }
    const known = this.strings.get(value);
    if (known !== undefined) {
      this.numbered(known, ATOMIC);
      return;
    }
    this.atom('string', value, true);
    if (this.strings.size > MOST_KNOWN) this.strings.clear();
    this.strings.set(value, this.atoms);
  }

  /** In place of the value of a variable that is not there. */
  absent() {
    this.constant(ABSENT);
  }

  constant(word) {
    this.low = word;
    this.high = 0;
  }

  numbered(number, kind) {
    this.low = number * 8 + kind;
    this.high = floor(number / 0x20000000);
  }

  /** A value that is only text. The text of a string is the string itself. */
  atom(type, text, isString = false) {
    const { length } = text;
    const isCut = length > this.mostText;
    this.atoms += 1;
    const flags = (isString ? length * 4 + 2 : 0) + (isCut ? 1 : 0);
    const name = this.wire.text(type);
    this.wire.blob(this.atoms, ATOM, isCut ? text.slice(0, this.mostText) : text, name, flags);
    this.numbered(this.atoms, ATOMIC);
  }

  /** A function or a class: with its properties if it is the program's own. */
  named(value) {
    const known = this.functions.get(value) ?? this.newNamed(value);
    if (typeof known === 'number') {
      this.numbered(known, ATOMIC);
      return;
    }
    if (known.contents === null) {
      known.contents = undefined;
      known.isUnsettled = false;
      this.compareProperties(known, value, this.depth);
      if (known.kind === CLASS) this.inherited(known, value);
    } else if (known.isUnsettled) {
      known.isUnsettled = false;
      this.compareProperties(known, value, this.depth);
    }
    this.numbered(known.number, REFERENCE);
  }

  /** Writes which of the program's own classes a class inherits from. */
  inherited(known, value) {
    const bases = [];
    for (let at = getPrototypeOf(value); typeof at === 'function' && !types.isProxy(at); at = getPrototypeOf(at)) {
      this.named(at);
      if (typeof this.functions.get(at) !== 'number') bases[bases.length] = at;
    }
    if (bases.length === 0) return;
    this.word(bases);
    this.write(this.wire.text('__bases__') * 4 + NAME, known.number);
  }

  newNamed(value) {
    const isProxy = types.isProxy(value);
    const text = isProxy ? '' : apply(functionText, value, []);
    const shown = isProxy ? ANONYMOUS : nameOf(value);
    const kind = text.startsWith('class') ? CLASS : FUNCTION;
    let known;
    if (text.includes('__$')) known = this.numberedEntry(kind, shown);
    else {
      this.atom('function', isProxy ? '<function>' : `<${kind === CLASS ? 'class' : 'function'} ${shown}>`);
      known = this.atoms;
    }
    this.functions.set(value, known);
    return known;
  }

  object(value, depth) {
    const entry = Stamp.get(value) ?? this.newEntry(value);
    if (depth > 0 && (entry.contents === null || entry.isUnsettled)) {
      if (entry.contents === null) entry.contents = undefined;
      if (entry.length === UNREAD) this.markRead(entry);
      this.compare(entry, value, depth);
    } else if (entry.contents === null && entry.kind === INSTANCE && entry.length === -1) this.markUnread(entry);
    this.numbered(entry.number, REFERENCE);
  }

  /** Without this, it would look like one without properties. Containers have a length once they are read. */
  markUnread(entry) {
    entry.length = UNREAD;
    this.constant(NULL);
    this.write(LENGTH, entry.number);
  }

  markRead(entry) {
    entry.length = -1;
    this.constant(ABSENT);
    this.write(LENGTH, entry.number);
  }

  newEntry(value) {
    const entry = this.stamped(value);
    if (entry.prototype !== 0) this.showInherited(value);
    return entry;
  }

  stamped(value) {
    const inside = types.isProxy(value) ? insideOf(value) : undefined;
    const entry = inside === undefined ? this.entryFor(value) : this.entryBehind(inside);
    Stamp.set(value, entry);
    if (inside !== undefined) this.check(parentOf(inside));
    return entry;
  }

  entryFor(value) {
    const maker = this.shapes.makerOf(value);
    const [kind, name, isHolder] = maker === undefined ? this.shapes.of(value) : [INSTANCE, `${nameOf(maker)}.prototype`];
    const hasOwn = kind <= SET && isDerived(value);
    const entry = this.numberedEntry(kind, name, kind === INSTANCE || hasOwn ? this.prototypeOf(value) : 0);
    if (hasOwn) entry.own = new Properties();
    if (maker !== undefined) entry.isForeign = !this.shapes.isOwn(maker);
    this.memory.add(value, entry);
    if (isHolder) entry.isHolder = entry.isGuarded = true;
    return entry;
  }

  /** The number of what an object inherits from. Its contents may lead to the object, which is to be known by then. */
  prototypeOf(value) {
    const prototype = this.shapes.prototypeOf(value);
    return prototype === null ? 0 : (Stamp.get(prototype) ?? this.stamped(prototype)).number;
  }

  /** Writes what an object inherits. */
  showInherited(value) {
    for (let at = this.shapes.prototypeOf(value); at !== null; at = this.shapes.prototypeOf(at)) {
      const entry = Stamp.get(at);
      if (entry === undefined) return;
      if (entry.contents === null) this.object(at, this.depth);
      else this.comparePrototype(entry, at);
    }
  }

  /** An object may inherit from another one than before. */
  comparePrototype(entry, value) {
    if (entry.kind !== INSTANCE && entry.own === null) return;
    const number = this.prototypeOf(value);
    if (number === entry.prototype) return;
    entry.prototype = number;
    this.writeEntry(entry);
    this.showInherited(value);
  }

  /** What is known of a proxy: the same as of the object behind it, which both change. */
  entryBehind(inside) {
    const shown = shownBy(inside);
    const entry = shown === inside ? Stamp.get(inside) ?? this.newEntry(inside) : this.entryFor(shown);
    entry.inside = inside;
    entry.isGuarded = true;
    return entry;
  }

  /** What a proxy shows; null if that is not known. */
  behind(proxy) {
    const { inside } = Stamp.get(proxy) ?? this.newEntry(proxy);
    return inside === null ? null : shownBy(inside);
  }

  numberedEntry(kind, name, prototype = 0) {
    this.count += 1;
    const entry = new Entry(this.count, kind, name);
    entry.prototype = prototype;
    this.writeEntry(entry);
    return entry;
  }

  writeEntry({ number, kind, name, prototype }) {
    this.wire.record(number * 32 + OBJECT, this.wire.text(name) * 8 + kind, prototype);
  }

  // -- contents ------------------------------------------------------------------------------------------------------

  /** Writes what has changed in an object since it was seen. */
  check(value) {
    if (typeof value === 'function') this.checkNamed(value);
    if (typeof value !== 'object' || value === null) return;
    const entry = Stamp.get(value) ?? this.newEntry(value);
    if (entry.contents === null) this.object(value, this.depth);
    else this.compare(entry, value, this.depth);
  }

  /** What properties lead to from an object, as far as no code of the program runs for it. */
  follow(object, steps) {
    let at = object;
    for (const step of steps) {
      if (typeof at !== 'object' || at === null) return at;
      const from = types.isProxy(at) ? this.behind(at) : at;
      const next = from === null ? undefined : getOwnPropertyDescriptor(from, step)?.value;
      if (next === undefined) return at;
      at = next;
    }
    return at;
  }

  /** A function of the language was bound to objects, which it may change when it is called. */
  bind(made, objects) {
    if (typeof made === 'function' && objects.length > 0) this.bound.set(made, objects);
  }

  /** What `low` is for an object or a function that is known; for others, 0. */
  lowOf(value) {
    const known = typeof value === 'function' ? this.functions.get(value) : Stamp.get(value);
    if (known === undefined) return 0;
    return typeof known === 'number' ? known * 8 + ATOMIC : known.number * 8 + REFERENCE;
  }

  /** What a module of the program exports has variables, which may not be initialized yet. */
  module(value) {
    if (!types.isModuleNamespaceObject(value) || Stamp.get(value) !== undefined) return;
    const entry = this.numberedEntry(INSTANCE, 'Module');
    entry.isGuarded = entry.isModule = true;
    Stamp.set(value, entry);
  }

  checkModule(value) {
    if (typeof value === 'object' && value !== null && Stamp.get(value)?.isModule) this.check(value);
  }

  /** What a library made of a proxy, as its result. */
  isMade(value) {
    if (typeof value !== 'object' || value === null) return false;
    const entry = Stamp.get(value);
    return entry !== undefined && entry.inside !== null && !types.isProxy(value);
  }

  checkNamed(value) {
    const objects = this.bound.get(value);
    if (objects !== undefined) for (let at = 0; at < objects.length; at += 1) this.check(objects[at]);
    const known = this.functions.get(value);
    if (known === undefined || known.contents === null) this.named(value);
    else if (typeof known !== 'number') this.compareProperties(known, value, this.depth);
  }

  /** Whether a value is a function that is not the program's own. */
  isUnrecorded(value) {
    return typeof value === 'function' && typeof (this.functions.get(value) ?? this.newNamed(value)) === 'number';
  }

  /** Whether the methods of a value are those of the language, or recorded. */
  hasKnownMethods(value) {
    if (!isHeld(value)) return true;
    const entry = typeof value === 'object' ? Stamp.get(value) : undefined;
    const isContainer = entry !== undefined && entry.kind <= SET && entry.inside === null;
    // A property may hide a method.
    if (isContainer && entry.own !== null) return false;
    return (isContainer && entry.prototype === 0) || this.shapes.hasKnownMethods(value);
  }

  /** Compares a regular expression that begins its next match elsewhere. */
  checkPattern(value) {
    const entry = typeof value === 'object' && value !== null ? Stamp.get(value) : undefined;
    if (entry !== undefined && entry.kind === OPAQUE && entry.own !== null) this.compare(entry, value, this.depth);
  }

  /** The same, unless it is an object whose properties are written by code that is recorded. */
  checkContainer(value) {
    if (typeof value !== 'object' || value === null) return;
    const entry = Stamp.get(value);
    const isContainer = entry !== undefined && entry.contents !== null && (entry.kind <= SET || entry.isHolder);
    if (isContainer) this.compare(entry, value, this.depth);
  }

  compare(entry, object, depth) {
    let value = object;
    entry.isUnsettled = false;
    if (entry.inside !== null) {
      value = shownBy(entry.inside);
      const copy = copiedBy(entry.inside);
      if (copy !== undefined && Stamp.get(copy) === undefined) Stamp.set(copy, entry);
    }
    if (entry.contents !== undefined) this.comparePrototype(entry, value);
    switch (entry.kind) {
      case ARRAY:
        this.compareItems(entry, value, depth);
        if (entry.own === null && entry.length <= this.items && hasProperties(value)) entry.own = new Properties();
        break;
      case MAP:
        this.comparePairs(entry, value, depth);
        break;
      case SET:
        this.compareMembers(entry, value, depth);
        break;
      case INSTANCE:
        if (entry.isHolder) this.compareHeld(entry, value, depth);
        else this.compareProperties(entry, value, depth);
        break;
      default:
        this.compareText(entry, value);
    }
    if (entry.own !== null) this.compareProperties(entry, value, depth, entry.own);
  }

  compareItems(entry, value, depth, from = 0) {
    const length = isArray(value) ? value.length : apply(typedLength, value, []);
    const old = entry.contents ?? (entry.contents = []);
    const most = length < this.items ? length : this.items;
    let isChanged = false;
    for (let index = from; index < most; index += 1) {
      const item = this.item(value, index);
      if (index >= old.length || !is(old[index], item)) {
        const isSame = index < old.length && isSameObject(old[index], item);
        old[index] = item;
        if (isSame) continue;
        isChanged = true;
        this.word(item, depth - 1);
        this.write(index * 4 + INDEX, entry.number);
      }
    }
    for (let index = most; index < old.length; index += 1) {
      this.constant(ABSENT);
      this.write(index * 4 + INDEX, entry.number);
    }
    if (old.length > most) old.length = most;
    this.setLength(entry, length);
    if (isChanged && !isArray(value)) this.compareMemory(value);
  }

  /** Compares what shows the same memory as an object that has changed. */
  compareMemory(value) {
    const others = this.memory.others(value);
    for (let at = 0; at < others.length; at += 2) {
      if (others[at].contents !== null) this.compare(others[at], others[at + 1], this.depth);
    }
  }

  /** An item of an array; an array may have a getter, or none. */
  item(value, index) {
    const descriptor = getOwnPropertyDescriptor(value, index);
    return descriptor !== undefined && 'value' in descriptor ? descriptor.value : undefined;
  }

  comparePairs(entry, value, depth) {
    const old = entry.contents ?? (entry.contents = new Map());
    const seen = new Set();
    let count = 0;
    for (const [key, item] of apply(mapEntries, value, [])) {
      count += 1;
      if (count > this.items) break;
      seen.add(key);
      if (!old.has(key) || !is(old.get(key), item)) this.pair(entry, key, item, depth);
    }
    for (const key of old.keys()) {
      if (!seen.has(key) && !apply(mapHas, value, [key])) this.removePair(entry, key);
    }
    this.setLength(entry, apply(mapSize, value, []));
  }

  pair(entry, key, item, depth) {
    entry.contents.set(key, item);
    const number = this.keyOf(key);
    this.word(item, depth - 1);
    this.write(number * 4 + ITEM, entry.number);
  }

  removePair(entry, key) {
    entry.contents.delete(key);
    const number = this.keyOf(key);
    this.constant(ABSENT);
    this.write(number * 4 + ITEM, entry.number);
  }

  compareMembers(entry, value, depth) {
    const old = entry.contents ?? (entry.contents = new Map());
    const seen = new Set();
    let count = 0;
    for (const item of apply(setValues, value, [])) {
      count += 1;
      if (count > this.items) break;
      seen.add(item);
      if (!old.has(item)) this.pair(entry, item, item, depth);
    }
    for (const item of old.keys()) if (!seen.has(item)) this.removePair(entry, item);
    this.setLength(entry, apply(setSize, value, []));
  }

  compareProperties(entry, value, depth, old = entry.contents ?? (entry.contents = new Properties())) {
    const isError = types.isNativeError(value);
    const isArrays = entry.kind === ARRAY;
    const read = entry.isModule ? readable : getOwnPropertyDescriptor;
    const keys = ownKeys(value);
    let count = 0;
    for (const own of keys) {
      const key = typeof own === 'symbol' ? this.symbols.known(own) : own;
      if (key === undefined || (isError && key === 'stack') || (isArrays && isIndex(key))) continue;
      const descriptor = read(value, own);
      if (descriptor === undefined) continue;
      const kept = 'value' in descriptor ? descriptor : observed(value, key);
      if (kept === undefined) continue;
      if (!descriptor.writable) entry.isGuarded = true;
      if (!descriptor.enumerable && !isError) continue;
      count += 1;
      if (count > this.items) break;
      const item = kept.value;
      if (entry.isForeign && typeof item === 'function') continue;
      if (!(key in old) || !is(old[key], item)) {
        const isSame = isSameObject(old[key], item);
        old[key] = item;
        if (isSame) continue;
        this.word(item, depth - 1);
        this.write(this.wire.text(key) * 4 + NAME, entry.number);
      }
    }
    for (const key in old) {
      if (key[0] !== '#' && read(value, this.symbols.keyOf(key)) === undefined) {
        delete old[key];
        this.constant(ABSENT);
        this.write(this.wire.text(key) * 4 + NAME, entry.number);
      }
    }
  }

  /** An object that holds a value, which its class gives as its property `value`. */
  compareHeld(entry, object, depth) {
    const old = entry.contents ?? (entry.contents = new Properties());
    const value = getOwnPropertyDescriptor(object, '_value')?.value;
    if ('value' in old && is(old.value, value)) return;
    old.value = value;
    this.word(value, depth - 1);
    this.write(this.wire.text('value') * 4 + NAME, entry.number);
  }

  /** An object of which only a text is shown. */
  compareText(entry, value) {
    let text = `<${entry.name}>`;
    if (types.isDate(value)) {
      text = Number.isNaN(apply(dateTime, value, [])) ? 'Invalid Date' : apply(isoDate, value, []);
    } else if (types.isRegExp(value)) {
      const flags = flagsOf(value);
      text = `/${apply(regexpSource, value, [])}/${flags}`;
      if (/[gy]/.test(flags)) this.compareIndex(entry, value);
    } else if (hasBytes(value)) {
      text = `<${entry.name}${shownBytes(value, this.items)}>`;
    }
    if (entry.contents === text) return;
    entry.contents = text;
    this.atom(entry.name, text);
    this.write(NAME, entry.number);
    if (hasBytes(value)) this.compareMemory(value);
  }

  /** Where a regular expression begins its next match. */
  compareIndex(entry, pattern) {
    const index = getOwnPropertyDescriptor(pattern, 'lastIndex').value;
    if (entry.own === null) entry.own = new Properties();
    if (entry.own.lastIndex === index) return;
    entry.own.lastIndex = index;
    this.word(index);
    this.write(this.wire.text('lastIndex') * 4 + NAME, entry.number);
  }

  setLength(entry, length) {
    if (length === entry.length) return;
    entry.length = length;
    this.number(length);
    this.write(LENGTH, entry.number);
  }

  /** A write to an object, of the word in `low` and `high`. */
  write(key, object) {
    this.writeTo(key, object * 4 + 3);
  }

  writeTo(key, owner, tag = WRITE) {
    const { wire } = this;
    const at = wire.room(6);
    const { words } = wire;
    words[at] = key * 32 + tag;
    words[at + 1] = floor(key / 0x8000000);
    words[at + 2] = owner;
    words[at + 3] = this.by;
    words[at + 4] = this.low;
    words[at + 5] = this.high;
    wire.control[POSITION] = at + 6;
  }

  // -- single writes -------------------------------------------------------------------------------------------------

  /** A property of an object was set to a value. */
  property(object, name, text, value) {
    if (typeof object === 'function') this.checkNamed(object);
    if (typeof object !== 'object' || object === null) return;
    const entry = Stamp.get(object);
    const isKnown = entry !== undefined && entry.contents !== null && !entry.isUnsettled;
    const isOpen = isKnown && entry.kind === INSTANCE && !entry.isGuarded;
    if (!isOpen || !isExtensible(object)) {
      if (isKnown && entry.kind === ARRAY && text !== 'length') entry.own ??= new Properties();
      this.check(object);
      return;
    }
    const { contents } = entry;
    const old = contents[text];
    if (old === undefined && !(text in contents)) {
      const descriptor = getOwnPropertyDescriptor(object, text);
      // It is a setter, or the object is frozen.
      if (descriptor === undefined || !('value' in descriptor)) {
        this.check(object);
        return;
      }
    } else if (old === value && (value !== 0 || is(old, value))) return;
    contents[text] = value;
    if (typeof value === 'number' && (value | 0) === value && value !== 0) {
      this.low = value << 3 | INTEGER;
      this.high = value >> 29;
    } else this.word(value, this.depth - 1);
    this.write(name * 4 + NAME, entry.number);
  }

  /** A private field of an object was set to a value. */
  field(object, name, text, value) {
    // Its constructor may still run, so that its other contents are not read.
    const entry = this.entryOf(object);
    if (typeof entry !== 'object') return;
    if ((entry.kind === INSTANCE || entry.kind === CLASS) && entry.contents !== null) {
      if (text in entry.contents && is(entry.contents[text], value)) return;
      entry.contents[text] = value;
    }
    this.word(value, this.depth - 1);
    this.write(name * 4 + NAME, entry.number);
  }

  /** A field is about to get its first value. */
  declare(object, name, text, value) {
    const entry = this.entryOf(object);
    if (typeof entry !== 'object') return;
    if (entry.contents === null) {
      if (typeof object === 'function') this.named(object);
      else this.object(object, this.depth);
    }
    entry.isUnsettled = true;
    // Of a class, the prototype cannot be written.
    const isOpen = (entry.kind === CLASS || entry.kind === INSTANCE && !entry.isGuarded) && isExtensible(object);
    const contents = isOpen ? entry.contents : entry.own;
    if (contents === null) return;
    contents[text] = value;
    this.word(value, this.depth - 1);
    this.write(name * 4 + NAME, entry.number);
  }

  /** An object may have fields that are not written. */
  unsettle(object) {
    const entry = this.entryOf(object);
    if (typeof entry === 'object') entry.isUnsettled = true;
  }

  /** What is known of a value with private fields. */
  entryOf(value) {
    if (typeof value === 'function') return this.functions.get(value) ?? this.newNamed(value);
    return typeof value === 'object' && value !== null ? Stamp.get(value) ?? this.newEntry(value) : undefined;
  }

  /** An item of an object was set to a value. */
  setItem(object, key, value) {
    if (typeof object === 'function') this.checkNamed(object);
    if (typeof object !== 'object' || object === null) return;
    const entry = Stamp.get(object);
    const isOpen = entry !== undefined && entry.contents !== null && entry.inside === null;
    if (!isOpen || (entry.kind !== OPAQUE && !isExtensible(object))) {
      this.check(object);
      return;
    }
    if (entry.kind === ARRAY && typeof key === 'number' && key >= 0 && floor(key) === key) {
      const { contents } = entry;
      const isBeyond = key >= contents.length && key >= this.items;
      if (isArray(object) && object.length !== entry.length && (object.length !== key + 1 || entry.length !== key)) {
        this.compareItems(entry, object, this.depth);
        if (!isBeyond) return;
      }
      if (isArray(object) ? key >= object.length : key >= entry.length) return;
      // A typed array stores what its numbers have room for.
      if (!isArray(object)) value = object[key];
      if (key < contents.length || key === contents.length && !isBeyond) {
        if (key < contents.length && is(contents[key], value)) return;
        contents[key] = value;
      }
      this.word(value, this.depth - 1);
      this.write(key * 4 + INDEX, entry.number);
      if (isArray(object)) this.setLength(entry, object.length);
      else this.compareMemory(object);
      return;
    }
    if (entry.kind === INSTANCE && (typeof key === 'string' || typeof key === 'number')) {
      const text = toText(key);
      this.property(object, this.wire.text(text), text, value);
      return;
    }
    if (typeof key === 'symbol') this.symbols.textOf(key);
    this.compare(entry, object, this.depth);
  }

  /** Items may have been added at the end of an array, or whatever else a method of that name does. */
  appended(object) {
    if (typeof object !== 'object' || object === null) return;
    const entry = Stamp.get(object);
    if (entry === undefined || entry.contents === null || entry.inside !== null) this.check(object);
    else if (entry.kind === ARRAY && isArray(object) && object.length >= entry.length) {
      this.compareItems(entry, object, this.depth, entry.length < this.items ? entry.length : this.items);
    } else this.checkContainer(object);
  }

  // -- texts ---------------------------------------------------------------------------------------------------------

  /** The number of the text of a key of a map or a member of a set. */
  keyOf(key) {
    const { wire } = this;
    switch (typeof key) {
      case 'string':
        return wire.text(quoted(key.length > this.mostText ? key.slice(0, this.mostText) : key));
      case 'object':
        if (key === null) return wire.text('null');
        this.object(key, this.depth - 1);
        return wire.text(`${Stamp.get(key).name} #${Stamp.get(key).number}`);
      case 'function':
        return wire.text(`function ${toText(getOwnPropertyDescriptor(key, 'name')?.value)}`);
      case 'bigint':
        return wire.text(`${toText(key)}n`);
      default:
        return wire.text(toText(key));
    }
  }

  /** The type and the message of an exception, as an atom. */
  exception(error) {
    if (error === null) {
      this.atom('null', '');
      return;
    }
    if (typeof error !== 'object') {
      this.atom(typeof error, typeof error === 'function' ? '' : toText(error));
      return;
    }
    const read = (name) => {
      for (let at = error, depth = 0; at !== null && depth < 10; at = getPrototypeOf(at), depth += 1) {
        if (types.isProxy(at)) return undefined;
        const descriptor = getOwnPropertyDescriptor(at, name);
        if (descriptor !== undefined) return typeof descriptor.value === 'string' ? descriptor.value : undefined;
      }
      return undefined;
    };
    const type = this.shapes.className(error, 'Error');
    const own = read('name');
    const name = type === 'Error' && own !== undefined && own !== '' ? own : type;
    this.atom(name, read('message') ?? this.fields(error));
  }

  /** The first properties of an object that is thrown and has no message. */
  fields(object) {
    if (types.isProxy(object)) return '';
    const parts = [];
    for (const key of ownKeys(object)) {
      const descriptor = typeof key === 'string' ? getOwnPropertyDescriptor(object, key) : undefined;
      if (descriptor === undefined || !('value' in descriptor) || isHeld(descriptor.value)) continue;
      if (parts.length === 4) break;
      parts[parts.length] = `${key} = ${toText(descriptor.value)}`;
    }
    return apply(join, parts, [', ']);
  }
}

/** A string as the questions spell it. */
function quoted(text) {
  if (!/['\\\p{C}]/u.test(text)) return `'${text}'`;
  return JSON.stringify(text);
}

module.exports = { Heap, entryOf: Stamp.get };
