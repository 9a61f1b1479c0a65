// Waits longer after each failure, up to a limit. Why does it never finish?
//
//     node examples/retries.js
function delays(first, limit) {
  const found = [];
  let delay = first;
  while (delay !== limit) {
    found.push(delay);
    if (found.length > 100) {
      found.length = 0;
    }
    delay = (delay * 2) % 100_000;
  }
  return found;
}

console.log("delays:", delays(150, 60_000));
