// Reads values inside a Node.js program. This is one expression, whose value is an object of functions that only the
// debugger references. It is evaluated with the console's `require` in scope, once in each context, while the program
// is suspended.
// Nothing here runs the program's code unless requested: no getter, proxy trap or custom inspection. So every object is
// first checked for a proxy, properties are read through descriptors, and nothing is used that the program may have
// replaced: neither array methods nor `for … of`.
((setterOf) => {
  "use strict";
  // In scope only while this expression is evaluated.
  const load = require;
  const { types, inspect } = load("util");
  const moduleOfModules = load("module");
  const { promiseHooks } = load("v8");

  // If the program has replaced built-ins that we need, take pristine ones from a new context.
  const now = globalThis;
  const isNative = (found) => {
    const text = typeof found === "function" ? now.Function.prototype.toString.call(found) : "";
    return text.endsWith("{ [native code] }");
  };
  const needed = [
    now.Reflect.ownKeys, now.Reflect.apply, now.Reflect.getOwnPropertyDescriptor, now.Reflect.getPrototypeOf, now.Object.keys, now.Object.is,
    now.Reflect.defineProperty, now.Object.isFrozen, now.Object.prototype.hasOwnProperty, now.Object.prototype.propertyIsEnumerable,
    now.Array.isArray, now.String.prototype.slice, now.String.prototype.charCodeAt, now.String.prototype.indexOf, now.RegExp.prototype.exec,
    now.Map.prototype.entries, now.Map.prototype.get, now.Map.prototype.set, now.Set.prototype.values, now.Set.prototype.has,
    now.Set.prototype.add, now.WeakMap.prototype.get, now.WeakMap.prototype.set, now.Date.prototype.toISOString,
    now.Date.prototype.getTime, now.Symbol.prototype.toString, now.BigInt.prototype.toString, now.Number.prototype.toString,
  ];
  let isWhole = isNative(now.String.prototype.endsWith) && isNative(now.Function.prototype.call);
  for (let at = 0; isWhole && at < needed.length; at++) isWhole = isNative(needed[at]);
  const realm = isWhole ? now : load("vm").runInNewContext("this");
  const {
    Reflect: { apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor: descriptorOf, set: assignTo, defineProperty: define },
    Object: { keys: enumerableKeys, is, isFrozen, prototype: plainPrototype },
    Error: { captureStackTrace },
    Array: { isArray },
    String, RegExp, Number, BigInt, Symbol, Function, Date, Map, Set, WeakMap, Boolean,
    Uint8Array, ArrayBuffer, SharedArrayBuffer, DataView, TypeError,
  } = realm;
  const stringify = isWhole && isNative(now.JSON?.stringify) ? now.JSON.stringify : undefined;
  const method = (prototype, name) => {
    const found = descriptorOf(prototype, name);
    const call = found.get ?? found.value;
    return (self, ...rest) => apply(call, self, rest);
  };
  const hasOwn = method(plainPrototype, "hasOwnProperty");
  const isEnumerable = method(plainPrototype, "propertyIsEnumerable");
  const sliceText = method(String.prototype, "slice");
  const charCode = method(String.prototype, "charCodeAt");
  const indexIn = method(String.prototype, "indexOf");
  const padded = method(String.prototype, "padStart");
  const test = method(RegExp.prototype, "exec");
  const hexadecimal = method(Number.prototype, "toString");
  const bigText = method(BigInt.prototype, "toString");
  const symbolText = method(Symbol.prototype, "toString");
  const sourceText = method(Function.prototype, "toString");
  const isoDate = method(Date.prototype, "toISOString");
  const dateTime = method(Date.prototype, "getTime");
  const regexSource = method(RegExp.prototype, "source");
  const regexFlags = method(RegExp.prototype, "flags");
  const mapSize = method(Map.prototype, "size");
  const mapEntries = method(Map.prototype, "entries");
  const mapNext = method(getPrototypeOf(new Map().entries()), "next");
  const mapSet = method(Map.prototype, "set");
  const mapGet = method(Map.prototype, "get");
  const setSize = method(Set.prototype, "size");
  const setValues = method(Set.prototype, "values");
  const setNext = method(getPrototypeOf(new Set().values()), "next");
  const setHas = method(Set.prototype, "has");
  const setAdd = method(Set.prototype, "add");
  const typedPrototype = getPrototypeOf(Uint8Array.prototype);
  const typedLength = method(typedPrototype, "length");
  const typedName = method(typedPrototype, Symbol.toStringTag);
  const bufferLength = method(ArrayBuffer.prototype, "byteLength");
  const sharedLength = method(SharedArrayBuffer.prototype, "byteLength");
  const viewLength = method(DataView.prototype, "byteLength");
  const ofBoxed = {
    __proto__: null,
    Number: method(Number.prototype, "valueOf"),
    String: method(String.prototype, "valueOf"),
    Boolean: method(Boolean.prototype, "valueOf"),
    BigInt: method(BigInt.prototype, "valueOf"),
    Symbol: method(Symbol.prototype, "valueOf"),
  };
  const weakGet = method(WeakMap.prototype, "get");
  const weakSet = method(WeakMap.prototype, "set");
  const { toStringTag, iterator, hasInstance } = Symbol;
  // A `vm` context has no own Buffer; buffers that it uses come from the main context.
  const bufferPrototype = load("buffer").Buffer.prototype;

  // Larger objects and arrays are not searched for symbols and other extra properties.
  const MANY = 10000;
  // The depth to which containers are shown.
  const DEPTH = 24;
  // The number of holes that are counted one by one.
  const HOLES = 1000;

  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  const isProxy = types.isProxy;

  // -------------------------------------------------------------------------------------------------------
  // Properties

  // A property of an object or its prototypes, if it can be found without running code.
  const lookup = (object, key) => {
    for (let at = object, steps = 0; at !== null && steps < 1000; at = getPrototypeOf(at), steps++) {
      if (isProxy(at)) return undefined;
      const found = own(at, key);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  // The descriptor of a property; one without value and accessors is an uninitialized binding, or an unread stack.
  const own = (object, key) => {
    try {
      if (careful && key === "stack" && isUnprepared(object)) return UNREAD;
      const found = descriptorOf(object, key);
      if (found?.get === undefined) return found;
      return key === "stack" && isEngines(found.get) ? withStack(found, object) : unwatched(found);
    } catch {
      return { __proto__: null, uninitialized: true, enumerable: true };
    }
  };

  const isEngines = (found) => indexIn(sourceText(found), "[native code]") >= 0;

  // Since Node.js 22, V8 has an accessor for the stack of each error.
  const withStack = ({ get, enumerable, configurable }, error) =>
    ({ __proto__: null, value: apply(get, error, []), writable: true, enumerable, configurable });

  // Watched properties, by the getter that stands in for each.
  const watched = new WeakMap();
  // Those that were found, by object and key.
  const storages = new WeakMap();
  // Promises that evaluations have made.
  const made = new WeakMap();
  let endWatch;

  // The descriptor that a watched property had.
  const unwatched = (found) => {
    const watch = weakGet(watched, found.get);
    if (watch === undefined) return found;
    const { enumerable, configurable } = found;
    return { __proto__: null, value: watch.value, writable: !isReadOnly(watch.object, found), enumerable, configurable };
  };

  // Whether the object of a watched property was frozen since. Accessors do not show that, as those of a sealed object
  // that has no other properties.
  const isReadOnly = (object, found) => !found.configurable && isFrozen(object);

  // Stores a value in a watched property. Returns whether to stop, or what to throw.
  const store = (watch, receiver, value, setter) => {
    const { object, key } = watch;
    if (isReadOnly(object, descriptorOf(object, key))) {
      return refusal(readOnlyText(receiver, key), setter);
    }
    if (receiver !== object) {
      // An object that inherits the property gets its own, as usual.
      const added = { __proto__: null, value, writable: true, enumerable: true, configurable: true };
      return !define(receiver, key, added) && refusal("Cannot add property " + keyText(key) + ", object is not extensible", setter);
    }
    const before = watch.value;
    watch.value = value;
    return watch.writes && !is(before, value);
  };

  const keyText = (key) => (typeof key === "symbol" ? symbolText(key) : key);

  // What the engine says of a property that is read-only.
  const readOnlyText = (receiver, key) => {
    const kind = typeof receiver === "function" ? "function" : "object";
    const text = kind === "function" ? sourceText(receiver) : isArray(receiver) ? "[object Array]" : "#<" + typeName(receiver) + ">";
    return "Cannot assign to read only property '" + keyText(key) + "' of " + kind + " '" + text + "'";
  };

  // What strict code throws for a write that fails; false elsewhere. The caller of a function is unknown if it is strict.
  const refusal = (text, setter) => {
    if (setter.caller !== null) return false;
    const error = new TypeError(text);
    captureStackTrace(error, setter);
    return error;
  };

  const data = (descriptor) => (descriptor !== undefined && "value" in descriptor ? descriptor.value : undefined);

  const prototypeOf = (object) => (isProxy(object) ? null : getPrototypeOf(object));

  const hasInChain = (object, wanted) => {
    for (let at = object, steps = 0; at !== null && steps < 1000; steps++) {
      if (isProxy(at)) return false;
      at = getPrototypeOf(at);
      if (at === wanted) return true;
    }
    return false;
  };

  // The name of the class of an object; undefined if it has no prototype, or an unnamed one.
  const classOf = (object) => {
    for (let at = object, steps = 0; at !== null && steps < 1000; at = getPrototypeOf(at), steps++) {
      if (isProxy(at)) return null;
      const maker = data(own(at, "constructor"));
      if (typeof maker !== "function" || isProxy(maker)) continue;
      // Mongoose calls the class of each model `model`.
      const itsOwn = data(own(maker, "name"));
      const model = itsOwn === "model" ? data(own(maker, "modelName")) : undefined;
      const name = typeof model === "string" ? model : itsOwn;
      const made = data(own(maker, "prototype"));
      if (typeof name === "string" && name !== "" && isObject(made) && hasInChain(object, made)) {
        return clip(name, 200);
      }
    }
    return null;
  };

  // The stack of an error is computed when it is first read, even through its descriptor: with the program's
  // prepareStackTrace if there is one, and a header from the error's properties. If no code of the program may run, it
  // is not read.
  let careful = false;
  const UNREAD = { __proto__: null, unread: true, enumerable: false };

  // Only the engine's own property is not enumerable.
  const isUnprepared = (object) =>
    !isEnumerable(object, "stack") && hasOwn(object, "stack") && (preparesStacks(object) || writesHead(object));

  // Whether the header of a stack depends on a getter, or on an object, whose toString would run. Node's own errors
  // include the code.
  const writesHead = (object) =>
    runsWhenRead(object, "name") || runsWhenRead(object, "message") || (runsWhenRead(object, "code") && isNodesOwn(object));

  const runsWhenRead = (object, key) => {
    const found = lookup(object, key);
    return found !== undefined && (!("value" in found) || isObject(found.value));
  };

  const isNodesOwn = (object) => {
    for (let at = object, steps = 0; at !== null && steps < 1000; at = getPrototypeOf(at), steps++) {
      if (isProxy(at)) return true;
      const keys = ownKeys(at);
      for (let which = 0; which < keys.length; which++) {
        if (typeof keys[which] === "symbol" && symbolText(keys[which]) === "Symbol(kIsNodeError)") return true;
      }
    }
    return false;
  };

  // V8's own `Error`, even if the program has replaced it.
  const genuine = (() => {
    try {
      return null.missing;
    } catch (error) {
      return data(descriptorOf(getPrototypeOf(getPrototypeOf(error)), "constructor"));
    }
  })();

  // Some versions of Node set one.
  const NODES_OWN = /^function ErrorPrepareStackTrace\(error, trace\) \{\s*return \w+\(error, trace\);\s*\}$/;

  // The descriptor of an error constructor's prepareStackTrace.
  const preparationOf = (maker) => {
    if (!isObject(maker) || isProxy(maker)) return undefined;
    const found = own(maker, "prepareStackTrace");
    if (found === undefined || !("value" in found)) return found;
    if (typeof found.value !== "function") return undefined;
    return !isProxy(found.value) && test(NODES_OWN, sourceText(found.value)) !== null ? undefined : found;
  };

  // Node uses the `Error` of the global object.
  const preparesStacks = (object) => {
    for (let at = object, steps = 0; at !== null && steps < 1000; at = getPrototypeOf(at), steps++) {
      if (isProxy(at) || preparationOf(data(own(at, "constructor"))) !== undefined) return true;
    }
    return preparationOf(genuine) !== undefined || preparationOf(data(own(now, "Error"))) !== undefined;
  };

  // The withheld descriptors with their constructors, and the number of active users.
  let withheld = [];
  let withholders = 0;

  const withhold = () => {
    withholders++;
    const makers = [genuine, data(own(now, "Error"))];
    for (let at = 0; at < makers.length; at++) {
      const found = preparationOf(makers[at]);
      if (found === undefined) continue;
      if (!define(makers[at], "prepareStackTrace", { __proto__: null, value: undefined })) return false;
      withheld[withheld.length] = [makers[at], { __proto__: null, ...found }];
    }
    return true;
  };

  const giveBack = () => {
    if (--withholders > 0) return null;
    for (let at = withheld.length - 1; at >= 0; at--) define(withheld[at][0], "prepareStackTrace", withheld[at][1]);
    withheld = [];
    return null;
  };

  const BINDING = "__stillframe";

  // Caches the keys of the last very large objects, because listing them takes long.
  let manyKeys = new WeakMap();
  let hasManyKeys = false;
  let epoch = -1;

  const keysOf = (object) => {
    const known = weakGet(manyKeys, object);
    if (known !== undefined) return known;
    let found;
    try {
      found = enumerableKeys(object);
    } catch {
      return ownKeys(object); // A module with uninitialized bindings.
    }
    if (found.length <= MANY) {
      if (types.isPromise(object)) return promiseKeys(object);
      return own(object, BINDING) === undefined ? ownKeys(object) : keysWithoutBinding(object);
    }
    weakSet(manyKeys, object, found);
    hasManyKeys = true;
    return found;
  };

  // The global object has our binding.
  const keysWithoutBinding = (object) => {
    const keys = [];
    const all = ownKeys(object);
    for (let at = 0; at < all.length; at++) if (all[at] !== BINDING) keys[keys.length] = all[at];
    return keys;
  };

  // Node numbers promises while a debugger asks for asynchronous stacks.
  const promiseKeys = (promise) => {
    const keys = [];
    const all = ownKeys(promise);
    for (let at = 0; at < all.length; at++) {
      const name = typeof all[at] === "symbol" ? symbolText(all[at]) : "";
      if (name !== "Symbol(async_id_symbol)" && name !== "Symbol(trigger_async_id_symbol)") keys[keys.length] = all[at];
    }
    return keys;
  };

  const isIndex = (key) => typeof key === "string" && test(/^(?:0|[1-9]\d{0,9})$/, key) !== null && +key < 4294967295;

  // Keys of an array-like that are not elements: they come after those.
  const extraKeys = (object, length) => {
    const extra = [];
    if (length > MANY) return extra;
    const all = ownKeys(object);
    let first = all.length;
    while (first > 0 && !isIndex(all[first - 1])) first--;
    for (let at = first; at < all.length; at++) extra[extra.length] = all[at];
    return extra;
  };

  // -------------------------------------------------------------------------------------------------------
  // Internal values

  // JavaScript cannot read the result of a promise or the target of a proxy. `util.inspect` can, and checks its list of
  // seen objects before it reads each object. So it gets a list that records the objects and reports all of them as
  // seen. The first styled text installs the list. Undefined if the program has replaced what `util.inspect` uses.
  const peek = (inside) => {
    const notes = [];
    for (let at = 0; at < USED_BY_INSPECT.length; at++) {
      if (data(own(arrays, USED_BY_INSPECT[at])) !== usedByInspect[at]) return notes;
    }
    let entered = false;
    const seen = {
      __proto__: null,
      length: 1,
      includes(object) {
        if (object === inside && !entered) {
          entered = true;
          return false;
        }
        notes[notes.length] = { __proto__: null, value: object };
        return true;
      },
      indexOf: () => 0,
      push: () => 1,
      pop: () => undefined,
    };
    let first = true;
    const stylize = function (text, style) {
      if (first) {
        first = false;
        this.seen = seen;
      } else if (entered || text === "<Revoked Proxy>") {
        notes[notes.length] = { __proto__: null, text, style };
      }
      return text;
    };
    const outside = { __proto__: null, get first() { return 0; }, inside };
    const options = { customInspect: false, showProxy: true, depth: 5, maxStringLength: 1000, stylize };
    try {
      inspect(outside, options);
    } catch {
      // Keep what was recorded before.
    }
    return notes;
  };

  // It uses arrays of the main context, even in another one.
  const arrays = getPrototypeOf(moduleOfModules.builtinModules);
  const USED_BY_INSPECT = ["push", "join", "slice", Symbol.iterator];
  const usedByInspect = [];
  for (let at = 0; at < USED_BY_INSPECT.length; at++) {
    const found = data(own(arrays, USED_BY_INSPECT[at]));
    usedByInspect[at] = isNative(found) ? found : {};
  }

  // Whether `util.inspect` can inspect an object without running code of the program.
  const isPlain = (object) => {
    for (let at = object, steps = 0; at !== null && steps < 1000; at = getPrototypeOf(at), steps++) {
      if (isProxy(at)) return false;
      for (let which = 0; which < 2; which++) {
        const found = own(at, which === 0 ? toStringTag : iterator);
        if (found !== undefined && !("value" in found)) return false;
      }
      const maker = data(own(at, "constructor"));
      if (isObject(maker)) {
        const asked = lookup(maker, hasInstance);
        if (typeof data(asked) !== "function" || !isEngines(asked.value)) return false;
      }
    }
    return true;
  };

  const inPromise = (promise) => {
    if (!isPlain(promise)) return { __proto__: null, state: "unknown" };
    const notes = peek(promise);
    if (notes.length === 0) return { __proto__: null, state: "unknown" };
    const { text, style } = notes[0];
    if (text === "<pending>" && style === "special") return { __proto__: null, state: "pending" };
    // An object is followed by the text of the reference to it.
    const next = notes["value" in notes[0] ? 2 : 1];
    const state = next?.text === "<rejected>" && next.style === "special" ? "rejected" : "fulfilled";
    return { __proto__: null, state, ...notes[0] };
  };

  const inProxy = (proxy) => {
    const notes = peek(proxy);
    if (notes.length > 0 && notes[0].text === "<Revoked Proxy>") return { __proto__: null, state: "revoked" };
    const found = [];
    for (let at = 0; at < notes.length; at++) if ("value" in notes[at]) found[found.length] = notes[at].value;
    if (found.length < 2) return { __proto__: null, state: "unknown" };
    return { __proto__: null, state: "open", target: found[0], handler: found[1] };
  };

  // -------------------------------------------------------------------------------------------------------
  // Texts

  // The beginning of a string, without splitting a surrogate pair.
  const clip = (text, limit) => {
    if (text.length <= limit) return text;
    const last = limit > 0 ? charCode(text, limit - 1) : 0;
    return sliceText(text, 0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
  };

  const ESCAPES = { __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };

  const quote = (text) => {
    let mark = "'";
    if (indexIn(text, "'") >= 0) {
      if (indexIn(text, '"') < 0) mark = '"';
      else if (indexIn(text, "`") < 0 && indexIn(text, "${") < 0) mark = "`";
    }
    let out = "";
    let copied = 0;
    for (let at = 0; at < text.length; at++) {
      const code = charCode(text, at);
      let escaped = ESCAPES[code];
      if (escaped === undefined && text[at] === mark) escaped = "\\" + mark;
      if (escaped === undefined && (code < 32 || (code >= 127 && code < 160))) {
        escaped = "\\x" + hex(code, 2, "0123456789ABCDEF");
      }
      if (escaped === undefined && code >= 0xd800 && code < 0xe000) {
        const next = at + 1 < text.length ? charCode(text, at + 1) : 0;
        if (code < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
          at++;
          continue;
        }
        escaped = "\\u" + hex(code, 4, "0123456789abcdef");
      }
      if (escaped !== undefined) {
        out += sliceText(text, copied, at) + escaped;
        copied = at + 1;
      }
    }
    return mark + out + sliceText(text, copied) + mark;
  };

  // With all digits, because a digit of the text may follow.
  const hex = (code, length, digits) => {
    let out = "";
    for (let at = 0, rest = code; at < length; at++, rest = rest >> 4) out = digits[rest & 15] + out;
    return out;
  };

  const keyName = (key) => {
    if (typeof key === "symbol") return "[" + clip(symbolText(key), 200) + "]";
    if (test(/^[a-zA-Z_][a-zA-Z_0-9]*$/, key) !== null) return clip(key, 200);
    return quote(clip(key, 200)) + (key.length > 200 ? "..." : "");
  };

  const HUGE = 1n << 4096n;

  // Primitives other than strings.
  const primitive = (value) => {
    switch (typeof value) {
      case "number":
        return is(value, -0) ? "-0" : "" + value;
      case "bigint":
        if (value >= HUGE || value <= -HUGE) return value < 0n ? "<negative bigint above 4096 bits>" : "<bigint above 4096 bits>";
        return bigText(value) + "n";
      case "symbol":
        return symbolText(value);
      default:
        return "" + value;
    }
  };

  const isClass = (value) => {
    const text = sourceText(value);
    return sliceText(text, 0, 5) === "class" && test(/^class[\s{]/, sliceText(text, 0, 6)) !== null;
  };

  const functionText = (value) => {
    const name = data(own(value, "name"));
    const named = typeof name === "string" && name !== "" ? clip(name, 200) : null;
    if (isClass(value)) {
      const base = prototypeOf(value);
      const above = typeof base === "function" && !isProxy(base) ? data(own(base, "name")) : undefined;
      const extending = typeof above === "string" && above !== "" ? " extends " + clip(above, 200) : "";
      return "[class " + (named ?? "(anonymous)") + extending + (base === null ? " extends [null prototype]" : "") + "]";
    }
    return "[" + functionKind(value) + (named === null ? " (anonymous)" : ": " + named) + "]";
  };

  const functionKind = (value) => {
    const generator = types.isGeneratorFunction(value) ? "Generator" : "";
    return (types.isAsyncFunction(value) ? "Async" : "") + generator + "Function";
  };

  const errorText = (value) => {
    const message = data(lookup(value, "message"));
    let name = data(lookup(value, "name"));
    const kind = classOf(value);
    if (typeof name !== "string" || name === "" || (name === "Error" && kind !== null)) name = kind ?? "Error";
    const text = isObject(message) || message === undefined || message === "" ? "" : message;
    return clip(name, 200) + (text === "" ? "" : ": " + (typeof text === "string" ? text : primitive(text)));
  };

  const accessorText = ({ get, set }) =>
    get === undefined ? "[Setter]" : set === undefined ? "[Getter]" : "[Getter/Setter]";

  // The type name of a value.
  const typeName = (value) => {
    if (value === null) return "null";
    if (typeof value === "function") return isProxy(value) ? "Proxy" : isClass(value) ? "class" : "function";
    if (typeof value !== "object") return typeof value;
    if (isProxy(value)) return "Proxy";
    if (types.isModuleNamespaceObject(value)) return "Module";
    if (types.isArgumentsObject(value)) return "Arguments";
    return classOf(value) ?? "Object";
  };

  // Builds a text. `left` is the remaining number of characters; text beyond it is omitted.
  class Writer {
    pieces = [];
    around = [];
    marks = [];
    circles = 0;
    cut = false;

    constructor(limit) {
      this.left = limit;
    }

    put(text) {
      this.left -= text.length;
      this.pieces[this.pieces.length] = text;
    }

    text() {
      let out = "";
      for (let at = 0; at < this.pieces.length; at++) out += this.pieces[at];
      return out;
    }

    // Text of unknown length.
    bounded(text) {
      const room = this.left > 8 ? this.left : 8;
      if (text.length > room + 8) {
        this.cut = true;
        this.put(clip(text, room) + "...");
      } else {
        this.put(text);
      }
    }

    string(value) {
      const room = this.left > 8 ? this.left : 8;
      if (value.length > room) this.cut = true;
      this.put(value.length > room ? quote(clip(value, room)) + "..." : quote(value));
    }

    value(value) {
      if (typeof value === "string") this.string(value);
      else if (!isObject(value)) this.bounded(primitive(value));
      else this.object(value);
    }

    object(value) {
      for (let at = 0; at < this.around.length; at++) {
        if (this.around[at] !== value) continue;
        if (this.marks[at].number === 0) this.marks[at].number = ++this.circles;
        this.put("[Circular *" + this.marks[at].number + "]");
        return;
      }
      if (this.around.length >= DEPTH) {
        this.cut = true;
        this.put("[" + typeName(value) + "]");
        return;
      }
      const mark = { __proto__: null, at: this.pieces.length, number: 0 };
      this.put("");
      this.around[this.around.length] = value;
      this.marks[this.marks.length] = mark;
      this.opened(value);
      this.around.length--;
      this.marks.length--;
      if (mark.number > 0) this.pieces[mark.at] = "<ref *" + mark.number + "> ";
    }

    // The type of an object, and its content.
    opened(value) {
      if (isProxy(value)) return this.proxy(value);
      if (typeof value === "function") return this.based(functionText(value), value, false);
      if (isArray(value)) return this.array(value);
      if (types.isTypedArray(value)) return this.typed(value);
      if (types.isMap(value)) return this.map(value);
      if (types.isSet(value)) return this.set(value);
      if (types.isNativeError(value)) return this.error(value);
      if (types.isPromise(value)) return this.promise(value);
      if (types.isArgumentsObject(value)) return this.array(value, "[Arguments] ");
      if (types.isModuleNamespaceObject(value)) return this.properties("[Module: null prototype] ", value, keysOf(value));
      if (types.isDate(value)) return this.based(dateText(value), value, true);
      if (types.isRegExp(value)) return this.based(regexText(value), value, true);
      if (types.isBoxedPrimitive(value)) return this.boxed(value);
      if (types.isArrayBuffer(value) || types.isSharedArrayBuffer(value)) return this.buffer(value);
      if (types.isDataView(value)) return this.based("DataView(" + viewLength(value) + ")", value, true);
      if (types.isWeakMap(value) || types.isWeakSet(value)) {
        return this.put((types.isWeakMap(value) ? "WeakMap" : "WeakSet") + " { <items unknown> }");
      }
      if (types.isExternal(value)) return this.put("[External]");
      const shown = knownParts(value) ?? value;
      return this.properties(this.prefix(value, "Object", null), shown, keysOf(shown));
    }

    // The class before a value, unless the brackets imply it.
    prefix(value, usual, size) {
      const kind = classOf(value);
      const count = size === null ? "" : "(" + size + ")";
      const tag = data(lookup(value, toStringTag));
      const tagged = typeof tag === "string" && tag !== "" && tag !== (kind ?? usual) ? "[" + clip(tag, 200) + "] " : "";
      if (kind === null) {
        const orphan = prototypeOf(value) === null ? ": null prototype" : "";
        return orphan === "" ? tagged : "[" + usual + count + orphan + "] " + tagged;
      }
      const silent = kind === usual && tagged === "" && (usual === "Object" || usual === "Array");
      return silent ? "" : kind + count + " " + tagged;
    }

    // Writes as many items as fit. `one` writes an item, and returns false if there is none left.
    items(open, close, one) {
      this.put(open);
      let at = 0;
      for (; this.left > 0 || at === 0; at++) {
        const before = this.pieces.length;
        this.put(at === 0 ? " " : ", ");
        if (!one(at)) {
          this.pieces.length = before;
          this.put(at === 0 ? close : " " + close);
          return;
        }
      }
      // The last one may have been the end.
      const before = this.pieces.length;
      const cut = this.cut;
      this.put("");
      if (one(at)) {
        this.pieces.length = before;
        this.cut = true;
        this.put(", ... " + close);
      } else {
        this.pieces.length = before;
        this.cut = cut;
        this.put(" " + close);
      }
    }

    properties(prefix, value, keys, open = "{", close = "}") {
      this.put(prefix);
      this.items(open, close, this.keyed(value, keys));
    }

    // Writes the enumerable properties, one at a time.
    keyed(value, keys) {
      let next = 0;
      return () => {
        for (; next < keys.length; next++) {
          const descriptor = own(value, keys[next]);
          if (descriptor === undefined || !descriptor.enumerable) continue;
          this.put(keyName(keys[next++]) + ": ");
          this.described(descriptor);
          return true;
        }
        return false;
      };
    }

    described(descriptor) {
      if ("value" in descriptor) this.value(descriptor.value);
      else if (descriptor.uninitialized) this.put("<uninitialized>");
      else if (descriptor.unread) this.put("<not read>");
      else this.put(accessorText(descriptor));
    }

    // A text, followed by the enumerable properties if there are any.
    based(text, value, withClass) {
      this.bounded(text);
      if (withClass && prototypeOf(value) === null) this.put(" [null prototype]");
      this.extras(value, keysOf(value));
    }

    extras(value, keys) {
      for (let at = 0; at < keys.length; at++) {
        const descriptor = own(value, keys[at]);
        if (descriptor !== undefined && descriptor.enumerable) {
          this.put(" ");
          this.properties("", value, keys);
          return;
        }
      }
    }

    array(value, prefix) {
      const length = data(own(value, "length"));
      const count = typeof length === "number" && length >= 0 ? length : 0;
      this.put(prefix ?? this.prefix(value, "Array", count));
      const rest = this.keyed(value, extraKeys(value, count));
      let next = 0;
      this.items("[", "]", () => {
        if (next >= count) return rest();
        const descriptor = own(value, "" + next);
        if (descriptor !== undefined) {
          next++;
          this.described(descriptor);
          return true;
        }
        const end = endOfHole(value, next, count);
        this.put("<" + (end - next) + " empty item" + (end - next === 1 ? "" : "s") + ">");
        next = end;
        return true;
      });
    }

    typed(value) {
      const count = typedLength(value);
      if (hasInChain(value, bufferPrototype)) return this.bytes(count === 0 ? "<Buffer" : "<Buffer ", value, count);
      this.put(this.prefix(value, typedName(value), count));
      const rest = this.keyed(value, extraKeys(value, count));
      this.items("[", "]", (at) => {
        if (at >= count) return rest();
        this.value(own(value, "" + at).value);
        return true;
      });
    }

    bytes(open, value, count) {
      this.put(open);
      let at = 0;
      for (; at < count && this.left > 0; at++) {
        const byte = padded(hexadecimal(value[at], 16), 2, "0");
        this.put(at === 0 ? byte : " " + byte);
      }
      if (at < count) {
        this.cut = true;
        this.put(at === 0 ? "..." : " ...");
      }
      this.put(">");
    }

    buffer(value) {
      const shared = types.isSharedArrayBuffer(value);
      const count = shared ? sharedLength(value) : bufferLength(value);
      this.put((shared ? "SharedArrayBuffer" : "ArrayBuffer") + " { [Uint8Contents]: ");
      let detached = false;
      try {
        this.bytes("<", new Uint8Array(value), count);
      } catch {
        detached = true;
      }
      this.put((detached ? "<detached>" : "") + ", byteLength: " + count + " }");
    }

    map(value) {
      this.put(this.prefix(value, "Map", mapSize(value)));
      const entries = mapEntries(value);
      const rest = this.keyed(value, keysOf(value));
      this.items("{", "}", () => {
        const step = mapNext(entries);
        if (step.done) return rest();
        this.value(step.value[0]);
        this.put(" => ");
        this.value(step.value[1]);
        return true;
      });
    }

    set(value) {
      this.put(this.prefix(value, "Set", setSize(value)));
      const values = setValues(value);
      const rest = this.keyed(value, keysOf(value));
      this.items("{", "}", () => {
        const step = setNext(values);
        if (step.done) return rest();
        this.value(step.value);
        return true;
      });
    }

    error(value) {
      this.bounded(errorText(value));
      const keys = keysOf(value);
      const listed = [];
      for (let at = 0; at < keys.length; at++) {
        // Reading the stack for the first time runs the program's prepareStackTrace.
        if (keys[at] === "stack" || keys[at] === "message") continue;
        const hidden = keys[at] === "cause" || keys[at] === "errors";
        const descriptor = own(value, keys[at]);
        if (descriptor === undefined) continue;
        if (descriptor.enumerable || hidden) listed[listed.length] = keys[at];
      }
      if (listed.length === 0) return;
      this.put(" ");
      this.items("{", "}", (at) => {
        if (at >= listed.length) return false;
        const descriptor = own(value, listed[at]);
        this.put((descriptor.enumerable ? keyName(listed[at]) : "[" + listed[at] + "]") + ": ");
        this.described(descriptor);
        return true;
      });
    }

    promise(value) {
      const inside = inPromise(value);
      this.put(this.prefix(value, "Promise", null));
      const rest = this.keyed(value, keysOf(value));
      this.items("{", "}", (at) => {
        if (at > 0) return rest();
        if (inside.state === "pending" || inside.state === "unknown") {
          this.put("<" + inside.state + ">");
          return true;
        }
        if (inside.state === "rejected") this.put("<rejected> ");
        if ("value" in inside) this.value(inside.value);
        else this.bounded(inside.text);
        return true;
      });
    }

    proxy(value) {
      const inside = inProxy(value);
      if (inside.state === "revoked") return this.put("<Revoked Proxy>");
      this.put("Proxy { ");
      if (inside.state === "open") this.value(drafted(inside.target));
      else this.put("<unknown>");
      this.put(" }");
    }

    boxed(value) {
      const kind = boxedKind(value);
      this.put("[" + kind + ": ");
      this.value(ofBoxed[kind](value));
      this.put("]");
      this.extras(value, kind === "String" ? extraKeys(value, ofBoxed.String(value).length) : keysOf(value));
    }
  }

  const boxedKind = (value) =>
    types.isNumberObject(value) ? "Number"
      : types.isStringObject(value) ? "String"
        : types.isBooleanObject(value) ? "Boolean"
          : types.isBigIntObject(value) ? "BigInt" : "Symbol";

  // -------------------------------------------------------------------------------------------------------
  // Well-known objects of Node and of packages, and what to show of them in place of their properties. Only data and
  // Node's own getters are read; an object that merely has the same name is shown like any other.

  const knownParts = (value) => {
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === plainPrototype) return null;
    const reader = KNOWN[classOf(value)];
    try {
      return (reader === undefined ? null : reader(value)) ?? streamParts(value) ?? documentParts(value);
    } catch {
      return null;
    }
  };

  const parts = (members) => ({ __proto__: null, ...members });

  // The result of a function or getter of Node, identified by a private member that it uses.
  const byNode = (object, key, mark, given) => {
    const found = lookup(object, key);
    const call = found?.get ?? found?.value;
    if (typeof call !== "function" || isProxy(call) || indexIn(sourceText(call), mark) < 0) return undefined;
    return apply(call, object, given);
  };

  const urlParts = (value) => {
    const href = byNode(value, "href", "#context", []);
    return typeof href === "string" ? parts({ href }) : null;
  };

  const queryParts = (value) => {
    const query = byNode(value, "toString", "#searchParams", []);
    return typeof query === "string" ? parts({ query }) : null;
  };

  const headersParts = (value) => {
    const found = parts({});
    const maker = data(lookup(value, "constructor"));
    if (indexIn(sourceText(maker), "#headersList") < 0) return null;
    byNode(value, "forEach", "callbackfn", [(item, name) => { found[name] = item; }]);
    return found;
  };

  // Requests and responses of `fetch`.
  const fetchParts = (keys) => (value) => {
    const found = parts({});
    for (let at = 0; at < keys.length; at++) {
      const item = byNode(value, keys[at], "webidl.brandCheck", []);
      if (isObject(item) || item === undefined) return null;
      found[keys[at]] = item;
    }
    return found;
  };

  // Names and values alternate.
  const rawHeaders = (list) => {
    const found = {};
    const length = isArray(list) ? data(own(list, "length")) : 0;
    for (let at = 0; at + 1 < length && at < HEADERS; at += 2) {
      const name = data(own(list, "" + at));
      const value = data(own(list, "" + (at + 1)));
      if (typeof name === "string") define(found, name, { __proto__: null, value, enumerable: true });
    }
    return found;
  };
  const HEADERS = 200;

  const messageParts = (value) => {
    const list = data(own(value, "rawHeaders"));
    if (!isObject(list) || isProxy(list)) return null;
    const status = data(own(value, "statusCode"));
    // A client's has a status, a server's a method.
    const found = typeof status === "number"
      ? parts({ statusCode: status, statusMessage: data(own(value, "statusMessage")) })
      : parts({ method: data(own(value, "method")), url: data(own(value, "url")) });
    found.headers = rawHeaders(list);
    found.complete = data(own(value, "complete"));
    // Added by frameworks.
    for (let at = 0; at < ADDED.length; at++) {
      const item = data(own(value, ADDED[at]));
      if (item !== undefined) found[ADDED[at]] = item;
    }
    return found;
  };

  const ADDED = ["params", "query", "body", "user"];

  const responseParts = (value) => {
    const header = data(own(value, "_header"));
    if (header === undefined) return null;
    const request = data(own(value, "req"));
    const isKnown = isObject(request) && !isProxy(request);
    return parts({
      ...(isKnown ? { method: data(own(request, "method")), url: data(own(request, "url")) } : {}),
      statusCode: data(lookup(value, "statusCode")),
      headersSent: header !== null,
      finished: data(own(value, "finished")),
    });
  };

  // Since version 20 the flags of a stream's state are bits behind getters of Node.
  const flag = (state, name) => {
    const found = lookup(state, name);
    if (found?.get === undefined) return data(found) === true;
    return (byNode(state, name, "& bit", []) ?? byNode(state, name, "& kFlowing", [])) === true;
  };

  const streamParts = (value) => {
    const reading = data(own(value, "_readableState"));
    const writing = data(own(value, "_writableState"));
    const found = parts({});
    if (isState(reading)) {
      found.readable = stateOf(reading, flag(reading, "endEmitted") || flag(reading, "ended"));
      found.buffered = data(lookup(reading, "length"));
    }
    if (isState(writing)) {
      found.writable = stateOf(writing, flag(writing, "finished") || flag(writing, "ending"));
      found.pending = data(lookup(writing, "length"));
    }
    if (!isState(reading) && !isState(writing)) return null;
    return isOfProgram(value) ? withOwn(found, value) : found;
  };

  const NODES_STREAMS = {
    __proto__: null,
    Readable: 1, Writable: 1, Duplex: 1, Transform: 1, PassThrough: 1, Socket: 1, TLSSocket: 1, ReadStream: 1,
    WriteStream: 1, SyncWriteStream: 1, Gzip: 1, Gunzip: 1, Deflate: 1, Inflate: 1, BrotliCompress: 1, BrotliDecompress: 1,
  };
  const isOfProgram = (value) => {
    const name = classOf(value);
    return NODES_STREAMS[name] === undefined && KNOWN[name] === undefined;
  };

  // Adds own properties of a program's subclass after Node's.
  const withOwn = (found, value, isAll = false) => {
    const keys = keysOf(value);
    for (let at = 0; at < keys.length; at++) {
      const isNodes =
        !isAll && (typeof keys[at] !== "string" || keys[at][0] === "_" || keys[at] === "allowHalfOpen");
      const descriptor = isNodes ? undefined : own(value, keys[at]);
      if (descriptor?.enumerable && hasOwn(found, keys[at]) === false) define(found, keys[at], { __proto__: null, ...descriptor });
    }
    return found;
  };

  const isState = (value) =>
    isObject(value) && !isProxy(value) && (classOf(value) === "ReadableState" || classOf(value) === "WritableState");

  const stateOf = (state, isOver) =>
    flag(state, "errored") || flag(state, "errorEmitted") ? "errored"
      : flag(state, "destroyed") ? "destroyed"
        : isOver ? "ended" : flag(state, "flowing") ? "flowing" : "open";

  // What a draft of Immer has in place of what it drafts, given the target of its proxy; another target itself.
  const drafted = (target) => {
    const state = isArray(target) ? data(own(target, "0")) : target;
    if (!isObject(state) || isProxy(state)) return target;
    const base = data(own(state, "base_"));
    return isObject(base) && own(state, "scope_") !== undefined ? data(own(state, "copy_")) ?? base : target;
  };

  // A document of Mongoose: the fields of its row.
  const documentParts = (value) => {
    const row = data(own(value, "_doc"));
    if (!isObject(row) || isProxy(row) || data(lookup(value, "$isMongooseDocumentPrototype")) !== true) return null;
    return withOwn(parts({}), row, true);
  };

  const mongooseQueryParts = (value) => {
    const model = data(lookup(value, "model"));
    const filter = data(own(value, "_conditions"));
    if (typeof model !== "function" || isProxy(model) || !isObject(filter)) return null;
    const found = parts({ model: data(own(model, "modelName")), op: data(own(value, "op")), filter });
    const more = { __proto__: null, fields: "_fields", update: "_updateDoc", options: "options" };
    for (const name in more) {
      const item = data(own(value, more[name]));
      if (isObject(item) && !isProxy(item) && ownKeys(item).length > 0) found[name] = item;
    }
    return found;
  };

  // BSON: four 24-bit numbers since version 7, twelve bytes before.
  const objectIdParts = (value) => {
    let id = "";
    for (let at = 0; at < 4; at++) {
      const number = data(own(value, "i" + at));
      if (typeof number === "number") id += padded(hexadecimal(number, 16), 6, "0");
    }
    const symbols = ownKeys(value);
    for (let at = 0; at < symbols.length && id === ""; at++) {
      const bytes = data(own(value, symbols[at]));
      if (!types.isUint8Array(bytes)) continue;
      for (let which = 0; which < 12; which++) id += padded(hexadecimal(data(own(bytes, "" + which)), 16), 2, "0");
    }
    return id.length === 24 ? parts({ id }) : null;
  };

  // decimal.js, used by Prisma for arbitrary precision: groups of seven digits and a power of ten.
  const decimalParts = (value) => {
    const sign = data(own(value, "s"));
    const power = data(own(value, "e"));
    const groups = data(own(value, "d"));
    const count = isArray(groups) && !isProxy(groups) ? data(own(groups, "length")) : 0;
    if (typeof sign !== "number" || typeof power !== "number" || !(count > 0 && count < 200)) return null;
    if (power < -20 || power > 200) return null;
    let digits = "";
    for (let at = 0; at < count; at++) digits += padded("" + data(own(groups, "" + at)), at > 0 ? 7 : 1, "0");
    while (digits.length > 1 && digits[digits.length - 1] === "0") digits = sliceText(digits, 0, -1);
    for (let at = power; at < 0; at++) digits = "0" + digits;
    const whole = power < 0 ? 1 : power + 1;
    while (digits.length < whole) digits += "0";
    const fraction = sliceText(digits, whole);
    return parts({ value: (sign < 0 ? "-" : "") + sliceText(digits, 0, whole) + (fraction && "." + fraction) });
  };

  const KNOWN = {
    __proto__: null,
    Decimal: decimalParts,
    ObjectId: objectIdParts,
    Query: mongooseQueryParts,
    URL: urlParts,
    URLSearchParams: queryParts,
    Headers: headersParts,
    Request: fetchParts(["method", "url"]),
    Response: fetchParts(["status", "url"]),
    IncomingMessage: messageParts,
    ServerResponse: responseParts,
  };

  const dateText = (value) => (dateTime(value) === dateTime(value) ? isoDate(value) : "Invalid Date");

  // Flags are read from properties that the program may have replaced, also on the object.
  const regexText = (value) => {
    const names = ["hasIndices", "global", "ignoreCase", "multiline", "dotAll", "unicode", "unicodeSets", "sticky"];
    for (let at = 0; at < names.length; at++) {
      const found = lookup(value, names[at]);
      const isTheirs = found?.get === undefined || !isEngines(found.get);
      if (found !== undefined && isTheirs) return "/" + regexSource(value) + "/";
    }
    return "/" + regexSource(value) + "/" + regexFlags(value);
  };

  const endOfHole = (value, start, count) => {
    let end = start + 1;
    for (; end < count && end - start < HOLES; end++) if (own(value, "" + end) !== undefined) return end;
    if (end >= count) return count;
    // For a long hole, the sorted keys of the array show where it ends.
    const all = ownKeys(value);
    for (let at = 0; at < all.length && isIndex(all[at]); at++) if (+all[at] >= end) return +all[at];
    return count;
  };

  // -------------------------------------------------------------------------------------------------------
  // Rows: [text, type, expandable, children, cut, length, whether there may be private fields]

  const row = (value, limit) => {
    if (typeof value === "string") {
      const cut = value.length > limit;
      return [cut ? quote(clip(value, limit)) + "..." : quote(value), "string", false, null, cut, value.length];
    }
    if (!isObject(value)) {
      const text = primitive(value);
      const cut = text.length > limit;
      return [cut ? clip(text, limit) + "..." : text, typeName(value), false, null, cut, cut ? text.length : null];
    }
    const writer = new Writer(limit);
    writer.object(value);
    const count = contentsOf(value);
    const isBare = count === 0 && !isProxy(value) && isOrdinary(value);
    const mayList = typeof value !== "function" && !(careful && preparesStacks(value));
    const isPrivate = mayList && hasPrivate(value) && (knownParts(value) === null || isOfProgram(value));
    return [writer.text(), typeName(value), !isBare, count > 0 ? count : null, writer.cut, null, isPrivate];
  };

  // A plain empty object.
  const isOrdinary = (value) => {
    if (typeof value !== "object") return false;
    if (types.isPromise(value) || types.isNativeError(value)) return false;
    const kind = classOf(value);
    return kind === null || kind === "Object" || kind === "Array" || kind === "Map" || kind === "Set";
  };

  // The number of children that are data.
  const contentsOf = (value) => {
    if (isProxy(value)) return inProxy(value).state === "open" ? 2 : 0;
    const count = itemsOf(value);
    const keys = count === null ? keysOf(value) : extraKeys(value, isKeyed(value) ? 0 : count);
    if (keys.length > MANY) return (count ?? 0) + keys.length;
    let extra = 0;
    const error = types.isNativeError(value);
    for (let at = 0; at < keys.length; at++) {
      if ((error && includes(ERROR_KEYS, keys[at])) || own(value, keys[at])?.enumerable) extra++;
    }
    if (types.isPromise(value)) extra += inPromise(value).state === "pending" ? 1 : 2;
    return (count ?? 0) + extra;
  };

  const isKeyed = (value) => types.isMap(value) || types.isSet(value);

  // The number of items of a container; undefined for other values.
  const itemsOf = (value) => {
    if (isArray(value)) return data(own(value, "length"));
    if (types.isTypedArray(value)) return typedLength(value);
    if (types.isMap(value)) return mapSize(value);
    if (types.isSet(value)) return setSize(value);
    if (types.isArgumentsObject(value)) {
      const length = data(own(value, "length"));
      return typeof length === "number" && length >= 0 && length < 4294967296 ? length : 0;
    }
    return null;
  };

  // Non-enumerable properties of an error. Its own accessors are listed as such.
  const ERROR_KEYS = ["message", "stack", "cause", "errors"];
  const errorKeys = (value) => {
    const found = [];
    for (let at = 0; at < ERROR_KEYS.length; at++) {
      if (own(value, ERROR_KEYS[at]) !== undefined) found[found.length] = ERROR_KEYS[at];
    }
    return found;
  };

  const UNINITIALIZED = ["<uninitialized>", "uninitialized", false, null, false, null];
  const NOT_READ = ["<not read>", "string", false, null, false, null];
  const EMPTY = ["<empty item>", "empty", false, null, false, null];

  const rowOf = (descriptor, limit) => {
    if (descriptor === undefined) return EMPTY;
    if (descriptor.uninitialized) return UNINITIALIZED;
    if (descriptor.unread) return NOT_READ;
    if ("value" in descriptor) return guarded(descriptor.value, limit);
    return [accessorText(descriptor), "accessor", descriptor.get !== undefined, null, false, null];
  };

  // One unreadable object must not hide the others.
  const guarded = (value, limit) => {
    try {
      return row(value, limit);
    } catch {
      return ["<cannot be read>", typeof value, false, null, false, null];
    }
  };

  // -------------------------------------------------------------------------------------------------------
  // Children

  // All members of a value except items, as [name, special, step, descriptor]. A step is an argument of `walk`. `page`
  // handles objects with very many keys.
  const membersOf = (value) => {
    const found = [];
    const add = (name, special, step, descriptor) => {
      found[found.length] = [name, special, step, descriptor];
    };
    const held = (item) => ({ __proto__: null, value: item });
    if (isProxy(value)) {
      const inside = inProxy(value);
      if (inside.state === "open") {
        add("[[Target]]", false, { slot: "target" }, held(inside.target));
        add("[[Handler]]", false, { slot: "handler" }, held(inside.handler));
      }
      return found;
    }
    if (types.isPromise(value)) addPromise(value, add, held);
    const error = types.isNativeError(value);
    const early = error ? errorKeys(value) : [];
    for (let at = 0; at < early.length; at++) add(early[at], false, { key: early[at] }, own(value, early[at]));
    const count = itemsOf(value);
    const keys = count === null || isKeyed(value) ? keysOf(value) : extraKeys(value, count);
    const hidden = [];
    for (let at = 0, symbols = 0; at < keys.length && keys.length <= MANY; at++) {
      const key = keys[at];
      const step = typeof key === "symbol" ? { symbol: symbols++ } : { key };
      const descriptor = own(value, key);
      const name = typeof key === "symbol" ? keyName(key) : key;
      if (descriptor === undefined || (error && includes(early, key))) continue;
      if (descriptor.enumerable) add(name, false, step, descriptor);
      else hidden[hidden.length] = [name, true, step, descriptor];
    }
    addInherited(value, add);
    for (let at = 0; at < hidden.length; at++) found[found.length] = hidden[at];
    const prototype = getPrototypeOf(value);
    if (prototype !== null) add("[[Prototype]]", true, { slot: "prototype" }, held(prototype));
    return found;
  };

  const addPromise = (value, add, held) => {
    const inside = inPromise(value);
    add("[[PromiseState]]", false, { slot: "state" }, held(inside.state));
    if ("value" in inside) add("[[PromiseResult]]", false, { slot: "result" }, held(inside.value));
    else if ("text" in inside) {
      add("[[PromiseResult]]", false, { slot: "result" }, { __proto__: null, text: inside.text, type: inside.style });
    }
  };

  const includes = (list, wanted) => {
    for (let at = 0; at < list.length; at++) if (list[at] === wanted) return true;
    return false;
  };

  // Getters inherited from classes of the program, which are used like fields.
  const addInherited = (value, add) => {
    let at = typeof value === "object" ? getPrototypeOf(value) : null;
    for (let depth = 0; at !== null && depth < 100 && !isProxy(at); at = getPrototypeOf(at), depth++) {
      const maker = data(own(at, "constructor"));
      if (typeof maker !== "function" || isProxy(maker)) return;
      if (indexIn(clip(sourceText(maker), 200), "[native code]") >= 0) return;
      const keys = ownKeys(at);
      for (let which = 0; which < keys.length; which++) {
        const key = keys[which];
        const descriptor = own(at, key);
        if (typeof key !== "string" || descriptor.get === undefined || own(value, key) !== undefined) continue;
        add(key, false, { key }, descriptor);
      }
    }
  };

  // Whether there may be members that only the debugger can list. It describes them, and the stacks of errors.
  const hasInner = (value) =>
    !isProxy(value) && !(careful && preparesStacks(value)) && (typeof value === "function" || types.isGeneratorObject(value) || hasPrivate(value));

  // Whether a class of an object may have `#private` members.
  const hasPrivate = (value) => {
    if (!isObject(value) || isProxy(value)) return false;
    let at = typeof value === "function" ? value : getPrototypeOf(value);
    for (let depth = 0; at !== null && depth < 100 && !isProxy(at); at = getPrototypeOf(at), depth++) {
      const maker = typeof value === "function" ? at : data(own(at, "constructor"));
      if (typeof maker !== "function" || isProxy(maker)) return false;
      const source = sourceText(maker);
      if (indexIn(clip(source, 200), "[native code]") >= 0) return false;
      if (isClass(maker) && indexIn(source, "#") >= 0) return true;
    }
    return false;
  };

  // One item of a container, as [name, step, descriptor].
  const readItems = (value, start, stop, each) => {
    if (isKeyed(value)) {
      const isMap = types.isMap(value);
      const all = isMap ? mapEntries(value) : setValues(value);
      for (let at = 0; at < stop; at++) {
        const step = isMap ? mapNext(all) : setNext(all);
        if (step.done) return;
        if (at >= start) each("" + at, isMap ? { entry: at } : { item: at }, step.value);
      }
      return;
    }
    for (let at = start; at < stop; at++) each("" + at, { key: "" + at }, own(value, "" + at));
  };

  const entryRow = (key, item, limit) => {
    const writer = new Writer(limit);
    writer.value(key);
    writer.put(" => ");
    writer.value(item);
    return [writer.text(), "entry", true, 2, writer.cut, null];
  };

  // A page of rows, which becomes `Children` in the server.
  const page = (value, options) => {
    const { start, count, special, limit } = options;
    const rows = [];
    const put = (name, shown, isSpecial, step) => {
      rows[rows.length] = [clip(name, 1000), shown, isSpecial, step];
    };
    const items = (isProxy(value) ? null : itemsOf(value)) ?? 0;
    const stop = start + count;
    const isMap = !isProxy(value) && types.isMap(value);
    const isSet = !isProxy(value) && types.isSet(value);
    readItems(value, start < items ? start : items, stop < items ? stop : items, (name, step, found) => {
      if (isMap) put(name, entryRow(found[0], found[1], limit), false, step);
      else put(name, isSet ? guarded(found, limit) : rowOf(found, limit), false, step);
    });
    // An object with very many keys: all are enumerable, and only those of the page are read.
    const keys = isProxy(value) || (itemsOf(value) !== null && !isKeyed(value)) ? [] : keysOf(value);
    const many = keys.length > MANY ? keys.length : 0;
    const first = start > items ? start - items : 0;
    for (let which = first; which < many && items + which < stop; which++) {
      put(keys[which], rowOf(own(value, keys[which]), limit), false, { key: keys[which] });
    }
    let at = items + many;
    let hidden = 0;
    const members = membersOf(value);
    for (let which = 0; which < members.length; which++) {
      const name = members[which][0];
      const isSpecial = members[which][1];
      const descriptor = members[which][3];
      if (isSpecial && !special) {
        hidden++;
        continue;
      }
      if (at >= start && at < stop) {
        const shown = "text" in descriptor
          ? [descriptor.text, descriptor.type, false, null, false, null]
          : rowOf(descriptor, limit);
        put(name, shown, isSpecial, members[which][2]);
      }
      at++;
    }
    return { total: at, hidden, rows, inner: hasInner(value) };
  };

  // -------------------------------------------------------------------------------------------------------
  // Paths to a value: lists of steps from an object that the debugger references

  // Identified by a private member, because `instanceof` would run a proxy's trap.
  class Entry {
    #own;

    constructor(map, key, item) {
      this.map = map;
      this.key = key;
      this.item = item;
    }

    static is(value) {
      return isObject(value) && #own in value;
    }
  }

  class Accessor {
    #own;

    constructor(object, getter) {
      this.object = object;
      this.getter = getter;
    }

    static is(value) {
      return isObject(value) && #own in value;
    }
  }

  const gone = () => {
    throw new TypeError("the value is gone");
  };

  const walk = (root, steps) => {
    let value = root;
    for (let at = 0; at < steps.length; at++) value = follow(value, steps[at]);
    return value;
  };

  const part = (step, name) => data(own(step, name));

  const keyOf = (object, step) => {
    const symbol = part(step, "symbol");
    return symbol === undefined ? part(step, "key") : nthSymbol(object, symbol);
  };

  const follow = (value, step) => {
    if (Entry.is(value)) return step.key === "key" ? value.key : value.item;
    if (Accessor.is(value) || !isObject(value)) return gone();
    const item = part(step, "entry") ?? part(step, "item");
    if (part(step, "slot") !== undefined) return slot(value, step.slot);
    if (item !== undefined) return nthItem(value, item);
    if (isProxy(value)) return gone();
    const key = keyOf(value, step);
    const found = lookup(value, key) ?? gone();
    if ("value" in found) return found.value;
    return found.get === undefined ? gone() : new Accessor(value, found.get);
  };

  const slot = (value, name) => {
    if (name === "prototype") return getPrototypeOf(value);
    if (name === "target" || name === "handler") return inProxy(value)[name];
    return inPromise(value).value;
  };

  const nthItem = (value, wanted) => {
    let found = gone;
    const isMap = types.isMap(value);
    readItems(value, wanted, wanted + 1, (name, step, item) => {
      found = isMap ? new Entry(value, item[0], item[1]) : item;
    });
    return found === gone ? gone() : found;
  };

  const nthSymbol = (value, wanted) => {
    const keys = ownKeys(value);
    for (let at = 0, count = 0; at < keys.length; at++) {
      if (typeof keys[at] === "symbol" && count++ === wanted) return keys[at];
    }
    return gone();
  };

  const entryPage = (entry, limit) => {
    const rows = [
      ["key", guarded(entry.key, limit), false, { key: "key" }],
      ["value", guarded(entry.item, limit), false, { key: "value" }],
    ];
    return { total: 2, hidden: 0, rows };
  };

  // -------------------------------------------------------------------------------------------------------
  // Frames

  const MODULE_WORDS = ["exports", "require", "module", "__filename", "__dirname"];

  // The loaded modules, to recognize variables that are imports.
  const modules = () => {
    const found = new Set();
    try {
      const loaded = load("process").moduleLoadList;
      for (let at = 0; at < loaded.length; at++) {
        const name = test(/^NativeModule ([a-z_/]+)$/, loaded[at]);
        if (name === null || name[1] === "punycode" || indexIn(name[1], "internal/") === 0) continue;
        if (moduleOfModules.isBuiltin(name[1])) setAdd(found, load(name[1]));
      }
      const cache = data(own(moduleOfModules, "_cache"));
      const files = isObject(cache) && !isProxy(cache) ? ownKeys(cache) : [];
      for (let at = 0; at < files.length; at++) {
        const module = data(own(cache, files[at]));
        if (typeof files[at] !== "string" || sliceText(files[at], -5) === ".json" || !isObject(module)) continue;
        const exported = isProxy(module) ? undefined : data(own(module, "exports"));
        if (isObject(exported)) setAdd(found, exported);
      }
    } catch {
      // A runtime with different internals: modules are shown like other values.
    }
    return found;
  };

  const isText = (value, loaded) => {
    if (!isObject(value) || isProxy(value)) return false;
    if (typeof value === "function" || types.isModuleNamespaceObject(value) || setHas(loaded, value)) return true;
    // A compiler's wrapper of a module for `import name from`.
    const inner = data(own(value, "default"));
    return isObject(inner) && setHas(loaded, inner);
  };

  // The variables of several scopes as one list. `order` has the indices of scopes in display order; an inner variable
  // hides an outer one of its name.
  const merged = (scopes, order) => {
    const owners = new Map();
    for (let at = 0; at < scopes.length; at++) {
      const keys = keysOf(scopes[at]);
      for (let which = 0; which < keys.length; which++) {
        if (mapGet(owners, keys[which]) === undefined) mapSet(owners, keys[which], at);
      }
    }
    const found = [];
    for (let place = 0; place < order.length; place++) {
      const keys = keysOf(scopes[order[place]]);
      for (let which = 0; which < keys.length; which++) {
        const key = keys[which];
        if (typeof key !== "string" || key[0] === "." || key === "this") continue;
        if (mapGet(owners, key) === order[place]) found[found.length] = [key, order[place]];
      }
    }
    return found;
  };

  const readChildren = (value, options) => {
    if (Accessor.is(value)) return { total: 1, hidden: 0, rows: [], accessor: true };
    if (Entry.is(value)) return entryPage(value, options.limit);
    return isObject(value) ? page(value, options) : { total: 0, hidden: 0, rows: [] };
  };

  // The contents of variables, and of what they contain, breadth first: whose child each is, its place there, and its
  // children. What cannot be read is left out. `groups` are lists of variables, each with the place of its first.
  const expand = (groups, { expansion: { values: most, children: count, depth, milliseconds }, limit }) => {
    const until = Date.now() + milliseconds;
    const expanded = [];
    const options = { start: 0, count, special: false, limit };
    let level = groups;
    for (let below = 0; below < depth; below++) {
      const next = [];
      for (let which = 0; which < level.length; which++) {
        const { parent, first, rows: siblings, valueOf } = level[which];
        for (let at = 0; at < siblings.length; at++) {
          const shown = siblings[at][1];
          if (!shown[2] || shown[1] === "accessor") continue;
          if (expanded.length >= most || Date.now() > until) return expanded;
          let value;
          let children;
          try {
            value = valueOf(at);
            children = readChildren(value, options);
          } catch {
            continue;
          }
          next[next.length] = { parent: expanded.length, first: 0, rows: children.rows, valueOf: (inner) => follow(value, children.rows[inner][3]) };
          expanded[expanded.length] = [parent, first + at, children];
        }
      }
      level = next;
    }
    return expanded;
  };

  // Cached facts about objects are valid until the program runs, or an expression changes them.
  const answered = (options, answer) => {
    careful = options.careful;
    if (options.epoch !== epoch) {
      epoch = options.epoch;
      manyKeys = new WeakMap();
    }
    return answer(options);
  };

  const from = (list, first) => {
    const rest = [];
    for (let at = first; at < list.length; at++) rest[rest.length] = list[at];
    return rest;
  };

  const knownErrors = new WeakMap();
  const MOST_ENTRIES = 1000;

  // The functions that esbuild and TypeScript put before a script.
  const ESBUILD = /^__(name|create|toESM|toCommonJS|commonJS|esm|require|copyProps|export|reExport|expectFn|typeError|knownSymbol|publicField|accessCheck|(def|get|has|prop|spread|obj|private|for|yield)[A-Z]\w*|decorat\w+|runInitializers|async|await|template|using|callDispose|pow)$/;
  const TYPESCRIPT = /^__(extends|assign|rest|decorate|param|metadata|esDecorate|runInitializers|propKey|setFunctionName|awaiter|generator|exportStar|createBinding|setModuleDefault|import(Star|Default)|values|read|spreadArray|async\w+|makeTemplateObject|classPrivateField\w+|addDisposableResource|disposeResources)$/;

  // A compiler's variable for an import, or a test runner's for every file: not a name of the source.
  const isOfCompiler = (name, value) => {
    if (test(/^__vite_ssr_\w+__$|^__(unused_)?webpack_|__WEBPACK_IMPORTED_MODULE_|^__TURBOPACK__/, name)) return true;
    if (!isObject(value) || isProxy(value)) return false;
    if (test(ESBUILD, name) !== null || test(TYPESCRIPT, name) !== null) return true;
    if (name === "jest") return typeof data(own(value, "fn")) === "function";
    return test(/^_\w+$|_\d+$/, name) !== null && data(own(value, "__esModule")) === true;
  };

  // Each function takes a list of arguments: options first, then values.
  return {
    __proto__: null,

    // The variables of a frame, given its return value, `this`, re-read variables, and its scopes.
    locals: (given) => answered(given[0], (options) => {
      const returned = given[1];
      const self = given[2];
      const anew = given[3];
      const scopes = from(given, 4);
      const { start, count, special, limit } = options;
      const loaded = options.module ? modules() : null;
      const rows = [];
      let at = 0;
      let hidden = 0;
      const values = [];
      const put = (name, isSpecial, descriptor, root) => {
        if (isSpecial && !special) return void hidden++;
        if (at >= start && at < start + count) {
          values[rows.length] = data(descriptor);
          rows[rows.length] = [name, rowOf(descriptor, limit), isSpecial, { key: name }, root];
        }
        at++;
      };
      const held = (value) => ({ __proto__: null, value });
      if (options.returned) put("(return)", false, held(returned), -1);
      const listed = merged(scopes, options.order);
      for (let which = 0; which < listed.length; which++) {
        const name = listed[which][0];
        const scope = listed[which][1];
        const again = anew === null || anew === undefined ? undefined : own(anew, name);
        const descriptor = again ?? own(scopes[scope], name);
        if (again !== undefined && again.value === anew) {
          put(name, false, { __proto__: null, uninitialized: true }, scope);
          continue;
        }
        const word = loaded === null ? name === "arguments" : includes(MODULE_WORDS, name);
        const isSpecial = word || isOfCompiler(name, data(descriptor)) || (loaded !== null && isText(data(descriptor), loaded));
        put(name, isSpecial, descriptor, again === undefined ? scope : -3);
      }
      if (options.self) put("this", true, held(self), -2);
      const groups = [{ parent: null, first: 0, rows, valueOf: (at) => values[at] }];
      const unlisted = [];
      // What a method changes of its object is worth knowing, also where the object is not among the variables.
      if (options.self && !special && loaded === null && isObject(self) && self !== now) {
        unlisted[0] = ["this", rowOf(held(self), limit), true, { key: "this" }, -2];
        groups[1] = groups[0];
        groups[0] = { parent: null, first: rows.length, rows: unlisted, valueOf: () => self };
      }
      return { total: at, hidden, rows, unlisted, expanded: expand(groups, options) };
    }),

    // The names of variables of scopes that can be read again; names of the first scopes win.
    names: (given) => answered(given[0], (options) => {
      const scopes = from(given, 1);
      const listed = merged(scopes, options.order);
      const found = [];
      for (let at = 0; at < listed.length; at++) {
        const isUnset = data(own(scopes[listed[at][1]], listed[at][0])) === undefined;
        found[found.length] = [listed[at][0], listed[at][1], isUnset];
      }
      return found;
    }),

    children: (given) => answered(given[0], (options) => readChildren(walk(given[1], options.steps), options)),

    describe: (given) => answered(given[0], (options) => guarded(walk(given[1], options.steps), options.limit)),

    // Whether `await` would call a method of the value, which is not a promise.
    thenable: (given) => answered(given[0], () => {
      const value = given[1];
      if (!isObject(value) || isProxy(value) || types.isPromise(value)) return false;
      const then = lookup(value, "then");
      return then !== undefined && (!("value" in then) || typeof then.value === "function");
    }),

    // Notes which promises are made from now on, until this is called without `isOn`.
    watchPromises: (given) => answered(given[0], (options) => {
      endWatch?.();
      endWatch = options.isOn ? promiseHooks?.onInit((promise) => void weakSet(made, promise, true)) : undefined;
    }),

    // Marks the rejection of a promise that was noted as handled, unless that would run code of the program.
    handle: (given) => answered(given[0], () => {
      if (weakGet(made, given[1]) === undefined) return;
      const promise = given[1], kind = now.Promise, prototype = data(own(kind, "prototype"));
      const isOrdinary = getPrototypeOf(promise) === prototype && own(promise, "constructor") === undefined;
      const then = isOrdinary && data(own(prototype, "constructor")) === kind ? data(own(prototype, "then")) : undefined;
      if (typeof then !== "function" || !isEngines(then)) return;
      apply(then, promise, [undefined, () => {}]);
    }),

    // Several values that the debugger references.
    each: (given) => answered(given[0], (options) => {
      const values = from(given, 1);
      const rows = [];
      for (let at = 0; at < values.length; at++) rows[at] = guarded(values[at], options.limit);
      return rows;
    }),

    // The index of the identical value among several, or null.
    same: (given) => answered(given[0], (options) => {
      const value = walk(given[1], options.steps);
      for (let at = 0; at < options.others.length; at++) {
        if (isObject(value) && walk(given[at + 2], options.others[at]) === value) return at;
      }
      return null;
    }),

    // An answer as a text, which is faster for V8 to send, unless a method of the program would run for it.
    json: (answer) => {
      const runs = own(getPrototypeOf({}), "toJSON") !== undefined || own(getPrototypeOf([]), "toJSON") !== undefined;
      return runs ? answer : stringify?.(answer) ?? answer;
    },

    // The value itself.
    value: (given) => answered(given[0], (options) => walk(given[1], options.steps)),

    // Whether this was called with an error before.
    known: (given) => {
      const is = weakGet(knownErrors, given[1]) === true;
      weakSet(knownErrors, given[1], true);
      return is;
    },

    // Makes the engine prepare stacks during an evaluation without side effects; false if the program prevents it.
    withhold: () => withhold(),

    giveBack: () => giveBack(),

    // Returns code of the program to run separately, as a function without parameters.

    // Why a property cannot be watched, or else its ID: another one than the given one if it was found before. The box
    // has the object and the key.
    storage: (given) => answered(given[0], ({ id }) => {
      const box = given[1];
      const { object } = box;
      if (!isObject(object)) return { problem: "it is not a property of an object" };
      if (isProxy(object)) return { problem: "it belongs to a Proxy" };
      const key = typeof box.key === "symbol" ? box.key : String(box.key);
      const name = typeof key === "symbol" ? symbolText(key) : key;
      const found = own(object, key);
      if (found === undefined) return { problem: "the object has no own property `" + name + "`" };
      if (!("value" in found)) {
        return { problem: "`" + name + "` is an accessor, whose value is computed; watch the property that it reads" };
      }
      if (!found.configurable) return { problem: "`" + name + "` cannot be reconfigured" };
      if (!found.writable) return { problem: "`" + name + "` is read-only" };
      if (types.isTypedArray(object)) return { problem: "V8 allows no accessors for the elements of a typed array" };
      const names = weakGet(storages, object) ?? new Map();
      let watch = mapGet(names, key);
      if (!watch?.isKept) {
        watch = { __proto__: null, id, object, key, isKept: true, value: undefined, get: undefined, reads: false, writes: false };
        mapSet(names, key, watch);
        weakSet(storages, object, names);
      }
      box.watch = watch;
      const note = isObject(found.value) && typeof found.value !== "function"
        ? "the program stops where another value is assigned to `" + name + "`, and not where the object in it is changed; watch a property or an item of that, or record the run"
        : undefined;
      return { id: watch.id, note };
    }),

    // Replaces a property by accessors that stop the program where the value is written or read, or gives the property
    // its value back if neither is wanted. False if the program has replaced it.
    watch: (given) => answered(given[0], ({ reads, writes, isKept }) => {
      const { watch } = given[1];
      const { object, key } = watch;
      const found = descriptorOf(object, key);
      const isWatched = found?.get !== undefined && found.get === watch.get;
      watch.isKept = isKept;
      watch.writes = writes;
      if (isWatched && (!found.configurable || (watch.reads === reads && (reads || writes)))) return true;
      watch.reads = reads;
      if (!reads && !writes) {
        return !isWatched || define(object, key, {
          __proto__: null, value: watch.value, writable: true, enumerable: found.enumerable, configurable: true,
        });
      }
      if (!isWatched) {
        if (found === undefined || !found.configurable || !found.writable) return false;
        watch.value = found.value;
      }
      const stillframeWatch = watch.id;
      // The names of these functions and of their variables are known to stillframe.
      // V8 takes a function with a `debugger` statement for one with side effects, though it may not be reached.
      const get = reads ? function stillframeRead() {
        const old = watch.value, now = old;
        debugger;
        return [old, now, stillframeWatch][0];
      } : function stillframeRead() {
        return watch.value;
      };
      weakSet(watched, get, watch);
      watch.get = get;
      return define(object, key, {
        __proto__: null, get, set: setterOf(watch, store), enumerable: found.enumerable, configurable: true,
      });
    }),

    // Runs a getter whose value was requested.
    get: (given) => {
      const accessor = answered(given[0], (options) => walk(given[1], options.steps));
      const { getter, object } = accessor;
      return () => ({ __proto__: null, v: apply(getter, object, []) });
    },

    // The performance timeline of the program and Node: name, kind, start and duration. The program may have wrapped
    // the method; details of marks and measures are omitted.
    timeline: () => {
      const { performance } = load("perf_hooks");
      return () => {
        const all = performance.getEntries();
        const rows = [];
        for (let at = all.length > MOST_ENTRIES ? all.length - MOST_ENTRIES : 0; at < all.length; at++) {
          const { name, entryType, startTime, duration } = all[at];
          rows[rows.length] = [sliceText("" + name, 0, 200), "" + entryType, +startTime, +duration];
        }
        return rows;
      };
    },

    // Assigns to a child. Setters and traps of proxies are run, as by any assignment.
    assign: (given) => () => answered(given[0], (options) => {
      const parent = walk(given[1], options.steps);
      const value = given[2];
      const { name, limit } = options;
      if (Entry.is(parent)) {
        if (name !== "value") return { refused: "the key of an entry cannot be assigned" };
        mapSet(parent.map, parent.key, value);
        return { row: guarded(value, limit), step: { key: "value" } };
      }
      if (!isObject(parent)) return { refused: "the value has no children" };
      if (!isProxy(parent) && types.isSet(parent)) return { refused: "an item of a Set cannot be assigned" };
      if (!isProxy(parent) && types.isMap(parent)) return assignEntry(parent, name, value, limit);
      const step = isProxy(parent) ? { key: name } : stepTo(parent, name);
      if (step === null) return { refused: "no `" + clip(name, 200) + "` in this " + typeName(parent) };
      const key = keyOf(parent, step);
      if (!assignTo(parent, key, value, parent)) {
        return { refused: "`" + clip(name, 200) + "` of this " + typeName(parent) + " is read-only" };
      }
      const now = isProxy(parent) ? undefined : lookup(parent, key);
      return { row: now === undefined ? guarded(value, limit) : rowOf(now, limit), step };
    }),

    // For code that runs while the program does, when cached facts are invalid.
    load,

    // Describes a value in the first, second and fifth item: text, type, and whether the text is truncated.
    cell: (value, limit) => {
      if (hasManyKeys) {
        hasManyKeys = false;
        manyKeys = new WeakMap();
      }
      return guarded(value, limit);
    },

    // The thrown value in one line.
    problem: (thrown, limit) => {
      const parts = exceptionParts(thrown, limit);
      if (!parts.error) return "Uncaught " + parts.message;
      const end = indexIn(parts.headline, "\n");
      return end < 0 ? parts.headline : sliceText(parts.headline, 0, end);
    },

    // Describes an exception: type, message, and the stack with its causes.
    exception: (given) => answered(given[0], (options) => exceptionParts(given[1], options.limit)),
  };

  function assignEntry(map, name, value, limit) {
    const all = mapEntries(map);
    for (let at = 0, step = mapNext(all); !step.done; at++, step = mapNext(all)) {
      const key = step.value[0];
      if ("" + at !== name && guarded(key, 200)[0] !== name && key !== name) continue;
      mapSet(map, key, value);
      return { row: entryRow(key, value, limit), step: { entry: at } };
    }
    return { refused: "no entry `" + clip(name, 200) + "` in this Map" };
  }

  function stepTo(object, name) {
    if (lookup(object, name) !== undefined) return { key: name };
    if (name[0] !== "[") return null;
    const keys = ownKeys(object);
    for (let at = 0, symbols = 0; at < keys.length; at++) {
      if (typeof keys[at] !== "symbol") continue;
      if (keyName(keys[at]) === name) return { symbol: symbols };
      symbols++;
    }
    return null;
  }

  function exceptionParts(thrown, limit) {
    if (!isObject(thrown) || isProxy(thrown) || !types.isNativeError(thrown)) {
      const shown = guarded(thrown, limit);
      return { type: shown[1], message: shown[0], stack: "", error: false };
    }
    const found = lookup(thrown, "message");
    const message = found !== undefined && !("value" in found) ? messageInStack(thrown, limit) : data(found);
    const headline = errorText(thrown);
    const text = typeof message === "string" ? message : message === undefined ? "" : guarded(message, limit)[0];
    let stack = "";
    const seen = new Set();
    for (let error = thrown, depth = 0; depth < 10; depth++) {
      setAdd(seen, error);
      stack += stackText(error, limit);
      const cause = own(error, "cause");
      if (cause === undefined || !("value" in cause)) break;
      stack += "\n[cause]: ";
      const next = cause.value;
      if (!isObject(next) || isProxy(next) || !types.isNativeError(next) || setHas(seen, next)) {
        stack += isObject(next) && setHas(seen, next) ? "[Circular]" : guarded(next, limit)[0];
        break;
      }
      error = next;
    }
    const unread = own(thrown, "stack")?.unread === true;
    return { type: errorName(thrown), message: clip(text, limit), headline: clip(headline, limit), stack, unread, error: true };
  }

  // The message of an error that has a getter for it. The getter has run for the head of the stack.
  function messageInStack(error, limit) {
    const stack = stackText(error, limit);
    const head = errorName(error) + ": ";
    const end = indexIn(stack, "\n    at ");
    return sliceText(stack, 0, head.length) === head ? sliceText(stack, head.length, end < 0 ? stack.length : end) : undefined;
  }

  function errorName(error) {
    const name = data(lookup(error, "name"));
    const kind = classOf(error);
    return typeof name === "string" && name !== "" && (name !== "Error" || kind === null) ? clip(name, 200) : kind ?? "Error";
  }

  function stackText(error, limit) {
    const stack = data(own(error, "stack"));
    return typeof stack === "string" && stack !== "" ? clip(stack, limit) : clip(errorText(error), limit);
  }
})(
  // Not strict, so that a setter can find out whether the code that writes is.
  (watch, store) => function stillframeWritten(now) {
    const old = watch.value, stillframeWatch = watch.id;
    const outcome = store(watch, this, now, stillframeWritten);
    if (outcome === true) {
      debugger;
    } else if (outcome !== false) {
      throw outcome;
    }
    return [old, now, stillframeWatch][0];
  },
)
