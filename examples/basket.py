"""Prices baskets of a small shop. Bob buys one book and pays for three things: why?

    python3 examples/basket.py
"""


class Basket:
    def __init__(self, owner, items=[]):
        self.owner = owner
        self.items = items

    def add(self, name, cents):
        self.items.append((name, cents))
        return self

    def total(self):
        cents = sum(price for _, price in self.items)
        return cents / 100


def receipt(basket):
    total = basket.total()
    return f"{basket.owner} pays {total:.2f}"


def main():
    ann = Basket("Ann").add("pen", 250).add("ink", 499)
    bob = Basket("Bob").add("book", 1200)
    for basket in (ann, bob):
        print(receipt(basket))


if __name__ == "__main__":
    main()
