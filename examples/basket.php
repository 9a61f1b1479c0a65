<?php
// A basket whose prices are rounded before they are added up.
class Basket
{
    private array $prices = [];

    public function add(string $name, float $price): void
    {
        $this->prices[$name] = $price;
    }

    public function round(): void
    {
        foreach ($this->prices as &$price) {
            $price = round($price, 1);
        }
        foreach ($this->prices as $name => $price) {
            echo "$name: $price\n";
        }
    }

    public function total(): float
    {
        return array_sum($this->prices);
    }
}

$basket = new Basket();
$basket->add('pen', 1.49);
$basket->add('ink', 7.25);
$basket->add('book', 12.0);
$basket->round();
echo 'total: ' . $basket->total() . "\n";
