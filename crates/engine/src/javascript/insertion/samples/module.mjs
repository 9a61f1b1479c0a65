// An ES module.
import fs from 'node:fs';
import { join } from 'node:path'

export const root = join('/', 'tmp');
export let count = 0,
  more = join('a');
export const { a, b } = { a: 1, b: 2 };
export const wide = join(
  'a',
  'b',
);
export default join('a', 'b');
export function add(value) {
  count += value;
  return count;
}

export class Shape {
  static made = [];

  constructor(sides) {
    this.sides = sides;
    Shape.made.push(this);
  }

  static {
    Shape.made.length = 0;
  }
}

const first = await Promise.resolve(new Shape(3));
await null;
console.log(first.sides, root, a, b, wide, more);
export { first };

async function* shapes(from) {
  for (const shape of from) {
    yield shape;
  }
}

for await (const shape of shapes(Shape.made)) {
  console.log(shape.sides);
}
if (import.meta.url) {
  console.log(typeof import.meta.url);
}
const { existsSync } = await import('node:fs');
console.log(existsSync === fs.existsSync, this);
export const area = (shape) => {
  const { sides } = shape;

  if (sides < 3) {
    return 0;
  }
  return sides * 2;
};
console.log(area(first), add(2));
try {
  null.x;
} catch (error) {
  console.log(error.stack.split('\n')[1].replace(/.*:(\d+:\d+).*/, '$1'));
}
const same = new Promise((resolve) => {
  setTimeout(() => {
    resolve(1);
  }, 1);
});
console.log(await same);
