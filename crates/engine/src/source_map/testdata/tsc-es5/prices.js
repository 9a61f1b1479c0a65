"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Basket = void 0;
exports.subtotal = subtotal;
function subtotal(item) {
    var gross = item.price * item.count;
    return gross;
}
var Basket = /** @class */ (function () {
    function Basket() {
        this.items = [];
    }
    Basket.prototype.add = function (item) {
        this.items.push(item);
        return this;
    };
    Basket.prototype.total = function (taxRate) {
        var running = 0;
        for (var _i = 0, _a = this.items; _i < _a.length; _i++) {
            var item = _a[_i];
            running += subtotal(item);
        }
        var tax = running * taxRate;
        return running + tax;
    };
    return Basket;
}());
exports.Basket = Basket;
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJmaWxlIjoicHJpY2VzLmpzIiwic291cmNlUm9vdCI6IiIsInNvdXJjZXMiOlsiLi4vc3JjL3ByaWNlcy50cyJdLCJuYW1lcyI6W10sIm1hcHBpbmdzIjoiOzs7QUFPQSw0QkFHQztBQUhELFNBQWdCLFFBQVEsQ0FBQyxJQUFVO0lBQ2pDLElBQU0sS0FBSyxHQUFHLElBQUksQ0FBQyxLQUFLLEdBQUcsSUFBSSxDQUFDLEtBQUssQ0FBQztJQUN0QyxPQUFPLEtBQUssQ0FBQztBQUNmLENBQUM7QUFFRDtJQUFBO1FBQ21CLFVBQUssR0FBVyxFQUFFLENBQUM7SUFldEMsQ0FBQztJQWJDLG9CQUFHLEdBQUgsVUFBSSxJQUFVO1FBQ1osSUFBSSxDQUFDLEtBQUssQ0FBQyxJQUFJLENBQUMsSUFBSSxDQUFDLENBQUM7UUFDdEIsT0FBTyxJQUFJLENBQUM7SUFDZCxDQUFDO0lBRUQsc0JBQUssR0FBTCxVQUFNLE9BQWU7UUFDbkIsSUFBSSxPQUFPLEdBQUcsQ0FBQyxDQUFDO1FBQ2hCLEtBQW1CLFVBQVUsRUFBVixLQUFBLElBQUksQ0FBQyxLQUFLLEVBQVYsY0FBVSxFQUFWLElBQVUsRUFBRSxDQUFDO1lBQTNCLElBQU0sSUFBSSxTQUFBO1lBQ2IsT0FBTyxJQUFJLFFBQVEsQ0FBQyxJQUFJLENBQUMsQ0FBQztRQUM1QixDQUFDO1FBQ0QsSUFBTSxHQUFHLEdBQUcsT0FBTyxHQUFHLE9BQU8sQ0FBQztRQUM5QixPQUFPLE9BQU8sR0FBRyxHQUFHLENBQUM7SUFDdkIsQ0FBQztJQUNILGFBQUM7QUFBRCxDQUFDLEFBaEJELElBZ0JDO0FBaEJZLHdCQUFNIiwic291cmNlc0NvbnRlbnQiOlsiLyoqIFdoYXQgb25lIGFydGljbGUgY29zdHMsIGFuZCBob3cgbWFueSBhcmUgd2FudGVkLiAqL1xuZXhwb3J0IGludGVyZmFjZSBJdGVtIHtcbiAgbmFtZTogc3RyaW5nO1xuICBwcmljZTogbnVtYmVyO1xuICBjb3VudDogbnVtYmVyO1xufVxuXG5leHBvcnQgZnVuY3Rpb24gc3VidG90YWwoaXRlbTogSXRlbSk6IG51bWJlciB7XG4gIGNvbnN0IGdyb3NzID0gaXRlbS5wcmljZSAqIGl0ZW0uY291bnQ7XG4gIHJldHVybiBncm9zcztcbn1cblxuZXhwb3J0IGNsYXNzIEJhc2tldCB7XG4gIHByaXZhdGUgcmVhZG9ubHkgaXRlbXM6IEl0ZW1bXSA9IFtdO1xuXG4gIGFkZChpdGVtOiBJdGVtKTogdGhpcyB7XG4gICAgdGhpcy5pdGVtcy5wdXNoKGl0ZW0pO1xuICAgIHJldHVybiB0aGlzO1xuICB9XG5cbiAgdG90YWwodGF4UmF0ZTogbnVtYmVyKTogbnVtYmVyIHtcbiAgICBsZXQgcnVubmluZyA9IDA7XG4gICAgZm9yIChjb25zdCBpdGVtIG9mIHRoaXMuaXRlbXMpIHtcbiAgICAgIHJ1bm5pbmcgKz0gc3VidG90YWwoaXRlbSk7XG4gICAgfVxuICAgIGNvbnN0IHRheCA9IHJ1bm5pbmcgKiB0YXhSYXRlO1xuICAgIHJldHVybiBydW5uaW5nICsgdGF4O1xuICB9XG59XG4iXX0=
