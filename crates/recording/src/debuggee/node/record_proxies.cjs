// Values that libraries keep behind proxies and accessors: they are read without traps and getters.
'use strict';
const { inspect, types } = require('util');

const { apply, getOwnPropertyDescriptor } = Reflect;
const { isArray } = Array;
const { getOwnPropertySymbols } = Object;
const descriptionOf = getOwnPropertyDescriptor(Symbol.prototype, 'description').get;
const mapGet = Map.prototype.get;
// What `inspect` calls of arrays. If the program replaces one of them, its code would run.
const CALLED = ['push', 'join', 'slice', Symbol.iterator];
// How many drafts of drafts are followed.
const MOST_DRAFTS = 10;
const called = CALLED.map((name) => Array.prototype[name]);

/**
 * The object that a proxy was made for; nothing if it was revoked, or made for a function.
 *
 * `util.inspect` alone can read it, and asks its list of the objects that it has seen before it reads another. So it
 * gets a list that takes a note of what it is asked for, and says that it was seen. The first text installs the list.
 */
function insideOf(proxy) {
  for (let at = 0; at < CALLED.length; at += 1) {
    if (getOwnPropertyDescriptor(Array.prototype, CALLED[at])?.value !== called[at]) return undefined;
  }
  let inside;
  const seen = {
    length: 1,
    includes(object) {
      inside ??= object;
      return true;
    },
    indexOf: () => 0,
    push: () => 1,
    pop: () => undefined,
  };
  function stylize(text) {
    this.seen = seen;
    return text;
  }
  const outside = { __proto__: null, get first() { return 0; }, proxy };
  try {
    inspect(outside, { customInspect: false, showProxy: true, depth: 5, stylize });
  } catch {
    // What was found before is enough.
  }
  return typeof inside === 'object' ? inside : undefined;
}

/**
 * What a proxy shows as its contents, given what is inside it: that itself, but in a draft of Immer what it drafts. That
 * may be a draft again.
 */
function shownBy(inside) {
  let at = inside;
  for (let depth = 0; depth < MOST_DRAFTS; depth += 1) {
    const draft = draftIn(at);
    if (draft === undefined) return at;
    const drafted = valueOf(draft, 'copy_') ?? valueOf(draft, 'base_');
    const next = types.isProxy(drafted) ? insideOf(drafted) : undefined;
    if (next === undefined) return drafted;
    at = next;
  }
  return at;
}

/** What a draft of Immer has copied to change it, which becomes what it made; nothing of other proxies. */
function copiedBy(inside) {
  const draft = draftIn(inside);
  return draft === undefined ? undefined : valueOf(draft, 'copy_') ?? undefined;
}

/** The draft that has the one inside a proxy as one of its values from now on. */
function parentOf(inside) {
  const draft = draftIn(inside);
  const parent = draft === undefined ? undefined : valueOf(draft, 'parent_');
  return isOpen(parent) ? valueOf(parent, 'draft_') : undefined;
}

/** What Immer knows of a draft. */
function draftIn(inside) {
  const draft = isArray(inside) ? valueOf(inside, '0') : inside;
  if (!isOpen(draft)) return undefined;
  const base = valueOf(draft, 'base_');
  return typeof base === 'object' && base !== null && valueOf(draft, 'scope_') !== undefined ? draft : undefined;
}

/** What MobX keeps for a property that it has made an accessor; nothing of another, and of one that is computed. */
function observed(object, name) {
  for (const symbol of getOwnPropertySymbols(object)) {
    if (apply(descriptionOf, symbol, []) !== 'mobx administration') continue;
    const administration = valueOf(object, symbol);
    const values = isOpen(administration) ? valueOf(administration, 'values_') : undefined;
    const box = types.isMap(values) ? apply(mapGet, values, [name]) : undefined;
    return isOpen(box) && valueOf(box, 'derivation') === undefined ? getOwnPropertyDescriptor(box, 'value_') : undefined;
  }
  return undefined;
}

/** Whether a value has properties that can be read without a trap. */
function isOpen(value) {
  return typeof value === 'object' && value !== null && !types.isProxy(value);
}

function valueOf(object, name) {
  return getOwnPropertyDescriptor(object, name)?.value;
}

module.exports = { copiedBy, insideOf, observed, parentOf, shownBy };
