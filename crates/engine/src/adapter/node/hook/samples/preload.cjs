// Puts `__passed(…)` before each line that ends in `// @name`, in the files that IN names; says what happens.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
require('./loading.cjs').observe(() => {});

const say = (...words) => fs.writeSync(1, `${words.join(' ')}\n`);
globalThis.__passed = (name) => say('passed', name);
globalThis[Symbol.for('stillframe.inserted')] = (file) => say('inserted', path.basename(file));
for (const name of (process.env.IN ?? '').split(' ').filter(Boolean)) {
  const source = fs.readFileSync(path.join(__dirname, name), 'utf8').replace('\ufeff', '');
  // The last first: the order is ours to choose.
  const lines = [...source.matchAll(/\r?\n.*\/\/ @(\w+)/g)].reverse();
  const edits = lines.map(({ index, 1: mark }) => [index, `;{ __passed('${mark}') }`]);
  const changed = process.env.CHANGED === name ? `${source} ` : source;
  globalThis[Symbol.for('stillframe.insertions')].set(path.join(__dirname, name), { source: changed, edits });
}
