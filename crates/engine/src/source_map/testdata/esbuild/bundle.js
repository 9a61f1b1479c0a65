// src/prices.ts
function subtotal(item) {
  const gross = item.price * item.count;
  return gross;
}
var Basket = class {
  items = [];
  add(item) {
    this.items.push(item);
    return this;
  }
  total(taxRate) {
    let running = 0;
    for (const item of this.items) {
      running += subtotal(item);
    }
    const tax = running * taxRate;
    return running + tax;
  }
};

// src/main.ts
var fruit = [
  { name: "\xE4pfel \u{1F34E}", price: 2, count: 3 },
  { name: "pears", price: 5, count: 1 }
];
function describe(thing, amount) {
  const label = "\xFC\u{1F350} " + thing.name;
  const line = label + ": " + amount;
  return line;
}
var basket = new Basket();
for (const piece of fruit) {
  basket.add(piece);
}
var doubled = fruit.map((entry) => entry.count * 2);
console.log(describe({ name: "basket" }, basket.total(0.5)), doubled);
//# sourceMappingURL=bundle.js.map
