"""A test that passes alone and fails after another one. With which values?

    python3 -m unittest examples/test_basket.py
"""

import unittest

from examples.basket import Basket


class Receipts(unittest.TestCase):
    def test_a_pen(self):
        self.assertEqual(Basket("Ann").add("pen", 250).total(), 2.5)

    def test_a_book(self):
        basket = Basket("Bob").add("book", 1200)
        self.assertEqual(basket.total(), 12)
