"use strict";

var _prices = require("./prices");
var fruit = [{
  name: "äpfel 🍎",
  price: 2,
  count: 3
}, {
  name: "pears",
  price: 5,
  count: 1
}];
function describe(thing, amount) {
  var label = "ü🍐 " + thing.name;
  var line = label + ": " + amount;
  return line;
}
var basket = new _prices.Basket();
for (var _i = 0, _fruit = fruit; _i < _fruit.length; _i++) {
  var piece = _fruit[_i];
  basket.add(piece);
}
var doubled = fruit.map(function (entry) {
  return entry.count * 2;
});
console.log(describe({
  name: "basket"
}, basket.total(0.5)), doubled);

//# sourceMappingURL=main.js.map
