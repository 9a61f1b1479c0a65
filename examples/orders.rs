//! Prints what each customer owes. Ann's bill is too low.

use std::collections::HashMap;

struct Order {
    customer: &'static str,
    price: u32,
    count: u32,
}

fn owed(orders: &[Order]) -> HashMap<&'static str, u32> {
    let mut owed = HashMap::new();
    for order in orders {
        let sum = order.price * order.count;
        owed.insert(order.customer, sum);
    }
    owed
}

fn main() {
    let orders = [
        Order { customer: "Ann", price: 30, count: 2 },
        Order { customer: "Bob", price: 5, count: 1 },
        Order { customer: "Ann", price: 7, count: 1 },
    ];
    for (customer, sum) in owed(&orders) {
        println!("{customer} owes {sum}");
    }
}
