// An ES module.
import fs from 'node:fs';
import { join } from 'node:path';

export const root = join(
  '/',
  'tmp',
);
export let count = 0;
export default function () {
  count += 1;
  return fs.existsSync(root);
}

export class Shape {
  #sides = 0;
  static made = [];

  constructor(sides) {
    this.#sides = sides;
    Shape.made.push(this);
  }

  get sides() {
    return this.#sides;
  }

  static {
    Shape.made.length = 0;
  }
}

const first = await Promise.resolve(
  new Shape(3)
);

export async function* shapes(from) {
  for (const shape of from) {
    yield shape;
  }
}

export { first };
export const area = (shape) => {
  const { sides } = shape;

  if (sides < 3) {
    return 0;
  }
  return sides * 2;
};
for await (const shape of shapes(Shape.made)) {
  console.log(area(shape));
}
