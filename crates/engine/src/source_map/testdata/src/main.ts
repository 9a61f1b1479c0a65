import { Basket, type Item } from "./prices";

type Named = Pick<Item, "name">;

const fruit: Item[] = [
  { name: "äpfel 🍎", price: 2, count: 3 }, { name: "pears", price: 5, count: 1 },
];

function describe<T extends Named>(thing: T, amount: number): string {
  const label = "ü🍐 " + thing.name; const line = label + ": " + amount;
  return line;
}

const basket = new Basket();
for (const piece of fruit) {
  basket.add(piece);
}

const doubled = fruit.map((entry) => entry.count * 2);
console.log(describe({ name: "basket" }, basket.total(0.5)), doubled);
