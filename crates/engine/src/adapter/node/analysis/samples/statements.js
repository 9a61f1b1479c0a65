// Statements of all kinds, many of them on more lines than anybody would write them on.
'use strict';
let a;
const b = 5;
const c =
  foo();
const {
  d,
  e
} = obj;
if (
  a
  && b
) {
  bar();
}
function f(
  x,
  y = g()
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
const arrow = (x) =>
  x
    .map(y =>
       y + 1)
    .filter(Boolean);
class A extends
  B(1) {
  x = 1;
  y;
  #z = foo(
    1);
  static s =
    5;
  static {
    init();
  }
  constructor() {
    super();
    this.x = 1;
  }
  get name() {
    return this.x;
  }
  async m() {
    await foo();
    for (const x of
      y) {
      z();
    }
  }
  *gen() {
    yield 1;
    yield* foo();
    const q = yield
      ;
  }
}
switch (
  a()) {
  case 1:
    foo();
    break;
  case bar():
  default:
    x;
}
for (let i = 0;
  i < 10;
  i++) {
  continue;
}
for (const k in
   obj)
  foo(k);
for (const k of
   obj)
  foo(k);
do {
  a--;
} while (
  a > 1);
try {
  foo();
} catch (e) {
  throw e;
} finally {
  done();
}
label: for (;;) {
  break label;
}
;
debugger;
foo
  .bar()
  .baz(
    1,
    qux(),
    new Date(),
    function () {},
    () => {
    },
    a ? 1 : 2,
  );
const t = `
${foo()}
`;
tag`
x`;
a =
 b;
a =
 foo(b);
"abc";
a;
5;
if (true) {
  a();
}
while (a
  < 5) {
}
(function () {
  a();
})();
const o = {
  p: 1,
  q: foo(),
  r() { return 1; },
  get s() {
    return 1;
  },
  [k()]: 2,
};
var v1 = 1,
  v2 = 2,
  v3;
export_ = a
  ? foo()
  : bar;
module.exports = { f, g2, g3 };
throw new Error(
  "x");
