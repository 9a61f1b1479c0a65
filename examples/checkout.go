// A checkout that applies a discount for members, to a copy.
package main

import "fmt"

type Item struct {
	Name  string
	Price int
}

type Basket struct {
	Owner string
	Items []Item
}

// Discount takes ten percent off each price.
func (basket *Basket) Discount() {
	for _, item := range basket.Items {
		item.Price -= item.Price / 10
	}
}

// Total adds up the prices.
func (basket *Basket) Total() int {
	total := 0
	for _, item := range basket.Items {
		total += item.Price
	}
	return total
}

func main() {
	basket := &Basket{Owner: "Ann", Items: []Item{{"lamp", 4000}, {"cable", 500}}}
	basket.Discount()
	fmt.Printf("%s pays %d\n", basket.Owner, basket.Total())
}
