// Takes four deliveries into stock. All four labels are in order, and yet two deliveries are refused: why?
//
//     node examples/inventory.js

"use strict";

const LABEL = /^[A-Z]{2}-\d{4}$/g;

class Inventory {
  stock = new Map();
  refused = [];

  deliver(label, pieces) {
    if (!LABEL.test(label)) {
      this.refused.push(label);
      return;
    }
    const before = this.stock.get(label) ?? 0;
    this.stock.set(label, before + pieces);
  }

  report() {
    const lines = [...this.stock].map(([label, pieces]) => `${label}: ${pieces}`);
    return [...lines, `refused: ${this.refused.join(", ")}`].join("\n");
  }
}

function main() {
  const inventory = new Inventory();
  inventory.deliver("PN-0250", 40);
  inventory.deliver("IK-0499", 12);
  inventory.deliver("BK-1200", 3);
  inventory.deliver("PN-0250", 10);
  console.log(inventory.report());
}

main();
