"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Basket = void 0;
exports.subtotal = subtotal;
function subtotal(item) {
    const gross = item.price * item.count;
    return gross;
}
class Basket {
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
}
exports.Basket = Basket;
//# sourceMappingURL=prices.js.map
