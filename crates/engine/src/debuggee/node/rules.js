// Decides at a breakpoint whether to stop, in the program itself: a pass that is none costs no round trip.
// It is evaluated once in every global object that has a breakpoint with rules, and kept as a property of the
// binding by which it talks to the debugger.
(() => {
  const tell = __stillframe;
  const inspect = globalThis.process?.getBuiltinModule?.('util')?.inspect ?? String;
  const options = { depth: 1, breakLength: Infinity, maxArrayLength: 20, maxStringLength: 500, customInspect: false };
  const { now } = Date;
  const passes = new Map();
  const failures = new Map();
  const send = (message) => tell(JSON.stringify(message));

  const flush = () => {
    for (const [id, failure] of failures) report(id, failure);
  };

  const report = (id, failure) => {
    if (failure.times === 0) return;
    send({ kind: 'failed', id, message: failure.message, times: failure.times });
    failure.times = 0;
    failure.told = now();
  };

  // A condition that fails at every pass is told of ten times a second.
  const failed = (id, error) => {
    let failure = failures.get(id);
    if (!failure) {
      failure = { times: 0, told: 0, message: '' };
      failures.set(id, failure);
      if (failures.size === 1) globalThis.process?.once?.('exit', flush);
    }
    failure.times += 1;
    try {
      failure.message = error instanceof Error || error?.stack ? `${error.name}: ${error.message}` : String(error);
    } catch {
      failure.message = 'an error that cannot be shown';
    }
    if (now() - failure.told >= 100) report(id, failure);
  };

  const fill = (parts) => parts.map((part) => {
    if (typeof part === 'string') return part;
    const value = part();
    return typeof value === 'string' ? value : inspect(value, options);
  }).join('');

  // A rule: whose it is, and as functions where it has them the condition, the test of the number of the pass
  // with what that is counted under, and the parts of the message.
  return (rules) => {
    const hit = [];
    for (const { id, condition, pass, count, message } of rules) {
      try {
        if (condition && !condition()) continue;
        if (pass) {
          const number = (passes.get(count) ?? 0) + 1;
          passes.set(count, number);
          if (!pass(number)) continue;
        }
        if (message) send({ kind: 'logged', id, text: fill(message) });
        else hit.push(id);
      } catch (error) {
        failed(id, error);
      }
    }
    if (hit.length > 0) send({ kind: 'hit', ids: hit });
    return hit.length > 0;
  };
})()
