"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const prices_1 = require("./prices");
const fruit = [
    { name: "äpfel 🍎", price: 2, count: 3 }, { name: "pears", price: 5, count: 1 },
];
function describe(thing, amount) {
    const label = "ü🍐 " + thing.name;
    const line = label + ": " + amount;
    return line;
}
const basket = new prices_1.Basket();
for (const piece of fruit) {
    basket.add(piece);
}
const doubled = fruit.map((entry) => entry.count * 2);
console.log(describe({ name: "basket" }, basket.total(0.5)), doubled);
//# sourceMappingURL=main.js.map
