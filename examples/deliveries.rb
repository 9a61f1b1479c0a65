# Sorts deliveries by customer.
class Deliveries
  def initialize
    @by_customer = Hash.new([])
  end

  def add(customer, item)
    @by_customer[customer] << item
  end

  def note(customer)
    items = @by_customer[customer]
    "#{customer}: #{items.join(', ')}"
  end

  def customers
    @by_customer.keys
  end
end

deliveries = Deliveries.new
deliveries.add('Ann', 'pen')
deliveries.add('Ann', 'ink')
deliveries.add('Bob', 'book')
puts deliveries.note('Ann')
puts deliveries.note('Bob')
puts "#{deliveries.customers.size} customers"
