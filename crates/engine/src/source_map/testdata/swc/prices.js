/** What one article costs, and how many are wanted. */ "use strict";
Object.defineProperty(exports, "__esModule", {
    value: true
});
function _export(target, all) {
    for(var name in all)Object.defineProperty(target, name, {
        enumerable: true,
        get: Object.getOwnPropertyDescriptor(all, name).get
    });
}
_export(exports, {
    get Basket () {
        return Basket;
    },
    get subtotal () {
        return subtotal;
    }
});
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
        for (const item of this.items){
            running += subtotal(item);
        }
        const tax = running * taxRate;
        return running + tax;
    }
}


//# sourceMappingURL=prices.js.map
