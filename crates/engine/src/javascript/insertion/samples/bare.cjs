#!/usr/bin/env node
/* No semicolons, and not strict: what would go wrong if one came in the wrong place. */
var a = 1
var list = [3, 4]
var called = 0

function next() {
  called++
  return
  [1]
}
const f = () =>
  called

g.test = Number
let b = list
[0, 1].toString()
b = a
++called
list
  .map(x => x)
a = b
/1/g.test('1')
do called++
while (called < 3)
console.log(called)
if (a) called++
else called--
console.log(called)
if (called)
  console.log('one')
console.log('two')
for (var i = 0; i < 2; i++) console.log(i)
console.log(i)
for (var j = 0; j < 2; j++)
  console.log(j)
while (i-- > 0)
  called++
console.log(next(), f())
x: for (;;) {
  called++
  if (called > 9)
    break x
  else
    continue x
}
with (list) {
  push(5)
  console.log(length)
}
switch (called) { case 1: called++; break
  default:
    called++
    break }
console.log(called)
var let_ = function () { called++ }
let_()
;[1, 2].forEach(n => { console.log(n) })
;(function () { console.log(typeof arguments) })()
var o = { get a() { return 1 }, b: function () {
  return 2
} }
console.log(o.a, o.b())
async function g() {
  await 0
  console.log('g')
  return await f()
}
function* h() {
  yield
  yield 1
  console.log('h')
}
g().then(n => console.log(n))
for (const n of h()) console.log(n)
console.log(String(h).length > 0) // comment
// another
/* and
another */ console.log('after')
console.log('é𝄞'); /*
*/ console.log('second')
console.log('third')
try {
  null.x
} catch (e) { console.log(e.name)
  console.log(e.stack.split('\n')[1].replace(/.*:(\d+:\d+).*/, '$1'))
}
console.log(new Error('').stack.split('\n')[1].replace(/.*:(\d+:\d+).*/, '$1'))
if (a) {
  // only a comment
}
{
  console.log('block')
}
function outer() {
  'use strict'
  console.log(this)
  return function () { return this }
}
console.log(outer()())
return
console.log('never')
