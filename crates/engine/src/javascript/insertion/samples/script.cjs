// Statements of all kinds that run, as they are usually written and as nobody would.
'use strict';

// The first statement.
const seen = [];
let later;
let total = 0,
  other = 1;
var empty;
var none, some = 1;
const { length } = seen;
const { x: { y = 3 } = {}, ...rest } = { z: 1 };
const [
  head,
  ...tail
] = [1, 2, 3];
const [first, , third = () => 1] = [1];
const add = (a, b) => a + b;
const said = (value) => {
  console.log('said', value);
  return value;
};
const { a1, b1 = 2 } = said({ a1: 1 });
const [c1, d1, ...e1] = said([1, 2]);
const { [said('f1')]: f1, g1 = said(3) } = said({});
var [h1] = said([1]), i1 = said(2);
let j1, k1 = said(j1);
[j1, k1] = said([1, 2]);
[j1 = said(1), k1] = said([, 2]);
({ j1, k1 = said(5) } = said({ j1: 4 }));
({ j1: seen[said(0)] } = said({ j1: 4 }));
[said(seen)[1]] = said([5]);
said(seen)[said(0)] = said(1);
seen[said(0)] += said(1);
seen.x = seen.y = said(1);
seen.length = 0;
j1 = k1 = said(1), k1 = said(2);
j1 = (() => said(7))();
j1 = [() => said(8)][0]();
said(1) ? said(2) : said(3);
said(0) || said(1) && said(2);
seen[said('m')]?.(said(3));
new (said(class { a = said(1); }))(said(2));
said(said)(said(1));
`${said(1)} ${said(2)}`;
said`a${said(1)}`;
throw_();
function throw_() {
  try {
    throw said(new Error('e'), 1);
  } catch { said('caught');
    return said(1), said(2);
  }
}
const twice = (a) => {
  return a * 2;
};
const made = function () {
  const inner = 5;
  return inner;
};
const text = `one
${add(1, 2)} two`; total += 1;
total += 2;
const long =
  add(1, 2);
const object = {
  a: 1,
  b() {
    return this.a;
  },
  get c() {
    total++;
    return total;
  },
};

function defaults(a = add(1, 1), { b } = { b: a }) {
  a += b;
  return a;
}

function kinds(value) {
  if (value) {
    later = 'truthy';
  } else if (value === 0) {
    later = 'zero';
  } else {
    later = undefined;
  }
  if (!value) total = 0;
  if (value > 1 && value < 5)
    total = value;
  switch (value) {
    case 0:
      total += 1;
    case 1:
      total += 2;
      break;
    case add(1, 1): {
      total += 3;
      break;
    }
    default:
      return total;
  }
  switch (add(value, 1)) {
    case 3: return 'three';
    default:
  }
  return value
    + total;
}

function copies(a, b) {
  a = b;
  b = a;
  let c = a;
  c = a;
  a = c + b;
  this_ = a;
  return a;
}
var this_;

function loops(list) {
  for (let i = 0; i < 2; i++) {
    total += i;
    let inside;
    inside = i;
    if (i === 5) continue;
    seen.push(() => i);
  }
  for (const item of list) {
    total += item;
    if (item > 2) {
      continue;
    }
    seen.push(item);
  }
  for (const key in { a: 1, b: 2 }) {
    seen.push(key);
  }
  let count = 3;
  while (count > 0) {
    count--;
    if (count === 1) {
      break;
    }
  }
  do {
    count++;
    total += count;
  } while (count < 3);
  while (true) {
    if (count++ > 5) break;
    total++;
  }
  outer: for (;;) {
    for (;;) {
      count--;
      if (count < 0) {
        break outer;
      }
    }
  }
  named: {
    total++;
    if (total) {
      break named;
    }
    total--;
  }
  return count;
}

function faults(how) {
  try {
    total++;
    if (how) throw new TypeError('no');
    return 'fine';
  } catch (error) {
    later = error;
    return error.message;
  } finally {
    seen.push('finally');
    total--;
  }
}

function rethrown() {
  const error = new RangeError('again');
  try {
    throw error;
  } catch {
    total++;
    throw error;
  }
}

function unreachable(a) {
  if (a) {
    return hoisted();
    total++;
  } else {
    throw 2;
  }
  total--;
  function hoisted() {
    return 1;
  }
}

function certain(a) {
  if (false) {
    total++;
  }
  if (true) {
    total++;
  }
  if (true || a) total++;
  if (a && 0) {
    total++;
  }
  if (!0) return total;
  total--;
  return a;
}

class Base {
  static made = add(0, 0);
  static {
    Base.made++;
    const here = this;
    here.made++;
  }
  #secret = () => {
    total++;
    return 7;
  };
  field = this.#secret();
  constructor(name) {
    this.name = name;
    Base.made++;
  }
  get secret() {
    const value = this.#secret();
    return value;
  }
  set secret(value) {
    this.#secret = () => value;
  }
  static of(...names) {
    return names.map((name) => {
      const one = new this(name);
      return one;
    });
  }
  *[Symbol.iterator]() {
    yield this.name;
    const got = yield;
    yield* [got, 2];
    return 3;
  }
}

class Derived extends Base {
  constructor(name) {
    const given = name;
    super(given);
    this.more = super.secret;
  }
  async wait(value) {
    await value;
    const got = await add(value, 1);
    later = await got;
    for await (const one of [1, Promise.resolve(2)]) {
      total += one;
      await null;
    }
    await Promise.all([
      value,
      got,
    ]);
    return await got;
  }
  async *steps() {
    yield 1;
    const two = await 2;
    yield two;
    try {
      yield* [3, 4];
    } finally {
      total++;
    }
  }
}

function expressions(a, b) {
  a.x = 1;
  a.x;
  a;
  5;
  'text';
  `text ${a}`;
  void 0;
  !a;
  typeof a;
  a === b;
  a + b;
  [a];
  ({ a });
  (function () {
    total++;
  })();
  (() => {
    total++;
  })();
  !function () {
    total++;
  }();
  void add(1, 2);
  delete a.x;
  a ??= b;
  a.y ||= 2;
  a && add(1, 2);
  a || add(1, 2);
  a ? add(1, 2) : add(3, 4);
  a?.toString();
  a?.[0]?.b.c();
  new Base('x');
  new Date;
  add(1, 2), add(3, 4);
  a, add(1, 2);
  total++;
  ++total;
  [total, other] = [other, total];
  ({ z: a.z } = b);
  String.raw`x${a}`;
  tag`a
b`;
  a.list = [1, 2]
    .map((each) => each + 1)
    .filter(Boolean);
  a
    .list
    .forEach((each) => {
      total += each;
    });
  add(
    add(1, 2),
    3,
  );
  debugger;
  arguments[0] = 1;
  return a = b;
}

function tag(parts) {
  return parts.length;
}

function sloppy() {
  return new Function('a', 'with (a) {\n  b = 1;\n}');
}

function nothing() {
}

function bareReturn() {
  total++;
  return;
}

function recursion(depth) {
  if (depth === 0) {
    return 0;
  }
  const below = recursion(depth - 1);
  return below + 1;
}

async function main() {
  console.log(length, y, rest, head, tail, first, third(), text, long, object.b(), object.c, twice(2), made());
  console.log(defaults(), defaults(1), some, none, empty);
  for (const value of [0, 1, 2, 3, undefined]) {
    console.log(kinds(value), later, total);
  }
  console.log(copies(1, 2), this_);
  console.log(loops([1, 2, 3]), seen.length);
  console.log(faults(true), faults(false));
  try { rethrown(); } catch (error) { console.log(error.message); }
  try { unreachable(0); } catch (error) { console.log(error); }
  console.log(unreachable(1), certain(1));
  console.log(Base.of('a', 'b').map((one) => one.secret), Base.made);
  console.log([...new Base('c')]);
  const derived = new Derived('d');
  derived.secret = 9;
  console.log(derived.secret, derived.more, derived.field, await derived.wait(3));
  for await (const step of derived.steps()) console.log(step);
  console.log(expressions({ w: [] }, { z: 1 }), total);
  console.log(sloppy().length, nothing(), bareReturn(), recursion(3));
  const slow = new Promise((resolve) => setTimeout(resolve, 1, 'slow'));
  console.log(await slow);
  setImmediate(() => {
    console.log('last', total);
  });
}

main();
