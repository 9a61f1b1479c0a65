// Decides in the program whether a breakpoint stops, so that a hit that does not stop needs no round trip. It is
// evaluated once in every realm that has a breakpoint with rules, and stored as a property of the binding through which
// it calls the debugger. It captures the built-ins that it needs at once, and uses neither iterators nor methods
// afterwards: the program may have replaced them by then.
(() => {
  const emit = __stillframe;
  // Test runners look for new properties of the global object: V8 adds an enumerable one.
  Reflect.defineProperty(globalThis, '__stillframe', { __proto__: null, enumerable: false });
  const { stringify } = JSON;
  const { now } = Date;
  const text = String;
  const inspect = globalThis.process?.getBuiltinModule?.('util')?.inspect ?? text;
  const options = { depth: 1, breakLength: Infinity, maxArrayLength: 20, maxStringLength: 500, customInspect: false };
  const passes = { __proto__: null };
  const failures = { __proto__: null };
  let isWatchingTheEnd = false;
  const send = (message) => emit(stringify(message));

  const report = (id, failure) => {
    if (failure.times === 0) return;
    send({ kind: 'failed', id, message: failure.message, times: failure.times });
    failure.times = 0;
    failure.reportedAt = now();
  };

  const flush = () => {
    for (const id in failures) report(+id, failures[id]);
  };

  const describe = (error) => {
    try {
      return error?.stack ? `${error.name}: ${error.message}` : text(error);
    } catch {
      return 'an error that cannot be shown';
    }
  };

  // `newListener` of the program does not report this one.
  const atExit = (last) => {
    const { process } = globalThis;
    const events = process?._events;
    if (events === undefined) return;
    const { newListener } = events;
    if (newListener !== undefined) events.newListener = undefined;
    process.once('exit', last);
    if (newListener !== undefined) events.newListener = newListener;
  };

  // A condition that fails at each hit is reported ten times a second.
  const failed = (id, error) => {
    const failure = (failures[id] ??= { times: 0, reportedAt: 0, message: '' });
    if (!isWatchingTheEnd) {
      isWatchingTheEnd = true;
      atExit(flush);
    }
    failure.times += 1;
    failure.message = describe(error);
    if (now() - failure.reportedAt >= 100) report(id, failure);
  };

  const fill = (parts) => {
    let filled = '';
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at];
      const value = typeof part === 'string' ? part : part();
      filled += typeof value === 'string' ? value : inspect(value, options);
    }
    return filled;
  };

  // A rule: its owner, and as optional functions the condition, the test of the hit count with the key that it is
  // counted under, and the parts of the message.
  const decide = (rules) => {
    const hit = [];
    for (let at = 0; at < rules.length; at++) {
      const { id, condition, pass, count, message, record } = rules[at];
      try {
        if (record) {
          record();
          continue;
        }
        if (condition && !condition()) continue;
        if (pass) {
          const number = (passes[count] ?? 0) + 1;
          passes[count] = number;
          if (!pass(number)) continue;
        }
        if (message) send({ kind: 'logged', id, text: fill(message) });
        else hit[hit.length] = id;
      } catch (error) {
        failed(id, error);
      }
    }
    if (hit.length > 0) send({ kind: 'hit', ids: hit });
    return hit.length > 0;
  };
  decide.failed = failed;
  decide.atExit = atExit;
  return decide;
})()
