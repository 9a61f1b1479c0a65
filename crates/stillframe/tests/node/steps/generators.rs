//! Steps over the lines of generators, which go on under whoever resumes them: V8 crashes at a step out of an async one.

use super::steps_lead;

/// Steps over each of these lines from the first one.
async fn lines_follow(name: &str, text: &str, lines: &[&str]) {
    let steps: Vec<_> = lines.iter().skip(1).map(|line| ("step_over", name, *line)).collect();
    steps_lead(&[(name, text)], (name, lines[0]), &steps).await;
}

#[tokio::test]
async fn steps_stay_in_an_async_generator_that_has_awaited() {
    let text = "\
const later = (time) => new Promise((resolve) => setTimeout(resolve, time));
async function* items(count) {
  const a = await count; // @await
  yield a; // @yield
  try {
    await later(1); // @try
    yield add(await a, await later(1)); // @arguments
    const all = await Promise.all([later(1), count]); // @all
    for (let i = 0; i < 2; i++) { // @for
      await all[i]; // @loop
    }
  } finally {
    await later(1); // @finally
    await null; // @null
  }
  yield* inner(a); // @inner
  await later(1); // @later
  return a; // @return
}
async function* inner(a) {
  yield a;
  await later(1);
  yield a;
}
function add(a, b) {
  return a + (b ?? 0);
}
for await (const item of items(3)) console.log(item);
";
    let lines = [
        "await",
        "yield",
        "try",
        "arguments",
        "all",
        "for",
        "loop",
        "for",
        "loop",
        "for",
        "finally",
        "null",
        "inner",
        "later",
        "return",
    ];
    lines_follow("main.mjs", text, &lines).await;
}

#[tokio::test]
async fn steps_in_async_functions_follow_the_source() {
    let text = "\
const later = (time) => new Promise((resolve) => setTimeout(resolve, time));
async function leaf(value) {
  await later(1);
  return value;
}
async function middle(value) {
  const first = await leaf(value); // @first
  const sum = add(await leaf(1), await leaf(first)); // @sum
  return sum; // @return
}
function add(a, b) {
  return a + b;
}
for (let i = 0; i < 5; i++) setTimeout(() => {}, 1);
let total = 0;
for (let i = 0; i < 2; i++) { // @loop
  total += await middle(i); // @middle
}
const all = await Promise.all([middle(1), leaf(2)]); // @all
console.log(total, all); // @print
";
    let lines = ["first", "sum", "return", "loop", "middle", "loop", "all", "print"];
    lines_follow("main.mjs", text, &lines).await;
}

/// The helper is what TypeScript compiles async generators to.
#[tokio::test]
async fn steps_stay_in_generators_that_others_resume_at_other_depths() {
    let text = "\
function resumed(generator) {
  const step = (value) => {
    const { value: promise, done } = generator.next(value);
    if (!done) Promise.resolve(promise).then(step);
  };
  step();
}
function* compiled() {
  const a = yield new Promise((resolve) => setTimeout(resolve, 1, 1)); // @first
  yield a; // @second
  yield yield a; // @third
  console.log(a); // @print
}
function* plain() {
  yield 1; // @one
  yield 2; // @two
  yield 3; // @three
}
function helper(iterator) {
  return iterator.next();
}
resumed(compiled());
const iterator = plain();
iterator.next();
helper(iterator);
iterator.next();
helper(iterator);
";
    lines_follow("main.js", text, &["first", "second", "third", "print"]).await;
    lines_follow("main.js", text, &["one", "two", "three"]).await;
}

/// V8 enters the inner generator here, and has to come back without a step out of it.
#[tokio::test]
async fn a_step_over_a_delegating_async_generator_ends_after_it() {
    let text = "\
async function* outer() {
  await null;
  try {
    yield* inner(); // @delegates
    await null; // @behind
  } finally {
    console.log('outer'); // @finally
  }
}
async function* inner() {
  try {
    await null;
    for (const number of [1, 2, 3]) {
      yield number;
    }
  } finally {
    await null;
  }
}
for await (const item of outer()) console.log(item);
";
    lines_follow("main.mjs", text, &["delegates", "behind", "finally"]).await;
}
