// Up to version 22.14, Node runs loaders that the program registers in a separate thread. What they make of a
// module is changed there, in the last of them. The numbers in it are given out by the thread that runs the module.
import { writeFileSync } from 'fs';
import { createRequire } from 'module';
import { threadId } from 'worker_threads';

const require = createRequire(import.meta.url);
const { decoded, fileOf } = require('./loading.cjs');
const { isUsers } = require('./record_loading.cjs');
const { ask, filled } = require('./record_questions.cjs');

/** The loader that was registered last. */
const LATEST = Symbol.for('stillframe.loader');
/** As many numbers can be written in the room for one. */
const MOST = 10000;

let own;
let segments;
let scripts = 0;

export function initialize(settings) {
  ({ segments } = settings);
  own = {};
  globalThis[LATEST] = own;
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const path = loaded.format === 'module' && globalThis[LATEST] === own ? fileOf(url) : undefined;
  if (!isUsers(path) || loaded.source == null) return loaded;
  try {
    const source = recorded(path, decoded(loaded.source));
    return source === undefined ? loaded : { ...loaded, source };
  } catch {
    // The recording is over.
    return loaded;
  }
}

/** The text with calls of the recorder, which read their numbers from a list. */
function recorded(path, source) {
  scripts += 1;
  const id = `${process.pid}.${threadId}.${scripts}`;
  const script = ask(segments, { path, source, kind: 'module', script: id });
  if (!script) return undefined;
  const { text, holes, ...parts } = script;
  const places = new Map();
  const changed = filled(text, holes, (kind, index) => {
    const number = `${kind} ${index}`;
    if (!places.has(number)) places.set(number, places.size);
    return `__$N[${places.get(number)}]`.padEnd(10);
  });
  if (places.size > MOST) return undefined;
  const wanted = [...places.keys()].map((number) => number.split(' '));
  writeFileSync(`${segments}-script${id}`, JSON.stringify({ ...parts, wanted }), { mode: 0o600 });
  return changed;
}
