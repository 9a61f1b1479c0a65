// Reports where a thread is and what it waits for. This function is called in the running thread, between two of its
// turns, with Node's lists of timers by their milliseconds, and `this` for what it needs of Node. It runs no code of
// the program: it reads no getters, and calls only Node's own methods on Node's own objects. It returns an array: a
// text in JSON, followed by the functions that the text refers to, counted from 1.
function (timers) {
  const { process, net } = this;
  const functions = [];
  const MOST = 40;
  const FRAMES = 100;

  // An own or inherited property that is not a getter.
  const read = (object, key) => {
    for (let at = object; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
      const found = Object.getOwnPropertyDescriptor(at, key);
      if (found) return found.value;
    }
    return undefined;
  };

  // The value that Node stores under a symbol of this description.
  const hidden = (object, description) => {
    const symbol = Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description);
    return symbol && read(object, symbol);
  };

  const handleOf = (object) => read(object, '_handle') ?? hidden(object, 'kHandle');

  // The class names of an object, the most derived first.
  const classes = (object) => {
    const names = [];
    for (let at = Object.getPrototypeOf(object); at !== null; at = Object.getPrototypeOf(at)) {
      const name = read(Object.getOwnPropertyDescriptor(at, 'constructor')?.value, 'name');
      if (typeof name === 'string') names.push(name);
    }
    return names;
  };

  const numbered = (value) => (typeof value === 'function' ? functions.push(value) : 0);

  const nameOf = (value) => {
    const name = read(value, 'name');
    return typeof name === 'string' && name !== '' ? ` (\`${name}\`)` : '';
  };

  // A listener of an emitter, without the wrapper of `once`.
  const listener = (emitter, ...events) => {
    const all = read(emitter, '_events');
    for (const event of events) {
      let found = all && read(all, event);
      if (Array.isArray(found)) found = found[0];
      found = read(found, 'listener') ?? found;
      if (typeof found === 'function') return found;
    }
    return undefined;
  };

  const stack = () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
    const { stackTraceLimit } = Error;
    try {
      Error.stackTraceLimit = FRAMES;
      Error.prepareStackTrace = (_, sites) =>
        sites.map((site) => [
          site.getFunctionName() ?? '',
          site.getFileName() ?? site.getScriptNameOrSourceURL?.() ?? '',
          site.getLineNumber() ?? 0,
          site.getColumnNumber() ?? 0,
          site.getEnclosingLineNumber?.() ?? 0,
          site.getEnclosingColumnNumber?.() ?? 0,
        ]);
      const at = {};
      Error.captureStackTrace(at, stack);
      // The first one is the call of this function.
      return at.stack.slice(1);
    } catch {
      return [];
    } finally {
      try {
        Error.stackTraceLimit = stackTraceLimit;
        if (before) Object.defineProperty(Error, 'prepareStackTrace', before);
        else delete Error.prepareStackTrace;
      } catch {
        // It is read-only, so it was not changed.
      }
    }
  };

  const pending = [];
  const add = (kind, what, isTimed, code) => {
    if (pending.length < MOST) pending.push([kind, what, isTimed, numbered(code)]);
  };

  const addTimers = () => {
    for (const duration of Object.keys(timers)) {
      const list = timers[duration];
      for (let timer = list._idlePrev; timer !== list && timer; timer = timer._idlePrev) {
        if (timer._destroyed || hidden(timer, 'refed') === false) continue;
        const call = read(timer, '_onTimeout');
        const every = timer._repeat === null || timer._repeat === undefined ? '' : ' that repeats';
        add('timer', `a timer of ${timer._idleTimeout} ms${nameOf(call)}${every}`, true, call);
        if (pending.length >= MOST) return;
      }
    }
  };

  const reported = (handle, method) => {
    const at = {};
    try {
      return handle?.[method]?.(at) === 0 ? at : {};
    } catch {
      return {};
    }
  };

  const written = ({ address, port, family }) => (family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`);

  const addServer = (server) => {
    const name = read(server, '_pipeName');
    const at = reported(handleOf(server), 'getsockname');
    const where = typeof name === 'string' ? `\`${name}\`` : at.port ? `port ${at.port}` : 'a port';
    add('server', `connections to ${where}`, false, listener(server, 'request', 'connection', 'stream', 'secureConnection'));
  };

  const addSocket = (socket) => {
    const handle = handleOf(socket);
    const fd = read(socket, 'fd') ?? handle?.fd;
    if (fd === 1 || fd === 2) return;
    const reads = listener(socket, 'data', 'readable', 'end', 'close');
    if (fd === 0) {
      add('input', 'standard input', false, reads);
      return;
    }
    // It belongs to a server, which is reported.
    const at = reported(handle, 'getpeername');
    const peer = at.port ? ` with ${written(at)}` : '';
    add('socket', read(socket, 'connecting') ? 'a connection to be established' : `data on a connection${peer}`, false, reads);
  };

  const addChild = (child) => {
    const words = read(child, 'spawnargs');
    const command = Array.isArray(words) ? words.join(' ') : String(read(child, 'spawnfile') ?? '');
    const short = command.length > 200 ? `${command.slice(0, 200)}...` : command;
    add('child', `the command \`${short}\`, process ${read(child, 'pid')}`, false, listener(child, 'exit', 'close'));
  };

  const addHandle = (handle) => {
    const names = classes(handle);
    const is = (...wanted) => wanted.some((name) => names.includes(name));
    if (is('ChildProcess')) addChild(handle);
    else if (is('Server')) addServer(handle);
    else if (is('ReadStream', 'WriteStream', 'Socket') && net.Socket.prototype.isPrototypeOf(handle)) addSocket(handle);
    else if (is('Socket')) addDatagrams(handle);
    else if (is('FSWatcher', 'StatWatcher', 'FSEvent')) add('file', 'changes of files, which it watches', false, listener(handle, 'change'));
    else if (is('MessagePort')) ports += 1;
    else if (is('Pipe')) add('socket', 'messages from another process', false);
    else if (!is('Worker')) add('other', `a Node.js handle, a \`${names[0] ?? 'handle'}\``, false);
  };

  const addDatagrams = (socket) => {
    const { port } = reported(read(hidden(socket, 'state symbol'), 'handle'), 'getsockname');
    add('socket', port ? `datagrams on port ${port}` : 'datagrams', false, listener(socket, 'message'));
  };

  const REQUESTS = {
    __proto__: null,
    FSReqCallback: ['file', 'an operation on a file'],
    FSReqPromise: ['file', 'an operation on a file'],
    GetAddrInfoReqWrap: ['socket', 'the address of a host'],
    GetNameInfoReqWrap: ['socket', 'the name of a host'],
    QueryReqWrap: ['socket', 'a response from a name server'],
    TCPConnectWrap: ['socket', 'a connection to be established'],
    PipeConnectWrap: ['socket', 'a connection to be established'],
    WriteWrap: ['socket', 'the other side to read data'],
    ShutdownWrap: ['socket', 'a connection to be closed'],
  };

  const addRequests = () => {
    const counts = { __proto__: null };
    for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
    if (!timers && counts.Timeout) add('timer', `${counts.Timeout} timers`, true);
    for (const name of Object.keys(counts)) {
      const [kind, what] = REQUESTS[name] ?? [];
      if (kind) add(kind, counts[name] > 1 ? `${what}, ${counts[name]} times` : what, false);
      else if (/Request$|ReqWrap$|Job$|^(Zlib|Brotli|PBKDF2|Scrypt|RandomBytes|KeyPair|Sign|Hash)/.test(name)) {
        add('other', `a Node.js operation, \`${name}\``, false);
      }
    }
  };

  // The pipes to a child close with it.
  const pipes = new Set();
  const addPipes = (child) => {
    const all = read(child, 'stdio');
    for (let at = 0; Array.isArray(all) && at < all.length; at++) pipes.add(all[at]);
  };

  let ports = 0;
  const text = stack();
  if (timers) addTimers();
  const handles = process._getActiveHandles();
  for (const handle of handles) if (classes(handle).includes('ChildProcess')) addPipes(handle);
  for (const handle of handles) if (!pipes.has(handle)) addHandle(handle);
  if (ports > 0) {
    add('worker', this.isMainThread ? 'a worker thread, or its messages' : 'messages from the thread that started it', false);
  }
  addRequests();
  return [JSON.stringify({ stack: text, pending }), ...functions];
}
