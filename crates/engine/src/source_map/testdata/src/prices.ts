/** What one article costs, and how many are wanted. */
export interface Item {
  name: string;
  price: number;
  count: number;
}

export function subtotal(item: Item): number {
  const gross = item.price * item.count;
  return gross;
}

export class Basket {
  private readonly items: Item[] = [];

  add(item: Item): this {
    this.items.push(item);
    return this;
  }

  total(taxRate: number): number {
    let running = 0;
    for (const item of this.items) {
      running += subtotal(item);
    }
    const tax = running * taxRate;
    return running + tax;
  }
}
