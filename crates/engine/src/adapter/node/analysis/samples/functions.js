// Functions, and what V8 knows of where they end.
function f(
  x,
  y = g(),
  z = 5
) {
  return {
    x,
    y: h(),
  };
}
function g2() {
  if (a) return 1;
  else return 2;
}
function g3() {
  while (true) {
    a++;
  }
}
function g4() {
  let q;
  let w = 1;
  let e = w, r
    = e;
  var u;
  const t = w;
  t;
  return t;
}
function g5() {
  try {
    return {
      a: 1,
    };
  } finally {
    foo();
  }
}
async function g6() {
  const x =
    await foo();
  foo(
    await bar(),
    x);
  return {
    x,
  };
}
async function g7() {
  try {
    return await foo();
  } catch {
    return {
      a,
    };
  }
}
const g8 = () => ({
  a: 1,
});
const g9 = async () =>
  (
    foo
    || bar
  );
function g10() {
  for (const {
    a,
    b,
  } of foo()) {
    if (!a) continue;
  }
  for (let i = 0,
    n = 5;
    i < n
    && x(i);
    i +=
      1) {
  }
  for (;;) {
    if (a()) break;
  }
}
function g11() {
  switch (foo()) {
    case 1: {
      return 1;
    }
    default:
      throw 2;
  }
}
function g12() {
  switch (foo) {
    case 1:
      return 1;
  }
}
function g13(a, b) {
  a = b;
  a
    = b;
  a.x
    .y = b;
  a.x
    .y;
  a[0](
  );
  a()(
  );
  a()
  ();
  a
    ?.b
    ?.(
      1);
  `${a}`;
  void a;
  delete a.x;
  a ? b : 0;
  a && b();
  a &&
    b;
  async () => {};
  [a, b];
  ({ a });
  (a, b);
  return (
    a
    + b
  );
}
function g14(a) {
  if (a) {
    throw 1;
  } else {
    return
  }
}
function* g15() {
  const x =
    yield 1;
  yield;
  while (yield 2);
}
class K {
  handle = () => {
    foo();
  };
  static async *gen() {
    yield* foo();
  }
  #p() { return 1 }
  set v(x) {}
}
class L extends K {}
function g16() {
  const a = class {
    m() {}
  };
  class B {
    x = 1;
  }
  class C {
    static y = 1
  }
  function inner() {
    return inner;
  }
  return inner;
}
function g17(cb) {
  cb(function named() {
    return 1;
  }, async (x) => {
    await x;
  });
  const { a = foo(), ...rest } = cb;
  const [b,
    c = 1] = cb;
  let i = 0, j;
  while (i < 5) i++;
  while (i) {
    i--;
  }
  do i++; while (i < 10)
  if (i) j = 1; else j = 2;
  with_: {
    break with_;
  }
  outer: for (const x of a) {
    for (const y in x) {
      continue outer;
    }
  }
  try {
    foo();
  } catch ({ message }) {
  } finally {
  }
  return;
}
function g18() {
  return new Promise((resolve, reject) => {
    setTimeout(
      resolve,
      5);
  });
}
function g19() {
  return foo()
    .then((x) => {
      return x;
    })
    .catch(() => {});
}
async function g20() {
  try {
    foo();
  } finally {
    await bar();
  }
}
async function g21() {
  for await (const x of foo()) {
    bar(x);
  }
}
function g22(x) {
  label: {
    if (x) break label;
    return 1;
  }
}
function g23() {
  throw foo();
}
function g24(a, b) {
  a =
    (0,
    b.
      call)(a);
  return a;
}
module.exports = { f, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11, g12, g13, g14, g15, g16, g17, g18, g19, g20, g21, g22, g23, g24, K, L };
