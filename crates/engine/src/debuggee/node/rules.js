// Decides at a breakpoint whether to stop, in the program itself: a pass that is none costs no round trip.
// It is evaluated once in every global object that has a breakpoint with rules, and kept as a property of the
// binding by which it talks to the debugger. What it needs of the language it takes at once, and it uses
// neither iterators nor methods afterwards: the program may have others in their place by then.
(() => {
  const tell = __stillframe;
  const { stringify } = JSON;
  const { now } = Date;
  const text = String;
  const inspect = globalThis.process?.getBuiltinModule?.('util')?.inspect ?? text;
  const options = { depth: 1, breakLength: Infinity, maxArrayLength: 20, maxStringLength: 500, customInspect: false };
  const passes = { __proto__: null };
  const failures = { __proto__: null };
  let isWatchingTheEnd = false;
  const send = (message) => tell(stringify(message));

  const report = (id, failure) => {
    if (failure.times === 0) return;
    send({ kind: 'failed', id, message: failure.message, times: failure.times });
    failure.times = 0;
    failure.told = now();
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

  // A condition that fails at each hit is reported ten times a second.
  const failed = (id, error) => {
    const failure = (failures[id] ??= { times: 0, told: 0, message: '' });
    if (!isWatchingTheEnd) {
      isWatchingTheEnd = true;
      globalThis.process?.once?.('exit', flush);
    }
    failure.times += 1;
    failure.message = describe(error);
    if (now() - failure.told >= 100) report(id, failure);
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

  // A rule: whose it is, and as functions where it has them the condition, the test of the number of the pass
  // with what that is counted under, and the parts of the message.
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
  return decide;
})()
