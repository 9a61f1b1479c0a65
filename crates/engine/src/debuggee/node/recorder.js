// Records the values of expressions at each hit of a breakpoint. It is evaluated once in every realm that has such a
// breakpoint, receives the functions of values.js, and is stored as a property of the binding through which the program
// calls the debugger. Rows go to a pipe, one line at a time without buffering, so that they can be read even if the
// program is killed.
// A hit arrives in two ways: from the condition of V8's breakpoint, which calls `pass`, or from a statement that was
// inserted into the source when it was loaded, which is much faster and calls the methods of its point. If a breakpoint
// has both, the condition leaves each hit to the statement.
(values) => {
  const { openSync, writeSync } = values.load('fs');
  const { types } = values.load('util');
  const { performance } = values.load('perf_hooks');
  const process = values.load('process');
  const thread = values.load('worker_threads').threadId;
  const { parse, stringify } = JSON;
  const { Buffer: { byteLength } } = values.load('buffer');
  const { apply } = Reflect;
  const { isWellFormed, replace, slice, toWellFormed } = String.prototype;
  const emit = __stillframe;
  const { rules } = emit;
  const clock = performance.now.bind(performance);
  const began = performance.timeOrigin;
  const { pid } = process;
  // Each realm counts separately. They start at different times, in microseconds.
  const writer = stringify(`${pid}/${thread * 1e12 + Math.trunc(clock() * 1000)}`);
  // Longer lines may mix with those of other writers to the pipe.
  const LONGEST = 4000;
  // The maximum number of characters of a number.
  const LONGEST_NUMBER = 25;
  // Error messages are not truncated below this, because their end matters too.
  const MESSAGE = 1000;
  // After this many hits of the statement, the condition is removed. Removing it interrupts the thread, which Node 20
  // does not handle well in a worker that is about to end.
  const ENOUGH = 20;
  // The maximum age of a reported count, in milliseconds.
  const STALE = 50;

  const points = { __proto__: null };
  const pipes = { __proto__: null };
  let isAsking = false;
  let isWatchingTheEnd = false;

  const open = (path) => {
    try {
      return openSync(path, 'w');
    } catch {
      return null;
    }
  };

  // JSON cannot contain lone surrogates.
  // Node 18 lacks both methods.
  const LONE_SURROGATES = /\p{Surrogate}/gu;
  const wellFormed = isWellFormed === undefined
    ? (text) => apply(replace, text, [LONE_SURROGATES, "\uFFFD"])
    : (text) => (apply(isWellFormed, text, []) ? text : apply(toWellFormed, text, []));
  const quote = (text) => stringify(wellFormed(text));

  const shortened = (text, most) => (text.length > most ? apply(slice, text, [0, most]) + '...' : text);

  // Formatted as everywhere else; the type is already JSON.
  const shownCell = (type, shown) => `[${type},${quote(shown[0])}${shown[4] ? ',1' : ''}]`;

  const textCell = (value, limit) => {
    // The most frequent values. Zero has a sign, and is handled below.
    if (typeof value === 'number' && (value > 0 || value < 0) && limit >= LONGEST_NUMBER) {
      return `["number","${value}"]`;
    }
    const shown = values.cell(value, limit);
    return shownCell(stringify(shown[1]), shown);
  };

  // JSON cannot represent these exactly.
  const isBeyondJson = (value) => {
    switch (typeof value) {
      case 'number':
        return value - value !== 0 || (value === 0 && 1 / value < 0);
      case 'object':
        return types.isMap(value) || types.isSet(value) || types.isNativeError(value) || types.isRegExp(value)
          || types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value);
      case 'string':
      case 'boolean':
        return false;
      default:
        return true;
    }
  };

  const jsonCell = (value, limit) => {
    const type = stringify(typeof value);
    try {
      const json = isBeyondJson(value) ? undefined : stringify(value);
      if (json !== undefined && json.length <= limit) return `[${type},${stringify(json)},2]`;
    } catch {
      // A cycle, a nested bigint, or a `toJSON` that throws.
    }
    return shownCell(type, values.cell(value, limit));
  };

  const flush = () => {
    for (const id in points) points[id].count();
  };

  class Point {
    constructor(id, spec) {
      const { every, changed, max, limit, json, pipe, thread } = parse(spec);
      this.id = id;
      this.spec = spec;
      this.every = every;
      this.changed = changed;
      this.max = max;
      this.limit = limit;
      this.cell = json ? jsonCell : textCell;
      this.pipe = pipes[pipe] === undefined ? (pipes[pipe] = open(pipe)) : pipes[pipe];
      this.head = `[${id},`;
      this.middle = `,${pid},${stringify(thread)},[`;
      this.hits = 0;
      this.counted = 0;
      this.countedAt = 0;
      this.rows = 0;
      this.cells = '';
      this.last = null;
      // The statement in the source has handled a hit, and V8's condition for it is still to come.
      this.isDone = false;
      // The number of times that the condition ran needlessly.
      this.asked = 0;
      this.isOver = false;
    }

    // Whether to evaluate this hit; false while one of our expressions runs.
    begin() {
      if (isAsking) return false;
      this.isDone = true;
      return this.enter();
    }

    enter() {
      if (this.isOver) return false;
      isAsking = true;
      return true;
    }

    // Counts the hit if its condition is true, and returns whether it needs a row.
    counts(met) {
      if (!met) return false;
      this.hits++;
      // An expression may end the program, or never return.
      if (this.hits === 1) this.count();
      if (this.rows < this.max && (this.every === 1 || this.hits % this.every === 1)) return true;
      this.skip();
      return false;
    }

    add(cell) {
      this.cells += (this.cells === '' ? '' : ',') + cell;
    }

    value(value) {
      this.add(this.cell(value, this.limit));
    }

    failure(error) {
      const most = this.limit > MESSAGE ? this.limit : MESSAGE;
      const message = quote(shortened(values.problem(error, most + 1), most));
      this.add(`[null,${message}]`);
    }

    // The condition threw.
    refuse(error) {
      rules.failed(this.id, error);
    }

    row() {
      const cells = this.cells;
      this.cells = '';
      if (this.changed && cells === this.last) return this.skip();
      if (this.changed) this.last = cells;
      this.rows++;
      this.write(`${this.head}${this.hits},${began + clock()}${this.middle}${cells}]]\n`);
    }

    end() {
      isAsking = false;
    }

    skip() {
      const now = clock();
      if (now - this.countedAt < STALE) return;
      this.countedAt = now;
      this.count();
    }

    count() {
      if (this.counted === this.hits) return;
      this.counted = this.hits;
      this.write(`{"id":${this.id},"writer":${writer},"hits":${this.hits}}\n`);
    }

    write(line) {
      if (!isWatchingTheEnd) {
        isWatchingTheEnd = true;
        rules.atExit(flush);
      }
      try {
        if (this.pipe !== null && (line.length * 3 <= LONGEST || byteLength(line) <= LONGEST)) {
          writeSync(this.pipe, line);
        } else {
          emit(stringify({ kind: 'recorded', id: this.id, line }));
        }
      } catch {
        // The reader is gone.
        this.isOver = true;
      }
    }
  }

  const point = (id, spec) => {
    const known = points[id];
    return known !== undefined && known.spec === spec ? known : (points[id] = new Point(id, spec));
  };

  return {
    __proto__: null,
    point,
    flush,

    // Stops recording these.
    over(ids) {
      flush();
      for (let at = 0; at < ids.length; at++) if (points[ids[at]] !== undefined) points[ids[at]].isOver = true;
    },

    // Handles a hit, with an optional condition and the expressions as functions. Returns false, so that the program
    // keeps running.
    pass(id, spec, condition, ...expressions) {
      const here = point(id, spec);
      if (isAsking) return false;
      if (here.isDone) {
        here.isDone = false;
        here.asked++;
        if (here.asked === ENOUGH) emit(stringify({ kind: 'inlined', id }));
        return false;
      }
      if (!here.enter()) return false;
      let met = condition === null;
      try {
        met ||= condition();
      } catch (error) {
        here.refuse(error);
      }
      if (here.counts(met)) {
        for (let at = 0; at < expressions.length; at++) {
          try {
            here.value(expressions[at]());
          } catch (error) {
            here.failure(error);
          }
        }
        here.row();
      }
      here.end();
      return false;
    },
  };
}
